// Package udfcmd is `weir udf`: commands for those who write functions in
// WebAssembly.
package udfcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/udf"
)

// Failed is an error of the work that a command did, not of its command line.
type Failed struct{ Err error }

func (f *Failed) Error() string {
	var e *errs.Error
	if errors.As(f.Err, &e) && e.Hint != "" && !strings.Contains(f.Err.Error(), e.Hint) {
		return f.Err.Error() + "\n" + e.Hint
	}
	return f.Err.Error()
}

func (f *Failed) Unwrap() error { return f.Err }

// Command is the command udf with those below it.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "udf",
		Short: "Write, build, check and measure functions in WebAssembly",
		Long: `Write, build, check and measure functions in WebAssembly.

From nothing to a function in a query:

  weir udf new --lang go discount     # a folder with a function to start from
  weir udf build discount             # discount/discount.wasm
  weir udf check discount/discount.wasm
  weir sql -e "CREATE FUNCTION discount_add AS 'discount_add' LANGUAGE WASM
                 USING FILE 'discount/discount.wasm';
               SELECT discount_add(1, 2);"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCommand(), buildCommand(), checkCommand(), inspectCommand(), benchCommand())
	return cmd
}

// oneFile wants one argument, a module.
func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name one module, a file that ends in .wasm")
	}
	return nil
}

// readModule reads a module's file.
func readModule(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &Failed{err}
	}
	if info.IsDir() {
		return nil, &Failed{fmt.Errorf("%s is a folder: name the .wasm file that 'weir udf build' made of it", path)}
	}
	if info.Size() > abi.MaxModuleBytes*16 {
		return nil, &Failed{fmt.Errorf("%s has %d bytes: that is no module of functions", path, info.Size())}
	}
	code, err := os.ReadFile(path)
	if err != nil {
		return nil, &Failed{err}
	}
	return code, nil
}

// table writes lines of cells, columns aligned and those in right to the right.
type table struct {
	rows  [][]string
	right map[int]bool
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) {
	var widths []int
	for _, r := range t.rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], runewidth.StringWidth(c))
		}
	}
	for _, r := range t.rows {
		var b strings.Builder
		for i, c := range r {
			if i > 0 {
				b.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-runewidth.StringWidth(c))
			if t.right[i] {
				b.WriteString(pad + c)
			} else {
				b.WriteString(c + pad)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// signature is a function as SQL sees it: add(a BIGINT, b BIGINT) -> BIGINT.
func signature(f *abi.Function) string {
	var b strings.Builder
	b.WriteString(f.Name + "(")
	for i, a := range f.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.Name + " " + a.Type)
		if f.Variadic && i == len(f.Args)-1 {
			b.WriteString("...")
		}
		if a.HasDefault {
			b.WriteString(" DEFAULT " + a.Default)
		}
	}
	b.WriteString(") -> " + f.Returns)
	if !f.Nullable {
		b.WriteString(" NOT NULL")
	}
	return b.String()
}

// limitsFlags adds the flags that lift limits while a module is tried.
func limitsFlags(cmd *cobra.Command, memory *string, l *udf.Limits) {
	f := cmd.Flags()
	f.StringVar(memory, "memory", "", "memory of an instance, as 64MiB (default: what the module asks for)")
	f.Int64Var(&l.Fuel, "fuel", 0, "instructions a batch may cost (0: what the module asks for)")
	f.Int64Var(&l.FuelPerRow, "fuel-per-row", 0, "and more for each of its rows")
	f.DurationVar(&l.Timeout, "timeout", 0, "time a batch may take (0: what the module asks for)")
}

// setMemory reads the flag --memory.
func setMemory(l *udf.Limits, memory string) error {
	if memory == "" {
		return nil
	}
	n, err := abi.ParseSize(memory)
	if err != nil {
		return fmt.Errorf("--memory: %w", err)
	}
	l.Memory = n
	return l.Validate()
}
