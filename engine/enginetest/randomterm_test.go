package enginetest_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
)

// term draws an expression of a type. It has no rounding that depends on the order of
// evaluation, and cannot fail.
func (g *grammar) term(t sqltype.Type, depth int) *term {
	if t.ID == sqltype.Integer || t.IsString() {
		if p := g.part(t); p != nil && g.chance(4) {
			return p
		}
	}
	if depth <= 0 || g.chance(3) {
		return g.leaf(t)
	}
	if g.chance(4) {
		if c := g.call(t, depth); c != nil {
			return c
		}
	}
	same := func() *term { return g.term(t, depth-1) }
	switch g.r.IntN(8) {
	case 0:
		return apply("CASE WHEN %s THEN %s ELSE %s END", t, g.boolean(depth-1), same(), same())
	case 1:
		return apply("CASE WHEN %s THEN %s WHEN %s THEN %s END", t, g.boolean(depth-1), same(), g.boolean(depth-1), same())
	case 2:
		return apply("COALESCE(%s, %s)", t, same(), same())
	case 3:
		return apply("NULLIF(%s, %s)", t, same(), same())
	}
	switch {
	case t.ID == sqltype.Boolean:
		return g.boolean(depth)
	case t.IsString():
		return g.text(depth)
	case t.IsNumeric():
		return g.numeric(t, depth)
	}
	if t.IsNested() {
		return g.nested(t, depth)
	}
	return apply(g.pick("GREATEST", "LEAST")+"(%s, %s)", t, same(), same())
}

// leaf draws a column or a literal.
func (g *grammar) leaf(t sqltype.Type) *term {
	fits := slices.DeleteFunc(slices.Clone(g.scope), func(c *term) bool { return c.typ.ID != t.ID })
	if len(fits) > 0 && g.r.IntN(4) > 0 {
		return fits[g.r.IntN(len(fits))]
	}
	if g.chance(8) {
		return &term{pattern: "CAST(NULL AS " + t.Optional().String() + ")", typ: t}
	}
	out := &term{typ: t, most: most}
	if t.IsNested() {
		out.pattern, out.most = g.nestedLiteral(t), 2*most
		return out
	}
	switch t.ID {
	case sqltype.Boolean:
		out.pattern = g.pick("TRUE", "FALSE")
	case sqltype.Float, sqltype.Double:
		out.pattern = fmt.Sprintf("CAST(%g AS %s)", float64(g.r.IntN(4*most))/4, t.ID)
	case sqltype.Decimal:
		out.pattern = g.pick("0.5", "1.25", "3.00", "0.0", "CAST(2 AS DECIMAL(20, 4))")
	case sqltype.Char, sqltype.Varchar:
		out.pattern = "'" + strings.ReplaceAll(strings.ReplaceAll(sampleTexts[g.r.IntN(len(sampleTexts))], "'", "''"), "%", "%%") + "'"
	case sqltype.Date:
		out.pattern = g.pick("DATE '1970-01-01'", "DATE '1969-12-31'", "DATE '2000-02-29'")
	case sqltype.Timestamp:
		out.pattern = g.pick("TIMESTAMP '1970-01-01 00:00:00'", "TIMESTAMP '1969-12-31 12:00:00.000'", "TIMESTAMP '2000-02-29 23:59:59.999'")
	case sqltype.Time:
		out.pattern = "CAST(TIME " + g.pick("'00:00:00'", "'23:59:59'") + " AS TIME(3))"
	case sqltype.TimestampLTZ:
		out.pattern = "CAST(TIMESTAMP " + g.pick("'1970-01-01 00:00:00'", "'2000-02-29 23:59:59.999'") + " AS TIMESTAMP_LTZ(3))"
	case sqltype.Varbinary:
		out.pattern = g.pick("X''", "X'61'", "X'FFC3A9'")
	case sqltype.Integer:
		out.pattern = fmt.Sprint(g.r.IntN(most))
	default:
		out.pattern = fmt.Sprintf("CAST(%d AS %s)", g.r.IntN(most), t.ID)
	}
	return out
}

// ceiling is the largest bound that a number of a type may have.
func ceiling(t sqltype.Type) float64 {
	switch t.ID {
	case sqltype.TinyInt:
		return 1<<7 - 1
	case sqltype.SmallInt:
		return 1<<15 - 1
	case sqltype.Integer:
		return 1<<31 - 1
	case sqltype.BigInt:
		return 1 << 62
	case sqltype.Decimal:
		return 1e14
	}
	return 1e6
}

func (g *grammar) numeric(t sqltype.Type, depth int) *term {
	x := g.term(t, depth-1)
	y := g.term(t, depth-1)
	exact := !t.IsApprox()
	grown := func(pattern string, bound float64) *term {
		if bound > ceiling(t) || t.ID == sqltype.Float {
			return x
		}
		out := apply(pattern, t, x, y)
		out.most = bound
		return out
	}
	switch g.r.IntN(9) {
	case 0:
		return grown("(%s + %s)", x.most+y.most)
	case 1:
		return grown("(%s - %s)", x.most+y.most)
	case 2:
		return grown("(%s * %s)", x.most*y.most)
	case 3:
		if t.ID == sqltype.Decimal || t.ID == sqltype.Float {
			break // a small divisor makes a large quotient
		}
		out := grown("(%s / NULLIF(%s, 0))", x.most)
		if !exact {
			out = apply("(%s / CAST(2 AS DOUBLE))", t, x)
		}
		return out
	case 4:
		if exact {
			return apply("CASE WHEN %[2]s <> 0 THEN MOD(%[1]s, %[2]s) END", t, x, y)
		}
	case 5:
		if exact {
			return apply("(- %s)", t, x)
		}
	case 6:
		return apply("ABS(%s)", t, x)
	case 7:
		from := columnTypes[1+g.r.IntN(4)]
		if z := g.term(from, depth-1); z.most <= ceiling(t) {
			return apply("CAST(%s AS "+g.name(t)+")", t, z)
		}
	case 8:
		if exact && t.ID != sqltype.Decimal {
			out := apply("CAST(CHAR_LENGTH(%s) AS "+g.name(t)+")", t, g.leaf(sqltype.StringType))
			out.most = 100
			return out
		}
	}
	return apply(g.pick("GREATEST", "LEAST")+"(%s, %s)", t, x, y)
}

// name is a type to cast to.
func (g *grammar) name(t sqltype.Type) string {
	if t.ID == sqltype.Decimal {
		return "DECIMAL(20, 4)"
	}
	return t.ID.String()
}

func (g *grammar) text(depth int) *term {
	t := sqltype.StringType
	x := g.term(t, depth-1)
	switch g.r.IntN(6) {
	case 0:
		return apply(g.pick("UPPER", "LOWER")+"(%s)", t, x)
	case 1:
		return apply("(%s || %s)", t, x, g.leaf(t))
	case 2:
		return apply("SUBSTRING(%s, "+g.pick("1", "2", "3")+", "+g.pick("0", "1", "2")+")", t, x)
	case 3:
		return apply("REPLACE(%s, 'a', "+g.pick("''", "'bb'")+")", t, x)
	}
	from := []sqltype.Type{sqltype.BoolType, sqltype.IntType, sqltype.BigIntType, sqltype.DateType}[g.r.IntN(4)]
	return apply("CAST(%s AS STRING)", t, g.term(from, depth-1))
}

func (g *grammar) boolean(depth int) *term {
	t := sqltype.BoolType
	if depth < 0 || g.chance(12) {
		return g.leaf(t)
	}
	b := func() *term { return g.boolean(depth - 1) }
	typ := g.randomType()
	x := func() *term { return g.term(typ, depth-1) }
	if typ.IsNested() {
		return g.nestedTest(typ, x, depth)
	}
	switch g.r.IntN(14) {
	case 0:
		return apply("(%s AND %s)", t, b(), b())
	case 1:
		return apply("(%s OR %s)", t, b(), b())
	case 2:
		return apply("(NOT %s)", t, b())
	case 3:
		return apply("(%s IS "+g.pick("TRUE", "FALSE", "UNKNOWN", "NOT TRUE", "NOT FALSE", "NOT UNKNOWN")+")", t, b())
	case 4:
		return apply("(%s IS "+g.pick("NULL", "NOT NULL")+")", t, x())
	case 5:
		return apply("(%s IN (%s, %s))", t, x(), g.leaf(typ), g.leaf(typ))
	case 6:
		return apply("(%s NOT IN (%s, %s, %s))", t, x(), g.leaf(typ), g.leaf(typ), g.leaf(typ))
	case 7:
		return apply("(%s "+g.pick("", "NOT ")+"BETWEEN %s AND %s)", t, x(), x(), x())
	case 8:
		return apply("(%s "+g.pick("", "NOT ")+"LIKE '"+g.pick("%%", "a%%", "_", "%%b", "%%a%%")+"')", t, g.term(sqltype.StringType, depth-1))
	case 9:
		return apply("(%s IS "+g.pick("", "NOT ")+"DISTINCT FROM %s)", t, x(), x())
	}
	return apply("(%s "+g.pick("=", "=", "<>", "<", "<=", ">", ">=")+" %s)", t, x(), x())
}
