package state

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

const benchBatches = 64

// intBatches are batches of one int64 key below n each, uniformly drawn.
func intBatches(p *vector.Pool, n int) []*vector.Batch {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	out := make([]*vector.Batch, benchBatches)
	for i := range out {
		k, x := p.New(vector.Int64, vector.Target), p.New(vector.Int64, vector.Target)
		keys, vals := vector.Values[int64](k), vector.Values[int64](x)
		for j := range keys {
			keys[j], vals[j] = int64(r.IntN(n)), int64(j)
		}
		out[i] = vector.NewBatch(vector.Target, []*vector.Vector{k, x}, nil)
	}
	return out
}

// hotBatches draw nine of ten keys from a window that moves over n keys.
func hotBatches(p *vector.Pool, n int) []*vector.Batch {
	r := rand.New(rand.NewPCG(2, uint64(n)))
	out := intBatches(p, n)
	for i, b := range out {
		keys := vector.Values[int64](b.Col(0))
		for j := range keys {
			if r.IntN(10) > 0 {
				keys[j] = int64((i*n/len(out) + r.IntN(1000)) % n)
			}
		}
	}
	return out
}

func reportRows(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vector.Target, "ns/row")
}

// benchCountSum measures key encoding, Resolve, Hold and the update of a COUNT and
// a SUM, with the table full.
func benchCountSum(b *testing.B, kind vector.Kind, batches []*vector.Batch, fillUp func(*countSum)) {
	c := newCountSum(Options{}, kind)
	fillUp(c)
	i := 0
	for b.Loop() {
		c.process(batches[i%len(batches)])
		if i++; i%8 == 0 {
			c.values.Dirty(c.values.Held())
			c.store.EndEpoch()
		}
	}
	reportRows(b)
	b.ReportMetric(float64(c.store.Bytes())/float64(c.values.Len()), "B/key")
}

type countSum struct {
	store  *Store
	values *Values
	enc    *rowkey.Encoder
	slots  []Slot
	fresh  []int32
}

func newCountSum(opt Options, kind vector.Kind) *countSum {
	key := rowkey.Layout{Kinds: []vector.Kind{kind}}
	c := &countSum{store: NewStore(opt), enc: rowkey.NewEncoder(key), slots: make([]Slot, vector.Target)}
	c.values = c.store.Values("sums", key, []vector.Kind{vector.Int64, vector.Int64})
	return c
}

func (c *countSum) process(b *vector.Batch) {
	slots := c.slots[:b.Len()]
	if err := c.values.Resolve(c.enc.Encode(b, []int{0}), true, slots); err != nil {
		panic(err)
	}
	c.fresh = c.values.Hold(slots, c.fresh[:0])
	counts, sums := Col[int64](c.values, 0), Col[int64](c.values, 1)
	vals := vector.Values[int64](b.Col(1))[:len(slots)]
	for i, s := range slots {
		counts[s]++
		sums[s] += vals[i]
	}
}

func fillInts(p *vector.Pool, n int) func(*countSum) {
	return func(c *countSum) {
		for from := 0; from < n; from += vector.Target {
			k := p.New(vector.Int64, min(vector.Target, n-from))
			for i, keys := 0, vector.Values[int64](k); i < len(keys); i++ {
				keys[i] = int64(from + i)
			}
			b := vector.NewBatch(k.Len(), []*vector.Vector{k, k.Retain()}, nil)
			c.process(b)
			b.Release()
		}
		c.values.Dirty(c.values.Held())
		c.store.EndEpoch()
	}
}

func BenchmarkCountSum100k(b *testing.B) {
	p := vector.NewPool()
	benchCountSum(b, vector.Int64, intBatches(p, 100_000), fillInts(p, 100_000))
}

func BenchmarkCountSum650kHot(b *testing.B) {
	p := vector.NewPool()
	benchCountSum(b, vector.Int64, hotBatches(p, 650_000), fillInts(p, 650_000))
}

func BenchmarkCountSum5M(b *testing.B) {
	p := vector.NewPool()
	benchCountSum(b, vector.Int64, intBatches(p, 5_000_000), fillInts(p, 5_000_000))
}

// BenchmarkCountSumText1M has keys of 95 bytes.
func BenchmarkCountSumText1M(b *testing.B) {
	p := vector.NewPool()
	const n = 1_000_000
	text := func(next func() int) *vector.Batch {
		k, x := vector.NewColumnBuilder(p, vector.String), p.New(vector.Int64, vector.Target)
		for range vector.Target {
			k.AppendString(fmt.Sprintf("%095d", next()))
		}
		clear(vector.Values[int64](x))
		return vector.NewBatch(vector.Target, []*vector.Vector{k.Finish(), x}, nil)
	}
	r := rand.New(rand.NewPCG(3, 0))
	batches := make([]*vector.Batch, benchBatches)
	for i := range batches {
		batches[i] = text(func() int { return r.IntN(n) })
	}
	benchCountSum(b, vector.String, batches, func(c *countSum) {
		at := 0
		for at < n {
			batch := text(func() int { at++; return (at - 1) % n })
			c.process(batch)
			batch.Release()
		}
		c.values.Dirty(c.values.Held())
		c.store.EndEpoch()
	})
}

// BenchmarkInsert5M is the cost per row of filling a table.
func BenchmarkInsert5M(b *testing.B) {
	p := vector.NewPool()
	for b.Loop() {
		fillInts(p, 5_000_000)(newCountSum(Options{}, vector.Int64))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5_000_000, "ns/row")
}

func benchAdd(b *testing.B, opt RowsOptions, keys int, retract bool) {
	p := vector.NewPool()
	key := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
	enc, slots := rowkey.NewEncoder(key), make([]Slot, vector.Target)
	batches := intBatches(p, keys)
	var removals []*vector.Batch
	for _, x := range batches {
		kinds, ks := p.NewKinds(x.Rows())
		for i := range ks {
			ks[i] = vector.Delete
		}
		removals = append(removals, x.WithKinds(kinds))
	}
	var store *Store
	var rows *Rows
	add := func(x *vector.Batch) {
		if err := rows.Resolve(enc.Encode(x, []int{0}), true, slots); err != nil {
			panic(err)
		}
		if err := rows.Add(slots, x); err != nil {
			panic(err)
		}
		store.EndCall()
	}
	i := 0
	for b.Loop() {
		if i%256 == 0 { // at most two million rows
			b.StopTimer()
			store = NewStore(Options{})
			rows = store.Rows("side", key, opt)
			if retract {
				for _, x := range batches {
					add(x)
				}
			}
			b.StartTimer()
		}
		if j := i % len(batches); retract && i/len(batches)%2 == 0 {
			add(removals[j])
		} else {
			add(batches[j])
		}
		i++
	}
	reportRows(b)
}

var narrow = []vector.Kind{vector.Int64, vector.Int64}

func BenchmarkRowsAppend(b *testing.B) { benchAdd(b, RowsOptions{Cols: narrow}, 100_000, false) }

func BenchmarkRowsIndexed(b *testing.B) {
	benchAdd(b, RowsOptions{Cols: narrow, Indexed: true}, 100_000, false)
}

func BenchmarkRowsRetract(b *testing.B) {
	benchAdd(b, RowsOptions{Cols: narrow, Indexed: true}, 100_000, true)
}

// BenchmarkRowsRetractOneKey has all 500k rows under one key.
func BenchmarkRowsRetractOneKey(b *testing.B) {
	benchAdd(b, RowsOptions{Cols: narrow, Indexed: true}, 1, true)
}

func BenchmarkRowsSorted(b *testing.B) {
	benchAdd(b, RowsOptions{Cols: narrow, Indexed: true, Sort: &SortSpec{Cols: []int{1}}}, 1000, true)
}

func BenchmarkRowsMatch(b *testing.B) {
	p := vector.NewPool()
	key := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
	enc, slots := rowkey.NewEncoder(key), make([]Slot, vector.Target)
	store := NewStore(Options{})
	rows := store.Rows("side", key, RowsOptions{Cols: narrow})
	fillRows := func(x *vector.Batch) {
		rows.Resolve(enc.Encode(x, []int{0}), true, slots)
		rows.Add(slots, x)
		store.EndCall()
	}
	batches := intBatches(p, 500_000)
	for _, x := range batches {
		fillRows(x)
	}
	var m Matches
	i, pairs := 0, 0
	for b.Loop() {
		rows.Resolve(enc.Encode(batches[i%len(batches)], []int{0}), false, slots)
		var c Cursor
		for done := false; !done; {
			m.Reset()
			done = rows.Match(slots, &c, vector.Target, &m)
			for _, v := range rows.Take(p, m.Row) {
				v.Release()
			}
			pairs += len(m.Row)
		}
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(pairs), "ns/pair")
}
