package parse

import (
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/errs"
)

// TestLimits: what is too deep or too large is refused with a position, without
// a deep stack.
func TestLimits(t *testing.T) {
	repeat := strings.Repeat
	for name, sql := range map[string]string{
		"parentheses":     "SELECT " + repeat("(", 10_000) + "1" + repeat(")", 10_000),
		"open":            "SELECT " + repeat("(", 100_000),
		"brackets":        "SELECT a" + repeat("[a", 10_000) + repeat("]", 10_000),
		"indexes":         "SELECT a" + repeat("[1]", 100_000),
		"plus":            "SELECT 1" + repeat("+1", 100_000),
		"minus":           "SELECT " + repeat("- ", 100_000) + "1",
		"not":             "SELECT " + repeat("NOT ", 100_000) + "1",
		"case":            "SELECT " + repeat("CASE WHEN ", 100_000) + "1",
		"nested case":     "SELECT " + repeat("CASE WHEN a THEN ", 20_000) + "1" + repeat(" END", 20_000),
		"or":              "SELECT a" + repeat(" OR a", 100_000),
		"is":              "SELECT a" + repeat(" IS NULL", 100_000),
		"union":           "SELECT 1" + repeat(" UNION SELECT 1", 50_000),
		"joins":           "SELECT 1 FROM a" + repeat(" JOIN a ON x", 50_000),
		"subqueries":      repeat("SELECT * FROM (", 10_000) + "t" + repeat(")", 10_000),
		"types":           "SELECT CAST(a AS " + repeat("ARRAY<", 10_000) + "INT" + repeat(">", 10_000) + ")",
		"statement":       "SELECT '" + repeat("x", 10<<20) + "'",
		"tokens":          "SELECT 1" + repeat(", 1", 3_000_000),
		"rows":            "INSERT INTO t VALUES (1)" + repeat(", (1)", 2_000_000),
		"likes":           "SELECT a" + repeat(" LIKE b", 50_000),
		"fields":          "SELECT f(a)" + repeat(".a[1]", 50_000),
		"array types":     "SELECT CAST(a AS INT" + repeat(" ARRAY", 100_000) + ")",
		"expression type": "CREATE TABLE t (a " + repeat("ROW<a ", 100_000) + ")",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(sql)
			if err == nil {
				t.Fatal("parsed")
			}
			if c := errs.CodeOf(err); c != errs.Limit && c != errs.Syntax {
				t.Errorf("code %s", c)
			}
			if len(err.Error()) > 300 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
			t.Log(err)
		})
	}
}

// TestWide: what is long but flat is fine.
func TestWide(t *testing.T) {
	repeat := strings.Repeat
	for name, sql := range map[string]string{
		"list":    "SELECT a IN (1" + repeat(", 1", 20_000) + ")",
		"sums":    "SELECT a IN (1" + repeat(", b + 1", 10_000) + ")",
		"union":   "SELECT a FROM t WHERE a = 1" + repeat(" UNION ALL SELECT a FROM t WHERE a = 1", 1_000),
		"values":  "VALUES (1)" + repeat(" UNION VALUES (1)", 1_000),
		"joins":   "SELECT a FROM t" + repeat(" JOIN u ON a = b", 1_000),
		"over":    "SELECT a" + repeat(", sum(a) OVER (PARTITION BY b ORDER BY c)", 2_000) + " FROM t",
		"large":   "VALUES (1, 'x')" + repeat(", (1, '"+repeat("x", 40)+"')", 25_000),
		"string":  "SELECT '" + repeat("x", 1<<20) + "'",
		"rows":    "VALUES (1, 'x')" + repeat(", (1, 'x')", 20_000),
		"columns": "SELECT a" + repeat(", a + 1", 5_000) + " FROM t",
		"or":      "SELECT a" + repeat(" OR a = 1", 2_000),
		"when":    "SELECT CASE" + repeat(" WHEN a THEN b", 2_000) + " END",
		"nested":  "SELECT " + repeat("(", 60) + "1" + repeat(")", 60),
		"script":  repeat("SELECT 'abc';\n", 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse(sql); err != nil {
				t.Error(err)
			}
		})
	}
}
