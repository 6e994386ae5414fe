package plan

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// This file binds WHERE: IN (query) and EXISTS become semi and anti joins. Where
// subqueries stand for values is in subqueryvalue.go.

// where binds WHERE over the columns of n, which sc names. In a subquery, outer are
// the columns of the query around it; conditions that read some of them come back,
// over the columns of outer followed by those of n.
func (b *binder) where(n Node, sc *scope, s *parse.Select, outer *scope) (Node, []expr.Expr, error) {
	if s.Where == nil {
		return n, nil, nil
	}
	width := len(sc.fields)
	var plain, others []parse.Expr
	for _, c := range conjuncts(s.Where) {
		if len(subqueries(c)) == 0 {
			plain = append(plain, c)
		} else {
			others = append(others, c)
		}
	}
	x := &exprBinder{b: b, scope: sc, outer: outer, clause: "WHERE", aliases: aliases(s)}
	if len(others) == 0 && outer == nil {
		plain = []parse.Expr{s.Where}
	}
	var own, correlated []expr.Expr
	for _, c := range plain {
		cond, err := x.condition(c)
		switch {
		case err != nil:
			return nil, nil, err
		case outer == nil:
			own = append(own, cond)
		case within(cond, len(outer.fields), len(outer.fields)+width):
			own = append(own, expr.Remap(cond, func(i int) int { return i - len(outer.fields) }))
		default:
			correlated = append(correlated, cond)
		}
	}
	if len(own) > 0 {
		n = newFilter(n, expr.And(own...), s.Where.Pos())
	}
	for _, c := range others {
		var err error
		if n, sc, err = b.subqueryCondition(n, sc, c, x.aliases); err != nil {
			return nil, nil, err
		}
	}
	if len(n.Schema()) > width {
		n = newProjection(n, upTo(width))
	}
	return n, correlated, nil
}

// joinWithSubqueries is a join whose condition has some. For pairs alone they are as good
// as in WHERE; a side that is padded is filtered before.
func (b *binder) joinWithSubqueries(left, right Node, ls, rs *scope, j *parse.Join) (Node, *scope, error) {
	var plain, others []parse.Expr
	for _, c := range conjuncts(j.On) {
		if len(subqueries(c)) == 0 {
			plain = append(plain, c)
		} else {
			others = append(others, c)
		}
	}
	rest := *j
	rest.On = nil
	for i, c := range plain {
		if rest.On = c; i > 0 {
			rest.On = &parse.Logic{Place: j.Place, Op: parse.And, Args: plain}
		}
	}
	filter := func(n Node, sc *scope) (Node, error) {
		width := len(n.Schema())
		for _, c := range others {
			var err error
			if n, sc, err = b.subqueryCondition(n, sc, c, nil); err != nil {
				return nil, err
			}
		}
		if len(n.Schema()) > width {
			n = newProjection(n, upTo(width))
		}
		return n, nil
	}
	var err error
	switch j.Kind {
	case parse.LeftJoin:
		right, err = filter(right, rs)
	case parse.RightJoin:
		left, err = filter(left, ls)
	case parse.FullJoin:
		err = unsupported(others[0].Pos(), "a subquery in the condition of %s is", j.Kind)
	default:
		n, both, err := b.pair(left, right, ls, rs, &rest)
		if err != nil {
			return nil, nil, err
		}
		n, err = filter(n, both)
		return n, both, err
	}
	if errs.CodeOf(err) == errs.NotFound {
		err = unsupported(others[0].Pos(), "a subquery in the condition of %s that reads columns of the side that is kept is", j.Kind).
			WithHint("compute it as a column of a query in FROM")
	}
	if err != nil {
		return nil, nil, err
	}
	return b.pair(left, right, ls, rs, &rest)
}

// conjuncts are the parts of a condition that all have to be TRUE.
func conjuncts(e parse.Expr) []parse.Expr {
	l, ok := e.(*parse.Logic)
	if !ok || l.Op != parse.And {
		return []parse.Expr{e}
	}
	var out []parse.Expr
	for _, a := range l.Args {
		out = append(out, conjuncts(a)...)
	}
	return out
}

// subqueryCondition is n with the rows that meet a condition with a subquery. The
// columns that it adds are in the scope, hidden.
func (b *binder) subqueryCondition(n Node, sc *scope, c parse.Expr, aliases map[string]bool) (Node, *scope, error) {
	not, test := false, c
	for {
		u, ok := test.(*parse.Unary)
		if !ok || u.Op != parse.Not {
			break
		}
		not, test = !not, u.Arg
	}
	if q, ok := test.(*parse.Quantified); ok {
		if in := membership(q); in != nil {
			test = in
		}
	}
	switch t := test.(type) {
	case *parse.Exists:
		sub, err := b.subquery(t.Query, n, sc, true)
		if err != nil {
			return nil, nil, err
		}
		n, err := b.semi(n, sub, not, sub.on, t.At)
		return n, sc, err
	case *parse.In:
		if t.Query != nil {
			return b.member(n, sc, t, not != t.Not)
		}
	}
	n, sc, values, err := b.subqueryValues(n, sc, c)
	if err != nil {
		return nil, nil, err
	}
	x := &exprBinder{b: b, scope: sc, clause: "WHERE", aliases: aliases, values: values}
	cond, err := x.condition(c)
	if err != nil {
		return nil, nil, err
	}
	return newFilter(n, cond, c.Pos()), sc, nil
}

// membership is x = ANY (query) as x IN (query), x <> ALL (query) as x NOT IN (query),
// and nil for other comparisons.
func membership(q *parse.Quantified) *parse.In {
	if q.Op == parse.Equal && !q.All || q.Op == parse.NotEqual && q.All {
		return &parse.In{Place: q.Place, Arg: q.Arg, Not: q.All, Query: q.Query}
	}
	return nil
}

// semi is the semi join, or with not the anti join, of n and a subquery.
func (b *binder) semi(n Node, sub *subquery, not bool, on []expr.Expr, at errs.Position) (Node, error) {
	kind := SemiJoin
	if not {
		kind = AntiJoin
	}
	var cond expr.Expr
	if len(on) > 0 {
		cond = expr.And(on...)
		if !expr.Deterministic(cond) {
			return nil, unsupported(at, "a condition that gives another result each time, between a query and its subquery, is")
		}
	}
	return newJoin(kind, n, sub.node, cond, at), nil
}

// subquery is a query inside an expression.
type subquery struct {
	node Node
	// width is the number of columns of the query around it.
	width int
	// items are its columns, over the columns of the query around it, followed by
	// those of node.
	items []expr.Expr
	// on are its conditions that read columns of the query around it.
	on         []expr.Expr
	correlated bool
}

// subquery binds a query inside an expression over the columns of around, which outer
// names. exists says that only the number of its rows matters.
func (b *binder) subquery(q *parse.Query, around Node, outer *scope, exists bool) (*subquery, error) {
	n, err := b.query(q)
	if err == nil {
		return &subquery{node: n, width: len(outer.fields), items: shiftedColumns(n, len(outer.fields))}, nil
	}
	if errs.CodeOf(err) != errs.NotFound {
		return nil, err
	}
	// What only its WHERE and its list read becomes a condition of the join.
	sub, err := b.correlated(q, outer, exists)
	if code := errs.CodeOf(err); code != errs.Unsupported && code != errs.NotFound {
		return sub, err
	}
	return b.dependentSubquery(q, around, outer)
}

// dependentSubquery is a subquery that reads columns of around anywhere.
func (b *binder) dependentSubquery(q *parse.Query, around Node, outer *scope) (*subquery, error) {
	n, read, err := b.dependent(q, around, outer)
	if err != nil {
		return nil, err
	}
	first := len(n.Schema()) - len(read)
	sub := &subquery{node: n, width: len(outer.fields), items: shiftedColumns(n, len(outer.fields))[:first], correlated: true}
	sub.on, err = sameDomain(around, n, read, first, q.At)
	return sub, err
}

// shiftedColumns are the columns of n behind so many others.
func shiftedColumns(n Node, by int) []expr.Expr {
	cols := columns(n)
	for i, c := range cols {
		cols[i] = expr.Remap(c, func(i int) int { return i + by })
	}
	return cols
}

// correlated binds a subquery that reads columns of outer in WHERE or in its list.
func (b *binder) correlated(q *parse.Query, outer *scope, exists bool) (*subquery, error) {
	s, err := correlatedSelect(q, exists)
	if err != nil {
		return nil, err
	}
	n, sc, err := b.from(s.From)
	for err != nil && exists && errs.CodeOf(err) == errs.NotFound {
		// A left join loses no row of its left side: whether there are rows does not
		// depend on its condition, which may read outer.
		j, ok := s.From.(*parse.Join)
		if !ok || j.Kind != parse.LeftJoin {
			break
		}
		left := *s
		left.From = j.Left
		s = &left
		n, sc, err = b.from(s.From)
	}
	if err != nil {
		return nil, err
	}
	sub := &subquery{width: len(outer.fields), correlated: true}
	if sub.node, sub.on, err = b.where(n, sc, s, outer); err != nil {
		return nil, err
	}
	if exists {
		return sub, nil
	}
	x := &exprBinder{b: b, scope: sc, outer: outer, clause: "SELECT"}
	for _, it := range s.Items {
		if it.Star {
			cols, err := sc.star(it)
			if err != nil {
				return nil, err
			}
			for _, c := range cols {
				sub.items = append(sub.items, expr.Remap(c.expr, func(i int) int { return i + len(outer.fields) }))
			}
			continue
		}
		e, err := x.bind(it.Expr)
		if err != nil {
			return nil, err
		}
		sub.items = append(sub.items, e)
	}
	return sub, nil
}

// correlatedSelect is the one SELECT of a correlated subquery, whose rows are those
// of FROM that meet a condition. There are groups, and a first row, where there are
// rows.
func correlatedSelect(q *parse.Query, exists bool) (*parse.Select, error) {
	s, ok := q.Body.(*parse.Select)
	what := ""
	limited := q.Limit != nil || q.Offset != nil
	if first, literal := q.Limit.(*parse.Literal); exists && literal && q.Offset == nil && strings.Trim(first.Text, "0") != "" {
		limited = false
	}
	grouped := ok && (s.Grouped && !(exists && len(s.GroupBy) > 0) || s.Having != nil)
	switch {
	case !ok:
		what = "UNION, INTERSECT, EXCEPT or VALUES"
	case len(q.With) > 0:
		what = "WITH"
	case limited:
		what = "LIMIT"
	case grouped:
		what = "GROUP BY or HAVING"
	case s.Qualify != nil || len(s.Windows) > 0:
		what = "windows"
	default:
		return s, nil
	}
	return nil, unsupported(q.Pos(), "%s in a subquery that reads columns of the query around it is", what).
		WithHint("write a join with a query in FROM")
}

// member is n with the rows whose value is, or with not surely is not, among those of
// a subquery.
func (b *binder) member(n Node, sc *scope, e *parse.In, not bool) (Node, *scope, error) {
	n, sc, values, err := b.subqueryValues(n, sc, e.Arg)
	if err != nil {
		return nil, nil, err
	}
	sub, err := b.subquery(e.Query, n, sc, false)
	if err != nil {
		return nil, nil, err
	}
	equal, nullable, err := b.comparison(sub, sc, e, values)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case !not || !nullable:
		n, err = b.semi(n, sub, not, slices.Concat(sub.on, equal), e.At)
		return n, sc, err
	case sub.correlated || len(equal) > 1:
		// A comparison with NULL is neither TRUE nor FALSE: then the value may be there.
		maybe, err := expr.Apply("IS NOT FALSE", e.At, expr.And(equal...))
		if err != nil {
			return nil, nil, err
		}
		n, err = b.semi(n, sub, not, append(slices.Clone(sub.on), maybe), e.At)
		return n, sc, err
	}
	// Without correlation the keys stay keys: whether there is any value, and whether
	// there is a NULL, are questions about the whole subquery.
	anti, err := b.semi(n, sub, not, equal, e.At)
	if err != nil {
		return nil, nil, err
	}
	n, sc, facts, err := b.facts(anti, sc, sub, false, e.At)
	if err != nil {
		return nil, nil, err
	}
	arg := leftOf(equal[0], len(anti.Schema()))
	cond, err := facts.surelyNot(arg, e.At)
	if err != nil {
		return nil, nil, err
	}
	return newFilter(n, cond, e.At), sc, nil
}

// comparison is the equality of each column of the subquery of IN with the value on the
// left, over the columns of sc followed by those of the subquery.
func (b *binder) comparison(sub *subquery, sc *scope, e *parse.In, values map[parse.Expr]expr.Expr) (equal []expr.Expr, nullable bool, err error) {
	args := []parse.Expr{e.Arg}
	if row, ok := e.Arg.(*parse.Row); ok {
		args = row.Items
	}
	if len(sub.items) != len(args) {
		return nil, false, errs.New(errs.Type, e.Query.Pos(), "the subquery of IN has %s, the left side %s", count(len(sub.items), "column"), count(len(args), "value"))
	}
	x := &exprBinder{b: b, scope: sc, clause: "IN", values: values}
	for i, a := range args {
		arg, err := x.bind(a)
		if err != nil {
			return nil, false, err
		}
		eq, err := x.call("=", e.At, arg, sub.items[i])
		if err != nil {
			return nil, false, err
		}
		equal = append(equal, eq)
		nullable = nullable || !arg.Type().NotNull || !sub.items[i].Type().NotNull
	}
	return equal, nullable, nil
}

// leftOf is the side of an equality that reads columns below width, or none.
func leftOf(equal expr.Expr, width int) expr.Expr {
	args := equal.(*expr.Call).Args
	if within(args[0], 0, width) {
		return args[0]
	}
	return args[1]
}

// extended has the further columns of n, which no name means.
func (s *scope) extended(n Node) *scope {
	out := *s
	out.fields, out.tables = slices.Clone(s.fields), append(slices.Clone(s.tables), tableRef{pos: n.Pos()})
	for _, c := range n.Schema()[len(s.fields):] {
		out.fields = append(out.fields, field{table: len(s.tables), name: c.Name, typ: c.Type, hidden: true})
	}
	return &out
}

// facts are columns with what is known of all rows of a subquery of one column.
type facts struct {
	some            expr.Expr // NULL when it has no row
	null            expr.Expr // NULL when it has no NULL
	least, greatest expr.Expr // values, if they were asked for
}

// facts adds them to n, for the rows of the subquery that match a row of n.
func (b *binder) facts(n Node, sc *scope, sub *subquery, extremes bool, at errs.Position) (Node, *scope, *facts, error) {
	matches, err := equalities(sub.width, sub.node, sub.on)
	if err != nil {
		return nil, nil, nil, err
	}
	if !within(sub.items[0], sub.width, sub.width+len(sub.node.Schema())) {
		return nil, nil, nil, unsupported(at, "a subquery whose value depends on the rows around it, here, is")
	}
	value := expr.Remap(sub.items[0], func(i int) int { return i - sub.width })
	one := &expr.Literal{Value: int64(1), T: sqltype.IntType.Required(), At: at}
	isNull, err := expr.Apply("IS NULL", at, value)
	if err != nil {
		return nil, nil, nil, err
	}
	oneIfNull, err := expr.NewCase([]expr.When{{Cond: isNull, Then: one}}, nil, at)
	if err != nil {
		return nil, nil, nil, err
	}
	keys, names := rights(matches)
	in := newCalc(copied(sub.node), nil, append(keys, one, oneIfNull, value), append(names, "some", "null", "value"), at)
	var aggs []*expr.Aggregate
	aggregate := func(name string, column int) {
		f, _ := function.LookupAggregate(name)
		a, fail := expr.NewAggregate(f, at, false, nil, columns(in)[len(keys)+column])
		if aggs = append(aggs, a); fail != nil {
			err = fail
		}
	}
	aggregate("MAX", 0)
	aggregate("MAX", 1)
	names = append(names[:len(keys):len(keys)], "some", "null")
	if extremes {
		aggregate("MIN", 2)
		aggregate("MAX", 2)
		names = append(names, "least", "greatest")
	}
	if err != nil {
		return nil, nil, nil, err
	}
	agg := newAggregate(in, upTo(len(keys)), aggs, names[len(keys):], at)
	if len(matches) == 0 {
		n = newJoin(InnerJoin, n, agg, nil, at) // it always has its row
	} else if n, err = leftJoinOn(n, agg, matches, at); err != nil {
		return nil, nil, nil, err
	}
	sc = sc.extended(n)
	first := len(n.Schema()) - len(agg.schema) + len(keys)
	f := &facts{some: sc.column(first, at), null: sc.column(first+1, at)}
	if extremes {
		f.least, f.greatest = sc.column(first+2, at), sc.column(first+3, at)
	}
	return n, sc, f, nil
}

// maxOf is one row with the greatest values of all columns of n, NULL without rows.
func maxOf(n Node, at errs.Position) (Node, error) {
	greatest, _ := function.LookupAggregate("MAX")
	var aggs []*expr.Aggregate
	var names []string
	for i, c := range columns(n) {
		a, err := expr.NewAggregate(greatest, at, false, nil, c)
		if err != nil {
			return nil, err
		}
		aggs, names = append(aggs, a), append(names, n.Schema()[i].Name)
	}
	return newAggregate(n, nil, aggs, names, at), nil
}

// surelyNot is the condition that a value which equals none of the subquery is not
// among them, though some may be NULL: there is no row, or no NULL on either side.
func (f *facts) surelyNot(arg expr.Expr, at errs.Position) (expr.Expr, error) {
	none, err := expr.Apply("IS NULL", at, f.some)
	if err != nil {
		return nil, err
	}
	known, err := expr.Apply("IS NOT NULL", at, arg)
	if err != nil {
		return nil, err
	}
	noNull, err := expr.Apply("IS NULL", at, f.null)
	if err != nil {
		return nil, err
	}
	both, err := expr.Apply("AND", at, known, noNull)
	if err != nil {
		return nil, err
	}
	return expr.Apply("OR", at, none, both)
}

// correlated is a column of the subquery's FROM, or else of the query around it.
func (x *exprBinder) correlated(e *parse.ColumnRef) (expr.Expr, error) {
	inner, outer := *x, exprBinder{b: x.b, scope: x.outer, clause: x.clause}
	inner.outer = nil
	c, err := inner.column(e)
	if err == nil {
		return expr.Remap(c, func(i int) int { return i + len(x.outer.fields) }), nil
	}
	if errs.CodeOf(err) != errs.NotFound {
		return nil, err
	}
	o, none := outer.column(e)
	if none != nil && (len(e.Name) == 1 || len(x.outer.match(e.Name[:len(e.Name)-1])) == 0) {
		return nil, err
	}
	return o, none
}
