package ref

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/plan"
)

// setOperation is INTERSECT and EXCEPT: a row of the left is matched with an equal
// one of the right that is not matched yet. Without ALL both sides are sets.
func setOperation(n *plan.SetOperation, left, right table) table {
	out := after(len(n.Schema()), left, right)
	out.some = out.some || slices.Contains(left.open, true) || slices.Contains(right.open, true)
	types := n.Schema().Types()
	free := map[string]int{}
	for _, r := range right.rows {
		free[Key(types, r)]++
	}
	seen := map[string]bool{}
	for _, l := range left.rows {
		k := Key(types, l)
		matched := free[k] > 0
		switch {
		case !n.All && seen[k]:
			continue
		case n.All && matched:
			free[k]--
		}
		seen[k] = true
		if matched != n.Except {
			out.rows = append(out.rows, l)
		}
	}
	return out
}
