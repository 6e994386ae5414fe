package op_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// epochRows is how many rows an epoch of the benchmarks has.
const epochRows = 65536

// run processes b.N rows of the given batches in turn, after each of them once, and
// ends an epoch every epoch rows unless that is 0.
func run(b *testing.B, d *driver, batches []*vector.Batch, epoch int) {
	b.Helper()
	feed(b, d, batches, len(batches)*vector.Target, epochRows) // all keys are there
	b.ResetTimer()
	feed(b, d, batches, b.N, epoch)
}

// feed processes n rows.
func feed(b *testing.B, d *driver, batches []*vector.Batch, n, epoch int) {
	b.Helper()
	d.quiet = true
	for done, rows, i := 0, 0, 0; done < n; done += vector.Target {
		if err := d.process(0, batches[i%len(batches)]); err != nil {
			b.Fatal(err)
		}
		i++
		if rows += vector.Target; epoch > 0 && rows >= epoch {
			if err := d.flush(); err != nil {
				b.Fatal(err)
			}
			rows, d.sizes = 0, d.sizes[:0]
		}
	}
}

// BenchmarkGroupAggregate is COUNT(*) and SUM of a BIGINT by a BIGINT, over
// append-only input: the accumulation alone, and with epochs of 64 Ki rows that
// publish -U and +U for every key touched.
func BenchmarkGroupAggregate(b *testing.B) {
	s := schema("k bigint!", "v bigint!")
	for _, keys := range []int{100_000, 650_000, 5_000_000} {
		for _, epoch := range []int{0, epochRows} {
			b.Run(fmt.Sprintf("keys=%d/epoch=%d", keys, epoch), func(b *testing.B) {
				d := newDriver(b, newGroups(b, s), nil)
				r := rand.New(rand.NewPCG(1, 1))
				batches := keyedBatches(d, r, keys)
				run(b, d, batches, epoch)
			})
		}
	}
}

func newGroups(b *testing.B, s sqltype.Schema) *op.GroupAggregate {
	b.Helper()
	o, err := op.NewAggregate(op.AggregateSpec{
		Input: s.Types(), Keys: []int{0}, Calls: []*expr.Aggregate{aggregate("COUNT", false, nil), aggregate("SUM", false, nil, column(s, "v"))},
	})
	if err != nil {
		b.Fatal(err)
	}
	return o
}

// keyedBatches are enough batches of random keys to touch most of them.
func keyedBatches(d *driver, r *rand.Rand, keys int) []*vector.Batch {
	var out []*vector.Batch
	for range max(2*keys/vector.Target, 16) {
		k, v := d.pool.New(vector.Int64, vector.Target), d.pool.New(vector.Int64, vector.Target)
		for i := range vector.Target {
			vector.Values[int64](k)[i], vector.Values[int64](v)[i] = r.Int64N(int64(keys)), r.Int64N(1000)
		}
		out = append(out, vector.NewBatch(vector.Target, []*vector.Vector{k, v}, nil))
	}
	return out
}

// BenchmarkGroupAggregateString is the same by a string of some 20 bytes.
func BenchmarkGroupAggregateString(b *testing.B) {
	s := schema("k string!", "v bigint!")
	for _, keys := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			d := newDriver(b, newGroups(b, s), nil)
			r := rand.New(rand.NewPCG(1, 1))
			var batches []*vector.Batch
			for range max(keys/vector.Target, 16) {
				k, v := make([]string, vector.Target), d.pool.New(vector.Int64, vector.Target)
				for i := range k {
					k[i], vector.Values[int64](v)[i] = fmt.Sprintf("channel-%012d", r.IntN(keys)), 1
				}
				batches = append(batches, vector.NewBatch(vector.Target, []*vector.Vector{vector.OfStrings(d.pool, k...), v}, nil))
			}
			run(b, d, batches, 0)
		})
	}
}

// BenchmarkJoin joins two inputs of two BIGINTs that only add; each row finds one row
// of the other side on average. A row is a row of either side.
func BenchmarkJoin(b *testing.B) {
	s := schema("k bigint!", "v bigint!")
	side := op.JoinSide{Types: s.Types(), Keys: []int{0}}
	both := append(append(s[:0:0], s...), s...)
	pairs := op.JoinSpec{Left: side, Right: side, Output: []int{0, 1, 3}}
	left := op.JoinSpec{Left: side, Right: side, Output: []int{0, 1}}
	filtered := pairs
	filtered.Residual = apply("<=", &expr.Column{Index: 1, T: both[1].Type}, &expr.Column{Index: 3, T: both[3].Type})
	for name, join := range map[string]func() (exec.Operator, error){
		"inner":         func() (exec.Operator, error) { return op.NewJoin(pairs) },
		"left":          func() (exec.Operator, error) { return op.NewOuterJoin(op.LeftJoin, pairs) },
		"left filtered": func() (exec.Operator, error) { return op.NewOuterJoin(op.LeftJoin, filtered) },
		"full":          func() (exec.Operator, error) { return op.NewOuterJoin(op.FullJoin, pairs) },
		"semi":          func() (exec.Operator, error) { return op.NewOuterJoin(op.SemiJoin, left) },
	} {
		b.Run(name, func(b *testing.B) { benchmarkJoin(b, join) })
	}
}

func benchmarkJoin(b *testing.B, join func() (exec.Operator, error)) {
	o, err := join()
	d := newDriver(b, o, err)
	d.quiet = true
	r := rand.New(rand.NewPCG(1, 1))
	const rounds = 64
	var batches [2][]*vector.Batch
	for port := range batches {
		batches[port] = keyedBatches(d, r, rounds*vector.Target/2)[:rounds]
	}
	b.ResetTimer()
	n := 0
	for i := 0; n < b.N; i++ {
		if i == rounds { // from empty tables again
			b.StopTimer()
			o, err := join()
			d = newDriver(b, o, err)
			d.quiet, i = true, 0
			b.StartTimer()
		}
		for port := range batches {
			if err := d.process(port, batches[port][i]); err != nil {
				b.Fatal(err)
			}
			n += vector.Target
		}
	}
}

// BenchmarkCalc keeps half of the rows and two of four columns.
func BenchmarkCalc(b *testing.B) {
	s := schema("a bigint!", "b bigint!", "c bigint!", "d bigint!")
	o, err := op.NewCalc(apply("<", column(s, "a"), integer(500)), []expr.Expr{column(s, "b"), apply("*", column(s, "c"), integer(2))})
	d := newDriver(b, o, err)
	r := rand.New(rand.NewPCG(1, 1))
	cols := make([]*vector.Vector, 4)
	for c := range cols {
		cols[c] = d.pool.New(vector.Int64, vector.Target)
		for i := range vector.Target {
			vector.Values[int64](cols[c])[i] = r.Int64N(1000)
		}
	}
	run(b, d, []*vector.Batch{vector.NewBatch(vector.Target, cols, nil)}, 0)
}
