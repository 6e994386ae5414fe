package udfcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirdb/weir/cmd/weir/internal/udfcheck"
)

func checkCommand() *cobra.Command {
	o := udfcheck.Options{}
	var asJSON, verbose bool
	var values []string
	var memory string
	cmd := &cobra.Command{
		Use:   "check FILE.wasm",
		Short: "Try a module's functions with batches of all shapes",
		Long: `Try a module's functions, whatever language they are written in, with batches of all
shapes: empty, one row, large; edges of every type and random values; NULLs;
selected rows; constants; again on a used instance, where a deterministic function
must give the same; many times, where memory must not fill up. Aggregates are also
updated in pieces, merged, and rows taken away again. What comes back is checked by
the host as in a query: offsets, UTF-8, precisions, NULLs where none may be.

A function may refuse rows by an error of its own; those are left out. Where a
function refuses all but some values, give those:

  weir udf check money.wasm --values currency=EUR,JPY,KWD

The exit code is 1 when a check fails.`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.Values, err = parseValues(values); err != nil {
				return err
			}
			if err := setMemory(&o.Limits, memory); err != nil {
				return err
			}
			code, err := readModule(args[0])
			if err != nil {
				return err
			}
			results, err := udfcheck.Run(cmd.Context(), filepath.Base(args[0]), code, o)
			if err != nil {
				return &Failed{err}
			}
			out := cmd.OutOrStdout()
			if asJSON {
				enc := json.NewEncoder(out)
				enc.SetEscapeHTML(false)
				for _, r := range results {
					if err := enc.Encode(r); err != nil {
						return err
					}
				}
			} else {
				checkTable(results, verbose).write(out)
			}
			failed := 0
			for _, r := range results {
				if r.Status == udfcheck.Broken {
					failed++
				}
			}
			if failed > 0 {
				return &Failed{fmt.Errorf("%d of %d checks failed (seed %d)", failed, len(results), o.Seed)}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&values, "values", nil, "values for arguments of a name, as currency=EUR,JPY; may be repeated")
	f.StringVar(&o.Only, "function", "", "check one function only")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the random values")
	f.BoolVarP(&verbose, "verbose", "v", false, "show every check, not only those that failed")
	f.BoolVar(&asJSON, "json", false, "write one JSON object a check")
	limitsFlags(cmd, &memory, &o.Limits)
	return cmd
}

// parseValues reads name=value,value.
func parseValues(list []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, v := range list {
		name, texts, ok := strings.Cut(v, "=")
		if !ok || name == "" || texts == "" {
			return nil, errors.New("--values is the name of an argument and its values, as currency=EUR,JPY")
		}
		name = strings.ToLower(name)
		out[name] = append(out[name], strings.Split(texts, ",")...)
	}
	return out, nil
}

// checkTable has a line for each function and each check that failed, or for all.
func checkTable(results []udfcheck.Result, verbose bool) *table {
	t := &table{}
	t.add("function", "check", "", "")
	for i := 0; i < len(results); {
		to := i
		for to < len(results) && results[to].Function == results[i].Function {
			to++
		}
		of := results[i:to]
		i = to
		if !verbose {
			status, detail := udfcheck.Passed, ""
			for _, r := range of {
				switch {
				case r.Status == udfcheck.Broken:
					status = udfcheck.Broken
				case r.Status == udfcheck.Skipped && status == udfcheck.Passed:
					status = udfcheck.Skipped
				}
				if r.Check == "edge and random values" && r.Status != udfcheck.Broken {
					detail = r.Detail
				}
			}
			t.add(of[0].Function, fmt.Sprintf("%d checks", len(of)), string(status), detail)
		}
		for _, r := range of {
			if verbose || r.Status == udfcheck.Broken {
				t.add(r.Function, r.Check, string(r.Status), r.Detail)
			}
		}
	}
	return t
}
