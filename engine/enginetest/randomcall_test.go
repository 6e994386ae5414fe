package enginetest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
)

// form is a call of a function that cannot fail, of arguments in which no number is
// large.
type form struct {
	pattern string
	args    []sqltype.Type
	typ     sqltype.Type
	most    float64 // of a number, when its arguments are within the bound of a table's
}

// forms has every scalar function that is called by name, and what else is computed of
// the types of random tables.
func forms() []form {
	str, num, big, dbl, truth := sqltype.StringType, sqltype.IntType, sqltype.BigIntType, sqltype.DoubleType, sqltype.BoolType
	dec, day, ts, clock, ltz, bytes := sqltype.DecimalOf(5, 2), sqltype.DateType, sqltype.TimestampOf(3), sqltype.Type{ID: sqltype.Time, Precision: 3}, sqltype.TimestampLTZOf(3), sqltype.BytesType
	types := func(t ...sqltype.Type) []sqltype.Type { return t }
	out := []form{
		{"(%s ILIKE 'A%%')", types(str), truth, 0},
		{"(%s LIKE %s)", types(str, str), truth, 0},
		{"(%s LIKE '%%x_%%' ESCAPE 'x')", types(str), truth, 0},
		{"(%s SIMILAR TO '(a|%%b)_*')", types(str), truth, 0},
		{"REGEXP(%s, '^[a-é]+')", types(str), truth, 0},
		{"IF(%s, %s, %s)", types(truth, num, num), num, 2 * most},
		{"IFNULL(%s, %s)", types(str, str), str, 0},
		{"POSITION(%s IN %s)", types(str, str), num, 100},
		{"LOCATE(%s, %s, %s)", types(str, str, num), num, 100},
		{"INSTR(%s, %s)", types(str, str), num, 100},
		{"CHAR_LENGTH(%s)", types(str), num, 100},
		{"SIGN(%s)", types(num), num, 1},
		{"ROUND(%s, -1)", types(num), num, 10},
		{"SIGN(%s)", types(dec), dec, 1},
		{"ROUND(%s, 1)", types(dec), dec, most + 1},
		{"ROUND(%s, %s)", types(dec, num), dec, most + 1},
		{"FLOOR(%s)", types(dec), dec, most + 1},
		{"CEIL(%s)", types(dec), dec, most + 1},
		{"SQRT(ABS(%s))", types(dbl), dbl, 1e6},
		{"LN(ABS(%s) + 1)", types(dbl), dbl, 1e6},
		{"LOG10(ABS(%s) + 1)", types(dbl), dbl, 1e6},
		{"LOG2(ABS(%s) + 1)", types(dbl), dbl, 1e6},
		{"EXP(SIGN(%s))", types(dbl), dbl, 1e6},
		{"POWER(%s, 2)", types(dbl), dbl, 1e12},
		{"ROUND(%s, 1)", types(dbl), dbl, 1e6},
		{"MD5(%s)", types(str), str, 0},
		{"SHA1(%s)", types(str), str, 0},
		{"SHA256(%s)", types(str), str, 0},
		{"INITCAP(%s)", types(str), str, 0},
		{"REVERSE(%s)", types(str), str, 0},
		{"TRIM(%s)", types(str), str, 0},
		{"TRIM(LEADING 'a' FROM %s)", types(str), str, 0},
		{"TRIM(TRAILING %s FROM %s)", types(str, str), str, 0},
		{"BTRIM(%s, %s)", types(str, str), str, 0},
		{"LTRIM(%s)", types(str), str, 0},
		{"RTRIM(%s, 'b')", types(str), str, 0},
		{"LEFT(%s, %s)", types(str, num), str, 0},
		{"RIGHT(%s, %s)", types(str, num), str, 0},
		{"SUBSTRING(%s, %s)", types(str, num), str, 0},
		{"SUBSTRING(%s, %s, %s)", types(str, num, num), str, 0},
		{"CONCAT(%s, %s)", types(str, num), str, 0},
		{"CONCAT_WS(%s, %s, %s)", types(str, str, day), str, 0},
		{"REPLACE(%s, %s, %s)", types(str, str, str), str, 0},
		{"LPAD(%s, 4, %s)", types(str, str), str, 0},
		{"RPAD(%s, 2, %s)", types(str, str), str, 0},
		{"OVERLAY(%s PLACING %s FROM 2)", types(str, str), str, 0},
		{"OVERLAY(%s PLACING %s FROM 1 FOR 1)", types(str, str), str, 0},
		{"REPEAT(%s, 2)", types(str), str, 0},
		{"SPLIT_INDEX(%s, 'b', %s)", types(str, num), str, 0},
		{"REGEXP_EXTRACT(%s, '(a)(b)?', 2)", types(str), str, 0},
		{"REGEXP_REPLACE(%s, '(a)|b', 'x$1')", types(str), str, 0},
		{"DATE_FORMAT(%s, 'yyyy-MMM-dd''T''hh:mm:ss.SSS a')", types(ts), str, 0},
		{"FROM_UNIXTIME(%s)", types(num), str, 0},
		{"CAST(%s AS STRING)", types(ts), str, 0},
		{"CAST(%s AS STRING)", types(ltz), str, 0},
		{"CAST(%s AS STRING)", types(clock), str, 0},
		{"CAST(%s AS STRING)", types(dbl), str, 0},
		{"CAST(%s AS STRING)", types(dec), str, 0},
		{"DECODE(%s, 'UTF-8')", types(bytes), str, 0},
		{"ENCODE(%s, 'UTF-16')", types(str), bytes, 0},
		{"TO_DATE(%s)", types(str), day, 0},
		{"TO_DATE(DATE_FORMAT(%s, 'dd.MM.yy'), 'dd.MM.yy')", types(ts), day, 0},
		{"CAST(%s AS DATE)", types(ts), day, 0},
		{"(%s + INTERVAL '1' MONTH)", types(day), day, 0},
		{"(%s - INTERVAL '3' DAY)", types(day), day, 0},
		{"FLOOR(%s TO WEEK)", types(day), day, 0},
		{"TIMESTAMPADD(YEAR, %s, %s)", types(num, day), day, 0},
		{"TO_TIMESTAMP(CAST(%s AS STRING))", types(ts), ts, 0},
		{"CAST(%s AS TIMESTAMP(3))", types(day), ts, 0},
		{"CAST(%s AS TIMESTAMP(3))", types(ltz), ts, 0},
		{"(%s + INTERVAL '1 02:03:04.005' DAY TO SECOND)", types(ts), ts, 0},
		{"FLOOR(%s TO HOUR)", types(ts), ts, 0},
		{"CEIL(%s TO MONTH)", types(ts), ts, 0},
		{"TIMESTAMPADD(HOUR, %s, %s)", types(num, ts), ts, 0},
		{"TIMESTAMPADD(MONTH, %s, %s)", types(num, ts), ts, 0},
		{"TO_TIMESTAMP_LTZ(%s, 3)", types(num), ltz, 0},
		{"CAST(%s AS TIMESTAMP_LTZ(3))", types(ts), ltz, 0},
		{"CAST(%s AS TIME(3))", types(ts), clock, 0},
		{"(%s + INTERVAL '23' HOUR)", types(clock), clock, 0},
		{"TIMESTAMPDIFF(MONTH, %s, %s)", types(day, ts), num, 1e6},
		{"TIMESTAMPDIFF(MINUTE, %s, %s)", types(ts, ts), num, 1e9},
		{"UNIX_TIMESTAMP(CAST(%s AS STRING))", types(ts), big, 1e12},
	}
	for _, unit := range []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR", "DAYOFMONTH", "DAYOFWEEK"} {
		out = append(out, form{unit + "(%s)", types(day), big, 1e4}, form{unit + "(%s)", types(ts), big, 1e4})
	}
	for _, unit := range []string{"HOUR", "MINUTE", "SECOND"} {
		out = append(out, form{unit + "(%s)", types(clock), big, 60}, form{unit + "(%s)", types(ltz), big, 60})
	}
	for _, unit := range []string{"EPOCH", "DOW", "MILLISECOND", "DECADE", "CENTURY", "ISOYEAR"} {
		out = append(out, form{"EXTRACT(" + unit + " FROM %s)", types(ts), big, 1e12})
	}
	return out
}

// moments are the functions of the clock.
func moments() []form {
	return []form{
		{"NOW()", nil, sqltype.TimestampLTZOf(3), 0},
		{"CURRENT_TIMESTAMP", nil, sqltype.TimestampLTZOf(3), 0},
		{"CURRENT_ROW_TIMESTAMP()", nil, sqltype.TimestampLTZOf(3), 0},
		{"PROCTIME()", nil, sqltype.TimestampLTZOf(3), 0},
		{"LOCALTIMESTAMP", nil, sqltype.TimestampOf(3), 0},
		{"CAST(LOCALTIME AS TIME(3))", nil, sqltype.Type{ID: sqltype.Time, Precision: 3}, 0},
		{"CAST(CURRENT_TIME AS TIME(3))", nil, sqltype.Type{ID: sqltype.Time, Precision: 3}, 0},
		{"CURRENT_DATE", nil, sqltype.DateType, 0},
		{"UNIX_TIMESTAMP()", nil, sqltype.BigIntType, 1e12},
	}
}

// call draws a call of a function with a result of the type, or nil when there is none.
func (g *grammar) call(t sqltype.Type, depth int) *term {
	var fits []form
	for _, f := range g.forms {
		if f.typ.ID == t.ID {
			fits = append(fits, f)
		}
	}
	if len(fits) == 0 {
		return nil
	}
	f := fits[g.r.IntN(len(fits))]
	out := &term{pattern: f.pattern, typ: t, inexact: t.IsApprox()}
	for _, a := range f.args {
		x := g.term(a, min(depth-1, 1))
		if x.most > ceiling(sqltype.SmallType) || a.IsInteger() && x.most > 1000 {
			x = g.leaf(a) // what grows without bound may fail
		}
		if a.ID == sqltype.Decimal && x.most > most+1 || a.IsInteger() && x.most > 2*most {
			return nil
		}
		out.args = append(out.args, x)
	}
	out.most = max(f.most, 2*most)
	return out
}

// Random queries have every scalar function that is called by name.
func TestRandomQueriesHaveEveryFunction(t *testing.T) {
	var all strings.Builder
	for _, f := range slices.Concat(forms(), moments()) {
		all.WriteString(f.pattern + "\n")
	}
	// These are in the grammar, or of nested values.
	all.WriteString("ABS( COALESCE( NULLIF( GREATEST( LEAST( MOD( UPPER( LOWER( ARRAY[ MAP[ ROW( CARDINALITY( ELEMENT( ARRAY_CONTAINS( ")
	for _, name := range function.Names() {
		if _, ok := function.LookupScalar(name); !ok || slices.Contains([]string{"CEILING", "POW", "CHARACTER_LENGTH", "SUBSTR", "DAY", "CURRENT_WATERMARK"}, name) {
			continue // an aggregate, another name, or of event time, which random tables have not
		}
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(all.String()) {
			t.Errorf("no random query has %s", name)
		}
	}
}
