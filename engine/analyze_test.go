package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/sqltype"
)

// Explain of a running query says what it waits for, and why it has no rows.
func TestExplainOfARunningQuery(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	schema := sqltype.Schema{{Name: "k", Type: sqltype.StringType}, {Name: "ts", Type: sqltype.TimestampOf(3)}}
	channels := channel.New()
	in := channel.NewInput(schema, sqltype.AppendMode)
	channels.AddInput("ev", in)
	e, err := engine.Open(ctx, engine.Config{Connectors: []connector.Connector{channels}, Parallelism: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	run := func(sql string) *engine.Query {
		t.Helper()
		q, err := e.ExecuteSQL(ctx, sql)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	run("CREATE TABLE ev (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'channel', 'watermark.idle-timeout' = '0')")
	run("SET 'pipeline.name' = 'hourly'")
	q := run("SELECT window_end, COUNT(*) FROM TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' HOUR) WHERE k <> 'x' GROUP BY window_start, window_end")
	defer q.Cancel()
	at := func(minute int) time.Time { return time.Date(2020, 1, 1, 12, minute, 0, 0, time.UTC) }
	wants := func(step, text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is not in\n%s", step, part, text)
			}
		}
	}
	sync := func(rows ...channel.Row) {
		t.Helper()
		if err := in.Send(ctx, rows...); err != nil {
			t.Fatal(err)
		}
		if err := q.Sync(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	wants("nothing sent", q.Explain(), "no rows in Collect: Scan ev has had no rows yet")
	sync(channel.Insert("x", at(1)))
	wants("all dropped", q.Explain(), "of 1 row in Calc none was passed on: they do not meet k <> 'x'")
	sync(channel.Insert("a", at(9)), channel.Insert("b", at(5)))
	wants("an open window", q.Explain(), "waits for: Scan ev", "at 2020-01-01 12:09:00.000 since ",
		"no rows in Collect: WindowAggregate TUMBLE(1 h) of ts has taken in 2 rows and waits for event time to go on: Scan ev")
	sync(channel.Insert("a", at(69)), channel.Insert("b", at(1)))
	shown, err := rowsOf(ctx, run("EXPLAIN ANALYZE JOB 'hourly'"))
	if err != nil {
		t.Fatal(err)
	}
	wants("a window that is over", shown, "late: 1 row")
	if strings.Contains(shown, "no rows in") {
		t.Errorf("there are rows, and there is none in\n%s", shown)
	}
	if _, err := e.ExecuteSQL(ctx, "EXPLAIN ANALYZE JOB 'hurly'"); err == nil || !strings.Contains(err.Error(), "hourly") {
		t.Errorf("a job that is not there: %v", err)
	}
	done, err := rowsOf(ctx, run("EXPLAIN ANALYZE SELECT x FROM (VALUES (1), (2)) AS t(x) WHERE x > 1"))
	if err != nil {
		t.Fatal(err)
	}
	wants("a query that ends", done, "Collect", "Values 2 rows", "end")
}

// rowsOf is the text of a result of one column.
func rowsOf(ctx context.Context, q *engine.Query) (string, error) {
	b, err := q.Changelog().Next(ctx)
	if err != nil {
		return "", err
	}
	defer b.Release()
	return b.Col(0).Text(0) + "\n", nil
}
