package oracle

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// subqueries draws queries with subqueries wherever there can be one, most of which
// depend on the rows around them. What SQLite has no words for is said to it in others.
type subqueries struct {
	grammar
	lite [][2]string // what is said, and how to say it to SQLite
}

// randomSubqueries is a query in Weir's words and in SQLite's.
func randomSubqueries(seed uint64) (query, lite string) {
	s := &subqueries{grammar: grammar{r: rand.New(rand.NewPCG(seed, 11)), tables: newTables()[:4]}}
	query = s.outer()
	lite = query
	for _, l := range slices.Backward(s.lite) {
		lite = strings.ReplaceAll(lite, l[0], l[1])
	}
	return query, dialect.Replace(lite)
}

// table draws a table under an alias, with its columns.
func (s *subqueries) table() (string, []column) {
	t := s.tables[s.r.IntN(len(s.tables))]
	s.aliases++
	alias := fmt.Sprintf("t%d", s.aliases)
	return t.name + " AS " + alias, t.scope(alias)
}

// within draws with the given columns beside those around.
func (s *subqueries) within(cols []column, draw func()) {
	around := s.scope
	s.scope = slices.Concat(cols, cols, around) // the own ones are drawn more often
	draw()
	s.scope = around
}

func (s *subqueries) outer() string {
	from, cols := s.table()
	s.scope = cols
	if s.chance(4) {
		return s.lateral(from)
	}
	if s.chance(3) {
		return s.grouped(from, cols)
	}
	var items []string
	for range 1 + s.r.IntN(2) {
		items = append(items, s.leaf(s.kind()))
	}
	if s.chance(2) {
		items = append(items, s.value(2))
	}
	for i := range items {
		items[i] += fmt.Sprintf(" AS x%d", i)
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM " + from + " WHERE " + s.test(2)
}

// grouped draws an aggregation with subqueries over its groups.
func (s *subqueries) grouped(from string, cols []column) string {
	key := cols[s.r.IntN(len(cols))]
	where := ""
	if s.chance(2) {
		where = " WHERE " + s.test(1)
	}
	s.scope = []column{key}
	items := key.name + " AS x0, COUNT(*) AS x1"
	if s.chance(2) {
		items += ", " + s.value(1) + " AS x2"
	}
	q := "SELECT " + items + " FROM " + from + where + " GROUP BY " + key.name
	if s.chance(2) {
		q += " HAVING " + s.test(1)
	}
	return q
}

// lateral draws an aggregation in FROM, which SQLite knows as a value.
func (s *subqueries) lateral(from string) string {
	item := s.leaf(s.kind())
	value := s.scalar(1)
	inner := strings.TrimSuffix(strings.TrimPrefix(value, "("), ")")
	join := s.pick(", LATERAL (", " CROSS JOIN LATERAL (", " LEFT JOIN LATERAL (")
	query := "SELECT " + item + " AS x0, l.v AS x1 FROM " + from + join + inner + ") AS l(v)"
	said := "SELECT " + item + " AS x0, " + value + " AS x1 FROM " + from
	if strings.HasPrefix(join, " LEFT") {
		query += " ON TRUE"
	} else {
		said += " WHERE EXISTS " + value // HAVING may leave no group, and so no row
	}
	s.lite = append(s.lite, [2]string{query, said})
	return query
}

// where draws the condition of a subquery.
func (s *subqueries) where(own []column, depth int) string {
	around := s.scope[2*len(own):]
	var conds []string
	if s.chance(2) {
		if on := s.equal(around, own); on != "" {
			conds = append(conds, on)
		}
	}
	if len(conds) == 0 || s.chance(3) {
		conds = append(conds, s.boolean(1))
	}
	if depth > 0 && s.chance(4) {
		conds = append(conds, s.test(depth-1))
	}
	return " WHERE " + strings.Join(conds, " AND ")
}

// scalar draws a subquery that has one row for each of those around: an aggregation.
func (s *subqueries) scalar(depth int) (out string) {
	from, own := s.table()
	s.within(own, func() {
		where := s.where(own, depth)
		aggregate := func(arg string) string { return s.pick("MIN", "MAX", "MIN", "MAX", "COUNT") + "(" + arg + ")" }
		c := s.number(own)
		switch s.r.IntN(5) {
		case 0:
			out = "(SELECT COUNT(*) FROM " + from + where + s.pick("", "", " HAVING COUNT(*) > 1") + ")"
		case 1: // the first rows of each
			first := "SELECT " + c.name + " AS v FROM " + from + where + " ORDER BY " + c.name + s.pick("", " DESC") + " LIMIT 2"
			out = "(SELECT " + aggregate("v") + " FROM (" + first + ") AS q)"
		case 2:
			out = "(SELECT " + aggregate("v") + " FROM (SELECT " + s.pick("", "DISTINCT ") + s.term(number, 1) + " AS v FROM " + from + where + s.pick(" UNION ALL ", " UNION ", " EXCEPT ") + "SELECT " + s.leaf(number) + " FROM " + from + ") AS q)"
		case 3:
			out = "(SELECT " + aggregate("v") + " FROM (SELECT COUNT(*) AS v FROM " + from + where + " GROUP BY " + c.name + ") AS q)"
		default:
			out = "(SELECT " + aggregate("COALESCE("+c.name+", "+s.term(number, 1)+")") + " FROM " + from + where + ")"
		}
	})
	return out
}

// number draws a column of numbers; every table has one.
func (s *subqueries) number(cols []column) column {
	fits := slices.DeleteFunc(slices.Clone(cols), func(c column) bool { return c.kind != number })
	return fits[s.r.IntN(len(fits))]
}

// value draws a value with a subquery.
func (s *subqueries) value(depth int) (out string) {
	switch s.r.IntN(4) {
	case 0:
		from, own := s.table()
		s.within(own, func() {
			c := own[s.r.IntN(len(own))]
			out = "(SELECT " + c.name + " FROM " + from + s.where(own, depth) + " ORDER BY " + c.name + s.pick("", " DESC") + " LIMIT 1" + s.pick("", " OFFSET 1") + ")"
		})
		return out
	case 1:
		return "CASE WHEN " + s.test(depth) + " THEN 1 ELSE 0 END"
	}
	return s.scalar(depth)
}

// test draws a condition with a subquery.
func (s *subqueries) test(depth int) string {
	cond := s.membership(depth)
	switch s.r.IntN(5) {
	case 0:
		cond += " AND " + s.boolean(1)
	case 1:
		cond = "(" + cond + " OR " + s.boolean(0) + ")"
	}
	return cond
}

func (s *subqueries) membership(depth int) (out string) {
	if s.chance(3) {
		x := "COALESCE(" + s.leaf(number) + ", 0)"
		return x + s.pick(" < ", " = ", " >= ") + "COALESCE(" + s.scalar(depth) + ", 1)"
	}
	from, own := s.table()
	c := own[s.r.IntN(len(own))]
	left := s.term(c.kind, 1)
	s.within(own, func() {
		where := s.where(own, depth)
		groups := s.pick("", "", "", " GROUP BY "+c.name+" HAVING COUNT(*) > 1")
		switch s.r.IntN(4) {
		case 0:
			out = s.pick("", "NOT ") + "EXISTS (SELECT " + c.name + " FROM " + from + where + groups + ")"
		case 1: // TRUE is what counts: SQLite is asked for rows
			op := s.pick("<", "<=", ">", ">=", "=", "<>")
			compared := "((" + left + ") " + op + " " + c.name + ")"
			all := s.chance(2)
			word := " ANY "
			said := "EXISTS (SELECT 1 FROM " + from + where + " AND " + compared + ")"
			if all {
				word, said = " ALL ", "NOT EXISTS (SELECT 1 FROM "+from+where+" AND ("+compared+" IS NOT TRUE))"
			}
			out = "((" + left + ") " + op + word + "(SELECT " + c.name + " FROM " + from + where + ")) IS TRUE"
			s.lite = append(s.lite, [2]string{out, said})
		default:
			out = "(" + left + ")" + s.pick(" IN ", " NOT IN ") + "(SELECT " + c.name + " FROM " + from + where + groups + ")"
		}
	})
	return out
}

func TestRandomSubqueriesAgreeWithSQLite(t *testing.T) {
	first, last := uint64(1), uint64(300)
	switch {
	case *onlySeed > 0:
		first, last = *onlySeed, *onlySeed
	case os.Getenv("WEIR_SOAK") != "":
		last = 10_000
	case testing.Short():
		last = 60
	}
	o := open(t)
	full, failed := 0, 0
	for seed := first; seed <= last && failed < 10; seed++ {
		query, lite := randomSubqueries(seed)
		n, err := o.compare(t.Context(), query, lite, false)
		if full += min(n, 1); err != nil {
			failed++
			t.Errorf("seed %d: %v\n%s\n%s", seed, err, query, lite)
		}
	}
	t.Logf("%d queries, %d with rows", last-first+1, full)
	if *onlySeed == 0 && uint64(full) < last/3 {
		t.Error("too few queries have a result that says something")
	}
}
