package ref

import (
	"math"
	"slices"

	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Left rows of some joins are joined once, with what the right side is when they come. What
// that is is known where the right side does not change, or where it is known when all rows
// came. Else each row has one of several results.

// once reports whether the left rows of a join are joined once.
func once(n *plan.Join) bool { return n.Lookup != nil || n.Snapshot != nil }

// state is what the right side is from a moment on.
type state struct {
	rows []Row
	from int // as table.came has it
}

// probe is a join whose left rows are joined once.
type probe struct {
	*plan.Join
	left, out sqltype.Schema
	width     int // columns of the right
}

func probeOf(n *plan.Join) probe {
	return probe{n, n.Left.Schema(), n.Schema(), len(n.Right.Schema())}
}

// asItIs is a right side that stays as it is.
func asItIs(n *plan.Join, right table) []state {
	return []state{{right.settled(n.Right.Schema()).rows, math.MinInt}}
}

// joinOnce joins each row of the left with what the right is when it comes: one of states,
// in the order of time, or nobody knows what when there is none.
func (e evaluator) joinOnce(n probe, left, right table, states []state) (table, error) {
	out := after(len(n.Output), left, right)
	both := table{open: slices.Concat(left.open, right.open)}
	for i, c := range n.Output {
		out.open[i] = both.open[c]
	}
	out.inOrder = left.inOrder && n.Snapshot == nil
	out.some = out.some || left.opensColumns(n.LeftKeys) || right.opensColumns(n.RightKeys) || both.opens(n.Residual)
	if len(states) == 0 {
		out.some, out.unordered = true, true
		return out, nil
	}
	all, several, err := e.results(n, left, states)
	if err != nil {
		return out, err
	}
	if several {
		taken := slices.ContainsFunc(left.kinds, func(k vector.RowKind) bool { return !k.Adds() })
		if taken && (e.history || n.out.Index(plan.WatermarkColumn) >= 0) {
			out.some, out.unordered = true, true // what is taken away is what was given out
		}
		known := left.clocked() && !slices.ContainsFunc(states[1:], func(s state) bool { return s.from <= 0 })
		left = left.settled(n.left)
		if all, _, err = e.results(n, left, states); err != nil {
			return out, err
		}
		several = false
		for i := range all {
			if known {
				first, last := holding(states, left.came[i])
				all[i] = all[i][first : last+1]
			}
			several = several || !agree(n.out.Types(), all[i])
		}
	}
	for i, results := range all {
		rows := results[len(results)-1]
		for _, r := range rows {
			out.add(r, left, i)
		}
		out.inOrder = out.inOrder && len(rows) <= 1
	}
	if several {
		if !out.some {
			out.choice = choiceOf(n.out.Types(), all)
		}
		out.some, out.unordered = true, true
	}
	return out, nil
}

// results are those that the left rows have with each of the states. It reports whether
// they are different ones for a row.
func (e evaluator) results(n probe, left table, states []state) (all [][][]Row, several bool, err error) {
	all = make([][][]Row, len(left.rows))
	for i, l := range left.rows {
		for _, s := range states {
			made, err := e.joinedOnce(n, l, s.rows)
			if err != nil {
				return nil, false, err
			}
			all[i] = append(all[i], made)
		}
		several = several || !agree(n.out.Types(), all[i])
	}
	return all, several, nil
}

// holding are the first and the last of the states that a row may find that came at some
// time: two if the right side changed at that time.
func holding(states []state, came int) (first, last int) {
	for i, s := range states {
		if s.from < came {
			first = i
		}
		if s.from <= came {
			last = i
		}
	}
	return first, last
}

// joinedOnce is what becomes of a left row: pairs, or the row alone.
func (e evaluator) joinedOnce(n probe, l Row, rights []Row) (out []Row, err error) {
	for _, r := range rights {
		pair := slices.Concat(l, r)
		ok, err := e.joins(n.Join, l, r, pair)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, project(pair, n.Output))
		}
	}
	if out == nil && n.Kind == plan.LeftJoin {
		out = append(out, project(slices.Concat(l, make(Row, n.width)), n.Output))
	}
	return out, nil
}

// agree reports whether several results have the same rows.
func agree(types []sqltype.Type, all [][]Row) bool {
	for _, rows := range all[1:] {
		if len(rows) != len(all[0]) {
			return false
		}
	}
	least, most := bounds(types, all)
	return len(least) == len(most)
}

// bounds are the rows that all results have, and those that one of them may have.
func bounds(types []sqltype.Type, all [][]Row) (least, most []Row) {
	low, high, rows := map[string]int{}, map[string]int{}, map[string]Row{}
	var names []string
	for i, result := range all {
		counts := map[string]int{}
		for _, r := range result {
			k := Key(types, r)
			if counts[k]++; rows[k] == nil {
				rows[k], names = r, append(names, k)
			}
		}
		for _, k := range names {
			if high[k] = max(high[k], counts[k]); i == 0 {
				low[k] = counts[k]
			} else {
				low[k] = min(low[k], counts[k])
			}
		}
	}
	for _, k := range names {
		for range low[k] {
			least = append(least, rows[k])
		}
		for range high[k] {
			most = append(most, rows[k])
		}
	}
	return least, most
}

// choiceOf is what is known of rows of which each has one of several results.
func choiceOf(types []sqltype.Type, all [][][]Row) *choice {
	c, maybe := choice{}, []Row(nil)
	for _, results := range all {
		least, most := bounds(types, results)
		c.rows = append(c.rows, least...)
		for _, r := range least { // the others
			at := slices.IndexFunc(most, func(m Row) bool { return Key(types, m) == Key(types, r) })
			most = slices.Delete(most, at, at+1)
		}
		maybe = append(maybe, most...)
		if slices.ContainsFunc(results, func(rows []Row) bool { return len(rows) != len(results[0]) }) {
			c.take = -1
		}
		if c.take >= 0 {
			c.take += len(results[0])
		}
	}
	c.sure = len(c.rows)
	c.rows = append(c.rows, maybe...)
	return &c
}

// lookupJoin joins with the rows of a table that is asked for them.
func (e evaluator) lookupJoin(n *plan.LookupJoin, left table) (table, error) {
	all, err := e.scan(&plan.Scan{Table: n.Table, Source: n.Whole, Columns: n.Ask.Columns})
	if err != nil {
		return table{}, err
	}
	right := after(len(n.Exprs))
	if err := e.calcRows(&plan.Calc{Filter: n.Filter, Exprs: n.Exprs}, all, &right); err != nil {
		return table{}, err
	}
	join := &plan.Join{
		Kind: n.Kind, LeftKeys: n.Keys, RightKeys: n.TableKeys, NullSafe: make([]bool, len(n.Keys)),
		Residual: n.Residual, Output: n.Output,
	}
	return e.joinOnce(probe{join, n.Input.Schema(), n.Schema(), len(n.Exprs)}, left, right, []state{{right.rows, math.MinInt}})
}

// snapshotJoin joins with a table as it is once it has loaded.
func (e evaluator) snapshotJoin(n *plan.Join, left, right table) (table, error) {
	until := n.Snapshot.Until
	if n.Snapshot.AtStart {
		until = n.Snapshot.Zone.Local(e.in.Now.UnixMilli())
	}
	times, single, err := e.eventTimes(n.Right)
	if err != nil {
		return table{}, err
	}
	loads := slices.IndexFunc(times, func(t moment) bool { return t.time >= until })
	if loads < 0 {
		return e.joinOnce(probeOf(n), left, right, asItIs(n, right))
	}
	if !single || len(right.came) != len(right.rows) || right.severalSplits() {
		return e.joinOnce(probeOf(n), left, right, nil)
	}
	var states []state
	for i := range right.rows {
		if i+1 < len(right.rows) && right.came[i+1] == right.came[i] {
			continue
		}
		now := right
		now.rows, now.kinds = right.rows[:i+1], right.kinds[:i+1]
		if right.came[i] <= times[loads].came {
			states = nil
		}
		states = append(states, state{now.settled(n.Right.Schema()).rows, right.came[i]})
	}
	if len(states) == 0 || states[0].from > times[loads].came {
		states = slices.Insert(states, 0, state{})
	}
	states[0].from = math.MinInt
	return e.joinOnce(probeOf(n), left, right, states)
}

// moment is how far event time is from a row on.
type moment struct {
	time int64
	came int
}

// eventTimes are the moments of all event times below n, and whether there is one alone
// that goes on to n as it is.
func (e evaluator) eventTimes(n plan.Node) (out []moment, single bool, err error) {
	w, ok := n.(*plan.WatermarkAssigner)
	if !ok {
		single = len(n.Inputs()) == 1
		switch n.(type) {
		case *plan.Calc, *plan.Exchange, *plan.Normalize:
		default:
			single = false
		}
		for _, in := range n.Inputs() {
			some, one, err := e.eventTimes(in)
			if err != nil {
				return nil, false, err
			}
			out, single = append(out, some...), single && one
		}
		return out, single, nil
	}
	e.history, e.bare = true, false
	in, err := e.table(w.Input)
	if err != nil {
		return nil, false, err
	}
	when := func(rows int) int { // so many rows have come
		if rows == 0 || len(in.came) != len(in.rows) {
			return math.MinInt
		}
		return in.came[min(rows, len(in.came))-1]
	}
	if w.Expr == nil {
		if e.in.Told != nil {
			for _, t := range e.in.Told(w) {
				out = append(out, moment{t.Time, when(t.After)})
			}
		}
		return out, true, nil
	}
	for i, r := range in.rows {
		switch t, err := e.eval(w.Expr, r); {
		case err != nil:
			return nil, false, err
		case t != nil:
			out = append(out, moment{t.(int64), when(i + 1)})
		}
	}
	return out, true, nil
}

// latestJoin joins each row of the left with the version of each key that came last, or
// that is the last in time of those that came.
func (e evaluator) latestJoin(n *plan.TemporalJoin, left, right table) (table, error) {
	states := []state{{nil, math.MinInt}}
	if len(right.rows) > 0 && (!right.inOrder || right.severalSplits() || !growing(n.Right) && !historic(n.Right)) {
		states = nil
	}
	types, byKey := n.Right.Schema().Project(n.Key).Types(), replaces(n.Right)
	type latest struct {
		row  Row
		time int64
	}
	live := map[string]latest{}
	for i, r := range right.rows {
		at, ok := int64(0), true
		switch taken := right.taken(i); {
		case states == nil, right.kind(i) == vector.UpdateBefore:
			continue
		case taken && byKey:
			at = math.MaxInt64
		case n.Version >= 0:
			at, ok = r[n.Version].(int64)
		}
		k := Key(types, project(r, n.Key))
		if was, has := live[k]; !ok || has && at < was.time {
			continue
		}
		if live[k] = (latest{r, at}); right.taken(i) {
			delete(live, k)
		}
		s := state{from: i - len(right.rows)}
		if len(right.came) == len(right.rows) {
			s.from = right.came[i]
		}
		for _, v := range live {
			s.rows = append(s.rows, v.row)
		}
		if last := len(states) - 1; states[last].from == s.from {
			states[last] = s
		} else {
			states = append(states, s)
		}
	}
	return e.joinOnce(probeOf(&n.Join), left, right, states)
}
