package op_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// sessionRow is a row of windowInput.
type sessionRow struct {
	key, value string
	ts, w      int64
}

func sessionRows(rows []string) []sessionRow {
	out := make([]sessionRow, len(rows))
	for i, row := range rows {
		f := strings.Fields(row)
		out[i].key, out[i].value = f[1], f[2]
		fmt.Sscan(f[3], &out[i].ts)
		fmt.Sscan(f[4], &out[i].w)
	}
	return out
}

// sessionsOf follows the rows one by one: what is over before a row comes is emitted,
// then the row merges with the sessions that it touches, or is late.
func sessionsOf(rows []sessionRow, gap int64) []string {
	type open struct {
		window.Span
		rows []sessionRow
	}
	var out []string
	all := map[string][]*open{}
	emit := func(s *open) {
		for _, r := range s.rows {
			out = append(out, fmt.Sprintf("+I %s %s %d %d %d", r.key, r.value, s.Start, s.End, s.End-1))
		}
	}
	for _, r := range rows {
		all[r.key] = slices.DeleteFunc(all[r.key], func(s *open) bool {
			if s.End-1 > r.w {
				return false
			}
			emit(s)
			return true
		})
		own := &open{Span: window.Span{Start: r.ts, End: r.ts + gap}, rows: []sessionRow{r}}
		merged := false
		rest := slices.DeleteFunc(slices.Clone(all[r.key]), func(s *open) bool {
			if s.End < r.ts || s.Start > r.ts+gap {
				return false
			}
			own.Start, own.End, merged = min(own.Start, s.Start), max(own.End, s.End), true
			own.rows = append(own.rows, s.rows...)
			return true
		})
		if merged || own.End-1 > r.w {
			all[r.key] = append(rest, own)
		}
	}
	for _, open := range all {
		for _, s := range open {
			emit(s)
		}
	}
	return out
}

func TestSessionTable(t *testing.T) {
	for seed := range uint64(4) {
		for _, gap := range []int64{2, 4} {
			t.Run(fmt.Sprintf("seed=%d/gap=%d", seed, gap), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 8))
				events, rows := windowRows(r, 4, 12, 3, false)
				got := exectest.Run(t, exectest.Case{
					New: func() (exec.Operator, error) {
						return op.NewSessionTable(op.SessionTableSpec{WindowTableSpec: op.WindowTableSpec{
							Types: windowInput.Types(), Forward: []int{0, 1},
							Window: op.WindowSpec{Assigner: window.Assigner{Kind: window.Session, Size: gap}, Time: 2, Start: -1, End: -1, Watermark: 3},
						}, Partition: []int{0}}), nil
					},
					Kinds: [][]vector.Kind{windowInput.Kinds()}, Events: events, KeepNulls: true,
				})
				want := exectest.Table{}
				want.Add(sessionsOf(sessionRows(rows), gap)...)
				if diff := got.Last().Table.Diff(want); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// attached are rows with their window of a size: key, value, bounds, watermark.
func attached(r *rand.Rand, epochs, rows int) (batches [][]string, marks []int64) {
	high, n := int64(-1<<63), 0
	for range epochs {
		var batch []string
		for range rows {
			ts := int64(r.IntN(20)) + int64(n)/2
			n++
			start := ts - ts%10
			batch = append(batch, fmt.Sprintf("%s %d %d %d %d", maybe(r, r.IntN(3)), r.IntN(6), start, start+10, high))
			high = max(high, ts-4)
		}
		batches, marks = append(batches, batch), append(marks, high)
	}
	return batches, marks
}

var attachedInput = schema("k bigint", "v bigint", "s timestamp!", "e timestamp!", "w bigint!")

func inTime(batches [][]string) [][]string {
	var out [][]string
	for _, row := range slices.Concat(batches...) {
		f := strings.Fields(row)
		var end, w int64
		fmt.Sscan(f[3], &end)
		fmt.Sscan(f[4], &w)
		if w < end-1 {
			out = append(out, f)
		}
	}
	return out
}

func TestWindowJoin(t *testing.T) {
	spec := op.WindowSpec{Time: -1, Start: 2, End: 3, Watermark: 4}
	for kind, name := range map[op.JoinKind]string{op.InnerJoin: "inner", op.LeftJoin: "left", op.RightJoin: "right", op.FullJoin: "full", op.SemiJoin: "semi", op.AntiJoin: "anti"} {
		for _, residual := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/residual=%t", name, residual), func(t *testing.T) {
				r := rand.New(rand.NewPCG(5, uint64(kind)))
				left, leftMarks := attached(r, 4, 8)
				right, rightMarks := attached(r, 4, 8)
				var events []exectest.Event
				for i := range left {
					events = append(events, exectest.Rows(0, left[i]...), exectest.Rows(1, right[i]...),
						exectest.Watermark(0, exec.Watermark(leftMarks[i])), exectest.Watermark(1, exec.Watermark(rightMarks[i])), exectest.Mark())
				}
				events = append(events, exectest.End(0), exectest.End(1), exectest.Mark())
				side := op.JoinSide{Types: attachedInput.Types(), Keys: []int{0, 2, 3}}
				js := op.JoinSpec{Left: side, Right: side, NullSafe: []bool{false, false, false}, Output: []int{0, 1, 3, 5, 6, 8}}
				pairs := kind != op.SemiJoin && kind != op.AntiJoin
				if !pairs {
					js.Output = []int{0, 1, 3}
				}
				if residual {
					both := append(slices.Clone(attachedInput), sqltype.Schema{{Name: "rk", Type: sqltype.BigIntType}, {Name: "rv", Type: sqltype.BigIntType}}...)
					js.Residual = apply("<", column(both, "v"), column(both, "rv"))
				}
				got := exectest.Run(t, exectest.Case{
					New: func() (exec.Operator, error) {
						return op.NewWindowJoin(op.WindowJoinSpec{JoinSpec: js, Kind: kind, Windows: [2]op.WindowSpec{spec, spec}})
					},
					Kinds: [][]vector.Kind{attachedInput.Kinds(), attachedInput.Kinds()}, Events: events, KeepNulls: true,
				})
				want := exectest.Table{}
				rights := inTime(right)
				found := make([]bool, len(rights))
				for _, l := range inTime(left) {
					partner := false
					for i, r := range rights {
						if l[0] != "NULL" && l[0] == r[0] && l[3] == r[3] && (!residual || l[1] < r[1]) {
							partner, found[i] = true, true
							if pairs {
								want.Add(fmt.Sprintf("+I %s %s %s %s %s %s", l[0], l[1], l[3], r[0], r[1], r[3]))
							}
						}
					}
					switch {
					case kind == op.SemiJoin && partner, kind == op.AntiJoin && !partner:
						want.Add(fmt.Sprintf("+I %s %s %s", l[0], l[1], l[3]))
					case (kind == op.LeftJoin || kind == op.FullJoin) && !partner:
						want.Add(fmt.Sprintf("+I %s %s %s NULL NULL NULL", l[0], l[1], l[3]))
					}
				}
				for i, r := range rights {
					if (kind == op.RightJoin || kind == op.FullJoin) && !found[i] {
						want.Add(fmt.Sprintf("+I NULL NULL NULL %s %s %s", r[0], r[1], r[3]))
					}
				}
				if diff := got.Last().Table.Diff(want); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestWindowRank(t *testing.T) {
	for _, f := range []op.RankFunction{op.RowNumber, op.RankWithGaps, op.DenseRank} {
		for _, from := range []int64{1, 2} {
			t.Run(fmt.Sprintf("%d/from=%d", f, from), func(t *testing.T) {
				r := rand.New(rand.NewPCG(9, uint64(f)))
				batches, marks := attached(r, 5, 20)
				var events []exectest.Event
				for i, b := range batches {
					events = append(events, exectest.Rows(0, b...), exectest.Watermark(0, exec.Watermark(marks[i])), exectest.Mark())
				}
				events = append(events, exectest.End(0), exectest.Mark())
				got := exectest.Run(t, exectest.Case{
					New: func() (exec.Operator, error) {
						return op.NewWindowRank(op.WindowRankSpec{
							Types: attachedInput.Types(), Window: op.WindowSpec{Time: -1, Start: 2, End: 3, Watermark: 4}, Partition: []int{0, 2, 3},
							Order: []op.SortKey{{Column: 1, Desc: true}}, Function: f, From: from, To: 3, ToColumn: -1, Number: true, Output: []int{0, 1, 3, 4},
						}), nil
					},
					Kinds: [][]vector.Kind{attachedInput.Kinds()}, Events: events, KeepNulls: true,
				})
				parts := map[string][][]string{}
				for _, row := range inTime(batches) {
					parts[row[0]+" "+row[3]] = append(parts[row[0]+" "+row[3]], row)
				}
				want := exectest.Table{}
				for _, rows := range parts {
					slices.SortStableFunc(rows, func(a, b []string) int { return strings.Compare(b[1], a[1]) })
					number := int64(0)
					for i, row := range rows {
						switch {
						case i == 0 || f == op.RowNumber || rows[i-1][1] != row[1] && f == op.RankWithGaps:
							number = int64(i) + 1
						case rows[i-1][1] != row[1]:
							number++
						}
						if number >= from && number <= 3 {
							want.Add(fmt.Sprintf("+I %s %s %s %s %d", row[0], row[1], row[3], row[4], number))
						}
					}
				}
				if diff := got.Last().Table.Diff(want); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}
