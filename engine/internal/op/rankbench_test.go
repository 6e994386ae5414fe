package op_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

// BenchmarkTopTen is ROW_NUMBER up to 10 by a BIGINT, of append-only rows of two BIGINTs.
func BenchmarkTopTen(b *testing.B) {
	s := schema("k bigint!", "v bigint!")
	for _, keys := range []int{10_000, 1_000_000} {
		for _, number := range []bool{false, true} {
			b.Run(fmt.Sprintf("keys=%d/number=%t", keys, number), func(b *testing.B) {
				d := newDriver(b, op.NewRank(op.RankSpec{
					Types: s.Types(), Partition: []int{0}, Order: []op.SortKey{{Column: 1, Desc: true}}, From: 1, To: 10, ToColumn: -1, Number: number,
				}), nil)
				run(b, d, keyedBatches(d, rand.New(rand.NewPCG(1, 1)), keys), epochRows)
			})
		}
	}
}

// BenchmarkKeepLast keeps the last row in time of each of a million keys.
func BenchmarkKeepLast(b *testing.B) {
	s := schema("k bigint!", "at timestamp!")
	d := newDriver(b, op.NewDeduplicate(op.DeduplicateSpec{Types: s.Types(), Key: []int{0}, Order: []op.SortKey{{Column: 1, Desc: true}}, Last: true}), nil)
	batches := keyedBatches(d, rand.New(rand.NewPCG(1, 1)), 1_000_000)
	for i, batch := range batches {
		at := vector.Values[int64](batch.Col(1))
		for k := range at {
			at[k] = int64(i*vector.Target + k)
		}
	}
	run(b, d, batches, epochRows)
}
