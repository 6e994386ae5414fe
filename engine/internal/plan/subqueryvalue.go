package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// This file binds subqueries that stand for values: each becomes a join that adds
// columns, from which the value is computed.

// subqueries lists the subqueries in an expression, inner ones first. It does not
// look into them.
func subqueries(es ...parse.Expr) []parse.Expr {
	var out []parse.Expr
	for _, e := range es {
		out = append(out, subqueries(parts(e)...)...)
		switch e := e.(type) {
		case *parse.Subquery, *parse.Exists, *parse.Quantified:
			out = append(out, e)
		case *parse.In:
			if e.Query != nil {
				out = append(out, e)
			}
		}
	}
	return out
}

// parts are the expressions that an expression is made of.
func parts(e parse.Expr) []parse.Expr {
	switch e := e.(type) {
	case *parse.Quantified:
		return []parse.Expr{e.Arg}
	case *parse.In:
		return append(slices.Clone(e.List), e.Arg)
	case *parse.Unary:
		return []parse.Expr{e.Arg}
	case *parse.Binary:
		return []parse.Expr{e.Left, e.Right}
	case *parse.Logic:
		return e.Args
	case *parse.Test:
		return []parse.Expr{e.Arg}
	case *parse.Between:
		return []parse.Expr{e.Arg, e.Low, e.High}
	case *parse.Match:
		return []parse.Expr{e.Arg, e.Pattern}
	case *parse.Case:
		out := []parse.Expr{e.Operand}
		for _, w := range e.Whens {
			out = append(out, w.Cond, w.Then)
		}
		return append(out, e.Else)
	case *parse.Cast:
		return []parse.Expr{e.Arg}
	case *parse.Call:
		out := append(slices.Clone(e.Args), e.Filter)
		if e.Over != nil {
			out = append(out, e.Over.PartitionBy...)
			for _, o := range e.Over.OrderBy {
				out = append(out, o.Expr)
			}
		}
		return out
	case *parse.Row:
		return e.Items
	case *parse.Array:
		return e.Items
	case *parse.Map:
		return append(slices.Clone(e.Keys), e.Values...)
	case *parse.Index:
		return []parse.Expr{e.Arg, e.Index}
	case *parse.FieldRef:
		return []parse.Expr{e.Arg}
	}
	return nil
}

// subqueryValues adds to n what the subqueries in the expressions need, and returns
// the value of each. The columns that it adds are in the scope, hidden.
func (b *binder) subqueryValues(n Node, sc *scope, es ...parse.Expr) (Node, *scope, map[parse.Expr]expr.Expr, error) {
	values := map[parse.Expr]expr.Expr{}
	n, sc, err := b.addValues(n, sc, values, es...)
	return n, sc, values, err
}

// addValues is subqueryValues beside values of other expressions.
func (b *binder) addValues(n Node, sc *scope, values map[parse.Expr]expr.Expr, es ...parse.Expr) (Node, *scope, error) {
	for _, e := range subqueries(es...) {
		var err error
		switch e := e.(type) {
		case *parse.Subquery:
			n, sc, values[e], err = b.scalarValue(n, sc, e)
		case *parse.Exists:
			n, sc, values[e], err = b.existsValue(n, sc, e)
		case *parse.In:
			n, sc, values[e], err = b.inValue(n, sc, e, values)
		case *parse.Quantified:
			if in := membership(e); in != nil {
				n, sc, values[e], err = b.inValue(n, sc, in, values)
			} else {
				n, sc, values[e], err = b.quantifiedValue(n, sc, e, values)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return n, sc, nil
}

// selectValues is subqueryValues for the list of a SELECT.
func (b *binder) selectValues(n Node, sc *scope, s *parse.Select) (Node, *scope, map[parse.Expr]expr.Expr, error) {
	var es []parse.Expr
	for _, it := range s.Items {
		es = append(es, it.Expr)
	}
	return b.subqueryValues(n, sc, es...)
}

// scalarValue is the one value of a subquery, NULL when it has no row.
func (b *binder) scalarValue(n Node, sc *scope, e *parse.Subquery) (Node, *scope, expr.Expr, error) {
	width := len(n.Schema())
	q, err := b.query(e.Query)
	if errs.CodeOf(err) == errs.NotFound {
		// A subquery that only equals columns of the rows around it is grouped by those.
		n2, sc2, v, err := b.correlatedValue(n, sc, e)
		if code := errs.CodeOf(err); code == errs.Unsupported || code == errs.NotFound {
			return b.dependentValue(n, sc, e)
		}
		return n2, sc2, v, err
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if len(q.Schema()) != 1 {
		return nil, nil, nil, errs.New(errs.Type, e.At, "a subquery as a value has one column, this one %s", count(len(q.Schema()), "column"))
	}
	if !oneRow(q, nil) {
		if q, err = singleRow(q, 1, e.At); err != nil {
			return nil, nil, nil, err
		}
	}
	kind := LeftJoin
	if a, ok := below(q).(*Aggregate); ok && len(a.Keys) == 0 {
		kind = InnerJoin // it always has a row
	}
	n = newJoin(kind, n, q, nil, e.At)
	sc = sc.extended(n)
	return n, sc, sc.column(width, e.At), nil
}

// dependentValue is the one value of a subquery for the columns of n that it reads.
func (b *binder) dependentValue(n Node, sc *scope, e *parse.Subquery) (Node, *scope, expr.Expr, error) {
	sub, read, err := b.dependent(e.Query, n, sc)
	if err != nil {
		return nil, nil, nil, err
	}
	if first := len(sub.Schema()) - len(read); first != 1 {
		return nil, nil, nil, errs.New(errs.Type, e.At, "a subquery as a value has one column, this one %s", count(first, "column"))
	}
	if !oneRow(sub, upTo(1 + len(read))[1:]) {
		if sub, err = singleRow(sub, 1, e.At); err != nil {
			return nil, nil, nil, err
		}
	}
	width := len(n.Schema())
	if n, err = joinDomain(LeftJoin, n, sub, read, 1, nil, e.At); err != nil {
		return nil, nil, nil, err
	}
	sc = sc.extended(n)
	return n, sc, sc.column(width, e.At), nil
}

// below looks through projections.
func below(n Node) Node {
	for {
		c, ok := n.(*Calc)
		if !ok || c.Filter != nil {
			return n
		}
		n = c.Input
	}
}

func manyRows(at errs.Position) error {
	return unsupported(at, "a subquery as a value of this type that may have more than one row is").
		WithHint("aggregate it, as in (SELECT MAX(..) FROM ..), or compare with the primary key")
}

// oneRow reports whether n has at most one row for each value of the given columns.
func oneRow(n Node, cols []int) bool {
	switch n := n.(type) {
	case *Values:
		return len(n.Rows) <= 1
	case *Aggregate:
		return subset(upTo(len(n.Keys)), cols)
	case *Limit:
		return n.Count <= 1 || oneRow(n.Input, cols)
	case *Normalize:
		return subset(n.Keys, cols)
	case *Scan:
		pk := n.Table.Declaration.PrimaryKey
		return len(pk) > 0 && subset(pk, n.Columns) && subset(positions(pk, n.Columns), cols)
	case *Calc:
		below := n.constants()
		for _, c := range cols {
			if col, ok := n.Exprs[c].(*expr.Column); ok {
				below = append(below, col.Index)
			}
		}
		return oneRow(n.Input, below)
	case *Join:
		return !n.Kind.Pairs() && oneRow(n.Left, cols)
	}
	return false
}

// existsValue is TRUE when the subquery has a row, else FALSE.
func (b *binder) existsValue(n Node, sc *scope, e *parse.Exists) (Node, *scope, expr.Expr, error) {
	sub, err := b.subquery(e.Query, n, sc, true)
	if err != nil {
		return nil, nil, nil, err
	}
	one := &expr.Literal{Value: int64(1), T: sqltype.IntType.Required(), At: e.At}
	if sub.correlated {
		n2, sc2, v, err := b.marked(n, sc, sub.node, sub.on, e.At)
		if errs.CodeOf(err) != errs.Unsupported {
			return n2, sc2, v, err
		}
		if sub, err = b.dependentSubquery(e.Query, n, sc); err != nil {
			return nil, nil, nil, err
		}
		return b.marked(n, sc, sub.node, sub.on, e.At)
	}
	some, err := maxOf(newCalc(sub.node, nil, []expr.Expr{one}, []string{"some"}, e.At), e.At)
	if err != nil {
		return nil, nil, nil, err
	}
	width := len(n.Schema())
	n = newJoin(InnerJoin, n, some, nil, e.At)
	sc = sc.extended(n)
	v, err := expr.Apply("IS NOT NULL", e.At, sc.column(width, e.At))
	return n, sc, v, err
}

// marked adds to n a column, and returns whether it marks a row of right that equals
// it. The conditions are over the columns of n followed by those of right.
func (b *binder) marked(n Node, sc *scope, right Node, on []expr.Expr, at errs.Position) (Node, *scope, expr.Expr, error) {
	matches, err := equalities(len(n.Schema()), right, on)
	if err != nil {
		return nil, nil, nil, err
	}
	keys, names := rights(matches)
	distinct := newDistinct(newCalc(right, nil, keys, names, at), at)
	mark := newCalc(distinct, nil, append(columns(distinct), expr.Bool(true)), append(names, "mark"), at)
	width := len(n.Schema())
	n, err = leftJoinOn(n, mark, matches, at)
	if err != nil {
		return nil, nil, nil, err
	}
	sc = sc.extended(n)
	v, err := expr.Apply("IS NOT NULL", at, sc.column(width+len(keys), at))
	return n, sc, v, err
}

// match is an equality of an expression over the left side of a join with one over the
// right side.
type match struct {
	left, right expr.Expr
	nullSafe    bool
}

// equalities takes conditions apart that are over so many columns of a left side, followed
// by those of right.
func equalities(width int, right Node, on []expr.Expr) ([]match, error) {
	end := width + len(right.Schema())
	var out []match
	for _, c := range on {
		l, r, nullSafe, ok := equality(c)
		if ok && within(r, 0, width) && within(l, width, end) {
			l, r = r, l
		}
		if !ok || !within(l, 0, width) || !within(r, width, end) || !expr.Deterministic(c) {
			return nil, unsupported(c.Pos(), "in a subquery as a value, %s is", c).
				WithHint("only equalities of a column of the subquery and one of the query around it are")
		}
		out = append(out, match{l, expr.Remap(r, func(i int) int { return i - width }), nullSafe})
	}
	return out, nil
}

// rights are the right sides of equalities, and names for them.
func rights(matches []match) (es []expr.Expr, names []string) {
	for _, m := range matches {
		es, names = append(es, m.right), append(names, m.right.String())
	}
	return es, names
}

// leftJoinOn is n LEFT JOIN right, whose first columns are the right sides of the
// equalities.
func leftJoinOn(n, right Node, matches []match, at errs.Position) (Node, error) {
	cols := shiftedColumns(right, len(n.Schema()))
	var on []expr.Expr
	for i, m := range matches {
		op := "="
		if m.nullSafe {
			op = "IS NOT DISTINCT FROM"
		}
		eq, err := expr.Apply(op, at, m.left, cols[i])
		if err != nil {
			return nil, err
		}
		on = append(on, eq)
	}
	if len(on) == 0 {
		return newJoin(LeftJoin, n, right, nil, at), nil
	}
	return newJoin(LeftJoin, n, right, expr.And(on...), at), nil
}

// inValue is x IN (query) with its three values.
func (b *binder) inValue(n Node, sc *scope, e *parse.In, values map[parse.Expr]expr.Expr) (Node, *scope, expr.Expr, error) {
	sub, err := b.subquery(e.Query, n, sc, false)
	if err != nil {
		return nil, nil, nil, err
	}
	n2, sc2, v, err := b.inSubquery(n, sc, e, sub, values)
	if sub.correlated && errs.CodeOf(err) == errs.Unsupported {
		if sub, err = b.dependentSubquery(e.Query, n, sc); err != nil {
			return nil, nil, nil, err
		}
		return b.inSubquery(n, sc, e, sub, values)
	}
	return n2, sc2, v, err
}

func (b *binder) inSubquery(n Node, sc *scope, e *parse.In, sub *subquery, values map[parse.Expr]expr.Expr) (Node, *scope, expr.Expr, error) {
	equal, nullable, err := b.comparison(sub, sc, e, values)
	if err != nil {
		return nil, nil, nil, err
	}
	if nullable && len(equal) > 1 {
		return nil, nil, nil, unsupported(e.At, "as a value, IN with several columns that can be NULL is").WithHint("write it as a condition of its own, joined by AND")
	}
	arg := leftOf(equal[0], len(n.Schema()))
	n, sc, found, err := b.marked(n, sc, sub.node, slices.Concat(sub.on, equal), e.At)
	if err != nil || !nullable {
		if err == nil && e.Not {
			found, err = expr.Apply("NOT", e.At, found)
		}
		return n, sc, found, err
	}
	n, sc, f, err := b.facts(n, sc, sub, false, e.At)
	if err != nil {
		return nil, nil, nil, err
	}
	no, err := f.surelyNot(arg, e.At)
	if err != nil {
		return nil, nil, nil, err
	}
	v, err := expr.NewCase([]expr.When{{Cond: found, Then: expr.Bool(!e.Not)}, {Cond: no, Then: expr.Bool(e.Not)}}, nil, e.At)
	return n, sc, v, err
}

// correlatedValue is the value of a subquery that reads columns of the query around
// it: the subquery grouped by what it compares with them, joined.
func (b *binder) correlatedValue(n Node, sc *scope, e *parse.Subquery) (Node, *scope, expr.Expr, error) {
	s, err := correlatedSelect(e.Query, false)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(s.Items) != 1 || s.Items[0].Star {
		return nil, nil, nil, errs.New(errs.Type, e.At, "a subquery as a value has one column, this one %s", count(len(s.Items), "column"))
	}
	in, inner, err := b.from(s.From)
	if err != nil {
		return nil, nil, nil, err
	}
	in, on, err := b.where(in, inner, s, sc)
	if err != nil {
		return nil, nil, nil, err
	}
	matches, err := equalities(len(n.Schema()), in, on)
	if err != nil {
		return nil, nil, nil, err
	}
	keys, names := rights(matches)
	g := &grouping{input: in, scope: inner, keys: keys}
	x := &exprBinder{b: b, scope: inner, clause: "SELECT", aggs: g}
	v, err := x.bind(s.Items[0].Expr)
	if err != nil {
		return nil, nil, nil, err
	}
	var right Node
	if len(g.aggs) > 0 {
		items := []item{{expr: v, name: "value"}}
		var having expr.Expr
		if right, err = g.plan(s, items, &having); err != nil {
			return nil, nil, nil, err
		}
		v = items[0].expr
	} else {
		right = newCalc(in, nil, append(slices.Clone(keys), v), append(names, "value"), e.At)
		if !oneRow(right, upTo(len(keys))) {
			return nil, nil, nil, manyRows(e.At)
		}
		v = columns(right)[len(keys)]
	}
	width := len(n.Schema())
	if n, err = leftJoinOn(n, right, matches, e.At); err != nil {
		return nil, nil, nil, err
	}
	sc = sc.extended(n)
	v, err = overJoined(v, right, sc, width)
	return n, sc, v, err
}

// overJoined is an expression over right as one over the columns that it has, from
// width on, in a left join. A count of no rows is 0.
func overJoined(e expr.Expr, right Node, sc *scope, width int) (expr.Expr, error) {
	var err error
	out := expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		c, ok := e.(*expr.Column)
		if !ok {
			return e
		}
		col := sc.column(width+c.Index, c.At)
		a, ok := right.(*Aggregate)
		if !ok || c.Index < len(a.Keys) || a.Aggs[c.Index-len(a.Keys)].Func.Kind != function.Count {
			return col
		}
		zero := &expr.Literal{Value: int64(0), T: sqltype.BigIntType.Required(), At: c.At}
		v, fail := expr.Apply("COALESCE", c.At, col, zero)
		if fail != nil {
			err = fail
			return e
		}
		return v
	})
	return out, err
}
