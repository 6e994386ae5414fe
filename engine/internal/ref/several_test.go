package ref_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/function"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/internal/ref"
	"github.com/weirdb/weir/engine/sqltype"
)

var (
	logSchema = sqltype.Schema{{Name: "k", Type: sqltype.IntType}, {Name: "s", Type: sqltype.StringType}}
	logRows   = []ref.Row{{int64(1), "b"}, {int64(2), "a"}, {int64(2), "c"}, {nil, nil}, {int64(3), "a"}}
)

func logTable(*plan.Scan) ([]ref.Row, error) { return logRows, nil }

// openLog is an engine with a table that is only added to, and functions of a user.
func openLog(t *testing.T) *engine.Engine {
	t.Helper()
	c := channel.New()
	c.AddInput("log", channel.NewInput(logSchema, sqltype.AppendMode))
	e, err := engine.Open(t.Context(), engine.Config{
		Connectors: []connector.Connector{c},
		Functions: []function.Function{
			&function.ScalarFunction{Name: "shout", Args: []sqltype.Type{sqltype.StringType}, Returns: sqltype.StringType, Eval: function.EachRow(func(r function.Row) (any, error) {
				return r.Value(0).(string) + "!", nil
			})},
			&function.AggregateFunction{Name: "lengths", Args: []sqltype.Type{sqltype.StringType}, Returns: sqltype.BigIntType, Create: func() function.Accumulator { return &lengths{} }},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	if _, err := e.ExecuteSQL(t.Context(), "CREATE TABLE log (k INT, s STRING) WITH ('connector' = 'channel')"); err != nil {
		t.Fatal(err)
	}
	return e
}

type lengths struct{ N int64 }

func (l *lengths) Accumulate(r function.Row) error {
	l.N += int64(len(r.Value(0).(string)))
	return nil
}

func (l *lengths) Value() (any, error) { return l.N, nil }

func evaluateLog(t *testing.T, e *engine.Engine, sql string, in ref.Input) ref.Result {
	t.Helper()
	p, err := e.Plan(t.Context(), sql, true)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	in.Tables = logTable
	r, err := ref.Evaluate(p, in)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return r[0]
}

func keys(r ref.Result, rows []ref.Row) string {
	var out []string
	for _, row := range rows {
		out = append(out, ref.Key(r.Schema.Types(), row))
	}
	return strings.Join(out, "; ")
}

func TestOneOfSeveral(t *testing.T) {
	e := openLog(t)
	for _, c := range []struct {
		sql     string
		rule    ref.Rule
		rows    string // that it is, or that it is chosen from
		sure    int
		arrived string
		inOrder bool
		open    []bool
	}{
		{sql: "SELECT k FROM log LIMIT 9", rows: "1; 2; 2; NULL; 3", arrived: "1; 2; 2; NULL; 3", inOrder: true},
		{sql: "SELECT k FROM log LIMIT 2 OFFSET 1", rule: ref.Choice, rows: "1; 2; 2; NULL; 3", arrived: "2; 2", inOrder: true},
		{sql: "SELECT s FROM log ORDER BY k LIMIT 3", rule: ref.Choice, rows: "NULL; 'b'; 'a'; 'c'", sure: 2, arrived: "NULL; 'b'; 'a'", inOrder: true},
		{sql: "SELECT s FROM log ORDER BY k LIMIT 2", rows: "NULL; 'b'", arrived: "NULL; 'b'", inOrder: true},
		{sql: "SELECT k FROM log ORDER BY k LIMIT 3", rows: "NULL; 1; 2", arrived: "NULL; 1; 2", inOrder: true},
		{sql: "SELECT 1 FROM log LIMIT 2", rows: "1; 1", arrived: "1; 1", inOrder: true},
		{
			sql: "SELECT FIRST_VALUE(s), LAST_VALUE(k), LISTAGG(s), COUNT(s) FROM log", rule: ref.Columns, rows: "'b' 3 'b,a,c,a' 4", arrived: "'b' 3 'b,a,c,a' 4",
			inOrder: true, open: []bool{true, true, true, false},
		},
		{sql: "SELECT s, LISTAGG(s) FROM log GROUP BY s HAVING COUNT(*) > 1", rows: "'a' 'a,a'", arrived: "'a' 'a,a'", inOrder: true},
		{sql: "SELECT k FROM (SELECT k FROM log LIMIT 3) AS some WHERE k > 1", rule: ref.Choice, rows: "2; 2; 3", arrived: "2; 2", inOrder: true},
		{sql: "SELECT a.k FROM log AS a JOIN log AS b ON a.k = b.k LIMIT 1", rule: ref.Choice, rows: "1; 2; 2; 2; 2; 3", arrived: "1"},
	} {
		r := evaluateLog(t, e, c.sql, ref.Input{})
		if r.Rule != c.rule || keys(r, r.Rows) != c.rows || r.Sure != c.sure || keys(r, r.Arrived) != c.arrived || r.InOrder != c.inOrder || c.open != nil && !slices.Equal(r.Open, c.open) {
			t.Errorf("%s: rule %d, rows %s, %d of them sure, open %v, arrived %s, in order %t", c.sql, r.Rule, keys(r, r.Rows), r.Sure, r.Open, keys(r, r.Arrived), r.InOrder)
		}
	}
}

func TestClock(t *testing.T) {
	e := openLog(t)
	zone := time.FixedZone("east", 10*3600)
	for sql, want := range map[string]string{
		"SELECT NOW(), PROCTIME(), UNIX_TIMESTAMP() FROM log WHERE k = 1":                     "'2000-02-29 18:34:56.789Z' '2000-02-29 18:34:56.789Z' 951849296",
		"SELECT LOCALTIMESTAMP, CURRENT_DATE, CAST(LOCALTIME AS STRING) FROM log WHERE k = 1": "'2000-03-01 04:34:56.789' 2000-03-01 '04:34:56'",
	} {
		r := evaluateLog(t, e, sql, ref.Input{Now: time.UnixMilli(951_849_296_789), Zone: zone})
		if got := keys(r, r.Rows); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

func TestFunctionsOfUsers(t *testing.T) {
	e := openLog(t)
	for sql, want := range map[string]string{
		"SELECT shout(s) FROM log WHERE k = 1 OR k IS NULL": "'b!'; NULL",
		"SELECT k, lengths(DISTINCT s) FROM log GROUP BY k": "1 1; 2 2; NULL 0; 3 1",
	} {
		r := evaluateLog(t, e, sql, ref.Input{})
		if got := keys(r, r.Rows); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}
