package exec_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

var twoInts = []vector.Kind{vector.Int64, vector.Int64}

// graph collects nodes.
type graph struct{ exec.Graph }

func (g *graph) add(n *exec.Node) *exec.Node {
	if n.Name == "" {
		n.Name = fmt.Sprintf("Node[%d]", len(g.Nodes))
	}
	n.ID = n.Name
	g.Nodes = append(g.Nodes, n)
	return n
}

func (g *graph) source(splits ...[]string) *exec.Node {
	return g.add(&exec.Node{Source: (&exectest.Source{Kinds: twoInts, Splits: splits}).Connect()})
}

func (g *graph) op(newOp func(int) (exec.Operator, error), in ...exec.Edge) *exec.Node {
	return g.add(&exec.Node{New: newOp, Inputs: in})
}

func (g *graph) sink(r *exectest.Recorder, in exec.Edge) *exec.Node {
	return g.add(&exec.Node{Sink: r.Sink(), Inputs: []exec.Edge{in}})
}

func forward(n *exec.Node) exec.Edge { return exec.Edge{From: n} }

func hash(n *exec.Node, keys ...int) exec.Edge {
	return exec.Edge{From: n, Exchange: exec.Exchange{Kind: exec.Hash, Keys: keys}}
}

func single(n *exec.Node) exec.Edge {
	return exec.Edge{From: n, Exchange: exec.Exchange{Kind: exec.Single}}
}

// updates is a changelog in which rows (group, value) are added, taken away, and
// most often moved to another group or value.
func updates(r *rand.Rand, n int) []string {
	var out []string
	var live [][2]int
	for range n {
		row := [2]int{r.IntN(6), r.IntN(100)}
		i := 0
		if len(live) > 0 {
			i = r.IntN(len(live))
		}
		switch {
		case len(live) < 3 || r.IntN(4) == 0:
			live = append(live, row)
			out = append(out, fmt.Sprintf("+I %d %d", row[0], row[1]))
		case r.IntN(5) == 0:
			out = append(out, fmt.Sprintf("-D %d %d", live[i][0], live[i][1]))
			live = slices.Delete(live, i, i+1)
		default:
			out = append(out, fmt.Sprintf("-U %d %d", live[i][0], live[i][1]), fmt.Sprintf("+U %d %d", row[0], row[1]))
			live[i] = row
		}
	}
	return out
}

// sums is what Sum makes of a whole table.
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

// summing is a source of updates, summed by group over a hash exchange.
func summing(seed uint64, splits int) (g *graph, in, out *exectest.Recorder) {
	r := rand.New(rand.NewPCG(seed, 99))
	g, in, out = &graph{}, &exectest.Recorder{}, &exectest.Recorder{}
	var rows [][]string
	for range splits {
		rows = append(rows, updates(r, 40))
	}
	tap := g.op(in.Tap(), forward(g.source(rows...)))
	g.sink(out, forward(g.op(exectest.NewSum, hash(tap, 0))))
	return g, in, out
}

// seeds is how many of n seeds to run.
func seeds(n int) int {
	if testing.Short() {
		return max(n/6, 1)
	}
	return n
}

// checkSums compares what is visible at every mark with the result of the input
// read until then.
func checkSums(in, out *exectest.Recorder) error {
	if in.Epochs() != out.Epochs() || in.Epochs() == 0 {
		return fmt.Errorf("%d epochs went in, %d came out", in.Epochs(), out.Epochs())
	}
	read, shown := exectest.Table{}, exectest.Table{}
	for e := 1; e <= in.Epochs(); e++ {
		read.Add(in.Changes(e)...)
		shown.Add(out.Changes(e)...)
		if diff := shown.Diff(sums(read)); diff != "" {
			return fmt.Errorf("after epoch %d of %d the result differs by%s", e, in.Epochs(), diff)
		}
	}
	return nil
}

// Whatever the order in which tasks run, every mark shows the result of a prefix
// of the input.
func TestEveryMarkIsConsistent(t *testing.T) {
	for _, parallelism := range []int{1, 2, 3, 5} {
		for _, batch := range []int{0, 1} {
			exectest.EverySeed(t, seeds(24), func(seed uint64) (exectest.Schedule, func() error) {
				g, in, out := summing(seed, 4)
				return exectest.Schedule{Graph: &g.Graph, Parallelism: parallelism, BatchSize: batch},
					func() error { return checkSums(in, out) }
			})
		}
	}
}

// Every fault must be found by the check above: the proof that it looks.
func TestFaultsAreNoticed(t *testing.T) {
	for name, faults := range map[string]exec.Faults{
		"unaligned":    {Unaligned: true},
		"misroute":     {Misroute: true},
		"late pending": {LatePending: true},
	} {
		t.Run(name, func(t *testing.T) {
			noticed := 0
			for seed := range uint64(30) {
				g, in, out := summing(seed, 4)
				err := exectest.Schedule{Graph: &g.Graph, Seed: seed, Faults: faults}.Run()
				if err == nil {
					err = checkSums(in, out)
				}
				if err != nil {
					noticed++
				}
			}
			if noticed < 15 {
				t.Errorf("noticed with %d of 30 seeds", noticed)
			}
		})
	}
}

// The same seed must give the same order.
func TestScheduleRepeats(t *testing.T) {
	run := func() string {
		g, in, out := summing(3, 4)
		if err := (exectest.Schedule{Graph: &g.Graph, Seed: 7}).Run(); err != nil {
			t.Fatal(err)
		}
		return strings.Join(in.All(), "|") + "\n" + strings.Join(out.All(), "|")
	}
	if a, b := run(), run(); a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}

func TestScheduleStops(t *testing.T) {
	exectest.EverySeed(t, seeds(30), func(seed uint64) (exectest.Schedule, func() error) {
		g, in, out := summing(seed, 4)
		return exectest.Schedule{Graph: &g.Graph, StopAfter: 3}, func() error {
			if in.Epochs() > 3 {
				return fmt.Errorf("%d epochs", in.Epochs())
			}
			return checkSums(in, out)
		}
	})
}

// twins reads the same rows at both ports, over different ways, and looks at every
// flush whether they are the same. It gives the rows of port 0.
type twins struct {
	exec.Stateless
	seen  [2]exectest.Table
	ended [2]bool
	low   *exec.MinWatermark
}

func newTwins(int) (exec.Operator, error) {
	return &twins{seen: [2]exectest.Table{{}, {}}, low: exec.NewMinWatermark(2)}, nil
}

func (w *twins) Process(port int, b *vector.Batch, out exec.Output) error {
	if w.ended[port] {
		return fmt.Errorf("rows on port %d after its end", port)
	}
	w.seen[port].Add(exectest.Text(b)...)
	if port == 1 {
		return nil
	}
	return out.Emit(b)
}

func (w *twins) Advance(port int, mark exec.Watermark, out exec.Output) error {
	if low, rose := w.low.Advance(port, mark); rose {
		return out.Advance(low)
	}
	return nil
}

func (w *twins) End(port int, _ exec.Output) error {
	if w.ended[port] {
		return fmt.Errorf("port %d ended twice", port)
	}
	w.ended[port] = true
	return nil
}

func (w *twins) Flush(exec.Output) error {
	if diff := w.seen[0].Diff(w.seen[1]); diff != "" {
		return fmt.Errorf("ports differ by%s", diff)
	}
	return nil
}

type pass struct{ exec.Stateless }

func newPass(int) (exec.Operator, error) { return pass{}, nil }

func (pass) Process(_ int, b *vector.Batch, out exec.Output) error { return out.Emit(b) }

// Two ways of different length from one source meet again: marks must align, and
// full channels must not make tasks wait for each other in a circle.
func TestDiamonds(t *testing.T) {
	ways := map[string]func(g *graph, from *exec.Node) exec.Edge{
		"direct": func(_ *graph, from *exec.Node) exec.Edge { return forward(from) },
		"pass":   func(g *graph, from *exec.Node) exec.Edge { return forward(g.op(newPass, forward(from))) },
		"there and back": func(g *graph, from *exec.Node) exec.Edge {
			return hash(g.op(newPass, hash(from, 1)), 0)
		},
		"far": func(g *graph, from *exec.Node) exec.Edge {
			return hash(g.op(newPass, hash(g.op(newPass, hash(from, 1)), 0, 1)), 0)
		},
		"hash": func(_ *graph, from *exec.Node) exec.Edge { return hash(from, 0) },
	}
	for a, left := range ways {
		for b, right := range ways {
			t.Run(a+" and "+b, func(t *testing.T) {
				exectest.EverySeed(t, seeds(8), func(seed uint64) (exectest.Schedule, func() error) {
					r := rand.New(rand.NewPCG(seed, 5))
					g, in, out := &graph{}, &exectest.Recorder{}, &exectest.Recorder{}
					tap := g.op(in.Tap(), forward(g.source(updates(r, 20), updates(r, 20), nil)))
					// All start from the same distribution, so that direct ways fit.
					start := g.op(newPass, hash(tap, 0))
					l := left(g, start)
					g.sink(out, single(g.op(newTwins, l, right(g, start))))
					g.Nodes[len(g.Nodes)-1].Parallelism = 1
					return exectest.Schedule{Graph: &g.Graph, Parallelism: 1 + int(seed%3)}, func() error {
						if diff := out.Final().Diff(in.Final()); diff != "" {
							return errors.New("result differs by" + diff)
						}
						return nil
					}
				})
			})
		}
	}
}

// A key's rows keep their order over an exchange.
func TestExchangeKeepsTheOrderOfKeys(t *testing.T) {
	exectest.EverySeed(t, seeds(30), func(seed uint64) (exectest.Schedule, func() error) {
		var rows []string
		for i := range 200 {
			rows = append(rows, fmt.Sprintf("%d %d", i%7, i))
		}
		g, out := &graph{}, &exectest.Recorder{}
		g.sink(out, hash(g.op(newPass, forward(g.source(rows))), 0))
		return exectest.Schedule{Graph: &g.Graph, Parallelism: 3}, func() error {
			last := map[int]int{}
			all := out.All()
			for _, row := range all {
				var k, v int
				if _, err := fmt.Sscanf(row, "+I %d %d", &k, &v); err != nil {
					return err
				}
				if v < last[k] {
					return fmt.Errorf("key %d: %d after %d", k, v, last[k])
				}
				last[k] = v
			}
			if len(all) != len(rows) {
				return fmt.Errorf("%d rows", len(all))
			}
			return nil
		}
	})
}

func TestSideOutputs(t *testing.T) {
	exectest.EverySeed(t, 10, func(uint64) (exectest.Schedule, func() error) {
		g, odd, even, both := &graph{}, &exectest.Recorder{}, &exectest.Recorder{}, &exectest.Recorder{}
		split := g.op(func(int) (exec.Operator, error) { return &splitter{}, nil }, forward(g.source([]string{"1 1", "2 2", "3 3", "4 4"})))
		g.sink(even, forward(split))
		g.sink(odd, exec.Edge{From: split, Side: "odd"})
		g.sink(both, exec.Edge{From: split, Side: "odd", Exchange: exec.Exchange{Kind: exec.Hash, Keys: []int{0}}})
		return exectest.Schedule{Graph: &g.Graph}, func() error {
			got := [][]string{odd.Final().Rows(), even.Final().Rows(), both.Final().Rows()}
			if s := fmt.Sprint(got); s != "[[1 1 3 3] [2 2 4 4] [1 1 3 3]]" {
				return errors.New(s)
			}
			return nil
		}
	})
}

type splitter struct {
	exec.Stateless
	rt *exec.Runtime
}

func (s *splitter) Open(_ context.Context, rt *exec.Runtime) error {
	s.rt = rt
	return nil
}

func (s *splitter) Process(_ int, b *vector.Batch, out exec.Output) error {
	keys := vector.Values[int64](b.Col(0))
	for i := range b.Len() {
		r := b.Row(i)
		one := b.Select(vector.Of(s.rt.Pool, int32(r)))
		to := out
		if keys[r]%2 == 1 {
			to = s.rt.Side("odd")
		}
		err := errors.Join(to.Emit(one), s.rt.Side("nobody").Emit(one))
		one.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func TestBuild(t *testing.T) {
	build := func(parallelism int, make func(g *graph)) (*exec.Program, error) {
		g := &graph{}
		make(g)
		return exec.Build(t.Context(), &g.Graph, exec.Options{Parallelism: parallelism})
	}
	tasks := func(name string, parallelism, want int, make func(g *graph)) {
		t.Helper()
		p, err := build(parallelism, make)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if len(p.Tasks) != want {
			t.Errorf("%s: %d tasks, want %d", name, len(p.Tasks), want)
		}
	}
	rec := &exectest.Recorder{}
	chain := func(g *graph) {
		g.sink(rec, forward(g.op(exectest.NewSum, hash(g.op(newPass, forward(g.source(nil))), 0))))
	}
	tasks("one shard needs no exchange", 1, 1, chain)
	tasks("two stages of three shards", 3, 6, chain)
	tasks("two sources of a task", 2, 2, func(g *graph) {
		g.sink(rec, forward(g.op(newTwins, forward(g.source(nil)), forward(g.source(nil)))))
	})
	tasks("a port from the stage before", 2, 4, func(g *graph) {
		a := g.op(newPass, forward(g.source(nil)))
		g.sink(rec, forward(g.op(newTwins, forward(a), hash(a, 0))))
	})
	tasks("two queries", 2, 4, func(g *graph) {
		g.sink(rec, forward(g.source(nil)))
		g.sink(rec, forward(g.source(nil)))
	})

	for want, make := range map[string]func(g *graph){
		"no source":                    func(*graph) {},
		"does not stand before it":     func(g *graph) { g.op(newPass, forward(&exec.Node{})) },
		"is not one of source":         func(g *graph) { g.add(&exec.Node{}) },
		"has 0 inputs":                 func(g *graph) { g.op(newPass) },
		"3 shards of Node[0] forward":  func(g *graph) { g.op(newPass, forward(g.source(nil))).Parallelism = 2 },
		"parallelism 257; at most 256": func(g *graph) { g.source(nil).Parallelism = 257 },
	} {
		_, err := build(3, make)
		if err == nil || !strings.Contains(err.Error(), want) || errs.CodeOf(err) != errs.Internal {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

var testState = state.Options{EvictAll: true}
