package expr

import (
	"context"

	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/vector"
)

// Fold computes the constant parts of e. What fails, or depends on the time, stays
// as it is, to fail when it is evaluated. A branch that is never taken goes away.
func Fold(e Expr) Expr { return Rewrite(e, foldNode) }

// foldNode folds a node whose parts are folded.
func foldNode(e Expr) Expr {
	switch n := e.(type) {
	case *Cast:
		if _, ok := n.Arg.(*Literal); ok {
			return compute(e)
		}
		if n.Arg.Type().Equal(n.T) && !n.T.IsString() && !n.T.IsBinary() {
			return n.Arg
		}
	case *Case:
		return foldCase(n)
	case *Call:
		switch n.Func.Lazy {
		case function.LazyAnd:
			return foldJunction(n, true)
		case function.LazyOr:
			return foldJunction(n, false)
		case function.LazyIf:
			if l, ok := n.Args[0].(*Literal); ok {
				if l.Value == true {
					return retype(n.Args[1], n)
				}
				return retype(n.Args[2], n)
			}
			return n
		case function.LazyCoalesce:
			return foldCoalesce(n)
		}
		constant := n.deterministic()
		for _, a := range n.Args {
			l, ok := a.(*Literal)
			if ok && l.Value == nil && !n.Func.NullCall {
				return &Literal{T: n.T.Optional(), At: n.At}
			}
			constant = constant && ok
		}
		if constant {
			return compute(e)
		}
	}
	return e
}

// compute evaluates an expression without columns, or gives it back when that fails.
func compute(e Expr) Expr {
	c := newCompiler()
	n, err := c.compile(e)
	if err != nil {
		return e
	}
	in := function.NewInstances(context.Background(), 0)
	defer in.Close()
	if openAll(c.guests, in) != nil {
		return e
	}
	b := vector.NewBatch(1, nil, nil)
	f := frame{}
	f.reset(b, nil, false)
	v, err := n.eval(c.pool, &f)
	if err != nil || e.Type().IsNested() && !v.IsNull(0) { // literals are plain values
		return e
	}
	return &Literal{Value: ValueAt(v, e.Type(), 0), T: e.Type(), At: e.Pos()}
}

// foldJunction drops the arguments of an AND (OR) that are neutral, and all others
// when one settles the result.
func foldJunction(n *Call, neutral bool) Expr {
	var keep []Expr
	for _, a := range n.Args {
		if l, ok := a.(*Literal); ok && l.Value != nil {
			if l.Value == neutral {
				continue
			}
			return &Literal{Value: !neutral, T: n.T, At: n.At}
		}
		keep = append(keep, a)
	}
	switch len(keep) {
	case 0:
		return &Literal{Value: neutral, T: n.T, At: n.At}
	case 1:
		return keep[0]
	case len(n.Args):
		return n
	}
	c := *n
	c.Args = keep
	return &c
}

func foldCase(n *Case) Expr {
	c := *n
	c.Whens = nil
	for _, w := range n.Whens {
		if l, ok := w.Cond.(*Literal); ok {
			if l.Value != true {
				continue
			}
			c.Else = w.Then
			break
		}
		c.Whens = append(c.Whens, w)
	}
	if len(c.Whens) == 0 {
		return retype(c.Else, n)
	}
	if len(c.Whens) == len(n.Whens) && c.Else == n.Else {
		return n
	}
	return &c
}

func foldCoalesce(n *Call) Expr {
	var keep []Expr
	for _, a := range n.Args {
		l, ok := a.(*Literal)
		if ok && l.Value == nil {
			continue
		}
		keep = append(keep, a)
		if ok {
			break
		}
	}
	switch len(keep) {
	case 0:
		return &Literal{T: n.T.Optional(), At: n.At}
	case 1:
		return retype(keep[0], n)
	case len(n.Args):
		return n
	}
	c := *n
	c.Args = keep
	return &c
}

// retype is a branch in place of the expression that chose it: it must have the type
// of the whole.
func retype(branch Expr, whole Expr) Expr {
	if l, ok := branch.(*Literal); ok {
		c := *l
		c.T = whole.Type()
		c.T.NotNull = l.Value != nil
		return &c
	}
	if branch.Type().Equal(whole.Type()) {
		return branch
	}
	return whole
}
