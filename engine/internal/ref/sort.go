package ref

import (
	"math"
	"slices"

	"github.com/weirdb/weir/engine/internal/plan"
)

// sorted is ORDER BY with LIMIT and OFFSET.
func sorted(n *plan.Sort, in table) table {
	in.rows = slices.Clone(in.rows)
	slices.SortStableFunc(in.rows, func(a, b Row) int { return inOrder(n.Order, a, b) })
	return limited(n, in, n.Order, n.Offset, n.Count)
}

// limited takes rows from an offset on. Which they are is open when different rows that
// are equal in the order, all of them without one, stand on both sides of a cut.
func limited(n plan.Node, in table, order []plan.SortKey, offset, count int64) table {
	out := after(len(in.open), in)
	copy(out.open, in.open)
	rows := in.rows
	from := int(min(offset, int64(len(rows))))
	to := from + int(min(count, math.MaxInt64-offset, int64(len(rows)-from)))
	out.rows = rows[from:to]
	if from == to || from == 0 && to == len(rows) {
		if from == 0 && to == len(rows) {
			out.choice = in.choice
		}
		out.inOrder = in.inOrder && order == nil
		return out
	}
	for _, k := range order {
		out.some = out.some || in.open[k.Column]
	}
	if len(order) == 0 {
		out.inOrder = in.inOrder
		out.some = out.some || slices.Contains(in.open, true)
	}
	types := n.Schema().Types()
	peers := func(at int) (first, last int) { // the rows that are equal to that one in the order
		first, last = at, at+1
		for first > 0 && inOrder(order, rows[first-1], rows[at]) == 0 {
			first--
		}
		for last < len(rows) && inOrder(order, rows[last], rows[at]) == 0 {
			last++
		}
		return first, last
	}
	var sure, ties []Row
	first, last := from, to
	for _, cut := range []int{from, to} {
		if cut == 0 || cut == len(rows) || inOrder(order, rows[cut-1], rows[cut]) != 0 {
			continue
		}
		a, b := peers(cut)
		if !slices.ContainsFunc(rows[a:b], func(r Row) bool { return Key(types, r) != Key(types, rows[a]) }) {
			continue
		}
		if cut == from {
			first = min(b, to)
			ties = append(ties, rows[a:b]...)
		}
		if cut == to && (first == from || a >= first) {
			last = max(a, from)
			ties = append(ties, rows[a:b]...)
		}
	}
	if len(ties) == 0 {
		return out
	}
	if first < last {
		sure = rows[first:last]
	}
	if !out.some && !slices.Contains(in.open, true) && in.choice == nil {
		out.choice = &choice{rows: slices.Concat(sure, ties), take: to - from, sure: len(sure)}
	}
	out.some = true
	out.ordered(in)
	return out
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
