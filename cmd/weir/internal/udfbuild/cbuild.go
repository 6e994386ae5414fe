package udfbuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/weirdb/weir/abi"
	csdk "github.com/weirdb/weir/sdk/c"
)

// C builds a module of the C files of a folder. They find weir.h in the folder, or
// the one that this program carries.
func C(ctx context.Context, dir string) (module []byte, m *abi.Manifest, err error) {
	sources, err := filepath.Glob(filepath.Join(dir, "*.c"))
	if err != nil || len(sources) == 0 {
		return nil, nil, fmt.Errorf("no C files in %s", dir)
	}
	for i, s := range sources {
		sources[i] = filepath.Base(s)
	}
	temp, err := os.MkdirTemp("", "weir-udf-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(temp)
	include := "."
	if _, err := os.Stat(filepath.Join(dir, "weir.h")); err != nil {
		include = temp
		if err := os.WriteFile(filepath.Join(temp, "weir.h"), []byte(csdk.Header()), 0o600); err != nil {
			return nil, nil, err
		}
	}
	out := filepath.Join(temp, "module.wasm")
	command := csdk.Command(include, out, sources...)
	if command[0], err = clang(); err != nil {
		return nil, nil, err
	}
	if err := run(ctx, dir, os.Environ(), command[0], command[1:]...); err != nil {
		return nil, nil, fmt.Errorf("%w%s", err, missing(err.Error()))
	}
	if module, err = os.ReadFile(out); err != nil {
		return nil, nil, err
	}
	m, err = abi.ReadManifest(module)
	if errors.Is(err, abi.ErrNoManifest) {
		err = fmt.Errorf("%w: the source has no WEIR_MODULE", err)
	}
	return module, m, err
}

// clang finds the compiler, which distributions also install with its version in
// the name. CC in the environment goes before when it is a clang.
func clang() (string, error) {
	names := []string{"clang"}
	for v := 22; v >= 14; v-- {
		names = append(names, fmt.Sprintf("clang-%d", v))
	}
	if cc := os.Getenv("CC"); strings.HasPrefix(filepath.Base(cc), "clang") {
		names = append([]string{cc}, names...)
	}
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			return path, nil
		}
	}
	return "", errors.New("clang is not on the PATH: functions in C need clang, wasm-ld and wasi-libc\n" +
		"on Debian and Ubuntu: apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32")
}

// missing says what to install when the compiler lacks a part of the toolchain.
func missing(out string) string {
	const install = "\nThe toolchain for WebAssembly is not complete. On Debian and Ubuntu: apt-get install "
	switch {
	case strings.Contains(out, "wasm-ld"):
		return install + "lld"
	case strings.Contains(out, "crt1") || strings.Contains(out, "file not found") && strings.Contains(out, "std"):
		return install + "wasi-libc"
	case strings.Contains(out, "libclang_rt.builtins"):
		return install + "libclang-rt-14-dev-wasm32 (the number is that of clang)"
	}
	return ""
}
