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
				return newValues(n.schema, nil, n.at)
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
		if n.Residual != nil {
			n.Residual = z.expr(n.Residual)
		}
	case *TemporalJoin:
		if n.Residual != nil {
			n.Residual = z.expr(n.Residual)
		}
	}
	return n
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
