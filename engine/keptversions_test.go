package engine_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// allRows are the rows of a query that ends, in order.
func allRows(ctx context.Context, q *engine.Query) (string, error) {
	var rows []string
	for {
		b, err := q.Changelog().Next(ctx)
		if err == io.EOF {
			slices.Sort(rows)
			return strings.Join(rows, "\n"), nil
		}
		if err != nil {
			return "", err
		}
		for i := range b.Len() {
			var cells []string
			for c := range b.Cols() {
				cells = append(cells, b.Col(c).Text(b.Row(i)))
			}
			rows = append(rows, b.Kind(i).String()+" "+strings.Join(cells, " "))
		}
		b.Release()
	}
}

// A temporal table function at a constant time, over a history that does not end, is
// answered out of the versions that a query keeps which runs.
func TestVersionsOfARunningQuery(t *testing.T) {
	for _, parallelism := range []int{1, 2} {
		t.Run(fmt.Sprint(parallelism), func(t *testing.T) { testKeptVersions(t, parallelism) })
	}
}

func testKeptVersions(t *testing.T, parallelism int) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	channels := channel.New()
	rates := channel.NewInput(sqltype.Schema{{Name: "currency", Type: sqltype.StringType}, {Name: "rate", Type: sqltype.BigIntType}, {Name: "bank", Type: sqltype.StringType}, {Name: "at", Type: sqltype.TimestampOf(3)}}, sqltype.AppendMode)
	orders := channel.NewInput(sqltype.Schema{{Name: "amount", Type: sqltype.BigIntType}, {Name: "currency", Type: sqltype.StringType}, {Name: "at", Type: sqltype.TimestampOf(3)}}, sqltype.AppendMode)
	channels.AddInput("history", rates)
	channels.AddInput("orders", orders)
	e, err := engine.Open(ctx, engine.Config{Connectors: []connector.Connector{channels}, Parallelism: parallelism})
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
	for _, sql := range []string{
		"CREATE TABLE history (currency STRING, rate BIGINT, bank STRING, at TIMESTAMP(3), WATERMARK FOR at AS at) WITH ('connector' = 'channel', 'watermark.idle-timeout' = '0')",
		"CREATE TABLE orders (amount BIGINT, currency STRING, at TIMESTAMP(3), WATERMARK FOR at AS at) WITH ('connector' = 'channel', 'watermark.idle-timeout' = '0')",
		"CREATE TEMPORAL TABLE FUNCTION Rates AS TABLE history TIME at KEY (currency)",
		"CREATE TABLE nothing (currency STRING, yen BIGINT) WITH ('connector' = 'blackhole')",
	} {
		run(sql)
	}
	run("SET 'pipeline.name' = 'convert'")
	q := run("INSERT INTO nothing SELECT o.currency, o.amount * r.rate FROM orders AS o, LATERAL TABLE(Rates(o.at)) AS r WHERE r.currency = o.currency")
	defer q.Cancel()
	run("SET 'pipeline.name' = ''")
	at := func(hour, minute int) time.Time { return time.Date(2020, 1, 1, hour, minute, 0, 0, time.UTC) }
	send := func(in *channel.Input, rows ...channel.Row) {
		t.Helper()
		if err := in.Send(ctx, rows...); err != nil {
			t.Fatal(err)
		}
		if err := q.Sync(ctx); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(sql string) (string, error) {
		t.Helper()
		a, err := e.ExecuteSQL(ctx, sql)
		if err != nil {
			return "", err
		}
		return allRows(ctx, a)
	}
	wants := func(sql, want string) {
		t.Helper()
		if got, err := ask(sql); err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", sql, err, got, want)
		}
	}
	const of = "SELECT currency, CAST(rate AS STRING), CAST(at AS STRING) FROM Rates(TIMESTAMP '2020-01-01 %s')"
	wants(fmt.Sprintf(of, "10:00:00"), "")
	send(rates, channel.Insert("Euro", int64(114), "a", at(9, 0)), channel.Insert("Dollar", int64(102), "a", at(9, 0)), channel.Insert("Yen", int64(1), "a", at(9, 0)))
	send(rates, channel.Insert("Euro", int64(116), "b", at(10, 45)), channel.Insert("Euro", int64(119), "b", at(11, 15)))
	const nine = "+I Dollar 102 2020-01-01 09:00:00.000\n+I Euro 114 2020-01-01 09:00:00.000\n+I Yen 1 2020-01-01 09:00:00.000"
	// Orders have not come yet: all versions are kept.
	wants(fmt.Sprintf(of, "10:15:00"), nine)
	wants(fmt.Sprintf(of, "08:59:59.999"), "")
	wants(fmt.Sprintf(of, "11:00:00"), strings.Replace(nine, "114 2020-01-01 09:00", "116 2020-01-01 10:45", 1))
	wants(fmt.Sprintf(of, "12:00:00"), strings.Replace(nine, "114 2020-01-01 09:00", "119 2020-01-01 11:15", 1))
	send(orders, channel.Insert(int64(2), "Euro", at(10, 50)))
	// Both are as far as 10:50: what held before is not kept.
	wants(fmt.Sprintf(of, "10:50:00"), strings.Replace(nine, "114 2020-01-01 09:00", "116 2020-01-01 10:45", 1))
	wants(fmt.Sprintf(of, "11:15:00"), strings.Replace(nine, "114 2020-01-01 09:00", "119 2020-01-01 11:15", 1))
	wants("SELECT CAST(SUM(rate) AS STRING) FROM Rates(TIMESTAMP '2020-01-01 11:00:00') WHERE rate > 1", "+I 218")
	_, err = ask(fmt.Sprintf(of, "10:49:59.999"))
	if errs.CodeOf(err) != errs.State || !strings.Contains(err.Error(), "since 2020-01-01 10:50:00, and not what held at 2020-01-01 10:49:59.999") {
		t.Errorf("an earlier time: %v", err)
	}
	_, err = ask("SELECT bank FROM Rates(TIMESTAMP '2020-01-01 11:00:00')")
	if errs.CodeOf(err) != errs.State || !strings.Contains(err.Error(), "job convert, which runs, does not keep bank") {
		t.Errorf("a column that is not kept: %v", err)
	}
	// A version that comes later is there in the next answer.
	send(rates, channel.Insert("Franc", int64(120), "b", at(11, 20)), channel.Insert("Euro", int64(121), "b", at(11, 20)))
	wants(fmt.Sprintf(of, "12:00:00"), "+I Dollar 102 2020-01-01 09:00:00.000\n+I Euro 121 2020-01-01 11:20:00.000\n+I Franc 120 2020-01-01 11:20:00.000\n+I Yen 1 2020-01-01 09:00:00.000")
	if text, err := e.Explain(ctx, fmt.Sprintf(of, "12:00:00"), engine.ExplainText); err != nil || !strings.Contains(text, "versions of Rates kept by job convert") {
		t.Errorf("%v\n%s", err, text)
	}
}
