package enginetest_test

import (
	"slices"

	"github.com/weirdb/weir/engine/sqltype"
)

// nested draws an expression that makes a nested value.
func (g *grammar) nested(t sqltype.Type, depth int) *term {
	number := func() *term { return g.term(sqltype.IntType, depth-1) }
	as := t.Optional().String()
	switch t.ID {
	case sqltype.Array:
		return apply("CAST(ARRAY[%s, %s] AS "+as+")", t, number(), number())
	case sqltype.Map:
		return apply("CAST(MAP['b', %s, "+g.pick("'a'", "'b'")+", %s] AS "+as+")", t, number(), number())
	}
	return apply("CAST(ROW(%s, %s) AS "+as+")", t, number(), g.term(sqltype.StringType, depth-1))
}

// part draws an INT or STRING that is in a nested column, or nil when there is none.
func (g *grammar) part(t sqltype.Type) *term {
	fits := slices.DeleteFunc(slices.Clone(g.scope), func(c *term) bool { return !c.typ.IsNested() })
	if len(fits) == 0 {
		return nil
	}
	c := fits[g.r.IntN(len(fits))]
	if t.IsString() {
		if c.typ.ID == sqltype.Row {
			return apply("(%s).g", t, c)
		}
		return apply("CAST(%s AS STRING)", t, c)
	}
	switch c.typ.ID {
	case sqltype.Array:
		return apply(g.pick("(%s)[1]", "(%s)[2]", "CARDINALITY(%s)"), t, c)
	case sqltype.Map:
		return apply(g.pick("(%s)['a']", "(%s)['c']", "CARDINALITY(%s)"), t, c)
	}
	return apply("(%s).f", t, c)
}

// nestedLiteral draws a constant of a nested type.
func (g *grammar) nestedLiteral(t sqltype.Type) string {
	value := g.pick("ARRAY[1, NULL]", "ARRAY[2]")
	switch t.ID {
	case sqltype.Map:
		value = g.pick("MAP['b', 1, 'a', NULL]", "MAP['a', 0]")
	case sqltype.Row:
		value = g.pick("ROW(1, 'a')", "ROW(NULL, 'ab')")
	}
	return "CAST(" + value + " AS " + t.Optional().String() + ")"
}

// nestedTest draws a condition on values of a nested type, which have no order.
func (g *grammar) nestedTest(typ sqltype.Type, x func() *term, depth int) *term {
	t := sqltype.BoolType
	switch {
	case typ.ID == sqltype.Array && g.chance(3):
		return apply("ARRAY_CONTAINS(%s, %s)", t, x(), g.term(sqltype.IntType, depth-1))
	case g.chance(4):
		return apply("(%s IS "+g.pick("NULL", "NOT NULL")+")", t, x())
	case g.chance(3):
		return apply("(%s "+g.pick("", "NOT ")+"IN (%s, %s))", t, x(), g.leaf(typ), g.leaf(typ))
	case g.chance(3):
		return apply("(%s IS "+g.pick("", "NOT ")+"DISTINCT FROM %s)", t, x(), x())
	}
	return apply("(%s "+g.pick("=", "<>")+" %s)", t, x(), x())
}
