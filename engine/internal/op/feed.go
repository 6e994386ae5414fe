package op

import (
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// arrivals is a dense batch on its way into the groups: row i goes to slots[i].
type arrivals struct {
	pool    *vector.Pool
	batch   *vector.Batch
	keys    []int // columns of the group key
	encoded *rowkey.Keys
	now     int64
	slots   []state.Slot
	weights []int64 // +1 or -1 for each row; nil: all +1
}

// keyed is a batch of the key columns at the given rows (nil: all), with vals, one
// for each of them, as a further column. It has no kinds.
func (in *arrivals) keyed(rows []int32, vals *vector.Vector) *vector.Batch {
	cols := make([]*vector.Vector, len(in.keys)+1)
	for i, k := range in.keys {
		if rows == nil {
			cols[i] = in.batch.Col(k).Retain()
		} else {
			cols[i] = in.batch.Col(k).Take(in.pool, rows)
		}
	}
	cols[len(in.keys)] = vals.Retain()
	return vector.NewBatch(vals.Len(), cols, nil)
}

// fed is the part of a batch that a feed lets through: row i of it is row rows[i]
// of the batch, belongs to slots[i] and has value i of vals, none of them NULL.
type fed struct {
	*arrivals
	rows    []int32        // nil: all rows of the batch; never empty
	slots   []state.Slot   // as long as there are rows
	vals    *vector.Vector // nil when the feed has no argument
	weights []int64        // nil: all +1
}

// rowFilter is a FILTER clause, evaluated once for each batch.
type rowFilter struct {
	cond expr.Expr
	pred *expr.Predicate
	sel  *vector.Vector // rows of the batch that pass
	mask []bool         // the same by row, made when somebody asks
	made bool
}

func (f *rowFilter) run(in *arrivals) error {
	f.pred.SetNow(in.now)
	sel, err := f.pred.Select(in.pool, in.batch)
	f.sel, f.made = sel, false
	return err
}

func (f *rowFilter) rows() []int32 { return vector.Values[int32](f.sel) }

func (f *rowFilter) passes(n int) []bool {
	if !f.made {
		f.mask = resize(f.mask, n)
		clear(f.mask)
		for _, r := range f.rows() {
			f.mask[r] = true
		}
		f.made = true
	}
	return f.mask
}

func (f *rowFilter) release() {
	if f.sel != nil {
		f.sel.Release()
		f.sel = nil
	}
}

// feed is the rows of the input that pass a FILTER and in which an argument is not
// NULL, with the accumulators that see them.
type feed struct {
	arg      expr.Expr // nil: no argument
	filter   *rowFilter
	distinct bool // it gets the rows from a distinct
	eval     *expr.Evaluator
	accs     []accumulator

	rows    []int32
	valid   []int32
	slots   []state.Slot
	weights []int64
}

func newFeed(arg expr.Expr, filter *rowFilter) (*feed, error) {
	f := &feed{arg: arg, filter: filter}
	if arg != nil {
		ev, err := expr.Compile(arg)
		if err != nil {
			return nil, err
		}
		f.eval = ev
	}
	return f, nil
}

// open opens the functions of the argument, and of those that accumulators evaluate
// themselves.
func (f *feed) open(in *function.Instances) error {
	if f.eval != nil {
		if err := f.eval.Open(in); err != nil {
			return err
		}
	}
	for _, a := range f.accs {
		if g, ok := a.(*goAggregate); ok {
			if err := g.open(in); err != nil {
				return err
			}
		}
	}
	return nil
}

// run feeds the accumulators from a batch.
func (f *feed) run(groups *state.Values, in *arrivals) error {
	if len(f.accs) == 0 || f.filter != nil && f.filter.sel.Len() == 0 {
		return nil
	}
	rows, vals, err := f.evaluate(in)
	if err != nil {
		return err
	}
	if vals != nil && vals.Nulls() > 0 {
		if f.valid = appendValid(f.valid[:0], vals); len(f.valid) == 0 {
			vals.Release()
			return nil
		}
		if rows == nil {
			rows = f.valid
		} else {
			f.rows = gather(f.rows, rows, f.valid)
			rows = f.rows
		}
		vals = takeValid(in.pool, vals, f.valid)
	}
	if vals != nil {
		defer vals.Release()
	}
	weights := in.weights
	if rows != nil && weights != nil {
		f.weights = gather(f.weights, weights, rows)
		weights = f.weights
	}
	return f.give(groups, in, rows, vals, weights)
}

// takeValid is v at the given positions, none of them NULL, in place of v.
func takeValid(p *vector.Pool, v *vector.Vector, at []int32) *vector.Vector {
	some := v.Take(p, at)
	some.DropValid()
	v.Release()
	return some
}

// evaluate computes the argument on the rows that pass the filter. rows is nil when
// those are all.
func (f *feed) evaluate(in *arrivals) (rows []int32, vals *vector.Vector, err error) {
	b := in.batch
	if f.filter != nil {
		rows = f.filter.rows()
		b = b.Select(f.filter.sel.Retain())
		defer b.Release()
	}
	if f.arg != nil {
		f.eval.SetNow(in.now)
		vals, err = f.eval.Eval(in.pool, b)
	}
	return rows, vals, err
}

// give hands rows of the batch, which have the given values and weights, to the
// accumulators.
func (f *feed) give(groups *state.Values, in *arrivals, rows []int32, vals *vector.Vector, weights []int64) error {
	part := fed{arrivals: in, rows: rows, slots: in.slots, vals: vals, weights: weights}
	if rows != nil {
		f.slots = gather(f.slots, in.slots, rows)
		part.slots = f.slots
	}
	for _, a := range f.accs {
		if err := a.add(groups, &part); err != nil {
			return err
		}
	}
	return nil
}

// appendValid appends the positions of v's values that are not NULL.
func appendValid(to []int32, v *vector.Vector) []int32 {
	for i := range v.Len() {
		if !v.IsNull(i) {
			to = append(to, int32(i))
		}
	}
	return to
}

// gather fills dst with the elements of src at the given rows.
func gather[T any](dst, src []T, rows []int32) []T {
	dst = resize(dst, len(rows))
	for i, r := range rows {
		dst[i] = src[r]
	}
	return dst
}
