package op_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
)

// windowInput is the input of the window tests: a key, a value, event time, and the
// watermark before the row.
var windowInput = schema("k bigint", "v bigint", "ts timestamp!", "w bigint!")

// windowRows are random rows in epochs, with disorder. Each epoch but the first ends at
// the highest time less delay.
func windowRows(r *rand.Rand, epochs, rows int, delay int64, updating bool) (events []exectest.Event, all []string) {
	high := int64(-1 << 63)
	var live []string
	for range epochs {
		var batch []string
		for range rows {
			ts := int64(r.IntN(30)) + int64(len(all))/3
			v := fmt.Sprint(r.IntN(9) - 4)
			row := fmt.Sprintf("%d %s %d %d", r.IntN(3), v, ts, high)
			high = max(high, ts-delay)
			kind := "+I "
			if updating && len(live) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(live))
				old := strings.Fields(live[i])
				row, kind = fmt.Sprintf("%s %s %s %d", old[0], old[1], old[2], high), "-D "
				live = slices.Delete(live, i, i+1)
			} else {
				live = append(live, row)
			}
			batch = append(batch, kind+row)
		}
		all = append(all, batch...)
		events = append(events, exectest.Rows(0, batch...))
		if r.IntN(4) > 0 {
			events = append(events, exectest.Watermark(0, exec.Watermark(high)))
		}
		events = append(events, exectest.Mark())
	}
	return append(events, exectest.End(0), exectest.Mark()), all
}

type windowGroup struct {
	window.Span
	key string
}

// windowGroups are the rows of each window and key that are not late for it, by trying
// every window there is.
func windowGroups(a window.Assigner, rows []string) map[windowGroup][][]string {
	out := map[windowGroup][][]string{}
	for _, row := range rows {
		f := strings.Fields(row)
		var ts, w int64
		fmt.Sscan(f[3], &ts)
		fmt.Sscan(f[4], &w)
		for s, ok := a.First(ts); ok; s, ok = a.Next(s, ts) {
			if w < s.End-1 {
				g := windowGroup{s, f[1]}
				out[g] = append(out[g], f)
			}
		}
	}
	return out
}

func windowAggregates(distinct bool) []*expr.Aggregate {
	v := column(windowInput, "v")
	out := []*expr.Aggregate{
		aggregate("COUNT", false, nil), aggregate("SUM", false, nil, v), aggregate("MIN", false, nil, v), aggregate("MAX", false, nil, v),
	}
	if distinct {
		out = append(out, aggregate("COUNT", true, nil, v))
	}
	return out
}

func windowResult(g windowGroup, rows [][]string, distinct bool) string {
	count, sum := map[int64]int{}, int64(0)
	n := 0
	for _, f := range rows {
		var v int64
		fmt.Sscan(f[2], &v)
		by := 1
		if f[0] == "-D" {
			by = -1
		}
		n, sum, count[v] = n+by, sum+int64(by)*v, count[v]+by
	}
	if n <= 0 {
		return ""
	}
	var have []int64
	for v, c := range count {
		if c > 0 {
			have = append(have, v)
		}
	}
	slices.Sort(have)
	least, most := "NULL", "NULL"
	if len(have) > 0 {
		least, most = fmt.Sprint(have[0]), fmt.Sprint(have[len(have)-1])
	}
	out := fmt.Sprintf("%d %d %d %s %d %d %s %s", g.Start, g.End, g.End-1, g.key, n, sum, least, most)
	if distinct {
		out += fmt.Sprintf(" %d", len(have))
	}
	return out
}

func TestWindowAggregate(t *testing.T) {
	for _, a := range []window.Assigner{
		{Kind: window.Tumble, Size: 10},
		{Kind: window.Tumble, Size: 7, Offset: 3},
		{Kind: window.Hop, Size: 10, Step: 5},
		{Kind: window.Hop, Size: 12, Step: 4, Offset: -1},
		{Kind: window.Hop, Size: 10, Step: 4},
		{Kind: window.Hop, Size: 32, Step: 2, Offset: 1}, // with blocks of slices, and cores
		{Kind: window.Hop, Size: 50, Step: 4},            // and steps of two slices
		{Kind: window.Hop, Size: 140, Step: 1},           // and of blocks, and of cores
		{Kind: window.Cumulate, Size: 15, Step: 5},
	} {
		for _, distinct := range []bool{false, true} {
			for _, updating := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v/distinct=%t/updating=%t", a, distinct, updating), func(t *testing.T) {
					r := rand.New(rand.NewPCG(3, uint64(a.Size)))
					events, rows := windowRows(r, 5, 12, 3, updating)
					got := exectest.Run(t, exectest.Case{
						New: func() (exec.Operator, error) {
							return op.NewWindowAggregate(op.WindowAggregateSpec{
								Input: windowInput.Types(), Keys: []int{0}, Calls: windowAggregates(distinct), Updating: updating,
								Window: op.WindowSpec{Assigner: a, Time: 2, Start: -1, End: -1, Watermark: 3},
							})
						},
						Kinds: [][]vector.Kind{windowInput.Kinds()}, Events: events, KeepNulls: true,
					})
					var want exectest.Table = exectest.Table{}
					for g, rows := range windowGroups(a, rows) {
						if out := windowResult(g, rows, distinct); out != "" {
							want.Add("+I " + out)
						}
					}
					if diff := got.Last().Table.Diff(want); diff != "" {
						t.Error(diff)
					}
					for _, c := range got.Changes() {
						if !strings.HasPrefix(c, "+I") {
							t.Fatalf("%s: a window is emitted once", c)
						}
					}
				})
			}
		}
	}
}
