package ref

import (
	"math"
	"slices"

	"github.com/weirdb/weir/engine/internal/plan"
)

// sorted is ORDER BY with LIMIT and OFFSET. It refuses to choose between different
// rows that are equal in the order.
func sorted(n *plan.Sort, in []Row) ([]Row, error) {
	out := slices.Clone(in)
	slices.SortStableFunc(out, func(a, b Row) int { return inOrder(n.Order, a, b) })
	types := n.Schema().Types()
	from := int(min(n.Offset, int64(len(out))))
	to := from + int(min(n.Count, math.MaxInt64-n.Offset, int64(len(out)-from)))
	for _, cut := range []int{from, to} {
		if cut == 0 || cut == len(out) || from == to {
			continue
		}
		if a, b := out[cut-1], out[cut]; inOrder(n.Order, a, b) == 0 && Key(types, a) != Key(types, b) {
			return nil, unsupported(n, "order by which LIMIT could choose")
		}
	}
	return out[from:to], nil
}

// inOrder compares two rows by the keys of an order.
func inOrder(keys []plan.SortKey, a, b Row) int {
	for _, k := range keys {
		x, y := a[k.Column], b[k.Column]
		if x == nil || y == nil {
			if (x == nil) == (y == nil) {
				continue
			}
			if (x == nil) == k.NullsLast {
				return 1
			}
			return -1
		}
		if c := order(x, y); c != 0 {
			if k.Desc {
				return -c
			}
			return c
		}
	}
	return 0
}
