package ref_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/internal/ref"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// The table ev has rows in two splits. Those of 4 and 12 s of split 0 are behind rows that
// came before them; that of 5 s of split 1 is not.
var evSchema = sqltype.Schema{{Name: "k", Type: sqltype.StringType}, {Name: "v", Type: sqltype.IntType}, {Name: "ts", Type: sqltype.TimestampOf(3)}}

func evRows() (out []ref.Change) {
	add := func(split int, kind vector.RowKind, k string, v, second int64) {
		out = append(out, ref.Change{Row: ref.Row{k, v, second * 1000}, Kind: kind, Split: split})
	}
	add(0, vector.Insert, "a", 1, 2)
	add(0, vector.Insert, "b", 2, 11)
	add(0, vector.Insert, "a", 4, 4)
	add(1, vector.Insert, "a", 8, 5)
	add(0, vector.Insert, "b", 16, 25)
	add(0, vector.Insert, "b", 32, 12)
	add(1, vector.Delete, "a", 8, 5)
	add(1, vector.Insert, "c", 64, 13)
	return out
}

func TestWindowsAndLateRows(t *testing.T) {
	c := channel.New()
	c.AddInput("ev", channel.NewInput(evSchema, sqltype.RetractMode))
	e, err := engine.Open(t.Context(), engine.Config{Connectors: []connector.Connector{c}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	if _, err := e.ExecuteSQL(t.Context(), "CREATE TABLE ev (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'channel')"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ sql, want string }{
		{
			"SELECT window_start, SUM(v), COUNT(*) FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end",
			"'1970-01-01 00:00:00' 1 1; '1970-01-01 00:00:10' 66 2; '1970-01-01 00:00:20' 16 1",
		},
		{ // the row of 4 s is late for the first window alone
			"SELECT window_end, SUM(v) FROM TABLE(HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)) GROUP BY window_start, window_end",
			"'1970-01-01 00:00:05' 1; '1970-01-01 00:00:10' 1; '1970-01-01 00:00:15' 71; '1970-01-01 00:00:20' 66; '1970-01-01 00:00:25' 66; '1970-01-01 00:00:30' 16; '1970-01-01 00:00:35' 16; '1970-01-01 00:00:40' 16",
		},
		{
			"SELECT window_start, window_end, v FROM TABLE(CUMULATE(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) WHERE v = 2",
			"'1970-01-01 00:00:10' '1970-01-01 00:00:15' 2; '1970-01-01 00:00:10' '1970-01-01 00:00:20' 2",
		},
		{
			"SELECT k, window_start, window_end, COUNT(*) FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '4' SECOND)) WHERE k <> 'a' GROUP BY k, window_start, window_end",
			"'b' '1970-01-01 00:00:11' '1970-01-01 00:00:15' 1; 'b' '1970-01-01 00:00:25' '1970-01-01 00:00:29' 1; 'c' '1970-01-01 00:00:13' '1970-01-01 00:00:17' 1",
		},
		{
			"SELECT op, v FROM TO_CHANGELOG(input => TABLE ev) WHERE v IN (2, 8)",
			"'DELETE' 8; 'INSERT' 2; 'INSERT' 8",
		},
	} {
		p, err := e.Plan(t.Context(), c.sql, true)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		kept := func(*plan.Scan) (rows []ref.Row, _ error) {
			for _, c := range evRows() {
				if c.Row[1] != int64(8) {
					rows = append(rows, c.Row)
				}
			}
			return rows, nil
		}
		r, err := ref.Evaluate(p, ref.Input{Tables: kept, Changes: func(*plan.Scan) ([]ref.Change, error) { return evRows(), nil }})
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
			t.Errorf("%s:\ngot  %s\nwant %s", c.sql, got, c.want)
		}
	}
}
