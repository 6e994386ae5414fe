package job_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/job"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// replayed is a bounded source of splits of rows that can be read again.
type replayed struct {
	connector.Source
	splits [][]string
	opened atomic.Int64
	held   atomic.Bool // splits do not end
}

func newReplayed(splits ...[]string) *replayed {
	return &replayed{Source: bounded(splits...), splits: splits}
}

func (s *replayed) Open(ctx context.Context, split connector.Split, scan connector.Scan, position []byte) (connector.Reader, error) {
	s.opened.Add(1)
	at := 0
	if position != nil {
		var err error
		if at, err = strconv.Atoi(string(position)); err != nil {
			return nil, err
		}
	}
	rest := (&exectest.Source{Kinds: twoInts, Splits: [][]string{s.splits[split.Data.(int)][at:]}}).Connect()
	r, err := rest.Open(ctx, connector.Split{ID: split.ID, Data: 0}, scan, nil)
	return &replayedReader{r, s, at}, err
}

type replayedReader struct {
	connector.Reader
	src *replayed
	at  int
}

func (r *replayedReader) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	b, err := r.Reader.Read(ctx, p, limit)
	if err == io.EOF && r.src.held.Load() {
		<-ctx.Done()
		return nil, nil
	}
	return b, err
}

func (r *replayedReader) Position() []byte {
	n, _ := strconv.Atoi(string(r.Reader.Position()))
	return strconv.AppendInt(nil, int64(r.at+n), 10)
}

// durable is a query with state that is run again and again.
type durable struct {
	t      *testing.T
	src    connector.Source
	out    *ledger
	clock  *exectest.Clock
	cfg    job.Config
	change func(g *exec.Graph)
}

func newDurable(t *testing.T, src connector.Source) *durable {
	d := &durable{t: t, src: src, out: newLedger(), clock: exectest.NewClock(1000)}
	d.cfg = job.Config{
		Parallelism: 2, BatchSize: 5, FlushRows: 20, Clock: d.clock, CheckpointInterval: time.Second, NewPool: vector.NewPool,
		Durable: job.Durable{Dir: "jobs/sums", FS: state.NewMemFS(), Name: "sums", Statement: "SELECT sums"},
	}
	return d
}

func (d *durable) graph() *exec.Graph {
	g := &exec.Graph{}
	add := func(n *exec.Node) *exec.Node {
		n.ID = n.Name
		g.Nodes = append(g.Nodes, n)
		return n
	}
	scan := add(&exec.Node{Name: "Scan", Source: d.src, What: "table in"})
	sum := add(&exec.Node{Name: "Sum", New: newKeptSum, What: "sums", Inputs: []exec.Edge{{From: scan, Exchange: exec.Exchange{Kind: exec.Hash, Keys: []int{0}}}}})
	add(&exec.Node{Name: "Sink", Sink: d.out, Inputs: []exec.Edge{{From: sum}}})
	if d.change != nil {
		d.change(g)
	}
	return g
}

func (d *durable) start() *job.Job {
	d.t.Helper()
	j, err := job.Start(d.t.Context(), d.graph(), d.cfg)
	if err != nil {
		d.t.Fatal(err)
	}
	return j
}

// run runs the job to its end while the clock goes on by a second with every epoch.
func (d *durable) run() error {
	d.t.Helper()
	d.cfg.Hooks.Epoch = func(exec.Mark) { d.clock.Advance(time.Second) }
	return d.start().Wait()
}

// kill runs the job until an epoch, then loses what is not committed. It reports
// whether the job ended before.
func (d *durable) kill(after int) (ended bool) {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.t.Context())
	defer cancel()
	d.cfg.Hooks.Epoch = func(exec.Mark) {
		d.clock.Advance(time.Second)
		if after--; after == 0 {
			cancel()
		}
	}
	j, err := job.Start(ctx, d.graph(), d.cfg)
	if err != nil {
		d.t.Fatal(err)
	}
	err = j.Wait()
	if err != nil && errs.CodeOf(err) != errs.Canceled {
		d.t.Fatal(err)
	}
	return err == nil
}

// killed runs the job until it has read all and taken a checkpoint, and kills it.
func (d *durable) killed() {
	d.t.Helper()
	src := d.src.(*replayed)
	src.held.Store(true)
	j := d.start()
	if err := j.Sync(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	stop := d.passTime()
	for before := j.Metrics().Checkpoints.Count; j.Metrics().Checkpoints.Count < before+2; {
		runtime.Gosched()
	}
	stop()
	j.Cancel()
	_ = j.Wait()
	src.held.Store(false)
}

// passTime lets time pass, between the tries of a commit, until it is stopped.
func (d *durable) passTime() (stop func()) {
	done, clock := make(chan struct{}), d.clock
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				clock.Advance(time.Second)
				runtime.Gosched()
			}
		}
	}()
	return func() { close(done) }
}

func splitsOf(seed uint64, n int) ([][]string, exectest.Table) {
	var splits [][]string
	all := exectest.Table{}
	for i := range n {
		splits = append(splits, rows(seed*100+uint64(i), 60+40*i))
		all.Add(splits[i]...)
	}
	return splits, sums(all)
}

// A job that is killed after any number of epochs, again and again, each time at
// another parallelism, gives every row once.
func TestKilledJobs(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		splits, want := splitsOf(seed, 1+r.IntN(5))
		d := newDurable(t, newReplayed(splits...))
		if r.IntN(2) == 0 {
			d.cfg.Durable.Memory = 1
		}
		d.cfg.State.EvictAll = r.IntN(3) == 0
		failing := r.IntN(3) == 0
		if failing {
			n := atomic.Int64{}
			d.out.fail = func(call string) error { // a process that dies between two steps
				if n.Add(1)%5 == 0 && call != "prepare" {
					return errBroken
				}
				return nil
			}
		}
		stop := func() {}
		if failing {
			stop = d.passTime()
		}
		kills, ended := 0, false
		for ; !ended; kills++ {
			d.cfg.Parallelism = 1 + r.IntN(4)
			d.cfg.BatchSize = []int{1, 3, 7, 50}[r.IntN(4)]
			d.cfg.FlushRows = 1 + r.IntN(40)
			ended = d.kill(2 + kills/2 + r.IntN(20))
		}
		if diff := d.out.table().Diff(want); diff != "" {
			t.Fatalf("seed %d, %d kills: the result differs by%s", seed, kills, diff)
		}
		if len(d.out.prepared) > 0 {
			t.Errorf("seed %d: %d handles were not committed", seed, len(d.out.prepared))
		}
		d.out.fail = nil
		stop()
		if j := d.start(); !j.Recovery().Complete || j.Wait() != nil {
			t.Errorf("seed %d: a complete job was run again", seed)
		}
	}
}

// What was read to its end is not opened again, time and epochs do not go back.
func TestRecovery(t *testing.T) {
	splits := [][]string{rows(1, 40), rows(2, 400)}
	src := newReplayed(splits...)
	d := newDurable(t, src)
	d.cfg.Parallelism, d.cfg.FlushRows = 2, 10
	var marks []exec.Mark
	d.cfg.Hooks.Commit = func(*exec.Node, uint64) {}
	for !d.kill(15) {
		j := d.start()
		past := j.Recovery()
		j.Cancel()
		_ = j.Wait()
		if past.Epoch == 0 {
			t.Fatal("there was no checkpoint")
		}
		d.clock = exectest.NewClock(500) // goes wrong
		d.cfg.Clock = d.clock
		marks = nil
		d.cfg.Hooks.Mark = func(n *exec.Node, shard int, m exec.Mark) {
			if n.Name == "Sink" && shard == 0 {
				marks = append(marks, m)
			}
		}
		ended := d.kill(12)
		if marks[0].Epoch != past.Epoch+1 || marks[0].Now < 1000 {
			t.Errorf("after epoch %d came the mark %+v", past.Epoch, marks[0])
		}
		if ended {
			break
		}
	}
	d.cfg.Hooks.Mark = nil
	opened := src.opened.Load()
	if err := d.run(); err != nil {
		t.Fatal(err)
	}
	if n := src.opened.Load() - opened; n > 1 {
		t.Errorf("%d splits were opened in the end", n)
	}
}

// A stopped job goes on where it was; its sinks have not been told of an end.
func TestStopAndGoOn(t *testing.T) {
	feed := exectest.NewFeed(twoInts...)
	d := newDurable(t, feed)
	given := exectest.Table{}
	for i := range 4 {
		d.cfg.Parallelism = 1 + i
		j := d.start()
		if past := j.Recovery(); (past.Epoch > 0) != (i > 0) || (len(past.Lost) > 0) != (i > 0) || past.Changes.Differ() {
			t.Errorf("run %d goes on from %+v", i, past)
		}
		more := rows(uint64(i), 30)
		feed.Put(more...)
		given.Add(more...)
		if err := j.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := d.out.table().Diff(sums(given)); diff != "" {
			t.Fatalf("after run %d the result differs by%s", i, diff)
		}
		if m := j.Metrics().Checkpoints; m.Count == 0 || m.Entries == 0 || m.Bytes == 0 || m.Epoch == 0 {
			t.Errorf("run %d: %+v", i, m)
		}
	}
	if d.out.finals != 0 {
		t.Errorf("sinks were told %d times that this is the end", d.out.finals)
	}
	j := d.start()
	if err := j.Drain(t.Context()); err != nil || d.out.finals != 1 {
		t.Errorf("drained: %v, %d finals", err, d.out.finals)
	}
	if j := d.start(); !j.Recovery().Complete {
		t.Error("a drained job went on")
	}
}

// Checkpoints that fail hold up nothing, and what they had comes with the next.
func TestFailedCheckpoints(t *testing.T) {
	feed := exectest.NewFeed(twoInts...)
	d := newDurable(t, feed)
	failing := atomic.Int64{} // calls that are to fail
	d.out.fail = func(call string) error {
		if call == "prepare" && failing.Add(-1) >= 0 {
			return errBroken
		}
		return nil
	}
	j := d.start()
	given := exectest.Table{}
	put := func(n int) {
		t.Helper()
		more := rows(uint64(n), 10)
		feed.Put(more...)
		given.Add(more...)
		if err := j.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	until := func(what string, done func(job.CheckpointMetrics) bool) {
		t.Helper()
		for range 10_000_000 {
			if done(j.Metrics().Checkpoints) {
				return
			}
			d.clock.Advance(20 * time.Millisecond)
		}
		t.Fatalf("%s: %+v", what, j.Metrics().Checkpoints)
	}
	put(1)
	until("first", func(m job.CheckpointMetrics) bool { return m.Count > 0 })
	failing.Store(3) // of both shards, then of one
	put(2)
	until("failed", func(m job.CheckpointMetrics) bool { return m.Failed == 2 && errors.Is(m.LastError, errBroken) })
	put(3)
	before := j.Metrics().Checkpoints.Count // one more may have begun before the rows came
	until("again", func(m job.CheckpointMetrics) bool { return m.Count >= before+2 })
	j.Cancel()
	_ = j.Wait()
	if diff := d.out.table().Diff(sums(given)); diff != "" {
		t.Fatalf("the result differs by%s", diff)
	}
	d.cfg.Parallelism = 3
	j = d.start()
	put(4)
	if err := j.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := d.out.table().Diff(sums(given)); diff != "" {
		t.Fatalf("after a restart the result differs by%s", diff)
	}

	// Too many failures are the job's.
	failing.Store(1 << 40)
	j = d.start()
	for n := range 1_000_000 {
		select {
		case <-j.Done():
			n = -1
		default:
			d.clock.Advance(20 * time.Millisecond)
		}
		if n < 0 {
			break
		}
	}
	if err := j.Wait(); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "10 checkpoints in a row") {
		t.Errorf("got %v", err)
	}
}

// A sink whose commit fails is asked again, then the job fails; the commit is made up
// for when it goes on.
func TestFailedCommits(t *testing.T) {
	splits, want := splitsOf(9, 3)
	for _, failures := range []int{3, 100} {
		d := newDurable(t, newReplayed(splits...))
		n := 0
		d.out.fail = func(call string) error {
			if call == "commit" && n < failures {
				n++
				return errBroken
			}
			return nil
		}
		j := d.start()
		h := &harness{clock: d.clock}
		h.passTime(j)
		if err := j.Wait(); (err != nil) != (failures == 100) || err != nil && !errors.Is(err, errBroken) {
			t.Fatalf("%d failures: %v", failures, err)
		}
		d.out.fail = nil
		if failures == 100 {
			if n != 6 {
				t.Errorf("%d tries", n)
			}
			if err := d.run(); err != nil {
				t.Fatal(err)
			}
		}
		if diff := d.out.table().Diff(want); diff != "" {
			t.Errorf("%d failures: the result differs by%s", failures, diff)
		}
	}
}

// A job begins with a savepoint at another parallelism, while the first goes on.
func TestSavepoints(t *testing.T) {
	feed := exectest.NewFeed(twoInts...)
	d := newDurable(t, feed)
	d.cfg.CheckpointInterval = time.Hour
	j := d.start()
	given := exectest.Table{}
	put := func(n int) {
		more := rows(uint64(n), 50)
		feed.Put(more...)
		given.Add(more...)
		if err := j.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	put(1)
	if err := j.Savepoint(t.Context(), "save/1"); err != nil {
		t.Fatal(err)
	}
	at := d.out.table()
	if diff := at.Diff(sums(given)); diff != "" {
		t.Errorf("the savepoint has not committed%s", diff)
	}
	if err := j.Savepoint(t.Context(), "save/1"); errs.CodeOf(err) != errs.Exists {
		t.Errorf("a second savepoint in one folder: %v", err)
	}
	put(2)
	if err := j.StopWithSavepoint(t.Context(), "save/2"); err != nil {
		t.Fatal(err)
	}
	if err := j.Savepoint(t.Context(), "save/3"); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("a savepoint of a job that has ended: %v", err)
	}

	fork := newDurable(t, exectest.NewFeed(twoInts...))
	fork.cfg.Durable = job.Durable{Dir: "jobs/fork", FS: d.cfg.Durable.FS, Name: "fork", Savepoint: "save/1"}
	fork.cfg.Parallelism = 4
	for range 2 { // the second run goes on from its own state
		j = fork.start()
		if past := j.Recovery(); past.Epoch == 0 || !past.Savepoint {
			t.Errorf("goes on from %+v", past)
		}
		fork.src.(*exectest.Feed).Put("7 1")
		if err := j.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	was := exectest.Table{}
	was.Add(rows(1, 50)...)
	was.Add("7 1", "7 1")
	both := exectest.Table{}
	both.AddTable(at)
	both.AddTable(fork.out.table())
	if diff := both.Diff(sums(was)); diff != "" {
		t.Errorf("the fork's result differs by%s", diff)
	}

	fork.cfg.Durable.Savepoint = "save/2"
	_, err := job.Start(t.Context(), fork.graph(), fork.cfg)
	wantError(t, err, errs.Exists, "has state of its own")
	for name, want := range map[string]string{"nothing": "there is no savepoint", "jobs/sums": "directory of a job", "half": "not complete"} {
		if err := d.cfg.Durable.FS.MkdirAll("half/state", 0o777); err != nil {
			t.Fatal(err)
		}
		fork.cfg.Durable.Dir, fork.cfg.Durable.Savepoint = "jobs/other", name
		_, err := job.Start(t.Context(), fork.graph(), fork.cfg)
		wantError(t, err, map[bool]errs.Code{true: errs.NotFound, false: errs.State}[name == "nothing"], want)
	}
	files, err := d.cfg.Durable.FS.List("save/2/state")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(files, func(n string) bool { return strings.HasSuffix(n, ".sst") || strings.HasSuffix(n, ".log") })
	if err := d.cfg.Durable.FS.Remove("save/2/state/" + files[i]); err != nil {
		t.Fatal(err)
	}
	fork.cfg.Durable.Savepoint = "save/2"
	_, err = job.Start(t.Context(), fork.graph(), fork.cfg)
	wantError(t, err, errs.State, files[i]+" is missing")
}

func wantError(t *testing.T, err error, code errs.Code, text string) {
	t.Helper()
	if errs.CodeOf(err) != code || err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %s with %q", err, code, text)
	}
}

// Two jobs cannot have one directory.
func TestDirectoryInUse(t *testing.T) {
	d := newDurable(t, exectest.NewFeed(twoInts...))
	j := d.start()
	_, err := job.Start(t.Context(), d.graph(), d.cfg)
	wantError(t, err, errs.State, "in use")
	j.Cancel()
	_ = j.Wait()
	if err := d.start().Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	status, err := job.Inspect("jobs/sums", d.cfg.Durable.FS)
	if err != nil || status.Epoch == 0 || status.Job != "sums" || status.Complete || fmt.Sprint(status.Sources) == "[]" {
		t.Errorf("%+v, %v", status, err)
	}
}

// A job that is complete needs its state no more, and does not go on as another query.
func TestCompleteJobs(t *testing.T) {
	d := newDurable(t, newReplayed(rows(1, 100)))
	d.killed()
	if s, err := job.Inspect("jobs/sums", d.cfg.Durable.FS); err != nil || s.Complete || len(s.Operators) != 1 || s.Operators[0].Tables[0].Keys == 0 {
		t.Errorf("before: %+v, %v", s, err)
	}
	if err := d.run(); err != nil {
		t.Fatal(err)
	}
	if s, err := job.Inspect("jobs/sums", d.cfg.Durable.FS); err != nil || !s.Complete || len(s.Operators) > 0 {
		t.Errorf("after: %+v, %v", s, err)
	}
	d.cfg.Durable.AcceptLoss = true
	d.change = func(g *exec.Graph) { g.Nodes[0].What = "table out" }
	_, err := job.Start(t.Context(), d.graph(), d.cfg)
	wantError(t, err, errs.State, "was another query, and has ended")
}
