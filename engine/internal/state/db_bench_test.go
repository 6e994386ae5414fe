package state

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/weirdb/weir/bench/threadtime"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// benchJob is a store of counts and sums on a disk.
type benchJob struct {
	b     testing.TB
	dir   string
	db    *DB
	store *Store
	v     *Values
	rows  *Rows
	enc   *rowkey.Encoder
	pool  *vector.Pool
	slots []Slot
	epoch uint64
}

func openBenchJob(b testing.TB, dir string, memory int64) *benchJob {
	db, err := OpenDB(dir, DBOptions{})
	if err != nil {
		b.Fatal(err)
	}
	layout := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
	j := &benchJob{b: b, dir: dir, db: db, enc: rowkey.NewEncoder(layout), pool: vector.NewPool()}
	if last, ok := db.Last(); ok {
		j.epoch = last.Epoch
	}
	j.store = NewStore(Options{DB: db, Operator: "op", Name: "Op", Memory: memory})
	j.v = j.store.Values("counts", layout, []vector.Kind{vector.Int64, vector.Float64, vector.Int64, vector.Bool})
	j.rows = j.store.Rows("rows", layout, RowsOptions{Cols: []vector.Kind{vector.Int64, vector.String}, Indexed: true})
	return j
}

func (j *benchJob) ok(err error) {
	j.b.Helper()
	if err != nil {
		j.b.Fatal(err)
	}
}

// keys encodes the n keys from the given one on, a batch at a time.
func (j *benchJob) keys(from, n int64, use func(b *vector.Batch, k *rowkey.Keys, slots []Slot)) {
	for at := int64(0); at < n; at += vector.Target {
		c := min(vector.Target, n-at)
		v := j.pool.New(vector.Int64, int(c))
		for i := range vector.Values[int64](v) {
			vector.Values[int64](v)[i] = from + at + int64(i)
		}
		b := vector.NewBatch(int(c), []*vector.Vector{v}, nil)
		j.slots = resize(j.slots, int(c))
		use(b, j.enc.Encode(b, []int{0}), j.slots)
		b.Release()
	}
}

// touch changes the entries of n keys.
func (j *benchJob) touch(from, n int64) {
	j.keys(from, n, func(_ *vector.Batch, k *rowkey.Keys, slots []Slot) {
		j.ok(j.v.Resolve(k, true, slots))
		count, sum := Col[int64](j.v, 0), Col[float64](j.v, 1)
		for _, s := range slots {
			count[s]++
			sum[s] += float64(count[s]) * 1.7
		}
		j.v.Dirty(slots)
	})
	j.ok(j.store.EndEpoch())
}

func (j *benchJob) copy() *Part {
	j.epoch++
	p, err := j.store.Copy(j.epoch)
	j.ok(err)
	return p
}

func (j *benchJob) commit(p *Part) {
	j.ok(j.db.Commit(Checkpoint{Epoch: j.epoch}, []*Part{p}))
	j.ok(j.store.EndEpoch())
}

// settle waits until there is nothing to compact.
func (j *benchJob) settle() {
	for {
		m := j.db.pebble.Metrics()
		if m.Compact.NumInProgress == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func cpu() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func BenchmarkCopy(b *testing.B) {
	for _, n := range []int64{100_000, 1_000_000} {
		b.Run(fmt.Sprint("values/", n), func(b *testing.B) {
			j := openBenchJob(b, b.TempDir(), 0)
			used := time.Duration(0)
			for b.Loop() {
				j.touch(0, n)
				var p *Part
				used += threadtime.Of(func() { p = j.copy() })
				if p.Entries() != n {
					b.Fatal(p.Entries())
				}
				j.commit(p)
			}
			b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/float64(n), "cpu-ns/key")
			j.ok(j.db.Close())
		})
	}
	b.Run("rows", func(b *testing.B) {
		const n = 100_000
		j := openBenchJob(b, b.TempDir(), 0)
		text := vector.NewColumnBuilder(j.pool, vector.String)
		for i := range vector.Target {
			text.AppendString(fmt.Sprint("row number ", i))
		}
		words := text.Finish()
		used := time.Duration(0)
		for b.Loop() {
			j.keys(int64(b.N)*n, n, func(batch *vector.Batch, k *rowkey.Keys, slots []Slot) {
				j.ok(j.rows.Resolve(k, true, slots))
				rows := vector.NewBatch(batch.Len(), []*vector.Vector{batch.Col(0).Retain(), words.Slice(j.pool, 0, batch.Len())}, nil)
				j.ok(j.rows.Add(slots, rows))
				rows.Release()
			})
			j.ok(j.store.EndEpoch())
			var p *Part
			used += threadtime.Of(func() { p = j.copy() })
			j.commit(p)
		}
		b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/n, "cpu-ns/row")
		j.ok(j.db.Close())
	})
	b.Run("times", func(b *testing.B) {
		const n = 100_000
		j := openBenchJob(b, b.TempDir(), 0)
		times := j.store.Times("times", rowkey.Layout{Kinds: []vector.Kind{vector.Int64}})
		used, round := time.Duration(0), int64(0)
		for b.Loop() {
			round++
			j.keys(0, n, func(_ *vector.Batch, k *rowkey.Keys, _ []Slot) {
				for i := range k.Len() {
					j.ok(times.Add(round*1000+int64(i%1000), k, i))
				}
			})
			j.ok(times.Due(round*1000-1, func(int64, []byte) bool { return true }))
			j.ok(j.store.EndEpoch())
			var p *Part
			used += threadtime.Of(func() { p = j.copy() })
			j.commit(p)
		}
		b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/n, "cpu-ns/pair")
		j.ok(j.db.Close())
	})
}

// The CPU of a checkpoint for each key, with what compactions take.
func BenchmarkCommit(b *testing.B) {
	for _, n := range []int64{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			j := openBenchJob(b, b.TempDir(), 0)
			r := rand.New(rand.NewPCG(1, 1))
			used := time.Duration(0)
			for b.Loop() {
				j.touch(r.Int64N(4)*n/2, n)
				before := cpu()
				j.commit(j.copy())
				used += cpu() - before
			}
			before := cpu()
			j.settle()
			used += cpu() - before
			b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/float64(n), "cpu-ns/key")
			j.ok(j.db.Close())
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	const n = 1_000_000
	dir := b.TempDir()
	j := openBenchJob(b, dir, 0)
	j.touch(0, n)
	j.commit(j.copy())
	j.settle()
	j.ok(j.db.Close())
	for name, from := range map[string]int64{"present": 0, "absent": n} {
		b.Run(name, func(b *testing.B) {
			j := openBenchJob(b, dir, 1)
			r := rand.New(rand.NewPCG(1, 1))
			read, used := 0, time.Duration(0)
			for b.Loop() {
				v := j.pool.New(vector.Int64, vector.Target)
				for i := range vector.Values[int64](v) {
					vector.Values[int64](v)[i] = from + r.Int64N(n)
				}
				batch := vector.NewBatch(vector.Target, []*vector.Vector{v}, nil)
				j.slots = resize(j.slots, vector.Target)
				used += threadtime.Of(func() { j.ok(j.v.Resolve(j.enc.Encode(batch, []int{0}), false, j.slots)) })
				batch.Release()
				read += vector.Target
				j.ok(j.store.EndEpoch()) // all leave
			}
			b.ReportMetric(float64(used.Nanoseconds())/float64(read), "cpu-ns/key")
			j.ok(j.db.Close())
		})
	}
}

func BenchmarkEvict(b *testing.B) {
	const n = 1_000_000
	j := openBenchJob(b, b.TempDir(), 0)
	used := time.Duration(0)
	for b.Loop() {
		j.touch(0, n)
		j.commit(j.copy())
		j.store.opt.Memory = 1
		used += threadtime.Of(func() { j.ok(j.store.EndEpoch()) })
		if j.v.index.n > n/2 {
			b.Fatalf("%d entries left", j.v.index.n)
		}
		j.store.opt.Memory = 0
	}
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/n, "cpu-ns/key")
	j.ok(j.db.Close())
}

func diskSize(t testing.TB, dir string) (n int64) {
	err := filepath.Walk(dir, func(_ string, f os.FileInfo, err error) error {
		if err == nil && !f.IsDir() {
			n += f.Size()
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return n
}
