package udfbuild_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/cmd/weir/internal/udfbuild"
	"github.com/weirdb/weir/cmd/weir/internal/udfcheck"
)

// modules are the modules in Go that are committed: source and file.
var modules = []struct{ dir, file string }{
	{"../../../../sdk/go/testdata/demo", "../../../../sdk/go/testdata/demo.wasm"},
	{"../../../../plugins/money", "../../../../plugins/money/money.wasm"},
}

// TestRebuild writes the modules that are committed; make plugins runs it so.
func TestRebuild(t *testing.T) {
	if os.Getenv("WEIR_REBUILD") == "" {
		t.Skip("WEIR_REBUILD is not set")
	}
	for _, m := range modules {
		module, _, err := udfbuild.Go(t.Context(), m.dir, "go")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(m.file, module, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGo builds the committed modules anew: they say the same, and the folder of the
// source stays clean.
func TestGo(t *testing.T) {
	for _, m := range modules {
		t.Run(filepath.Base(m.file), func(t *testing.T) {
			before := list(t, m.dir)
			module, manifest, err := udfbuild.Go(t.Context(), m.dir, "go")
			if err != nil {
				t.Fatal(err)
			}
			if after := list(t, m.dir); before != after {
				t.Errorf("the folder holds %s after the build, %s before", after, before)
			}
			got, err := abi.ReadManifest(module)
			if err != nil {
				t.Fatal(err)
			}
			committed, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := abi.ReadManifest(committed)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, manifest) || !reflect.DeepEqual(got, want) {
				t.Errorf("the manifest is %+v, of the committed module %+v: make plugins builds that again", got, want)
			}
		})
	}
}

func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// write makes a folder inside of this module with the given files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := files["go.mod"]; !ok {
		files["go.mod"] = "module example\n\ngo 1.26\n\nrequire github.com/weirdb/weir v0.0.0\n\nreplace github.com/weirdb/weir => " + root + "\n"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const double = "\n\n//weir:scalar double(a BIGINT) BIGINT deterministic\nfunc double(a int64) int64 { return 2 * a }\n"

// TestPackages builds packages of the shapes that authors have.
func TestPackages(t *testing.T) {
	for name, source := range map[string]string{
		"library":           "package example" + double,
		"main":              "package main" + double + "\nfunc main() {}\n",
		"main without main": "package main" + double,
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{"example.go": source, "other_linux.go": "package wrong\n"})
			module, _, err := udfbuild.Go(t.Context(), dir, "go")
			if err != nil {
				t.Fatal(err)
			}
			results, err := udfcheck.Run(context.Background(), "example.wasm", module, udfcheck.Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if r.Status != udfcheck.Passed {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

// TestReadme builds the examples of the guide that are whole.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../../../sdk/go/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for i, block := range strings.Split(string(text), "```") {
		if code, ok := strings.CutPrefix(block, "go\n"); ok && i%2 == 1 &&
			(strings.Contains(code, "package demo") || strings.Contains(code, "type series") || strings.Contains(code, "type mean")) {
			source.WriteString(code)
		}
	}
	_, m, err := udfbuild.Go(t.Context(), write(t, map[string]string{"demo.go": source.String()}), "go")
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Functions) != 3 {
		t.Errorf("%d functions, want add, series and mean", len(m.Functions))
	}
}

// TestErrors sees what authors are told.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a type error":  {map[string]string{"example.go": "package example" + double + "\nvar x int = \"\"\n"}, "example.go:6:13: cannot use"},
		"no directive":  {map[string]string{"example.go": "package example\n"}, "no function has a directive"},
		"a foreign mod": {map[string]string{"example.go": "package example" + double, "go.mod": "module example\n\ngo 1.26\n"}, "The folder's go.mod does not name github.com/weirdb/weir"},
		"the glue file": {map[string]string{"example.go": "package example" + double, "weir_glue.go": "package example\n"}, "the name is kept for generated code"},
		"no Go":         {map[string]string{"go.mod": "module example\n"}, "no Go files"},
		"no syntax":     {map[string]string{"example.go": "package example\nfunc {\n"}, "example.go:2:6: expected"},
		"two packages":  {map[string]string{"example.go": "package example" + double, "x.go": "package x\n"}, "files of the packages example and x"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := udfbuild.Go(t.Context(), write(t, c.files), "go")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
	dir := write(t, map[string]string{"example.go": "package example" + double})
	if _, _, err := udfbuild.Go(t.Context(), dir, "rustc"); err == nil || !strings.Contains(err.Error(), "there is no compiler") {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, _, err := udfbuild.Go(t.Context(), dir, "go"); err == nil || !strings.Contains(err.Error(), "https://go.dev/dl") {
		t.Error(err)
	}
	if _, _, err := udfbuild.Go(t.Context(), dir, "tinygo"); err == nil || list(t, dir) != "example.go go.mod" {
		t.Errorf("%v; the folder holds %s", err, list(t, dir))
	}
	if _, _, err := udfbuild.C(t.Context(), write(t, map[string]string{"x.c": ""})); err == nil || !strings.Contains(err.Error(), "apt-get install clang") {
		t.Error(err)
	}
}
