package op_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// spanRow is a row of spanInput.
type spanRow struct {
	k, v  string
	ts, w int64
	null  bool // ts is NULL
	epoch int
}

var spanInput = schema("k bigint", "v bigint", "t timestamp", "w bigint!")

func (r spanRow) time() string {
	if r.null {
		return "NULL"
	}
	return fmt.Sprint(r.ts)
}

func (r spanRow) text() string { return fmt.Sprintf("%s %s %s %d", r.k, r.v, r.time(), r.w) }

// spanRows are rows in some disorder, and the watermark at the end of each epoch.
func spanRows(r *rand.Rand, epochs, rows int) (all [][]spanRow, marks []int64) {
	high, n := int64(-1<<63), 0
	for e := range epochs {
		var batch []spanRow
		for range rows {
			row := spanRow{k: maybe(r, r.IntN(3)), v: fmt.Sprint(r.IntN(6)), ts: int64(r.IntN(12)) + int64(n)/2 - 5, w: high, null: r.IntN(20) == 0, epoch: e}
			n++
			batch = append(batch, row)
			if !row.null {
				high = max(high, row.ts-4)
			}
		}
		all, marks = append(all, batch), append(marks, high)
	}
	return all, marks
}

func spanTexts(rows []spanRow) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.text()
	}
	return out
}

// onTime leaves out the rows that are late.
func onTime(all [][]spanRow) []spanRow {
	return slices.DeleteFunc(slices.Concat(all...), func(r spanRow) bool { return !r.null && r.ts <= r.w })
}

func TestIntervalJoin(t *testing.T) {
	intervals := [][2]int64{{-4, 3}, {0, 0}, {2, 5}, {-6, -3}, {-1, 0}, {3, 1}}
	names := map[op.JoinKind]string{op.InnerJoin: "inner", op.LeftJoin: "left", op.RightJoin: "right", op.FullJoin: "full", op.SemiJoin: "semi", op.AntiJoin: "anti"}
	for kind, name := range names {
		for n, within := range intervals {
			for _, residual := range []bool{false, true} {
				seed := uint64(kind)*100 + uint64(n)
				t.Run(fmt.Sprintf("%s/%d..%d/residual=%t/seed=%d", name, within[0], within[1], residual, seed), func(t *testing.T) {
					intervalJoin(t, kind, within[0], within[1], residual, seed)
				})
			}
		}
	}
}

func intervalJoin(t *testing.T, kind op.JoinKind, lower, upper int64, residual bool, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 3))
	left, leftMarks := spanRows(r, 4, 10)
	right, rightMarks := spanRows(r, 4, 10)
	var events []exectest.Event
	for i := range left {
		events = append(events, exectest.Rows(0, spanTexts(left[i])...), exectest.Rows(1, spanTexts(right[i])...),
			exectest.Watermark(0, exec.Watermark(leftMarks[i])), exectest.Watermark(1, exec.Watermark(rightMarks[i])), exectest.Mark())
	}
	for _, port := range []int{0, 1} {
		events = append(events, exectest.Watermark(port, exec.EndWatermark), exectest.End(port), exectest.Mark())
	}
	side := op.JoinSide{Types: spanInput.Types(), Keys: []int{0}, Spread: []int{0}}
	pairs := kind != op.SemiJoin && kind != op.AntiJoin
	js := op.JoinSpec{Left: side, Right: side, NullSafe: []bool{false}, Output: []int{0, 1, 2, 4, 5, 6}}
	if !pairs {
		js.Output = []int{0, 1, 2}
	}
	if residual {
		both := append(slices.Clone(spanInput), sqltype.Schema{{Name: "rk", Type: sqltype.BigIntType}, {Name: "rv", Type: sqltype.BigIntType}}...)
		js.Residual = apply("<", column(both, "v"), column(both, "rv"))
	}
	got := exectest.Run(t, exectest.Case{
		New: func() (exec.Operator, error) {
			return op.NewIntervalJoin(op.IntervalJoinSpec{
				JoinSpec: js, Kind: kind, Lower: lower, Upper: upper, Sides: [2]op.TimeSide{{Time: 2, Watermark: 3}, {Time: 2, Watermark: 3}},
			})
		},
		Kinds: [][]vector.Kind{spanInput.Kinds(), spanInput.Kinds()}, Events: events, KeepNulls: true,
	})

	// What has left by the end of each epoch: a pair when both of its rows have come, a row
	// alone when the watermark of the other side says that none will come.
	epochs := len(left) + 2
	want := make([]exectest.Table, epochs)
	for e := range want {
		want[e] = exectest.Table{}
	}
	leave := func(epoch int, row string) {
		for e := epoch; e < epochs; e++ {
			want[e].Add(row)
		}
	}
	over := func(marks []int64, end int, r spanRow, horizon int64) int {
		for e, w := range marks {
			if e >= r.epoch && (r.null || r.k == "NULL" || r.ts+horizon <= w) {
				return e
			}
			if e >= r.epoch && e > 0 && r.ts+horizon <= marks[e-1] {
				return e
			}
		}
		return end
	}
	matches := func(l, r spanRow) bool {
		d := l.ts - r.ts
		return !l.null && !r.null && l.k != "NULL" && l.k == r.k && d >= lower && d <= upper && (!residual || l.v < r.v)
	}
	lefts, rights := onTime(left), onTime(right)
	found := make([]bool, len(rights))
	for _, l := range lefts {
		first := -1
		for i, r := range rights {
			if !matches(l, r) {
				continue
			}
			found[i] = true
			if e := max(l.epoch, r.epoch); first < 0 || e < first {
				first = e
			}
			if pairs {
				leave(max(l.epoch, r.epoch), fmt.Sprintf("+I %s %s %s %s %s %s", l.k, l.v, l.time(), r.k, r.v, r.time()))
			}
		}
		switch alone := fmt.Sprintf("+I %s %s %s", l.k, l.v, l.time()); {
		case kind == op.SemiJoin && first >= 0:
			leave(first, alone)
		case kind == op.AntiJoin && first < 0:
			leave(over(rightMarks, epochs-1, l, -lower), alone)
		case (kind == op.LeftJoin || kind == op.FullJoin) && first < 0:
			leave(over(rightMarks, epochs-1, l, -lower), alone+" NULL NULL NULL")
		}
	}
	for i, r := range rights {
		if (kind == op.RightJoin || kind == op.FullJoin) && !found[i] {
			leave(over(leftMarks, epochs-2, r, upper), fmt.Sprintf("+I NULL NULL NULL %s %s %s", r.k, r.v, r.time()))
		}
	}
	for e, epoch := range got.Epochs {
		if diff := epoch.Table.Diff(want[e]); diff != "" {
			t.Errorf("after epoch %d: %s", e, diff)
		}
		late := exectest.Table{}
		for _, r := range slices.Concat(left[:min(e+1, len(left))]...) {
			if !r.null && r.ts <= r.w && r.epoch == e {
				late.Add(fmt.Sprintf("+I %s %s %s NULL NULL", r.k, r.v, r.time()))
			}
		}
		if diff := epoch.Sides[exec.Late].Diff(late); diff != "" {
			t.Errorf("late in epoch %d: %s", e, diff)
		}
	}
	if w := got.Last().Watermark; w != exec.EndWatermark {
		t.Errorf("the watermark ends at %v", w)
	}
}

// TestIntervalJoinHoldsBack checks that no time of a row that leaves is one that the
// watermark had reached.
func TestIntervalJoinHoldsBack(t *testing.T) {
	for _, within := range [][2]int64{{-4, 3}, {2, 5}, {-6, -3}} {
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, 4))
			left, leftMarks := spanRows(r, 6, 8)
			right, rightMarks := spanRows(r, 6, 8)
			side := op.JoinSide{Types: spanInput.Types(), Keys: []int{0}}
			j, err := op.NewIntervalJoin(op.IntervalJoinSpec{
				JoinSpec: op.JoinSpec{Left: side, Right: side, NullSafe: []bool{true}, Output: []int{2, 6}},
				Kind:     op.FullJoin, Lower: within[0], Upper: within[1], Sides: [2]op.TimeSide{{Time: 2, Watermark: 3}, {Time: 2, Watermark: 3}},
			})
			d := newDriver(t, j, err)
			out := &heldBack{t: t, w: exec.NoWatermark, seed: seed}
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			for e := range left {
				for port, rows := range [][]spanRow{left[e], right[e]} {
					b := exectest.NewBatch(d.pool, spanInput.Kinds(), spanTexts(rows)...)
					must(j.Process(port, b, out))
					b.Release()
					must(d.store.EndCall())
				}
				must(j.Advance(0, exec.Watermark(leftMarks[e]), out))
				must(j.Advance(1, exec.Watermark(rightMarks[e]), out))
				must(j.Flush(out))
				must(d.store.EndCall())
				must(d.store.EndEpoch())
			}
			must(j.Advance(0, exec.EndWatermark, out))
			must(j.Advance(1, exec.EndWatermark, out))
			if keys := d.store.Keys(); keys != 0 {
				t.Errorf("seed %d: %d entries are left at the end", seed, keys)
			}
		}
	}
}

// heldBack is an output that knows how far event time was said to be.
type heldBack struct {
	t    *testing.T
	w    exec.Watermark
	seed uint64
}

func (h *heldBack) Emit(b *vector.Batch) error {
	for i := range b.Len() {
		for c := range b.Cols() {
			v := b.Col(c)
			if at := vector.Values[int64](v)[b.Row(i)]; !v.IsNull(b.Row(i)) && exec.Watermark(at) <= h.w {
				h.t.Errorf("seed %d: a row of %d leaves after the watermark %d", h.seed, at, h.w)
			}
		}
	}
	return nil
}

func (h *heldBack) Advance(w exec.Watermark) error {
	if w <= h.w {
		h.t.Errorf("seed %d: the watermark goes from %d to %d", h.seed, h.w, w)
	}
	h.w = w
	return nil
}

func TestIntervalJoinOfTheClock(t *testing.T) {
	side := op.JoinSide{Types: schema("k bigint", "v bigint", "t timestamp!").Types(), Keys: []int{0}}
	c := exectest.Case{
		New: func() (exec.Operator, error) {
			return op.NewIntervalJoin(op.IntervalJoinSpec{
				JoinSpec: op.JoinSpec{Left: side, Right: side, NullSafe: []bool{false}, Output: []int{0, 1, 4}},
				Kind:     op.LeftJoin, Lower: -10, Upper: 5, Processing: true, Sides: [2]op.TimeSide{{Time: 2, Watermark: -1}, {Time: 2, Watermark: -1}},
			})
		},
		Kinds: [][]vector.Kind{schema("k bigint", "v bigint", "t timestamp!").Kinds(), schema("k bigint", "v bigint", "t timestamp!").Kinds()},
		Events: []exectest.Event{
			exectest.MarkAt(100), exectest.Rows(0, "1 1 100", "2 2 100"), exectest.MarkAt(110), exectest.Rows(1, "1 10 110"), exectest.Rows(0, "1 3 110"),
			exectest.MarkAt(111), exectest.Rows(1, "2 11 111"), exectest.MarkAt(112), exectest.Rows(0, "1 4 116"), exectest.MarkAt(116), exectest.MarkAt(127),
			exectest.Rows(0, "5 5 127"), exectest.End(0), exectest.End(1), exectest.Mark(),
		},
		KeepNulls: true,
	}
	got := exectest.Run(t, c)
	want := []string{"+I 1 1 10", "+I 1 3 10", "+I 2 2 NULL", "+I 1 4 NULL", "+I 5 5 NULL"}
	if changes := got.Changes(); !slices.Equal(changes, want) {
		t.Errorf("got %q, want %q", changes, want)
	}
}

func BenchmarkIntervalJoin(b *testing.B) {
	side := op.JoinSide{Types: spanInput.Types(), Keys: []int{0}, Spread: []int{0}}
	for _, kind := range []op.JoinKind{op.InnerJoin, op.LeftJoin} {
		b.Run(map[op.JoinKind]string{op.InnerJoin: "inner", op.LeftJoin: "left"}[kind], func(b *testing.B) {
			j, err := op.NewIntervalJoin(op.IntervalJoinSpec{
				JoinSpec: op.JoinSpec{Left: side, Right: side, NullSafe: []bool{false}, Output: []int{0, 1, 2, 5, 6}},
				Kind:     kind, Lower: -500, Upper: 500, Sides: [2]op.TimeSide{{Time: 2, Watermark: 3}, {Time: 2, Watermark: 3}},
			})
			d := newDriver(b, j, err)
			d.quiet = true
			const rows = 4096
			r := rand.New(rand.NewPCG(1, 2))
			b.ResetTimer()
			for n := 0; n < b.N; n += 2 * rows {
				from := int64(n)
				for port := range 2 {
					k, v, ts, w := d.pool.New(vector.Int64, rows), d.pool.New(vector.Int64, rows), d.pool.New(vector.Int64, rows), d.pool.New(vector.Int64, rows)
					for i := range rows {
						vector.Values[int64](k)[i], vector.Values[int64](v)[i] = r.Int64N(1000), int64(i)
						vector.Values[int64](ts)[i], vector.Values[int64](w)[i] = from+int64(i)*2, from-1
					}
					batch := vector.NewBatch(rows, []*vector.Vector{k, v, ts, w}, nil)
					if err := d.process(port, batch); err != nil {
						b.Fatal(err)
					}
					batch.Release()
				}
				for port := range 2 {
					if err := j.Advance(port, exec.Watermark(from+2*rows-1), d); err != nil {
						b.Fatal(err)
					}
				}
				if err := d.flush(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
