package plan

import (
	"slices"
	"strconv"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// item is an output column of a SELECT, bound over the columns of FROM.
type item struct {
	expr expr.Expr
	name string
	// alias says that the name was given with AS, star that * did.
	alias, star bool
}

// selectBlock binds one SELECT, with the ORDER BY behind it.
func (b *binder) selectBlock(s *parse.Select, order []parse.OrderItem) (ordered, error) {
	hints, err := stateTTL(s)
	if err != nil {
		return ordered{}, err
	}
	outer, asked := b.ttl, b.lookups
	b.ttl, b.lookups = hints, lookupHints(s)
	defer func() { b.ttl, b.lookups = outer, asked }()
	if b.domain == nil && b.groupsFirst(s, order) {
		return b.groupedBelow(s, order)
	}
	in, sc, err := b.source(s)
	if err != nil {
		return ordered{}, err
	}
	from := in
	if in, _, err = b.where(in, sc, s, nil); err != nil {
		return ordered{}, err
	}
	findIntervalJoins(in, nil)
	in, sc, values, err := b.selectValues(in, sc, s)
	if err != nil {
		return ordered{}, err
	}
	if in, sc, err = b.groupWindow(in, sc, s); err != nil {
		return ordered{}, err
	}
	return b.list(s, order, in, sc, values, from)
}

// list binds the list of a SELECT over the rows of in, which sc names, and what follows
// WHERE. values are those of the subqueries.
func (b *binder) list(s *parse.Select, order []parse.OrderItem, in Node, sc *scope, values map[parse.Expr]expr.Expr, from Node) (ordered, error) {
	around := b.domain.columns()
	g, ov := &grouping{input: in, scope: sc, values: values, keys: around}, &overs{windows: s.Windows}
	items, err := b.items(s, sc, g, ov)
	if err != nil {
		return ordered{}, err
	}
	var having expr.Expr
	if s.Having != nil {
		x := &exprBinder{b: b, scope: sc, clause: "HAVING", aggs: g, aliases: aliases(s)}
		if having, err = x.condition(s.Having); err != nil {
			return ordered{}, err
		}
	}
	if len(values) > 0 && (s.Grouped || len(g.aggs) > 0) {
		for e := range values {
			return ordered{}, unsupported(e.Pos(), "a subquery in the SELECT list of an aggregation, in a subquery that depends on rows around it, is").WithHint("put the aggregation in a query in FROM")
		}
	}
	if s.Grouped {
		if err := b.groupBy(s, sc, items, g); err != nil {
			return ordered{}, err
		}
		if sc.window != nil {
			sc.window.partition(g.keys)
		}
	}
	width := len(items)
	qualify, err := b.qualify(s, sc, items, g, ov)
	if err != nil {
		return ordered{}, err
	}
	x := &exprBinder{b: b, scope: sc, clause: "ORDER BY", aggs: g, overs: ov, values: values}
	items, keys, err := x.orderBy(order, items)
	if err != nil {
		return ordered{}, err
	}
	if s.Distinct && len(items) > width {
		return ordered{}, errs.New(errs.Invalid, items[width].expr.Pos(), "ORDER BY %s is not in the list of SELECT DISTINCT", items[width].name).
			WithHint("of the rows that are one in the result it could be different")
	}
	domain := upTo(len(items) + len(around))[len(items):]
	for i, e := range around {
		items = append(items, item{expr: sc.column(i, e.Pos()), name: domainName(i)})
	}
	for _, c := range ov.calls {
		c.partition = append(c.partition, around...)
	}
	n := in
	if s.Grouped || len(g.aggs) > 0 || len(g.calls) > 0 || having != nil {
		if n, err = g.plan(s, items, &having); err != nil {
			return ordered{}, err
		}
		if len(around) > 0 && len(s.GroupBy) == 0 {
			if len(ov.calls) > 0 {
				return ordered{}, unsupported(s.At, "OVER above an aggregation without GROUP BY, in a subquery that depends on rows around it, is")
			}
			es := []*expr.Expr{&having}
			for i := range items {
				es = append(es, &items[i].expr)
			}
			if n, err = b.everyGroup(n, s.At, es...); err != nil {
				return ordered{}, err
			}
		}
		if err = ov.group(g); err == nil && qualify != nil {
			qualify, err = g.over(qualify, "QUALIFY")
		}
		if err != nil {
			return ordered{}, err
		}
	}
	if len(ov.calls) > 0 {
		n, having = ov.below(n, items, having, qualify)
	}
	exprs, names := itemExprs(items)
	n = newCalc(n, having, exprs, names, s.At)
	if s.Distinct {
		n = newDistinct(n, s.At)
	}
	b.hintAggregates(s, n, from)
	return ordered{n, keys, width, domain}, nil
}

// domainName names column i of a domain where it is carried along.
func domainName(i int) string { return "$around" + strconv.Itoa(i) }

// aliases are the names that the SELECT list gives, to explain why a clause does
// not know them.
func aliases(s *parse.Select) map[string]bool {
	out := map[string]bool{}
	for _, it := range s.Items {
		if !it.Alias.IsZero() {
			out[it.Alias.Value] = true
		}
	}
	return out
}

// items binds the SELECT list. Aggregates are collected in g.
func (b *binder) items(s *parse.Select, sc *scope, g *grouping, ov *overs) ([]item, error) {
	x := &exprBinder{b: b, scope: sc, clause: "SELECT", aggs: g, overs: ov, aliases: aliases(s), values: g.values}
	var out []item
	for _, it := range s.Items {
		if it.Star {
			cols, err := sc.star(it)
			if err != nil {
				return nil, err
			}
			out = append(out, cols...)
			continue
		}
		e, err := x.bind(it.Expr)
		if err != nil {
			return nil, err
		}
		out = append(out, item{expr: e, name: itemName(it, len(out)), alias: !it.Alias.IsZero()})
	}
	return out, nil
}

// itemName is the alias, the name of a plain column, or EXPR$n.
func itemName(it parse.SelectItem, n int) string {
	if !it.Alias.IsZero() {
		return it.Alias.Value
	}
	switch e := it.Expr.(type) {
	case *parse.ColumnRef:
		return e.Name.Last().Value
	case *parse.FieldRef:
		return e.Field.Value
	}
	return "EXPR$" + strconv.Itoa(n)
}

// star lists the columns of * or t.*.
func (s *scope) star(it parse.SelectItem) ([]item, error) {
	if len(s.tables) == 0 {
		return nil, errs.New(errs.Invalid, it.At, "* needs a FROM")
	}
	only := -1
	if len(it.Qualifier) > 0 {
		tables := s.match(it.Qualifier)
		if len(tables) == 0 {
			return nil, s.noTable(append(slices.Clone(it.Qualifier), parse.Ident{Value: "*"}))
		}
		only = tables[0]
	}
	var out []item
	add := func(i int) {
		out = append(out, item{expr: s.column(i, it.At), name: s.fields[i].name, star: true})
	}
	if only < 0 {
		for _, i := range s.using {
			add(i)
		}
	}
	for i, f := range s.fields {
		switch {
		case only >= 0 && f.table != only:
		case only < 0 && (f.hidden || slices.Contains(s.using, i)):
		default:
			add(i)
		}
	}
	return out, nil
}

// grouping collects what an Aggregate has to compute. While a SELECT is bound, a
// reference to aggregate i stands as column len(scope.fields)+i.
type grouping struct {
	input Node
	scope *scope
	keys  []expr.Expr
	sets  [][]int // of keys, when there are several grouping sets
	calls []groupingCall
	aggs  []*expr.Aggregate
	// values are those of the subqueries of the SELECT list.
	values map[parse.Expr]expr.Expr

	keyNames, aggNames []string
}

// add returns the stand-in for an aggregate; equal ones are computed once.
func (g *grouping) add(a *expr.Aggregate) expr.Expr {
	i := slices.IndexFunc(g.aggs, func(have *expr.Aggregate) bool { return equalAggregates(have, a) })
	if i < 0 {
		i = len(g.aggs)
		g.aggs = append(g.aggs, a)
	}
	return &expr.Column{Index: len(g.scope.fields) + i, Name: a.String(), T: a.T, At: a.At}
}

func equalAggregates(a, b *expr.Aggregate) bool {
	return a.Func == b.Func && a.Distinct == b.Distinct && slices.EqualFunc(a.Args, b.Args, expr.Equal) &&
		(a.Filter == nil) == (b.Filter == nil) && (a.Filter == nil || expr.Equal(a.Filter, b.Filter))
}

func (b *binder) groupKey(s *parse.Select, sc *scope, items []item, g *grouping, e parse.Expr) (expr.Expr, error) {
	var chosen *item
	if lit, ok := e.(*parse.Literal); ok && lit.Kind == parse.IntLiteral {
		n, err := strconv.Atoi(lit.Text)
		if err != nil || n < 1 || n > len(items) {
			return nil, errs.New(errs.Invalid, lit.At, "GROUP BY %s is no position in the SELECT list", lit.Text).WithHint("it has %s", count(len(items), "column"))
		}
		chosen = &items[n-1]
	}
	if ref, ok := e.(*parse.ColumnRef); ok && len(ref.Name) == 1 {
		name := ref.Name[0].Value
		if !slices.ContainsFunc(sc.fields, func(f field) bool { return f.name == name && !f.hidden }) {
			i := slices.IndexFunc(items, func(it item) bool { return it.name == name && !it.star })
			if i >= 0 {
				chosen = &items[i]
			}
		}
	}
	if chosen == nil {
		x := &exprBinder{b: b, scope: sc, clause: "GROUP BY"}
		return x.bind(e)
	}
	for _, c := range expr.Columns(chosen.expr) {
		if c < 0 || c >= len(sc.fields) {
			return nil, errs.New(errs.Invalid, e.Pos(), "GROUP BY %s names the aggregate %s", parse.Format(e), chosen.expr).
				WithHint("group by columns of FROM")
		}
	}
	return chosen.expr, nil
}

// plan builds Calc and Aggregate below the SELECT list, and rewrites the list and
// HAVING to read the aggregate's output.
func (g *grouping) plan(s *parse.Select, items []item, having *expr.Expr) (Node, error) {
	g.name(items)
	for i := range items {
		e, err := g.over(items[i].expr, "SELECT")
		if err != nil {
			return nil, err
		}
		items[i].expr = e
	}
	if *having != nil {
		e, err := g.over(*having, "HAVING")
		if err != nil {
			return nil, err
		}
		*having = e
	}
	// The Calc below computes keys and arguments, each once.
	var exprs []expr.Expr
	var names []string
	column := func(e expr.Expr, name string) *expr.Column {
		i := slices.IndexFunc(exprs, func(have expr.Expr) bool { return expr.Equal(have, e) })
		if i < 0 {
			i = len(exprs)
			exprs, names = append(exprs, e), append(names, name)
		}
		return &expr.Column{Index: i, Name: names[i], T: e.Type(), At: e.Pos()}
	}
	keys := make([]int, len(g.keys))
	for i, k := range g.keys {
		keys[i] = column(k, g.keyNames[i]).Index
	}
	aggs := make([]*expr.Aggregate, len(g.aggs))
	for i, a := range g.aggs {
		c := *a
		c.Args = make([]expr.Expr, len(a.Args))
		for k, arg := range a.Args {
			if _, constant := arg.(*expr.Literal); constant && k > 0 {
				c.Args[k] = arg // such as the separator of LISTAGG
				continue
			}
			c.Args[k] = column(g.guarded(arg, a.Filter), arg.String())
		}
		if a.Filter != nil {
			c.Filter = column(a.Filter, a.Filter.String())
		}
		aggs[i] = &c
	}
	in := newCalc(g.input, nil, exprs, names, g.input.Pos())
	var below Node = in
	if len(g.sets) > 0 {
		below, keys, aggs = g.expanded(in, keys, aggs, groupPos(s, g))
	}
	return groupWindows(newAggregate(below, keys, aggs, g.aggNames, groupPos(s, g)))
}

// guarded is the argument of an aggregate on the rows that pass its FILTER, if it might
// fail on others. On those it is NULL.
func (g *grouping) guarded(arg, filter expr.Expr) expr.Expr {
	if filter == nil || expr.Cheap(arg) || !expr.Deterministic(filter) || slices.ContainsFunc(g.keys, func(k expr.Expr) bool { return expr.Equal(k, arg) }) {
		return arg
	}
	e, err := expr.NewCase([]expr.When{{Cond: filter, Then: arg}}, nil, arg.Pos())
	if err != nil {
		panic("plan: an argument behind its FILTER: " + err.Error())
	}
	return e
}

// name names keys and aggregates as the SELECT list does, or as they are written.
func (g *grouping) name(items []item) {
	g.keyNames, g.aggNames = make([]string, len(g.keys)), make([]string, len(g.aggs))
	for i, k := range g.keys {
		g.keyNames[i] = k.String()
		for _, it := range items {
			if _, column := k.(*expr.Column); !column && it.alias && expr.Equal(it.expr, k) {
				g.keyNames[i] = it.name
			}
		}
	}
	for i, a := range g.aggs {
		g.aggNames[i] = a.String()
		for _, it := range items {
			if c, ok := it.expr.(*expr.Column); ok && it.alias && c.Index == len(g.scope.fields)+i {
				g.aggNames[i] = it.name
			}
		}
	}
}

// groupPos is where the statement asks for the aggregation.
func groupPos(s *parse.Select, g *grouping) errs.Position {
	switch {
	case len(s.GroupBy) > 0:
		return s.GroupBy[0].At
	case len(g.aggs) > 0:
		return g.aggs[0].At
	}
	return s.At
}

// over rewrites an expression over the columns of FROM to one over the output of
// the Aggregate: the keys, then the aggregates.
func (g *grouping) over(e expr.Expr, clause string) (expr.Expr, error) {
	for i, k := range g.keys {
		if expr.Equal(k, e) {
			return &expr.Column{Index: i, Name: g.keyNames[i], T: g.keyType(i), At: e.Pos()}, nil
		}
	}
	switch e := e.(type) {
	case *expr.Column:
		if e.Index < 0 {
			return g.groupingValue(g.calls[-1-e.Index])
		}
		if e.Index >= overColumn {
			return e, nil
		}
		if i := e.Index - len(g.scope.fields); i >= 0 {
			return &expr.Column{Index: g.width() + i, Name: g.aggNames[i], T: e.T, At: e.At}, nil
		}
		return nil, g.notGrouped(e, clause)
	case *expr.Call:
		c := *e
		c.Args = make([]expr.Expr, len(e.Args))
		for i, a := range e.Args {
			var err error
			if c.Args[i], err = g.over(a, clause); err != nil {
				return nil, err
			}
		}
		if len(g.sets) > 0 { // a key may be NULL now
			return expr.NewCall(c.Func, c.At, c.Args...)
		}
		return &c, nil
	case *expr.Cast:
		arg, err := g.over(e.Arg, clause)
		if err != nil {
			return nil, err
		}
		c := *e
		c.Arg = arg
		c.T.NotNull = c.T.NotNull && arg.Type().NotNull
		return &c, nil
	case *expr.Case:
		c := *e
		c.Whens = make([]expr.When, len(e.Whens))
		var err error
		for i, w := range e.Whens {
			if c.Whens[i].Cond, err = g.over(w.Cond, clause); err != nil {
				return nil, err
			}
			if c.Whens[i].Then, err = g.over(w.Then, clause); err != nil {
				return nil, err
			}
		}
		if c.Else, err = g.over(e.Else, clause); err != nil {
			return nil, err
		}
		if len(g.sets) > 0 {
			return expr.NewCase(c.Whens, c.Else, c.At)
		}
		return &c, nil
	}
	return e, nil
}

func (g *grouping) notGrouped(c *expr.Column, clause string) error {
	e := errs.New(errs.Invalid, c.At, "column %q is neither grouped nor aggregated, in %s", c.Name, clause)
	if len(g.keys) == 0 {
		if len(g.aggs) > 0 {
			return e.WithHint("%s makes one row of all: add GROUP BY %s, or use MAX(%s)", g.aggs[0], c.Name, c.Name)
		}
		return e.WithHint("add GROUP BY %s, or aggregate it: MAX(%s)", c.Name, c.Name)
	}
	return e.WithHint("add it to GROUP BY, or aggregate it: MAX(%s)", c.Name)
}

// boolType reports whether t can be a condition.
func boolType(t sqltype.Type) bool { return t.ID == sqltype.Boolean || t.ID == sqltype.Null }
