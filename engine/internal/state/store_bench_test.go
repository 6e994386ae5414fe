package state

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// drawer fills batches with random keys. Benchmarks draw each batch anew, at about
// 2 ns a row: recorded batches would push the tables out of the cache.
type drawer struct {
	x, hot uint64
	batch  *vector.Batch
}

func newDrawer(p *vector.Pool) *drawer {
	k, x := p.New(vector.Int64, vector.Target), p.New(vector.Int64, vector.Target)
	for i, vals := 0, vector.Values[int64](x); i < len(vals); i++ {
		vals[i] = int64(i)
	}
	return &drawer{x: 1, batch: vector.NewBatch(vector.Target, []*vector.Vector{k, x}, nil)}
}

func (d *drawer) below(n int) uint64 {
	d.x ^= d.x << 13
	d.x ^= d.x >> 7
	d.x ^= d.x << 17
	hi, _ := bits.Mul64(d.x, uint64(n))
	return hi
}

// uniform is a batch of keys below n.
func (d *drawer) uniform(n int) *vector.Batch {
	keys := vector.Values[int64](d.batch.Col(0))
	for i := range keys {
		keys[i] = int64(d.below(n))
	}
	return d.batch
}

// moving is a batch of keys below n most of which are in a window of 1000 that
// moves on with each batch.
func (d *drawer) moving(n int) *vector.Batch {
	keys := vector.Values[int64](d.batch.Col(0))
	for i := range keys {
		keys[i] = int64(d.below(1000) + d.hot)
		if i%10 == 0 {
			keys[i] = int64(d.below(n))
		}
	}
	d.hot = (d.hot + 100) % uint64(n-1000)
	return d.batch
}

func reportRows(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vector.Target, "ns/row")
}

// benchCountSum measures drawing keys, encoding them, Resolve, Hold and the update
// of a COUNT and a SUM, with the table full.
func benchCountSum(b *testing.B, kind vector.Kind, fillUp func(*countSum), next func() *vector.Batch) {
	c := newCountSum(Options{}, kind)
	fillUp(c)
	i := 0
	for b.Loop() {
		c.process(next())
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

func benchCountSumInts(b *testing.B, n int, next func(*drawer, int) *vector.Batch) {
	p := vector.NewPool()
	d := newDrawer(p)
	benchCountSum(b, vector.Int64, fillInts(p, n), func() *vector.Batch { return next(d, n) })
}

func BenchmarkCountSum100k(b *testing.B) { benchCountSumInts(b, 100_000, (*drawer).uniform) }

func BenchmarkCountSum650kHot(b *testing.B) { benchCountSumInts(b, 650_000, (*drawer).moving) }

func BenchmarkCountSum5M(b *testing.B) { benchCountSumInts(b, 5_000_000, (*drawer).uniform) }

// BenchmarkMapCountSum100k is what a Go map takes for the same, to compare with.
func BenchmarkMapCountSum100k(b *testing.B) { benchMap(b, 100_000, (*drawer).uniform) }

func BenchmarkMapCountSum650kHot(b *testing.B) { benchMap(b, 650_000, (*drawer).moving) }

func BenchmarkMapCountSum5M(b *testing.B) { benchMap(b, 5_000_000, (*drawer).uniform) }

func benchMap(b *testing.B, n int, next func(*drawer, int) *vector.Batch) {
	places := map[int64]int32{}
	counts, sums := make([]int64, n), make([]int64, n)
	for i := range n {
		places[int64(i)] = int32(i)
	}
	d := newDrawer(vector.NewPool())
	for b.Loop() {
		batch := next(d, n)
		vals := vector.Values[int64](batch.Col(1))
		for i, k := range vector.Values[int64](batch.Col(0)) {
			s := places[k]
			counts[s]++
			sums[s] += vals[i]
		}
	}
	reportRows(b)
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
	batches := make([]*vector.Batch, 32)
	for i := range batches {
		batches[i] = text(func() int { return r.IntN(n) })
	}
	fillUp := func(c *countSum) {
		at := 0
		for at < n {
			batch := text(func() int { at++; return (at - 1) % n })
			c.process(batch)
			batch.Release()
		}
		c.values.Dirty(c.values.Held())
		c.store.EndEpoch()
	}
	i := 0
	benchCountSum(b, vector.String, fillUp, func() *vector.Batch { i++; return batches[i%len(batches)] })
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
	d := newDrawer(p)
	batches := make([]*vector.Batch, 64)
	var removals []*vector.Batch
	for i := range batches {
		x := d.uniform(keys).Slice(p, 0, vector.Target)
		kinds, ks := p.NewKinds(x.Rows())
		for j := range ks {
			ks[j] = vector.Delete
		}
		batches[i] = x
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
	d := newDrawer(p)
	for range 64 {
		fillRows(d.uniform(500_000))
	}
	var m Matches
	pairs := 0
	for b.Loop() {
		rows.Resolve(enc.Encode(d.uniform(500_000), []int{0}), false, slots)
		var c Cursor
		for done := false; !done; {
			m.Reset()
			done = rows.Match(slots, &c, vector.Target, &m)
			for _, v := range rows.Take(p, m.Row) {
				v.Release()
			}
			pairs += len(m.Row)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(pairs), "ns/pair")
}
