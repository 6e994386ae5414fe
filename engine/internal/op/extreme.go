package op

import (
	"bytes"

	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// valueAcc is the part of every MIN and MAX over append-only input: which columns
// it has and which of the two it is.
type valueAcc struct {
	valueResult
	greatest bool
}

func (a valueAcc) is(greatest bool) (valueResult, bool) { return a.valueResult, a.greatest == greatest }

func (a valueAcc) settle(*state.Values, []state.Slot) error { return nil }

// newExtreme returns the accumulator for the kind of r.
func newExtreme(r valueResult, greatest bool) accumulator {
	acc := valueAcc{r, greatest}
	switch r.kind {
	case vector.Bool:
		return &boolExtreme{acc}
	case vector.Int8:
		return &extreme[int8]{acc}
	case vector.Int16:
		return &extreme[int16]{acc}
	case vector.Int32:
		return &extreme[int32]{acc}
	case vector.Int64:
		return &extreme[int64]{acc}
	case vector.Float32:
		return &floatExtreme[float32]{acc}
	case vector.Float64:
		return &floatExtreme[float64]{acc}
	case vector.Decimal:
		return &decimalExtreme{acc}
	}
	return &bytesExtreme{acc}
}

// extreme keeps the least or greatest integer.
type extreme[T int8 | int16 | int32 | int64] struct{ valueAcc }

func (a *extreme[T]) add(groups *state.Values, in *fed) error {
	best, has := state.Col[T](groups, a.col), state.Col[bool](groups, a.has)
	vals := vector.Values[T](in.vals)[:len(in.slots)]
	if a.greatest {
		for i, s := range in.slots {
			if v := vals[i]; v > best[s] || !has[s] {
				best[s], has[s] = v, true
			}
		}
		return nil
	}
	for i, s := range in.slots {
		if v := vals[i]; v < best[s] || !has[s] {
			best[s], has[s] = v, true
		}
	}
	return nil
}

// floatExtreme keeps the least or greatest approximate number. NaN is greater than
// all others, as in row keys.
type floatExtreme[T float32 | float64] struct{ valueAcc }

func (a *floatExtreme[T]) add(groups *state.Values, in *fed) error {
	best, has := state.Col[T](groups, a.col), state.Col[bool](groups, a.has)
	vals := vector.Values[T](in.vals)[:len(in.slots)]
	for i, s := range in.slots {
		v, x, y := vals[i], vals[i], best[s]
		if !a.greatest {
			x, y = y, x
		}
		if !has[s] || x > y || x != x && y == y {
			best[s], has[s] = v, true
		}
	}
	return nil
}

// boolExtreme keeps the least or greatest truth value; FALSE is less than TRUE.
type boolExtreme struct{ valueAcc }

func (a *boolExtreme) add(groups *state.Values, in *fed) error {
	best, has := state.Col[bool](groups, a.col), state.Col[bool](groups, a.has)
	for i, s := range in.slots {
		v := vector.Values[bool](in.vals)[i]
		if !has[s] || v == a.greatest {
			best[s], has[s] = v, true
		}
	}
	return nil
}

// decimalExtreme keeps the least or greatest decimal.
type decimalExtreme struct{ valueAcc }

func (a *decimalExtreme) add(groups *state.Values, in *fed) error {
	best, has := state.Col[vector.Dec](groups, a.col), state.Col[bool](groups, a.has)
	vals, want := vector.Values[vector.Dec](in.vals)[:len(in.slots)], a.want()
	for i, s := range in.slots {
		if !has[s] || kernel.CmpDec(vals[i], best[s]) == want {
			best[s], has[s] = vals[i], true
		}
	}
	return nil
}

// bytesExtreme keeps the least or greatest string, by the order of its bytes.
type bytesExtreme struct{ valueAcc }

func (a *bytesExtreme) add(groups *state.Values, in *fed) error {
	has, want := state.Col[bool](groups, a.has), a.want()
	for i, s := range in.slots {
		v := in.vals.Bytes(i)
		if !has[s] || bytes.Compare(v, groups.Bytes(a.col, s)) == want {
			groups.SetBytes(a.col, s, v)
			has[s] = true
		}
	}
	return nil
}

// want is how a new value compares with the old one if it replaces that.
func (a valueAcc) want() int {
	if a.greatest {
		return 1
	}
	return -1
}
