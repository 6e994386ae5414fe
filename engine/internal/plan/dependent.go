package plan

import (
	"maps"
	"reflect"
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// This file binds queries that depend on rows around them: that read columns of theirs
// anywhere, below GROUP BY, LIMIT or UNION. Such a query is computed once for all values
// that the columns have, which its rows carry along, and is then joined with the rows
// around it. (Neumann and Kemper, "Unnesting Arbitrary Queries", BTW 2015, call the
// values the domain.)

// domain is what a query that depends on rows around it reads of them.
type domain struct {
	outer *scope // their columns
	cols  []int  // those that are read, ascending
	node  Node   // a row for each combination of their values; see rows
	read  map[int]bool
}

// rows is a node for a row for each combination of values, for one more reader.
func (d *domain) rows() Node { return copied(d.node) }

// column binds a name to a column of the rows around a query, as the domain has it.
func (d *domain) column(x *exprBinder, e *parse.ColumnRef) (expr.Expr, error) {
	around := &exprBinder{b: x.b, scope: d.outer, clause: x.clause}
	c, err := around.column(e)
	if err != nil {
		return nil, err
	}
	for _, i := range expr.Columns(c) {
		d.read[i] = true
	}
	return expr.Remap(c, func(i int) int { return slices.Index(d.cols, i) }), nil
}

// aggregates reports whether arguments of an aggregate are columns of the rows around
// alone. By the standard it then is one of the query around, not of the subquery.
func (d *domain) aggregates(args []expr.Expr) bool {
	if d == nil || len(args) == 0 {
		return false
	}
	width, some := len(d.cols), false
	for _, a := range args {
		if !within(a, 0, width) {
			return false
		}
		some = some || len(expr.Columns(a)) > 0
	}
	return some
}

// scope has the columns of the domain, which are found by way of those around.
func (d *domain) scope() *scope {
	s := &scope{tables: []tableRef{{}}, domain: d}
	for _, c := range d.node.Schema() {
		s.fields = append(s.fields, field{name: c.Name, typ: c.Type, hidden: true})
	}
	return s
}

// columns are those of the domain, which come first in the FROM of a query that has one.
func (d *domain) columns() []expr.Expr {
	if d == nil {
		return nil
	}
	return columns(d.node)
}

// dependent binds a query that reads columns of n, which sc names: those that it returns.
// The columns of the node are those of the query, then the ones read.
func (b *binder) dependent(q *parse.Query, n Node, sc *scope) (sub Node, read []int, err error) {
	inner := *b
	bind := func(cols []int) (Node, *domain, error) {
		d := &domain{outer: sc, cols: cols, read: map[int]bool{}}
		d.node = newDistinct(newProjection(copied(n), cols), q.At)
		inner.domain = d
		sub, err := inner.complete(q, false)
		return sub, d, err
	}
	_, all, err := bind(upTo(len(sc.fields))) // to find out what is read
	if err != nil {
		return nil, nil, err
	}
	if err := repeatable(n, q.At); err != nil {
		return nil, nil, err
	}
	read = slices.Sorted(maps.Keys(all.read))
	sub, _, err = bind(read)
	return sub, read, err
}

// copied is a plan with nodes of its own, which passes change.
func copied(n Node) Node {
	c := reflect.New(reflect.TypeOf(n).Elem())
	c.Elem().Set(reflect.ValueOf(n).Elem())
	out := c.Interface().(Node)
	if u, ok := out.(*Union); ok {
		u.Ins = slices.Clone(u.Ins)
	}
	for i, in := range n.Inputs() {
		out.setInput(i, copied(in))
	}
	return out
}

// repeatable refuses rows that may be others when they are computed again.
func repeatable(n Node, at errs.Position) error {
	ok := true
	switch n := n.(type) {
	case *Calc:
		for _, e := range append([]expr.Expr{n.Filter}, n.Exprs...) {
			ok = ok && (e == nil || expr.Deterministic(e))
		}
	case *Limit:
		ok = false
	case *Rank:
		ok = !n.byArrival()
	}
	if !ok {
		return unsupported(at, "a subquery that depends on rows which may be others when they are computed again, is").
			WithHint("write a join with a query in FROM")
	}
	for _, in := range n.Inputs() {
		if err := repeatable(in, at); err != nil {
			return err
		}
	}
	return nil
}

// source binds the FROM of a SELECT; when the query depends on rows around it, with the
// columns of the domain in front.
func (b *binder) source(s *parse.Select) (Node, *scope, error) {
	d := b.domain
	if d == nil {
		return b.from(s.From)
	}
	free := *b
	free.domain = nil
	n, sc, err := free.from(s.From)
	switch {
	case errs.CodeOf(err) == errs.NotFound: // perhaps FROM reads them itself
		return free.beside(d.rows(), d.scope(), s.From)
	case err != nil:
		return nil, nil, err
	}
	both, err := d.scope().join(sc)
	if err != nil {
		return nil, nil, err
	}
	if n, err := b.spared(n, both, s); n != nil || err != nil {
		return n, both, err
	}
	return newJoin(InnerJoin, d.rows(), n, nil, s.At), both, nil
}

// beside is the cross join of a node with a table in FROM that may depend on it.
func (b *binder) beside(left Node, ls *scope, t parse.TableExpr) (Node, *scope, error) {
	j, ok := t.(*parse.Join)
	if !ok || j.Kind == parse.RightJoin || j.Kind == parse.FullJoin {
		return b.joinRight(left, ls, &parse.Join{Place: parse.Place{At: t.Pos()}, Kind: parse.CrossJoin, Right: t})
	}
	n, sc, err := b.beside(left, ls, j.Left)
	if err != nil {
		return nil, nil, err
	}
	return b.joinRight(n, sc, j)
}

// spared is n with the columns of the domain in front, which are computed of its own: WHERE
// says that they are equal. It is nil where that is not so.
func (b *binder) spared(n Node, both *scope, s *parse.Select) (Node, error) {
	width := len(b.domain.cols)
	exprs, found := make([]expr.Expr, width), 0
	x := &exprBinder{b: b, scope: both, clause: "WHERE"}
	if s.Where == nil {
		return nil, nil
	}
	for _, c := range conjuncts(s.Where) {
		if len(subqueries(c)) > 0 {
			continue
		}
		cond, err := x.condition(c)
		if err != nil {
			return nil, err
		}
		l, r, nullSafe, ok := equality(cond)
		if !ok || nullSafe || !expr.Deterministic(cond) {
			continue
		}
		for range 2 {
			c, column := l.(*expr.Column)
			if column && c.Index < width && exprs[c.Index] == nil && within(r, width, len(both.fields)) && c.T.Optional().Equal(r.Type().Optional()) {
				exprs[c.Index] = expr.Remap(r, func(i int) int { return i - width })
				found++
				break
			}
			l, r = r, l
		}
	}
	if found < width {
		return nil, nil
	}
	var known []expr.Expr
	for _, e := range exprs {
		cond, err := expr.Apply("IS NOT NULL", e.Pos(), e)
		if err != nil {
			return nil, err
		}
		known = append(known, cond)
	}
	out := newCalc(newFilter(n, expr.And(known...), s.Where.Pos()), nil, append(exprs, columns(n)...),
		append(b.domain.node.Schema().Names(), n.Schema().Names()...), s.At)
	for i := range width {
		both.fields[i].typ = out.schema[i].Type
	}
	return out, nil
}

// everyGroup gives the values of the domain for which an aggregation without GROUP BY has
// no rows the group that they have all the same: n is the aggregation, whose groups those
// are that have rows. Expressions over n become ones over the result.
func (b *binder) everyGroup(n Node, at errs.Position, es ...*expr.Expr) (Node, error) {
	d, width := b.domain, len(b.domain.cols)
	agg, ok := n.(*Aggregate)
	if !ok || len(agg.Keys) != width {
		return nil, unsupported(at, "this aggregation in a subquery that depends on rows around it is").WithHint("write a join with a query in FROM")
	}
	out, err := joinDomain(LeftJoin, d.rows(), n, upTo(width), 0, nil, at)
	if err != nil {
		return nil, err
	}
	sc := (&scope{fields: make([]field, width)}).extended(out)
	for i, c := range out.Schema()[:width] {
		sc.fields[i] = field{name: c.Name, typ: c.Type}
	}
	for _, e := range es {
		if *e == nil {
			continue
		}
		if *e, err = overJoined(*e, n, sc, width); err != nil {
			return nil, err
		}
		*e = expr.Remap(*e, func(i int) int { // the keys are there for every group
			if i < 2*width {
				return i - width
			}
			return i
		})
	}
	return out, nil
}

// joinDomain joins n with a query that depends on it, whose columns from number first on are
// the values of columns read of n. on is a further condition, or nil.
func joinDomain(kind JoinKind, n, sub Node, read []int, first int, on expr.Expr, at errs.Position) (*Join, error) {
	conds, err := sameDomain(n, sub, read, first, at)
	if err != nil {
		return nil, err
	}
	if on != nil {
		conds = append(conds, on)
	}
	return newJoin(kind, n, sub, expr.And(conds...), at), nil
}

// sameDomain says that columns read of n have the values that a row of sub is for.
func sameDomain(n, sub Node, read []int, first int, at errs.Position) ([]expr.Expr, error) {
	var conds []expr.Expr
	right := shiftedColumns(sub, len(n.Schema()))
	for i, c := range read {
		cond, err := expr.Apply("IS NOT DISTINCT FROM", at, expr.NewColumn(n.Schema(), c, at), right[first+i])
		if err != nil {
			return nil, err
		}
		conds = append(conds, cond)
	}
	return conds, nil
}

// limited is LIMIT and OFFSET for each value of the domain apart.
func (o ordered) limited(offset, count int64, at errs.Position) (Node, error) {
	r := &Rank{Function: RowNumber, Partition: o.domain, Order: o.keys, From: 1, To: unbounded, ToColumn: -1, Watermark: -1}
	r.at = at
	if len(o.keys) > 0 {
		r.Time = timeAttribute(o.Node, o.keys[0].Column)
	}
	var n Node = r.over(o.Node, "$row")
	number := expr.NewColumn(n.Schema(), len(n.Schema())-1, at)
	var conds []expr.Expr
	bound := func(op string, v int64) error {
		c, err := expr.Apply(op, at, number, &expr.Literal{Value: v, T: sqltype.BigIntType.Required(), At: at})
		conds = append(conds, c)
		return err
	}
	if err := bound(">", offset); err != nil {
		return nil, err
	}
	if last := offset + count; last > offset || count == 0 { // else there is no LIMIT
		if err := bound("<=", last); err != nil {
			return nil, err
		}
	}
	return newFilter(n, expr.And(conds...), at), nil
}

// singleRow is a query as one row for each value of its columns from number first on, in
// which it has one value: an error when there are more.
func singleRow(n Node, first int, at errs.Position) (Node, error) {
	exprs, names := columns(n), n.Schema().Names()
	greatest, _ := function.LookupAggregate("MAX")
	count, _ := function.LookupAggregate("COUNT")
	value, err := expr.NewAggregate(greatest, at, false, nil, exprs[0])
	if err != nil {
		return nil, manyRows(at)
	}
	rows, err := expr.NewAggregate(count, at, false, nil)
	if err != nil {
		return nil, err
	}
	keys := upTo(len(exprs))[first:]
	agg := newAggregate(n, keys, []*expr.Aggregate{value, rows}, []string{names[0], "rows"}, at)
	cols := columns(agg)
	one, err := expr.Apply(function.Single, at, cols[len(keys)], cols[len(keys)+1])
	if err != nil {
		return nil, err
	}
	return newCalc(agg, nil, append([]expr.Expr{one}, cols[:len(keys)]...), append(names[:1:1], names[first:]...), at), nil
}

// dependentValues binds VALUES that depend on rows around them.
func (b *binder) dependentValues(v *parse.Values) (Node, error) {
	var body parse.QueryBody
	for _, r := range v.Rows {
		s := &parse.Select{Place: v.Place}
		for _, e := range r {
			s.Items = append(s.Items, parse.SelectItem{Place: parse.Place{At: e.Pos()}, Expr: e})
		}
		if body == nil {
			body = s
		} else {
			body = &parse.SetOp{Place: v.Place, Kind: parse.Union, All: true, Left: body, Right: s}
		}
	}
	return b.body(body)
}
