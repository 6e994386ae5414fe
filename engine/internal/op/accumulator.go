package op

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// accumulator folds rows into columns of the groups.
type accumulator interface {
	add(groups *state.Values, in *fed) error
	// settle makes the columns of the groups that an epoch touched fit to be
	// published and kept. An overflow inside the epoch is judged here.
	settle(groups *state.Values, held []state.Slot) error
}

// counter counts rows.
type counter struct{ col int }

func (c *counter) add(groups *state.Values, in *fed) error {
	countRows(state.Col[int64](groups, c.col), in.slots, in.weights)
	return nil
}

func (c *counter) settle(*state.Values, []state.Slot) error { return nil }

func countRows(count []int64, slots []state.Slot, weights []int64) {
	if weights == nil {
		for _, s := range slots {
			count[s]++
		}
		return
	}
	weights = weights[:len(slots)]
	for i, s := range slots {
		count[s] += weights[i]
	}
}

// carry counts, for groups whose sum left the range of its column within an epoch,
// how often it wrapped. Sums wrap and come back when rows are taken away in another
// order than they came, so an overflow is judged only when the epoch ends. It is
// empty outside an epoch.
type carry struct {
	of    *expr.Aggregate
	wraps map[state.Slot]int64
}

func newCarry(a *expr.Aggregate) carry { return carry{of: a, wraps: map[state.Slot]int64{}} }

// settle reports groups that have rows and a sum out of range.
func (c *carry) settle(groups *state.Values) error {
	if len(c.wraps) == 0 {
		return nil
	}
	rows := state.Col[int64](groups, colRows)
	for s, n := range c.wraps {
		if n != 0 && rows[s] > 0 {
			return overflow(c.of)
		}
	}
	clear(c.wraps)
	return nil
}

func overflow(a *expr.Aggregate) error {
	e := errs.New(errs.Arithmetic, a.At, "%s overflows %s", a, a.T.Optional())
	switch a.T.ID {
	case sqltype.TinyInt, sqltype.SmallInt, sqltype.Integer:
		return e.WithHint("CAST the argument to BIGINT")
	case sqltype.BigInt:
		return e.WithHint("CAST the argument to DECIMAL(38, 0)")
	case sqltype.Float:
		return e.WithHint("CAST the argument to DOUBLE")
	}
	return e
}

// intSum sums integers in an int64.
type intSum[T int8 | int16 | int32 | int64] struct {
	col   int
	carry carry
}

func (a *intSum[T]) add(groups *state.Values, in *fed) error {
	sum, vals := state.Col[int64](groups, a.col), vector.Values[T](in.vals)
	slots := in.slots
	vals = vals[:len(slots)]
	if in.weights == nil {
		for i, s := range slots {
			v, old := int64(vals[i]), sum[s]
			now := old + v
			sum[s] = now
			if (old^now)&(v^now) < 0 {
				a.carry.wraps[s] += 1 - 2*int64(uint64(v)>>63)
			}
		}
		return nil
	}
	weights := in.weights[:len(slots)]
	for i, s := range slots {
		v, m, old := int64(vals[i]), weights[i]>>63, sum[s]
		now := old + (v ^ m) - m // minus v where the weight is -1
		sum[s] = now
		// Wrapped when both operands differ in sign from the result; v^m is the sign
		// of the second, and of -MinInt64 too.
		if (old^now)&(v^m^now) < 0 && (v != 0 || m == 0) {
			a.carry.wraps[s] += 1 - 2*int64(uint64(v^m)>>63)
		}
	}
	return nil
}

func (a *intSum[T]) settle(groups *state.Values, _ []state.Slot) error { return a.carry.settle(groups) }

// decimalSum sums decimals of one scale in 128 bits.
type decimalSum struct {
	col   int
	carry carry
}

func (a *decimalSum) add(groups *state.Values, in *fed) error {
	sum, vals := state.Col[vector.Dec](groups, a.col), vector.Values[vector.Dec](in.vals)
	vals = vals[:len(in.slots)]
	for i, s := range in.slots {
		v, old := vals[i], sum[s]
		if in.weights != nil && in.weights[i] < 0 {
			v = v.Negate() // 38 digits leave room: there is no least value to wrap
		}
		now := old.Add(v)
		sum[s] = now
		if h := now.HighBits(); (old.HighBits()^h)&(v.HighBits()^h) < 0 {
			a.carry.wraps[s] += 1 - 2*int64(uint64(v.HighBits())>>63)
		}
	}
	return nil
}

func (a *decimalSum) settle(groups *state.Values, _ []state.Slot) error {
	return a.carry.settle(groups)
}
