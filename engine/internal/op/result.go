package op

import (
	"math"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// result makes a column of the output from images of the groups. live says which
// images are groups with a row: the others may hold anything, and must not fail.
type result interface {
	column(p *vector.Pool, im *images, live []bool) (*vector.Vector, error)
}

// countResult is COUNT.
type countResult struct{ col int }

func (r countResult) column(p *vector.Pool, im *images, _ []bool) (*vector.Vector, error) {
	return im.column(p, r.col, vector.Int64), nil
}

// valueResult is MIN and MAX: a value and whether there is one.
type valueResult struct {
	col, has int
	kind     vector.Kind
}

// pick notes which of the held groups have a value, and appends the row that has it, and
// the group, to ids and at. slots are those of the groups' rows, None where there are none.
func (r valueResult) pick(groups *state.Values, held, slots []state.Slot, pick func(state.Slot) (state.RowID, int64, bool), ids []state.RowID, at []state.Slot) ([]state.RowID, []state.Slot) {
	has := state.Col[bool](groups, r.has)
	for i, s := range held {
		has[s] = false
		if slots[i] == state.None {
			continue
		}
		if id, _, ok := pick(slots[i]); ok {
			has[s] = true
			ids, at = append(ids, id), append(at, s)
		}
	}
	return ids, at
}

func (r valueResult) column(p *vector.Pool, im *images, _ []bool) (*vector.Vector, error) {
	v := im.column(p, r.col, r.kind)
	var valid vector.Bitmap
	for i, has := range savedValues[bool](im, r.has) {
		if has {
			continue
		}
		if valid == nil {
			valid = v.NewValid(true)
		}
		valid.Clear(i)
	}
	return v, nil
}

// nullWhereNone makes NULL what was computed from no value.
func nullWhereNone(v *vector.Vector, im *images, count int) {
	var valid vector.Bitmap
	for i, n := range savedValues[int64](im, count) {
		if n > 0 {
			continue
		}
		if valid == nil {
			valid = v.NewValid(true)
		}
		valid.Clear(i)
	}
}

// intResult is SUM and AVG of integers.
type intResult struct {
	sum, count int
	avg        bool // truncated towards zero
	kind       vector.Kind
	of         *expr.Aggregate
}

func (r *intResult) column(p *vector.Pool, im *images, live []bool) (*vector.Vector, error) {
	switch r.kind {
	case vector.Int8:
		return intColumn[int8](r, p, im, live)
	case vector.Int16:
		return intColumn[int16](r, p, im, live)
	case vector.Int32:
		return intColumn[int32](r, p, im, live)
	case vector.Int64:
		return intColumn[int64](r, p, im, live)
	case vector.Float64:
		return r.floats(p, im), nil
	}
	return nil, errs.New(errs.Internal, r.of.At, "%s of integers has the type %s", r.of.Func.Name, r.of.T)
}

func intColumn[T int8 | int16 | int32 | int64](r *intResult, p *vector.Pool, im *images, live []bool) (*vector.Vector, error) {
	sums, counts := savedValues[int64](im, r.sum), savedValues[int64](im, r.count)
	v := p.New(r.kind, len(sums))
	out := vector.Values[T](v)
	for i, s := range sums {
		if r.avg && counts[i] > 0 {
			s /= counts[i]
		}
		out[i] = T(s)
		if int64(out[i]) != s && live[i] && counts[i] > 0 {
			v.Release()
			return nil, overflow(r.of)
		}
	}
	nullWhereNone(v, im, r.count)
	return v, nil
}

// floats is a SUM or AVG of integers as DOUBLE.
func (r *intResult) floats(p *vector.Pool, im *images) *vector.Vector {
	sums, counts := savedValues[int64](im, r.sum), savedValues[int64](im, r.count)
	v := p.New(vector.Float64, len(sums))
	out := vector.Values[float64](v)
	for i, s := range sums {
		out[i] = float64(s)
		if r.avg && counts[i] > 0 {
			out[i] /= float64(counts[i])
		}
	}
	nullWhereNone(v, im, r.count)
	return v
}

// floatResult is SUM and AVG of approximate numbers.
type floatResult struct {
	floatColumns
	count int
	avg   bool
	kind  vector.Kind
	of    *expr.Aggregate
}

func (r *floatResult) column(p *vector.Pool, im *images, live []bool) (*vector.Vector, error) {
	high, counts := savedValues[float64](im, r.high), savedValues[int64](im, r.count)
	v := p.New(r.kind, len(high))
	for i, x := range high {
		if r.special >= 0 {
			x = specialOf(im.cols[r.special].(*savedBytes).at(i)).apply(x)
		}
		if r.avg && counts[i] > 0 {
			x /= float64(counts[i])
		}
		if r.kind == vector.Float64 {
			vector.Values[float64](v)[i] = x
			continue
		}
		vector.Values[float32](v)[i] = float32(x)
		if finite(x) && math.Abs(x) > math.MaxFloat32 && live[i] {
			v.Release()
			return nil, overflow(r.of)
		}
	}
	nullWhereNone(v, im, r.count)
	return v, nil
}

// decimalResult is SUM and AVG of decimals.
type decimalResult struct {
	sum, count int
	avg        bool // rounded half away from zero
	scale      int  // of the sum
	of         *expr.Aggregate
}

func (r *decimalResult) column(p *vector.Pool, im *images, live []bool) (*vector.Vector, error) {
	sums, counts := savedValues[vector.Dec](im, r.sum), savedValues[int64](im, r.count)
	v := p.New(vector.Decimal, len(sums))
	out := vector.Values[vector.Dec](v)
	to := r.of.T
	div := kernel.DecimalSpec{ScaleA: r.scale, Precision: sqltype.MaxPrecision, Scale: to.Scale}
	for i, s := range sums {
		ok := true
		switch {
		case counts[i] <= 0 || !live[i]:
			s = vector.Dec{}
		case r.avg:
			s, ok = kernel.OneDec(kernel.Div, s, vector.DecFromInt64(counts[i]), div)
		case r.scale != to.Scale:
			s, ok = kernel.RescaleDec(s, r.scale, to.Scale, to.Precision)
		}
		out[i] = s
		if !ok || !kernel.FitsDec(s, to.Precision) {
			v.Release()
			return nil, overflow(r.of)
		}
	}
	nullWhereNone(v, im, r.count)
	return v, nil
}
