package ref

import (
	"math"
	"slices"

	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/vector"
)

// version is a row of the right of a temporal join, or the end of one, from a time on.
type version struct {
	row  Row
	ends bool
	time int64 // its own
	from int64 // since when it holds: not before the watermark that was there when it came
}

// temporalJoin joins each row of the left with the version of each key that holds at its
// time, if the condition is true. A row of the left that is behind the watermark before it
// is late.
func (e evaluator) temporalJoin(n *plan.TemporalJoin, left, right table) (table, error) {
	out := after(len(n.Schema()), left, right)
	both := table{open: slices.Concat(left.open, right.open)}
	for i, c := range n.Output {
		out.open[i] = both.open[c]
	}
	out.inOrder = false
	out.some = out.some || left.open[n.Time] || right.opensColumns(append([]int{n.Version}, n.Key...)) || left.opensColumns(n.LeftKeys) || both.opens(n.Residual)
	things, open := versionsOf(n, right)
	if open {
		out.some = true
		out.ordered(right)
	}
	hidden := n.HiddenColumn(0)
	for i, l := range left.rows {
		at, ok := l[n.Time].(int64)
		if ok && hidden >= 0 && at < l[hidden].(int64) {
			out.refuse(0, left, i, nil, nil)
			continue
		}
		found := false
		for _, thing := range things {
			var r Row
			for _, v := range thing {
				if ok && v.from <= at {
					if r = v.row; v.ends {
						r = nil
					}
				}
			}
			if r == nil {
				continue
			}
			pair := slices.Concat(l, r)
			matches, err := e.joins(&n.Join, l, r, pair)
			if err != nil {
				return out, err
			}
			if matches {
				found = true
				out.add(project(pair, n.Output), left, i)
			}
		}
		if !found && n.Kind == plan.LeftJoin {
			out.add(project(slices.Concat(l, make(Row, len(n.Right.Schema()))), n.Output), left, i)
		}
	}
	return out, nil
}

// versionsOf are the versions of each key, in the order in which they hold. One that is
// earlier than the one that holds when it comes never does. It is open which of two of one
// time, from different splits, is the later.
func versionsOf(n *plan.TemporalJoin, right table) (things [][]version, open bool) {
	schema := n.Right.Schema()
	types, at := schema.Project(n.Key).Types(), map[string]int{}
	latest := map[string]int64{} // the times of versions that are there, by key
	splits := map[string]string{}
	for i, r := range right.rows {
		if right.kind(i) == vector.UpdateBefore {
			continue
		}
		k := Key(types, project(r, n.Key))
		if s, has := splits[k]; has && s != right.split(i) {
			open = true
		}
		splits[k] = right.split(i)
		t, ok := r[n.Version].(int64)
		if replaces(n.Right) { // a deletion may have no more than the key
			was, there := latest[k]
			if right.taken(i) {
				if there && (!ok || t < was) {
					t, ok = was, true
				}
				delete(latest, k)
			} else if ok {
				latest[k] = t
			}
		}
		if !ok {
			continue
		}
		v := version{row: r, ends: right.taken(i), time: t, from: t}
		if hidden := n.HiddenColumn(1); hidden >= 0 && r[hidden].(int64) >= t && r[hidden].(int64) < math.MaxInt64 {
			v.from = r[hidden].(int64) + 1
		}
		j, has := at[k]
		if !has {
			j = len(things)
			at[k] = j
			things = append(things, nil)
		}
		things[j] = append(things[j], v)
	}
	for j, all := range things {
		slices.SortStableFunc(all, func(a, b version) int { return int(min(max(a.from-b.from, -1), 1)) })
		var holds []version
		for _, v := range all {
			if last := len(holds) - 1; last >= 0 && !holds[last].ends && v.time < holds[last].time {
				continue
			}
			holds = append(holds, v)
		}
		things[j] = holds
	}
	return things, open
}

// replaces reports whether the table that a node reads has updates without the rows that
// they replace.
func replaces(n plan.Node) bool {
	for {
		if s, ok := n.(*plan.Scan); ok {
			m := s.Source.Mode()
			return m.Has(vector.Delete) && !m.Has(vector.UpdateBefore) && (m.Has(vector.UpdateAfter) || m.DeletesByKey())
		}
		if len(n.Inputs()) != 1 {
			return false
		}
		n = n.Inputs()[0]
	}
}
