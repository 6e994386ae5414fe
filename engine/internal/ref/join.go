package ref

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/plan"
)

// join tries every pair of rows, and remembers which rows have found a partner.
func (e evaluator) join(n *plan.Join, left, right table) (table, error) {
	if n.Windowed {
		left, right = inTime(n, 0, n.Windows, left), inTime(n, 1, n.Windows, right)
	}
	out := after(len(n.Output), left, right)
	both := table{open: slices.Concat(left.open, right.open)}
	for i, c := range n.Output {
		out.open[i] = both.open[c]
	}
	out.some = out.some || left.opensColumns(n.LeftKeys) || right.opensColumns(n.RightKeys) || both.opens(n.Residual)
	hasPartner := make([]bool, len(right.rows))
	for _, l := range left.rows {
		found := false
		for i, r := range right.rows {
			pair := slices.Concat(l, r)
			ok, err := e.joins(n, l, r, pair)
			if err != nil {
				return out, err
			}
			if !ok {
				continue
			}
			found, hasPartner[i] = true, true
			if n.Kind.Pairs() {
				out.rows = append(out.rows, project(pair, n.Output))
			}
		}
		switch {
		case n.Kind == plan.SemiJoin && found, n.Kind == plan.AntiJoin && !found, n.Kind.PadsRight() && !found:
			out.rows = append(out.rows, project(slices.Concat(l, make(Row, len(n.Right.Schema()))), n.Output))
		}
	}
	if n.Kind.PadsLeft() {
		for i, r := range right.rows {
			if !hasPartner[i] {
				out.rows = append(out.rows, project(slices.Concat(make(Row, len(n.Left.Schema())), r), n.Output))
			}
		}
	}
	return out, nil
}

// joins reports whether two rows match: equal keys, none of them NULL unless NULL
// matches NULL, and the residual condition TRUE.
func (e evaluator) joins(n *plan.Join, l, r, pair Row) (bool, error) {
	for i, c := range n.LeftKeys {
		a, b := l[c], r[n.RightKeys[i]]
		if a == nil && b == nil && n.NullSafe[i] {
			continue
		}
		if a == nil || b == nil || !equal(a, b) {
			return false, nil
		}
	}
	return e.holds(n.Residual, pair)
}
