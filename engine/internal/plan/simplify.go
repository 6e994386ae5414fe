package plan

import (
	"github.com/weirdb/weir/engine/internal/expr"
)

// simplify folds constant expressions. A filter that is always true goes away; one
// that never is leaves no rows.
func simplify(n Node) (Node, error) {
	for i, in := range n.Inputs() {
		s, err := simplify(in)
		if err != nil {
			return nil, err
		}
		n.setInput(i, s)
	}
	switch n := n.(type) {
	case *Calc:
		foldAll(n.Exprs)
		if n.Filter == nil {
			break
		}
		n.Filter = expr.Fold(n.Filter)
		if l, ok := n.Filter.(*expr.Literal); ok {
			if l.Value != true {
				return newValues(n.schema, nil, n.at), nil
			}
			n.Filter = nil
		}
	case *Values:
		for _, r := range n.Rows {
			foldAll(r)
		}
	case *Join:
		if n.Residual != nil {
			n.Residual = expr.Fold(n.Residual)
		}
	}
	return n, nil
}

func foldAll(es []expr.Expr) {
	for i, e := range es {
		es[i] = expr.Fold(e)
	}
}
