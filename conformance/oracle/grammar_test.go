package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// kind is the type of an expression. What is inexact is only passed on, never
// compared: its last digits depend on the order of rows.
type kind byte

const (
	number  kind = 'n'
	double  kind = 'd'
	text    kind = 's'
	boolean kind = 'b'
	inexact kind = 'x'
)

type column struct {
	name string
	kind kind
}

// grammar draws queries in the words of both dialects. Nothing fails: divisors are
// not 0 and numbers stay small.
type grammar struct {
	r       *rand.Rand
	tables  []*table
	aliases int
	scope   []column
}

func randomQuery(seed uint64) string {
	g := &grammar{r: rand.New(rand.NewPCG(seed, 7)), tables: newTables()[:4]}
	q, cols := g.query(1)
	if g.chance(6) {
		var keys []string
		for _, i := range g.r.Perm(len(cols)) {
			if cols[i].kind == inexact {
				return q
			}
			keys = append(keys, cols[i].name+g.pick("", "", " DESC")+g.pick("", "", " NULLS FIRST", " NULLS LAST"))
		}
		q = "SELECT * FROM (" + q + ") AS q ORDER BY " + strings.Join(keys, ", ") + g.pick(" LIMIT 3", " LIMIT 5 OFFSET 1", "")
	}
	return q
}

func (g *grammar) chance(n int) bool           { return g.r.IntN(n) == 0 }
func (g *grammar) pick(words ...string) string { return pick(g.r, words...) }

// query draws a SELECT or a set operation, with its columns.
func (g *grammar) query(depth int) (string, []column) {
	outer := g.scope
	defer func() { g.scope = outer }()
	q, cols := g.selection(depth, nil)
	if !slices.ContainsFunc(cols, func(c column) bool { return c.kind == inexact }) && g.chance(6) {
		set := g.pick(" UNION ALL ", " UNION ", " INTERSECT ", " EXCEPT ")
		for range 1 + g.r.IntN(2) {
			g.scope = outer
			side, _ := g.selection(0, cols)
			q += set + side
		}
	}
	return q, cols
}

// selection draws a SELECT, with columns like the given ones.
func (g *grammar) selection(depth int, like []column) (string, []column) {
	from := g.from(depth)
	var s strings.Builder
	s.WriteString("SELECT ")
	where := ""
	if g.chance(2) {
		where = " WHERE " + g.condition(2)
	}
	var items []string
	var cols []column
	item := func(expr string, k kind) {
		cols = append(cols, column{fmt.Sprintf("x%d", len(items)), k})
		items = append(items, expr+" AS "+cols[len(items)].name)
	}
	tail := ""
	switch {
	case like != nil:
		for _, c := range like {
			item(g.term(c.kind, 1), c.kind)
		}
	case g.chance(2):
		tail = g.group(item)
	default:
		if g.chance(4) {
			s.WriteString("DISTINCT ")
		}
		for range 1 + g.r.IntN(4) {
			k := g.kind()
			item(g.term(k, 2), k)
		}
	}
	s.WriteString(strings.Join(items, ", ") + from + where + tail)
	return s.String(), cols
}

func (g *grammar) kind() kind { return []kind{number, number, double, text, boolean}[g.r.IntN(5)] }

// from draws FROM and leaves its columns in the scope.
func (g *grammar) from(depth int) string {
	s := " FROM "
	var scope []column
	for i := range 1 + max(g.r.IntN(4)-1, 0) {
		g.aliases++
		alias := fmt.Sprintf("t%d", g.aliases)
		var cols []column
		what := ""
		if depth > 0 && g.chance(4) {
			q, sub := g.query(depth - 1)
			what = "(" + q + ")"
			for _, c := range sub {
				cols = append(cols, column{alias + "." + c.name, c.kind})
			}
		} else {
			t := g.tables[g.r.IntN(len(g.tables))]
			what = t.name
			cols = t.scope(alias)
		}
		what += " AS " + alias
		if i == 0 {
			s += what
			scope = cols
			continue
		}
		on := g.equal(scope, cols)
		if on == "" {
			break
		}
		scope = slices.Concat(scope, cols)
		if g.chance(4) {
			g.scope = scope
			on += " AND " + g.boolean(1)
		}
		s += g.pick(" JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ") + what + " ON " + on
	}
	g.scope = scope
	return s
}

// scope are the table's columns under an alias.
func (t *table) scope(alias string) (out []column) {
	for _, c := range t.schema {
		k := number
		switch {
		case c.Type.IsString():
			k = text
		case c.Type.IsApprox():
			k = double
		}
		out = append(out, column{alias + "." + c.Name, k})
	}
	return out
}

// equal draws an equality of a column of each side, or "".
func (g *grammar) equal(left, right []column) string {
	for range 20 {
		l, r := left[g.r.IntN(len(left))], right[g.r.IntN(len(right))]
		if l.kind == r.kind && (l.kind == number || l.kind == text) {
			if g.chance(10) {
				return l.name + " IS NOT DISTINCT FROM " + r.name
			}
			return l.name + " = " + r.name
		}
	}
	return ""
}

// condition draws WHERE, with subqueries at its top.
func (g *grammar) condition(depth int) string {
	if !g.chance(3) {
		return g.boolean(depth)
	}
	t := g.tables[g.r.IntN(len(g.tables))]
	g.aliases++
	inner := t.scope(fmt.Sprintf("s%d", g.aliases))
	from := fmt.Sprintf(" FROM %s AS s%d", t.name, g.aliases)
	outer := g.scope
	defer func() { g.scope = outer }()
	only := func() string {
		g.scope = inner
		defer func() { g.scope = outer }()
		if g.chance(2) {
			return ""
		}
		return " WHERE " + g.boolean(1)
	}
	var sub string
	switch c := inner[g.r.IntN(len(inner))]; g.r.IntN(3) {
	case 0:
		sub = g.term(c.kind, 1) + g.pick(" IN (", " NOT IN (") + "SELECT " + c.name + from + only() + ")"
	case 1:
		on := g.equal(outer, inner)
		if on == "" {
			return g.boolean(depth)
		}
		if more := only(); more != "" {
			on += " AND " + strings.TrimPrefix(more, " WHERE ")
		}
		sub = g.pick("", "NOT ") + "EXISTS (SELECT 1" + from + " WHERE " + on + ")"
	case 2:
		sub = g.term(c.kind, 1) + g.pick(" < ", " = ", " >= ") + "(SELECT " + g.pick("MIN", "MAX") + "(" + c.name + ")" + from + only() + ")"
	}
	if g.chance(3) {
		return sub + " AND " + g.boolean(depth-1)
	}
	return sub
}

// group draws aggregates, and what follows FROM and WHERE.
func (g *grammar) group(item func(string, kind)) string {
	var keys []string
	var scope []column
	for range g.r.IntN(3) {
		k := g.scope[g.r.IntN(len(g.scope))]
		if k.kind != inexact && !slices.Contains(keys, k.name) {
			keys = append(keys, k.name)
			scope = append(scope, k)
			item(k.name, k.kind)
		}
	}
	for range 1 + g.r.IntN(3) {
		a, k := g.aggregate()
		if k != inexact {
			scope = append(scope, column{a, k})
		}
		item(a, k)
	}
	tail := ""
	for i, k := range keys {
		tail += []string{" GROUP BY ", ", "}[min(i, 1)] + k
	}
	if g.chance(3) {
		g.scope = scope
		tail += " HAVING " + g.boolean(1)
	}
	return tail
}

func (g *grammar) aggregate() (string, kind) {
	distinct := g.pick("", "", "", "DISTINCT ")
	filter := ""
	if g.chance(5) {
		filter = " FILTER (WHERE " + g.boolean(1) + ")"
	}
	k := g.kind()
	switch g.r.IntN(6) {
	case 0:
		return "COUNT(*)" + filter, number
	case 1:
		return "COUNT(" + distinct + g.term(k, 1) + ")" + filter, number
	case 2:
		return "SUM(" + distinct + "CAST(" + g.term(number, 1) + " AS BIGINT))" + filter, number
	case 3:
		return "SUM(" + distinct + g.term(double, 0) + ")" + filter, double
	case 4:
		return "AVG(" + distinct + "CAST(" + g.term(number, 1) + " AS DOUBLE))" + filter, inexact
	}
	if k == boolean {
		k = number
	}
	return g.pick("MIN", "MAX") + "(" + distinct + g.term(k, 1) + ")" + filter, k
}

// term draws an expression.
func (g *grammar) term(k kind, depth int) string {
	if depth <= 0 || g.chance(3) {
		return g.leaf(k)
	}
	x := func() string { return g.term(k, depth-1) }
	switch g.r.IntN(8) {
	case 0:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.boolean(depth-1), x(), x())
	case 1:
		return fmt.Sprintf("CASE WHEN %s THEN %s END", g.boolean(depth-1), x())
	case 2:
		return fmt.Sprintf("COALESCE(%s, %s)", x(), x())
	case 3:
		return fmt.Sprintf("NULLIF(%s, %s)", x(), x())
	}
	switch k {
	case boolean:
		return g.boolean(depth)
	case number:
		switch g.r.IntN(7) {
		case 0:
			return fmt.Sprintf("(%s / NULLIF(%s, 0))", x(), x())
		case 1:
			return fmt.Sprintf("(%s %% NULLIF(%s, 0))", x(), x())
		case 2:
			return fmt.Sprintf("ABS(%s)", x())
		case 3:
			return fmt.Sprintf("(- %s)", x())
		case 4:
			return fmt.Sprintf("CHAR_LENGTH(%s)", g.term(text, depth-1))
		}
		return fmt.Sprintf("(%s %s %s)", x(), g.pick("+", "-", "*"), g.leaf(k))
	case double:
		if g.chance(3) {
			return "CAST(" + g.term(number, depth-1) + " AS DOUBLE)"
		}
		return fmt.Sprintf("(%s %s %s)", x(), g.pick("+", "-", "*"), g.leaf(k))
	}
	switch g.r.IntN(6) {
	case 0:
		return fmt.Sprintf("%s(%s)", g.pick("UPPER", "LOWER", "TRIM"), x())
	case 1:
		return fmt.Sprintf("SUBSTRING(%s, %s, %s)", x(), g.pick("1", "2"), g.pick("0", "1", "2"))
	case 2:
		return fmt.Sprintf("REPLACE(%s, 'n', %s)", x(), g.pick("''", "'oo'"))
	case 3:
		return "CAST(" + g.term(number, depth-1) + " AS STRING)"
	}
	return fmt.Sprintf("(%s || %s)", x(), g.leaf(k))
}

func (g *grammar) leaf(k kind) string {
	fits := slices.DeleteFunc(slices.Clone(g.scope), func(c column) bool { return c.kind != k })
	if len(fits) > 0 && g.r.IntN(4) > 0 {
		return fits[g.r.IntN(len(fits))].name
	}
	switch k {
	case number:
		return g.pick("0", "1", "2", "10", "CAST(NULL AS BIGINT)")
	case double:
		return g.pick("CAST(1 AS DOUBLE)", "CAST(0.25 AS DOUBLE)", "CAST(NULL AS DOUBLE)")
	case text:
		return g.pick("'ann'", "''", "'Bob'", "'x'", "CAST(NULL AS VARCHAR(9))")
	}
	return g.pick("TRUE", "FALSE", "CAST(NULL AS BOOLEAN)")
}

func (g *grammar) boolean(depth int) string {
	if depth < 0 {
		return g.leaf(boolean)
	}
	k := []kind{number, number, double, text}[g.r.IntN(4)]
	b := func() string { return g.boolean(depth - 1) }
	x := func() string { return g.term(k, depth-1) }
	switch g.r.IntN(14) {
	case 0:
		return fmt.Sprintf("(%s AND %s)", b(), b())
	case 1:
		return fmt.Sprintf("(%s OR %s)", b(), b())
	case 2:
		return fmt.Sprintf("(NOT %s)", b())
	case 3:
		return fmt.Sprintf("(%s IS %s)", b(), g.pick("TRUE", "FALSE", "NOT TRUE", "NOT FALSE", "UNKNOWN", "NOT UNKNOWN"))
	case 4:
		return fmt.Sprintf("(%s IS %s)", x(), g.pick("NULL", "NOT NULL"))
	case 5:
		return fmt.Sprintf("(%s %s (%s, %s))", x(), g.pick("IN", "NOT IN"), g.leaf(k), g.leaf(k))
	case 6:
		return fmt.Sprintf("(%s %sBETWEEN %s AND %s)", x(), g.pick("", "NOT "), x(), x())
	case 7:
		return fmt.Sprintf("(%s %sLIKE '%s')", g.term(text, depth-1), g.pick("", "NOT "), g.pick("a%", "%b", "_", "%n%", "__%"))
	case 8:
		return fmt.Sprintf("(%s IS %sDISTINCT FROM %s)", x(), g.pick("", "NOT "), x())
	}
	return fmt.Sprintf("(%s %s %s)", x(), g.pick("=", "=", "<>", "<", "<=", ">", ">="), x())
}
