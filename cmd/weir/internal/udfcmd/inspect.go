package udfcmd

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/udf"
)

// report is what inspect says of a module; its JSON form is for programs.
type report struct {
	File      string           `json:"file"`
	Module    string           `json:"module"`
	Version   string           `json:"version,omitempty"`
	ABI       [2]int           `json:"abi"`
	SHA256    string           `json:"sha256"`
	Bytes     int              `json:"bytes"`
	Imports   []string         `json:"imports"`
	Functions []functionReport `json:"functions"`
	Limits    limitsReport     `json:"limits"`
	Code      udf.Stats        `json:"code"`
	Compile   time.Duration    `json:"compile_ns"`
	Start     time.Duration    `json:"start_ns"`
}

type functionReport struct {
	Name      string   `json:"name"`
	Export    string   `json:"export"`
	Kind      string   `json:"kind"`
	Signature string   `json:"signature"`
	Traits    []string `json:"traits"`
	Create    string   `json:"create"`
}

type limitsReport struct {
	Memory     int64         `json:"memory"`
	Fuel       int64         `json:"fuel"`
	FuelPerRow int64         `json:"fuel_per_row"`
	Timeout    time.Duration `json:"timeout_ns"`
	Stack      int64         `json:"stack"`
	Log        int64         `json:"log"`
	RowsOut    int64         `json:"rows_out"`
	StateBytes int64         `json:"state_bytes"`
}

func inspectCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect FILE.wasm",
		Short: "Show what a module offers and what it takes",
		Long: `Show what a module offers and what it takes: its functions as SQL sees them and the
statements that create them, the size of its code against what is allowed, its
limits, its imports.`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			code, err := readModule(args[0])
			if err != nil {
				return err
			}
			r, err := inspect(cmd.Context(), args[0], code)
			if err != nil {
				return &Failed{err}
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(r)
			}
			r.write(cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	return cmd
}

func inspect(ctx context.Context, path string, code []byte) (*report, error) {
	host, err := udf.Open(ctx, udf.Config{})
	if err != nil {
		return nil, err
	}
	defer host.Close()
	start := time.Now()
	m, err := host.Load(ctx, filepath.Base(path), code, udf.Limits{})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	man, l, sha := m.Manifest(), m.Limits(), m.SHA256()
	r := &report{
		File: path, Module: man.Module, Version: man.Version, ABI: [2]int{man.MinABI, man.MaxABI},
		SHA256: hex.EncodeToString(sha[:]), Bytes: len(code), Imports: importsOf(code), Code: m.Stats(), Compile: time.Since(start),
		Limits: limitsReport{
			Memory: l.Memory, Fuel: l.Fuel, FuelPerRow: l.FuelPerRow, Timeout: l.Timeout, Stack: l.Stack, Log: l.Log,
			RowsOut: l.RowsOut, StateBytes: l.StateBytes,
		},
	}
	for i := range man.Functions {
		f := &man.Functions[i]
		r.Functions = append(r.Functions, functionReport{
			Name: f.Name, Export: f.Export, Kind: f.Kind.String(), Signature: signature(f), Traits: traits(f), Create: createStatement(f, path),
		})
	}
	if len(m.Functions()) > 0 {
		start = time.Now()
		in, err := m.Functions()[0].Open(ctx, nil)
		if err != nil {
			return nil, err
		}
		r.Start = time.Since(start)
		in.Close()
	}
	return r, nil
}

// traits are the words that say how a function is called.
func traits(f *abi.Function) (list []string) {
	add := func(ok bool, word string) {
		if ok {
			list = append(list, word)
		}
	}
	add(f.Deterministic, "deterministic")
	add(f.Called, "sees NULL")
	add(f.Accept(abi.AcceptConstant), "constants")
	add(f.Retract, "retract")
	add(f.Merge, "merge")
	add(f.Kind == abi.TableAggregate && f.Emit == abi.EmitRetract, "emits changes")
	add(f.Ceil == abi.CeilFinal, "waits for the next version")
	if f.Kind.HasState() {
		if f.State.Size > 0 {
			add(true, fmt.Sprintf("state of %d bytes", f.State.Size))
		} else {
			add(true, "state of any size")
		}
	}
	return list
}

// createStatement is the SQL that makes the function known.
func createStatement(f *abi.Function, path string) string {
	return fmt.Sprintf("CREATE FUNCTION %s AS '%s' LANGUAGE WASM USING FILE '%s';", f.Name, f.Export, strings.ReplaceAll(path, "'", "''"))
}

func (r *report) write(w io.Writer) {
	head := &table{}
	version := r.Version
	if version == "" {
		version = "without a version"
	}
	head.add("module", fmt.Sprintf("%s %s, ABI %d to %d", r.Module, version, r.ABI[0], r.ABI[1]))
	head.add("file", fmt.Sprintf("%s, %s", r.File, size(int64(r.Bytes))))
	head.add("sha256", r.SHA256)
	head.add("code", fmt.Sprintf("%d functions, %s with metering; compiled in %s, an instance starts in %s",
		r.Code.Functions, size(int64(r.Code.Metered)), r.Compile.Round(time.Millisecond), r.Start.Round(10*time.Microsecond)))
	head.add("largest", fmt.Sprintf("function of %d blocks, %d locals, %d levels, a frame of %d bytes", r.Code.MaxBlocks, r.Code.MaxLocals, r.Code.MaxNesting, r.Code.MaxFrame))
	head.add("limits", fmt.Sprintf("memory %s, fuel %d + %d a row, %s a batch, stack %s, log %s",
		size(r.Limits.Memory), r.Limits.Fuel, r.Limits.FuelPerRow, r.Limits.Timeout, size(r.Limits.Stack), size(r.Limits.Log)))
	head.add("imports", strings.Join(r.Imports, " "))
	head.write(w)
	fmt.Fprintln(w)
	list := &table{}
	list.add("function", "kind", "")
	for _, f := range r.Functions {
		list.add(f.Signature, f.Kind, strings.Join(f.Traits, ", "))
	}
	list.write(w)
	fmt.Fprintln(w)
	for _, f := range r.Functions {
		fmt.Fprintln(w, f.Create)
	}
}
