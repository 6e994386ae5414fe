package exec_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/vector"
)

// logging notes the calls that an operator gets. It gives one row at every flush.
type logging struct {
	name  string
	log   *[]string
	fail  string // the call that fails
	panic string // the call that panics
	rt    *exec.Runtime
}

var errBroken = errors.New("broken")

func (l *logging) call(name string, args ...any) error {
	*l.log = append(*l.log, strings.TrimSpace(l.name+"."+name+" "+strings.Trim(fmt.Sprint(args...), "[]")))
	if l.panic == name {
		panic("a bug")
	}
	if l.fail == name {
		return errBroken
	}
	return nil
}

func (l *logging) Open(_ context.Context, rt *exec.Runtime) error {
	l.rt = rt
	return l.call("Open")
}

func (l *logging) Process(port int, b *vector.Batch, out exec.Output) error {
	if err := l.call("Process", port, " ", strings.Join(exectest.Text(b), ",")); err != nil {
		return err
	}
	return out.Emit(b)
}

func (l *logging) Advance(port int, w exec.Watermark, out exec.Output) error {
	if err := l.call("Advance", port, " ", w); err != nil {
		return err
	}
	return out.Advance(w)
}

func (l *logging) End(port int, _ exec.Output) error { return l.call("End", port) }

func (l *logging) Flush(out exec.Output) error {
	if err := l.call("Flush"); err != nil {
		return err
	}
	b := exectest.NewBatch(l.rt.Pool, twoInts, "7 7")
	defer b.Release()
	return out.Emit(b)
}

func (l *logging) Close() error { return l.call("Close") }

func logged(log *[]string, name string, change func(l *logging)) func(int) (exec.Operator, error) {
	return func(int) (exec.Operator, error) {
		l := &logging{name: name, log: log}
		if change != nil {
			change(l)
		}
		return l, nil
	}
}

// runOne runs a graph in one shard, in one epoch.
func runOne(t *testing.T, g *graph) error {
	t.Helper()
	return exectest.Schedule{Graph: &g.Graph, Parallelism: 1, BatchSize: 100, Seed: 4}.Run()
}

// Rows come before the flush that follows them, flushed rows before the watermark,
// watermarks before the end of the port; operators are opened from the inputs on
// and closed from the outputs on.
func TestOrderOfCalls(t *testing.T) {
	var log []string
	g := &graph{}
	a := g.op(logged(&log, "a", nil), forward(g.source([]string{"1 2"})))
	g.sink(&exectest.Recorder{}, forward(g.op(logged(&log, "b", nil), forward(a))))
	if err := runOne(t, g); err != nil {
		t.Fatal(err)
	}
	// Epochs without rows may come before.
	want := []string{
		"a.Open", "b.Open",
		"a.Process 0 +I 1 2", "b.Process 0 +I 1 2",
		"a.Advance 0 end", "a.End 0", "a.Flush", "b.Process 0 +I 7 7", "b.Advance 0 end", "b.End 0", "b.Flush",
		"b.Close", "a.Close",
	}
	last := slices.Index(log, "a.Process 0 +I 1 2")
	if last < 0 {
		t.Fatalf("calls %q", log)
	}
	got := slices.Concat(log[:2], log[last:])
	if last := slices.Index(got, "a.Advance 0 end"); last > 4 {
		got = slices.Delete(got, 4, last)
	}
	if !slices.Equal(got, want) {
		t.Errorf("calls\n\t%q, want\n\t%q", got, want)
	}
}

// Whatever call fails, the error names the operator once, everything is closed and
// nothing leaks.
func TestFailingCalls(t *testing.T) {
	for _, call := range []string{"Open", "Process", "Advance", "End", "Flush", "Close"} {
		for _, bug := range []bool{false, true} {
			var log []string
			g := &graph{}
			a := g.op(logged(&log, "a", nil), forward(g.source([]string{"1 2", "3 4"}, []string{"5 6"})))
			b := g.op(logged(&log, "b", func(l *logging) {
				if bug {
					l.panic = call
				} else {
					l.fail = call
				}
			}), hash(a, 0))
			b.Name = "Broken[7]"
			g.sink(&exectest.Recorder{}, single(g.op(newPass, forward(b))))
			err := exectest.Schedule{Graph: &g.Graph, Parallelism: 2, Seed: 1}.Run()
			var oe *exec.OpError
			switch {
			case err == nil:
				t.Errorf("%s did not fail", call)
			case !errors.As(err, &oe) || oe.Op != "Broken[7]" || strings.Count(err.Error(), "Broken[7]: Broken[7]") > 0:
				t.Errorf("%s: %v does not name the operator once", call, err)
			case bug && (errs.CodeOf(err) != errs.Internal || !strings.Contains(err.Error(), "a bug") || !strings.Contains(err.Error(), "task_test.go")):
				t.Errorf("%s: %v is not a bug with its stack", call, err)
			case !bug && !errors.Is(err, errBroken):
				t.Errorf("%s: %v is not the cause", call, err)
			}
			opened, closed := 0, 0
			for _, c := range log {
				opened += strings.Count(c, ".Open")
				closed += strings.Count(c, ".Close")
			}
			if opened != closed {
				t.Errorf("%s: %d operators opened, %d closed: %q", call, opened, closed, log)
			}
		}
	}
}

func TestFailingSourcesAndSinks(t *testing.T) {
	for _, call := range []string{"splits", "open", "read", "close"} {
		for _, bug := range []bool{false, true} {
			if bug && call == "splits" {
				continue // is called by Build, not by a task
			}
			g := &graph{}
			src := &exectest.Source{Kinds: twoInts, Splits: [][]string{{"1 2"}, {"3 4"}}, Fail: func(name, _ string) error {
				switch {
				case name != call:
					return nil
				case bug:
					panic("a bug")
				}
				return errBroken
			}}
			n := g.add(&exec.Node{Name: "Scan[1]", Source: src.Connect()})
			g.sink(&exectest.Recorder{}, hash(n, 0))
			checkFailure(t, call, "Scan[1]", bug, exectest.Schedule{Graph: &g.Graph, Seed: 1}.Run())
		}
	}
	for _, call := range []string{"writer", "write", "end-epoch", "prepare", "close"} {
		for _, bug := range []bool{false, true} {
			g := &graph{}
			rec := &exectest.Recorder{Fail: func(name string, _ int) error {
				switch {
				case name != call:
					return nil
				case bug:
					panic("a bug")
				}
				return errBroken
			}}
			g.sink(rec, hash(g.source([]string{"1 2", "3 4"}), 0)).Name = "Sink[2]"
			checkFailure(t, call, "Sink[2]", bug, exectest.Schedule{Graph: &g.Graph, Seed: 1}.Run())
		}
	}
}

func checkFailure(t *testing.T, call, op string, bug bool, err error) {
	t.Helper()
	var oe *exec.OpError
	switch {
	case err == nil:
		t.Errorf("%s did not fail", call)
	case !errors.As(err, &oe) || oe.Op != op:
		t.Errorf("%s: %v does not name %s", call, err, op)
	case bug && errs.CodeOf(err) != errs.Internal:
		t.Errorf("%s: %v is not a bug", call, err)
	case !bug && !errors.Is(err, errBroken):
		t.Errorf("%s: %v is not the cause", call, err)
	}
}

// A constructor's error names the operator as well.
func TestFailingConstructor(t *testing.T) {
	g := &graph{}
	g.op(func(int) (exec.Operator, error) { return nil, errBroken }, forward(g.source(nil))).Name = "Calc[3]"
	checkFailure(t, "New", "Calc[3]", false, runOne(t, g))
}

// marker is a source of event time: it says in every epoch what a script has.
type marker struct {
	exec.Stateless
	rt     *exec.Runtime
	script []exec.Mark
}

func (m *marker) Open(_ context.Context, rt *exec.Runtime) error {
	m.rt = rt
	return nil
}

func (m *marker) Process(_ int, b *vector.Batch, out exec.Output) error { return out.Emit(b) }

func (m *marker) Flush(out exec.Output) error {
	if len(m.script) == 0 {
		return nil
	}
	next := m.script[0]
	m.script = m.script[1:]
	m.rt.SetIdle(next.Idle)
	return out.Advance(next.Watermark)
}

// The event time of an idle port follows that of the others, directly or over
// channels.
func TestIdleInputs(t *testing.T) {
	left := []exec.Mark{{Watermark: 5}, {Watermark: 7}, {Watermark: 9}, {Watermark: 10}}
	right := []exec.Mark{{Watermark: 2}, {Watermark: 2, Idle: true}, {Watermark: 2, Idle: true}, {Watermark: 3}}
	want := []exec.Watermark{2, 7, 9, 9}
	for parallelism, edge := range map[int]func(n *exec.Node) exec.Edge{
		1: forward,
		2: func(n *exec.Node) exec.Edge { return hash(n, 0) },
	} {
		g := &graph{}
		rows := []string{"1 1", "1 2", "1 3", "1 4", "1 5", "1 6"}
		mark := func(script []exec.Mark) func(int) (exec.Operator, error) {
			return func(int) (exec.Operator, error) { return &marker{script: script}, nil }
		}
		l := g.op(mark(left), forward(g.source(rows)))
		r := g.op(mark(right), forward(g.source(rows)))
		both := g.op(func(int) (exec.Operator, error) { return &twinsOfAny{low: exec.NewMinWatermark(2)}, nil }, edge(l), edge(r))
		g.sink(&exectest.Recorder{}, forward(both))
		seen := map[int][]exec.Watermark{}
		hooks := exec.Hooks{Mark: func(n *exec.Node, shard int, m exec.Mark) {
			if n == both {
				seen[shard] = append(seen[shard], m.Watermark)
			}
		}}
		if err := (exectest.Schedule{Graph: &g.Graph, Parallelism: parallelism, BatchSize: 1, Hooks: hooks}).Run(); err != nil {
			t.Fatal(err)
		}
		for shard, got := range seen {
			if !slices.Equal(got[:len(want)], want) || got[len(got)-1] != exec.EndWatermark {
				t.Errorf("%d shards: shard %d saw %v, want %v and the end", parallelism, shard, got, want)
			}
		}
	}
}

// twinsOfAny combines event time and passes rows on.
type twinsOfAny struct {
	exec.Stateless
	low *exec.MinWatermark
}

func (w *twinsOfAny) Process(_ int, b *vector.Batch, out exec.Output) error { return out.Emit(b) }

func (w *twinsOfAny) Advance(port int, mark exec.Watermark, out exec.Output) error {
	if low, rose := w.low.Advance(port, mark); rose {
		return out.Advance(low)
	}
	return nil
}

// Processing time is that of the mark before, the same in all shards.
func TestNow(t *testing.T) {
	g := &graph{}
	seen := map[int64]bool{}
	newOp := func(int) (exec.Operator, error) { return &clockReader{seen: seen}, nil }
	tap := &exectest.Recorder{}
	g.sink(&exectest.Recorder{}, forward(g.op(newOp, hash(g.op(tap.Tap(), forward(g.source([]string{"1 1", "2 2", "3 3"}))), 0))))
	if err := (exectest.Schedule{Graph: &g.Graph, BatchSize: 1}).Run(); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for e := 1; e <= tap.Epochs(); e++ {
		if n := len(tap.Changes(e)); n > 0 {
			rows++
			if !seen[int64(e-1)] { // the schedule's clock counts epochs
				t.Errorf("the rows of epoch %d did not see the time %d: %v", e, e-1, seen)
			}
		}
	}
	if rows != 3 || len(seen) != 3 {
		t.Errorf("%d epochs with rows, times %v", rows, seen)
	}
}

type clockReader struct {
	exec.Stateless
	rt   *exec.Runtime
	seen map[int64]bool
}

func (c *clockReader) Open(_ context.Context, rt *exec.Runtime) error {
	c.rt = rt
	return nil
}

func (c *clockReader) Process(_ int, b *vector.Batch, out exec.Output) error {
	c.seen[c.rt.Now()] = true
	return out.Emit(b)
}

func TestMetrics(t *testing.T) {
	g := &graph{}
	src := g.source([]string{"1 1", "1 2", "2 3", "-D 9 9"})
	sum := g.op(exectest.NewSum, forward(src))
	g.sink(&exectest.Recorder{}, forward(sum))
	var reported int64
	p, err := exec.Build(t.Context(), &g.Graph, exec.Options{Soft: true, BatchSize: 2, Ended: func(*exec.Reader) {}, Hooks: exec.Hooks{
		Inconsistent: func(n *exec.Node, _ int, count int64) {
			if n == sum {
				reported += count
			}
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if m := p.Metrics()[1]; m.RowsIn != 0 || m.Watermark != exec.NoWatermark {
		t.Errorf("before: %+v", m)
	}
	if err := p.Open(t.Context(), testState); err != nil {
		t.Fatal(err)
	}
	e := exec.NewEpoch(t.Context(), 1, 0, nil)
	p.Readers[0].Start(e)
	for range 4 {
		if _, err := p.Readers[0].Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	e.End(exec.Mark{Last: true}, false, nil)
	if err := errors.Join(p.Readers[0].Run(t.Context()), p.Tasks[0].Run(t.Context()), p.Close()); err != nil {
		t.Fatal(err)
	}
	m := p.Metrics()
	if len(m) != 3 {
		t.Fatalf("%d operators", len(m))
	}
	got := m[1]
	got.Busy, got.StateBytes, got.StateKeys = 0, 0, 0
	want := exec.Metrics{ID: sum.ID, Name: sum.Name, RowsIn: 4, BatchesIn: 2, RowsOut: 2, BatchesOut: 1, Watermark: exec.EndWatermark, Inconsistent: 1}
	if !reflect.DeepEqual(got, want) || reported != 1 {
		t.Errorf("metrics %+v, want %+v; reported %d", got, want, reported)
	}
	if m[1].Busy <= 0 || m[0].RowsOut != 4 || m[2].RowsIn != 2 {
		t.Errorf("metrics %+v", m)
	}
}
