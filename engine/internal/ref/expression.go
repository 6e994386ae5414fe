package ref

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
)

// holds reports whether a condition is TRUE on a row. A nil condition always is.
func (e evaluator) holds(cond expr.Expr, r Row) (bool, error) {
	if cond == nil {
		return true, nil
	}
	v, err := e.eval(cond, r)
	return v == true, err
}

func (e evaluator) evalAll(es []expr.Expr, r Row) (Row, error) {
	out := make(Row, len(es))
	for i, x := range es {
		var err error
		if out[i], err = e.eval(x, r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eval computes an expression on a row.
func (e evaluator) eval(x expr.Expr, r Row) (any, error) {
	switch x := x.(type) {
	case *expr.Column:
		return r[x.Index], nil
	case *expr.Literal:
		return literal(x), nil
	case *expr.Cast:
		v, err := e.eval(x.Arg, r)
		if err != nil {
			return nil, err
		}
		return e.cast(x, v)
	case *expr.Case:
		for _, w := range x.Whens {
			ok, err := e.holds(w.Cond, r)
			if err != nil {
				return nil, err
			}
			if ok {
				return e.eval(w.Then, r)
			}
		}
		return e.eval(x.Else, r)
	case *expr.Call:
		return e.call(x, r)
	}
	return nil, unsupported(x, "expression %T", x)
}

// call applies a function. An argument of a lazy one is computed only when it is
// needed: the order of evaluation is part of what SQL promises there.
func (e evaluator) call(c *expr.Call, r Row) (any, error) {
	switch c.Func.Lazy {
	case function.LazyAnd:
		return e.until(c, r, false)
	case function.LazyOr:
		return e.until(c, r, true)
	case function.LazyIf:
		ok, err := e.holds(c.Args[0], r)
		if err != nil {
			return nil, err
		}
		if ok {
			return e.eval(c.Args[1], r)
		}
		return e.eval(c.Args[2], r)
	case function.LazyCoalesce:
		for _, a := range c.Args {
			if v, err := e.eval(a, r); err != nil || v != nil {
				return v, err
			}
		}
		return nil, nil
	}
	if !c.Func.NullCall && slices.ContainsFunc(c.Args, isNull) {
		return nil, nil // the other arguments may fail, but do not matter
	}
	args, err := e.evalAll(c.Args, r)
	if err != nil {
		return nil, err
	}
	return e.apply(c, args)
}

// isNull reports whether an argument is seen to be NULL beforehand.
func isNull(x expr.Expr) bool {
	for {
		switch y := x.(type) {
		case *expr.Cast:
			x = y.Arg
		case *expr.Literal:
			return y.Value == nil
		default:
			return false
		}
	}
}

// until is AND and OR: the value that settles the matter wins, else a NULL leaves
// it unknown.
func (e evaluator) until(c *expr.Call, r Row, settles bool) (any, error) {
	unknown := false
	for _, a := range c.Args {
		v, err := e.eval(a, r)
		if err != nil {
			return nil, err
		}
		if v == settles {
			return settles, nil
		}
		unknown = unknown || v == nil
	}
	if unknown {
		return nil, nil
	}
	return !settles, nil
}
