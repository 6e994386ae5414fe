package ref_test

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/internal/ref"
	"github.com/weirdb/weir/engine/sqltype"
)

// items has two equal rows and NULLs, sides has a key that nobody has.
var (
	itemSchema = sqltype.Schema{{Name: "k", Type: sqltype.IntType}, {Name: "v", Type: sqltype.IntType}, {Name: "s", Type: sqltype.StringType}, {Name: "d", Type: sqltype.DecimalOf(5, 2)}}
	sideSchema = sqltype.Schema{{Name: "k", Type: sqltype.IntType}, {Name: "g", Type: sqltype.StringType}}

	items = []ref.Row{
		{int64(1), int64(10), "a", big.NewRat(1, 2)},
		{int64(1), int64(10), "a", big.NewRat(1, 2)},
		{int64(2), nil, "ab", big.NewRat(-5, 4)},
		{nil, int64(-7), nil, nil},
	}
	sides = []ref.Row{{int64(1), "x"}, {int64(1), "y"}, {nil, "z"}, {int64(9), nil}}
)

func tables(n *plan.Scan) ([]ref.Row, error) {
	if n.Table.ID.Object == "items" {
		return items, nil
	}
	return sides, nil
}

func open(t *testing.T) *engine.Engine {
	t.Helper()
	c := channel.New()
	c.AddInput("items", channel.NewInput(itemSchema, sqltype.RetractMode))
	c.AddInput("sides", channel.NewInput(sideSchema, sqltype.RetractMode))
	e, err := engine.Open(t.Context(), engine.Config{Connectors: []connector.Connector{c}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	for _, sql := range []string{
		"CREATE TABLE items (k INT, v INT, s STRING, d DECIMAL(5, 2)) WITH ('connector' = 'channel')",
		"CREATE TABLE sides (k INT, g STRING) WITH ('connector' = 'channel')",
	} {
		if _, err := e.ExecuteSQL(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// The rows are worked out by hand from the SQL standard, and Flink's documentation
// where types are its own.
func TestEvaluate(t *testing.T) {
	e := open(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT k, v FROM items", "1 10; 1 10; 2 NULL; NULL -7"},
		{"SELECT DISTINCT k, v FROM items", "1 10; 2 NULL; NULL -7"},
		{"SELECT k FROM items WHERE v > 0", "1; 1"},
		{"SELECT k FROM items WHERE NOT v > 0", "NULL"},
		{"SELECT k FROM items WHERE v > 0 OR k = 2", "1; 1; 2"},
		{"SELECT v > 0 AND k = 2, v > 0 OR k = 2 FROM items WHERE k = 2 OR k IS NULL", "FALSE NULL; NULL TRUE"},
		{"SELECT k IN (1, NULL), k NOT IN (1, NULL) FROM items", "NULL NULL; NULL NULL; TRUE FALSE; TRUE FALSE"},
		{"SELECT k FROM items WHERE k NOT BETWEEN 2 AND 3", "1; 1"},
		{"SELECT s FROM items WHERE s LIKE 'a_'", "'ab'"},
		{"SELECT k IS DISTINCT FROM NULL, k IS NOT DISTINCT FROM 1 FROM items WHERE k IS NULL", "FALSE FALSE"},
		{"SELECT COALESCE(v, 0), CASE WHEN v > 0 THEN 'p' WHEN v < 0 THEN 'n' END FROM items", "-7 'n'; 0 NULL; 10 'p'; 10 'p'"},
		{"SELECT CASE WHEN k <> 2 THEN 1 / (k - 2) END FROM items", "-1; -1; NULL; NULL"},
		{"SELECT -7 / 2, MOD(-7, 2), 7 % -2, 1.0 / 3, CAST(-1.5 AS INT), CAST(1.25 AS DECIMAL(3, 1)), CAST(-1.25 AS DECIMAL(3, 1))", "-3 -1 1 0.333333333333 -1 1.3 -1.3"},
		{"SELECT TRY_CAST('x' AS INT), TRY_CAST(300 AS TINYINT), CAST(' 12 ' AS INT), CAST(TRUE AS INT)", "NULL NULL 12 1"},
		{"SELECT UPPER(s) || '!', CHAR_LENGTH(s), SUBSTRING(s, 2, 5) FROM items WHERE k = 2", "'AB!' 2 'b'"},
		{"SELECT REVERSE(s), LEFT(s, 1), RIGHT(s, 1), RIGHT(s, 5), REPEAT(s, 2) FROM items WHERE k = 2", "'ba' 'a' 'b' 'ab' 'abab'"},
		{"SELECT YEAR(DATE '2000-02-29'), QUARTER(DATE '2000-04-01'), EXTRACT(DAY FROM TIMESTAMP '1969-12-31 23:59:58.5'), HOUR(TIMESTAMP '1969-12-31 23:59:58.5'), EXTRACT(SECOND FROM TIMESTAMP '1969-12-31 23:59:58.5')", "2000 2 31 23 58"},
		{"SELECT CAST(TIMESTAMP '1969-12-31 23:59:58' AS TIMESTAMP(6)), CAST(TIMESTAMP '1969-12-31 23:59:58.5' AS TIMESTAMP(9))", "'1969-12-31 23:59:58' '1969-12-31 23:59:58.5'"},
		{"SELECT TIMESTAMP '2000-02-28 12:00:00' + INTERVAL '1' DAY, TIMESTAMP '2000-03-01 00:00:00' - INTERVAL '1' HOUR", "'2000-02-29 12:00:00' '2000-02-29 23:00:00'"},
		{"SELECT COUNT(*), COUNT(k), COUNT(DISTINCT k), SUM(v), SUM(DISTINCT v), MIN(v), MAX(s) FROM items", "4 3 2 13 3 -7 'ab'"},
		{"SELECT COUNT(*), SUM(v), MIN(s), AVG(v) FROM items WHERE FALSE", "0 NULL NULL NULL"},
		{"SELECT k, COUNT(*) FROM items WHERE FALSE GROUP BY k", ""},
		{"SELECT k, COUNT(v), SUM(v), SUM(d) FROM items GROUP BY k", "1 2 20 1.00; 2 0 NULL -1.25; NULL 1 -7 NULL"},
		{"SELECT AVG(v), AVG(d), AVG(CAST(v AS DOUBLE)) FROM items", "4 -0.083333 4.333333333333333"},
		{"SELECT COUNT(*) FILTER (WHERE v > 0), COUNT(DISTINCT s) FILTER (WHERE k > 1) FROM items", "2 1"},
		{"SELECT k FROM items GROUP BY k HAVING COUNT(*) > 1", "1"},
		{"SELECT i.v, s.g FROM items AS i JOIN sides AS s ON i.k = s.k", "10 'x'; 10 'x'; 10 'y'; 10 'y'"},
		{"SELECT i.k, s.g FROM items AS i JOIN sides AS s ON i.k = s.k AND s.g <> 'x'", "1 'y'; 1 'y'"},
		{"SELECT i.v, s.g FROM items AS i LEFT JOIN sides AS s ON i.k = s.k AND s.g = 'x'", "-7 NULL; 10 'x'; 10 'x'; NULL NULL"},
		{"SELECT i.v, s.g FROM items AS i RIGHT JOIN sides AS s ON i.k = s.k AND s.g = 'x'", "10 'x'; 10 'x'; NULL 'y'; NULL 'z'; NULL NULL"},
		{"SELECT i.v, s.k, s.g FROM items AS i FULL JOIN sides AS s ON i.k = s.k AND s.g = 'x'", "-7 NULL NULL; 10 1 'x'; 10 1 'x'; NULL 1 'y'; NULL 9 NULL; NULL NULL 'z'; NULL NULL NULL"},
		{"SELECT i.v, s.g FROM items AS i JOIN sides AS s ON i.k IS NOT DISTINCT FROM s.k WHERE i.k IS NULL", "-7 'z'"},
		{"SELECT k FROM items INTERSECT SELECT k FROM sides", "1; NULL"},
		{"SELECT k FROM items INTERSECT ALL SELECT k FROM sides", "1; 1; NULL"},
		{"SELECT k FROM items EXCEPT SELECT k FROM sides", "2"},
		{"SELECT k FROM items EXCEPT ALL SELECT k FROM sides WHERE g = 'x'", "1; 2; NULL"},
		{"SELECT v FROM items ORDER BY v DESC NULLS LAST LIMIT 3", "-7; 10; 10"},
		{"SELECT k FROM items UNION ALL SELECT k FROM sides", "1; 1; 1; 1; 2; 9; NULL; NULL"},
		{"SELECT k FROM items UNION SELECT k FROM sides", "1; 2; 9; NULL"},
		{"SELECT COUNT(*) FROM (SELECT 1 FROM items LIMIT 3)", "3"},
		{"VALUES (1, 'a'), (2, NULL)", "1 'a'; 2 NULL"},
		{"SELECT DISTINCT CHAR_LENGTH(MD5(s)) FROM items WHERE s IS NOT NULL", "32"},
		{"SELECT DISTINCT TRIM('  x '), ROUND(1.25, 1), CAST(TIME '10:00:00' AS STRING) FROM items", "'x' 1.3 '10:00:00'"},
		{"SELECT DISTINCT CAST(CAST(TIMESTAMP '2000-01-31 00:00:00' + INTERVAL '1' MONTH AS DATE) AS STRING) FROM items", "'2000-02-29'"},
	} {
		for _, bound := range []bool{true, false} { // the passes of the planner change nothing
			p, err := e.Plan(t.Context(), c.sql, bound)
			if err != nil {
				if bound {
					t.Errorf("%s: %v", c.sql, err)
				}
				continue
			}
			r, err := ref.Evaluate(p, ref.Input{Tables: tables, Now: time.UnixMilli(951_827_696_789)})
			if err != nil {
				t.Errorf("%s: %v", c.sql, err)
				continue
			}
			var rows []string
			for _, row := range r[0].Rows {
				rows = append(rows, ref.Key(r[0].Schema.Types(), row))
			}
			slices.Sort(rows)
			if got := strings.Join(rows, "; "); got != c.want {
				t.Errorf("%s, bound only %t:\ngot  %s\nwant %s", c.sql, bound, got, c.want)
			}
		}
	}
}

func TestEvaluateErrors(t *testing.T) {
	e := open(t)
	for sql, want := range map[string]errs.Code{
		"SELECT 1 / (v - 10) FROM items":                       errs.Arithmetic,
		"SELECT v * 2000000000 FROM items":                     errs.Arithmetic,
		"SELECT SUM(CAST(v * 10 AS TINYINT)) FROM items":       errs.Arithmetic,
		"SELECT CAST(s AS INT) FROM items":                     errs.Cast,
		"SELECT CAST(v * 100 AS TINYINT) FROM items":           errs.Cast,
		"SELECT DECODE(CAST(s AS BYTES), 'EBCDIC') FROM items": errs.Invalid,
	} {
		p, err := e.Plan(t.Context(), sql, true)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		_, err = ref.Evaluate(p, ref.Input{Tables: tables, Now: time.UnixMilli(951_827_696_789)})
		var have *errs.Error
		if !errors.As(err, &have) || have.Code != want {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
}

func TestLimitLeavesOpenWhichRows(t *testing.T) {
	p, err := open(t).Plan(t.Context(), "SELECT k FROM items LIMIT 2 OFFSET 1", true)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ref.Evaluate(p, ref.Input{Tables: tables, Now: time.UnixMilli(951_827_696_789)})
	if err != nil || len(r[0].Rows) != 4 || r[0].Take != 2 {
		t.Errorf("%v, %v", r, err)
	}
}
