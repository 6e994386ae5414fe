package plan

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// quantifiedValue is x < ANY (query) and its like with its three values: what decides is
// the least or the greatest value.
func (b *binder) quantifiedValue(n Node, sc *scope, e *parse.Quantified, values map[parse.Expr]expr.Expr) (Node, *scope, expr.Expr, error) {
	x := &exprBinder{b: b, scope: sc, clause: string(e.Op), values: values}
	arg, err := x.bind(e.Arg)
	if err != nil {
		return nil, nil, nil, err
	}
	sub, err := b.subquery(e.Query, n, sc, false)
	if err != nil {
		return nil, nil, nil, err
	}
	n2, sc2, v, err := b.quantified(n, sc, e, arg, sub)
	if sub.correlated && errs.CodeOf(err) == errs.Unsupported {
		if sub, err = b.dependentSubquery(e.Query, n, sc); err != nil {
			return nil, nil, nil, err
		}
		return b.quantified(n, sc, e, arg, sub)
	}
	return n2, sc2, v, err
}

func (b *binder) quantified(n Node, sc *scope, e *parse.Quantified, arg expr.Expr, sub *subquery) (Node, *scope, expr.Expr, error) {
	if len(sub.items) != 1 {
		return nil, nil, nil, errs.New(errs.Type, e.Query.Pos(), "the subquery of ANY and ALL has one column, this one %d", len(sub.items))
	}
	n, sc, f, err := b.facts(n, sc, sub, true, e.At)
	if err != nil {
		return nil, nil, nil, err
	}
	is := func(op string, args ...expr.Expr) (out expr.Expr) {
		if err == nil {
			out, err = expr.Apply(op, e.At, args...)
		}
		return out
	}
	op := string(e.Op)
	var decided expr.Expr // TRUE when one value decides: for ANY one that meets the comparison, for ALL one that does not
	switch {
	case op == "=" || op == "<>":
		decided = is("OR", is("<>", arg, f.least), is("<>", arg, f.greatest))
	case (op == "<" || op == "<=") != e.All:
		decided = is(op, arg, f.greatest)
	default:
		decided = is(op, arg, f.least)
	}
	if e.All && op != "=" {
		decided = is("NOT", decided)
	}
	none := is("IS NULL", f.some)
	open := is("OR", is("IS NULL", arg), is("IS NOT NULL", f.null))
	if err != nil {
		return nil, nil, nil, err
	}
	v, err := expr.NewCase([]expr.When{
		{Cond: none, Then: expr.Bool(e.All)},
		{Cond: decided, Then: expr.Bool(!e.All)},
		{Cond: open, Then: expr.Null(sqltype.BoolType, e.At)},
	}, expr.Bool(e.All), e.At)
	return n, sc, v, err
}
