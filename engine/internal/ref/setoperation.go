package ref

import "github.com/weirdb/weir/engine/internal/plan"

// setOperation is INTERSECT and EXCEPT: a row of the left is matched with an equal
// one of the right that is not matched yet. Without ALL both sides are sets.
func setOperation(n *plan.SetOperation, left, right []Row) []Row {
	types := n.Schema().Types()
	free := map[string]int{}
	for _, r := range right {
		free[Key(types, r)]++
	}
	var out []Row
	seen := map[string]bool{}
	for _, l := range left {
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
			out = append(out, l)
		}
	}
	return out
}
