// Package csdktest rebuilds modules written in C in tests, and holds the built
// modules that are committed beside their sources against what the sources give.
package csdktest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	csdk "github.com/weirdb/weir/sdk/c"
)

// Clang skips the test where clang cannot build for WebAssembly, and else returns
// its version, which it also writes into what it builds.
func Clang(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("clang", "--version").Output()
	if err != nil {
		t.Skip("clang is not installed: see sdk/c/install-toolchain.sh")
	}
	version, _, _ := strings.Cut(string(out), "\n")
	dir := t.TempDir()
	probe := filepath.Join(dir, "probe.c")
	if err := os.WriteFile(probe, []byte("#include <math.h>\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := command(dir, filepath.Join(dir, "probe.wasm"), probe).CombinedOutput(); err != nil {
		t.Skipf("clang does not build for wasm32-wasi: see sdk/c/install-toolchain.sh\n%s", out)
	}
	return version
}

// Build compiles sources, which find weir.h in the directory include. A warning
// fails the test. It skips the test where Clang does.
func Build(t *testing.T, include string, sources ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.wasm")
	if text, err := command(include, out, sources...).CombinedOutput(); err != nil || len(text) > 0 {
		Clang(t)
		t.Fatalf("%v\n%s", err, text)
	}
	module, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// Rebuild builds the module that is committed in a file. Built by the same clang,
// it must be the same, byte for byte. With WEIR_REBUILD=1 the file is written.
func Rebuild(t *testing.T, file, include string, sources ...string) []byte {
	t.Helper()
	version := Clang(t)
	module := Build(t, include, sources...)
	if os.Getenv("WEIR_REBUILD") != "" {
		if err := os.WriteFile(file, module, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case bytes.Equal(module, committed):
	case bytes.Contains(committed, []byte(version)):
		t.Errorf("%s is not what its source gives: run make plugins", file)
	default:
		t.Logf("%s was built by another clang than %s: only its behaviour can be compared", file, version)
	}
	return module
}

func command(include, out string, sources ...string) *exec.Cmd {
	line := csdk.Command(include, out, sources...)
	return exec.Command(line[0], line[1:]...)
}
