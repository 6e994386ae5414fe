package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/expr"
)

// pushColumns drops every column that nobody reads, down to the scans, and merges
// what is left of adjacent Calcs.
func pushColumns(n Node) (Node, error) {
	switch n.(type) {
	case *Sink, *Collect:
		for i, in := range n.Inputs() {
			n.setInput(i, exactly(in, upTo(len(in.Schema()))))
		}
		return n, nil
	}
	panic("plan: the root is a " + n.Op())
}

// union is the sorted union of column lists.
func union(lists ...[]int) []int {
	out := slices.Concat(lists...)
	slices.Sort(out)
	return slices.Compact(out)
}

// exactly is n with nothing but the given columns, in ascending order.
func exactly(n Node, need []int) Node {
	pruned, have := prune(n, need)
	if slices.Equal(have, need) {
		return pruned
	}
	cols := make([]int, len(need))
	for i, c := range need {
		cols[i] = slices.Index(have, c)
	}
	return merge(newProjection(pruned, cols))
}

// prune returns a node with at least the needed columns of n, which are ascending,
// and says which columns of n the result has, ascending too.
func prune(n Node, need []int) (Node, []int) {
	switch n := n.(type) {
	case *Scan:
		cols := make([]int, len(need))
		for i, c := range need {
			cols[i] = n.Columns[c]
		}
		out := newScan(n.Table, n.Source, cols, n.at)
		return out, need
	case *Values:
		rows := make([][]expr.Expr, len(n.Rows))
		for i, r := range n.Rows {
			rows[i] = pick(r, need)
		}
		return newValues(n.schema.Project(need), rows, n.at), need
	case *Calc:
		return n.prune(need), need
	case *WatermarkAssigner:
		return n.prune(need)
	case *Union:
		for i, in := range n.Ins {
			n.Ins[i] = exactly(in, need)
		}
		return newUnion(n.Ins, n.schema.Project(need), n.at), need
	case *SetOperation:
		all := upTo(len(n.schema))
		n.Left, n.Right = exactly(n.Left, all), exactly(n.Right, all)
		return n, all
	case *Aggregate:
		return n.prune(need)
	case *Join:
		return n.prune(need), need
	case *TemporalJoin:
		return n.prune(need), need
	case *Sort:
		return n.prune(need)
	case *TemporalSort:
		return n.prune(need)
	case *Over:
		return n.prune(need)
	case *Rank:
		return n.prune(need)
	case *ToChangelog:
		return n.prune(need)
	case *FromChangelog:
		return n.prune(need)
	case *Expand:
		return n.prune(need)
	case *Unnest:
		return n.prune(need)
	case *WindowTable:
		return n.prune(need)
	case *WindowAggregate:
		return n.prune(need)
	case *Limit:
		in, have := prune(n.Input, need)
		return newLimit(in, n.Offset, n.Count, n.at), have
	case *Normalize:
		in, have := prune(n.Input, union(need, n.Keys))
		return newNormalize(in, positions(n.Keys, have)), have
	}
	panic("plan: no columns are pruned in " + n.Op())
}

func pick[T any](list []T, at []int) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = list[k]
	}
	return out
}

// positions are where the columns are in have.
func positions(cols, have []int) []int {
	out := make([]int, len(cols))
	for i, c := range cols {
		if out[i] = slices.Index(have, c); out[i] < 0 {
			panic("plan: a column that is needed was pruned")
		}
	}
	return out
}

// remap is e over the columns of have.
func remap(e expr.Expr, have []int) expr.Expr {
	return expr.Remap(e, func(i int) int { return slices.Index(have, i) })
}

func (n *Calc) prune(need []int) Node {
	exprs := pick(n.Exprs, need)
	var reads []int
	for _, e := range exprs {
		reads = append(reads, expr.Columns(e)...)
	}
	if n.Filter != nil {
		reads = append(reads, expr.Columns(n.Filter)...)
	}
	in, have := prune(n.Input, union(reads))
	filter := n.Filter
	if filter != nil {
		filter = remap(filter, have)
	}
	for i, e := range exprs {
		exprs[i] = remap(e, have)
	}
	return merge(newCalc(in, filter, exprs, pick(n.schema.Names(), need), n.at))
}

func (n *Aggregate) prune(need []int) (Node, []int) {
	keys := len(n.Keys)
	have := upTo(keys)
	reads := slices.Clone(n.Keys)
	var aggs []*expr.Aggregate
	for i, a := range n.Aggs {
		if !slices.Contains(need, keys+i) {
			continue
		}
		have, aggs = append(have, keys+i), append(aggs, a)
		for _, arg := range a.Args {
			reads = append(reads, expr.Columns(arg)...)
		}
		if a.Filter != nil {
			reads = append(reads, expr.Columns(a.Filter)...)
		}
	}
	reads = union(reads)
	in := exactly(n.Input, reads)
	for i, a := range aggs {
		c := *a
		c.Args = make([]expr.Expr, len(a.Args))
		for k, arg := range a.Args {
			c.Args[k] = remap(arg, reads)
		}
		if a.Filter != nil {
			c.Filter = remap(a.Filter, reads)
		}
		aggs[i] = &c
	}
	out := newAggregate(in, positions(n.Keys, reads), aggs, n.schema.Project(have).Names()[keys:], n.at)
	out.keep = n.keep
	return out, have
}

func (n *Join) prune(need []int) Node {
	at := len(n.Left.Schema())
	output := pick(n.Output, need)
	reads := output
	if n.Residual != nil {
		reads = union(output, expr.Columns(n.Residual))
	}
	left, right := slices.Clone(n.LeftKeys), slices.Clone(n.RightKeys)
	for _, c := range reads {
		if c < at {
			left = append(left, c)
		} else {
			right = append(right, c-at)
		}
	}
	if n.Windowed {
		for i, side := range []*[]int{&left, &right} {
			start, end := n.WindowBounds(i)
			*side = append(*side, start, end)
			if c := n.HiddenColumn(i); c >= 0 {
				*side = append(*side, c)
			}
		}
	}
	if n.Interval != nil {
		for i, side := range []*[]int{&left, &right} {
			*side = append(*side, n.Interval.times()[i])
			if c := n.HiddenColumn(i); c >= 0 {
				*side = append(*side, c)
			}
		}
	}
	if n.once() {
		left = append(left, recognized(n.Left)...)
	}
	left, right = union(left, n.Late[0].reads()), union(right, n.Late[1].reads())
	have := slices.Clone(left)
	for _, c := range right {
		have = append(have, c+at)
	}
	residual := n.Residual
	if residual != nil {
		residual = remap(residual, have)
	}
	out := &Join{
		Kind: n.Kind, Left: exactly(n.Left, left), Right: exactly(n.Right, right),
		LeftKeys: positions(n.LeftKeys, left), RightKeys: positions(n.RightKeys, right), NullSafe: n.NullSafe,
		Residual: residual, Output: positions(output, have), Windowed: n.Windowed, Windows: n.Windows, Lookup: n.Lookup, Snapshot: n.Snapshot, Interval: n.Interval.moved(left, right),
		Lateness: [2]int{slices.Index(left, n.HiddenColumn(0)) + 1, slices.Index(right, n.HiddenColumn(1)) + 1},
	}
	out.Late = [2]LateTarget{n.Late[0].moved(left), n.Late[1].moved(right)}
	out.at, out.keep = n.at, n.keep
	out.describe()
	return out
}

// merge makes one of a Calc and the Calc below it, unless something would then be
// computed twice, and leaves out a Calc that does nothing or only chooses columns of
// a Join.
func merge(n *Calc) Node {
	if in, ok := n.Input.(*Calc); ok && mergeable(n, in) {
		exprs := make([]expr.Expr, len(n.Exprs))
		for i, e := range n.Exprs {
			exprs[i] = replace(e, in.Exprs)
		}
		filter := in.Filter
		if n.Filter != nil {
			own := replace(n.Filter, in.Exprs)
			if filter == nil {
				filter = own
			} else {
				filter = expr.And(filter, own)
			}
		}
		return merge(newCalc(in.Input, filter, exprs, n.schema.Names(), n.at))
	}
	if n.Filter != nil {
		return n
	}
	cols := make([]int, len(n.Exprs))
	for i, e := range n.Exprs {
		c, ok := e.(*expr.Column)
		if !ok {
			return n
		}
		cols[i] = c.Index
	}
	switch j := n.Input.(type) {
	case *Join:
		out := j.selecting(cols)
		out.schema = n.schema
		return out
	case *TemporalJoin:
		out := j.selecting(cols)
		out.schema = n.schema
		return out
	}
	if slices.Equal(cols, upTo(len(n.Input.Schema()))) {
		return n.Input
	}
	return n
}

// mergeable reports whether every result of the lower Calc is cheap to repeat or
// read once.
func mergeable(upper, lower *Calc) bool {
	reads := make([]int, len(lower.Exprs))
	tally := func(e expr.Expr) {
		expr.Walk(e, func(e expr.Expr) bool {
			if c, ok := e.(*expr.Column); ok {
				reads[c.Index]++
			}
			return true
		})
	}
	for _, e := range upper.Exprs {
		tally(e)
	}
	if upper.Filter != nil {
		tally(upper.Filter)
	}
	for i, e := range lower.Exprs {
		if !expr.Deterministic(e) {
			return false
		}
		switch e.(type) {
		case *expr.Column, *expr.Literal:
		default:
			if reads[i] > 1 {
				return false
			}
		}
	}
	return true
}
