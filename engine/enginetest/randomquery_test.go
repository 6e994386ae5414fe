package enginetest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
)

// term is an expression of a random query: a pattern with a %s for each argument.
type term struct {
	pattern string
	args    []*term
	typ     sqltype.Type // only its ID and, of integers, its width matter
	// most is a bound of the absolute value of a number. inexact says that an
	// approximate value has rounding errors, so that sums depend on the order.
	most    float64
	inexact bool
}

func (t *term) String() string {
	args := make([]any, len(t.args))
	for i, a := range t.args {
		args[i] = a.String()
	}
	return fmt.Sprintf(t.pattern, args...)
}

// item is a term of a SELECT list with its name.
type item struct {
	*term
	name string
}

// from is a table or subquery in FROM. All but the first are joined ON conditions.
type from struct {
	table string
	sub   *query
	alias string
	// window is a window table function with a %s for its table, or "".
	window string
	join   string // of all but the first
	on     []*term
}

// query is a SELECT, or, when it has sides, a set operation on them.
type query struct {
	sides    []*query
	set      string
	items    []item
	distinct bool
	froms    []from
	where    *term
	grouped  bool
	keys     []*term
	// sets is what becomes of the keys behind the first fixed ones: ROLLUP, CUBE or "".
	sets    string
	fixed   int
	having  *term
	qualify string
	limit   string

	rows float64 // a bound of the number of rows
}

func (q *query) String() string {
	if q.sides != nil {
		parts := make([]string, len(q.sides))
		for i, s := range q.sides {
			parts[i] = s.String()
		}
		return strings.Join(parts, q.set)
	}
	var s strings.Builder
	s.WriteString("SELECT ")
	if q.distinct {
		s.WriteString("DISTINCT ")
	}
	for i, it := range q.items {
		if i > 0 {
			s.WriteString(", ")
		}
		fmt.Fprintf(&s, "%s AS %s", it.term, it.name)
	}
	for i, f := range q.froms {
		if i == 0 {
			f.join = " FROM "
		}
		s.WriteString(f.join)
		s.WriteString(f.String())
		for k, on := range f.on {
			fmt.Fprintf(&s, " %s %s", []string{"ON", "AND"}[min(k, 1)], on)
		}
	}
	if q.where != nil {
		fmt.Fprintf(&s, " WHERE %s", q.where)
	}
	for i, k := range q.keys {
		s.WriteString([]string{" GROUP BY ", ", "}[min(i, 1)])
		if i == q.fixed && q.sets != "" {
			s.WriteString(q.sets + " (")
		}
		s.WriteString(k.String())
	}
	if len(q.keys) > q.fixed && q.sets != "" {
		s.WriteString(")")
	}
	if q.having != nil {
		fmt.Fprintf(&s, " HAVING %s", q.having)
	}
	if q.qualify != "" {
		s.WriteString(" QUALIFY " + q.qualify)
	}
	return s.String() + q.limit
}

func (f from) String() string {
	table := f.table
	switch {
	case f.sub != nil:
		table = fmt.Sprintf("(%s)", f.sub)
	case f.window != "":
		table = "TABLE " + table
	}
	if f.window != "" {
		table = fmt.Sprintf("TABLE("+f.window+")", table)
	}
	return table + " AS " + f.alias
}

// limits reports whether the query or a part of it has a LIMIT.
func (q *query) limits() bool {
	return q.limit != "" || slices.ContainsFunc(q.sides, (*query).limits) ||
		slices.ContainsFunc(q.froms, func(f from) bool { return f.sub != nil && f.sub.limits() })
}

// order is a list for ORDER BY that leaves nothing open.
func (q *query) order(r *rand.Rand) string {
	var keys []string
	for _, i := range r.Perm(len(q.items)) {
		keys = append(keys, q.items[i].name+[]string{"", " DESC"}[r.IntN(2)]+[]string{"", " NULLS LAST", " NULLS FIRST"}[r.IntN(3)])
	}
	return strings.Join(keys, ", ")
}

// clone copies the query so that clauses and terms can be replaced.
func (q *query) clone() *query {
	c := *q
	c.items, c.keys = slices.Clone(q.items), slices.Clone(q.keys)
	c.sides, c.froms = slices.Clone(q.sides), slices.Clone(q.froms)
	for i, s := range c.sides {
		c.sides[i] = s.clone()
	}
	for i, f := range c.froms {
		c.froms[i].on = slices.Clone(f.on)
		if f.sub != nil {
			c.froms[i].sub = f.sub.clone()
		}
	}
	return &c
}

// grammar draws queries over tables.
type grammar struct {
	r       *rand.Rand
	tables  []*randomTable
	types   []sqltype.Type // of most terms
	aliases int
	leaves  int // tables that the query may still read
	forms   []form
	scope   []*term
}

func (g *grammar) chance(n int) bool { return g.r.IntN(n) == 0 }

func (g *grammar) pick(words ...string) string { return words[g.r.IntN(len(words))] }

// query draws a query with subqueries at most depth deep. With like it has columns
// of the same types and names as that one, to be united with it.
func (g *grammar) query(depth int, like *query) *query {
	q := &query{}
	g.from(q, depth)
	scope := g.scope
	if g.chance(3) {
		q.where = g.boolean(g.r.IntN(3))
	}
	if like == nil && g.chance(2) {
		g.group(q)
	} else {
		g.list(q, like)
		q.distinct = like == nil && g.chance(6)
	}
	if like == nil && !q.distinct && g.chance(5) {
		g.rank(q)
	}
	if like == nil && g.aliases > 1 && g.chance(15) {
		q.limit = g.pick(" LIMIT 2", " LIMIT 4 OFFSET 1")
	} else if depth > 0 && g.leaves > 0 && like == nil && g.chance(4) {
		u := &query{sides: []*query{q}, set: " UNION ALL ", rows: q.rows, items: slices.Clone(q.items)}
		if g.chance(2) {
			u.set = g.pick(" UNION ", " INTERSECT ", " INTERSECT ALL ", " EXCEPT ", " EXCEPT ALL ")
		}
		for range 1 + g.r.IntN(2) {
			side := g.query(depth-1, q)
			u.sides = append(u.sides, side)
			u.rows += side.rows
			for i, it := range side.items {
				both := *u.items[i].term
				both.most = max(both.most, it.most)
				both.inexact = both.inexact || it.inexact
				u.items[i].term = &both
			}
		}
		q = u
	}
	g.scope = scope
	return q
}

// from draws FROM, and leaves its columns in the scope.
func (g *grammar) from(q *query, depth int) {
	g.scope = nil
	q.rows = 1
	joined := 1
	if g.leaves > 1 && g.chance(2) {
		joined += 1 + g.r.IntN(2)
	}
	var scope []*term
	for len(q.froms) < joined && (g.leaves > 0 || len(q.froms) == 0) {
		f := from{alias: fmt.Sprintf("a%d", g.aliases), join: " JOIN "}
		if g.chance(3) {
			f.join = g.pick(" LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ")
		}
		g.aliases++
		var cols []*term
		rows := 0.0
		if depth > 0 && g.chance(2) {
			f.sub = g.query(depth-1, nil)
			for _, it := range f.sub.items {
				cols = append(cols, &term{pattern: f.alias + "." + it.name, typ: it.typ, most: it.most, inexact: it.inexact})
			}
			rows = f.sub.rows
		} else {
			g.leaves--
			t := g.tables[g.r.IntN(len(g.tables))]
			f.table = t.name
			for _, c := range t.schema {
				cols = append(cols, &term{pattern: f.alias + "." + c.Name, typ: c.Type, most: 2 * most})
			}
			rows = float64(len(t.steps))
		}
		if len(q.froms) > 0 {
			if f.on = g.on(scope, cols); f.on == nil {
				break
			}
		}
		scope = append(scope, cols...)
		q.rows *= rows
		if len(q.froms) > 0 {
			q.rows += rows
		}
		q.froms = append(q.froms, f)
	}
	g.scope = scope
}

// on draws the conditions of a join: an equality of the two sides at least.
func (g *grammar) on(left, right []*term) (on []*term) {
	for range 20 {
		l, r := left[g.r.IntN(len(left))], right[g.r.IntN(len(right))]
		if comparable(l.typ, r.typ) && l.typ.ID != sqltype.Boolean {
			op := "="
			if g.chance(8) {
				op = "IS NOT DISTINCT FROM"
			}
			on = append(on, apply("%s "+op+" %s", sqltype.BoolType, l, r))
			break
		}
	}
	if on != nil && g.chance(4) {
		g.scope = slices.Concat(left, right)
		on = append(on, g.boolean(1))
	}
	return on
}

// comparable reports whether values of the types are compared without rounding.
func comparable(a, b sqltype.Type) bool {
	exact := func(t sqltype.Type) bool { return t.IsInteger() || t.ID == sqltype.Decimal }
	return a.ID == b.ID && !a.IsNested() || a.Equal(b) || exact(a) && exact(b) || a.IsString() && b.IsString()
}

func apply(pattern string, t sqltype.Type, args ...*term) *term {
	out := &term{pattern: pattern, args: args, typ: t}
	for _, a := range args {
		out.most = max(out.most, a.most)
		out.inexact = out.inexact || a.inexact
	}
	return out
}

func (g *grammar) list(q *query, like *query) {
	if like != nil {
		for _, it := range like.items {
			q.items = append(q.items, item{g.term(it.typ, 1), it.name})
		}
		return
	}
	if g.chance(2) {
		g.forward(q)
	}
	for range 1 + g.r.IntN(4) {
		g.item(q, g.term(g.randomType(), 2))
	}
}

// rank draws a number of the rows in an order, and a condition on it. Where rows that are
// equal in the order have different numbers, the order has everything.
func (g *grammar) rank(q *query) {
	from := g.scope
	if q.grouped {
		from = nil
		for _, it := range q.items {
			from = append(from, it.term)
		}
	}
	total := true
	var exact []*term
	for _, t := range from {
		if t.inexact || t.typ.IsNested() || t.typ.ID == sqltype.Float || t.typ.ID == sqltype.Double {
			total = false
			continue
		}
		exact = append(exact, t)
	}
	if len(exact) == 0 {
		return
	}
	function := g.pick("RANK()", "DENSE_RANK()")
	order := 1 + g.r.IntN(min(len(exact), 2))
	if total && g.chance(2) {
		function, order = "ROW_NUMBER()", len(exact)
	}
	var window strings.Builder
	for i := range g.r.IntN(3) {
		fmt.Fprintf(&window, "%s%s", []string{"PARTITION BY ", ", "}[min(i, 1)], exact[g.r.IntN(len(exact))])
	}
	for i, k := range g.r.Perm(len(exact))[:order] {
		fmt.Fprintf(&window, "%s%s%s%s", []string{" ORDER BY ", ", "}[min(i, 1)], exact[k], g.pick("", " DESC"), g.pick("", " NULLS LAST", " NULLS FIRST"))
	}
	number := fmt.Sprintf("%s OVER (%s)", function, window.String())
	if g.chance(2) {
		it := &term{pattern: strings.ReplaceAll(number, "%", "%%"), typ: sqltype.BigIntType.Required(), most: most}
		g.item(q, it)
		number = q.items[len(q.items)-1].name
	}
	q.qualify = number + g.pick(" <= 2", " = 1", " < 4", " BETWEEN 2 AND 3", " > 1", " <> 2", " <= 2")
}

// forward lists the keys of the tables, so that the result may have one.
func (g *grammar) forward(q *query) {
	for _, f := range q.froms {
		for _, t := range g.tables {
			for i := range t.key {
				if name := f.alias + "." + t.schema[i].Name; t.name == f.table {
					k := slices.IndexFunc(g.scope, func(c *term) bool { return c.pattern == name })
					g.item(q, g.scope[k])
				}
			}
		}
	}
}

func (g *grammar) item(q *query, t *term) {
	q.items = append(q.items, item{t, fmt.Sprintf("x%d", len(q.items))})
}

// randomType is the type of a column in scope, mostly.
func (g *grammar) randomType() sqltype.Type {
	if g.chance(4) {
		return g.types[g.r.IntN(len(g.types))]
	}
	return g.scope[g.r.IntN(len(g.scope))].typ
}

// group draws GROUP BY with keys, aggregates and HAVING. The keys come first in the
// SELECT list.
func (g *grammar) group(q *query) {
	q.grouped = true
	for range g.r.IntN(3) {
		k := g.scope[g.r.IntN(len(g.scope))]
		if g.chance(4) {
			if e := g.term(k.typ, 1); e.reads() {
				k = e
			}
		}
		if !slices.ContainsFunc(q.keys, func(o *term) bool { return o.String() == k.String() }) {
			q.keys = append(q.keys, k)
			g.item(q, k)
		}
	}
	var aggs []*term
	for range 1 + g.r.IntN(3) {
		aggs = append(aggs, g.aggregate(q.rows))
	}
	g.scope = slices.Concat(q.keys, aggs)
	for _, a := range aggs {
		if g.chance(4) {
			a = g.term(a.typ, 1)
		}
		g.item(q, a)
	}
	if g.chance(3) {
		q.having = g.boolean(1)
	}
	if len(q.keys) == 0 {
		q.rows = 1
	}
}

// reads reports whether the term has a column.
func (t *term) reads() bool {
	return len(t.args) == 0 && strings.HasPrefix(t.pattern, "a") || slices.ContainsFunc(t.args, (*term).reads)
}

func (g *grammar) aggregate(rows float64) *term {
	distinct := ""
	if g.chance(4) {
		distinct = "DISTINCT "
	}
	a := g.term(g.randomType(), 1)
	count := sqltype.BigIntType
	var t *term
	switch g.r.IntN(7) {
	case 6:
		if a.typ.IsNested() || !g.chance(2) {
			break
		}
		if t = apply(g.pick("FIRST_VALUE", "LAST_VALUE")+"("+distinct+"%s)", a.typ, a); a.typ.IsString() && g.chance(2) {
			t = apply("LISTAGG("+distinct+"%s"+g.pick("", ", '|'")+")", sqltype.StringType, a)
		}
	case 0:
		t = &term{pattern: "COUNT(*)", typ: count, most: rows}
	case 1:
		t = apply("COUNT("+distinct+"%s)", count, a)
		t.most, t.inexact = rows, false
	case 2, 3:
		name := g.pick("SUM", "AVG")
		if !a.typ.IsNumeric() || a.inexact || a.typ.ID == sqltype.Float {
			break
		}
		if a.typ.ID == sqltype.TinyInt || a.typ.ID == sqltype.SmallInt || a.typ.ID == sqltype.Integer && a.most*rows >= 1<<31 {
			a = apply("CAST(%s AS BIGINT)", sqltype.BigIntType, a)
		}
		if a.most*rows > 1e12 {
			break
		}
		t = apply(name+"("+distinct+"%s)", a.typ, a)
		t.most *= rows
		t.inexact = a.typ.ID == sqltype.Double && name == "AVG"
	}
	if t == nil && a.typ.IsNested() {
		t = &term{pattern: "COUNT(%s)", args: []*term{a}, typ: count, most: rows}
	} else if t == nil {
		t = apply(g.pick("MIN", "MAX")+"("+distinct+"%s)", a.typ, a)
	}
	if g.chance(5) {
		t = apply("%s FILTER (WHERE %s)", t.typ, t, g.boolean(1))
		t.most, t.inexact = t.args[0].most, t.args[0].inexact
	}
	return t
}
