package ref

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/plan"
)

// join tries every pair of rows, and remembers which rows have found a partner.
func (e evaluator) join(n *plan.Join, left, right table) (table, error) {
	if n.Windowed {
		at, _ := n.WindowBounds(0)
		left = inTime(n, 0, at, n.Windows, left)
		at, _ = n.WindowBounds(1)
		right = inTime(n, 1, at, n.Windows, right)
	}
	if n.Interval != nil {
		left, right = inInterval(n, 0, left), inInterval(n, 1, right)
	}
	out := after(len(n.Output), left, right)
	if byTime := n.Windowed || n.Interval != nil; byTime {
		out.late = [2][]lateRow{left.late[0], right.late[1]}
	}
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
	if e.in.Shuffle != nil {
		e.in.Shuffle(out.rows)
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
	if n.Interval != nil && !near(n.Interval, l, r) {
		return false, nil
	}
	return e.holds(n.Residual, pair)
}

// near reports whether the times of two rows are as an interval wants them.
func near(i *plan.Interval, l, r Row) bool {
	a, ok := l[i.Left].(int64)
	b, also := r[i.Right].(int64)
	return ok && also && a-b >= i.Lower && a-b <= i.Upper
}

// inInterval leaves out the rows of an input that are late: which the watermark had reached
// before they came. Where no pair is in the interval nothing is waited for.
func inInterval(n *plan.Join, port int, in table) table {
	if n.Interval.Lower <= n.Interval.Upper {
	}
	hidden, time := n.HiddenColumn(port), []int{n.Interval.Left, n.Interval.Right}[port]
	if hidden < 0 || n.Interval.Lower > n.Interval.Upper {
		return in
	}
	out := in
	out.rows, out.kinds, out.splits, out.came = nil, nil, nil, nil
	out.some = out.some || in.open[hidden] || in.open[time]
	for i, r := range in.rows {
		if t, ok := r[time].(int64); !ok || t > r[hidden].(int64) {
			out.add(r, in, i)
		} else {
			out.refuse(port, in, i, nil, nil)
		}
	}
	return out
}
