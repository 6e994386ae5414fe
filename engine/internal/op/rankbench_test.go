package op_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

// The benchmarks called "hand" are what a loop over a Go map does of the same work, for
// these very columns and without a changelog: what the others are to be compared with, in
// the same run.

// runLoop runs a loop over keys and values as run does an operator.
func runLoop(b *testing.B, batches []*vector.Batch, f func(k, v []int64)) {
	b.Helper()
	rows := func(n int) {
		for done, i := 0, 0; done < n; done += vector.Target {
			batch := batches[i%len(batches)]
			f(vector.Values[int64](batch.Col(0)), vector.Values[int64](batch.Col(1)))
			i++
		}
	}
	rows(len(batches) * vector.Target)
	b.ResetTimer()
	rows(b.N)
}

// auctionBatches are rows as bids are: a hundred keys at a time, of which a hot one has
// half of the rows, and prices that are log-uniform.
func auctionBatches(d *driver, r *rand.Rand, n int) []*vector.Batch {
	var out []*vector.Batch
	bids := 0
	for range n {
		k, v := d.pool.New(vector.Int64, vector.Target), d.pool.New(vector.Int64, vector.Target)
		for i := range vector.Target {
			bids++
			last := int64(bids) * 3 / 46
			key := last - r.Int64N(100)
			if r.IntN(2) > 0 {
				key = last / 100 * 100
			}
			vector.Values[int64](k)[i], vector.Values[int64](v)[i] = key, int64(100*math.Pow(10, 6*r.Float64()))
		}
		out = append(out, vector.NewBatch(vector.Target, []*vector.Vector{k, v}, nil))
	}
	return out
}

// BenchmarkTopTen is ROW_NUMBER up to 10 by a BIGINT, of append-only rows of two BIGINTs:
// of keys that have had many rows, so that most come too late; of a million keys, which
// take nearly all rows; and of auctions, a million bids each time.
func BenchmarkTopTen(b *testing.B) {
	s := schema("k bigint!", "v bigint!")
	spec := op.RankSpec{Types: s.Types(), Partition: []int{0}, Order: []op.SortKey{{Column: 1, Desc: true}}, From: 1, To: 10, ToColumn: -1}
	r := func() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }
	for _, keys := range []int{10_000, 1_000_000, 0} {
		name := fmt.Sprintf("keys=%d", keys)
		batches := func(d *driver) []*vector.Batch { return keyedBatches(d, r(), keys) }
		if keys == 0 {
			name, batches = "auctions", func(d *driver) []*vector.Batch { return auctionBatches(d, r(), 128) }
		}
		for _, number := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/number=%t", name, number), func(b *testing.B) {
				spec.Number = number
				again := func() *driver { return newDriver(b, newRank(spec), nil) }
				if d := again(); keys > 0 {
					run(b, d, batches(d), epochRows)
				} else {
					runOnce(b, again, batches(d))
				}
			})
		}
		b.Run(name+"/hand", func(b *testing.B) {
			d := newDriver(b, newRank(spec), nil)
			if keys > 0 {
				runLoop(b, batches(d), newHandTop())
				return
			}
			all := batches(d)
			b.ResetTimer()
			for done := 0; done < b.N; {
				top := newHandTop()
				for i := 0; i < len(all) && done < b.N; i++ {
					top(vector.Values[int64](all[i].Col(0)), vector.Values[int64](all[i].Col(1)))
					done += vector.Target
				}
			}
		})
	}
}

// runOnce runs an operator over batches that are all new to it, as often as there is to do.
func runOnce(b *testing.B, again func() *driver, batches []*vector.Batch) {
	b.Helper()
	b.ResetTimer()
	for done := 0; done < b.N; done += len(batches) * vector.Target {
		b.StopTimer()
		d := again()
		b.StartTimer()
		feed(b, d, batches, min(b.N-done, len(batches)*vector.Target), epochRows)
	}
}

// newHandTop keeps the ten greatest values of each key, in order.
func newHandTop() func(keys, vals []int64) {
	type top struct {
		n int
		v [10]int64
	}
	index, tops := map[int64]int32{}, []top(nil)
	return func(keys, vals []int64) {
		for i, k := range keys {
			at, ok := index[k]
			if !ok {
				at = int32(len(tops))
				index[k], tops = at, append(tops, top{})
			}
			t, v := &tops[at], vals[i]
			p := t.n
			for p > 0 && v > t.v[p-1] {
				p--
			}
			if p == len(t.v) {
				continue
			}
			t.n = min(t.n+1, len(t.v))
			copy(t.v[p+1:t.n], t.v[p:])
			t.v[p] = v
		}
	}
}

// BenchmarkKeepLast keeps the last row in time of each of many keys, BenchmarkKeepFirst
// the first to come.
func BenchmarkKeepLast(b *testing.B) {
	s := schema("k bigint!", "at timestamp!")
	spec := op.DeduplicateSpec{Types: s.Types(), Key: []int{0}, Order: []op.SortKey{{Column: 1, Desc: true}}, Last: true}
	benchmarkKeep(b, func() exec.Operator { return op.NewDeduplicate(spec) }, func(have int64, ok bool, at int64) bool { return !ok || at >= have })
}

func BenchmarkKeepFirst(b *testing.B) {
	s := schema("k bigint!", "at timestamp!")
	spec := op.RankSpec{Types: s.Types(), Partition: []int{0}, From: 1, To: 1, ToColumn: -1}
	benchmarkKeep(b, func() exec.Operator { return op.NewFirstRows(spec) }, func(_ int64, ok bool, _ int64) bool { return !ok })
}

func benchmarkKeep(b *testing.B, o func() exec.Operator, better func(have int64, ok bool, at int64) bool) {
	for _, keys := range []int{1_000_000, 10_000_000} {
		batches := func(d *driver) []*vector.Batch {
			out := keyedBatches(d, rand.New(rand.NewPCG(1, 1)), keys)
			for i, batch := range out {
				at := vector.Values[int64](batch.Col(1))
				for k := range at {
					at[k] = int64(i*vector.Target + k)
				}
			}
			return out
		}
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			d := newDriver(b, o(), nil)
			run(b, d, batches(d), epochRows)
		})
		b.Run(fmt.Sprintf("keys=%d/hand", keys), func(b *testing.B) {
			last := map[int64]int64{}
			runLoop(b, batches(newDriver(b, o(), nil)), func(keys, at []int64) {
				for i, k := range keys {
					if have, ok := last[k]; better(have, ok, at[i]) {
						last[k] = at[i]
					}
				}
			})
		})
	}
}
