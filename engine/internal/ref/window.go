package ref

import (
	"slices"
	"time"

	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/engine/sqltype"
)

// span is a window: its times from start up to end, without end, as the clock shows them.
type span struct{ start, end int64 }

// spansOf are the windows that a time is in, the earliest first.
func spansOf(w plan.Windows, t int64) (out []span) {
	aligned := func(t, size int64) int64 { return floorDiv(t-w.Offset, size)*size + w.Offset }
	switch w.Kind {
	case window.Tumble:
		start := aligned(t, w.Size)
		out = append(out, span{start, start + w.Size})
	case window.Hop:
		for start := aligned(t, w.Step); start > t-w.Size; start -= w.Step {
			out = append(out, span{start, start + w.Size})
		}
		slices.Reverse(out)
	case window.Cumulate:
		start := aligned(t, w.Size)
		for end := start + w.Step; end <= start+w.Size; end += w.Step {
			if end > t {
				out = append(out, span{start, end})
			}
		}
	}
	return out
}

// shown is what the clock of the windows shows at a time of type t.
func shown(w plan.Windows, t sqltype.Type, v int64) int64 {
	perMilli := int64(1)
	for d := t.UnitDigits(); d > 3; d-- {
		perMilli *= 10
	}
	v = floorDiv(v, perMilli)
	if w.Instant && w.Zone != nil {
		_, offset := time.UnixMilli(v).In(w.Zone).Zone()
		v += int64(offset) * 1000
	}
	return v
}

// lastOf is the last millisecond of a window that ends at a bound, as event time.
func lastOf(w plan.Windows, end int64) int64 {
	if w.Instant && w.Zone != nil {
		t := time.UnixMilli(end).UTC()
		end = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), w.Zone).UnixMilli()
	}
	return end - 1
}

// refuses reports whether a window was over before row r came, which has the watermark
// before it in the column hidden, or is never late when that is -1.
func refuses(w plan.Windows, hidden int, r Row, end int64) bool {
	return hidden >= 0 && w.Attr == sqltype.Rowtime && r[hidden].(int64) >= lastOf(w, end)
}

// windowTable is a window table function: each row for each of its windows.
func windowTable(n *plan.WindowTable, in table) table {
	out := after(len(n.Schema()), in)
	for i, c := range n.Forward {
		out.open[i] = in.open[c]
	}
	at := len(n.Forward)
	for _, c := range []int{at, at + 1, at + 2} {
		out.open[c] = in.open[n.Time]
	}
	if at+3 < len(out.open) {
		out.open[at+3] = in.open[n.Watermark]
	}
	if n.Windows.Kind == window.Session {
		return sessions(n, in, out)
	}
	out.inOrder = in.inOrder
	timeType := n.Input.Schema()[n.Time].Type
	for i, r := range in.rows {
		t, ok := r[n.Time].(int64)
		if !ok {
			continue
		}
		for _, s := range spansOf(n.Windows, shown(n.Windows, timeType, t)) {
			row := append(project(r, n.Forward), s.start, s.end, lastOf(n.Windows, s.end))
			if at+3 < len(out.open) {
				row = append(row, r[n.Watermark])
			}
			out.add(row, in, i)
		}
	}
	return out
}

// stay is a row in a session, which is nil while it can grow.
type stay struct {
	time   int64
	row    Row
	closed *span
}

// sessions gives rows the sessions that they are in. A row whose time the watermark had
// passed before it came is late unless it touches a session that was not over: which it
// touches depends on what came before. What was over takes no more rows, nor is a row
// taken away when what is left would be over.
func sessions(n *plan.WindowTable, in, out table) table {
	out.some = out.some || in.opensColumns(n.Partition) || in.open[n.Time]
	gap := n.Windows.Size
	schema := n.Input.Schema()
	keys, types := schema.Project(n.Partition).Types(), schema.Project(n.Forward).Types()
	parts, names := map[string][]*stay{}, []string{}
	absent := map[string]int{} // rows that were taken away before they came
	for i, r := range in.rows {
		t, ok := r[n.Time].(int64)
		if !ok {
			continue
		}
		t = shown(n.Windows, schema[n.Time].Type, t)
		k := Key(keys, project(r, n.Partition))
		if refuses(n.Windows, n.Watermark, r, t) {
			if in.severalSplits() || !in.inOrder {
				out.some = true
				out.unordered = out.unordered || !in.inOrder
			}
			if late(n, parts[k], r, t, in.taken(i)) {
				out.refuse(0, in, i, t, t+n.Windows.Size)
				continue
			}
		}
		row := project(r, n.Forward)
		same := k + " / " + Key(types, row)
		if in.taken(i) {
			at := slices.IndexFunc(parts[k], func(s *stay) bool { return s.closed == nil && s.time == t && Key(types, s.row) == Key(types, row) })
			if at < 0 {
				absent[same]++
			} else {
				parts[k] = slices.Delete(parts[k], at, at+1)
			}
			continue
		}
		if absent[same] > 0 {
			absent[same]--
			continue
		}
		if _, has := parts[k]; !has {
			names = append(names, k)
		}
		parts[k] = append(parts[k], &stay{time: t, row: row})
	}
	for _, k := range names {
		open := openSessions(parts[k], gap)
		for _, s := range parts[k] {
			of := s.closed
			if of == nil {
				i := slices.IndexFunc(open, func(o span) bool { return o.start <= s.time && s.time < o.end })
				of = &open[i]
			}
			out.rows = append(out.rows, append(slices.Clone(s.row), of.start, of.end, lastOf(n.Windows, of.end)))
		}
	}
	return out
}

// openSessions are those that can grow, in the order of time: rows that are within the
// gap of each other, or just the gap apart, share one.
func openSessions(rows []*stay, gap int64) (out []span) {
	var times []int64
	for _, s := range rows {
		if s.closed == nil {
			times = append(times, s.time)
		}
	}
	slices.Sort(times)
	for _, t := range times {
		if last := len(out) - 1; last >= 0 && t <= out[last].end {
			out[last].end = t + gap
			continue
		}
		out = append(out, span{t, t + gap})
	}
	return out
}

// late reports whether a row is, whose time the watermark had passed. The sessions that it
// touches and that were over are closed.
func late(n *plan.WindowTable, rows []*stay, r Row, t int64, gone bool) bool {
	gap := n.Windows.Size
	for _, o := range openSessions(rows, gap) {
		if o.end < t || o.start > t+gap {
			continue
		}
		if !refuses(n.Windows, n.Watermark, r, o.end) {
			if gone {
				left := slices.DeleteFunc(slices.Clone(rows), func(s *stay) bool { return s.closed != nil || s.time < o.start || s.time >= o.end })
				if at := slices.IndexFunc(left, func(s *stay) bool { return s.time == t }); at >= 0 {
					left = slices.Delete(left, at, at+1)
				}
				return slices.ContainsFunc(openSessions(left, gap), func(p span) bool { return refuses(n.Windows, n.Watermark, r, p.end) })
			}
			return false
		}
		for _, s := range rows {
			if s.closed == nil && o.start <= s.time && s.time < o.end {
				s.closed = &span{o.start, o.end}
			}
		}
	}
	return refuses(n.Windows, n.Watermark, r, t+gap)
}

// windowAggregate collects the rows of each group in each window, but for those that came
// when the window was over, then computes group by group.
func (e evaluator) windowAggregate(n *plan.WindowAggregate, in table) (table, error) {
	const width = 3 // columns of the window
	out := after(len(n.Schema()), in)
	input := n.Input.Schema()
	reads := slices.Clone(n.Keys)
	for _, c := range []int{n.Time, n.Start, n.End, n.Watermark} {
		if c >= 0 {
			reads = append(reads, c)
		}
	}
	out.some = out.some || in.opensColumns(reads)
	for i, a := range n.Aggs {
		out.open[width+len(n.Keys)+i] = in.some || in.opensColumns(reads) || in.opens(append(slices.Clone(a.Args), a.Filter)...)
	}
	types := append(sqltype.Schema{{Type: sqltype.BigIntType}, {Type: sqltype.BigIntType}}, input.Project(n.Keys)...).Types()
	groups, names, heads := map[string]*table{}, []string{}, map[string]Row{}
	for i, r := range in.rows {
		var of []span
		if n.Time < 0 {
			of = []span{{r[n.Start].(int64), r[n.End].(int64)}}
		} else if t, ok := r[n.Time].(int64); ok {
			of = spansOf(n.Windows, shown(n.Windows, input[n.Time].Type, t))
		}
		for _, s := range of {
			if refuses(n.Windows, n.Watermark, r, s.end) {
				out.refuse(0, in, i, s.start, s.end)
				continue
			}
			head := append(Row{s.start, s.end}, project(r, n.Keys)...)
			k := Key(types, head)
			if groups[k] == nil {
				groups[k], heads[k] = &table{}, head
				names = append(names, k)
			}
			groups[k].add(r, in, i)
		}
	}
	for _, k := range names {
		rows := groups[k].settled(input).rows
		if len(rows) == 0 {
			continue
		}
		row := append(append(slices.Clone(heads[k][:2]), lastOf(n.Windows, heads[k][1].(int64))), heads[k][2:]...)
		for i, a := range n.Aggs {
			v, ordered, err := e.over(a, rows)
			if err != nil {
				return out, err
			}
			if row = append(row, v); ordered {
				out.open[width+len(n.Keys)+i] = true
				out.ordered(in)
			}
		}
		out.rows = append(out.rows, row)
	}
	return out, nil
}

// windowColumns are the columns of the input of a Rank or a Join that works window by
// window: on each port the end of the window, and the hidden column or -1.
func windowColumns(n plan.Node) (ports [][2]int) {
	switch n := n.(type) {
	case *plan.Rank:
		if n.Windowed() {
			_, _, end := n.Windows()
			ports = append(ports, [2]int{end, n.Watermark})
		}
	case *plan.Join:
		for port := 0; n.Windowed && port < 2; port++ {
			_, end := n.WindowBounds(port)
			ports = append(ports, [2]int{end, n.HiddenColumn(port)})
		}
	}
	return ports
}

// inTime is what an input of such a node comes to, without the changes that are late, which
// are noted.
func inTime(n plan.Node, port, start int, w plan.Windows, in table) table {
	out := in
	out.rows, out.kinds, out.splits, out.came = nil, nil, nil, nil
	cols := windowColumns(n)[port]
	out.some = out.some || in.open[cols[0]] || cols[1] >= 0 && in.open[cols[1]]
	for i, r := range in.rows {
		if !refuses(w, cols[1], r, r[cols[0]].(int64)) {
			out.add(r, in, i)
		} else {
			out.refuse(port, in, i, r[start], r[cols[0]])
		}
	}
	return out.settled(n.Inputs()[port].Schema())
}
