package job_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/job"
	"github.com/weirdb/weir/vector"
)

var twoInts = []vector.Kind{vector.Int64, vector.Int64}

// harness is a graph with what a test looks at: source, tap, sum by key, sink.
type harness struct {
	t     *testing.T
	graph exec.Graph
	in    *exectest.Recorder
	out   *exectest.Recorder
	clock *exectest.Clock
	cfg   job.Config

	mu    sync.Mutex
	pools []*vector.Pool
}

func newHarness(t *testing.T, src connector.Source) *harness {
	h := &harness{t: t, in: &exectest.Recorder{}, out: &exectest.Recorder{}, clock: exectest.NewClock(1000)}
	scan := h.add(&exec.Node{Name: "Scan", Source: src})
	tap := h.add(&exec.Node{Name: "Tap", New: h.in.Tap(), Inputs: []exec.Edge{{From: scan}}})
	sum := h.add(&exec.Node{Name: "Sum", New: exectest.NewSum, Inputs: []exec.Edge{{From: tap, Exchange: exec.Exchange{Kind: exec.Hash, Keys: []int{0}}}}})
	h.add(&exec.Node{Name: "Sink", Sink: h.out.Sink(), Inputs: []exec.Edge{{From: sum}}})
	h.cfg = job.Config{Parallelism: 2, Clock: h.clock, NewPool: func() *vector.Pool {
		h.mu.Lock()
		defer h.mu.Unlock()
		p := vector.NewCheckedPool()
		h.pools = append(h.pools, p)
		return p
	}}
	return h
}

func (h *harness) add(n *exec.Node) *exec.Node {
	n.ID = n.Name
	h.graph.Nodes = append(h.graph.Nodes, n)
	return n
}

func (h *harness) start() *job.Job {
	h.t.Helper()
	j, err := job.Start(h.t.Context(), &h.graph, h.cfg)
	if err != nil {
		h.t.Fatal(err)
	}
	return j
}

// passTime lets time pass until the job ends.
func (h *harness) passTime(j *job.Job) {
	for {
		select {
		case <-j.Done():
			return
		default:
			h.clock.Advance(time.Second)
			runtime.Gosched()
		}
	}
}

// leaks fails the test when the job left memory behind.
func (h *harness) leaks() {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pools {
		if err := p.Leaks(); err != nil {
			h.t.Error(err)
		}
	}
}

// check compares what every mark showed with the result of the input until then.
func (h *harness) check() {
	h.t.Helper()
	if h.in.Epochs() == 0 || h.in.Epochs() != h.out.Epochs() {
		h.t.Fatalf("%d epochs went in, %d came out", h.in.Epochs(), h.out.Epochs())
	}
	read, shown := exectest.Table{}, exectest.Table{}
	for e := 1; e <= h.in.Epochs(); e++ {
		read.Add(h.in.Changes(e)...)
		shown.Add(h.out.Changes(e)...)
		if diff := shown.Diff(sums(read)); diff != "" {
			h.t.Fatalf("after epoch %d of %d the result differs by%s", e, h.in.Epochs(), diff)
		}
	}
}

func sums(in exectest.Table) exectest.Table {
	rows, total := map[int]int{}, map[int]int{}
	for row, n := range in {
		key, value, _ := strings.Cut(row, " ")
		k, _ := strconv.Atoi(key)
		v, _ := strconv.Atoi(value)
		rows[k] += n
		total[k] += n * v
	}
	out := exectest.Table{}
	for k, n := range rows {
		if n > 0 {
			out[fmt.Sprintf("%d %d", k, total[k])] = 1
		}
	}
	return out
}

func rows(seed uint64, n int) []string {
	r := rand.New(rand.NewPCG(seed, 3))
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%d %d", r.IntN(50), r.IntN(100))
	}
	return out
}

func bounded(splits ...[]string) connector.Source {
	return (&exectest.Source{Kinds: twoInts, Splits: splits}).Connect()
}

func TestBoundedJob(t *testing.T) {
	splits := [][]string{rows(1, 150), nil, rows(2, 240), rows(3, 10)}
	for _, parallelism := range []int{1, 2, 4} {
		for _, batch := range []int{1, 7, 0} {
			for _, system := range []bool{true, false} {
				h := newHarness(t, bounded(splits...))
				h.cfg.Parallelism, h.cfg.BatchSize, h.cfg.FlushRows, h.cfg.ChannelSize = parallelism, batch, 100, 2
				if system {
					h.cfg.Clock, h.cfg.FlushInterval = nil, time.Millisecond
				}
				j := h.start()
				if err := j.Wait(); err != nil {
					t.Fatalf("parallelism %d, batch %d: %v", parallelism, batch, err)
				}
				h.check()
				h.leaks()
				if n := len(h.in.All()); n != 400 {
					t.Errorf("%d rows read", n)
				}
				calls := h.out.Calls()
				var handles []string
				for s := range parallelism {
					handles = append(handles, fmt.Sprintf("%d:final", s))
				}
				if want := []string{"commit " + strings.Join(handles, " "), "close committer"}; !slices.Equal(calls[len(calls)-2:], want) || calls[0] != "abort" {
					t.Errorf("calls %q, want %q in the end", calls, want)
				}
			}
		}
	}
}

// Ways of different length from one source meet again, with the smallest channels:
// tasks must not wait for each other in a circle.
func TestDiamonds(t *testing.T) {
	pass := func(int) (exec.Operator, error) { return &times{told: func(string, int64) {}}, nil }
	for seed := range 10 {
		h := newHarness(t, bounded(rows(1, 700), rows(2, 300), rows(3, 500)))
		h.cfg.Parallelism, h.cfg.BatchSize, h.cfg.FlushRows, h.cfg.ChannelSize = 1+seed%3, 5, 40, 1
		tap, sum, sink := h.graph.Nodes[1], h.graph.Nodes[2], h.graph.Nodes[3]
		h.graph.Nodes = h.graph.Nodes[:2]
		edge := func(from *exec.Node, keys ...int) exec.Edge {
			return exec.Edge{From: from, Exchange: exec.Exchange{Kind: exec.Hash, Keys: keys}}
		}
		near := h.add(&exec.Node{Name: "Near", New: pass, Inputs: []exec.Edge{edge(tap, 1)}})
		far := h.add(&exec.Node{Name: "Far", New: pass, Inputs: []exec.Edge{edge(near, 0)}})
		union := h.add(&exec.Node{
			Name: "Union", New: pass,
			Inputs: []exec.Edge{{From: tap}, edge(near, 0, 1), {From: far}, edge(far, 1), {From: near}},
		})
		sum.Inputs = []exec.Edge{edge(union, 0)}
		h.add(sum)
		h.add(sink)
		if err := h.start().Wait(); err != nil {
			t.Fatal(err)
		}
		read, shown := exectest.Table{}, exectest.Table{}
		for e := range h.in.Epochs() {
			for range 5 {
				read.Add(h.in.Changes(e + 1)...)
			}
			shown.Add(h.out.Changes(e + 1)...)
			if diff := shown.Diff(sums(read)); diff != "" {
				t.Fatalf("after epoch %d the result differs by%s", e+1, diff)
			}
		}
		h.leaks()
	}
}

// At batch size 1 every row is an epoch, and the changelog is always the same.
func TestRowByRow(t *testing.T) {
	splits := [][]string{rows(1, 60)}
	run := func() []string {
		h := newHarness(t, bounded(splits...))
		second := h.add(&exec.Node{Name: "Second", Source: bounded(rows(2, 40))})
		both := h.graph.Nodes[1]
		both.Inputs = append(both.Inputs, exec.Edge{From: second})
		// Nodes stand after those they read from.
		h.graph.Nodes = slices.Insert(h.graph.Nodes[:len(h.graph.Nodes)-1], 1, second)
		h.cfg.Parallelism, h.cfg.BatchSize, h.cfg.Clock, h.cfg.FlushInterval = 1, 1, nil, time.Millisecond
		if err := h.start().Wait(); err != nil {
			t.Fatal(err)
		}
		h.check()
		h.leaks()
		for e := range h.in.Epochs() {
			if n := len(h.in.Changes(e + 1)); n > 1 {
				t.Errorf("epoch %d has %d rows", e+1, n)
			}
		}
		return append(h.in.All(), h.out.All()...)
	}
	first := run()
	for range 10 {
		if again := run(); !slices.Equal(again, first) {
			t.Fatalf("another run gave\n%q, not\n%q", again, first)
		}
	}
}

// Sync returns when what was given is visible, with no tick of the clock.
func TestSync(t *testing.T) {
	for _, batch := range []int{0, 1} {
		feed := exectest.NewFeed(twoInts...)
		h := newHarness(t, feed)
		h.cfg.BatchSize = batch
		j := h.start()
		given := exectest.Table{}
		for i := range 20 {
			more := rows(uint64(i), 1+i%5)
			feed.Put(more...)
			given.Add(more...)
			if err := j.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := h.out.Final().Diff(sums(given)); diff != "" {
				t.Fatalf("batch size %d: after Sync %d the result differs by%s", batch, i, diff)
			}
		}
		feed.Put("1 1", "2 2")
		given.Add("1 1", "2 2")
		if err := j.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := h.out.Final().Diff(sums(given)); diff != "" {
			t.Errorf("after Stop the result differs by%s", diff)
		}
		if err := errors.Join(j.Sync(t.Context()), j.Stop(t.Context()), j.Wait()); err != nil {
			t.Errorf("after the end: %v", err)
		}
		h.check()
		h.leaks()
		if batch == 1 {
			for e := range h.in.Epochs() {
				if n := len(h.in.Changes(e + 1)); n > 1 {
					t.Errorf("epoch %d has %d rows", e+1, n)
				}
			}
		}
	}
}

// The feed's end ends the job.
func TestFeedEnds(t *testing.T) {
	feed := exectest.NewFeed(twoInts...)
	h := newHarness(t, feed)
	j := h.start()
	feed.Put("1 1")
	feed.End()
	if err := j.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := h.out.Final().Rows(); !slices.Equal(got, []string{"1 1"}) {
		t.Errorf("result %q", got)
	}
}

// times notes what an operator is told about time.
type times struct {
	exec.Stateless
	rt   *exec.Runtime
	told func(what string, now int64)
}

func (o *times) Open(_ context.Context, rt *exec.Runtime) error {
	o.rt = rt
	return nil
}

func (o *times) Process(_ int, b *vector.Batch, out exec.Output) error {
	o.told("rows", o.rt.Now())
	return out.Emit(b)
}

func (o *times) Advance(_ int, w exec.Watermark, out exec.Output) error {
	o.told("watermark "+w.String(), o.rt.Now())
	return out.Advance(w)
}

func (o *times) End(int, exec.Output) error {
	o.told("end", o.rt.Now())
	return nil
}

// A stopped job fires nothing, one whose input ends everything.
func TestStopFiresNothing(t *testing.T) {
	for _, stop := range []bool{true, false} {
		feed := exectest.NewFeed(twoInts...)
		h := newHarness(t, feed)
		h.cfg.Parallelism = 1
		var mu sync.Mutex
		var log []string
		h.graph.Nodes[1].New = func(int) (exec.Operator, error) {
			return &times{told: func(what string, now int64) {
				mu.Lock()
				defer mu.Unlock()
				log = append(log, fmt.Sprint(now, " ", what))
			}}, nil
		}
		j := h.start()
		feed.Put("1 1")
		if err := j.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.clock.Advance(time.Minute) // ends an epoch
		if err := j.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		feed.Put("2 2")
		want := []string{"1000 rows", "61000 rows"}
		if stop {
			if err := j.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else {
			feed.End()
			want = append(want, "61000 watermark end", "61000 end")
			if err := j.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(log, want) {
			t.Errorf("stop %t: told %q, want %q", stop, log, want)
		}
		if got := h.out.Final().Rows(); !slices.Equal(got, []string{"1 1", "2 2"}) {
			t.Errorf("stop %t: result %q", stop, got)
		}
	}
}

// The clock's ticks end epochs, and only they do here.
func TestTicks(t *testing.T) {
	feed := exectest.NewFeed(twoInts...)
	h := newHarness(t, feed)
	marks := make(chan exec.Mark)
	h.cfg.Hooks.Epoch = func(m exec.Mark) { marks <- m }
	j := h.start()
	for i := range 3 {
		h.clock.Advance(20 * time.Millisecond)
		if m := <-marks; m.Epoch != uint64(i+1) || m.Now != 1000+20*int64(i+1) {
			t.Errorf("mark %+v", m)
		}
	}
	if m := j.Metrics(); m.Epoch != 3 || len(m.Operators) != 8 {
		t.Errorf("metrics %+v", m)
	}
	j.Cancel()
	go func() {
		for range marks {
		}
	}()
	if err := j.Wait(); errs.CodeOf(err) != errs.Canceled {
		t.Errorf("canceled: %v", err)
	}
	close(marks)
}

func TestCheckpoints(t *testing.T) {
	feed := exectest.NewFeed(twoInts...)
	h := newHarness(t, feed)
	h.cfg.CheckpointInterval = time.Second
	committed := make(chan uint64)
	h.cfg.Hooks.Commit = func(_ *exec.Node, checkpoint uint64) { committed <- checkpoint }
	j := h.start()
	for range 2 {
		feed.Put("1 1")
		h.clock.Advance(600 * time.Millisecond)
		if err := j.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.clock.Advance(600 * time.Millisecond)
		<-committed
	}
	done := make(chan error)
	go func() { done <- j.Stop(t.Context()) }()
	if last := <-committed; last != connector.Final {
		t.Errorf("the last checkpoint is %d", last)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var commits []string
	for _, c := range h.out.Calls() {
		if strings.HasPrefix(c, "commit") {
			commits = append(commits, c)
		}
	}
	if len(commits) != 3 || commits[2] != "commit 0:final 1:final" {
		t.Errorf("commits %q", commits)
	}
	for _, c := range commits[:2] {
		var a, b int
		if _, err := fmt.Sscanf(c, "commit 0:%d 1:%d", &a, &b); err != nil || a != b {
			t.Errorf("commit %q", c)
		}
	}
}

var errBroken = errors.New("broken")

// Wherever something fails, the job ends with that error, sinks discard, and
// nothing is left behind.
func TestFailures(t *testing.T) {
	for _, call := range []string{
		"source splits", "source open", "source read", "source close",
		"sink writer", "sink write", "sink end-epoch", "sink prepare", "sink close", "sink commit", "sink close committer",
	} {
		kind, name, _ := strings.Cut(call, " ")
		src := &exectest.Source{Kinds: twoInts, Splits: [][]string{rows(1, 300), rows(2, 300), rows(3, 300)}}
		h := newHarness(t, src.Connect())
		h.cfg.BatchSize, h.cfg.FlushRows, h.cfg.ChannelSize = 10, 50, 1
		n := 0
		fail := func(c string) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			if c != name {
				return nil
			}
			if n++; n == 2 || name != "write" && name != "read" && name != "end-epoch" {
				return errBroken
			}
			return nil
		}
		want := "Scan"
		if kind == "source" {
			src.Fail = func(c, _ string) error { return fail(c) }
		} else {
			h.out.Fail = func(c string, _ int) error { return fail(c) }
			want = "Sink"
		}
		before := runtime.NumGoroutine()
		j, err := job.Start(t.Context(), &h.graph, h.cfg)
		if name == "commit" && err == nil {
			h.passTime(j) // between the tries
		}
		early := name == "splits" || name == "writer"
		if early != (err != nil) {
			t.Errorf("%s: Start: %v", call, err)
		}
		if err == nil {
			err = j.Wait()
		}
		var oe *exec.OpError
		if !errors.Is(err, errBroken) || !errors.As(err, &oe) || oe.Op != want {
			t.Errorf("%s: %v", call, err)
		}
		calls := h.out.Calls()
		if slices.ContainsFunc(calls, func(c string) bool { return strings.HasPrefix(c, "commit") }) && !strings.Contains(call, "commit") {
			t.Errorf("%s: sinks committed: %q", call, calls)
		}
		if name != "splits" && !strings.Contains(call, "committer") && !slices.Equal(calls[len(calls)-2:], []string{"abort", "close committer"}) {
			t.Errorf("%s: sinks did not abort: %q", call, calls)
		}
		h.leaks()
		goroutines(t, before)
	}
}

// goroutines fails the test when more than before are left.
func goroutines(t *testing.T, before int) {
	t.Helper()
	for range 1_000_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	stacks := make([]byte, 1<<20)
	t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

// A sink that does not take rows holds up the sources: only what fits between them
// is read.
func TestBackPressure(t *testing.T) {
	sink := &counting{gate: make(chan struct{}), hit: make(chan struct{}, 1)}
	h := newHarness(t, endless{})
	var mu sync.Mutex
	read := 0
	h.graph.Nodes[1].New = func(int) (exec.Operator, error) {
		return &times{told: func(string, int64) {
			mu.Lock()
			defer mu.Unlock()
			read++
		}}, nil
	}
	h.graph.Nodes = h.graph.Nodes[:2]
	h.add(&exec.Node{Name: "Sink", Sink: sink, Parallelism: 1, Inputs: []exec.Edge{{From: h.graph.Nodes[1], Exchange: exec.Exchange{Kind: exec.Single}}}})
	h.cfg.ChannelSize = 4
	j := h.start()
	<-sink.hit
	// With a batch in every channel, one at the sink and one in every hand, the
	// sources cannot go on; let them try.
	for range 100_000 {
		runtime.Gosched()
	}
	mu.Lock()
	if read > 2*4+2+2+1 {
		t.Errorf("%d batches were read", read)
	}
	mu.Unlock()
	close(sink.gate)
	if err := j.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.leaks()
}

// Cancel ends a job that is blocked everywhere.
func TestCancel(t *testing.T) {
	for _, parent := range []bool{false, true} {
		before := runtime.NumGoroutine()
		h := newHarness(t, endless{})
		h.cfg.FlushRows, h.cfg.ChannelSize = 1<<40, 1
		block := make(chan struct{})
		reached := make(chan struct{}, 1)
		h.out.Fail = func(call string, _ int) error {
			if call == "end-epoch" {
				select {
				case reached <- struct{}{}:
				default:
				}
				<-block
			}
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		j, err := job.Start(ctx, &h.graph, h.cfg)
		if err != nil {
			t.Fatal(err)
		}
		h.clock.Advance(20 * time.Millisecond)
		<-reached
		if parent {
			cancel()
		} else {
			j.Cancel()
		}
		close(block)
		if err := j.Wait(); errs.CodeOf(err) != errs.Canceled || strings.Contains(err.Error(), "Scan") {
			t.Errorf("canceled: %v", err)
		}
		if err := j.Sync(t.Context()); errs.CodeOf(err) != errs.Canceled {
			t.Errorf("sync after cancel: %v", err)
		}
		if calls := h.out.Calls(); !slices.Equal(calls[len(calls)-2:], []string{"abort", "close committer"}) {
			t.Errorf("calls %q", calls)
		}
		h.leaks()
		cancel()
		goroutines(t, before)
	}
}

func TestCallerGivesUp(t *testing.T) {
	feed := exectest.NewFeed(twoInts...)
	h := newHarness(t, feed)
	block := make(chan struct{})
	h.out.Fail = func(call string, _ int) error {
		if call == "end-epoch" {
			<-block
		}
		return nil
	}
	j := h.start()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Sync(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Sync: %v", err)
	}
	if err := j.Stop(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Stop: %v", err)
	}
	close(block)
	if err := j.Wait(); err != nil {
		t.Errorf("the job went on to stop, with %v", err)
	}
}

func TestConfig(t *testing.T) {
	_, err := job.Start(t.Context(), &exec.Graph{}, job.Config{Parallelism: 257, BatchSize: -1})
	if errs.CodeOf(err) != errs.Option || !strings.Contains(err.Error(), "257") || !strings.Contains(err.Error(), "-1") {
		t.Errorf("config: %v", err)
	}
	if _, err := job.Start(t.Context(), &exec.Graph{}, job.Config{}); errs.CodeOf(err) != errs.Internal {
		t.Errorf("empty graph: %v", err)
	}
}
