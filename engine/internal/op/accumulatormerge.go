package op

import (
	"bytes"

	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// merger is an accumulator that can take in those of other groups: the entries src of
// from are added to the entries dst of into, one by one. No entry is in dst twice.
type merger interface {
	accumulator
	merge(into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot) error
}

// mergeable reports whether all accumulators can be merged, and those of different values
// be told from these alone.
func (p *aggregatePlan) mergeable() bool {
	if len(p.multisets)+len(p.logs) > 0 || p.updating && len(p.distincts) > 0 {
		return false
	}
	for _, d := range p.distincts {
		for _, f := range d.feeds {
			for _, a := range f.accs {
				if _, ok := a.(merger); !ok {
					return false
				}
			}
		}
	}
	for _, f := range p.feeds {
		for _, a := range f.accs {
			if _, ok := a.(merger); !ok {
				return false
			}
		}
	}
	return true
}

func mergeCounts(into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot, col int) {
	to, of := state.Col[int64](into, col), state.Col[int64](from, col)
	for i, d := range dst {
		to[d] += of[src[i]]
	}
}

func (c *counter) merge(into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot) error {
	mergeCounts(into, dst, from, src, c.col)
	return nil
}

func (a *intSum[T]) merge(into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot) error {
	to, of := state.Col[int64](into, a.col), state.Col[int64](from, a.col)
	for i, d := range dst {
		v, old := of[src[i]], to[d]
		now := old + v
		to[d] = now
		if (old^now)&(v^now) < 0 {
			a.carry.wraps[d] += 1 - 2*int64(uint64(v)>>63)
		}
	}
	return nil
}

func (a *decimalSum) merge(into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot) error {
	to, of := state.Col[vector.Dec](into, a.col), state.Col[vector.Dec](from, a.col)
	for i, d := range dst {
		v, old := of[src[i]], to[d]
		now := old.Add(v)
		to[d] = now
		if h := now.HighBits(); (old.HighBits()^h)&(v.HighBits()^h) < 0 {
			a.carry.wraps[d] += 1 - 2*int64(uint64(v.HighBits())>>63)
		}
	}
	return nil
}

func (a *floatSum[T]) merge(into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot) error {
	high, low := state.Col[float64](into, a.high), state.Col[float64](into, a.low)
	fromHigh, fromLow := state.Col[float64](from, a.high), state.Col[float64](from, a.low)
	for i, d := range dst {
		s := src[i]
		x := fromHigh[s]
		if a.special >= 0 {
			if c := specialOf(from.Bytes(a.special, s)); c != (special{}) {
				have := specialOf(into.Bytes(a.special, d))
				into.SetBytes(a.special, d, special{have.plus + c.plus, have.minus + c.minus, have.nan + c.nan}.bytes())
			}
		}
		if !finite(high[d] + x) {
			if finite(high[d]) && finite(x) {
				return overflow(a.of)
			}
			high[d], low[d] = high[d]+x, 0
			continue
		}
		h, l := addDouble(high[d], low[d], x)
		high[d], low[d] = addDouble(h, l, fromLow[s])
	}
	return nil
}

func (a *squareSum) merge(into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot) error {
	high, low := state.Col[float64](into, a.high), state.Col[float64](into, a.low)
	fromHigh, fromLow := state.Col[float64](from, a.high), state.Col[float64](from, a.low)
	for i, d := range dst {
		h, l := addDouble(high[d], low[d], fromHigh[src[i]])
		h, l = addDouble(h, l, fromLow[src[i]])
		if !finite(h) {
			return overflow(a.of)
		}
		high[d], low[d] = h, l
	}
	return nil
}

// mergeExtreme keeps the better one of two values.
func mergeExtreme[T vector.Fixed](a valueAcc, into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot, better func(v, than T) bool) {
	best, has := state.Col[T](into, a.col), state.Col[bool](into, a.has)
	of, some := state.Col[T](from, a.col), state.Col[bool](from, a.has)
	for i, d := range dst {
		s := src[i]
		if some[s] && (!has[d] || better(of[s], best[d])) {
			best[d], has[d] = of[s], true
		}
	}
}

func (a *extreme[T]) merge(into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot) error {
	mergeExtreme(a.valueAcc, into, dst, from, src, func(v, than T) bool { return v != than && (v > than) == a.greatest })
	return nil
}

func (a *floatExtreme[T]) merge(into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot) error {
	mergeExtreme(a.valueAcc, into, dst, from, src, func(v, than T) bool {
		if !a.greatest {
			v, than = than, v
		}
		return v > than || v != v && than == than
	})
	return nil
}

func (a *boolExtreme) merge(into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot) error {
	mergeExtreme(a.valueAcc, into, dst, from, src, func(v, _ bool) bool { return v == a.greatest })
	return nil
}

func (a *decimalExtreme) merge(into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot) error {
	want := a.want()
	mergeExtreme(a.valueAcc, into, dst, from, src, func(v, than vector.Dec) bool { return kernel.CmpDec(v, than) == want })
	return nil
}

func (a *bytesExtreme) merge(into *state.Values, dst []state.Slot, from *state.Values, src []state.Slot) error {
	has, some, want := state.Col[bool](into, a.has), state.Col[bool](from, a.has), a.want()
	for i, d := range dst {
		s := src[i]
		if v := from.Bytes(a.col, s); some[s] && (!has[d] || bytes.Compare(v, into.Bytes(a.col, d)) == want) {
			into.SetBytes(a.col, d, v)
			has[d] = true
		}
	}
	return nil
}
