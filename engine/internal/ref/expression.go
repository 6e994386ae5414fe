package ref

import (
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
)

// holds reports whether a condition is TRUE on a row. A nil condition always is.
func holds(cond expr.Expr, r Row) (bool, error) {
	if cond == nil {
		return true, nil
	}
	v, err := eval(cond, r)
	return v == true, err
}

func evalAll(es []expr.Expr, r Row) (Row, error) {
	out := make(Row, len(es))
	for i, e := range es {
		var err error
		if out[i], err = eval(e, r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eval computes an expression on a row.
func eval(e expr.Expr, r Row) (any, error) {
	switch e := e.(type) {
	case *expr.Column:
		return r[e.Index], nil
	case *expr.Literal:
		return literal(e), nil
	case *expr.Cast:
		v, err := eval(e.Arg, r)
		if err != nil {
			return nil, err
		}
		return cast(e, v)
	case *expr.Case:
		for _, w := range e.Whens {
			ok, err := holds(w.Cond, r)
			if err != nil {
				return nil, err
			}
			if ok {
				return eval(w.Then, r)
			}
		}
		return eval(e.Else, r)
	case *expr.Call:
		return call(e, r)
	}
	return nil, unsupported(e, "expression %T", e)
}

// call applies a function. An argument of a lazy one is computed only when it is
// needed: the order of evaluation is part of what SQL promises there.
func call(c *expr.Call, r Row) (any, error) {
	switch c.Func.Lazy {
	case function.LazyAnd:
		return until(c, r, false)
	case function.LazyOr:
		return until(c, r, true)
	case function.LazyIf:
		ok, err := holds(c.Args[0], r)
		if err != nil {
			return nil, err
		}
		if ok {
			return eval(c.Args[1], r)
		}
		return eval(c.Args[2], r)
	case function.LazyCoalesce:
		for _, a := range c.Args {
			if v, err := eval(a, r); err != nil || v != nil {
				return v, err
			}
		}
		return nil, nil
	}
	args, err := evalAll(c.Args, r)
	if err != nil {
		return nil, err
	}
	return apply(c, args)
}

// until is AND and OR: the value that settles the matter wins, else a NULL leaves
// it unknown.
func until(c *expr.Call, r Row, settles bool) (any, error) {
	unknown := false
	for _, a := range c.Args {
		v, err := eval(a, r)
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
