package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
)

// run executes a script in an engine of its own and drops the rows of its queries.
// It returns the metrics of the last one.
func run(tb testing.TB, parallelism int, script string) engine.Metrics {
	tb.Helper()
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Config{Parallelism: parallelism})
	if err != nil {
		tb.Fatal(err)
	}
	defer e.Close()
	var last *engine.Query
	err = e.ExecuteScript(ctx, script, func(q *engine.Query) error {
		last = q
		if q.Changelog() == nil {
			return nil
		}
		for {
			b, err := q.Changelog().Next(ctx)
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			b.Release()
		}
	})
	if err != nil {
		tb.Fatal(err)
	}
	return last.Metrics()
}

// cpu is the processor time that the process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure runs a script b.N times and reports rows of source per CPU second, the
// figure that does not depend on what else the machine does.
func measure(b *testing.B, parallelism int, script string) {
	b.Helper()
	rows, start := int64(0), cpu()
	for b.Loop() {
		rows += run(b, parallelism, script).SourceRows
	}
	b.ReportMetric(float64(rows)/(cpu()-start).Seconds()/1e6, "Mrows/cpu-s")
}

// flights joins real flights, three million, with airports. The files are those of
// vega-datasets 3.2.1.
func flights(tb testing.TB) string {
	const data = "../../shared/data"
	if _, err := os.Stat(data + "/flights-3m.parquet"); err != nil {
		tb.Skip("flights-3m.parquet is not here")
	}
	return fmt.Sprintf(`
		CREATE TABLE flights WITH ('connector' = 'filesystem', 'path' = '%[1]s/flights-3m.parquet');
		CREATE TABLE airports WITH ('connector' = 'filesystem', 'path' = '%[1]s/airports.csv');
		SELECT a.state, COUNT(*), AVG(CAST(f.delay AS DOUBLE))
		FROM flights AS f JOIN airports AS a ON f.origin = a.iata GROUP BY a.state;`, data)
}

// generated filters generated rows, joins them with a small bounded side and
// aggregates.
func generated(rows int) string {
	return fmt.Sprintf(`
		CREATE TABLE bids (auction INT, price INT, id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '%[1]d',
			'fields.auction.min' = '1', 'fields.auction.max' = '1000', 'fields.price.min' = '1', 'fields.price.max' = '10000',
			'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '%[1]d');
		CREATE TABLE auctions (id INT, category INT) WITH ('connector' = 'datagen', 'number-of-rows' = '500',
			'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '500',
			'fields.category.min' = '1', 'fields.category.max' = '10');
		SELECT a.category, COUNT(*), SUM(b.id), MAX(b.price)
		FROM bids AS b JOIN auctions AS a ON b.auction = a.id WHERE b.price > 100 GROUP BY a.category;`, rows)
}

func BenchmarkFlights(b *testing.B) {
	for _, p := range []int{1, 2} {
		b.Run(fmt.Sprintf("parallel=%d", p), func(b *testing.B) { measure(b, p, flights(b)) })
	}
}

func BenchmarkGenerated(b *testing.B) {
	for _, p := range []int{1, 2} {
		b.Run(fmt.Sprintf("parallel=%d", p), func(b *testing.B) { measure(b, p, generated(5_000_000)) })
	}
}

// TestMemoryIsConstant runs many rows through a filter, a join with a small bounded
// side and an aggregate. Once that side has ended nothing of the other is kept.
func TestMemoryIsConstant(t *testing.T) {
	rows := 5_000_000
	if os.Getenv("WEIR_SOAK") != "" {
		rows = 100_000_000
	}
	if testing.Short() {
		t.Skip("long")
	}
	var joins, state int64
	for _, o := range run(t, 2, generated(rows)).Operators {
		state += o.StateBytes
		if o.StateKeys > 0 && o.Name[:4] == "Join" {
			joins += o.StateKeys
		}
	}
	if joins > 1000 || state > 8<<20 {
		t.Errorf("after %d rows the joins keep %d keys, all operators %d bytes", rows, joins, state)
	}
	if peak := peakKB(t); peak > 400<<10 {
		t.Errorf("the process used up to %d MB", peak>>10)
	}
}

// peakKB is the largest resident size that the process had.
func peakKB(t *testing.T) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u.Maxrss
}
