package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/expr"
)

// pushFilters moves every condition as far down as it can go, and turns equalities
// between the two sides of a join into its keys.
func pushFilters(n Node) (Node, error) { return pushDown(n, nil), nil }

// pushDown returns a node with the rows of n on which all conds are true. The
// conditions are over the columns of n.
func pushDown(n Node, conds []expr.Expr) Node {
	switch n := n.(type) {
	case *Calc:
		return n.pushDown(conds)
	case *Rank:
		return n.pushDown(conds)
	case *Over:
		return n.pushDown(conds)
	case *Join:
		return n.pushDown(conds)
	case *TemporalJoin:
		return n.pushDown(conds)
	case *Aggregate:
		// A group is kept or dropped as a whole when the condition is on its keys.
		below, above := split(conds, func(e expr.Expr) bool {
			return len(n.Keys) > 0 && within(e, 0, len(n.Keys))
		})
		for i, c := range below {
			below[i] = expr.Remap(c, func(k int) int { return n.Keys[k] })
		}
		n.Input = pushDown(n.Input, below)
		return filtered(n, above)
	case *WindowTable:
		return n.pushDown(conds)
	case *Unnest:
		return n.pushDown(conds)
	case *WindowAggregate:
		return n.pushDown(conds)
	case *Union:
		below, above := split(conds, expr.Deterministic)
		for i, in := range n.Ins {
			n.Ins[i] = pushDown(in, slices.Clone(below))
		}
		return filtered(n, above)
	case *SetOperation:
		below, above := split(conds, expr.Deterministic)
		n.Left, n.Right = pushDown(n.Left, slices.Clone(below)), pushDown(n.Right, slices.Clone(below))
		return filtered(n, above)
	case *Normalize:
		// A condition on the key alone is the same for all rows of a key.
		below, above := split(conds, func(e expr.Expr) bool {
			return expr.Deterministic(e) && subset(expr.Columns(e), n.Keys)
		})
		n.Input = pushDown(n.Input, below)
		return filtered(n, above)
	}
	for i, in := range n.Inputs() {
		n.setInput(i, pushDown(in, nil))
	}
	return filtered(n, conds)
}

// filtered is n below a filter, if there are conditions.
func filtered(n Node, conds []expr.Expr) Node {
	if len(conds) == 0 {
		return n
	}
	return newFilter(n, expr.And(conds...), conds[0].Pos())
}

// split parts the conditions that are deterministic and ok from the rest.
func split(conds []expr.Expr, ok func(expr.Expr) bool) (yes, no []expr.Expr) {
	for _, c := range conds {
		if expr.Deterministic(c) && ok(c) {
			yes = append(yes, c)
		} else {
			no = append(no, c)
		}
	}
	return yes, no
}

// within reports whether e reads columns from low up to high only.
func within(e expr.Expr, low, high int) bool {
	for _, c := range expr.Columns(e) {
		if c < low || c >= high {
			return false
		}
	}
	return true
}

func subset(a, b []int) bool {
	return !slices.ContainsFunc(a, func(x int) bool { return !slices.Contains(b, x) })
}

// pushDown of a Calc: its own filter and what reads deterministic results go on, unless
// that computes twice what is costly.
func (n *Calc) pushDown(conds []expr.Expr) Node {
	below, above := split(conds, func(e expr.Expr) bool {
		return !slices.ContainsFunc(expr.Columns(e), func(c int) bool { return !expr.Deterministic(n.Exprs[c]) || costly(n.Exprs[c]) })
	})
	var all []expr.Expr
	if n.Filter != nil {
		all = expr.Conjuncts(n.Filter)
	}
	for _, c := range below {
		all = append(all, expr.Conjuncts(replace(c, n.Exprs))...)
	}
	down, here := split(all, func(expr.Expr) bool { return true })
	n.Filter = nil
	if len(here) > 0 {
		n.Filter = expr.And(here...)
	}
	n.Input = pushDown(n.Input, down)
	return filtered(n, above)
}

// replace is e with column i replaced by exprs[i].
func replace(e expr.Expr, exprs []expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if c, ok := e.(*expr.Column); ok {
			return exprs[c.Index]
		}
		return e
	})
}
