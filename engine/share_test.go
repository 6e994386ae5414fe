package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
)

// A statement reads a table once, however often it names it: figures show it, and
// readers on many shards that wait for each other come to an end.
func TestAStatementReadsATableOnce(t *testing.T) {
	for reuse, rows := range map[string]int64{"true": 50_000, "false": 200_000} {
		e, _ := open(t, engine.Config{Parallelism: 3, BatchSize: 64, FlushRows: 500})
		exec(t, e, "SET 'plan.reuse-sub-plan' = '"+reuse+"'")
		exec(t, e, `CREATE TABLE made (k INT, v INT) WITH ('connector' = 'datagen', 'number-of-rows' = '50000',
			'fields.k.min' = '0', 'fields.k.max' = '99', 'fields.v.min' = '0', 'fields.v.max' = '9')`)
		exec(t, e, "CREATE VIEW per AS SELECT k, COUNT(*) AS n, MAX(v) AS top FROM made GROUP BY k")
		for _, name := range []string{"one", "two", "three"} {
			exec(t, e, "CREATE TABLE "+name+" (k INT, n BIGINT) WITH ('connector' = 'blackhole')")
		}
		q := exec(t, e, `EXECUTE STATEMENT SET BEGIN
			INSERT INTO one SELECT k, n FROM per;
			INSERT INTO two SELECT a.k, b.n + b.top FROM per a JOIN per b ON a.n = b.n;
			INSERT INTO three SELECT v, COUNT(*) FROM made GROUP BY v;
		END`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := q.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		if got := q.Metrics().SourceRows; got != rows {
			t.Errorf("shared is %s: %d rows were read, want %d", reuse, got, rows)
		}
	}
}

// What can be read once only has several readers in one statement.
func TestAChannelIsReadTwice(t *testing.T) {
	e, in := open(t, engine.Config{})
	q := exec(t, e, "SELECT auction FROM bids WHERE price > 3 UNION ALL SELECT auction FROM bids WHERE price > 5")
	if err := in.Send(t.Context(), insert(1, 4), insert(2, 6)); err != nil {
		t.Fatal(err)
	}
	in.Close()
	got, err := drain(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got["1"] != 1 || got["2"] != 2 {
		t.Errorf("got %v", got)
	}
}
