package engine_test

import (
	"context"
	"slices"
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

// Explain and Metrics of a query whose join waits for a table say how far that is.
func TestExplainOfLoading(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	schema := sqltype.Schema{{Name: "k", Type: sqltype.StringType}, {Name: "ts", Type: sqltype.TimestampOf(3)}}
	channels := channel.New()
	in, table := channel.NewInput(schema, sqltype.AppendMode), channel.NewInput(schema, sqltype.AppendMode)
	channels.AddInput("ev", in)
	channels.AddInput("rates", table)
	e, err := engine.Open(ctx, engine.Config{Connectors: []connector.Connector{channels}, Parallelism: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, name := range []string{"ev", "rates"} {
		if _, err := e.ExecuteSQL(ctx, "CREATE TABLE "+name+" (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'channel', 'watermark.idle-timeout' = '0')"); err != nil {
			t.Fatal(err)
		}
	}
	q, err := e.ExecuteSQL(ctx, `SELECT e.k, r.ts FROM ev AS e JOIN LATERAL TABLE(SNAPSHOT(input => TABLE rates, load_completed_condition => 'user_time',
		load_completed_time => CAST(TIMESTAMP '2020-01-01 12:10:00' AS TIMESTAMP_LTZ(3)))) AS r ON e.k = r.k`)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Cancel()
	at := func(minute int) time.Time { return time.Date(2020, 1, 1, 12, minute, 0, 0, time.UTC) }
	send := func(in *channel.Input, rows ...channel.Row) {
		t.Helper()
		if err := in.Send(ctx, rows...); err != nil {
			t.Fatal(err)
		}
		if err := q.Sync(ctx); err != nil {
			t.Fatal(err)
		}
	}
	send(in, channel.Insert("a", at(1)), channel.Insert("b", at(2)), channel.Insert("c", at(3)))
	send(table, channel.Insert("a", at(5)), channel.Insert("b", at(6)))
	want := []engine.LoadMetrics{{Table: "rates", Until: "it is as far as 2020-01-01 12:10:00, or ends", RowsRead: 2, RowsWaiting: 3}}
	if got := q.Metrics().Loading; !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	text := q.Explain()
	for _, part := range []string{
		"loading: 2 rows of rates read, waits until it is as far as 2020-01-01 12:10:00, or ends; its event time waits for Scan rates", "at 2020-01-01 12:06:00.000 since ", "rows waiting: 3",
		"no rows in Collect: SnapshotJoin has not joined any row yet, loading: 2 rows of rates read",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	send(table, channel.Insert("c", at(10)))
	if got := q.Metrics().Loading; len(got) > 0 {
		t.Errorf("it has loaded, and there is %+v", got)
	}
	if text := q.Explain(); strings.Contains(text, "loading") || strings.Contains(text, "no rows") {
		t.Errorf("it has loaded:\n%s", text)
	}
}
