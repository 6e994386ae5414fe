package ref_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/internal/ref"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var (
	pairType = sqltype.RowOf(sqltype.Column{Name: "a", Type: sqltype.IntType}, sqltype.Column{Name: "s", Type: sqltype.StringType})

	nestedSchema = sqltype.Schema{
		{Name: "id", Type: sqltype.IntType},
		{Name: "r", Type: pairType},
		{Name: "l", Type: sqltype.ArrayOf(sqltype.StringType)},
		{Name: "m", Type: sqltype.MapOf(sqltype.StringType.Required(), sqltype.IntType)},
		{Name: "b", Type: sqltype.MultisetOf(sqltype.IntType)},
		{Name: "f", Type: sqltype.DoubleType},
	}
	strictSchema = sqltype.Schema{{Name: "id", Type: sqltype.IntType}, {Name: "r", Type: sqltype.RowOf(sqltype.Column{Name: "a", Type: sqltype.BigIntType.Required()}, pairType.Fields[1])}}
	changeSchema = sqltype.Schema{{Name: "op", Type: sqltype.StringType}, {Name: "v", Type: sqltype.IntType}}

	nestedRows = []ref.Row{
		{int64(1), ref.Nested{int64(5), "x"}, ref.Nested{"p", "q"}, ref.Nested{ref.Nested{"j", int64(2)}, ref.Nested{"k", nil}}, ref.Nested{ref.Nested{int64(1), int64(2)}, ref.Nested{int64(5), int64(1)}}, 1.5},
		{int64(2), ref.Nested{int64(5), "x"}, ref.Nested{nil}, ref.Nested{}, ref.Nested{}, math.Inf(1)},
		{int64(3), ref.Nested{int64(7), nil}, ref.Nested{}, ref.Nested{ref.Nested{"j", int64(2)}, ref.Nested{"k", nil}}, nil, math.NaN()},
		{int64(4), nil, nil, nil, nil, math.Inf(-1)},
		{int64(5), ref.Nested{int64(7), nil}, ref.Nested{"p, q"}, nil, nil, math.Copysign(0, -1)},
	}
	changeRows = []ref.Row{{"INSERT", int64(1)}, {"INSERT", int64(2)}, {"UPDATE_BEFORE", int64(1)}, {"UPDATE_AFTER", int64(3)}, {"INSERT", int64(2)}, {"DELETE", int64(2)}}
)

func openNested(t *testing.T) *engine.Engine {
	t.Helper()
	c := channel.New()
	c.AddInput("nested", channel.NewInput(nestedSchema, sqltype.RetractMode))
	c.AddInput("changes", channel.NewInput(changeSchema, sqltype.AppendMode))
	c.AddOutput("strict", channel.NewOutput(strictSchema, sqltype.RetractMode))
	e, err := engine.Open(t.Context(), engine.Config{Connectors: []connector.Connector{c}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	for _, sql := range []string{
		"CREATE TABLE nested (id INT, r ROW<a INT, s STRING>, l ARRAY<STRING>, m MAP<STRING, INT>, b MULTISET<INT>, f DOUBLE) WITH ('connector' = 'channel')",
		"CREATE TABLE changes (op STRING, v INT) WITH ('connector' = 'channel')",
		"CREATE TABLE strict (id INT, r ROW<a BIGINT NOT NULL, s STRING>) WITH ('connector' = 'channel')",
	} {
		if _, err := e.ExecuteSQL(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func nestedTables(n *plan.Scan) ([]ref.Row, error) {
	if n.Table.ID.Object == "changes" {
		return changeRows, nil
	}
	return nestedRows, nil
}

func evaluateNested(t *testing.T, e *engine.Engine, sql string) (string, error) {
	t.Helper()
	p, err := e.Plan(t.Context(), sql, true)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	r, err := ref.Evaluate(p, ref.Input{Tables: nestedTables})
	if err != nil {
		return "", err
	}
	var rows []string
	for _, row := range r[0].Rows {
		rows = append(rows, ref.Key(r[0].Schema.Types(), row))
	}
	slices.Sort(rows)
	return strings.Join(rows, "; "), nil
}

func TestNested(t *testing.T) {
	e := openNested(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT id, r, l, m, b FROM nested WHERE id <= 3", "1 '(5, x)' '[p, q]' '{j=2, k=NULL}' '{1=2, 5=1}'; 2 '(5, x)' '[NULL]' '{}' '{}'; 3 '(7, NULL)' '[]' '{j=2, k=NULL}' NULL"},
		{"SELECT id, r.a, nested.r.s, l[1], l[id], m['j'], m['k'], m['z'] FROM nested", "1 5 'x' 'p' 'p' 2 NULL NULL; 2 5 'x' NULL NULL NULL NULL NULL; 3 7 NULL NULL NULL 2 NULL NULL; 4 NULL NULL NULL NULL NULL NULL NULL; 5 7 NULL 'p, q' NULL NULL NULL NULL"},
		{"SELECT id, CARDINALITY(l), CARDINALITY(m), CARDINALITY(b) FROM nested", "1 2 2 3; 2 1 0 0; 3 0 2 NULL; 4 NULL NULL NULL; 5 1 NULL NULL"},
		{"SELECT id, ELEMENT(l) FROM nested WHERE id > 1", "2 NULL; 3 NULL; 4 NULL; 5 'p, q'"},
		{"SELECT id, ARRAY_CONTAINS(l, 'p'), ARRAY_CONTAINS(l, CAST(NULL AS STRING)) FROM nested", "1 TRUE FALSE; 2 FALSE TRUE; 3 FALSE FALSE; 4 NULL NULL; 5 FALSE FALSE"},
		{"SELECT ARRAY[id, NULL, 2], MAP['b', id, 'a', 1, 'b', 3], ROW(id, 'x y', l) FROM nested WHERE id = 1", "'[1, NULL, 2]' '{a=1, b=3}' '(1, ''x y'', [p, q])'"},
		{"SELECT id FROM nested WHERE r IS NULL OR l = ARRAY['p', 'q']", "1; 4"},
		{"SELECT id, l = ARRAY['p'], l <> ARRAY['p'], m = MAP['k', CAST(NULL AS INT), 'j', 2] FROM nested", "1 FALSE TRUE TRUE; 2 FALSE TRUE FALSE; 3 FALSE TRUE TRUE; 4 NULL NULL NULL; 5 FALSE TRUE NULL"},
		{"SELECT id, r IN (ROW(7, CAST(NULL AS STRING)), ROW(8, 'y')), r IS NOT DISTINCT FROM NULL FROM nested WHERE id > 2", "3 TRUE FALSE; 4 NULL TRUE; 5 TRUE FALSE"},
		{"SELECT r, COUNT(*), COUNT(DISTINCT m) FROM nested GROUP BY r", "'(5, x)' 2 2; '(7, NULL)' 2 1; NULL 1 0"},
		{"SELECT DISTINCT ARRAY[f * 0] FROM nested WHERE id <> 5", "'[0.0]'; '[NaN]'"},
		{"SELECT x.id, y.id FROM nested AS x JOIN nested AS y ON x.r = y.r AND x.id < y.id", "1 2; 3 5"},
		{"SELECT x.id, y.m FROM nested AS x LEFT JOIN nested AS y ON x.m = y.m AND x.id < y.id WHERE x.id < 3", "1 '{j=2, k=NULL}'; 2 NULL"},
		{"SELECT m FROM nested EXCEPT SELECT m FROM nested WHERE id = 2", "'{j=2, k=NULL}'; NULL"},
		{"SELECT CAST(r AS ROW<x BIGINT, y STRING>).x, CAST(l AS STRING), CAST(m AS MAP<STRING, STRING>)['j'], TRY_CAST(l AS ARRAY<INT>) FROM nested WHERE id < 3", "5 '[NULL]' NULL '[NULL]'; 5 '[p, q]' '2' NULL"},
		{"SELECT CAST(MAP['2', 1, '10', 2, ' 2', 3] AS MAP<INT, INT>), CAST(ROW(1, NULL) AS STRING)", "'{2=1, 10=2}' '(1, NULL)'"},
		{"SELECT CASE WHEN id > 1 THEN r ELSE ROW(0, 'none') END, COALESCE(m, MAP['z', 0]), NULLIF(l, ARRAY['p', 'q']) FROM nested WHERE id IN (1, 4)", "'(0, none)' '{j=2, k=NULL}' NULL; NULL '{z=0}' NULL"},
		{"SELECT SUM(f), AVG(f), VAR_POP(f), MIN(f), MAX(f) FROM nested WHERE id <> 4", "NaN NaN NaN 0.0 NaN"},
		{"SELECT SUM(f), AVG(f), MAX(f) FROM nested WHERE id < 3", "Infinity Infinity Infinity"},
		{"SELECT SUM(f) FROM nested WHERE id = 2 OR id = 4", "NaN"},
		{"SELECT id FROM nested ORDER BY f DESC LIMIT 1", "3"},
		{"INSERT INTO strict SELECT id, r FROM nested", "1 '(5, x)'; 2 '(5, x)'; 3 '(7, NULL)'; 4 NULL; 5 '(7, NULL)'"},
		{"SELECT * FROM TO_CHANGELOG(input => TABLE changes, op => DESCRIPTOR(kind)) WHERE v = 3", "'INSERT' 'UPDATE_AFTER' 3"},
		{"SELECT * FROM FROM_CHANGELOG(input => TABLE changes)", "2; 3"},
	} {
		got, err := evaluateNested(t, e, c.sql)
		if err != nil || got != c.want {
			t.Errorf("%s:\ngot  %s, %v\nwant %s", c.sql, got, err, c.want)
		}
	}
}

func TestNestedErrors(t *testing.T) {
	e := openNested(t)
	for sql, want := range map[string]errs.Code{
		"SELECT ELEMENT(l) FROM nested":                                                         errs.Data,
		"SELECT MAP[l[1], 1] FROM nested":                                                       errs.Data,
		"SELECT CAST(l AS ARRAY<INT>) FROM nested":                                              errs.Cast,
		"SELECT CAST(r AS ROW<a TIME, s STRING>) FROM (SELECT ROW(l[1], 'x') AS r FROM nested)": errs.Cast,
		"INSERT INTO strict SELECT id, ROW(CAST(NULL AS BIGINT), 'x') FROM nested":              errs.Data,
	} {
		if strings.HasPrefix(sql, "INSERT") {
			if _, err := e.ExecuteSQL(t.Context(), "SET 'table.exec.sink.nested-constraint-enforcer' = 'ROWS'"); err != nil {
				t.Fatal(err)
			}
		}
		_, err := evaluateNested(t, e, sql)
		var have *errs.Error
		if !errors.As(err, &have) || have.Code != want {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
}

// What is appended to a column is read from it again.
func TestNestedColumn(t *testing.T) {
	pool := vector.NewCheckedPool()
	types := nestedSchema.Types()
	kinds := make([]vector.Kind, len(types))
	for i, typ := range types {
		kinds[i] = typ.Kind()
	}
	b := vector.NewBuilder(pool, kinds)
	for _, r := range nestedRows {
		for i, v := range r {
			ref.Append(b.Col(i), types[i], v)
		}
		b.EndRow(vector.Insert)
	}
	batch := b.Finish()
	for i, r := range nestedRows {
		if got := ref.Key(types, ref.RowOf(types, batch, i)); got != ref.Key(types, r) {
			t.Errorf("row %d is %s, want %s", i, got, ref.Key(types, r))
		}
	}
	batch.Release()
	if err := pool.Leaks(); err != nil {
		t.Error(err)
	}
}
