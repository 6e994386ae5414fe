// Package udfcheck tries the functions of a WebAssembly module with batches of all
// shapes, and says which do not keep to what the contract and their manifest promise.
package udfcheck

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// Status is how a check ended.
type Status string

// The ways a check ends.
const (
	Passed  Status = "ok"
	Broken  Status = "failed"
	Skipped Status = "skipped" // there was nothing to try
)

// Result is one check of one function.
type Result struct {
	Function string `json:"function"`
	Check    string `json:"check"`
	Status   Status `json:"status"`
	Detail   string `json:"detail,omitempty"`
}

// Options say how functions are tried.
type Options struct {
	Seed   uint64
	Limits udf.Limits
	Values map[string][]string // texts for arguments by name in lower case
	Only   string              // name or export of one function, or "" for all
}

// Run checks a module. The error is of the module as a whole: it cannot be loaded.
func Run(ctx context.Context, name string, code []byte, o Options) ([]Result, error) {
	host, err := udf.Open(ctx, udf.Config{})
	if err != nil {
		return nil, err
	}
	defer host.Close()
	m, err := host.Load(ctx, name, code, o.Limits)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	var out []Result
	found := false
	for _, f := range m.Functions() {
		if o.Only != "" && o.Only != f.Name && o.Only != f.Export {
			continue
		}
		found = true
		k := newChecker(ctx, f, vector.NewPool(), o)
		if err := k.run(); err != nil {
			return nil, err
		}
		out = append(out, k.results...)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
	if !found {
		return nil, fmt.Errorf("the module has no function %q", o.Only)
	}
	return out, nil
}

// checker tries one function.
type checker struct {
	ctx     context.Context
	fn      *udf.Function
	pool    *vector.Pool
	values  *Values
	seed    uint64
	results []Result

	inputs  []sqltype.Type // of the columns of a call
	names   []string
	base    []*vector.Vector // the rows that the function takes
	rows    int              // of base
	refused int
	cost    int64 // fuel a row
	bytes   int   // of base and what the function makes of it
}

func newChecker(ctx context.Context, f *udf.Function, p *vector.Pool, o Options) *checker {
	k := &checker{ctx: ctx, fn: f, pool: p, values: NewValues(o.Seed, o.Values), seed: o.Seed}
	n := len(f.Args)
	if f.Variadic {
		n++
	}
	k.inputs = f.Inputs(n)
	k.names = inputNames(f, len(k.inputs))
	return k
}

func (k *checker) report(check string, s Status, format string, args ...any) {
	k.results = append(k.results, Result{k.fn.Export, check, s, fmt.Sprintf(format, args...)})
}

// try runs a check that says what is wrong, or "".
func (k *checker) try(check string, f func() (string, error)) {
	wrong, err := f()
	switch {
	case err != nil && k.ctx.Err() != nil:
	case err != nil:
		k.report(check, Broken, "%s", err)
	case wrong != "":
		k.report(check, Broken, "%s", wrong)
	default:
		k.report(check, Passed, "")
	}
}

// baseRows are the rows that a function is tried with first, bigRows those of the
// largest batch: more than one call takes.
const (
	baseRows = 1000
	bigRows  = abi.MaxRows + 4464
)

func (k *checker) run() error {
	k.try("empty batch", func() (string, error) {
		cols, err := k.columns(0, 0)
		if err != nil {
			return "", err
		}
		defer release(cols)
		out, err := k.fresh(&udf.Call{Args: cols})
		if err != nil {
			return "", err
		}
		defer out.release()
		if !k.fn.Kind.HasState() && out.n != 0 {
			return fmt.Sprintf("there are %d result rows", out.n), nil
		}
		return "", nil
	})
	if err := k.accept(); err != nil {
		var f *udf.Fault
		if k.ctx.Err() != nil || !errors.As(err, &f) {
			return err
		}
		k.report("edge and random values", Broken, "%s", err)
		return nil
	}
	defer release(k.base)
	if k.rows == 0 {
		k.report("edge and random values", Skipped, "every row was refused: give values with --values, as --values currency=EUR,JPY")
		return nil
	}
	detail := fmt.Sprintf("%d rows", k.rows)
	if k.refused > 0 {
		detail += fmt.Sprintf(", %d refused", k.refused)
	}
	k.report("edge and random values", Passed, "%s", detail)
	k.shapes()
	if k.fn.Kind.HasState() {
		k.aggregate()
	}
	return nil
}

// inputNames are the names of the columns of a call.
func inputNames(f *udf.Function, n int) []string {
	names := make([]string, n)
	first := 0
	if f.Kind == abi.Temporal {
		first = len(f.Keys) + 1 + 2*(1+len(f.VersionRow.Fields))
	}
	for i := first; i < n; i++ {
		names[i] = f.Args[min(i-first, len(f.Args)-1)].Name
	}
	return names
}

// columns makes the columns of n rows.
func (k *checker) columns(n int, null float64) (cols []*vector.Vector, err error) {
	for i, t := range k.inputs {
		c, err := k.values.Column(k.pool, k.names[i], t, n, null)
		if err != nil {
			release(cols)
			return nil, err
		}
		cols = append(cols, c)
	}
	if k.fn.Kind == abi.Temporal {
		k.orderVersions(cols, n)
	}
	return cols, nil
}

// orderVersions puts the times of a temporal function's rows in order: floor, as-of
// time, ceil. Some rows lack a version.
func (k *checker) orderVersions(cols []*vector.Vector, n int) {
	width := 1 + len(k.fn.VersionRow.Fields)
	at := len(k.fn.Keys)
	times := func(i int) ([]int64, *vector.Vector) { return vector.Values[int64](cols[i]), cols[i] }
	asOf, _ := times(at)
	floor, floors := times(at + 1)
	ceil, ceils := times(at + 1 + width)
	r := k.values.rand
	for i := range n {
		floor[i] = asOf[i] - int64(r.IntN(100_000))
		ceil[i] = asOf[i] + 1 + int64(r.IntN(100_000))
	}
	lack := func(time *vector.Vector, first int) {
		valid := make([]bool, n)
		for i := range valid {
			valid[i] = r.IntN(8) > 0
		}
		for _, c := range append([]*vector.Vector{time}, cols[first+1:first+width]...) {
			bits := c.Valid()
			if bits == nil {
				bits = c.NewValid(true)
			}
			for i, ok := range valid {
				if !ok {
					bits.Clear(i)
				}
			}
		}
	}
	lack(floors, at+1)
	lack(ceils, at+1+width)
}

func release(cols []*vector.Vector) {
	for _, c := range cols {
		c.Release()
	}
}

// fresh evaluates a batch on an instance of its own.
func (k *checker) fresh(c *udf.Call) (*outcome, error) {
	in, err := k.fn.Open(k.ctx, nil)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return k.evaluate(in, c)
}

// evaluate calls the function. Of an aggregate the outcome is the result of groups
// that the rows are dealt to.
func (k *checker) evaluate(in *udf.Instance, c *udf.Call) (*outcome, error) {
	c.Pool = k.pool
	if c.Now == 0 {
		c.Now = 1_700_000_000_000
	}
	if c.Seed == 0 {
		c.Seed = k.seed + 1
	}
	switch k.fn.Kind {
	case abi.Scalar:
		v, err := in.Call(k.ctx, c)
		if err != nil {
			return nil, err
		}
		return &outcome{types: []sqltype.Type{k.fn.Returns}, columns: []*vector.Vector{v}, n: c.Rows}, nil
	case abi.Table, abi.Temporal:
		all := newCollector(k.pool, fieldTypes(k.fn.Returns))
		err := in.CallTable(k.ctx, c, all.yield)
		out := all.finish()
		if err != nil {
			out.release()
			return nil, err
		}
		return out, nil
	}
	s, err := k.update(in, c, nil, nil)
	if err != nil {
		return nil, err
	}
	return k.result(in, s)
}

func fieldTypes(row sqltype.Type) (types []sqltype.Type) {
	for _, f := range row.Fields {
		types = append(types, f.Type)
	}
	return types
}

// accept makes base: rows with values of all kinds, without those that the function
// refuses by an error of its own.
func (k *checker) accept() error {
	cols, err := k.columns(baseRows, 0)
	if err != nil {
		return err
	}
	defer release(cols)
	rows := make([]int32, baseRows)
	for i := range rows {
		rows[i] = int32(i)
	}
	// Refused rows are taken out one by one while they are few, then rows are tried
	// by themselves.
	const few, singles = 24, 300
	for tries := 0; ; tries++ {
		out, err := k.fresh(&udf.Call{Args: cols, Rows: len(rows), Sel: rows})
		if err == nil {
			out.release()
			break
		}
		bad, ok := refusedRow(err)
		if !ok {
			return err
		}
		k.refused++
		if tries < few && bad >= 0 && bad < len(rows) {
			rows = append(rows[:bad:bad], rows[bad+1:]...)
			continue
		}
		rows, k.refused = nil, 0
		for i := range int32(singles) {
			out, err := k.fresh(&udf.Call{Args: cols, Rows: 1, Sel: []int32{i}})
			if err == nil {
				out.release()
				rows = append(rows, i)
			} else if _, ok := refusedRow(err); !ok {
				return err
			} else {
				k.refused++
			}
		}
		break
	}
	for _, c := range cols {
		k.base = append(k.base, c.Take(k.pool, rows))
	}
	k.rows = len(rows)
	return nil
}

// refusedRow reports whether an error is one of the function's own, and of which row.
func refusedRow(err error) (row int, ok bool) {
	var f *udf.Fault
	if !errors.As(err, &f) || f.Cause != udf.Refused {
		return -1, false
	}
	return f.Row, true
}
