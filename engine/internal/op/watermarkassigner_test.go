package op_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// eventTime is column 1 of rows of a key and a time in milliseconds.
var eventTime = &expr.Column{Index: 1, Name: "ts", T: sqltype.TimestampOf(3)}

var timedKinds = []vector.Kind{vector.Int64, vector.Int64}

// A batch, with nulls, removals or a selection, has the highest time before each row.
func TestWatermarkAssigner(t *testing.T) {
	p := vector.NewCheckedPool()
	for _, hidden := range []bool{true, false} {
		w, err := op.NewWatermarkAssigner(eventTime, hidden)
		if err != nil {
			t.Fatal(err)
		}
		split := exec.NewSplit("a", 3)
		rt := exec.NewRuntime(p, state.NewStore(state.Options{}), func() int64 { return 0 }, nil, nil).Reading(split)
		if err := w.Open(t.Context(), rt); err != nil {
			t.Fatal(err)
		}
		var got []string
		out := emit(func(b *vector.Batch) error {
			got = append(got, exectest.Text(b)...)
			return nil
		})
		b := exectest.NewBatch(p, timedKinds, "1 2", "-D 2 7", "3 NULL", "4 5", "5 9")
		some := b.Select(vector.Of[int32](p, 4, 3))
		for _, b := range []*vector.Batch{b, some} {
			if err := w.Process(0, b, out); err != nil {
				t.Fatal(err)
			}
			b.Release()
		}
		want := []string{"+I 1 2 3", "-D 2 7 3", "+I 3 NULL 7", "+I 4 5 7", "+I 5 9 7", "+I 5 9 9", "+I 4 5 9"}
		if !hidden {
			want = []string{"+I 1 2", "-D 2 7", "+I 3 NULL", "+I 4 5", "+I 5 9", "+I 5 9", "+I 4 5"}
		}
		if !slices.Equal(got, want) || split.Watermark() != 9 {
			t.Errorf("hidden %v: got %q and %d, want %q", hidden, got, split.Watermark(), want)
		}
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

// watcher notes the hidden column of every row, and how far the operator was told that
// event time is.
type watcher struct {
	exec.Stateless
	late exec.Lateness
	see  func(key, ts, before int64, advanced exec.Watermark) error
}

func (w *watcher) Process(_ int, b *vector.Batch, _ exec.Output) error {
	key, ts := vector.Values[int64](b.Col(0)), vector.Values[int64](b.Col(1))
	before := vector.Values[int64](b.Col(2))
	column, floor := w.late.Rows(b)
	for i := range b.Len() {
		r := b.Row(i)
		if got, want := w.late.Before(b, r), exec.Watermark(max(column[r], floor)); got != want {
			return fmt.Errorf("before %v, else %v", got, want)
		}
		if err := w.see(key[r], ts[r], before[r], w.late.Advanced()); err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) Advance(_ int, wm exec.Watermark, out exec.Output) error {
	w.late.Advance(wm)
	return out.Advance(wm)
}

// timedGraph is a source with event time, whose rows are seen on one shard or, hashed,
// on several.
func timedGraph(src connector.Source, times exec.SourceTime, way exec.Exchange, see func(key, ts, before int64, advanced exec.Watermark) error) *exec.Graph {
	g := &exec.Graph{}
	add := func(n *exec.Node) *exec.Node {
		n.ID = fmt.Sprint(len(g.Nodes))
		n.Name = n.ID
		g.Nodes = append(g.Nodes, n)
		return n
	}
	source := add(&exec.Node{Source: src, Time: times})
	assigner := add(&exec.Node{Inputs: []exec.Edge{{From: source}}, New: func(int) (exec.Operator, error) {
		return op.NewWatermarkAssigner(eventTime, true)
	}})
	watch := &exec.Node{Inputs: []exec.Edge{{From: assigner, Exchange: way}}, New: func(int) (exec.Operator, error) {
		return &watcher{late: exec.NewLateness(2), see: see}, nil
	}}
	if way.Kind == exec.Single {
		watch.Parallelism = 1
	}
	watch = add(watch)
	add(&exec.Node{Sink: (&exectest.Recorder{}).Sink(), Inputs: []exec.Edge{{From: watch}}, Parallelism: watch.Parallelism})
	return g
}

// Every row has the watermark of its own split before it, however many splits there are,
// in which order they are read and by how many readers, in batches of whatever size; and
// no operator is told of a time that a row to come has not passed in its own split.
func TestWatermarksOfSplits(t *testing.T) {
	exectest.EverySeed(t, 300, func(seed uint64) (exectest.Schedule, func() error) {
		r := rand.New(rand.NewPCG(seed, 7))
		src := &exectest.Source{Kinds: timedKinds}
		want := map[string]int{}
		key := 0
		for range r.IntN(6) {
			var rows []string
			high := int64(exec.NoWatermark)
			for range r.IntN(20) {
				ts := int64(r.IntN(100))
				rows = append(rows, fmt.Sprintf("%d %d", key, ts))
				want[fmt.Sprintf("%d %d %d", key, ts, high)]++
				high = max(high, ts)
				key++
			}
			src.Splits = append(src.Splits, rows)
		}
		got := map[string]int{}
		see := func(key, ts, before int64, advanced exec.Watermark) error {
			got[fmt.Sprintf("%d %d %d", key, ts, before)]++
			if exec.Watermark(before) < advanced {
				return fmt.Errorf("row %d comes at %v, when its split is at %d", key, advanced, before)
			}
			return nil
		}
		way := exec.Exchange{Kind: exec.Single}
		if r.IntN(2) == 0 {
			way = exec.Exchange{Kind: exec.Hash, Keys: []int{0}}
		}
		g := timedGraph(src.Connect(), exec.SourceTime{}, way, see)
		s := exectest.Schedule{Graph: g, Parallelism: 1 + r.IntN(3), BatchSize: []int{0, 1, 7, 8192}[r.IntN(4)]}
		return s, func() error {
			for row, n := range want {
				if got[row] != n {
					return fmt.Errorf("row %s came %d times, of %d", row, got[row], n)
				}
			}
			return nil
		}
	})
}

// live is an endless source of splits, each of which gives rows from certain epochs on.
type live struct {
	splits [][]liveRows
	epoch  []uint64 // of the readers, by shard
}

type liveRows struct {
	epoch uint64
	rows  []string
}

func (l *live) Mode() sqltype.ChangelogMode { return sqltype.AppendMode }
func (l *live) Bounded() bool               { return false }
func (l *live) Replayable() bool            { return false }

func (l *live) Splits(context.Context) ([]connector.Split, error) {
	var out []connector.Split
	for i := range l.splits {
		out = append(out, connector.Split{ID: strconv.Itoa(i), Data: i})
	}
	return out, nil
}

func (l *live) Open(_ context.Context, s connector.Split, _ connector.Scan, _ []byte) (connector.Reader, error) {
	return &liveReader{l, s.Data.(int)}, nil
}

// hooks tell the readers in which epoch they are: each has a shard of its own.
func (l *live) hooks() exec.Hooks {
	l.epoch = make([]uint64, len(l.splits))
	return exec.Hooks{Mark: func(n *exec.Node, shard int, m exec.Mark) {
		if n.Source != nil {
			l.epoch[shard] = m.Epoch
		}
	}}
}

type liveReader struct {
	l  *live
	at int
}

func (r *liveReader) Read(_ context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	left := &r.l.splits[r.at]
	switch {
	case len(*left) == 0:
		return nil, io.EOF
	case (*left)[0].epoch > r.l.epoch[r.at]+1:
		return nil, nil
	}
	next := &(*left)[0]
	n := min(limit, len(next.rows))
	b := exectest.NewBatch(p, timedKinds, next.rows[:n]...)
	if next.rows = next.rows[n:]; len(next.rows) == 0 {
		*left = (*left)[1:]
	}
	return b, nil
}

func (r *liveReader) Position() []byte { return nil }
func (r *liveReader) Close() error     { return nil }

// steady gives a row in each epoch, with times a second apart.
func steady(key, from, to int) []liveRows {
	var out []liveRows
	for e := from; e <= to; e++ {
		out = append(out, liveRows{uint64(e), []string{fmt.Sprintf("%d %d", key, 1000*e)}})
	}
	return out
}

// A split that has nothing to read holds back event time until the idle timeout is over;
// what it brings later is late.
func TestIdleSplits(t *testing.T) {
	for _, timeout := range []time.Duration{5 * time.Second, 0} {
		exectest.EverySeed(t, 30, func(seed uint64) (exectest.Schedule, func() error) {
			quiet := append(steady(2, 1, 3), liveRows{40, []string{"3 4000", "4 90000"}})
			l := &live{splits: [][]liveRows{steady(1, 1, 45), quiet}}
			back := false
			see := func(key, ts, before int64, advanced exec.Watermark) error {
				switch {
				case key == 3 && timeout > 0 && advanced <= 4000:
					return fmt.Errorf("event time stood at %v", advanced)
				case key == 4 && before != 4000 && before != 3000 && timeout == 0:
					return fmt.Errorf("the split was at %d", before)
				case key == 1 && timeout == 0 && !back && advanced > 3000:
					return fmt.Errorf("event time went on to %v", advanced)
				}
				back = back || key >= 3
				return nil
			}
			s := exectest.Schedule{
				Graph:       timedGraph(l, exec.SourceTime{IdleTimeout: timeout}, exec.Exchange{Kind: exec.Single}, see),
				Parallelism: 2, BatchSize: 2, Clock: func(epoch uint64) int64 { return int64(epoch) * 1000 }, Hooks: l.hooks(),
			}
			return s, func() error {
				if !back {
					return fmt.Errorf("the late row did not come")
				}
				return nil
			}
		})
	}
}

// A split that is far ahead waits for the slowest, until that is idle.
func TestMaxDrift(t *testing.T) {
	exectest.EverySeed(t, 30, func(seed uint64) (exectest.Schedule, func() error) {
		var fast []string
		for i := range 200 {
			fast = append(fast, fmt.Sprintf("1 %d", 1000*i))
		}
		l := &live{splits: [][]liveRows{{{1, fast}}, steady(2, 1, 60)}}
		slow, last := int64(0), int64(0)
		const drift, underway = 10_000, 12_000 // rows that were read and not seen yet
		see := func(key, ts, _ int64, _ exec.Watermark) error {
			if key == 2 {
				slow = ts
			} else if last = ts; ts > slow+drift+underway && slow < 60_000 {
				return fmt.Errorf("the fast one is at %d, the slow one at %d", ts, slow)
			}
			return nil
		}
		s := exectest.Schedule{
			Graph:       timedGraph(l, exec.SourceTime{MaxDrift: drift * time.Millisecond, IdleTimeout: 5 * time.Second}, exec.Exchange{Kind: exec.Single}, see),
			Parallelism: 2, BatchSize: 1, Clock: func(epoch uint64) int64 { return int64(epoch) * 1000 }, Hooks: l.hooks(),
		}
		return s, func() error {
			if last != 199_000 {
				return fmt.Errorf("the fast one came up to %d only", last)
			}
			return nil
		}
	})
}
