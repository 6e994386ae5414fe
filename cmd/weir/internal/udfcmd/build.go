package udfcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/cmd/weir/internal/goglue"
	"github.com/weirdb/weir/cmd/weir/internal/udfbuild"
)

func buildCommand() *cobra.Command {
	var out, compiler string
	var glue bool
	cmd := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Build the module of a folder with functions in Go or C",
		Long: `Build the module of a folder, by default the current one: its functions and the
manifest that says what they are in SQL. Nothing but the module is left behind.

Go: the folder is a package whose functions have //weir: directives. What lies
between them and the host is generated and compiled with the package. Needs Go.
C: the folder holds .c files that include weir.h. Needs clang with wasm-ld and
wasi-libc; on Debian and Ubuntu:
  apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			if glue {
				g, err := goglue.Generate(dir)
				if err != nil {
					return &Failed{err}
				}
				_, err = cmd.OutOrStdout().Write(g.Source)
				return err
			}
			start := time.Now()
			lang, err := language(dir)
			if err != nil {
				return &Failed{err}
			}
			var module []byte
			var m *abi.Manifest
			if lang == "go" {
				module, m, err = udfbuild.Go(cmd.Context(), dir, compiler)
			} else {
				module, m, err = udfbuild.C(cmd.Context(), dir)
			}
			if err != nil {
				return &Failed{err}
			}
			if out == "" {
				abs, err := filepath.Abs(dir)
				if err != nil {
					return &Failed{err}
				}
				out = filepath.Join(dir, filepath.Base(abs)+".wasm")
			}
			if err := writeWhole(out, module); err != nil {
				return &Failed{err}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d functions, %s, in %s\n", out, len(m.Functions), size(int64(len(module))), time.Since(start).Round(100*time.Millisecond))
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default: the folder's name with .wasm, in the folder)")
	cmd.Flags().StringVar(&compiler, "compiler", "go", "for Go: go or tinygo")
	cmd.Flags().BoolVar(&glue, "print-glue", false, "for Go: print the generated code instead of building")
	return cmd
}

// language is what the sources of a folder are written in.
func language(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var goFiles, cFiles bool
	for _, e := range entries {
		switch name := e.Name(); {
		case e.IsDir() || strings.HasSuffix(name, "_test.go"):
		case filepath.Ext(name) == ".go":
			goFiles = true
		case filepath.Ext(name) == ".c":
			cFiles = true
		}
	}
	switch {
	case goFiles && cFiles:
		return "", fmt.Errorf("%s has sources in Go and in C: a module is made of one of them", dir)
	case goFiles:
		return "go", nil
	case cFiles:
		return "c", nil
	}
	return "", errors.New(dir + " has no source in Go or C: 'weir udf new' makes a folder to start from")
}

// writeWhole writes a file so that it is never there in part.
func writeWhole(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".weir-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
