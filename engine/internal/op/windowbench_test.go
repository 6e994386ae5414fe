package op_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

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

// slider is COUNT(*) by a thousand keys in windows that move on by ten seconds.
type slider struct {
	*driver
	in *timedBatches
}

const slide, slideRows = 10_000, slide / 1000 * rowsPerSecond

// newSlider has a slice with every key for each step of a window.
func newSlider(b *testing.B, size int64) slider {
	o, err := op.NewWindowAggregate(windowSpec(window.Assigner{Kind: window.Hop, Size: size, Step: slide}, []int{0}, aggregate("COUNT", false, nil)))
	s := slider{driver: newDriver(b, o, err)}
	s.in, s.quiet = newTimedBatches(s.pool, 1000), true
	for range size / slide {
		s.skip(b)
	}
	return s
}

// skip processes one batch of those for a step, and returns what the end of the window takes.
func (s slider) skip(b *testing.B) time.Duration {
	if err := s.process(0, s.in.next()); err != nil {
		b.Fatal(err)
	}
	s.in.rows += slideRows - vector.Target
	from := threadtime.Now()
	if err := s.advance(exec.Watermark(s.in.now() - 100)); err != nil {
		b.Fatal(err)
	}
	took := threadtime.Now() - from
	if err := s.flush(); err != nil {
		b.Fatal(err)
	}
	s.sizes = s.sizes[:0]
	return took
}

// BenchmarkWindowEnd is the end of a window with a thousand keys.
func BenchmarkWindowEnd(b *testing.B) {
	for _, size := range []int64{60_000, 24 * 60 * 60_000} {
		b.Run(strings.ReplaceAll(window.Length(size), " ", ""), func(b *testing.B) {
			s, took := newSlider(b, size), time.Duration(0)
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			b.ResetTimer()
			for range b.N {
				took += s.skip(b)
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(b.N)/1000, "us/window")
		})
	}
}

// BenchmarkWindowSlide is rows in windows of a minute and of a day, in turns: a row costs the
// same in both, though it is in 6 windows, or in 8640. A turn is 64 windows: what some have in
// common is merged when the first of them is over. Take twenty turns (-benchtime 800000000x).
func BenchmarkWindowSlide(b *testing.B) {
	sizes := []int64{60_000, 24 * 60 * 60_000}
	var sliders []slider
	for _, size := range sizes {
		sliders = append(sliders, newSlider(b, size))
	}
	runtime.GC() // memory is used again from here on, as it is in the long run
	costs := make([][]float64, len(sizes))
	var ratios []float64
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ResetTimer()
	for done := 0; done < b.N; {
		var turn [2]float64
		for range 64 {
			for i := range sliders {
				if done/slideRows%2 == 1 { // what goes first finds other things in the caches
					i = 1 - i
				}
				from := threadtime.Now()
				runTimed(b, sliders[i].driver, sliders[i].in, slideRows)
				turn[i] += float64(threadtime.Now()-from) / (64 * slideRows)
			}
			done += slideRows
		}
		costs[0], costs[1] = append(costs[0], turn[0]), append(costs[1], turn[1])
		ratios = append(ratios, turn[1]/turn[0])
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
