package op

import (
	"encoding/binary"
	"math"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// floatColumns are the columns of a sum of approximate numbers: the unevaluated
// sum high + low, and the counts of what is not finite.
type floatColumns struct {
	high, low int
	special   int // Bytes; -1 over append-only input
}

// floatSum sums FLOAT or DOUBLE in twice the precision of a double (Dekker's and
// Knuth's error-free addition, renormalised after each step).
//
// A plain sum would depend on the order of the rows, which batch sizes and
// parallelism change, and would keep the rounding errors of rows that were taken
// away. The double sum is exact as long as all bits, from the greatest sum to the
// smallest digit of a value, span at most 104 bits: then order does not matter, and
// taking a row away gives back what was there before. Prices in cents up to a
// total of 10^14 are well inside. Beyond it each step errs by 2^-104 of the sum. An
// exact accumulator would take 34 words a group instead of two. When the last row
// of a group is taken away the sum starts from an exact 0 again.
//
// Infinities and NaN cannot be taken away from a sum, so over updating input they
// are counted beside it. A sum of finite values that overflows is an error.
type floatSum[T float32 | float64] struct {
	floatColumns
	count    int // column with the number of rows of the feed
	of       *expr.Aggregate
	overflow bool
}

func (a *floatSum[T]) add(groups *state.Values, in *fed) error {
	high, low := state.Col[float64](groups, a.high), state.Col[float64](groups, a.low)
	vals, weights := vector.Values[T](in.vals)[:len(in.slots)], in.weights
	for i, s := range in.slots {
		x := float64(vals[i])
		if weights != nil && weights[i] < 0 {
			x = -x
		}
		h, l := high[s], low[s]
		sum := h + x
		if sum-sum != 0 { // infinite or NaN
			a.notFinite(groups, s, x, weights != nil && weights[i] < 0)
			continue
		}
		b := sum - h
		l += (h - (sum - b)) + (x - b)
		h = sum + l
		high[s], low[s] = h, l-(h-sum)
	}
	if a.overflow {
		return overflow(a.of)
	}
	return nil
}

// notFinite adds x to a sum when one of them is not finite, or their sum is not.
func (a *floatSum[T]) notFinite(groups *state.Values, s state.Slot, x float64, removed bool) {
	high := state.Col[float64](groups, a.high)
	switch {
	case finite(x) && finite(high[s]):
		a.overflow = true
	case a.special < 0:
		high[s] += x
		state.Col[float64](groups, a.low)[s] = 0
	default:
		c, by := specialOf(groups.Bytes(a.special, s)), int64(1)
		if removed {
			x, by = -x, -1 // x is the value itself again
		}
		switch {
		case math.IsInf(x, 1):
			c.plus += by
		case math.IsInf(x, -1):
			c.minus += by
		default:
			c.nan += by
		}
		groups.SetBytes(a.special, s, c.bytes())
	}
}

func finite(x float64) bool { return x-x == 0 }

// settle starts sums of nothing from an exact 0.
func (a *floatSum[T]) settle(groups *state.Values, held []state.Slot) error {
	if a.special < 0 {
		return nil
	}
	count := state.Col[int64](groups, a.count)
	high, low := state.Col[float64](groups, a.high), state.Col[float64](groups, a.low)
	for _, s := range held {
		if count[s] == 0 {
			high[s], low[s] = 0, 0
			if len(groups.Bytes(a.special, s)) > 0 {
				groups.SetBytes(a.special, s, nil)
			}
		}
	}
	return nil
}

// special counts the values of a sum that are not finite.
type special struct{ plus, minus, nan int64 }

func specialOf(b []byte) special {
	if len(b) == 0 {
		return special{}
	}
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[i*8:])) }
	return special{at(0), at(1), at(2)}
}

func (c special) bytes() []byte {
	if c == (special{}) {
		return nil
	}
	b := make([]byte, 0, 24)
	for _, n := range [...]int64{c.plus, c.minus, c.nan} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

// apply is the sum of x and the values counted.
func (c special) apply(x float64) float64 {
	switch {
	case c.nan > 0 || c.plus > 0 && c.minus > 0:
		return math.NaN()
	case c.plus > 0:
		return math.Inf(1)
	case c.minus > 0:
		return math.Inf(-1)
	}
	return x
}
