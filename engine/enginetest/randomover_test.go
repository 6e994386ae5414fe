package enginetest_test

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
)

// overs draws calls with OVER, in one or two windows.
func (g *timeGrammar) overs(depth int) *query {
	g.whole = true
	q := &query{}
	s := g.stream(depth)
	g.read(q, s)
	g.items(q, s)
	if g.chance(4) {
		q.where = g.boolean(1)
	}
	windows := []string{g.overWindow(s), g.overWindow(s)}
	for range 1 + g.r.IntN(3) {
		call, framed := g.overCall(q.rows)
		w := windows[g.r.IntN(2)]
		if w, frame, _ := strings.Cut(w, "|"); framed {
			call = apply("%s OVER ("+w+frame+")", call.typ, call)
		} else {
			call = apply("%s OVER ("+w+")", call.typ, call)
		}
		g.item(q, call)
	}
	return q
}

// overWindow draws a window and, behind a bar, its frame.
func (g *timeGrammar) overWindow(s stream) string {
	var exact []*term
	for _, c := range s.cols {
		if exactTerm(c) && c.typ.ID != sqltype.Boolean {
			exact = append(exact, c)
		}
	}
	w := ""
	for i := range g.r.IntN(3) {
		w += []string{"PARTITION BY ", ", "}[min(i, 1)] + s.cols[g.r.IntN(len(s.cols))].String()
	}
	first := g.column(s, s.time)
	direction := ""
	if g.chance(4) {
		first, direction = exact[g.r.IntN(len(exact))], g.pick("", " DESC")+g.pick("", " NULLS LAST", " NULLS FIRST")
	}
	if slices.Contains(strings.Split(strings.TrimPrefix(w, "PARTITION BY "), ", "), first.String()) {
		w = "" // a key is no order
	}
	w += " ORDER BY " + first.String() + direction
	single := true
	if g.chance(2) {
		for _, i := range g.r.Perm(len(exact)) {
			w += ", " + exact[i].String() + g.pick("", " DESC") + g.pick("", " NULLS LAST")
			single = false
		}
	}
	unit, distances := " ROWS BETWEEN ", []string{"1", "2", "3"}
	if g.chance(2) {
		unit, distances = " RANGE BETWEEN ", nil
		switch {
		case !single:
		case first.typ.IsTimestamp():
			distances = []string{"INTERVAL '1' SECOND", "INTERVAL '3' SECOND", "INTERVAL '10' SECOND"}
		case first.typ.IsInteger():
			distances = []string{"1", "2"}
		}
	}
	if g.chance(4) {
		return w + "|"
	}
	bounds := []string{"UNBOUNDED PRECEDING"}
	for i := len(distances) - 1; i >= 0; i-- {
		bounds = append(bounds, distances[i]+" PRECEDING")
	}
	bounds = append(bounds, "CURRENT ROW")
	for _, d := range distances {
		bounds = append(bounds, d+" FOLLOWING")
	}
	bounds = append(bounds, "UNBOUNDED FOLLOWING")
	from := g.r.IntN(len(bounds) - 1)
	to := from + g.r.IntN(len(bounds)-from)
	if to == 0 {
		to = 1
	}
	return w + "|" + unit + bounds[from] + " AND " + bounds[to]
}

// overCall draws a call, and says whether it takes a frame.
func (g *timeGrammar) overCall(rows float64) (call *term, framed bool) {
	x := g.term(g.randomType(), 1)
	n := g.pick("1", "2", "3")
	big, double := sqltype.BigIntType.Required(), sqltype.DoubleType.Required()
	number := func(text string, t sqltype.Type) *term {
		return &term{pattern: text, typ: t, most: rows, inexact: t.ID == sqltype.Double}
	}
	switch g.r.IntN(12) {
	case 0:
		return apply("NTH_VALUE(%s, "+n+")", x.typ, x), true
	case 1, 2:
		name := g.pick("LAG", "LEAD")
		switch g.r.IntN(3) {
		case 0:
			return apply(name+"(%s)", x.typ, x), false
		case 1:
			return apply(name+"(%s, "+n+")", x.typ, x), false
		}
		return apply(name+"(%s, "+n+", %s)", x.typ, x, g.leaf(x.typ)), false
	case 3:
		return number(g.pick("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "NTILE("+n+")"), big), false
	case 4:
		return number(g.pick("PERCENT_RANK()", "CUME_DIST()"), double), false
	case 5, 6:
		if x.typ.IsNested() {
			break
		}
		return apply(g.pick("FIRST_VALUE", "LAST_VALUE")+"(%s)", x.typ, x), true
	}
	return g.aggregate(rows), true
}
