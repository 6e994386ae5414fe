package parse

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// TestFold: a query has the same tree whether fold puts parts together or vitess
// sees them all.
func TestFold(t *testing.T) {
	const seed = 1
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	queries := seeds(t)
	for range 1000 {
		queries = append(queries, randomQuery(r))
	}
	folded := 0
	for _, sql := range queries {
		want, parsed := treeWith(sql, false)
		got, ok := treeWith(sql, true)
		if ok != parsed || ok && got != want {
			t.Fatalf("%s\nfolded:\n%s\nnot folded:\n%s", sql, got, want)
		}
		if ok {
			folded++
		}
	}
	if folded < 200 {
		t.Errorf("only %d queries were parsed", folded)
	}
}

// treeWith is a dump of a query's tree; ok is false if it is none.
func treeWith(sql string, fold bool) (tree string, ok bool) {
	s, err := newScript(sql)
	if err != nil {
		return err.Error(), false
	}
	f := newFragment(s, 0, len(s.toks)-1, true)
	if err := f.rewrite(); err != nil {
		return err.Error(), false
	}
	stmt, err := sqlparser.Parse(f.render(f.skeleton(fold)))
	if err != nil {
		return err.Error(), false
	}
	l := &lowering{fragment: f}
	q := l.statement(stmt)
	if l.err != nil {
		return l.err.Error(), false
	}
	return dump(q), true
}

// randomQuery has lists, rows, calls, aliases and comparisons in all places.
func randomQuery(r *rand.Rand) string {
	parts := []string{"SELECT " + randomList(r, " AS x"), " FROM t JOIN u ON " + randomExpr(r, 3)}
	for _, clause := range []string{" WHERE ", " GROUP BY ", " HAVING ", " ORDER BY "} {
		switch {
		case r.IntN(2) == 0:
		case strings.HasSuffix(clause, "BY "):
			parts = append(parts, clause+randomList(r, ""))
		default:
			parts = append(parts, clause+randomExpr(r, 3))
		}
	}
	return strings.Join(parts, "")
}

func randomList(r *rand.Rand, alias string) string {
	items := make([]string, 1+r.IntN(4))
	for i := range items {
		if items[i] = randomExpr(r, 2); r.IntN(3) == 0 {
			items[i] += alias
		}
	}
	return strings.Join(items, ", ")
}

// randomExpr fills the places of a pattern, without brackets.
func randomExpr(r *rand.Rand, depth int) string {
	patterns := []string{
		"a", "b.c", "1", "'x'", "e = e", "e <> e", "e < e", "e >= e", "e AND e", "e AND e", "e OR e", "NOT e", "e BETWEEN e AND e",
		"e NOT BETWEEN e AND e", "e + e", "- e", "e || e", "(e)", "(e, e)", "f(e)", "g(e, e)", "h()", "COUNT(*)", "COUNT(DISTINCT e, e)",
		"e IN (e, e)", "e IN (e)", "e IS NULL", "e LIKE e", "e IS NOT DISTINCT FROM e", "CASE WHEN e THEN e ELSE e END", "CASE e WHEN e THEN e END",
		"CAST(e AS INT)", "SUM(e) FILTER (WHERE e)", "SUM(e) OVER (PARTITION BY e, e ORDER BY e, e DESC)", "ARRAY[e, e]", "e[e]",
		"ROW(e, e)", "EXISTS (SELECT e, e AS y FROM v)", "(SELECT e FROM v WHERE e)", "e AT TIME ZONE e", "f(k => e)",
	}
	p := patterns[r.IntN(len(patterns))]
	if depth == 0 {
		p = patterns[r.IntN(4)]
	}
	var b strings.Builder
	for i := range len(p) {
		alone := (i == 0 || !isWordByte(p[i-1])) && (i == len(p)-1 || !isWordByte(p[i+1]))
		if p[i] == 'e' && alone {
			b.WriteString(randomExpr(r, depth-1))
			continue
		}
		b.WriteByte(p[i])
	}
	return b.String()
}
