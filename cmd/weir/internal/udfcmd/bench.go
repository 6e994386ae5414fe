package udfcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/cmd/weir/internal/udfcheck"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// measure is what a function costs.
type measure struct {
	Function   string  `json:"function"`
	Rows       int     `json:"rows"`
	NsPerRow   float64 `json:"ns_per_row"`
	FixedNs    float64 `json:"fixed_ns"`
	MBPerSec   float64 `json:"mb_per_s"`
	FuelPerRow float64 `json:"fuel_per_row"`
	Error      string  `json:"error,omitempty"`
}

// benchOptions say what is measured.
type benchOptions struct {
	rows   int
	time   time.Duration
	only   string
	values map[string][]string
	limits udf.Limits
	seed   uint64
}

func benchCommand() *cobra.Command {
	o := benchOptions{}
	var values []string
	var memory string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "bench FILE.wasm",
		Short: "Measure what a module's functions cost",
		Long: `Measure what a module's functions cost on random values: time a row in batches of
--rows, time of a batch of one row, bytes of arguments and results a second, and fuel
a row (about one unit an instruction), which limits count in. Of an aggregate the
update of 64 groups is measured. A batch is what a query sends: copying rows in and
results out is part of it. Times are the best of several rounds.`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.values, err = parseValues(values); err != nil {
				return err
			}
			if err := setMemory(&o.limits, memory); err != nil {
				return err
			}
			if o.rows < 1 || o.rows > abi.MaxRows {
				return fmt.Errorf("--rows is from 1 to %d", abi.MaxRows)
			}
			code, err := readModule(args[0])
			if err != nil {
				return err
			}
			list, err := bench(cmd.Context(), filepath.Base(args[0]), code, o)
			if err != nil {
				return &Failed{err}
			}
			out := cmd.OutOrStdout()
			if asJSON {
				enc := json.NewEncoder(out)
				enc.SetEscapeHTML(false)
				for _, m := range list {
					if err := enc.Encode(m); err != nil {
						return err
					}
				}
				return nil
			}
			t := &table{right: map[int]bool{1: true, 2: true, 3: true, 4: true}}
			t.add("function", "ns/row", "ns/batch of 1", "MB/s", "fuel/row", "")
			for _, m := range list {
				if m.Error != "" {
					t.add(m.Function, "", "", "", "", m.Error)
					continue
				}
				t.add(m.Function, fmt.Sprintf("%.2f", m.NsPerRow), fmt.Sprintf("%.0f", m.FixedNs), fmt.Sprintf("%.0f", m.MBPerSec), fmt.Sprintf("%.1f", m.FuelPerRow))
			}
			t.write(out)
			return nil
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.rows, "rows", 4096, "rows of a batch")
	f.DurationVar(&o.time, "time", 500*time.Millisecond, "time to measure each function for")
	f.StringArrayVar(&values, "values", nil, "values for arguments of a name, as currency=EUR,JPY; may be repeated")
	f.StringVar(&o.only, "function", "", "measure one function only")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the random values")
	f.BoolVar(&asJSON, "json", false, "write one JSON object a function")
	limitsFlags(cmd, &memory, &o.limits)
	return cmd
}

func bench(ctx context.Context, name string, code []byte, o benchOptions) ([]measure, error) {
	host, err := udf.Open(ctx, udf.Config{})
	if err != nil {
		return nil, err
	}
	defer host.Close()
	m, err := host.Load(ctx, name, code, o.limits)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	var list []measure
	for _, f := range m.Functions() {
		if o.only != "" && o.only != f.Name && o.only != f.Export {
			continue
		}
		r, err := benchFunction(ctx, f, o)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			r = measure{Function: f.Export, Error: err.Error()}
		}
		list = append(list, r)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the module has no function %q", o.only)
	}
	return list, nil
}

func benchFunction(ctx context.Context, f *udf.Function, o benchOptions) (measure, error) {
	r := measure{Function: f.Export, Rows: o.rows}
	pool := vector.NewPool()
	cols, err := udfcheck.Accepted(ctx, f, pool, o.seed, o.values, o.rows)
	if err != nil {
		return r, err
	}
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	in, err := f.Open(ctx, nil)
	if err != nil {
		return r, err
	}
	defer in.Close()
	run, err := call(ctx, f, in, pool, cols, o.rows)
	if err != nil {
		return r, err
	}
	before := f.Metrics()
	best, err := fastest(o.time*3/4, func() error { return run(o.rows) })
	if err != nil {
		return r, err
	}
	after := f.Metrics()
	fixed, err := fastest(o.time/4, func() error { return run(1) })
	if err != nil {
		return r, err
	}
	rows := float64(after.Rows - before.Rows)
	bytes := float64(after.BytesIn - before.BytesIn + after.BytesOut - before.BytesOut)
	r.NsPerRow = float64(best) / float64(o.rows)
	r.FixedNs = float64(fixed)
	r.MBPerSec = bytes / rows * float64(o.rows) / float64(best) * 1e3
	r.FuelPerRow = float64(after.Fuel-before.Fuel) / rows
	return r, nil
}

// call returns what sends the first n rows into the function.
func call(ctx context.Context, f *udf.Function, in *udf.Instance, pool *vector.Pool, cols []*vector.Vector, rows int) (func(n int) error, error) {
	batch := func(n int) *udf.Call {
		return &udf.Call{Args: cols, Rows: n, Now: 1_700_000_000_000, Seed: 1, Pool: pool}
	}
	switch f.Kind {
	case abi.Scalar:
		return func(n int) error {
			out, err := in.Call(ctx, batch(n))
			if err == nil {
				out.Release()
			}
			return err
		}, nil
	case abi.Table, abi.Temporal:
		return func(n int) error {
			return in.CallTable(ctx, batch(n), func(r *udf.Rows) error {
				r.Release()
				return nil
			})
		}, nil
	}
	first, err := in.Init(ctx)
	if err != nil {
		return nil, err
	}
	const groups = 64
	group := make([]uint32, rows)
	for i := range group {
		group[i] = uint32(i % groups)
	}
	return func(n int) error {
		s := &udf.States{}
		for range min(groups, n) {
			if f.StateSize == 0 {
				s.Views = append(s.Views, first)
			} else {
				s.Fixed = append(s.Fixed, first...)
			}
		}
		return in.Update(ctx, batch(n), group[:n], nil, s)
	}, nil
}

// fastest is the best time of one run among rounds of several.
func fastest(total time.Duration, run func() error) (time.Duration, error) {
	if err := run(); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := run(); err != nil {
		return 0, err
	}
	reps := max(1, int(total/50/max(1, time.Since(begin))))
	best := time.Duration(-1)
	for start := time.Now(); best < 0 || time.Since(start) < total; {
		begin := time.Now()
		for range reps {
			if err := run(); err != nil {
				return 0, err
			}
		}
		if d := time.Since(begin) / time.Duration(reps); best < 0 || d < best {
			best = d
		}
	}
	if best < 0 {
		return 0, errors.New("there was no time to measure")
	}
	return best, nil
}
