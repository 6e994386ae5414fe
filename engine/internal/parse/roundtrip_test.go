package parse

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/weirdb/weir/engine/errs"
)

// TestQueriesReadBack formats the queries of the shared cases and parses the
// result: the tree is the same, but for positions.
func TestQueriesReadBack(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(casesDir, "*", "*.json"))
	if len(files) == 0 {
		t.Skipf("no cases in %s", casesDir)
	}
	for _, file := range files {
		for _, sql := range caseStatements(t, file) {
			stmts, err := Parse(sql)
			if err != nil {
				continue
			}
			for _, s := range stmts {
				if q := queryOf(s); q != nil {
					readsBack(t, q)
				}
			}
		}
	}
}

func queryOf(s Statement) *Query {
	switch s := s.(type) {
	case *Query:
		return s
	case *Insert:
		return s.Query
	case *CreateView:
		return s.Query
	}
	return nil
}

func readsBack(t testing.TB, q *Query) {
	t.Helper()
	text := FormatQuery(q)
	again, err := Parse(text)
	if err != nil {
		t.Errorf("%v\n%s\n%s", err, q.Text, text)
		return
	}
	if len(again) != 1 {
		t.Errorf("%d statements in %s", len(again), text)
		return
	}
	want, got := withoutPlaces(q), withoutPlaces(again[0])
	if want != got {
		t.Errorf("%s\n%s\nwant %s\ngot  %s", q.Text, text, want, got)
	}
}

// withoutPlaces is a dump without positions, texts and hints.
func withoutPlaces(n any) string {
	v := reflect.ValueOf(n)
	c := reflect.New(v.Type()).Elem()
	c.Set(deepCopy(v))
	return dump(c.Interface())
}

func deepCopy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(deepCopy(v.Elem()))
		return p
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		c := reflect.New(v.Type()).Elem()
		c.Set(deepCopy(v.Elem()))
		return c
	case reflect.Slice:
		if v.IsNil() || v.Type() == reflect.TypeFor[[]Hint]() {
			return reflect.Zero(v.Type())
		}
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			s.Index(i).Set(deepCopy(v.Index(i)))
		}
		return s
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[errs.Position]() {
			return reflect.Zero(v.Type())
		}
		s := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "Source" && name != "Quoted" {
				s.Field(i).Set(deepCopy(v.Field(i)))
			}
		}
		return s
	}
	return v
}

// Calls with clauses behind them, in windows of other calls, and the forms of table
// functions' arguments.
func TestClausesOfCallsReadBack(t *testing.T) {
	for _, sql := range []string{
		"SELECT SUM(a) FILTER (WHERE b > 1) OVER (PARTITION BY c ORDER BY d) FROM t",
		"SELECT SUM(DISTINCT a) FILTER (WHERE (b > 1 AND c IN (1, 2)) OR d) OVER w FROM t WINDOW w AS (ORDER BY ts)",
		"SELECT SUM(a) OVER (PARTITION BY COUNT(*) FILTER (WHERE b > 1) ORDER BY d) FROM t",
		"SELECT RANK() OVER (ORDER BY MAX(x) FILTER (WHERE b > 1), COUNT(*) FILTER (WHERE b > 1) DESC NULLS LAST) FROM t GROUP BY a",
		"SELECT a FROM t GROUP BY a QUALIFY RANK() OVER (ORDER BY MAX(x) FILTER (WHERE b > 1)) < 3",
		"SELECT SUM(MAX(x) FILTER (WHERE b)) FILTER (WHERE c) OVER (ORDER BY LISTAGG(y) WITHIN GROUP (ORDER BY z) ROWS 2 PRECEDING) FROM t",
		"SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), SIZE => INTERVAL '1' MINUTE, OFFSET => INTERVAL '1' SECOND))",
		"SELECT * FROM TABLE(TUMBLE(OFFSET => INTERVAL '1' SECOND, DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' MINUTE))",
		"SELECT * FROM TABLE(TUMBLE((SELECT * FROM t), DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
		"SELECT * FROM TABLE(SESSION(DATA => (SELECT * FROM t) PARTITION BY a, TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '1' MINUTE))",
		"SELECT * FROM TABLE(SESSION((SELECT * FROM t UNION ALL SELECT * FROM u) PARTITION BY (a, b) ORDER BY c, DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
		"SELECT * FROM SESSION(TABLE (SELECT a, SUM(b) OVER (ORDER BY c) FROM t LIMIT 3 OFFSET 1) PARTITION BY a, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
	} {
		stmts, err := Parse(sql)
		if err != nil {
			t.Errorf("%s\n%v", sql, err)
			continue
		}
		readsBack(t, stmts[0].(*Query))
	}
}
