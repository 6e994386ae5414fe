package udf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/udf/internal/wasmtest"
	"github.com/weirdb/weir/vector"
)

// plain is a module with one function that does nothing, under the given limits.
func plain(limits string) []byte {
	manifest := fmt.Sprintf(`{"abi":[1,1],"module":"m","functions":[{"name":"f","kind":"scalar","args":[],"returns":"BIGINT"}],"limits":{%s}}`, limits)
	return wasmtest.Assemble("memory 1\nexport \"memory\" memory 0\ncustom \"udf.manifest\" " + fmt.Sprintf("%q", manifest) + `
func export "udf_alloc" (i32) -> (i32)
  i32.const 0
end
func export "f" (i32) -> (i32)
  i32.const 0
end
`)
}

func load(t *testing.T, h *udf.Host, name string, code []byte, l udf.Limits) *udf.Module {
	t.Helper()
	m, err := h.Load(context.Background(), name, code, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestFunctionsOfAModule(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{})
	if len(m.Functions()) != len(m.Manifest().Functions) || m.Name() != "kinds.wasm" || m.SHA256() == [32]byte{} {
		t.Errorf("%d functions of %s", len(m.Functions()), m.Name())
	}
	f, ok := m.Function("or_else")
	if !ok || f.Name != "or_else" || f.Kind != abi.Scalar || f.Strict || !f.Deterministic || f.Returns.String() != "BIGINT NOT NULL" || f.Args[1].Default != "0" || f.Module() != m {
		t.Errorf("or_else is %+v", f)
	}
	f, _ = m.Function("rate_at")
	want := "[STRING TIMESTAMP(3) TIMESTAMP(3) DOUBLE TIMESTAMP(3) DOUBLE]"
	if got := fmt.Sprint(f.Inputs(0)); got != want || !f.CeilFinal || f.VersionRow.ID != sqltype.Row {
		t.Errorf("rate_at takes %s, want %s", got, want)
	}
	f, _ = m.Function("top2")
	if f.StateSize != 16 || f.StateVersion != 1 || !f.Merge || f.Retract || !f.EmitRetract {
		t.Errorf("top2 is %+v", f)
	}
	if f, _ = m.Function("total"); !f.Variadic || len(f.Inputs(3)) != 3 {
		t.Errorf("total is %+v", f)
	}
	if _, ok := m.Function("nothing"); ok {
		t.Error("there is a function that is not")
	}
	if s := m.Stats(); s.Functions == 0 || s.Metered <= s.Bytes || s.MaxBlocks == 0 || s.Work == 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestLimitsAreFilledIn(t *testing.T) {
	d := udf.DefaultLimits()
	for _, c := range []struct {
		config   udf.Config
		manifest string
		set      udf.Limits
		want     func(*udf.Limits)
	}{
		{want: func(*udf.Limits) {}},
		{config: udf.Config{Limits: udf.Limits{Fuel: 7}}, want: func(l *udf.Limits) { l.Fuel = 7 }},
		{manifest: `"memory":"1MiB","timeout":"1s"`, config: udf.Config{Limits: udf.Limits{Memory: 2 << 20}}, want: func(l *udf.Limits) { l.Memory, l.Timeout = 1<<20, time.Second }},
		{manifest: `"memory":"1GiB","timeout":"1h"`, want: func(l *udf.Limits) { l.Memory, l.Timeout = 256<<20, time.Minute }},
		{manifest: `"memory":"1MiB"`, set: udf.Limits{Memory: 1 << 30, Log: 5}, want: func(l *udf.Limits) { l.Memory, l.Log = 1<<30, 5 }},
	} {
		want := d
		c.want(&want)
		if got := load(t, openHost(t, c.config), "m", plain(c.manifest), c.set).Limits(); got != want {
			t.Errorf("config %+v, manifest %s, set %+v: %+v", c.config, c.manifest, c.set, got)
		}
	}
}

func TestBadConfigsAndLimits(t *testing.T) {
	_, err := udf.Open(context.Background(), udf.Config{Limits: udf.Limits{Memory: -1, Stack: 1 << 40}, MaxTimeout: -1})
	if err == nil || errs.CodeOf(err) != errs.Option || !strings.Contains(err.Error(), "memory") || !strings.Contains(err.Error(), "stack") || !strings.Contains(err.Error(), "MaxTimeout") {
		t.Errorf("error %v", err)
	}
	h := openHost(t, udf.Config{})
	if _, err := h.Load(context.Background(), "m", plain(""), udf.Limits{Fuel: -1}); errs.CodeOf(err) != errs.Option {
		t.Errorf("error %v", err)
	}
	if _, err := h.Load(context.Background(), "m", plain(""), udf.Limits{Module: 50}); errs.CodeOf(err) != errs.Limit || !strings.Contains(err.Error(), "'module'") {
		t.Errorf("error %v", err)
	}
	if _, err := h.Load(context.Background(), "m", plain(""), udf.Limits{Memory: 1000}); err == nil {
		t.Error("a memory of 1000 bytes has no page")
	}
	open := t.TempDir() + "/open"
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := udf.Open(context.Background(), udf.Config{CacheDir: open}); errs.CodeOf(err) != errs.Option {
		t.Errorf("a cache that others can enter: %v", err)
	}
}

func TestModulesAreShared(t *testing.T) {
	h := openHost(t, udf.Config{})
	code := plain("")
	var modules [8]*udf.Module
	var wait sync.WaitGroup
	for k := range modules {
		wait.Go(func() {
			m, err := h.Load(context.Background(), "m", code, udf.Limits{})
			if err != nil {
				t.Error(err)
			}
			modules[k] = m
		})
	}
	wait.Wait()
	for _, m := range modules {
		if m != modules[0] {
			t.Fatal("a module was loaded twice")
		}
	}
	if m := load(t, h, "m", code, udf.Limits{Fuel: 1}); m == modules[0] {
		t.Error("modules of other limits are shared")
	}
	i := open(t, modules[0], "f")
	for _, m := range modules {
		m.Close()
	}
	// The instance keeps the module.
	p := checkedPool(t)
	if _, err := i.Call(context.Background(), &udf.Call{Rows: 1, Pool: p}); faultOf(t, err).Cause != udf.Memory {
		t.Error(err)
	}
	i.Close()
	if again := load(t, h, "m", code, udf.Limits{}); again == modules[0] {
		t.Error("a module that was freed came back")
	}
}

func TestLoadEndsWithItsContext(t *testing.T) {
	h := openHost(t, udf.Config{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	code, err := os.ReadFile(kinds)
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Load(ctx, "m", code, udf.Limits{})
	if err == nil { // it was faster
		m.Close()
	} else if !errors.Is(err, context.Canceled) || errs.CodeOf(err) != errs.Canceled {
		t.Errorf("error %v", err)
	}
	load(t, h, "m", code, udf.Limits{})
	h.Close()
	if _, err := h.Load(context.Background(), "m", code, udf.Limits{}); err == nil {
		t.Error("a closed host loads")
	}
}

func TestCacheDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	code, err := os.ReadFile(kinds)
	if err != nil {
		t.Fatal(err)
	}
	use := func(what string) {
		t.Helper()
		h, err := udf.Open(context.Background(), udf.Config{CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		m, err := h.Load(context.Background(), "m", code, udf.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer m.Close()
		i := open(t, m, "add")
		defer i.Close()
		p := checkedPool(t)
		one := vector.Of(p, int64(20), 1)
		defer one.Release()
		v, err := i.Call(context.Background(), &udf.Call{Args: []*vector.Vector{one, one}, Rows: 2, Pool: p})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer v.Release()
		if got := vector.Values[int64](v)[0]; got != 40 {
			t.Fatalf("%s: 20 + 20 = %d", what, got)
		}
	}
	entry := func() (files []string, sum string) {
		t.Helper()
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir():
				if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
					return fmt.Errorf("%s has mode %v: %v", path, info.Mode(), err)
				}
			case strings.HasSuffix(path, ".sum"):
				sum = path
			case strings.HasSuffix(path, ".metered"):
				files = append(files, path)
			default:
				files = slices.Insert(files, 0, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != 2 || sum == "" {
			t.Fatalf("the cache has the files %v and the sum %q", files, sum)
		}
		return files, sum // the machine code first
	}
	write := func(path string, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	use("empty cache")
	files, _ := entry()
	for _, file := range files {
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		use("full cache")
		if again, err := os.Stat(file); err != nil || !again.ModTime().Equal(info.ModTime()) {
			t.Errorf("%s was written again: %v", file, err)
		}
		flip := func(at int) []byte {
			b := slices.Clone(good)
			b[at] ^= 1
			return b
		}
		for name, b := range map[string][]byte{
			"cut off": good[:len(good)/2], "empty": nil, "garbage": []byte(strings.Repeat("garbage", 1000)),
			"first bit": flip(0), "bit of the name": flip(40), "bit of a length": flip(67), "last bit": flip(len(good) - 1),
			"more": append(slices.Clone(good), 0xff),
		} {
			write(file, b)
			use(name)
			if now, err := os.ReadFile(file); err != nil || len(now) != len(good) {
				t.Errorf("%s: the entry has %d bytes, %v", name, len(now), err)
			}
		}
	}
	_, sum := entry()
	write(sum, []byte("no sum"))
	use("wrong sum")
	_, sum = entry()
	if err := os.Remove(sum); err != nil {
		t.Fatal(err)
	}
	use("no sum")
	files, _ = entry()
	write(filepath.Join(filepath.Dir(files[0]), "more"), []byte("more"))
	use("a file more")
	files, _ = entry()

	// What is good, but of another module.
	good, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	dir, code = filepath.Join(t.TempDir(), "other"), append(slices.Clone(code), wasmtest.Section(0, wasmtest.Name("more"))...)
	use("another module")
	files, _ = entry()
	write(files[1], good)
	use("the other module's name")
	if now, err := os.ReadFile(files[1]); err != nil || bytes.Equal(now, good) {
		t.Errorf("what was made of another module was used: %v", err)
	}
}
