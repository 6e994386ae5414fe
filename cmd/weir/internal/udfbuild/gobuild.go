// Package udfbuild makes WebAssembly modules of folders with the source of user
// functions.
package udfbuild

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/cmd/weir/internal/goglue"
)

// Names of generated files in the folder of the author's package, which has them
// only in the eyes of the compiler.
const (
	glueFile = "weir_glue.go"
	mainDir  = "weir_module"
)

// Go builds a module of the Go package in a folder, by the go command or, where
// compiler is "tinygo", by TinyGo.
func Go(ctx context.Context, dir, compiler string) (module []byte, m *abi.Manifest, err error) {
	glue, err := goglue.Generate(dir)
	if err != nil {
		return nil, nil, err
	}
	temp, err := os.MkdirTemp("", "weir-udf-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(temp)
	files, target, err := generated(dir, glue)
	if err != nil {
		return nil, nil, err
	}
	out := filepath.Join(temp, "module.wasm")
	var args []string
	switch compiler {
	case "go":
		overlay, err := overlay(temp, files)
		if err != nil {
			return nil, nil, err
		}
		args = []string{"build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-overlay", overlay, "-o", out, target}
	case "tinygo":
		// TinyGo knows no overlay: the files exist while it runs.
		remove, err := write(files)
		if err != nil {
			return nil, nil, err
		}
		defer remove()
		args = []string{"build", "-target=wasip1", "-buildmode=c-shared", "-opt=2", "-no-debug", "-o", out, target}
	default:
		return nil, nil, fmt.Errorf("there is no compiler %q: go or tinygo", compiler)
	}
	env := append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS="+flagsWithout(os.Getenv("GOFLAGS"), "-race", "-cover"))
	if err := run(ctx, dir, env, compiler, args...); err != nil {
		return nil, nil, err
	}
	if module, err = os.ReadFile(out); err != nil {
		return nil, nil, err
	}
	if module, err = abi.AppendManifest(module, glue.Manifest); err != nil {
		return nil, nil, err
	}
	return module, glue.Manifest, nil
}

// generated are the files to add, by path, and the package to build.
func generated(dir string, glue *goglue.Glue) (files map[string][]byte, target string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, "", err
	}
	files = map[string][]byte{filepath.Join(dir, glueFile): glue.Source}
	if _, err := os.Stat(filepath.Join(dir, glueFile)); err == nil {
		return nil, "", fmt.Errorf("%s exists: the name is kept for generated code", filepath.Join(dir, glueFile))
	}
	if glue.Package == "main" {
		if !glue.HasMain {
			files[filepath.Join(dir, "weir_main.go")] = []byte("package main\n\nfunc main() {}\n")
		}
		return files, ".", nil
	}
	// A module is linked from a main package: one that does nothing but import.
	path, err := importPath(dir)
	if err != nil {
		return nil, "", err
	}
	files[filepath.Join(dir, mainDir, "main.go")] = fmt.Appendf(nil, "package main\n\nimport _ %q\n\nfunc main() {}\n", path)
	return files, "./" + mainDir, nil
}

// importPath asks the go command what the package in a folder is called.
func importPath(dir string) (string, error) {
	cmd := exec.Command("go", "list", "-e", "-f", "{{.ImportPath}}", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", goMissing()
	}
	if err != nil {
		return "", fmt.Errorf("go list: %s", strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

func goMissing() error {
	return errors.New("the go command is not on the PATH: a function in Go needs Go 1.26 or later, from https://go.dev/dl")
}

// overlay writes the files to a folder of their own, and the file that shows them to
// the go command in their places.
func overlay(temp string, files map[string][]byte) (string, error) {
	replace := map[string]string{}
	for path, text := range files {
		at := filepath.Join(temp, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(at, text, 0o600); err != nil {
			return "", err
		}
		replace[path] = at
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	at := filepath.Join(temp, "overlay.json")
	return at, os.WriteFile(at, list, 0o600)
}

// write puts the files in their places, and returns what removes them again.
func write(files map[string][]byte) (remove func(), err error) {
	var paths []string
	remove = func() {
		for _, p := range paths {
			os.Remove(p)
			if filepath.Base(filepath.Dir(p)) == mainDir {
				os.Remove(filepath.Dir(p))
			}
		}
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			remove()
			return nil, err
		}
		paths = append(paths, path)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			remove()
			return nil, err
		}
	}
	return remove, nil
}

// flagsWithout drops flags that cannot be used for the target.
func flagsWithout(flags string, drop ...string) string {
	var kept []string
	for _, f := range strings.Fields(flags) {
		ok := true
		for _, d := range drop {
			ok = ok && !strings.HasPrefix(f, d)
		}
		if ok {
			kept = append(kept, f)
		}
	}
	return strings.Join(kept, " ")
}

// run runs a compiler in a folder; its output becomes the error.
func run(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound) && name == "go":
		return goMissing()
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s is not on the PATH", name)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%s %s failed:\n%s%s", filepath.Base(name), args[0], bytes.TrimSpace(out), hint(string(out)))
	}
	return nil
}

// hint explains what compilers say of a wrong environment.
func hint(out string) string {
	switch {
	case strings.Contains(out, "undefined: weir.Glue1"):
		return "\nThe module's version of " + goglue.SDK + " does not fit this program: use the same version of both."
	case strings.Contains(out, "no required module provides package "+goglue.SDK):
		return "\nThe folder's go.mod does not name github.com/weirdb/weir: see 'weir udf new'."
	}
	return ""
}
