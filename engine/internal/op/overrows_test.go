package op_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// wholeCalls are calls that look at the whole partition.
func wholeCalls() []overCall {
	peers := func(w refWindow) (first, end int) {
		first, end = w.at, w.at+1
		for first > 0 && w.same(first-1, first) {
			first--
		}
		for end < len(w.rows) && w.same(end-1, end) {
			end++
		}
		return first, end
	}
	return []overCall{
		{op.OverCall{Function: op.OverNtile, N: 3, T: sqltype.BigIntType}, func(_ []refOverRow, w refWindow) string {
			tile, left := 1, len(w.rows)
			for i := 0; ; tile++ { // the first tiles take what is left over
				size := (left + 3 - tile) / (4 - tile)
				if i += size; w.at < i {
					return fmt.Sprint(tile)
				}
				left -= size
			}
		}},
		{op.OverCall{Function: op.OverPercentRank, T: sqltype.DoubleType}, func(_ []refOverRow, w refWindow) string {
			first, _ := peers(w)
			if len(w.rows) == 1 {
				return "0"
			}
			return fmt.Sprint(float64(first) / float64(len(w.rows)-1))
		}},
		{op.OverCall{Function: op.OverCumeDist, T: sqltype.DoubleType}, func(_ []refOverRow, w refWindow) string {
			_, end := peers(w)
			return fmt.Sprint(float64(end) / float64(len(w.rows)))
		}},
	}
}

func TestOverRows(t *testing.T) {
	t.Parallel()
	unbounded, current, end := bound(op.UnboundedPreceding, 0), bound(op.CurrentRow, 0), bound(op.UnboundedFollowing, 0)
	rows := []op.Frame{
		{Rows: true, Start: unbounded, End: current},
		{Rows: true, Start: bound(op.Preceding, 2), End: bound(op.Following, 1)},
		{Rows: true, Start: bound(op.Preceding, 3), End: bound(op.Preceding, 1)},
		{Rows: true, Start: bound(op.Following, 1), End: bound(op.Following, 3)},
		{Start: unbounded, End: end},
		{Rows: true, Start: current, End: end},
	}
	ranges := []op.Frame{
		{Start: unbounded, End: current},
		{Start: bound(op.Preceding, 2), End: current},
		{Start: bound(op.Preceding, 1), End: bound(op.Following, 1)},
		{Start: bound(op.Following, 1), End: bound(op.Following, 2)},
		{Start: current, End: end},
	}
	var all []op.SortKey
	for _, c := range []int{2, 1, 3, 4, 5} {
		all = append(all, op.SortKey{Column: c, Desc: c == 1, NullsLast: c < 3})
	}
	byValue, byValueDown := []op.SortKey{{Column: 2}}, []op.SortKey{{Column: 2, Desc: true, NullsLast: true}}
	sums := func(frames []op.Frame) []overCall { return overCalls(frames)[:8] } // that do not depend on the order of peers
	tests := []struct {
		name      string
		calls     []overCall
		order     []op.SortKey
		partition []int
		updating  bool
	}{
		{"rows", overCalls(rows), all, []int{0}, true},
		{"last rows", overCalls(rows[1:3]), all, []int{0}, true},
		{"ranges", sums(ranges), byValue, []int{0}, true},
		{"ranges down", sums(ranges), byValueDown, nil, true},
		{"places", placeCalls(true), all, []int{0}, true},
		{"whole", wholeCalls(), all, []int{0}, true},
		{"no order", sums([]op.Frame{{Start: unbounded, End: current}}), nil, []int{0}, true},
		{"added rows", overCalls(rows), byValue, []int{0}, false},
		{"added last rows", overCalls(rows[1:3]), byValueDown, []int{0}, false},
		{"added ranges", overCalls(ranges), byValueDown, nil, false},
		{"added running", overCalls(ranges[:1]), byValue, []int{0}, false},
		{"added places", placeCalls(true), byValue, []int{0}, false},
		{"as they come", overCalls(rows[:3]), nil, []int{0}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			const seed = 5
			r := rand.New(rand.NewPCG(seed, 3))
			spec := op.OverRowsSpec{Updating: test.updating}
			spec.Types, spec.Partition, spec.Order = overInput.Types()[:6], test.partition, test.order
			for _, c := range test.calls {
				spec.Calls = append(spec.Calls, c.call)
			}
			row := func() string { return overRow(r, maybe(r, 100+r.IntN(3))) }
			script := appends(r, 6, 14, row)
			if test.updating {
				script = updates(r, 7, 16, row)
			}
			var events []exectest.Event
			for _, epoch := range script {
				events = append(events, exectest.Rows(0, epoch...), exectest.Mark())
			}
			got := exectest.Run(t, exectest.Case{
				New:       func() (exec.Operator, error) { return op.NewOverRows(spec) },
				Kinds:     [][]vector.Kind{overInput.Kinds()[:6]},
				Events:    events,
				KeepNulls: true,
			})
			var live []string
			for e, epoch := range script {
				for _, added := range []bool{true, false} {
					for _, line := range epoch {
						switch kind, text := line[:2], line[3:]; {
						case (kind[0] == '+') != added:
						case added:
							live = append(live, text)
						default:
							i := slices.Index(live, text)
							live = slices.Delete(live, i, i+1)
						}
					}
				}
				want := refOver(spec.OverSpec, test.calls, live)
				if diff := got.Epochs[e].Table.Diff(exectest.NewTable(want...)); diff != "" {
					t.Fatalf("seed %d: after epoch %d the table differs by%s", seed, e+1, diff)
				}
				checkNet(t, got.Epochs[e])
			}
		})
	}
}

// The kinds of the changes: rows keep theirs, and those whose values change are updated.
func TestOverRowsChangelog(t *testing.T) {
	t.Parallel()
	s := schema("k string", "v bigint")
	sum := aggregate("SUM", false, nil, column(s, "v"))
	spec := op.OverRowsSpec{Updating: true}
	spec.Types, spec.Partition, spec.Order = s.Types(), []int{0}, []op.SortKey{{Column: 1}}
	spec.Calls = []op.OverCall{{Aggregate: sum, T: sum.T, Frame: op.Frame{Rows: true, Start: bound(op.Preceding, 1), End: bound(op.CurrentRow, 0)}}}
	c := exectest.Case{
		New:   func() (exec.Operator, error) { return op.NewOverRows(spec) },
		Kinds: [][]vector.Kind{s.Kinds()},
		Events: []exectest.Event{
			exectest.Rows(0, "a 1", "a 2", "a 5", "a 6"), exectest.Mark(),
			exectest.Rows(0, "-U a 2", "+U a 3"), exectest.Mark(),
			exectest.Rows(0, "-D a 1", "+I a 0", "+I a 1"), exectest.Mark(),
			exectest.Rows(0, "-D a 9", "-D a 6"), exectest.Mark(),
		},
	}
	got := exectest.Run(t, c)
	changesEqual(t, got.Changes(), "+I a 1 1", "+I a 2 3", "+I a 5 7", "+I a 6 11",
		"-D a 2 3", "-U a 5 7", "+U a 3 4", "+U a 5 8",
		"+I a 0 0", "-D a 6 11")
	if got.Inconsistent != 1 {
		t.Errorf("%d inconsistencies, want 1", got.Inconsistent)
	}
	spec.OmitBefore = true
	got = exectest.Run(t, c)
	changesEqual(t, got.Epochs[1].Changes, "-D a 2 3", "+U a 3 4", "+U a 5 8")
}

// In processing time each row is emitted at once, and what is old is forgotten.
func TestOverTimeByClock(t *testing.T) {
	t.Parallel()
	s := schema("k string", "v bigint", "p timestamp!")
	sum := aggregate("SUM", false, nil, column(s, "v"))
	spec := op.OverTimeSpec{Watermark: -1}
	spec.Types, spec.Partition, spec.Order = s.Types(), []int{0}, []op.SortKey{{Column: 2}}
	unbounded, current := bound(op.UnboundedPreceding, 0), bound(op.CurrentRow, 0)
	for _, f := range []op.Frame{
		{Start: unbounded, End: current}, {Start: bound(op.Preceding, 5), End: current}, {Rows: true, Start: bound(op.Preceding, 1), End: current},
	} {
		spec.Calls = append(spec.Calls, op.OverCall{Aggregate: sum, T: sum.T, Frame: f})
	}
	spec.Calls = append(spec.Calls, op.OverCall{Function: op.OverLead, Args: []int{1}, N: 1, T: sqltype.BigIntType})
	events := []exectest.Event{
		exectest.Rows(0, "a 1 0", "a 2 0", "b 10 0"), exectest.MarkAt(3),
		exectest.Rows(0, "a 3 3"), exectest.MarkAt(9),
		exectest.Rows(0, "a 4 9", "b 20 9"), exectest.End(0), exectest.Mark(),
	}
	c := exectest.Case{New: func() (exec.Operator, error) { return op.NewOverTime(spec) }, Kinds: [][]vector.Kind{s.Kinds()}, Events: events, NotNull: [][]int{{2}}, KeepNulls: true}
	got := exectest.Run(t, c)
	changesEqual(t, got.Changes(), "+I a 1 0 1 1 1 2", "+I a 2 0 3 3 3 3", "+I a 3 3 6 6 5 4", "+I b 10 0 10 10 10 20", "+I a 4 9 10 4 7 NULL", "+I b 20 9 30 20 30 NULL")
	spec.Calls = spec.Calls[:3]
	got = exectest.Run(t, c)
	changesEqual(t, got.Epochs[0].Changes, "+I a 1 0 1 1 1", "+I a 2 0 3 3 3", "+I b 10 0 10 10 10")
}

// Partitions that no row touches are forgotten, and begin anew.
func TestOverRetention(t *testing.T) {
	t.Parallel()
	s := schema("k string", "v bigint", "p timestamp!")
	sum := aggregate("SUM", false, nil, column(s, "v"))
	unbounded, current := bound(op.UnboundedPreceding, 0), bound(op.CurrentRow, 0)
	spec := op.OverSpec{Types: s.Types(), Partition: []int{0}, Order: []op.SortKey{{Column: 2}}, Retention: op.Retention{Min: 10 * time.Millisecond, Max: 10 * time.Millisecond}}
	spec.Calls = []op.OverCall{
		{Aggregate: sum, T: sum.T, Frame: op.Frame{Rows: true, Start: unbounded, End: current}},
		{Aggregate: sum, T: sum.T, Frame: op.Frame{Rows: true, Start: bound(op.Preceding, 1), End: current}},
	}
	events := []exectest.Event{
		exectest.Rows(0, "a 1 0", "b 10 0"), exectest.MarkAt(3),
		exectest.Rows(0, "a 2 3"), exectest.MarkAt(9),
		exectest.Rows(0, "a 4 9", "b 20 9"), exectest.MarkAt(30),
		exectest.Rows(0, "b 40 30"), exectest.MarkAt(31),
		exectest.Rows(0, "b 80 31"), exectest.Mark(),
	}
	c := exectest.Case{
		New:   func() (exec.Operator, error) { return op.NewOverTime(op.OverTimeSpec{OverSpec: spec, Watermark: -1}) },
		Kinds: [][]vector.Kind{s.Kinds()}, Events: events, NotNull: [][]int{{2}}, KeepNulls: true,
	}
	want := []string{"+I a 1 0 1 1", "+I b 10 0 10 10", "+I a 2 3 3 3", "+I a 4 9 7 6", "+I b 20 9 30 30", "+I b 40 30 70 60", "+I b 80 31 150 120"}
	changesEqual(t, exectest.Run(t, c).Changes(), want...)
	c.Events = slices.Insert(slices.Clone(events), 6, exectest.MarkAt(50))
	want[5], want[6] = "+I b 40 30 40 40", "+I b 80 31 120 120"
	changesEqual(t, exectest.Run(t, c).Changes(), want...)
	c.New = func() (exec.Operator, error) { return op.NewOverRows(op.OverRowsSpec{OverSpec: spec, Updating: true}) }
	c.Events = append(slices.Clone(c.Events), exectest.Rows(0, "-D a 1 0", "-D b 40 30"), exectest.Mark())
	got := exectest.Run(t, c)
	changesEqual(t, got.Changes(), append(want, "-D b 40 30 40 40", "-U b 80 31 120 120", "+U b 80 31 80 80")...)
	if got.Inconsistent != 0 {
		t.Errorf("%d inconsistencies", got.Inconsistent)
	}
}
