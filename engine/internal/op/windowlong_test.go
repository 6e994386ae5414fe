package op_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
)

// longRows are random rows of some windows' length, a few in a window, with disorder of up to
// a quarter of one and times without any. Those that are late are by no more than that.
func longRows(r *rand.Rand, size int64, rows int) (events []exectest.Event, all []string) {
	high, at := int64(-1<<63), int64(0)
	for n := range rows {
		at += r.Int64N(7*size/int64(rows) + 1)
		if r.IntN(rows/2) == 0 {
			at += size/2 + r.Int64N(size) // and blocks that are empty
		}
		ts := at - r.Int64N(r.Int64N(size/4+1)+1)
		row := fmt.Sprintf("+I %d %d %d %d", r.IntN(3), r.IntN(9)-4, ts, high)
		events, all = append(events, exectest.Rows(0, row)), append(all, row)
		high = max(high, ts-r.Int64N(size/16+1))
		if r.IntN(4) == 0 {
			events = append(events, exectest.Watermark(0, exec.Watermark(high)))
		}
		if n%8 == 7 {
			events = append(events, exectest.Mark())
		}
	}
	return append(events, exectest.End(0), exectest.Mark()), all
}

// TestLongWindows is TestWindowAggregate for windows of many slices, over streams that are
// some windows long: one for each, or with WEIR_SOAK ten.
func TestLongWindows(t *testing.T) {
	seeds := uint64(1)
	if os.Getenv("WEIR_SOAK") != "" {
		seeds = 10
	}
	for _, c := range []struct {
		window.Assigner
		rows int
	}{
		{window.Assigner{Kind: window.Hop, Size: 16, Step: 1}, 48},
		{window.Assigner{Kind: window.Hop, Size: 51, Step: 3, Offset: -1}, 48},
		{window.Assigner{Kind: window.Hop, Size: 70, Step: 4, Offset: 3}, 48},
		{window.Assigner{Kind: window.Hop, Size: 129, Step: 1}, 48},
		{window.Assigner{Kind: window.Hop, Size: 300, Step: 2}, 24},
		{window.Assigner{Kind: window.Hop, Size: 1100, Step: 31}, 24}, // blocks of blocks, for few windows
	} {
		for seed := range 2 * seeds {
			distinct := seed%2 == 1
			t.Run(fmt.Sprintf("%v/distinct=%t/seed=%d", c.Assigner, distinct, seed/2), func(t *testing.T) {
				events, rows := longRows(rand.New(rand.NewPCG(seed, uint64(c.Size))), c.Size, c.rows)
				got := exectest.Run(t, exectest.Case{
					New: func() (exec.Operator, error) {
						return op.NewWindowAggregate(op.WindowAggregateSpec{
							Input: windowInput.Types(), Keys: []int{0}, Calls: windowAggregates(distinct),
							Window: op.WindowSpec{Assigner: c.Assigner, Time: 2, Start: -1, End: -1, Watermark: 3},
						})
					},
					Kinds: [][]vector.Kind{windowInput.Kinds()}, Events: events, KeepNulls: true,
				})
				want := exectest.Table{}
				for g, rows := range windowGroups(c.Assigner, rows) {
					want.Add("+I " + windowResult(g, rows, distinct))
				}
				if diff := got.Last().Table.Diff(want); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestWindowsOfManySlices counts rows in windows that are merged of blocks and cores of three
// levels, none of them late, and compares with sums over all slices.
func TestWindowsOfManySlices(t *testing.T) {
	const size, span, keys = 5000, 12_000, 3
	a := window.Assigner{Kind: window.Hop, Size: size, Step: 1}
	o, err := op.NewWindowAggregate(windowSpec(a, []int{0}, aggregate("COUNT", false, nil)))
	d := newDriver(t, o, err)
	r := rand.New(rand.NewPCG(9, 9))
	var before [keys][span + 2*size + 1]int // rows before a time, by key, which is size later here
	for at := range int64(span) {
		var rows []string
		for range r.IntN(3) * r.IntN(2) {
			k := r.IntN(keys)
			before[k][at+size+1]++
			rows = append(rows, fmt.Sprintf("+I %d 0 %d %d", k, at, at-1))
		}
		b := exectest.NewBatch(d.pool, windowInput.Kinds(), rows...)
		if err := d.process(0, b); err != nil {
			t.Fatal(err)
		}
		b.Release()
		if err := d.advance(exec.Watermark(at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.advance(exec.Watermark(span + size)); err != nil {
		t.Fatal(err)
	}
	if err := d.flush(); err != nil {
		t.Fatal(err)
	}
	want := exectest.Table{}
	for k := range before {
		for at := 1; at < len(before[k]); at++ {
			before[k][at] += before[k][at-1]
		}
		for start := -size; start < span; start++ {
			if n := before[k][start+2*size] - before[k][start+size]; n > 0 {
				want.Add(fmt.Sprintf("+I %d %d %d %d %d", start, start+size, start+size-1, k, n))
			}
		}
	}
	got := exectest.Table{}
	got.Add(d.rows...)
	if diff := got.Diff(want); diff != "" {
		t.Error(diff)
	}
}
