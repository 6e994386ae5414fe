package op_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/bench/threadtime"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
)

// rowsPerSecond is how many rows of the window benchmarks have times in a second.
const rowsPerSecond = 64 << 10

// timedBatches are batches of keys, values, times and watermarks, of which the last two
// are those of the rows that came before when next is called.
type timedBatches struct {
	all  []*vector.Batch
	rows int64
}

func newTimedBatches(p *vector.Pool, keys int) *timedBatches {
	r := rand.New(rand.NewPCG(1, 1))
	t := &timedBatches{}
	for range max(2*keys/vector.Target, 16) {
		cols := make([]*vector.Vector, 4)
		for c := range cols {
			cols[c] = p.New(vector.Int64, vector.Target)
		}
		for i := range vector.Target {
			vector.Values[int64](cols[0])[i], vector.Values[int64](cols[1])[i] = r.Int64N(int64(keys)), r.Int64N(1_000_000)
		}
		t.all = append(t.all, vector.NewBatch(vector.Target, cols, nil))
	}
	return t
}

func (t *timedBatches) now() int64 { return t.rows * 1000 / rowsPerSecond }

func (t *timedBatches) next() *vector.Batch {
	b := t.all[int(t.rows/vector.Target)%len(t.all)]
	at, mark := vector.Values[int64](b.Col(2)), vector.Values[int64](b.Col(3))
	for i := range at {
		at[i] = (t.rows + int64(i)) * 1000 / rowsPerSecond
		mark[i] = at[i] - 100
	}
	t.rows += vector.Target
	return b
}

// runTimed processes n rows; event time moves on with every epoch of a second.
func runTimed(b testing.TB, d *driver, in *timedBatches, n int) {
	b.Helper()
	d.quiet = true
	for done := 0; done < n; done += vector.Target {
		if err := d.process(0, in.next()); err != nil {
			b.Fatal(err)
		}
		if in.rows%rowsPerSecond > 0 {
			continue
		}
		if err := d.advance(exec.Watermark(in.now() - 100)); err != nil {
			b.Fatal(err)
		}
		if err := d.flush(); err != nil {
			b.Fatal(err)
		}
		d.sizes = d.sizes[:0]
	}
}

// handWindows counts by key in slices of event time, whose windows are emitted when a row
// is past them.
type handWindows struct {
	size, step int64
	slices     map[int64]map[int64]int64 // by end
	fired      int64
	sum        int64 // of what was emitted
}

func (h *handWindows) add(keys, times []int64) {
	for i, k := range keys {
		end := times[i] - times[i]%h.step + h.step
		s := h.slices[end]
		if s == nil {
			s = map[int64]int64{}
			h.slices[end] = s
		}
		s[k]++
	}
}

func (h *handWindows) advance(to int64) {
	for ; h.fired+h.step <= to; h.fired += h.step {
		end := h.fired + h.step
		window := h.slices[end]
		if h.size > h.step {
			window = map[int64]int64{}
			for at := end - h.size + h.step; at <= end; at += h.step {
				for k, n := range h.slices[at] {
					window[k] += n
				}
			}
		}
		for k, n := range window {
			h.sum += k ^ n
		}
		delete(h.slices, end-h.size+h.step)
	}
}

func windowSpec(a window.Assigner, keys []int, calls ...*expr.Aggregate) op.WindowAggregateSpec {
	return op.WindowAggregateSpec{
		Input: windowInput.Types(), Keys: keys, Calls: calls, Window: op.WindowSpec{Assigner: a, Time: 2, Start: -1, End: -1, Watermark: 3},
	}
}

// BenchmarkWindowCount is COUNT(*) by a BIGINT in windows; rows are 64 Ki a second.
func BenchmarkWindowCount(b *testing.B) {
	tumble, hop := window.Assigner{Kind: window.Tumble, Size: 10_000}, window.Assigner{Kind: window.Hop, Size: 10_000, Step: 2000}
	for _, keys := range []int{1000, 100_000, 1_000_000} {
		for _, a := range []window.Assigner{tumble, hop} {
			name := fmt.Sprintf("%v/keys=%d", a.Kind, keys)
			b.Run(name, func(b *testing.B) {
				o, err := op.NewWindowAggregate(windowSpec(a, []int{0}, aggregate("COUNT", false, nil)))
				d := newDriver(b, o, err)
				in := newTimedBatches(d.pool, keys)
				runTimed(b, d, in, 12*rowsPerSecond) // a window is full
				b.ResetTimer()
				runTimed(b, d, in, b.N)
			})
			b.Run(name+"/hand", func(b *testing.B) {
				in := newTimedBatches(vector.NewPool(), keys)
				h := &handWindows{size: a.Size, step: max(a.Step, 0), slices: map[int64]map[int64]int64{}}
				if a.Step == 0 {
					h.step = a.Size
				}
				loop := func(n int) {
					for done := 0; done < n; done += vector.Target {
						batch := in.next()
						h.add(vector.Values[int64](batch.Col(0)), vector.Values[int64](batch.Col(2)))
						if in.rows%rowsPerSecond == 0 {
							h.advance(in.now() - 100)
						}
					}
				}
				loop(12 * rowsPerSecond)
				b.ResetTimer()
				loop(b.N)
			})
		}
	}
}

// BenchmarkWindowMax is MAX of a BIGINT in windows without a key.
func BenchmarkWindowMax(b *testing.B) {
	v := column(windowInput, "v")
	b.Run("TUMBLE", func(b *testing.B) {
		o, err := op.NewWindowAggregate(windowSpec(window.Assigner{Kind: window.Tumble, Size: 10_000}, nil, aggregate("MAX", false, nil, v)))
		d := newDriver(b, o, err)
		in := newTimedBatches(d.pool, 1000)
		b.ResetTimer()
		runTimed(b, d, in, b.N)
	})
	b.Run("TUMBLE/hand", func(b *testing.B) {
		in := newTimedBatches(vector.NewPool(), 1000)
		most, end, sum := int64(math.MinInt64), int64(0), int64(0)
		b.ResetTimer()
		for done := 0; done < b.N; done += vector.Target {
			batch := in.next()
			at := vector.Values[int64](batch.Col(2))
			for i, v := range vector.Values[int64](batch.Col(1)) {
				if e := at[i] - at[i]%10_000 + 10_000; e != end {
					sum += most
					most, end = math.MinInt64, e
				}
				most = max(most, v)
			}
		}
		if sum == 1 {
			b.Log(sum)
		}
	})
}

// BenchmarkWindowSlide is COUNT(*) in windows of a minute and of a day, which move on by
// ten seconds, in turns: a row costs the same in both, though it is in 6 windows, or in 8640.
func BenchmarkWindowSlide(b *testing.B) {
	const step = 10_000
	var drivers []*driver
	var inputs []*timedBatches
	sizes := []int64{60_000, 24 * 60 * 60_000}
	for _, size := range sizes {
		o, err := op.NewWindowAggregate(windowSpec(window.Assigner{Kind: window.Hop, Size: size, Step: step}, []int{0}, aggregate("COUNT", false, nil)))
		d := newDriver(b, o, err)
		in := newTimedBatches(d.pool, 1000)
		d.quiet = true
		for range size / step { // a slice with every key for each step of a window
			if err := d.process(0, in.next()); err != nil {
				b.Fatal(err)
			}
			in.rows += step/1000*rowsPerSecond - vector.Target
			if err := d.advance(exec.Watermark(in.now() - 100)); err != nil {
				b.Fatal(err)
			}
			if err := d.flush(); err != nil {
				b.Fatal(err)
			}
			d.sizes = d.sizes[:0]
		}
		drivers, inputs = append(drivers, d), append(inputs, in)
	}
	runtime.GC() // memory is used again from here on, as it is in the long run
	costs := make([][]float64, len(sizes))
	var ratios []float64
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const rows = step / 1000 * rowsPerSecond
	b.ResetTimer()
	for done := 0; done < b.N; done += rows {
		for i, d := range drivers {
			from := threadtime.Now()
			runTimed(b, d, inputs[i], rows)
			costs[i] = append(costs[i], float64(threadtime.Now()-from)/rows)
		}
		ratios = append(ratios, costs[1][len(costs[1])-1]/costs[0][len(costs[0])-1])
	}
	b.ReportMetric(0, "ns/op")
	for i, size := range sizes {
		slices.Sort(costs[i])
		b.ReportMetric(costs[i][len(costs[i])/2], "ns/row:"+strings.ReplaceAll(window.Length(size), " ", ""))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "times")
}

// BenchmarkSession is SESSION by a BIGINT: a key has a row or two in a session, or hundreds.
func BenchmarkSession(b *testing.B) {
	for _, c := range []struct {
		keys int
		gap  int64
	}{{100_000, 500}, {1000, 100}} {
		b.Run(fmt.Sprintf("keys=%d/gap=%d", c.keys, c.gap), func(b *testing.B) {
			d := newDriver(b, op.NewSessionTable(op.SessionTableSpec{WindowTableSpec: op.WindowTableSpec{
				Types: windowInput.Types(), Forward: []int{0, 1},
				Window: op.WindowSpec{Assigner: window.Assigner{Kind: window.Session, Size: c.gap}, Time: 2, Start: -1, End: -1, Watermark: 3},
			}, Partition: []int{0}}), nil)
			in := newTimedBatches(d.pool, c.keys)
			runTimed(b, d, in, 3*rowsPerSecond)
			b.ResetTimer()
			runTimed(b, d, in, b.N)
		})
	}
}

// advance tells the operator how far event time is.
func (d *driver) advance(w exec.Watermark) error {
	if err := d.op.Advance(0, w, d); err != nil {
		return err
	}
	return d.store.EndCall()
}
