package plan

import (
	"time"

	"github.com/weirdb/weir/engine/internal/expr"
)

// simplify sets the session's time zone and folds constant expressions. A filter
// that is always true goes away; one that never is leaves no rows.
func simplify(zone *time.Location) func(Node) (Node, error) {
	z := simplifier{zone}
	return func(n Node) (Node, error) { return z.node(n), nil }
}

type simplifier struct {
	zone *time.Location
}

func (z simplifier) node(n Node) Node {
	for i, in := range n.Inputs() {
		n.setInput(i, z.node(in))
	}
	switch n := n.(type) {
	case *Calc:
		z.all(n.Exprs)
		if n.Filter == nil {
			break
		}
		n.Filter = z.expr(n.Filter)
		if l, ok := n.Filter.(*expr.Literal); ok {
			if l.Value != true {
				n.Filter = nil
				return nothing(n)
			}
			n.Filter = nil
		}
	case *WatermarkAssigner:
		if n.Expr != nil {
			n.Expr = z.expr(n.Expr)
		}
	case *Values:
		for _, r := range n.Rows {
			z.all(r)
		}
	case *Join:
		n.Residual = z.condition(n.Residual, n.Windowed)
	case *TemporalJoin:
		n.Residual = z.condition(n.Residual, true)
	}
	return n
}

// condition simplifies that of a join, which may be nil. Where parts of it say which rows
// the join looks at, they stay also when the whole is never true.
func (z simplifier) condition(e expr.Expr, parts bool) expr.Expr {
	switch {
	case e == nil:
		return nil
	case !parts:
		return z.expr(e)
	}
	conds := expr.Conjuncts(e)
	z.all(conds)
	return expr.And(conds...)
}

// nothing is n without rows. Rows in windows stay such: what is above relies on them.
func nothing(n Node) Node {
	if _, ok := windowOf(n); ok {
		return newFilter(n, expr.Bool(false), n.Pos())
	}
	return newValues(n.Schema(), nil, n.Pos())
}

func (z simplifier) expr(e expr.Expr) expr.Expr {
	if z.zone != time.UTC {
		e = expr.InZone(e, z.zone)
	}
	return expr.Fold(e)
}

func (z simplifier) all(es []expr.Expr) {
	for i, e := range es {
		es[i] = z.expr(e)
	}
}
