package enginetest_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
)

// temporalJoin draws a join with the version that holds at the time of a row.
func (g *timeGrammar) temporalJoin(depth int) *query {
	left := g.stream(depth)
	return g.joinVersions(left, g.versions.name+" FOR SYSTEM_TIME AS OF "+left.alias+"."+left.time)
}

// joinVersions draws a join with a form of the table that has versions.
func (g *timeGrammar) joinVersions(left stream, table string) *query {
	q := &query{}
	t := g.versions
	right := stream{from: from{alias: fmt.Sprintf("a%d", g.aliases), join: g.pick(" JOIN ", " LEFT JOIN ")}, rows: 1}
	g.aliases++
	right.table = table
	for _, c := range t.schema {
		right.cols = append(right.cols, column(right.alias, c.Name, c.Type.Optional()))
	}
	ints := slices.DeleteFunc(slices.Clone(left.cols), func(c *term) bool { return c.typ.ID != sqltype.Integer })
	key := &term{pattern: "1", typ: sqltype.IntType}
	if len(ints) > 0 {
		key = ints[g.r.IntN(len(ints))]
	}
	right.on = []*term{apply("%s = %s", sqltype.BoolType, key, right.cols[0])}
	g.scope = slices.Concat(left.cols, right.cols)
	if g.chance(3) {
		right.on = append(right.on, g.boolean(1))
	}
	g.read(q, left)
	g.read(q, right)
	g.items(q, left)
	for _, c := range right.cols {
		if g.chance(2) {
			g.item(q, c)
		}
	}
	if g.chance(4) {
		q.where = g.boolean(1)
	} else if g.chance(3) {
		q.where = g.subquery(left)
	}
	return q
}

// subquery draws a condition with a query in it, which has no time.
func (g *timeGrammar) subquery(outer stream) *term {
	t := g.tables[g.r.IntN(len(g.tables))]
	var x *term
	ints := slices.DeleteFunc(slices.Clone(outer.cols), func(c *term) bool { return c.typ.ID != sqltype.Integer })
	if len(ints) > 0 {
		x = ints[g.r.IntN(len(ints))]
	} else {
		x = &term{pattern: "1", typ: sqltype.IntType}
	}
	text := fmt.Sprintf(g.pick(
		"%[1]s IN (SELECT b.v FROM %[2]s AS b)",
		"%[1]s NOT IN (SELECT b.v FROM %[2]s AS b WHERE b.v IS NOT NULL)",
		"%[1]s > (SELECT MIN(b.v) FROM %[2]s AS b)",
		"EXISTS (SELECT 1 FROM %[2]s AS b WHERE b.k = %[1]s)",
		"NOT EXISTS (SELECT 1 FROM %[2]s AS b WHERE b.k = %[1]s AND b.v > 0)",
	), x, t.name)
	return &term{pattern: strings.ReplaceAll(text, "%", "%%"), typ: sqltype.BoolType}
}
