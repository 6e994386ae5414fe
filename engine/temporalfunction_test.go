package engine_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/vector"
)

// The rates of currencies change, and every order gets those of its time. In SQL the
// function is CREATE TEMPORAL TABLE FUNCTION rates AS TABLE history TIME at KEY (currency).
func ExampleTable_CreateTemporalTableFunction() {
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Config{Parallelism: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	tables := `
		CREATE TABLE history (currency STRING, rate INT, at TIMESTAMP(3), WATERMARK FOR at AS at)
		WITH ('connector' = 'filesystem', 'path' = 'testdata/temporal/rates.csv', 'format' = 'csv');
		CREATE TABLE orders (amount INT, currency STRING, at TIMESTAMP(3), WATERMARK FOR at AS at)
		WITH ('connector' = 'filesystem', 'path' = 'testdata/temporal/orders.csv', 'format' = 'csv')`
	if err := e.ExecuteScript(ctx, tables, func(*engine.Query) error { return nil }); err != nil {
		log.Fatal(err)
	}
	history, err := e.Table("history")
	if err != nil {
		log.Fatal(err)
	}
	rates, err := history.CreateTemporalTableFunction("at", "currency")
	if err != nil {
		log.Fatal(err)
	}
	if err := e.RegisterTemporalTableFunction("rates", rates); err != nil {
		log.Fatal(err)
	}
	q, err := e.ExecuteSQL(ctx, `
		SELECT o.amount, o.currency, o.amount * r.rate AS yen
		FROM orders AS o, LATERAL TABLE(rates(o.at)) AS r
		WHERE r.currency = o.currency`)
	if err != nil {
		log.Fatal(err)
	}
	for {
		b, err := q.Changelog().Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		for i := range b.Len() {
			r := b.Row(i)
			fmt.Println(vector.Values[int32](b.Col(0))[r], b.Col(1).Text(r), vector.Values[int32](b.Col(2))[r])
		}
		b.Release()
	}
	// Output:
	// 2 Euro 228
	// 1 US Dollar 102
	// 50 Yen 50
	// 3 Euro 348
	// 5 US Dollar 510
}

const temporalTables = `
	CREATE TABLE history (currency STRING, rate INT, at TIMESTAMP(3), WATERMARK FOR at AS at) WITH ('connector' = 'datagen');
	CREATE TEMPORAL TABLE FUNCTION Rates AS TABLE history TIME at KEY (currency)`

// TestTemporalFunctionIsKept looks at a temporal table function before and after the
// engine of a state directory begins anew, and drops it.
func TestTemporalFunctionIsKept(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	open := func() *engine.Engine {
		e, err := engine.Open(ctx, engine.Config{StateDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	run := func(e *engine.Engine, sql string) (string, error) {
		var out []string
		err := e.ExecuteScript(ctx, sql, func(q *engine.Query) error {
			if q.Changelog() == nil {
				return q.Wait(ctx)
			}
			for {
				b, err := q.Changelog().Next(ctx)
				if err == io.EOF {
					return nil
				}
				if err != nil {
					return err
				}
				for i := range b.Len() {
					var cells []string
					for c := range b.Cols() {
						cells = append(cells, b.Col(c).Text(b.Row(i)))
					}
					out = append(out, strings.Join(cells, " "))
				}
				b.Release()
			}
		})
		return strings.Join(out, "\n"), err
	}
	e := open()
	if _, err := run(e, temporalTables); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if text, err := run(e, "SHOW CREATE FUNCTION Rates"); err != nil || !strings.Contains(text, "TEMPORAL TABLE FUNCTION") || !strings.Contains(text, "TIME at KEY (currency)") {
			t.Fatalf("%v\n%s", err, text)
		}
		if text, err := run(e, "DESCRIBE FUNCTION rates"); err != nil || !strings.Contains(text, "kind TEMPORAL TABLE") || !strings.Contains(text, "key currency") {
			t.Fatalf("%v\n%s", err, text)
		}
		if text, err := run(e, "SHOW USER FUNCTIONS"); err != nil || text != "Rates" {
			t.Fatalf("%v\n%s", err, text)
		}
		if _, err := run(e, "CREATE TEMPORAL TABLE FUNCTION IF NOT EXISTS Rates AS TABLE history TIME at KEY (currency)"); err != nil {
			t.Fatal(err)
		}
		if _, err := run(e, "CREATE TEMPORAL TABLE FUNCTION Rates AS TABLE history TIME at KEY (rate)"); errs.CodeOf(err) != errs.Exists {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = open()
	}
	defer func() { _ = e.Close() }()
	if _, err := run(e, "CREATE OR REPLACE TEMPORAL TABLE FUNCTION Rates AS TABLE history TIME at KEY (currency, rate)"); err != nil {
		t.Fatal(err)
	}
	if _, err := run(e, "DROP TEMPORAL TABLE FUNCTION Rates"); err != nil {
		t.Fatal(err)
	}
	if text, err := run(e, "SHOW USER FUNCTIONS"); err != nil || text != "" {
		t.Fatalf("%v\n%s", err, text)
	}
	if _, err := run(e, "CREATE TEMPORARY TABLE h2 LIKE history; CREATE TEMPORAL TABLE FUNCTION f AS TABLE h2 TIME at KEY (currency)"); errs.CodeOf(err) != errs.Invalid {
		t.Fatal(err)
	}
}
