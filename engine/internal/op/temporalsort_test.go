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
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

// timedInput ends with the watermark before a row, which is not passed on.
var timedInput = schema("k bigint", "at timestamp", "v int", "mark bigint!")

func timedCase(o func() exec.Operator, events []exectest.Event) exectest.Case {
	c := inputCase(timedInput, o, events)
	c.NotNull = [][]int{{3}}
	return c
}

// timedRow is a row of a timed script.
type timedRow struct {
	text     string // without the watermark
	at, mark int64
	null     bool
}

// timedRows are events of rows that come in some disorder, with watermarks, and the rows
// of each epoch with the watermark at its end.
func timedRows(r *rand.Rand, epochs, rows, keys int) (events []exectest.Event, script [][]timedRow, marks []int64) {
	now, mark := int64(100), int64(math.MinInt64)
	for range epochs {
		var texts []string
		var out []timedRow
		for range r.IntN(rows) {
			now += int64(r.IntN(4))
			row := timedRow{at: now - int64(r.IntN(10)), mark: mark, null: r.IntN(12) == 0}
			at := strconv.FormatInt(row.at, 10)
			if row.null {
				at = "NULL"
			} else {
				mark = max(mark, row.at-3)
			}
			row.text = fmt.Sprintf("%d %s %s", r.IntN(keys), at, maybe(r, r.IntN(3)))
			out = append(out, row)
			texts = append(texts, fmt.Sprintf("%s %d", row.text, row.mark))
		}
		script, marks = append(script, out), append(marks, mark)
		events = append(events, exectest.Rows(0, texts...))
		if mark > math.MinInt64 {
			events = append(events, exectest.Watermark(0, exec.Watermark(mark)))
		}
		events = append(events, exectest.Mark())
	}
	return append(events, exectest.Watermark(0, exec.EndWatermark), exectest.End(0), exectest.Mark()), append(script, nil), append(marks, math.MaxInt64)
}

func TestTemporalSort(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		spec := op.TemporalSortSpec{Types: timedInput.Types()[:3], Order: []op.SortKey{{Column: 1, NullsLast: seed == 1}, {Column: 2, Desc: true}}, Event: true, Watermark: 3}
		events, script, marks := timedRows(r, 6, 20, 4)
		got := exectest.Run(t, timedCase(func() exec.Operator { return op.NewTemporalSort(spec) }, events))
		var kept []timedRow
		emitted, lost, lostGot := 0, 0, 0
		for e, rows := range script {
			for _, row := range rows {
				if !row.null && slices.ContainsFunc(kept, func(k timedRow) bool { return !k.null && k.at >= row.at && k.at <= row.mark }) {
					lost++
					continue
				}
				kept = append(kept, row)
			}
			var due []string
			for _, row := range kept {
				if row.at <= marks[e] && !row.null || row.null && (seed != 1 || marks[e] == math.MaxInt64) {
					due = append(due, row.text)
				}
			}
			if e == 0 && marks[e] == math.MinInt64 {
				due = nil
			}
			want := refSort(op.SortSpec{Order: spec.Order, Count: math.MaxInt64}, due)
			if len(got.Epochs[e].Table.Rows()) != len(want) {
				t.Fatalf("seed %d: epoch %d has %d rows, want %d", seed, e+1, len(got.Epochs[e].Table.Rows()), len(want))
			}
			if diff := got.Epochs[e].Table.Diff(exectest.NewTable(want...)); diff != "" {
				t.Fatalf("seed %d: after epoch %d the table differs by%s", seed, e+1, diff)
			}
			emitted = len(want)
			for _, n := range got.Epochs[e].Sides[exec.Late] {
				lostGot += int(n)
			}
		}
		if emitted == 0 || lost != lostGot {
			t.Errorf("seed %d: %d rows, %d were late, want %d", seed, emitted, lostGot, lost)
		}
		last := int64(math.MinInt64)
		for _, change := range got.Changes() {
			at, err := strconv.ParseInt(strings.Fields(change)[2], 10, 64)
			if err != nil {
				continue
			}
			if at < last {
				t.Errorf("seed %d: %s after %d", seed, change, last)
			}
			last = at
		}
	}
}

func TestTemporalSortByClock(t *testing.T) {
	t.Parallel()
	s := schema("p timestamp!", "v int")
	spec := op.TemporalSortSpec{Types: s.Types(), Order: []op.SortKey{{Column: 0}, {Column: 1, Desc: true}}, Watermark: -1}
	got := exectest.Run(t, exectest.Case{
		New:   func() (exec.Operator, error) { return op.NewTemporalSort(spec), nil },
		Kinds: [][]vector.Kind{s.Kinds()},
		Events: []exectest.Event{
			exectest.Rows(0, "0 1", "0 3"), exectest.MarkAt(0),
			exectest.Rows(0, "0 2"), exectest.MarkAt(5),
			exectest.Rows(0, "5 9", "5 NULL"), exectest.MarkAt(6),
			exectest.Rows(0, "6 1"), exectest.End(0), exectest.Mark(),
		},
		NotNull:   [][]int{{0}},
		KeepNulls: true,
	})
	changesEqual(t, got.Changes(), "+I 0 3", "+I 0 2", "+I 0 1", "+I 5 NULL", "+I 5 9", "+I 6 1")
}

func TestFirstInTime(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		strict := seed > 2
		r := rand.New(rand.NewPCG(seed, 7))
		spec := op.DeduplicateSpec{Types: timedInput.Types()[:3], Key: []int{0}, Order: []op.SortKey{{Column: 1}, {Column: 2, NullsLast: true}}}
		if seed == 1 {
			spec.Order = spec.Order[:1]
		}
		events, script, marks := timedRows(r, 6, 20, 12)
		got := exectest.Run(t, timedCase(func() exec.Operator {
			return op.NewFirstInTime(op.FirstInTimeSpec{DeduplicateSpec: spec, Watermark: 3, Strict: strict})
		}, events))
		first := map[string]timedRow{}
		for e, rows := range script {
			for _, row := range rows {
				if row.null || strict && row.at <= row.mark {
					continue
				}
				k, _, _ := strings.Cut(row.text, " ")
				have, ok := first[k]
				if !ok || have.at > row.mark && refSort(op.SortSpec{Order: spec.Order, Count: 1}, []string{have.text, row.text})[0] != have.text {
					first[k] = row
				}
			}
			var want []string
			for _, row := range first {
				if row.at <= marks[e] {
					want = append(want, row.text)
				}
			}
			checkEpoch(t, got, e, want)
		}
		for _, change := range got.Changes() {
			if !strings.HasPrefix(change, "+I ") {
				t.Errorf("seed %d: %s is no insertion", seed, change)
			}
		}
	}
}
