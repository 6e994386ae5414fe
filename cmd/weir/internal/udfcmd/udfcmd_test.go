package udfcmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirdb/weir/cmd/weir/internal/udfcmd"
)

// weir runs a command; the error is what main prints.
func weir(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := udfcmd.Command()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func mustWeir(t *testing.T, args ...string) string {
	t.Helper()
	out, err := weir(t, args...)
	if err != nil {
		t.Fatalf("udf %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// TestFromNothing goes the way of the README, in an empty folder.
func TestFromNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	mustWeir(t, "new", "--lang", "go", "discount")
	if out := mustWeir(t, "build", "discount"); !strings.Contains(out, "2 functions") {
		t.Error(out)
	}
	module := filepath.Join("discount", "discount.wasm")
	if out := mustWeir(t, "check", module, "--values", "percent=0,15,100"); strings.Count(out, " ok ") != 2 {
		t.Error(out)
	}
	out := mustWeir(t, "inspect", module)
	for _, want := range []string{
		"discount_add(a BIGINT, b BIGINT) -> BIGINT NOT NULL", "deterministic",
		"CREATE FUNCTION discount_discount AS 'discount_discount' LANGUAGE WASM USING FILE 'discount/discount.wasm';",
		"memory 32 MiB", "wasi_snapshot_preview1.fd_write",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("inspect does not say %s:\n%s", want, out)
		}
	}
	var r struct {
		Module    string
		Functions []struct{ Name, Kind string }
	}
	if err := json.Unmarshal([]byte(mustWeir(t, "inspect", "--json", module)), &r); err != nil || r.Module != "discount" || len(r.Functions) != 2 || r.Functions[0].Kind != "scalar" {
		t.Errorf("%+v, %v", r, err)
	}
	if out := mustWeir(t, "bench", module, "--time", "20ms", "--function", "discount_add"); !strings.Contains(out, "ns/row") {
		t.Error(out)
	}
	var m struct {
		Function   string
		NsPerRow   float64 `json:"ns_per_row"`
		FuelPerRow float64 `json:"fuel_per_row"`
	}
	text := mustWeir(t, "bench", "--json", module, "--time", "20ms", "--function", "discount_add")
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.NsPerRow <= 0 || m.FuelPerRow <= 0 {
		t.Errorf("%s, %v", text, err)
	}
	if out := mustWeir(t, "build", "--print-glue", "discount"); !strings.Contains(out, "//go:wasmexport discount_add") {
		t.Error(out)
	}
}

func TestNewC(t *testing.T) {
	t.Chdir(t.TempDir())
	if out := mustWeir(t, "new", "--lang", "c", "words"); !strings.Contains(out, filepath.Join("words", "weir.h")) {
		t.Error(out)
	}
	out, err := weir(t, "build", "words")
	if err != nil && strings.Contains(err.Error(), "apt-get install") {
		t.Skip("no toolchain for C: ", err)
	}
	if err != nil {
		t.Fatal(err, out)
	}
	if out := mustWeir(t, "check", filepath.Join("words", "words.wasm"), "-v"); !strings.Contains(out, "used instance") {
		t.Error(out)
	}
}

// TestErrors tells wrong command lines, which print the usage, from work that failed.
func TestErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("full", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("no.wasm", []byte("no module"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		want   string
		failed bool
	}{
		{"new --lang go", "one name", false},
		{"new --lang go Big", "small letters", false},
		{"new --lang rust x", "go or c", false},
		{"new x", "lang", false},
		{"new --lang go full", "not empty", true},
		{"new --lang go --sdk full x", "not the top of a clone", true},
		{"build full", "no source in Go or C", true},
		{"build nowhere", "nowhere", true},
		{"check", "name one module", false},
		{"check nowhere.wasm", "nowhere.wasm", true},
		{"check full", "is a folder", true},
		{"check no.wasm", "no WebAssembly module", true},
		{"check no.wasm --values x", "--values", false},
		{"check no.wasm --memory x", "--memory", false},
		{"inspect no.wasm", "no WebAssembly module", true},
		{"bench no.wasm", "no WebAssembly module", true},
		{"bench no.wasm --rows 0", "--rows", false},
	} {
		_, err := weir(t, strings.Fields(c.args)...)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, new(*udfcmd.Failed)) != c.failed {
			t.Errorf("udf %s: %v, want %s", c.args, err, c.want)
		}
	}
}
