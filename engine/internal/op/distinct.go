package op

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// distinct keeps, for every group and value of an argument, how often the value
// passed each FILTER, and feeds accumulators with the values that appear and
// disappear. Calls with one argument and several FILTERs share the entries.
type distinct struct {
	arg      expr.Expr
	updating bool
	feeds    []*feed // by column of the table
	table    *state.Values
	byPart   partTables // of windows; table is that of one part
	later    bool       // feeds get the values when the window is over
	enc      *rowkey.Encoder
	layout   rowkey.Layout
	cols     []int
	expiry   *distinctExpiry // nil: values are kept for ever

	slots   []state.Slot
	held    []int32
	idx     []int32
	valid   []int32
	rows    []int32
	mask    []bool
	weights []int64
}

func newDistinct(arg expr.Expr, updating bool, keys rowkey.Layout) (*distinct, error) {
	d := &distinct{arg: arg, updating: updating}
	d.layout = keys.With(arg.Type().Kind())
	d.enc = rowkey.NewEncoder(d.layout)
	for i := range d.layout.Kinds {
		d.cols = append(d.cols, i)
	}
	return d, nil
}

func (d *distinct) open(s *state.Store, name string) {
	d.table = s.Values(name, d.layout, d.columns())
}

func (d *distinct) columns() []vector.Kind {
	kind := vector.Bool // seen before
	if d.updating {
		kind = vector.Int64 // how often
	}
	cols := make([]vector.Kind, len(d.feeds))
	for i := range cols {
		cols[i] = kind
	}
	if d.expiry != nil {
		cols = append(cols, vector.Int64, vector.Int64)
	}
	return cols
}

// run feeds the accumulators from a batch.
func (d *distinct) run(groups *state.Values, in *arrivals) error {
	rows, vals, err := d.evaluate(in)
	if err != nil {
		return err
	}
	if vals.Nulls() > 0 {
		d.valid = appendValid(d.valid[:0], vals)
		if len(d.valid) == 0 {
			vals.Release()
			return nil
		}
		if rows == nil {
			rows = d.valid
		} else {
			d.rows = gather(d.rows, rows, d.valid)
			rows = d.rows
		}
		vals = takeValid(in.pool, vals, d.valid)
	}
	defer vals.Release()
	if vals.Len() == 0 {
		return nil
	}
	keyed := in.keyed(rows, vals)
	defer keyed.Release()
	d.slots = resize(d.slots, vals.Len())
	if err := d.table.Resolve(d.enc.Encode(keyed, d.cols), true, d.slots); err != nil {
		return err
	}
	d.table.Dirty(d.slots)
	if d.updating {
		d.held = d.table.Hold(d.slots, d.held[:0])
	}
	if d.expiry != nil {
		if err := d.expiry.begin(groups, in.slots, rows, keyed); err != nil {
			return err
		}
	}
	for i, f := range d.feeds {
		if err := d.feed(i, f, groups, in, rows, vals); err != nil {
			return err
		}
	}
	return nil
}

// evaluate computes the argument on the rows that pass any filter; rows is nil
// when those are all.
func (d *distinct) evaluate(in *arrivals) (rows []int32, vals *vector.Vector, err error) {
	if len(d.feeds) == 1 {
		return d.feeds[0].evaluate(in)
	}
	n := in.batch.Len()
	d.mask = resize(d.mask, n)
	clear(d.mask)
	for _, f := range d.feeds {
		if f.filter == nil {
			rows, vals, err = f.evaluate(in)
			return rows, vals, err
		}
		for _, r := range f.filter.rows() {
			d.mask[r] = true
		}
	}
	d.rows = d.rows[:0]
	for i, m := range d.mask {
		if m {
			d.rows = append(d.rows, int32(i))
		}
	}
	col := d.arg.(*expr.Column) // what several filters share is a plain column
	return d.rows, in.batch.Col(col.Index).Take(in.pool, d.rows), nil
}

// feed gives feed i the rows with which a value appears for it (weight +1) or
// disappears (-1). Only a positive count is a value: a count that was negative
// for a while makes no difference.
func (d *distinct) feed(i int, f *feed, groups *state.Values, in *arrivals, rows []int32, vals *vector.Vector) error {
	var passes []bool
	if f.filter != nil && len(d.feeds) > 1 {
		passes = f.filter.passes(in.batch.Len())
	}
	d.idx, d.weights = d.idx[:0], d.weights[:0]
	if d.updating {
		d.countValues(state.Col[int64](d.table, i), in.weights, rows, passes)
	} else {
		d.firstValues(state.Col[bool](d.table, i), rows, passes)
	}
	if len(d.idx) == 0 || d.later {
		return nil
	}
	var weights []int64
	if d.updating {
		weights = d.weights
	}
	picked := d.idx
	if rows != nil {
		f.rows = gather(f.rows, rows, d.idx)
		picked = f.rows
	}
	some := vals.Take(in.pool, d.idx)
	defer some.Release()
	return f.give(groups, in, picked, some, weights)
}

// firstValues lists the rows whose value is new.
func (d *distinct) firstValues(seen []bool, rows []int32, passes []bool) {
	for i, s := range d.slots {
		if seen[s] || passes != nil && !passes[rowAt(rows, i)] {
			continue
		}
		seen[s] = true
		d.idx = append(d.idx, int32(i))
	}
}

// countValues counts and lists the rows at which a count becomes positive, or
// ceases to be.
func (d *distinct) countValues(count, weights []int64, rows []int32, passes []bool) {
	for i, s := range d.slots {
		r := rowAt(rows, i)
		if passes != nil && !passes[r] {
			continue
		}
		w := int64(1)
		if weights != nil {
			w = weights[r]
		}
		count[s] += w
		if w > 0 && count[s] == 1 || w < 0 && count[s] == 0 {
			d.idx, d.weights = append(d.idx, int32(i)), append(d.weights, w)
		}
	}
}

func rowAt(rows []int32, i int) int32 {
	if rows == nil {
		return int32(i)
	}
	return rows[i]
}

// settle drops the values that an epoch left without a row and reports negative
// counts.
func (d *distinct) settle(rt *exec.Runtime) {
	if !d.updating {
		return
	}
	held, negative := d.table.Held(), int64(0)
	d.mask = resize(d.mask, len(held))
	clear(d.mask) // whether some FILTER counts the value
	for c := range d.feeds {
		count := state.Col[int64](d.table, c)
		for i, s := range held {
			if n := count[s]; n != 0 {
				d.mask[i] = true
				if n < 0 {
					negative++
				}
			}
		}
	}
	if d.expiry == nil {
		rt.Inconsistent(negative)
	}
	gone := d.slots[:0]
	for i, s := range held {
		if !d.mask[i] {
			gone = append(gone, s)
		}
	}
	d.slots = gone[:0]
	if len(gone) > 0 {
		d.table.Drop(gone)
	}
}
