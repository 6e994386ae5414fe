package op_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/weirdb/weir/bench/threadtime"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

// A round of the benchmark is an epoch: batches of probes, and one of versions.
const roundProbes = 8

var (
	benchProbes   = schema("k bigint!", "at timestamp!", "v bigint!", "mark bigint!")
	benchVersions = schema("k bigint!", "at timestamp!", "rate bigint!", "mark bigint!")
)

// temporalBatch has rows of random keys at the times of an epoch.
func temporalBatch(p *vector.Pool, r *rand.Rand, keys int, at func(i int) int64, mark int64) *vector.Batch {
	cols := make([]*vector.Vector, 4)
	for c := range cols {
		cols[c] = p.New(vector.Int64, vector.Target)
	}
	for i := range vector.Target {
		vector.Values[int64](cols[0])[i] = r.Int64N(int64(keys))
		vector.Values[int64](cols[1])[i] = at(i)
		vector.Values[int64](cols[2])[i] = r.Int64N(1000)
		vector.Values[int64](cols[3])[i] = mark
	}
	return vector.NewBatch(vector.Target, cols, nil)
}

// temporalRound is the input of an epoch that begins at a time.
func temporalRound(p *vector.Pool, r *rand.Rand, keys int, from int64) (probes []*vector.Batch, versions *vector.Batch) {
	rows := roundProbes * vector.Target
	for b := range roundProbes {
		probes = append(probes, temporalBatch(p, r, keys, func(i int) int64 { return from + int64(1000*(b*vector.Target+i)/rows) }, from-1))
	}
	return probes, temporalBatch(p, r, keys, func(i int) int64 { return from + int64(1000*i/vector.Target) }, from-1)
}

// BenchmarkTemporalJoin joins rows with the version of one of so many keys that holds at
// their time, while one row in nine is a new version: ns by row of either side. loop is the
// same by hand: an open-addressing table with the two newest versions of each key.
func BenchmarkTemporalJoin(b *testing.B) {
	for _, keys := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("keys=%d/operator", keys), func(b *testing.B) {
			o, err := op.NewTemporalJoin(op.TemporalJoinSpec{
				Left:   op.TemporalSide{Types: benchProbes.Types()[:3], Keys: []int{0}, Time: 1, Watermark: 3},
				Right:  op.TemporalSide{Types: benchVersions.Types()[:3], Keys: []int{0}, Time: 1, Watermark: 3},
				Output: []int{0, 1, 2, 5},
			})
			d := newDriver(b, o, err)
			d.quiet = true
			r, now := rand.New(rand.NewPCG(1, 1)), int64(0)
			round := func(probes []*vector.Batch, versions *vector.Batch) {
				if err := d.process(1, versions); err != nil {
					b.Fatal(err)
				}
				for _, p := range probes {
					if err := d.process(0, p); err != nil {
						b.Fatal(err)
					}
				}
				now += 1000
				for port := range 2 {
					if err := d.op.Advance(port, exec.Watermark(now-1), d); err != nil {
						b.Fatal(err)
					}
				}
				if err := d.flush(); err != nil {
					b.Fatal(err)
				}
				d.sizes = d.sizes[:0]
			}
			for range 3 * keys / vector.Target {
				_, versions := temporalRound(d.pool, r, keys, now)
				round(nil, versions)
			}
			cpu := startCPU(b)
			for done := 0; done < b.N; done += (roundProbes + 1) * vector.Target {
				b.StopTimer()
				probes, versions := temporalRound(d.pool, r, keys, now)
				b.StartTimer()
				cpu.begin()
				round(probes, versions)
				cpu.end((roundProbes + 1) * vector.Target)
				for _, p := range append(probes, versions) {
					p.Release()
				}
			}
		})
		b.Run(fmt.Sprintf("keys=%d/loop", keys), func(b *testing.B) {
			t := newVersionLoop(keys)
			pool, r, now := vector.NewPool(), rand.New(rand.NewPCG(1, 1)), int64(0)
			for range 3 * keys / vector.Target {
				_, versions := temporalRound(pool, r, keys, now)
				t.add(versions)
				now += 1000
			}
			cpu := startCPU(b)
			for done := 0; done < b.N; done += (roundProbes + 1) * vector.Target {
				b.StopTimer()
				probes, versions := temporalRound(pool, r, keys, now)
				b.StartTimer()
				cpu.begin()
				t.add(versions)
				for _, p := range probes {
					t.join(pool, p)
					p.Release()
				}
				cpu.end((roundProbes + 1) * vector.Target)
				versions.Release()
				now += 1000
			}
		})
	}
}

// cpuTime measures what a thread computes, whatever else the machine does.
type cpuTime struct {
	from, used time.Duration
	rows       int
}

// startCPU starts a benchmark that reports it by row.
func startCPU(b *testing.B) *cpuTime {
	runtime.LockOSThread()
	c := &cpuTime{}
	b.Cleanup(func() {
		runtime.UnlockOSThread()
		b.ReportMetric(float64(c.used.Nanoseconds())/float64(c.rows), "cpu-ns/row")
	})
	b.ResetTimer()
	return c
}

func (c *cpuTime) begin() { c.from = threadtime.Now() }

func (c *cpuTime) end(rows int) {
	c.used += threadtime.Now() - c.from
	c.rows += rows
}

// versionLoop is a temporal join by hand.
type versionLoop struct {
	keys  []int64 // plus one; 0: free
	newer []struct{ at, rate, at2, rate2 int64 }
	slots []int32
	rows  []int32
	rates []int64
}

func newVersionLoop(keys int) *versionLoop {
	size := 1
	for size < 2*keys {
		size *= 2
	}
	return &versionLoop{
		keys: make([]int64, size), newer: make([]struct{ at, rate, at2, rate2 int64 }, size),
		slots: make([]int32, vector.Target), rows: make([]int32, vector.Target), rates: make([]int64, vector.Target),
	}
}

func (t *versionLoop) slot(k int64) int {
	mask := len(t.keys) - 1
	for i := int(uint64(k) * 0x9E3779B97F4A7C15 >> 20 & uint64(mask)); ; i = (i + 1) & mask {
		if t.keys[i] == k+1 || t.keys[i] == 0 {
			return i
		}
	}
}

func (t *versionLoop) add(b *vector.Batch) {
	k, at, rate := vector.Values[int64](b.Col(0)), vector.Values[int64](b.Col(1)), vector.Values[int64](b.Col(2))
	for i := range k {
		s := t.slot(k[i])
		t.keys[s] = k[i] + 1
		v := &t.newer[s]
		v.at2, v.rate2, v.at, v.rate = v.at, v.rate, at[i], rate[i]
	}
}

// join finds the slots of all rows first, then the versions.
func (t *versionLoop) join(p *vector.Pool, b *vector.Batch) {
	k, at := vector.Values[int64](b.Col(0)), vector.Values[int64](b.Col(1))
	for i := range k {
		t.slots[i] = int32(t.slot(k[i]))
	}
	n := 0
	for i, s := range t.slots {
		v := &t.newer[s]
		rate, from := v.rate, v.at
		if from > at[i] {
			rate, from = v.rate2, v.at2
		}
		if t.keys[s] != 0 && from <= at[i] {
			t.rows[n], t.rates[n] = int32(i), rate
			n++
		}
	}
	out := vector.NewBatch(n, []*vector.Vector{
		b.Col(0).Take(p, t.rows[:n]), b.Col(1).Take(p, t.rows[:n]), b.Col(2).Take(p, t.rows[:n]), vector.Of(p, t.rates[:n]...),
	}, nil)
	out.Release()
}
