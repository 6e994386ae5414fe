package plan

import (
	"math"
	"slices"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
)

// findWindowJoins marks the joins of rows in windows that match windows: rows with equal
// bounds. Such a join looks for partners when the window is over, and keeps nothing
// longer.
func findWindowJoins(roots []Node) {
	for _, r := range roots {
		for _, in := range r.Inputs() {
			findWindowJoin(in, nil)
		}
	}
}

// findWindowJoin goes through the tree of n, of whose rows only those are wanted on which
// conds are TRUE.
func findWindowJoin(n Node, conds []expr.Expr) {
	switch n := n.(type) {
	case *Calc:
		findWindowJoin(n.Input, n.below(conds))
		return
	case *Join:
		at := len(n.Left.Schema())
		if n.Kind != InnerJoin {
			conds = nil
		}
		if n.Residual != nil {
			conds = append(conds[:len(conds):len(conds)], expr.Conjuncts(n.Residual)...)
		}
		var left []expr.Expr
		if n.Kind == InnerJoin {
			left, _ = split(conds, func(e expr.Expr) bool { return within(e, 0, at) })
		}
		findWindowJoin(n.Left, left)
		findWindowJoin(n.Right, nil)
		n.Windowed = n.Interval == nil && !n.once() && n.matchesWindows(conds)
		return
	}
	for _, in := range n.Inputs() {
		findWindowJoin(in, nil)
	}
}

// matchesWindows reports whether the conditions hold only for rows of one window.
func (n *Join) matchesWindows(conds []expr.Expr) bool {
	l, ok := windowOf(n.Left)
	r, also := windowOf(n.Right)
	if !ok || !also || !l.whole() || !r.whole() || l.Attr != r.Attr || l.Attr == sqltype.NoTime || l.Instant != r.Instant {
		return false
	}
	at := len(n.Left.Schema())
	equal := func(a, b int) bool {
		return slices.ContainsFunc(conds, func(e expr.Expr) bool {
			x, y, _, ok := equality(e)
			if !ok {
				return false
			}
			i, is := x.(*expr.Column)
			j, also := y.(*expr.Column)
			return is && also && (i.Index == a && j.Index == b || i.Index == b && j.Index == a)
		})
	}
	n.Windows = l.Windows
	return equal(l.start, at+r.start) && equal(l.end, at+r.end)
}

func (n *Join) eventTime(port int) (watermarks, lateness bool) {
	if n.Snapshot != nil {
		return port == 1 && (n.Snapshot.AtStart || n.Snapshot.Until != math.MaxInt64), false
	}
	event := n.Windowed && n.Windows.Attr == sqltype.Rowtime || n.Interval != nil && n.Interval.Attr == sqltype.Rowtime
	return event, event
}

// setLateness makes room for the hidden column in the pair.
func (n *Join) setLateness(port, column int) {
	if !n.byTime() {
		return
	}
	n.Lateness[port] = column + 1
	if port == 0 && column >= 0 {
		moved := func(c int) int {
			if c >= column {
				c++
			}
			return c
		}
		for i, c := range n.Output {
			n.Output[i] = moved(c)
		}
		if n.Residual != nil {
			n.Residual = expr.Remap(n.Residual, moved)
		}
	}
}

func (n *Join) late(port int) *LateTarget { return &n.Late[port] }

// HiddenColumn is the column of an input that has the watermark before its rows, or -1.
func (n *Join) HiddenColumn(port int) int { return n.Lateness[port] - 1 }

// WindowBounds are the columns of the inputs with the bounds of windows.
func (n *Join) WindowBounds(port int) (start, end int) {
	w, ok := windowOf(n.Inputs()[port])
	if !ok || !w.whole() {
		panic("plan: an input of a window join has lost its windows")
	}
	return w.start, w.end
}
