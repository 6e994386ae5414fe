// Package csdk carries the SDK for functions in C: the header weir.h, the files of
// a new project, and how clang is called. README.md is for authors.
package csdk

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed weir.h
var header string

//go:embed template
var template embed.FS

// placeholder stands for the name of the project in the files of the template.
const placeholder = "example"

// Header is the text of weir.h.
func Header() string { return header }

// Project returns the files of a new project by name: a source with one function, the
// header, a Makefile that builds the module, a README. The name is one that
// a file and a module can have.
func Project(name string) map[string][]byte {
	files := map[string][]byte{"weir.h": []byte(header)}
	err := fs.WalkDir(template, "template", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := template.ReadFile(path)
		file := strings.TrimPrefix(path, "template/")
		files[strings.ReplaceAll(file, placeholder, name)] = []byte(strings.ReplaceAll(string(text), placeholder, name))
		return err
	})
	if err != nil {
		panic("csdk: the embedded template cannot be read: " + err.Error())
	}
	return files
}

// Command is the command line that compiles sources, which find weir.h in the
// directory include, to the module out. Debian has what it needs as clang, lld, wasi-libc and
// libclang-rt-14-dev-wasm32.
func Command(include, out string, sources ...string) []string {
	cmd := []string{
		"clang", "--target=wasm32-wasi", "-mexec-model=reactor", // a library: _initialize instead of main
		"-O3", "-msimd128", "-mbulk-memory", "-msign-ext", "-mnontrapping-fptoint", // what the sandbox runs
		// Addresses as a base and a constant, many to a base: the sandbox checks bounds once for
		// all of them. Without these each load has a check, and loops over numbers take three times as long.
		// A round of a loop takes up to 32 vectors, and what is left over two numbers at a time.
		"-mllvm", "-disable-lsr", "-mllvm", "-force-target-max-vector-interleave=32", "-mllvm", "-small-loop-cost=1000",
		"-mllvm", "-epilogue-vectorization-minimum-VF=2", "-mllvm", "-epilogue-vectorization-force-VF=2",
		// clang loads all that a round needs before it computes anything. A schedule of the least
		// registers uses each value where it is loaded instead, so that it does not matter how few there are.
		"-mllvm", "-force-target-num-vector-regs=200", "-mllvm", "-enable-misched", "-mllvm", "-misched=ilpmin",
		"-std=c11", "-Wall", "-Wextra",
		"-Wl,--stack-first", // a stack that overflows traps and overwrites nothing
		"-Wl,--strip-debug", // names stay, for stack traces
		"-I" + include, "-o", out,
	}
	return append(append(cmd, sources...), "-lm")
}
