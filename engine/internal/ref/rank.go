package ref

import (
	"math"
	"slices"

	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

// ranked numbers the rows of each partition. Which of different rows that are equal in
// the order has which number is open for ROW_NUMBER: then of the rows only the columns
// of partition and order are sure, and without a number to show not even how many there
// are of each, when a bound stands between them.
func ranked(n *plan.Rank, in table) table {
	if n.Windowed() {
		w, start, _ := n.Windows()
		in = inTime(n, 0, start, w, in)
	}
	width := n.Width()
	out := after(len(n.Schema()), in)
	copy(out.open, in.open)
	out.late = in.late
	var by []int
	for _, k := range n.Order {
		by = append(by, k.Column)
	}
	if in.opensColumns(n.Partition) || in.opensColumns(by) {
		out.some = true
	}
	waits := n.Time == sqltype.Rowtime && !n.Order[0].Desc && !n.Windowed() && slices.ContainsFunc(in.rows, func(r Row) bool { return isLate(n.Order, n.Watermark, r) })
	if waits && n.Strategy == plan.RankFirstInTime {
		return firstInTime(n, in, out)
	} else if waits {
		out.some, out.unordered = true, true // a row may have been passed on before it came
	}
	keys := n.Schema().Project(n.Partition).Types()
	parts, names := map[string][]Row{}, []string{}
	for _, r := range in.rows {
		k := Key(keys, project(r, n.Partition))
		if parts[k] == nil {
			names = append(names, k)
		}
		parts[k] = append(parts[k], r)
	}
	types := n.Schema().Types()[:width]
	ties := false
	for _, name := range names {
		rows := parts[name]
		slices.SortStableFunc(rows, func(a, b Row) int { return inOrder(n.Order, a, b) })
		var number, group, dense int64
		for i, r := range rows {
			r = r[:width]
			number++
			switch {
			case i == 0 || inOrder(n.Order, rows[i-1], r) != 0:
				group = number
				dense++
			case Key(types, rows[i-1][:width]) != Key(types, r):
				ties = true
			}
			rank := number
			switch n.Function {
			case plan.RankWithGaps:
				rank = group
			case plan.DenseRank:
				rank = dense
			}
			to := n.To
			if n.ToColumn >= 0 {
				to = math.MinInt64
				if v, ok := r[n.ToColumn].(int64); ok {
					to = v
				}
			}
			if rank < n.From || rank > to {
				continue
			}
			if n.Number {
				r = append(slices.Clone(r), rank)
			}
			out.rows = append(out.rows, r)
		}
	}
	if !ties || n.Function != plan.RowNumber {
		return out
	}
	if n.From > 1 || n.To < math.MaxInt64 || n.ToColumn >= 0 {
		// The order decides which rows there are: of them the columns by which they are
		// ordered are sure.
		for c := range out.open {
			out.open[c] = out.open[c] || !slices.Contains(n.Partition, c) && !slices.Contains(by, c) && (!n.Number || c < width)
		}
	} else if n.Number {
		out.open[width] = true
	}
	out.ordered(in)
	if len(n.Order) == 1 && n.Time != sqltype.NoTime && n.Order[0].Desc { // see KeepsLast, of a bound that is not known yet
		out.unordered = true
	}
	return out
}

// firstInTime has the first row of each partition in time, of those that came before it
// was passed on: when the watermark had passed it. In several splits it is open which
// rows come before others.
func firstInTime(n *plan.Rank, in, out table) table {
	if in.severalSplits() {
		out.some = true
	}
	out.unordered = out.unordered || !in.inOrder
	keys := n.Schema().Project(n.Partition).Types()
	first, names := map[string]Row{}, []string{}
	for i, r := range in.rows {
		_, timed := r[n.Order[0].Column].(int64)
		if !timed && !n.Order[0].NullsLast || n.Strict && isLate(n.Order, n.Watermark, r) {
			out.refuse(0, in, i, nil, nil)
			continue
		}
		k := Key(keys, project(r, n.Partition))
		have, ok := first[k]
		if !ok {
			names = append(names, k)
		}
		if ok {
			t, hadTime := have[n.Order[0].Column].(int64)
			passed := hadTime && n.Watermark >= 0 && t <= r[n.Watermark].(int64)
			if at, ok := r[n.Order[0].Column].(int64); passed && ok && at < t {
				out.refuse(0, in, i, nil, nil)
			}
			if passed || inOrder(n.Order, have, r) <= 0 {
				continue
			}
		}
		first[k] = r
	}
	for _, k := range names {
		r := first[k][:n.Width()]
		if n.Number {
			r = append(slices.Clone(r), int64(1))
		}
		out.rows = append(out.rows, r)
	}
	return out
}

// isLate reports whether the watermark had passed a row before it came. A row without a
// time always is late, unless it is last in the order.
func isLate(order []plan.SortKey, watermark int, r Row) bool {
	t, ok := r[order[0].Column].(int64)
	if !ok {
		return !order[0].NullsLast
	}
	return watermark >= 0 && t <= r[watermark].(int64)
}

// ordered sorts rows by time. A row that is not after one which the watermark had passed
// before it came is left out.
func ordered(n *plan.TemporalSort, in table) table {
	width := len(n.Schema())
	out := after(width, in)
	copy(out.open, in.open)
	var times []int64
	for i, r := range in.rows {
		t, ok := r[n.Order[0].Column].(int64)
		if n.Watermark >= 0 && ok {
			out.some = out.some || in.open[n.Watermark]
			if t <= r[n.Watermark].(int64) && (in.severalSplits() || !in.inOrder) {
				out.some, out.unordered = true, out.unordered || !in.inOrder // rows of another split may have come later
			}
			passed := func(before int64) bool { return t <= before && before <= r[n.Watermark].(int64) }
			if slices.ContainsFunc(times, passed) {
				out.choice = nil
				out.refuse(0, in, i, nil, nil)
				continue
			}
			times = append(times, t)
		}
		out.rows = append(out.rows, r[:width])
	}
	slices.SortStableFunc(out.rows, func(a, b Row) int { return inOrder(n.Order, a, b) })
	return out
}
