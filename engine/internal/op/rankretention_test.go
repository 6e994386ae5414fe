package op_test

import (
	"slices"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

func keyValueCase(o func() exec.Operator, events []exectest.Event) exectest.Case {
	return inputCase(keyValue, o, events)
}

// A partition is forgotten with all its rows, and starts from nothing. Every row keeps it,
// also one that is not among the first.
func TestForgetPartitions(t *testing.T) {
	t.Parallel()
	spec := op.RankSpec{
		Types: keyValue.Types(), Partition: []int{0}, Order: []op.SortKey{{Column: 1, Desc: true}},
		From: 1, To: 2, ToColumn: -1, Retention: keep,
	}
	events := slices.Concat(
		at(0, "+I 1 5", "+I 1 7", "+I 2 5", "+I 3 9"),
		at(12, "+I 1 1", "+I 2 6"), // of 1 it is the third
		at(20),                     // 3 is forgotten
		at(25, "+I 3 1"),
		at(29, "+I 1 8"), // its deadline is 30
		at(31),           // 2 is
		at(44, "+I 2 1"),
		at(60, "+I 1 2"),
	)
	epochs := [][]string{
		{"+I 1 5", "+I 1 7", "+I 2 5", "+I 3 9"}, {"+I 2 6"}, nil, {"+I 3 1"}, {"-D 1 5", "+I 1 8"}, nil, {"+I 2 1"}, {"+I 1 2"},
	}
	want(t, keyValueCase(func() exec.Operator { return newRank(spec) }, events), epochs...)
	want(t, keyValueCase(func() exec.Operator { return op.NewRank(spec) }, events), epochs...)

	spec.Number = true
	numbered := [][]string{
		{"+I 1 5 2", "+I 1 7 1", "+I 2 5 1", "+I 3 9 1"},
		{"-U 2 5 1", "+U 2 6 1", "+I 2 5 2"},
		nil,
		{"+I 3 1 1"},
		{"-U 1 7 1", "-U 1 5 2", "+U 1 8 1", "+U 1 7 2"},
		nil,
		{"+I 2 1 1"},
		{"+I 1 2 1"},
	}
	want(t, keyValueCase(func() exec.Operator { return newRank(spec) }, events), numbered...)
	want(t, keyValueCase(func() exec.Operator { return op.NewRank(spec) }, events), numbered...)
}

// What takes away a forgotten row is passed over.
func TestForgetPartitionsOfUpdates(t *testing.T) {
	t.Parallel()
	spec := op.RankSpec{
		Types: keyValue.Types(), Partition: []int{0}, Order: []op.SortKey{{Column: 1, Desc: true}},
		From: 1, To: 1, ToColumn: -1, Input: op.RankUpdating, Retention: keep,
	}
	want(t, keyValueCase(func() exec.Operator { return op.NewRank(spec) }, slices.Concat(
		at(0, "+I 1 5", "+I 1 7", "+I 1 7", "+I 2 5"),
		at(15, "-D 2 5"),
		at(16, "+I 2 4"),
		at(20), // 1 is forgotten
		at(21, "-D 1 7", "+I 1 3"),
		at(22, "-D 1 3"),
		at(23, "-D 1 7", "+I 1 2"),
		at(31), // 2 is
		at(32, "-D 2 4"),
	)), []string{"+I 1 7", "+I 2 5"}, []string{"-D 2 5"}, []string{"+I 2 4"}, nil, []string{"+I 1 3"}, []string{"-D 1 3"}, []string{"+I 1 2"}, nil, nil)
}

// The first row of a key is known for a time from when it came, however many follow.
func TestForgetFirstRows(t *testing.T) {
	t.Parallel()
	spec := op.RankSpec{Types: keyValue.Types(), Partition: []int{0}, From: 1, To: 1, ToColumn: -1, Retention: keep}
	want(t, keyValueCase(func() exec.Operator { return op.NewFirstRows(spec) }, slices.Concat(
		at(0, "+I 1 5"), at(9, "+I 1 6"), at(15, "+I 2 6"), at(20), at(21, "+I 1 7", "+I 1 8"), at(24, "+I 2 9"),
	)), []string{"+I 1 5"}, nil, []string{"+I 2 6"}, nil, []string{"+I 1 7"}, nil)
}

// The last row of a key tells readers that it is still there, and is forgotten.
func TestForgetLastRows(t *testing.T) {
	t.Parallel()
	spec := op.DeduplicateSpec{Types: keyValue.Types(), Key: []int{0}, Order: []op.SortKey{{Column: 1, Desc: true}}, Last: true, Retention: keep}
	want(t, keyValueCase(func() exec.Operator { return op.NewDeduplicate(spec) }, slices.Concat(
		at(0, "+I 1 5"), at(9, "+I 1 5"), at(15, "+I 1 6", "+I 2 1"), at(29, "+I 1 7"), at(31), at(32, "+I 2 1"),
	)), []string{"+I 1 5"}, []string{"-U 1 5", "+U 1 5"}, []string{"-U 1 5", "+U 1 6", "+I 2 1"}, []string{"-U 1 6", "+U 1 7"}, nil, []string{"+I 2 1"})
}

// A row that waits for the watermark is not forgotten; its key is, when it was passed on.
func TestForgetFirstInTime(t *testing.T) {
	t.Parallel()
	spec := op.DeduplicateSpec{Types: timedInput.Types()[:3], Key: []int{0}, Order: []op.SortKey{{Column: 1}}, Retention: keep}
	want(t, exectest.Case{
		New: func() (exec.Operator, error) {
			return op.NewFirstInTime(op.FirstInTimeSpec{DeduplicateSpec: spec, Watermark: 3}), nil
		},
		Kinds:   [][]vector.Kind{timedInput.Kinds()},
		NotNull: [][]int{{3}},
		Events: slices.Concat(
			at(0, "+I 1 100 0 0"),
			[]exectest.Event{exectest.MarkAt(50), exectest.Watermark(0, 100), exectest.MarkAt(51)},
			at(55, "+I 1 101 0 100"),
			at(70),
			at(80, "+I 1 102 0 100"),
			[]exectest.Event{exectest.Watermark(0, 102), exectest.MarkAt(81)},
		),
	}, nil, nil, []string{"+I 1 100 0"}, nil, nil, nil, []string{"+I 1 102 0"})
}
