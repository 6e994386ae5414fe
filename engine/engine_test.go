package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var bids = sqltype.Schema{{Name: "auction", Type: sqltype.BigIntType}, {Name: "price", Type: sqltype.BigIntType}}

// open returns an engine with a table bids that the returned input feeds.
func open(t *testing.T, cfg engine.Config) (*engine.Engine, *channel.Input) {
	t.Helper()
	in := channel.NewInput(bids, sqltype.RetractMode)
	channels := channel.New()
	channels.AddInput("bids", in)
	cfg.Connectors = append(cfg.Connectors, connector.Connector(channels))
	e, err := engine.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	exec(t, e, "CREATE TABLE bids (auction BIGINT, price BIGINT) WITH ('connector' = 'channel')")
	return e, in
}

func exec(t *testing.T, e *engine.Engine, sql string) *engine.Query {
	t.Helper()
	q, err := e.ExecuteSQL(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// drain folds a changelog of BIGINT columns into the rows that are left.
func drain(ctx context.Context, q *engine.Query) (map[string]int, error) {
	rows := map[string]int{}
	for {
		b, err := q.Changelog().Next(ctx)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		for i := range b.Len() {
			r := b.Row(i)
			var cells []string
			for c := range b.Cols() {
				cells = append(cells, fmt.Sprint(vector.Values[int64](b.Col(c))[r]))
			}
			row := strings.Join(cells, " ")
			if rows[row] += int(b.Kind(r).Sign()); rows[row] == 0 {
				delete(rows, row)
			}
		}
		b.Release()
	}
}

func insert(auction, price int64) channel.Row {
	return channel.Row{Kind: vector.Insert, Values: []any{auction, price}}
}

func TestStopKeepsWhatWasRead(t *testing.T) {
	e, in := open(t, engine.Config{Parallelism: 2})
	q := exec(t, e, "SELECT auction, COUNT(*), SUM(price) FROM bids GROUP BY auction")
	type result struct {
		rows map[string]int
		err  error
	}
	got := make(chan result, 1)
	go func() {
		rows, err := drain(t.Context(), q)
		got <- result{rows, err}
	}()
	if err := in.Send(t.Context(), insert(1, 10), insert(2, 20), insert(1, 5)); err != nil {
		t.Fatal(err)
	}
	if err := q.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := q.Metrics(); m.SourceRows != 3 || m.Epoch == 0 {
		t.Errorf("after Sync: %d source rows, epoch %d", m.SourceRows, m.Epoch)
	}
	if err := q.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.err != nil || len(r.rows) != 2 || r.rows["1 2 15"] != 1 || r.rows["2 1 20"] != 1 {
		t.Errorf("rows %v, error %v", r.rows, r.err)
	}
	if err := q.Wait(t.Context()); err != nil {
		t.Errorf("Wait after Stop: %v", err)
	}
}

func TestCancelEndsTheChangelog(t *testing.T) {
	e, in := open(t, engine.Config{})
	q := exec(t, e, "SELECT * FROM bids")
	if err := in.Send(t.Context(), insert(1, 10)); err != nil {
		t.Fatal(err)
	}
	q.Cancel()
	if _, err := drain(t.Context(), q); errs.CodeOf(err) != errs.Canceled {
		t.Errorf("the changelog ended with %v", err)
	}
	if err := q.Wait(t.Context()); errs.CodeOf(err) != errs.Canceled {
		t.Errorf("the query ended with %v", err)
	}
}

func TestTheCauseOfAFailureIsReported(t *testing.T) {
	e, in := open(t, engine.Config{Parallelism: 2})
	q := exec(t, e, "SELECT 100 / price FROM bids")
	if err := in.Send(t.Context(), insert(1, 0)); err != nil {
		t.Fatal(err)
	}
	_, err := drain(t.Context(), q)
	var e1 *errs.Error
	if !errors.As(err, &e1) || e1.Code != errs.Arithmetic || e1.Pos.Column != 12 {
		t.Errorf("got %v", err)
	}
	if werr := q.Wait(t.Context()); werr == nil || werr.Error() != err.Error() {
		t.Errorf("Wait says %v, the changelog %v", werr, err)
	}
	in.Close()
}

func TestCloseEndsQueriesAndLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		e, err := engine.Open(ctx, engine.Config{})
		if err != nil {
			t.Fatal(err)
		}
		q, err := e.ExecuteSQL(ctx, "SELECT 1")
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		_ = q.Wait(ctx) // it may have ended before
		if _, err := e.ExecuteSQL(ctx, "SELECT 1"); errs.CodeOf(err) != errs.Canceled {
			t.Errorf("a closed engine answers %v", err)
		}
		cancel()
	}
	for wait := time.Millisecond; runtime.NumGoroutine() > before && wait < time.Second; wait *= 2 {
		<-time.After(wait) // goroutines that were told to end still have to be run
	}
	if n := runtime.NumGoroutine(); n > before {
		buf := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before\n%s", n, before, buf[:runtime.Stack(buf, true)])
	}
}

func TestScriptsRunInOrder(t *testing.T) {
	e, err := engine.Open(t.Context(), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var kinds []string
	script := `
		SET 'parallelism.default' = '1';
		CREATE VIEW v AS SELECT a + 1 AS b FROM (VALUES (1), (2)) AS t(a);
		SELECT SUM(b) FROM v;
		SELECT nothing FROM v;
		SELECT 1;`
	err = e.ExecuteScript(t.Context(), script, func(q *engine.Query) error {
		kinds = append(kinds, q.Statement())
		return nil
	})
	var e1 *errs.Error
	if !errors.As(err, &e1) || e1.Code != errs.NotFound || e1.Pos.Line != 5 {
		t.Errorf("got %v", err)
	}
	if want := []string{"SET", "CREATE VIEW", "SELECT"}; !slices.Equal(kinds, want) {
		t.Errorf("executed %v, want %v", kinds, want)
	}
}

func TestExplainRunsNothing(t *testing.T) {
	e, _ := open(t, engine.Config{})
	text, err := e.Explain(t.Context(), "CREATE VIEW v AS SELECT * FROM bids; SELECT auction, COUNT(*) FROM v GROUP BY auction", engine.ExplainText)
	if err != nil || !strings.Contains(text, "Aggregate by auction") {
		t.Errorf("%v\n%s", err, text)
	}
	text, err = e.Explain(t.Context(), "SELECT * FROM v", engine.ExplainJSON)
	if err != nil || !strings.HasPrefix(text, "{") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestHooksSeeMarksAndInconsistencies(t *testing.T) {
	var epochs, inconsistent atomic.Int64
	e, in := open(t, engine.Config{Hooks: engine.Hooks{
		Epoch:        func(engine.Mark) { epochs.Add(1) },
		Inconsistent: func(_ *engine.Node, _ int, n int64) { inconsistent.Add(n) },
	}})
	q := exec(t, e, "SELECT auction, COUNT(*) FROM bids GROUP BY auction")
	go func() { _, _ = drain(t.Context(), q) }()
	if err := in.Send(t.Context(), channel.Row{Kind: vector.Delete, Values: []any{int64(1), int64(1)}}); err != nil {
		t.Fatal(err)
	}
	if err := q.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if epochs.Load() == 0 || inconsistent.Load() != 1 {
		t.Errorf("%d epochs, %d inconsistencies", epochs.Load(), inconsistent.Load())
	}
	in.Close()
}

func TestConfigIsChecked(t *testing.T) {
	_, err := engine.Open(t.Context(), engine.Config{Parallelism: -1, BatchSize: -2, FlushRows: -3})
	for _, part := range []string{"Parallelism is -1", "BatchSize is -2", "FlushRows is -3"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}
