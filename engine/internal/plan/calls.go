package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
)

// shareCalls lets a costly call that stands in several expressions of a Calc be
// computed once, by a Calc of its own below. It is computed on no row on which it was
// not needed before, so it fails on none that it did not fail on.
func shareCalls(n Node) (Node, error) {
	for i, in := range n.Inputs() {
		below, err := shareCalls(in)
		if err != nil {
			return nil, err
		}
		n.setInput(i, below)
	}
	if c, ok := n.(*Calc); ok {
		return c.shareCalls(), nil
	}
	return n, nil
}

func (n *Calc) shareCalls() Node {
	var conds []expr.Expr
	if n.Filter != nil {
		conds = expr.Conjuncts(n.Filter)
	}
	steps := slices.Concat(conds, n.Exprs) // in the order in which they are computed
	call, at := repeatedCall(steps)
	if call == nil {
		return n
	}
	first, rest := conds, []expr.Expr(nil)
	if at < len(conds) {
		first, rest = conds[:at], conds[at:]
	}
	width := len(n.Input.Schema())
	once := func(es []expr.Expr) []expr.Expr {
		out := make([]expr.Expr, len(es))
		for i, e := range es {
			out[i] = replaceCall(e, call, width)
		}
		return out
	}
	rest, exprs := once(rest), once(n.Exprs)
	var reads []int
	for _, e := range slices.Concat(rest, exprs) {
		reads = append(reads, expr.Columns(e)...)
	}
	reads = union(reads)
	// The call is the last column, since it stands behind all others.
	reads = reads[:len(reads)-1]
	var below []expr.Expr
	for _, c := range reads {
		below = append(below, expr.NewColumn(n.Input.Schema(), c, n.at))
	}
	names := append(n.Input.Schema().Project(reads).Names(), call.String())
	lower := newCalc(n.Input, filterOf(first), append(below, call), names, n.at)
	have := append(reads, width)
	for _, es := range [][]expr.Expr{rest, exprs} {
		for i, e := range es {
			es[i] = remap(e, have)
		}
	}
	upper := newCalc(lower.shareCalls(), filterOf(rest), exprs, n.schema.Names(), n.at)
	return upper.shareCalls()
}

// filterOf is the condition that all are true, or nil for none.
func filterOf(conds []expr.Expr) expr.Expr {
	if len(conds) == 0 {
		return nil
	}
	return expr.And(conds...)
}

// repeatedCall finds a costly call that a step computes on every row that reaches it,
// and that this step or a later one has once more, the largest of them; and the step.
func repeatedCall(steps []expr.Expr) (call *expr.Call, at int) {
	for i, s := range steps {
		for _, c := range certainCalls(s) {
			count := 0
			for _, later := range steps[i:] {
				expr.Walk(later, func(e expr.Expr) bool {
					same := expr.Equal(e, c)
					if same {
						count++
					}
					return !same
				})
			}
			if count > 1 {
				return c, i
			}
		}
	}
	return nil, 0
}

// certainCalls are the costly calls in e that are computed whenever e is, from the
// outside in: none that stands in a branch.
func certainCalls(e expr.Expr) []*expr.Call {
	var out []*expr.Call
	switch e := e.(type) {
	case *expr.Cast:
		return certainCalls(e.Arg)
	case *expr.Case:
		return certainCalls(e.Whens[0].Cond)
	case *expr.Call:
		if e.Func.Costly() && expr.Deterministic(e) {
			out = append(out, e)
		}
		args := e.Args
		if e.Func.Lazy != function.Eager {
			args = args[:1]
		}
		for _, a := range args {
			out = append(out, certainCalls(a)...)
		}
	}
	return out
}

// replaceCall is e with a column in the place of every call that is equal to c.
func replaceCall(e expr.Expr, c *expr.Call, column int) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if expr.Equal(e, c) {
			return &expr.Column{Index: column, Name: c.String(), T: c.T, At: e.Pos()}
		}
		return e
	})
}

// costly reports whether computing e twice costs more than keeping its value.
func costly(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Call); ok && c.Func.Costly() {
			found = true
		}
		return !found
	})
	return found
}
