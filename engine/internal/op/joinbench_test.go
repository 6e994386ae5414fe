package op_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

// BenchmarkJoinRetraction takes rows away from one side of a join, and adds them again,
// where so many rows of that side have one key, and one row of the other: ns by row that is
// taken away or added. The chain of a key must not be walked.
func BenchmarkJoinRetraction(b *testing.B) {
	s := schema("k bigint!", "v bigint!")
	side := op.JoinSide{Types: s.Types(), Keys: []int{0}, Updating: true}
	spec := op.JoinSpec{Left: side, Right: side, Output: []int{0, 1, 3}}
	for _, chain := range []int{10, 750, 10_000} {
		for name, join := range map[string]func() (exec.Operator, error){
			"inner": func() (exec.Operator, error) { return op.NewJoin(spec) },
			"left":  func() (exec.Operator, error) { return op.NewOuterJoin(op.LeftJoin, spec) },
		} {
			b.Run(fmt.Sprintf("%s/chain=%d", name, chain), func(b *testing.B) {
				o, err := join()
				benchmarkRetraction(b, newDriver(b, o, err), chain)
			})
		}
	}
}

func benchmarkRetraction(b *testing.B, d *driver, chain int) {
	const rows = 1 << 20
	d.quiet = true
	keys := max(rows/chain, 1)
	batch := func(n int, kind vector.RowKind, row func(i int) (k, v int64)) *vector.Batch {
		k, v := d.pool.New(vector.Int64, n), d.pool.New(vector.Int64, n)
		kinds, of := d.pool.NewKinds(n)
		for i := range n {
			vector.Values[int64](k)[i], vector.Values[int64](v)[i] = row(i)
			of[i] = kind
		}
		return vector.NewBatch(n, []*vector.Vector{k, v}, kinds)
	}
	process := func(port int, batch *vector.Batch) {
		if err := d.process(port, batch); err != nil {
			b.Fatal(err)
		}
		if err := d.flush(); err != nil {
			b.Fatal(err)
		}
		d.sizes = d.sizes[:0]
	}
	for from := 0; from < keys*chain; from += vector.Target {
		add := batch(min(vector.Target, keys*chain-from), vector.Insert, func(i int) (k, v int64) { return int64((from + i) % keys), int64((from + i) / keys) })
		process(0, add)
		add.Release()
	}
	for from := 0; from < keys; from += vector.Target {
		add := batch(min(vector.Target, keys-from), vector.Insert, func(i int) (k, v int64) { return int64(from + i), 0 })
		process(1, add)
		add.Release()
	}
	r := rand.New(rand.NewPCG(1, 1))
	cpu := startCPU(b)
	for done := 0; done < b.N; done += 2 * vector.Target {
		b.StopTimer()
		first, step := r.IntN(keys*chain), 2*r.IntN(keys*chain/2)+1
		row := func(i int) (k, v int64) {
			at := (first + i*step) % (keys * chain)
			return int64(at % keys), int64(at / keys)
		}
		minus, plus := batch(vector.Target, vector.Delete, row), batch(vector.Target, vector.Insert, row)
		b.StartTimer()
		cpu.begin()
		process(0, minus)
		process(0, plus)
		cpu.end(2 * vector.Target)
		minus.Release()
		plus.Release()
	}
}
