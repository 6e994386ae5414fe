package op_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// The reference of OVER: rows as words, each value worked out from all rows of its frame.

// overInput has a partition, a time to order by, and values.
var overInput = schema("k bigint", "at timestamp", "v int", "f double", "s string", "p bool", "mark bigint!")

// overCall is a call of the tests.
type overCall struct {
	call  op.OverCall
	value func(frame []refOverRow, r refWindow) string
}

// refOverRow is a row of the reference.
type refOverRow struct {
	cells []string
}

// refWindow is what a function that works by place sees.
type refWindow struct {
	rows []refOverRow // of the partition, in order
	at   int
	same func(i, k int) bool
}

func refInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// refValues are the values of a column that are not NULL, in the rows that pass.
func refValues(frame []refOverRow, col int, filter, distinct bool) []string {
	var out []string
	for _, r := range frame {
		if v := r.cells[col]; v != "NULL" && (!filter || r.cells[5] == "true") && (!distinct || !slices.Contains(out, v)) {
			out = append(out, v)
		}
	}
	return out
}

func refSum(vals []string) string {
	if len(vals) == 0 {
		return "NULL"
	}
	sum := int64(0)
	for _, v := range vals {
		n, _ := refInt(v)
		sum += n
	}
	return fmt.Sprint(sum)
}

func refBest(vals []string, greatest bool) string {
	if len(vals) == 0 {
		return "NULL"
	}
	best := vals[0]
	for _, v := range vals[1:] {
		if c := compareCells(v, best); c > 0 == greatest && c != 0 {
			best = v
		}
	}
	return best
}

func refFloats(vals []string) string {
	if len(vals) == 0 {
		return "NULL"
	}
	sum := 0.0
	for _, v := range vals {
		f, _ := strconv.ParseFloat(v, 64)
		sum += f // halves, so that the order makes no difference
	}
	return strconv.FormatFloat(sum, 'g', -1, 64)
}

// overCalls are calls of many kinds with one frame each.
func overCalls(frames []op.Frame) []overCall {
	v, f, s, p := column(overInput, "v"), column(overInput, "f"), column(overInput, "s"), column(overInput, "p")
	var out []overCall
	next := 0
	frame := func() op.Frame {
		next++
		return frames[next%len(frames)]
	}
	agg := func(a *expr.Aggregate, value func(frame []refOverRow) string) {
		c := op.OverCall{Aggregate: a, T: a.T, Frame: frame()}
		out = append(out, overCall{c, func(rows []refOverRow, _ refWindow) string { return value(rows) }})
	}
	agg(aggregate("COUNT", false, nil), func(rows []refOverRow) string { return fmt.Sprint(len(rows)) })
	agg(aggregate("SUM", false, nil, v), func(rows []refOverRow) string { return refSum(refValues(rows, 2, false, false)) })
	agg(aggregate("SUM", false, p, v), func(rows []refOverRow) string { return refSum(refValues(rows, 2, true, false)) })
	agg(aggregate("SUM", true, nil, v), func(rows []refOverRow) string { return refSum(refValues(rows, 2, false, true)) })
	agg(aggregate("COUNT", true, p, s), func(rows []refOverRow) string { return fmt.Sprint(len(refValues(rows, 4, true, true))) })
	agg(aggregate("MIN", false, nil, v), func(rows []refOverRow) string { return refBest(refValues(rows, 2, false, false), false) })
	agg(aggregate("MAX", false, p, s), func(rows []refOverRow) string { return refBest(refValues(rows, 4, true, false), true) })
	agg(aggregate("SUM", false, nil, f), func(rows []refOverRow) string { return refFloats(refValues(rows, 3, false, false)) })
	agg(aggregate("FIRST_VALUE", false, nil, s), func(rows []refOverRow) string { return refNth(refValues(rows, 4, false, false), 1) })
	agg(aggregate("LAST_VALUE", false, nil, v), func(rows []refOverRow) string {
		vals := refValues(rows, 2, false, false)
		return refNth(vals, len(vals))
	})
	agg(aggregate("LISTAGG", false, nil, s), func(rows []refOverRow) string {
		vals := refValues(rows, 4, false, false)
		if len(vals) == 0 {
			return "NULL"
		}
		return strings.Join(vals, ",")
	})
	out = append(out, overCall{op.OverCall{Function: op.OverNthValue, Args: []int{2}, N: 2, T: sqltype.IntType, Frame: frame()}, func(rows []refOverRow, _ refWindow) string {
		return refNth(refValues(rows, 2, false, false), 2)
	}})
	return out
}

// slidingCalls are calls whose frames can be made of those of the row before.
func slidingCalls(f op.Frame) []overCall {
	calls := overCalls([]op.Frame{f})
	return []overCall{calls[0], calls[1], calls[2], calls[7]}
}

func refNth(vals []string, n int) string {
	if n < 1 || n > len(vals) {
		return "NULL"
	}
	return vals[n-1]
}

// placeCalls are calls that look at rows by their place.
func placeCalls(lead bool) []overCall {
	shift := func(f op.OverFunction, n int64, other bool) overCall {
		c := op.OverCall{Function: f, Args: []int{2}, N: n, T: sqltype.IntType}
		if other {
			c.Args = append(c.Args, 2)
		}
		by := int(n)
		if f == op.OverLag {
			by = -by
		}
		return overCall{c, func(_ []refOverRow, w refWindow) string {
			switch at := w.at + by; {
			case at >= 0 && at < len(w.rows):
				return w.rows[at].cells[2]
			case other:
				return w.rows[w.at].cells[2]
			}
			return "NULL"
		}}
	}
	rank := func(f op.OverFunction) overCall {
		return overCall{op.OverCall{Function: f, T: sqltype.BigIntType}, func(_ []refOverRow, w refWindow) string {
			first, dense := w.at, 1
			for first > 0 && w.same(first-1, first) {
				first--
			}
			for i := 1; i <= w.at; i++ {
				if !w.same(i-1, i) {
					dense++
				}
			}
			return fmt.Sprint(map[op.OverFunction]int{op.OverRowNumber: w.at + 1, op.OverRank: first + 1, op.OverDenseRank: dense}[f])
		}}
	}
	out := []overCall{shift(op.OverLag, 1, false), shift(op.OverLag, 3, true), rank(op.OverRowNumber), rank(op.OverRank), rank(op.OverDenseRank)}
	if lead {
		out = append(out, shift(op.OverLead, 2, true))
	}
	return out
}

// refOver is rows with the values of calls.
func refOver(spec op.OverSpec, calls []overCall, rows []string) []string {
	parts, names := map[string][]string{}, []string{}
	for _, r := range rows {
		var key []string
		for _, c := range spec.Partition {
			key = append(key, strings.Fields(r)[c])
		}
		k := strings.Join(key, " ")
		if parts[k] == nil {
			names = append(names, k)
		}
		parts[k] = append(parts[k], r)
	}
	var out []string
	for _, name := range names {
		var w refWindow
		for _, r := range refSort(op.SortSpec{Order: spec.Order, Count: math.MaxInt64}, parts[name]) {
			w.rows = append(w.rows, refOverRow{strings.Fields(r)})
		}
		w.same = func(i, k int) bool {
			for _, o := range spec.Order {
				if w.rows[i].cells[o.Column] != w.rows[k].cells[o.Column] {
					return false
				}
			}
			return true
		}
		for i, r := range w.rows {
			w.at = i
			row := strings.Join(r.cells, " ")
			for _, c := range calls {
				row += " " + c.value(refFrame(spec, c.call.Frame, w), w)
			}
			out = append(out, row)
		}
	}
	return out
}

// refFrame are the rows of a frame.
func refFrame(spec op.OverSpec, f op.Frame, w refWindow) []refOverRow {
	var out []refOverRow
	for k, r := range w.rows {
		in := true
		for end, b := range []op.FrameBound{f.Start, f.End} {
			before := 0 // where row k stands, as seen from the bound
			switch {
			case b.Kind == op.UnboundedPreceding:
				before = 1
			case b.Kind == op.UnboundedFollowing:
				before = -1
			case f.Rows:
				to := w.at
				if b.Kind == op.Preceding {
					to -= int(b.Rows)
				} else if b.Kind == op.Following {
					to += int(b.Rows)
				}
				before = k - to
			case b.Kind == op.CurrentRow:
				if before = k - w.at; k == w.at || samePeers(w, k) {
					before = 0
				}
			default:
				before = refDistance(spec, b, w.rows[w.at].cells, r.cells, k-w.at)
			}
			if end == 0 && before < 0 || end == 1 && before > 0 {
				in = false
			}
		}
		if in {
			out = append(out, r)
		}
	}
	return out
}

func samePeers(w refWindow, k int) bool {
	step := 1
	if k > w.at {
		step = -1
	}
	for i := k; i != w.at; i += step {
		if !w.same(min(i, i+step), max(i, i+step)) {
			return false
		}
	}
	return true
}

// refDistance says where a row stands as seen from a place at a distance from another.
func refDistance(spec op.OverSpec, b op.FrameBound, from, to []string, places int) int {
	key := spec.Order[0]
	x, xok := refInt(from[key.Column])
	y, yok := refInt(to[key.Column])
	switch {
	case xok != yok:
		return places
	case !xok:
		return 0
	}
	d := b.Rows
	if (b.Kind == op.Preceding) != key.Desc {
		d = -d
	}
	c := 0
	if y < x+d {
		c = -1
	} else if y > x+d {
		c = 1
	}
	if key.Desc {
		c = -c
	}
	return c
}

func bound(kind op.FrameBoundKind, n int64) op.FrameBound { return op.FrameBound{Kind: kind, Rows: n} }

func overRow(r *rand.Rand, at string) string {
	return fmt.Sprintf("%s %s %s %s %s %s", maybe(r, r.IntN(3)), at, maybe(r, r.IntN(9)-4), maybe(r, float64(r.IntN(9))/2), maybe(r, pick(r, "a", "bb", "c")), maybe(r, r.IntN(2) == 0))
}

func TestOverTime(t *testing.T) {
	t.Parallel()
	unbounded, current := bound(op.UnboundedPreceding, 0), bound(op.CurrentRow, 0)
	past := []op.Frame{
		{Start: unbounded, End: current},
		{Rows: true, Start: unbounded, End: current},
		{Rows: true, Start: bound(op.Preceding, 3), End: current},
		{Start: bound(op.Preceding, 6), End: current},
		{Rows: true, Start: bound(op.Preceding, 4), End: bound(op.Preceding, 2)},
		{Rows: true, Start: unbounded, End: bound(op.Preceding, 1)},
		{Start: unbounded, End: bound(op.Preceding, 4)},
		{Start: bound(op.Preceding, 5), End: bound(op.Preceding, 2)},
		{Start: current, End: current},
	}
	future := []op.Frame{
		{Rows: true, Start: bound(op.Preceding, 2), End: bound(op.Following, 2)},
		{Start: bound(op.Preceding, 3), End: bound(op.Following, 4)},
		{Start: unbounded, End: bound(op.Following, 3)},
		{Rows: true, Start: unbounded, End: bound(op.Following, 1)},
		{Rows: true, Start: bound(op.Following, 1), End: bound(op.Following, 2)},
		{Start: current, End: bound(op.Following, 5)},
	}
	tests := []struct {
		name      string
		calls     []overCall
		partition []int
		more      bool // further keys
		byRows    bool
		behind    int64 // rows that are waited for
		ahead     int64
	}{
		{name: "past", calls: overCalls(past), partition: []int{0}},
		{name: "unbounded", calls: overCalls(past[:2]), partition: []int{0}, more: true},
		{name: "rows", calls: overCalls(past[2:3]), partition: []int{0}, byRows: true},
		{name: "range", calls: overCalls([]op.Frame{past[3], past[7], past[8]})},
		{name: "sliding rows", calls: slidingCalls(past[2]), partition: []int{0}, byRows: true},
		{name: "sliding range", calls: slidingCalls(past[3]), partition: []int{0}},
		{name: "sliding far", calls: append(slidingCalls(op.Frame{Start: bound(op.Preceding, 30), End: current}), placeCalls(false)[2:]...)},
		{name: "sliding many rows", calls: append(slidingCalls(op.Frame{Rows: true, Start: bound(op.Preceding, 20), End: current}), overCalls(past[:2])...)},
		{name: "places", calls: placeCalls(false), partition: []int{0}, more: true},
		{name: "lead", calls: placeCalls(true), partition: []int{0}, behind: 2},
		{name: "future", calls: overCalls(future), partition: []int{0}, behind: 2, ahead: 5},
		{name: "near future", calls: overCalls(append(future[1:3:3], past[0], past[2])), partition: []int{0}, ahead: 4},
	}
	for _, test := range tests {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%s %d", test.name, seed), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(seed, 11))
				spec := op.OverTimeSpec{Event: true, Watermark: 6}
				spec.Types, spec.Partition, spec.Order = overInput.Types()[:6], test.partition, []op.SortKey{{Column: 1}}
				if test.more {
					spec.Order = append(spec.Order, op.SortKey{Column: 2, Desc: true, NullsLast: true})
				}
				for _, c := range test.calls {
					spec.Calls = append(spec.Calls, c.call)
				}
				in := overEvents(r, 7, 24)
				got := exectest.Run(t, exectest.Case{
					New:       func() (exec.Operator, error) { return op.NewOverTime(spec) },
					Kinds:     [][]vector.Kind{overInput.Kinds()},
					Events:    in.events,
					NotNull:   [][]int{{6}},
					KeepNulls: true,
				})
				accepted, lost := in.accepted(spec.OverSpec, test.byRows)
				values := map[string][]string{} // by row without values, in order
				for _, row := range refOver(spec.OverSpec, test.calls, texts(accepted)) {
					values[strings.Join(strings.Fields(row)[:6], " ")] = append(values[strings.Join(strings.Fields(row)[:6], " ")], row)
				}
				for e := range in.marks {
					want := in.due(spec.OverSpec, accepted, e, test.behind, test.ahead, test.calls)
					if diff := got.Epochs[e].Table.Diff(exectest.NewTable(want...)); diff != "" {
						t.Fatalf("seed %d: after epoch %d the table differs by%s", seed, e+1, diff)
					}
				}
				late := 0
				for _, e := range got.Epochs {
					for _, n := range e.Sides[exec.Late] {
						late += n
					}
				}
				if late != lost || lost == 0 {
					t.Errorf("seed %d: %d rows were late, want %d", seed, late, lost)
				}
				for _, change := range got.Changes() {
					if !strings.HasPrefix(change, "+I ") {
						t.Errorf("seed %d: %s is no insertion", seed, change)
					}
				}
			})
		}
	}
}

// overScript is rows that come in some disorder, with watermarks.
type overScript struct {
	events []exectest.Event
	rows   [][]overTimed // by epoch
	marks  []int64       // at the end of epochs
}

type overTimed struct {
	text     string
	at, mark int64
	epoch    int
}

func overEvents(r *rand.Rand, epochs, rows int) overScript {
	var s overScript
	now, mark := int64(100), int64(math.MinInt64)
	for e := range epochs {
		var out []overTimed
		var lines []string
		for range r.IntN(rows) {
			now += int64(r.IntN(3))
			at := now - int64(r.IntN(9))
			row := overTimed{text: overRow(r, fmt.Sprint(at)), at: at, mark: mark, epoch: e}
			mark = max(mark, at-4)
			out, lines = append(out, row), append(lines, fmt.Sprintf("%s %d", row.text, row.mark))
		}
		s.rows, s.marks = append(s.rows, out), append(s.marks, mark)
		s.events = append(s.events, exectest.Rows(0, lines...))
		if mark > math.MinInt64 {
			s.events = append(s.events, exectest.Watermark(0, exec.Watermark(mark)))
		}
		s.events = append(s.events, exectest.Mark())
	}
	s.events = append(s.events, exectest.Watermark(0, exec.EndWatermark), exectest.End(0), exectest.Mark())
	s.rows, s.marks = append(s.rows, nil), append(s.marks, math.MaxInt64)
	return s
}

func texts(rows []overTimed) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.text
	}
	return out
}

// accepted are the rows that are not late, and how many are.
func (s overScript) accepted(spec op.OverSpec, byRows bool) (out []overTimed, lost int) {
	for _, rows := range s.rows {
		for _, r := range rows {
			late := r.at <= r.mark
			if byRows {
				late = slices.ContainsFunc(out, func(o overTimed) bool {
					return o.at <= r.mark && o.at >= r.at && (len(spec.Partition) == 0 || strings.Fields(o.text)[0] == strings.Fields(r.text)[0])
				})
			}
			if late {
				lost++
				continue
			}
			out = append(out, r)
		}
	}
	return out, lost
}

// due are the rows that are emitted when an epoch ends. A row waits for so many rows
// behind it and for what is ahead in time.
func (s overScript) due(spec op.OverSpec, accepted []overTimed, epoch int, behind, ahead int64, calls []overCall) []string {
	parts := map[string][]overTimed{}
	var names []string
	for _, r := range accepted {
		k := ""
		if len(spec.Partition) > 0 {
			k = strings.Fields(r.text)[0]
		}
		if parts[k] == nil {
			names = append(names, k)
		}
		parts[k] = append(parts[k], r)
	}
	var out []string
	for _, name := range names {
		rows := refOver(spec, calls, texts(parts[name]))
		ordered := 0 // rows that are in order by now
		for _, r := range parts[name] {
			if r.epoch <= epoch && r.at <= s.marks[epoch] {
				ordered++
			}
		}
		for i, row := range rows[:ordered] {
			at, _ := refInt(strings.Fields(row)[1])
			if s.marks[epoch] == math.MaxInt64 || i+int(behind) < ordered && at+ahead <= s.marks[epoch] {
				out = append(out, row)
				continue
			}
			break
		}
	}
	return out
}
