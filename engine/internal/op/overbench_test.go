package op_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

// BenchmarkOverTime is one call over a BIGINT by a BIGINT in event time, a hundred rows a
// second, with a watermark for every 64 Ki rows that passes all but the last second: a
// running SUM, the SUM of the last 100 rows, and the MAX of the last hour.
func BenchmarkOverTime(b *testing.B) {
	s := schema("k bigint!", "at timestamp!", "v bigint!")
	unbounded, current := bound(op.UnboundedPreceding, 0), bound(op.CurrentRow, 0)
	sum, greatest := aggregate("SUM", false, nil, column(s, "v")), aggregate("MAX", false, nil, column(s, "v"))
	calls := []struct {
		name string
		call op.OverCall
	}{
		{"sum", op.OverCall{Aggregate: sum, T: sum.T, Frame: op.Frame{Start: unbounded, End: current}}},
		{"sum of 100 rows", op.OverCall{Aggregate: sum, T: sum.T, Frame: op.Frame{Rows: true, Start: bound(op.Preceding, 99), End: current}}},
		{"max of 1 h", op.OverCall{Aggregate: greatest, T: greatest.T, Frame: op.Frame{Start: bound(op.Preceding, 3600_000), End: current}}},
	}
	for _, c := range calls {
		for _, keys := range []int{100, 1000, 100_000} {
			b.Run(fmt.Sprintf("%s/keys=%d", c.name, keys), func(b *testing.B) {
				spec := op.OverTimeSpec{Event: true, Watermark: -1}
				spec.Types, spec.Partition, spec.Order, spec.Calls = s.Types(), []int{0}, []op.SortKey{{Column: 1}}, []op.OverCall{c.call}
				o, err := op.NewOverTime(spec)
				d := newDriver(b, o, err)
				d.quiet = true
				r := rand.New(rand.NewPCG(1, 1))
				var batches []*vector.Batch
				for range 8 {
					k, v := d.pool.New(vector.Int64, vector.Target), d.pool.New(vector.Int64, vector.Target)
					for i := range vector.Target {
						vector.Values[int64](k)[i], vector.Values[int64](v)[i] = r.Int64N(int64(keys)), r.Int64N(1000)
					}
					batches = append(batches, vector.NewBatch(vector.Target, []*vector.Vector{k, d.pool.New(vector.Int64, vector.Target), v}, nil))
				}
				now := int64(0)
				feed := func(n int) {
					for done, i := 0, 0; done < n; done += vector.Target {
						batch := batches[i%8]
						for k, at := 0, vector.Values[int64](batch.Col(1)); k < len(at); k++ {
							now += 10
							at[k] = now - int64(k*7919%500)
						}
						if err := d.process(0, batch); err != nil {
							b.Fatal(err)
						}
						if i++; i%8 == 0 {
							if err := d.op.Advance(0, exec.Watermark(now-1000), d); err != nil {
								b.Fatal(err)
							}
							if err := d.flush(); err != nil {
								b.Fatal(err)
							}
							d.sizes = d.sizes[:0]
						}
					}
				}
				feed(16 * epochRows / 2)
				b.ResetTimer()
				feed(b.N)
			})
		}
	}
}

// BenchmarkOverRows is AVG over the last ten rows of each key, in the order of a value, of
// rows that replace others: each epoch takes away and adds 4096 rows.
func BenchmarkOverRows(b *testing.B) {
	s := schema("k bigint!", "id bigint!", "v bigint!")
	avg := aggregate("AVG", false, nil, column(s, "v"))
	for _, keys := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			spec := op.OverRowsSpec{Updating: true}
			spec.Types, spec.Partition, spec.Order = s.Types(), []int{0}, []op.SortKey{{Column: 1}}
			spec.Calls = []op.OverCall{{Aggregate: avg, T: avg.T, Frame: op.Frame{Rows: true, Start: bound(op.Preceding, 9), End: bound(op.CurrentRow, 0)}}}
			o, err := op.NewOverRows(spec)
			d := newDriver(b, o, err)
			d.quiet = true
			r := rand.New(rand.NewPCG(1, 1))
			live := make([][3]int64, 20*keys)
			change := func(replace bool, from, n int) {
				rows := vector.NewBuilder(d.pool, s.Kinds())
				put := func(row [3]int64, kind vector.RowKind) {
					for c, v := range row {
						vector.Append(rows.Col(c), v)
					}
					rows.EndRow(kind)
				}
				for i := from; i < from+n; i++ {
					at := i
					if replace {
						at = r.IntN(len(live))
						put(live[at], vector.UpdateBefore)
					}
					live[at] = [3]int64{int64(at % keys), int64(at), r.Int64N(1000)}
					put(live[at], vector.UpdateAfter)
				}
				batch := rows.Finish()
				if err := d.process(0, batch); err != nil {
					b.Fatal(err)
				}
				batch.Release()
				if err := d.flush(); err != nil {
					b.Fatal(err)
				}
				d.sizes = d.sizes[:0]
			}
			for at := 0; at < len(live); at += 4000 {
				change(false, at, 4000)
			}
			b.ResetTimer()
			for done := 0; done < b.N; done += 4096 {
				change(true, 0, 4096)
			}
		})
	}
}
