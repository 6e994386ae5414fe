package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
)

// dirtying groups generated rows by as many keys as there are, so that between two
// checkpoints almost every key changes.
func dirtying(keys int, name string) string {
	return fmt.Sprintf(`
		CREATE TEMPORARY TABLE rows_in (k INT, v INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1000000000',
			'fields.k.min' = '1', 'fields.k.max' = '%d', 'fields.v.min' = '1', 'fields.v.max' = '1000');
		CREATE TEMPORARY TABLE rows_out (k INT, n BIGINT, total BIGINT, high INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
		SET 'pipeline.name' = '%s';`, keys, name)
}

const dirtyingQuery = `INSERT INTO rows_out SELECT k, COUNT(*), SUM(v), MAX(v) FROM rows_in GROUP BY k`

// running is a query that goes on until it is canceled.
type running struct {
	e *engine.Engine
	q *engine.Query
}

func begin(tb testing.TB, cfg engine.Config, keys int) *running {
	tb.Helper()
	ctx := context.Background()
	e, err := engine.Open(ctx, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	if err := e.ExecuteScript(ctx, dirtying(keys, "dirtying"), func(*engine.Query) error { return nil }); err != nil {
		tb.Fatal(err)
	}
	q, err := e.ExecuteSQL(ctx, dirtyingQuery)
	if err != nil {
		tb.Fatal(err)
	}
	return &running{e: e, q: q}
}

// TestCostOfCheckpoints compares a GROUP BY over a million keys with a checkpoint every
// 20 s, and over a hundred thousand every 2 s, with the same that keeps no state: the
// processor seconds for a million rows, compactions included. It is a measurement, and
// runs only when WEIR_MEASURE is set to the number of repetitions; the two take turns.
func TestCostOfCheckpoints(t *testing.T) {
	times := 0
	if _, err := fmt.Sscan(os.Getenv("WEIR_MEASURE"), &times); err != nil {
		t.Skip("WEIR_MEASURE is not set")
	}
	for _, c := range []struct {
		keys        int
		every, runs time.Duration
	}{{100_000, 2 * time.Second, 10 * time.Second}, {1_000_000, 20 * time.Second, 65 * time.Second}} {
		var cost [2]float64
		for i := range 2 * times {
			cfg := engine.Config{Parallelism: 2, CheckpointInterval: c.every}
			what := "without"
			if i%2 == 1 {
				cfg.StateDir, what = filepath.Join(t.TempDir(), "state"), "with"
			}
			r := begin(t, cfg, c.keys)
			// Every key is there before it is measured.
			for r.q.Metrics().SourceRows < int64(5*c.keys) {
				time.Sleep(20 * time.Millisecond)
			}
			rows, start := r.q.Metrics().SourceRows, cpu()
			time.Sleep(c.runs)
			rows, used := r.q.Metrics().SourceRows-rows, cpu()-start
			m := r.q.Metrics().Checkpoints
			r.q.Cancel()
			if err := r.e.Close(); err != nil {
				t.Fatal(err)
			}
			perMillion := used.Seconds() / float64(rows) * 1e6
			cost[i%2] += perMillion
			t.Logf("%d keys, %-7s %8.4f CPU s for a million rows (%d million); %d checkpoints, the last %d entries, %d MB, %v, stall %v",
				c.keys, what, perMillion, rows/1e6, m.Count, m.Entries, m.Bytes>>20, m.Duration.Round(time.Millisecond), m.Stall.Round(time.Microsecond))
		}
		t.Logf("%d keys, checkpoint every %v: %+.1f %%", c.keys, c.every, 100*(cost[1]/cost[0]-1))
	}
}
