package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
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

// kept is an engine with a state directory and a folder of files.
type kept struct {
	t   *testing.T
	dir string
	cfg engine.Config
	*engine.Engine
	in  *channel.Input
	out bytes.Buffer // what print shows
}

// keep opens an engine; it is opened again to go on.
func keep(t *testing.T) *kept {
	k := &kept{t: t, dir: t.TempDir()}
	k.open()
	return k
}

func (k *kept) open() {
	k.t.Helper()
	k.in = channel.NewInput(bids, sqltype.RetractMode)
	channels := channel.New()
	channels.AddInput("bids", k.in)
	cfg := k.cfg
	cfg.Stdout = &k.out
	cfg.StateDir, cfg.Connectors = filepath.Join(k.dir, "state"), []connector.Connector{channels}
	e, err := engine.Open(k.t.Context(), cfg)
	if err != nil {
		k.t.Fatal(err)
	}
	k.Engine = e
	k.t.Cleanup(func() { _ = e.Close() })
	k.run(`CREATE TEMPORARY TABLE bids (auction BIGINT, price BIGINT) WITH ('connector' = 'channel');
		CREATE TEMPORARY TABLE sums (auction BIGINT, total BIGINT) WITH ('connector' = 'print')`)
}

func (k *kept) reopen() {
	k.t.Helper()
	if err := k.Close(); err != nil {
		k.t.Fatal(err)
	}
	k.open()
}

func (k *kept) run(script string) {
	k.t.Helper()
	if err := k.ExecuteScript(k.t.Context(), script, func(*engine.Query) error { return nil }); err != nil {
		k.t.Fatal(err)
	}
}

// again opens the engine anew, with an input that has given nothing yet.
func (k *kept) again(script string) {
	k.t.Helper()
	k.reopen()
	k.run(script)
}

func (k *kept) start(sql string) *engine.Query {
	k.t.Helper()
	return exec(k.t, k.Engine, sql)
}

func (k *kept) file(name, text string) string {
	k.t.Helper()
	path := filepath.Join(k.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		k.t.Fatal(err)
	}
	return path
}

// lines are those of all visible files in a folder, in order.
func (k *kept) lines(folder string) []string {
	k.t.Helper()
	names, err := filepath.Glob(filepath.Join(k.dir, folder, "[^.]*"))
	if err != nil {
		k.t.Fatal(err)
	}
	var out []string
	for _, n := range names {
		text, err := os.ReadFile(n)
		if err != nil {
			k.t.Fatal(err)
		}
		out = append(out, strings.Fields(string(text))...)
	}
	slices.Sort(out)
	return out
}

// feed gives rows of the table bids to a query.
func (k *kept) feed(q *engine.Query, rows ...channel.Row) {
	k.t.Helper()
	if err := k.in.Send(k.t.Context(), rows...); err != nil {
		k.t.Fatal(err)
	}
	if err := q.Sync(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
}

// shown is what was printed since the last call.
func (k *kept) shown() string {
	defer k.out.Reset()
	return strings.Join(strings.Split(strings.TrimSpace(k.out.String()), "\n"), " ")
}

func (k *kept) want(what, got, want string) {
	k.t.Helper()
	if got != want {
		k.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

const sumsOfBids = "INSERT INTO sums SELECT auction, SUM(price) FROM bids GROUP BY auction"

// A query that is stopped goes on with its sums, in whatever lines it is written, also
// at another parallelism; a cancelled one from its last checkpoint.
func TestQueriesGoOn(t *testing.T) {
	k := keep(t)
	q := k.start(sumsOfBids)
	if q.Job() == "" || !strings.HasPrefix(q.Job(), "sums-") || !q.Durable() || q.Notices() != nil {
		t.Errorf("job %q, durable %t, %q", q.Job(), q.Durable(), q.Notices())
	}
	k.feed(q, insert(1, 10), insert(2, 20))
	if err := q.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.shown()
	for parallelism := range 3 {
		k.cfg.Parallelism = parallelism + 1
		k.reopen()
		q = k.start("INSERT INTO sums -- again\nSELECT auction, SUM(price)\nFROM bids GROUP BY auction")
		if n := q.Notices(); len(n) != 2 || !strings.Contains(n[0], "goes on from its checkpoint of 20") || !strings.Contains(n[1], "cannot be read again") {
			t.Errorf("notices %q", n)
		}
		k.feed(q, insert(1, 1))
		k.want("sums", k.shown(), fmt.Sprintf("-U[1, %d] +U[1, %d]", 10+parallelism, 11+parallelism))
		if err := q.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	k.reopen()
	q = k.start(sumsOfBids)
	k.feed(q, insert(2, 5))
	q.Cancel()
	if err := q.Wait(t.Context()); errs.CodeOf(err) != errs.Canceled {
		t.Fatal(err)
	}
	k.shown()
	k.reopen()
	q = k.start(sumsOfBids)
	k.feed(q, insert(2, 1))
	k.want("after a cancellation", k.shown(), "-U[2, 20] +U[2, 21]")
	m := q.Metrics().Checkpoints
	if m.Epoch == 0 || m.Taken.IsZero() || m.Count != 0 {
		t.Errorf("metrics %+v", m)
	}
}

// A SELECT is kept only when it has a name. Its changelog ends when it is stopped.
func TestNamedSelect(t *testing.T) {
	k := keep(t)
	q := k.start("SELECT auction, SUM(price) FROM bids GROUP BY auction")
	if q.Durable() {
		t.Error("a query without a name is durable")
	}
	q.Cancel()
	const name = "SET 'pipeline.name' = 'a sum/of ../bids'"
	for i, want := range []map[string]int{{"1 10": 1}, {"1 10": -1, "1 20": 1}} {
		k.again(name)
		q = k.start("SELECT auction, SUM(price) FROM bids GROUP BY auction")
		got := make(chan map[string]int, 1)
		go func() {
			rows, err := drain(t.Context(), q)
			if err != nil {
				t.Error(err)
			}
			got <- rows
		}()
		k.feed(q, insert(1, 10))
		if err := q.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if rows := <-got; fmt.Sprint(rows) != fmt.Sprint(want) || q.Job() != "a sum/of ../bids" {
			t.Errorf("run %d of %s: %v, want %v", i, q.Job(), rows, want)
		}
	}
	// It is complete when it was drained.
	k.again(name)
	q = k.start("SELECT auction, SUM(price) FROM bids GROUP BY auction")
	go func() { _ = q.Drain(context.Background()) }()
	if _, err := drain(t.Context(), q); err != nil {
		t.Error(err)
	}
	if err := q.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	q = k.start("SELECT auction, SUM(price) FROM bids GROUP BY auction")
	if rows, err := drain(t.Context(), q); err != nil || len(rows) > 0 || len(q.Notices()) != 1 || !strings.Contains(q.Notices()[0], "ended before") {
		t.Errorf("a complete query: %v, %v, %q", rows, err, q.Notices())
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	states, err := engine.InspectState(filepath.Join(k.dir, "state"))
	if err != nil || len(states) != 1 || states[0].Job != "a sum/of ../bids" || !states[0].Complete || len(states[0].Operators) > 0 {
		t.Errorf("%+v, %v", states, err)
	}
}

// Savepoints by statements, from one query to another one.
func TestSavepointStatements(t *testing.T) {
	k := keep(t)
	k.run("SET 'pipeline.name' = 'one'")
	q := k.start(sumsOfBids)
	k.feed(q, insert(1, 10))
	save := filepath.Join(k.dir, "save")
	k.run("SAVEPOINT one TO '" + save + "'")
	k.run("SAVEPOINT JOB 'one'")
	for stmt, code := range map[string]errs.Code{
		"SAVEPOINT one TO '" + save + "'":              errs.Exists,
		"SAVEPOINT two":                                errs.NotFound,
		"STOP JOB two":                                 errs.NotFound,
		"START JOB two":                                errs.Unsupported,
		"STOP JOB one WITH SAVEPOINT WITH DRAIN":       errs.Unsupported,
		"SAVEPOINT one TO '/x' WITH ('format' = 'no')": errs.Unsupported,
	} {
		if _, err := k.ExecuteSQL(t.Context(), stmt); errs.CodeOf(err) != code {
			t.Errorf("%s: %v, want %s", stmt, err, code)
		}
	}
	jobs := reopen(t, t.TempDir(), "", "SHOW JOBS")
	k.want("no jobs", jobs, "")
	k.feed(q, insert(1, 5))
	end := filepath.Join(k.dir, "end")
	k.run("STOP JOB one WITH SAVEPOINT TO '" + end + "'")
	if err := q.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.shown()
	for from, want := range map[string]string{save: "-U[1, 10] +U[1, 11]", end: "-U[1, 15] +U[1, 16]"} {
		k.again("SET 'pipeline.name' = 'from " + filepath.Base(from) + "'; SET 'execution.savepoint.path' = '" + from + "'; SET 'parallelism.default' = '3'")
		text, err := k.Explain(t.Context(), sumsOfBids, engine.ExplainText)
		if err != nil || !strings.Contains(text, "goes on from: savepoint of 20") {
			t.Errorf("EXPLAIN: %s, %v", text, err)
		}
		q := k.start(sumsOfBids)
		if n := q.Notices(); len(n) == 0 || !strings.Contains(n[0], "goes on from a savepoint") {
			t.Errorf("notices %q", n)
		}
		k.feed(q, insert(1, 1))
		k.want(from, k.shown(), want)
		if err := q.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(k.dir, "state", "savepoints"))
	if err != nil || len(entries) != 1 {
		t.Errorf("savepoints without a path: %v, %v", entries, err)
	}
	state, err := engine.InspectState(save)
	if err != nil || len(state) != 1 || !state[0].Savepoint || state[0].Job != "one" {
		t.Errorf("%+v, %v", state, err)
	}
}

// A changed query: what becomes of its state is shown before it starts.
func TestChangedQuery(t *testing.T) {
	k := keep(t)
	k.run("SET 'pipeline.name' = 'sums'")
	q := k.start(sumsOfBids)
	k.feed(q, insert(1, 10))
	if err := q.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.shown()
	const name = "SET 'pipeline.name' = 'sums'"
	k.again(name)
	filtered := "INSERT INTO sums SELECT auction, SUM(price) FROM bids WHERE price > 1 GROUP BY auction"
	q = k.start(filtered)
	k.feed(q, insert(1, 1), insert(1, 2))
	k.want("with a filter", k.shown(), "-U[1, 10] +U[1, 12]")
	if err := q.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.again(name)
	counted := "INSERT INTO sums SELECT auction, COUNT(*) FROM bids GROUP BY auction"
	_, err := k.ExecuteSQL(t.Context(), counted)
	if errs.CodeOf(err) != errs.State || !strings.Contains(err.Error(), "Aggregate[") || !strings.Contains(err.Error(), "refused") || !strings.Contains(err.Error(), "allow-non-restored-state") {
		t.Errorf("another aggregate: %v", err)
	}
	text, err := k.Explain(t.Context(), counted, engine.ExplainText)
	if err != nil || !strings.Contains(text, "refused, its state is that of Aggregate by auction") {
		t.Errorf("EXPLAIN: %s, %v", text, err)
	}
	text, err = k.Explain(t.Context(), counted, engine.ExplainJSON)
	if err != nil || !strings.Contains(text, `"verdict": "refused"`) || !strings.Contains(text, `"guarantee": "at-least-once"`) {
		t.Errorf("EXPLAIN: %s, %v", text, err)
	}
	k.run("SET 'restore.allow-non-restored-state' = 'true'")
	q = k.start(counted)
	k.feed(q, insert(1, 7), insert(1, 8))
	k.want("accepted", k.shown(), "+I[1, 2]")
	if err := q.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Operators that are spread by a part of the key of their state, or that keep tables by
// more columns than they are spread by, find it again on any number of shards.
func TestRescaledTables(t *testing.T) {
	for name, statement := range map[string]string{
		"distinct":  "INSERT INTO sums SELECT auction, COUNT(DISTINCT price) FROM bids GROUP BY auction",
		"subset":    "INSERT INTO sums SELECT a, SUM(n) FROM (SELECT auction AS a, price / 100 AS p, COUNT(DISTINCT price) AS n FROM (SELECT auction, price FROM bids GROUP BY auction, price) AS x GROUP BY auction, price / 100) AS y GROUP BY a",
		"intersect": "INSERT INTO sums SELECT auction, COUNT(*) FROM (SELECT auction, price FROM bids UNION SELECT auction, price FROM bids WHERE price > 5) AS t GROUP BY auction",
		"join":      "INSERT INTO sums SELECT a.auction, COUNT(*) FROM (SELECT auction, price, COUNT(*) AS n FROM bids GROUP BY auction, price) AS a JOIN (SELECT auction, MAX(price) AS m FROM bids GROUP BY auction) AS b ON a.auction = b.auction AND a.price <= b.m GROUP BY a.auction",
	} {
		k := keep(t)
		rows := map[string]int{}
		for run := range 4 {
			k.cfg.Parallelism = []int{3, 3, 2, 4}[run]
			k.again("SET 'pipeline.name' = 'rescaled'")
			q := k.start(statement)
			var in []channel.Row
			for a := range int64(20) {
				for p := range int64(10) {
					in = append(in, insert(a, int64(run)*5+p)) // half of the prices have been there
				}
			}
			k.feed(q, in...)
			if err := q.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(strings.TrimSpace(k.out.String()), "\n") {
				row := line[2:]
				if strings.HasPrefix(line, "+") {
					rows[row]++
				} else {
					rows[row]--
				}
				if rows[row] == 0 {
					delete(rows, row)
				}
			}
			k.out.Reset()
			want := map[string]int{}
			for a := range 20 {
				want[fmt.Sprintf("[%d, %d]", a, 10+5*run)] = 1
			}
			if fmt.Sprint(rows) != fmt.Sprint(want) {
				t.Errorf("%s, run %d: got %v", name, run, rows)
				break
			}
		}
	}
}

// Files into files: exactly once, whenever the query is cancelled.
func TestFilesExactlyOnce(t *testing.T) {
	k := keep(t)
	var in, want []string
	for i := range 30_000 {
		in = append(in, fmt.Sprintf("%d,%d", i, i%7))
		if i%7 > 0 {
			want = append(want, fmt.Sprintf("%d,%d", i, i%7))
		}
	}
	slices.Sort(want)
	path := k.file("in.csv", "a,b\n"+strings.Join(in, "\n")+"\n")
	statement := "INSERT INTO copy SELECT a, b FROM source WHERE b > 0"
	define := `CREATE TEMPORARY TABLE source (a BIGINT, b BIGINT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '` + path + `');
		CREATE TEMPORARY TABLE copy (a BIGINT, b BIGINT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '` + k.dir + `/out/');
		SET 'exec.batch-size' = '100'; SET 'exec.flush-rows' = '300'; SET 'checkpoint.interval' = '1 ms'`
	k.run(define)
	text, err := k.Explain(t.Context(), statement, engine.ExplainText)
	if err != nil || !strings.Contains(text, "guarantee: exactly-once\n") {
		t.Errorf("EXPLAIN: %s, %v", text, err)
	}
	runs := 0
	for done := false; !done; runs++ {
		q := k.start(statement)
		for q.Metrics().Checkpoints.Count < 1 {
			select {
			case <-ended(q):
			case <-time.After(time.Millisecond):
				continue
			}
			break
		}
		q.Cancel()
		done = q.Wait(t.Context()) == nil
		k.cfg.Parallelism = 1 + runs%3
		k.reopen()
		k.run(define)
	}
	got := slices.DeleteFunc(k.lines("out"), func(l string) bool { return l == "a,b" })
	if !slices.Equal(got, want) {
		t.Errorf("after %d runs there are %d rows, want %d", runs, len(got), len(want))
	}
	states, err := engine.InspectState(filepath.Join(k.dir, "state"))
	if err != nil || len(states) != 1 || !states[0].Complete || len(states[0].Sources) != 1 {
		t.Errorf("%+v, %v", states, err)
	}
}

// ended is closed when the query has ended.
func ended(q *engine.Query) <-chan struct{} {
	ch := make(chan struct{})
	go func() {
		defer close(ch)
		_ = q.Wait(context.Background())
	}()
	return ch
}

// A file that is renamed before its first row counts is found again: where reading begins
// is known before it does.
func TestRenamedAtTheBeginning(t *testing.T) {
	k := keep(t)
	path := k.file("in.csv", "1\n2\n")
	define := `CREATE TEMPORARY TABLE source (a BIGINT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.header' = 'false', 'path' = '` + path + `', 'source.monitor-interval' = '1 ms');
		CREATE TEMPORARY TABLE copy (a BIGINT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.header' = 'false', 'path' = '` + k.dir + `/out/');
		SET 'checkpoint.interval' = '1 h'`
	k.run(define)
	const statement = "INSERT INTO copy SELECT a FROM source"
	q := k.start(statement)
	for q.Metrics().Checkpoints.Count == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	k.file("in.csv.1", "1\n2\n3\n")
	k.file("in.csv", "4\n")
	q.Cancel()
	_ = q.Wait(t.Context())
	k.reopen()
	k.run(define)
	q = k.start(statement)
	if err := q.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	for q.Metrics().SourceRows < 4 {
		time.Sleep(time.Millisecond)
	}
	if err := q.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.want("rows", strings.Join(k.lines("out"), " "), "1 2 3 4")
}

// A script is run again on its own state directory, to go on; what it creates is there. A
// definition that differs, or a second one in a run, is an error as ever.
func TestScriptsAgain(t *testing.T) {
	k := keep(t)
	const script = `CREATE DATABASE shop; USE shop;
		CREATE TABLE here (a BIGINT) WITH ('connector' = 'print');
		CREATE FUNCTION count_char AS 'count_char' LANGUAGE WASM USING FILE '../plugins/textstats/textstats.wasm';
		CREATE VIEW twice AS SELECT a * 2 AS b FROM (VALUES (1)) AS t(a)`
	k.run(script)
	fails := func(what, sql, want string) {
		t.Helper()
		err := k.ExecuteScript(t.Context(), sql, func(*engine.Query) error { return nil })
		if errs.CodeOf(err) != errs.Exists || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	fails("twice in a run", script, `a database "shop" exists already`)
	k.again(script)
	fails("twice in a run", `CREATE TABLE here (a BIGINT) WITH ('connector' = 'print')`, "choose another name")
	k.reopen()
	fails("another table", `USE shop; CREATE TABLE here (a INT) WITH ('connector' = 'print')`, "in the state directory")
	fails("another view", `CREATE VIEW twice AS SELECT a * 3 AS b FROM (VALUES (1)) AS t(a)`, "in the state directory")
	k.run(`CREATE OR REPLACE TABLE here (a INT) WITH ('connector' = 'print'); DROP VIEW twice`)
	k.again(`USE shop; CREATE TABLE here (a INT) WITH ('connector' = 'print'); CREATE VIEW twice AS SELECT 1 AS one`)
}
