package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/weirdb/weir/engine/internal/function"
)

// stateBound says how far the state of an operator goes: "bounded by" what is there
// in the end, or "grows with" what goes on. It is empty for an operator that keeps
// nothing from one epoch to the next but what a fixed number of bytes has.
func stateBound(n Node) string {
	switch n := n.(type) {
	case *Aggregate:
		return n.stateBound()
	case *Join:
		return n.stateBound()
	case *TemporalJoin:
		return n.stateBound()
	case *LookupJoin:
		return n.stateBound()
	case *WindowTable:
		return n.stateBound()
	case *WindowAggregate:
		return n.stateBound()
	case *SetOperation:
		what := []string{"the different rows of both sides"}
		if finite(n.Left) && finite(n.Right) {
			return bounds(what)
		}
		return "grows with " + list(what)
	case *Sort:
		if n.InputAppendOnly && n.Count < math.MaxInt64-n.Offset {
			return "bounded by " + rowCount(n.Offset+n.Count)
		}
		return growth(n.Input, liveRows(n.Input))
	case *TemporalSort:
		return n.stateBound()
	case *Over:
		return n.stateBound()
	case *Rank:
		return n.stateBound()
	case *Normalize:
		return growth(n.Input, "the values of "+columnList(n, n.Keys))
	case *Materialize:
		return growth(n.Input, liveRows(n.Input))
	case *Consolidate:
		return "bounded by the changes of an epoch"
	}
	return ""
}

// growth is what grows with the rows of n, and ends where they do.
func growth(n Node, what ...string) string {
	if finite(n) {
		return bounds(what)
	}
	return "grows with " + list(what)
}

func bounds(what []string) string { return "bounded by " + list(what) }

func rowCount(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// liveRows are the rows that n has at a time.
func liveRows(n Node) string {
	if n.Traits().Mode.InsertOnly() {
		return "the rows"
	}
	return "the live rows"
}

// finite reports whether n never has more than a number of rows at a time that does
// not depend on how long it runs.
func finite(n Node) bool {
	if bounded(n) || slices.ContainsFunc(n.Traits().Keys, func(k Key) bool { return len(k.Columns) == 0 }) {
		return true
	}
	switch n := n.(type) {
	case *Scan:
		return false
	case *Limit:
		return n.Count < math.MaxInt64
	case *Sort:
		return n.Count < math.MaxInt64 || finite(n.Input)
	case *Rank:
		return n.To < unbounded && len(n.Partition) == 0 || finite(n.Input)
	case *ToChangelog:
		return n.Input.Traits().Mode.InsertOnly() && finite(n.Input) // a row for every change
	}
	return !slices.ContainsFunc(n.Inputs(), func(in Node) bool { return !finite(in) })
}

// stateBound of groups, and of what some functions keep for each.
func (n *Aggregate) stateBound() string {
	var each []string
	for _, a := range n.Aggs {
		kind, extra := a.Func.Kind, ""
		switch {
		case a.Distinct:
			extra = "the distinct values of " + a.Args[0].String()
		case a.Func.Go != nil:
			extra = "what " + a.Func.Name + " keeps"
		case !n.InputAppendOnly && (kind == function.Min || kind == function.Max || kind.Ordered()):
			extra = "the values of " + a.Args[0].String() + " that can be taken back"
		case kind == function.ListAgg:
			extra = "the values of " + a.Args[0].String()
		}
		if extra != "" && !slices.Contains(each, extra) {
			each = append(each, extra)
		}
	}
	switch {
	case len(n.Keys) > 0:
		return growth(n.Input, append([]string{"the groups of " + columnList(n.Input, n.Keys)}, each...)...)
	case len(each) > 0:
		return growth(n.Input, each...)
	}
	return "bounded by 1 row"
}

// stateBound of the two sides. The rows of one are kept for those of the other that
// still come, and dropped when it has ended: if it ends, the side that goes on does
// not fill the state. What counts as a partner of rows that are shown alone stays.
func (n *Join) stateBound() string {
	if n.Windowed {
		return "bounded by the rows of open windows"
	}
	if n.Snapshot != nil {
		return n.snapshotBound()
	}
	if n.Interval != nil {
		return n.Interval.stateBound()
	}
	sides := [2]Node{n.Left, n.Right}
	alone := [2]bool{n.Kind.PadsRight() || !n.Kind.Pairs(), n.Kind.PadsLeft()}
	var grows, bound []int
	for i, side := range sides {
		other := 1 - i
		counted := n.Residual == nil && alone[other]
		switch {
		case finite(side):
			bound = append(bound, i)
		case bounded(sides[other]) && !counted:
			// No more than comes before the other side has ended.
		default:
			grows = append(grows, i)
		}
	}
	if len(grows) > 0 {
		return "grows with " + n.stored(grows)
	}
	return "bounded by " + n.stored(bound)
}

// stored is what is kept of sides of a join.
func (n *Join) stored(sides []int) string {
	what := make([]string, len(sides))
	for i, s := range sides {
		in := n.Inputs()[s]
		switch what[i] = liveRows(in); {
		case s == 1 && !n.Kind.Pairs() && n.Residual == nil:
			what[i] = "the keys"
		case slices.ContainsFunc(in.Traits().Keys, func(k Key) bool { return len(k.Columns) == 0 }):
			what[i] = "the one row"
		}
	}
	if len(what) == 2 && what[0] == what[1] {
		return what[0] + " of both sides"
	}
	for i, s := range sides {
		what[i] += [...]string{" of the left", " of the right"}[s]
	}
	return list(what)
}
