package exec

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

type passing struct{ Stateless }

func (passing) Process(_ int, b *vector.Batch, out Output) error { return out.Emit(b) }

func newPassing(int) (Operator, error) { return passing{}, nil }

// bare is the least that a call can be.
type bare struct {
	op  Operator
	out Output
}

func (e bare) Emit(b *vector.Batch) error { return e.op.Process(0, b, e.out) }

func (e bare) Advance(Watermark) error { return nil }

// chain is a task of n operators that pass on what they get.
func chain(b *testing.B, n int) *Task {
	t := &Task{inbox: newInbox(nil), pool: vector.NewPool(), hooks: &Hooks{}, made: time.Now()}
	var last *instance
	for i := range n {
		in := newInstance(t, &Node{Name: fmt.Sprint(i), New: newPassing, Inputs: make([]Edge, 1)}, 0, 1)
		if last != nil {
			last.out.targets = append(last.out.targets, direct{in, 0})
			in.ports[0].from = last.out
		}
		t.instances = append(t.instances, in)
		last = in
	}
	if err := t.Open(b.Context(), state.Options{}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { t.Close() })
	return t
}

func ints(p *vector.Pool, rows, cols int) *vector.Batch {
	var all []*vector.Vector
	for c := range cols {
		v := p.New(vector.Int64, rows)
		for i := range rows {
			vector.Values[int64](v)[i] = int64(i * (c + 1))
		}
		all = append(all, v)
	}
	return vector.NewBatch(rows, all, nil)
}

// A batch through operators of one task, one of sampling timed.
func BenchmarkDirectCalls(b *testing.B) {
	b.Run("interface only", func(b *testing.B) {
		batch := ints(vector.NewPool(), 10, 1)
		defer batch.Release()
		var out Output = discard{}
		for range 5 {
			out = bare{passing{}, out}
		}
		for b.Loop() {
			if err := out.Emit(batch); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, n := range []int{1, 5} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			t := chain(b, n)
			batch := ints(t.pool, 10, 1)
			defer batch.Release()
			for i := 0; b.Loop(); i++ {
				t.weight = 0
				if i%sampling == 0 {
					t.weight = sampling
				}
				if err := t.instances[0].process(0, batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A batch from one goroutine to another over a channel.
func BenchmarkHop(b *testing.B) {
	p := vector.NewPool()
	batch := ints(p, 10, 1)
	in := newInbox(nil)
	c := newChannel(8, false)
	in.add(c)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	n := 0
	go func() {
		defer close(done)
		for {
			_, _, ok := in.poll()
			if ok {
				n++
			} else if in.wait(ctx) != nil {
				return
			}
		}
	}()
	for b.Loop() {
		if err := c.put(ctx, event{batch: batch}); err != nil {
			b.Fatal(err)
		}
	}
	cancel()
	<-done
}

// A batch of 8192 rows spread over shards by the first column.
func BenchmarkPartition(b *testing.B) {
	for _, cols := range []int{1, 4, 7} {
		for _, shards := range []int{2, 8} {
			b.Run(fmt.Sprintf("cols=%d/shards=%d", cols, shards), func(b *testing.B) {
				p := vector.NewPool()
				var to []*channel
				for range shards {
					to = append(to, newChannel(1, true))
				}
				x := newExchange(nil, Exchange{Kind: Hash, Keys: []int{0}}, to, p, 0)
				x.ctx = b.Context()
				batch := ints(p, vector.Target, cols)
				defer batch.Release()
				for b.Loop() {
					if err := x.emit(batch); err != nil {
						b.Fatal(err)
					}
					for _, c := range to {
						c.drain()
					}
				}
				x.close()
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vector.Target, "ns/row")
			})
		}
	}
}

// The end of an epoch in a task of five operators.
func BenchmarkMark(b *testing.B) {
	t := chain(b, 5)
	t.inbox.add(newChannel(1, true))
	t.instances[0].ports[0].channels = []int{0}
	for b.Loop() {
		if err := t.mark(Mark{}); err != nil {
			b.Fatal(err)
		}
	}
}
