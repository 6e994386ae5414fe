package ref

import (
	"math"

	"github.com/weirdb/weir/engine/internal/plan"
)

// Told is a watermark that a source said by itself: rows that come after the first
// After ones are past Time, in milliseconds since 1970.
type Told struct {
	After int
	Time  int64
}

// NoWatermark is how far event time is before anything is known.
const NoWatermark int64 = math.MinInt64

// watermarks adds to each row how far event time was before it, if the plan wants that:
// the most that the rows before it in its split gave.
func (e evaluator) watermarks(n *plan.WatermarkAssigner, in table) (table, error) {
	if !n.Hidden {
		return in, nil
	}
	out := after(len(n.Schema()), in)
	out.inOrder = in.inOrder
	copy(out.open, in.open)
	out.open[len(in.open)] = !in.inOrder || in.unordered
	var told []Told
	if n.Expr == nil && e.in.Told != nil {
		told = e.in.Told(n)
	}
	highs := map[string]int64{}
	for i, r := range in.rows {
		split := in.split(i)
		high, some := highs[split]
		if !some {
			high = NoWatermark
		}
		for len(told) > 0 && told[0].After <= i {
			high, told = max(high, told[0].Time), told[1:]
		}
		highs[split] = high
		out.add(append(append(Row(nil), r...), high), in, i)
		if n.Expr == nil {
			continue
		}
		t, err := e.eval(n.Expr, r)
		if err != nil {
			return out, err
		}
		if t != nil {
			highs[split] = max(high, t.(int64))
		}
	}
	return out, nil
}

// watermarkFunctions are those of event time.
func watermarkFunctions() map[string]definition {
	return map[string]definition{
		"CURRENT_WATERMARK": func(c call) (any, error) {
			if c.int(0) == NoWatermark {
				return nil, nil
			}
			return c.int(0), nil
		},
	}
}
