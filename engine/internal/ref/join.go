package ref

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/plan"
)

// join tries every pair of rows, and remembers which rows have found a partner.
func join(n *plan.Join, left, right []Row) ([]Row, error) {
	var out []Row
	hasPartner := make([]bool, len(right))
	for _, l := range left {
		found := false
		for i, r := range right {
			pair := slices.Concat(l, r)
			ok, err := joins(n, l, r, pair)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			found, hasPartner[i] = true, true
			if n.Kind.Pairs() {
				out = append(out, project(pair, n.Output))
			}
		}
		switch {
		case n.Kind == plan.SemiJoin && found, n.Kind == plan.AntiJoin && !found, n.Kind.PadsRight() && !found:
			out = append(out, project(slices.Concat(l, make(Row, len(n.Right.Schema()))), n.Output))
		}
	}
	if n.Kind.PadsLeft() {
		for i, r := range right {
			if !hasPartner[i] {
				out = append(out, project(slices.Concat(make(Row, len(n.Left.Schema())), r), n.Output))
			}
		}
	}
	return out, nil
}

// joins reports whether two rows match: equal keys, none of them NULL unless NULL
// matches NULL, and the residual condition TRUE.
func joins(n *plan.Join, l, r, pair Row) (bool, error) {
	for i, c := range n.LeftKeys {
		a, b := l[c], r[n.RightKeys[i]]
		if a == nil && b == nil && n.NullSafe[i] {
			continue
		}
		if a == nil || b == nil || !equal(a, b) {
			return false, nil
		}
	}
	return holds(n.Residual, pair)
}
