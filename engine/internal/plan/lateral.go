package plan

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
)

// dependent reports whether a table in FROM may name columns of those before it. Inside
// of a subquery a query without LATERAL may name columns of the rows around that.
func dependent(t parse.TableExpr, inside bool) bool {
	switch t := t.(type) {
	case *parse.Unnest:
		return true
	case *parse.DerivedTable:
		return t.Lateral || inside
	case *parse.Join:
		return dependent(t.Left, inside) || dependent(t.Right, inside)
	}
	return false
}

// lateralJoin binds a join whose right side may name columns of the left one.
func (b *binder) lateralJoin(left Node, ls *scope, j *parse.Join) (Node, *scope, error) {
	if j.Kind == parse.RightJoin || j.Kind == parse.FullJoin {
		return nil, nil, errs.New(errs.Invalid, j.At, "the right side of %s cannot depend on the left one, whose rows it may lack", j.Kind).
			WithHint("write CROSS JOIN or LEFT JOIN")
	}
	if len(j.Using) > 0 || j.Natural {
		return nil, nil, unsupported(j.At, "USING and NATURAL with a right side that depends on the left one are").WithHint("write CROSS JOIN, and the condition in WHERE")
	}
	outer := j.Kind == parse.LeftJoin
	switch t := j.Right.(type) {
	case *parse.Join:
		return b.lateralChain(left, ls, j, t)
	case *parse.Unnest:
		if outer && !onTrue(j) {
			return nil, nil, unsupported(j.On.Pos(), "a condition in LEFT JOIN UNNEST is").WithHint("write ON TRUE")
		}
		n, sc, err := b.unnest(left, ls, t, outer)
		if err != nil {
			return nil, nil, err
		}
		return b.joined(n, sc, j)
	case *parse.DerivedTable:
		return b.lateralQuery(left, ls, j, t)
	}
	panic("plan: not a table that depends on others")
}

// lateralChain is a, (b JOIN c): as c may name columns of a, it is bound as (a, b) JOIN c,
// which has the same rows.
func (b *binder) lateralChain(left Node, ls *scope, j, right *parse.Join) (Node, *scope, error) {
	if j.Kind == parse.LeftJoin || right.Kind == parse.RightJoin || right.Kind == parse.FullJoin {
		return nil, nil, unsupported(j.At, "%s of a %s of tables that depend on the left side is", j.Kind, right.Kind)
	}
	n, sc, err := b.joinRight(left, ls, &parse.Join{Place: j.Place, Kind: parse.CrossJoin, Right: right.Left})
	if err != nil {
		return nil, nil, err
	}
	if n, sc, err = b.joinRight(n, sc, right); err != nil {
		return nil, nil, err
	}
	return b.joined(n, sc, j)
}

// joined is n, the pairs of a join, as far as they meet its condition.
func (b *binder) joined(n Node, sc *scope, j *parse.Join) (Node, *scope, error) {
	if onTrue(j) {
		return n, sc, nil
	}
	x := &exprBinder{b: b, scope: sc, clause: "ON"}
	cond, err := x.condition(j.On)
	if err != nil {
		return nil, nil, err
	}
	return newFilter(n, cond, j.On.Pos()), sc, nil
}

// onTrue reports whether a join has no condition but TRUE.
func onTrue(j *parse.Join) bool {
	l, ok := j.On.(*parse.Literal)
	return j.On == nil || ok && l.Kind == parse.BoolLiteral && strings.EqualFold(l.Text, "TRUE")
}

// lateralQuery binds LATERAL (query).
func (b *binder) lateralQuery(left Node, ls *scope, j *parse.Join, t *parse.DerivedTable) (Node, *scope, error) {
	n, err := b.query(t.Query)
	if err == nil {
		right, rs, err := b.named(n, tableRef{pos: t.At}, t.Alias)
		if err != nil {
			return nil, nil, err
		}
		return b.pair(left, right, ls, rs, j)
	}
	if errs.CodeOf(err) != errs.NotFound {
		return nil, nil, err
	}
	sub, read, err := b.dependent(t.Query, left, ls)
	if err != nil {
		return nil, nil, err
	}
	first := len(sub.Schema()) - len(read)
	_, rs, err := b.named(newProjection(sub, upTo(first)), tableRef{pos: t.At}, t.Alias)
	if err != nil {
		return nil, nil, err
	}
	both, err := ls.join(rs)
	if err != nil {
		return nil, nil, err
	}
	var on expr.Expr
	if !onTrue(j) {
		x := &exprBinder{b: b, scope: both, clause: "ON"}
		if on, err = x.condition(j.On); err != nil {
			return nil, nil, err
		}
	}
	kind := InnerJoin
	if j.Kind == parse.LeftJoin {
		kind = LeftJoin
	}
	joined, err := joinDomain(kind, left, sub, read, first, on, j.At)
	if err != nil {
		return nil, nil, err
	}
	b.hintJoin(joined, j)
	for i := range both.fields {
		both.fields[i].typ = joined.schema[i].Type
	}
	return newProjection(joined, upTo(len(both.fields))), both, nil
}
