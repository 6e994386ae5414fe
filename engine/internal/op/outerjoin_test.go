package op_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

var joinKinds = map[string]op.JoinKind{
	"left": op.LeftJoin, "right": op.RightJoin, "full": op.FullJoin, "semi": op.SemiJoin, "anti": op.AntiJoin,
}

// partners reports whether two rows are partners.
func (j joinTest) partners(l, r []string) bool {
	spec := j.spec(true, true)
	for i, k := range spec.Left.Keys {
		if a, b := l[k], r[spec.Right.Keys[i]]; a == "NULL" && (j.nullSafe == nil || !j.nullSafe[i]) || a != b {
			return false
		}
	}
	if !j.residual {
		return true
	}
	v, err1 := strconv.Atoi(l[2])
	w, err2 := strconv.Atoi(r[2])
	return err1 == nil && err2 == nil && v <= w
}

// refOuter is what an outer, semi or anti join of two tables gives.
func (j joinTest) refOuter(kind op.JoinKind, left, right exectest.Table) exectest.Table {
	out := exectest.Table{}
	add := func(l, r []string) {
		row := append(append([]string(nil), l...), r...)
		if j.output != nil {
			var some []string
			for _, c := range j.output {
				some = append(some, row[c])
			}
			row = some
		}
		out[strings.Join(row, " ")]++
	}
	nulls := []string{"NULL", "NULL", "NULL"}
	matched := map[int]bool{}
	rs := rowsOf(right)
	for _, l := range rowsOf(left) {
		found := false
		for i, r := range rs {
			if !j.partners(l, r) {
				continue
			}
			found, matched[i] = true, true
			if kind < op.SemiJoin {
				add(l, r)
			}
		}
		switch {
		case kind == op.SemiJoin && found, kind == op.AntiJoin && !found:
			add(l, nil)
		case (kind == op.LeftJoin || kind == op.FullJoin) && !found:
			add(l, nulls)
		}
	}
	for i, r := range rs {
		if (kind == op.RightJoin || kind == op.FullJoin) && !matched[i] {
			add(nulls, r)
		}
	}
	return out
}

func TestOuterJoinReference(t *testing.T) {
	t.Parallel()
	tests := map[string]joinTest{
		"bigint":       {left: []string{"k"}, right: []string{"id"}},
		"string":       {left: []string{"s"}, right: []string{"name"}},
		"one safe":     {left: []string{"s", "k"}, right: []string{"name", "id"}, nullSafe: []bool{true, false}},
		"residual":     {left: []string{"k"}, right: []string{"id"}, residual: true},
		"output":       {left: []string{"k"}, right: []string{"id"}, residual: true, output: []int{2, 1, 0, 1}},
		"no columns":   {left: []string{"k"}, right: []string{"id"}, output: []int{}},
		"every pair":   {},
		"every filter": {residual: true},
	}
	seed := uint64(0)
	for name, test := range tests {
		for kind := range joinKinds {
			for mode := range 4 {
				seed++
				seed := seed
				leftUpdating, rightUpdating, ends := mode&1 != 0, mode&2 != 0, seed%3 == 0
				t.Run(fmt.Sprintf("%s/%s/updating=%t,%t/ends=%t", name, kind, leftUpdating, rightUpdating, ends), func(t *testing.T) {
					t.Parallel()
					testOuterJoin(t, seed, test, joinKinds[kind], leftUpdating, rightUpdating, ends)
				})
			}
		}
	}
}

func testOuterJoin(t *testing.T, seed uint64, test joinTest, kind op.JoinKind, leftUpdating, rightUpdating, ends bool) {
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	side := func(updating bool, row func() string) script {
		if updating {
			return updates(r, 6, 14, row)
		}
		return appends(r, 6, 6, row)
	}
	left := side(leftUpdating, func() string {
		return fmt.Sprintf("%s %s %s", maybe(r, r.IntN(6)), maybe(r, pick(r, "x", "y", "zz")), maybe(r, r.IntN(6)))
	})
	right := side(rightUpdating, func() string {
		return fmt.Sprintf("%s %s %s", maybe(r, pick(r, "x", "y", "w")), maybe(r, r.IntN(6)), maybe(r, r.IntN(6)))
	})
	all := events(r, left, right)
	if ends { // one side ends half way
		port := r.IntN(2)
		cut := [2]script{left, right}[port]
		for e := range cut {
			if e >= 3 {
				cut[e] = nil
			}
		}
		all = events(r, left[:3], right[:3])
		all = append(all[:len(all)-1:len(all)-1], exectest.End(port), exectest.Mark())
		all = append(all, events(r, left[3:], right[3:])...)
	}
	got := exectest.Run(t, exectest.Case{
		New:    func() (exec.Operator, error) { return op.NewOuterJoin(kind, test.spec(leftUpdating, rightUpdating)) },
		Kinds:  [][]vector.Kind{leftInput.Kinds(), rightInput.Kinds()},
		Events: all,
	})
	ls, rs := left.tables(), right.tables()
	for e := range ls {
		if diff := got.Epochs[e].Table.Diff(test.refOuter(kind, ls[e], rs[e])); diff != "" {
			t.Fatalf("after epoch %d the rows differ by%s", e+1, diff)
		}
	}
	if got.Inconsistent != 0 {
		t.Errorf("%d inconsistencies in a consistent input", got.Inconsistent)
	}
	if kind == op.SemiJoin && !leftUpdating && !rightUpdating {
		for _, c := range got.Changes() {
			if !strings.HasPrefix(c, "+I") {
				t.Errorf("%s from a semi join of inputs that only add", c)
			}
		}
	}
}

// TestOuterJoinChangelog has one row in each epoch: the changes are Flink's.
func TestOuterJoinChangelog(t *testing.T) {
	t.Parallel()
	onID := joinTest{left: []string{"k"}, right: []string{"id"}, output: []int{1, 3}}
	filtered := onID
	filtered.residual = true
	tests := []struct {
		kind   op.JoinKind
		test   joinTest
		events []exectest.Event
		want   []string
	}{
		{
			op.LeftJoin, onID,
			[]exectest.Event{
				exectest.Rows(0, "+I 1 a 0"), exectest.Rows(1, "+I A 1 0"), exectest.Rows(1, "+I B 1 0"), exectest.Rows(1, "-U A 1 0"),
				exectest.Rows(1, "-D B 1 0"), exectest.Rows(0, "-U 1 a 0"), exectest.Rows(0, "+I NULL n 0"),
			},
			[]string{"+I a NULL", "-D a NULL", "+I a A", "+I a B", "-D a A", "-D a B", "+I a NULL", "-D a NULL", "+I n NULL"},
		},
		{
			op.LeftJoin, filtered, // a failed condition pads
			[]exectest.Event{exectest.Rows(1, "+I A 1 3"), exectest.Rows(0, "+I 1 a 5"), exectest.Rows(1, "+I B 1 5"), exectest.Rows(1, "-D A 1 3"), exectest.Rows(1, "-D B 1 5")},
			[]string{"+I a NULL", "-D a NULL", "+I a B", "-D a B", "+I a NULL"},
		},
		{
			op.RightJoin, onID,
			[]exectest.Event{exectest.Rows(0, "+I 1 a 0"), exectest.Rows(1, "+I A 1 0"), exectest.Rows(1, "+I B 2 0"), exectest.Rows(0, "+I 2 b 0"), exectest.Rows(0, "-D 1 a 0")},
			[]string{"+I a A", "+I NULL B", "-D NULL B", "+I b B", "-D a A", "+I NULL A"},
		},
		{
			op.FullJoin, filtered,
			[]exectest.Event{exectest.Rows(0, "+I 1 a 5"), exectest.Rows(1, "+I A 1 3"), exectest.Rows(1, "+I B 1 7"), exectest.Rows(0, "-D 1 a 5"), exectest.Rows(1, "-D B 1 7")},
			[]string{"+I a NULL", "+I NULL A", "-D a NULL", "+I a B", "-D a B", "+I NULL B", "-D NULL B"},
		},
		{
			op.SemiJoin,
			joinTest{left: onID.left, right: onID.right, output: []int{1}},
			[]exectest.Event{
				exectest.Rows(0, "+I 1 a 0"), exectest.Rows(1, "+I A 1 0"), exectest.Rows(1, "+I B 1 0"), exectest.Rows(0, "+U 1 b 0"), exectest.Rows(1, "-D A 1 0"),
				exectest.Rows(1, "-D B 1 0"), exectest.Rows(0, "+I NULL n 0"),
			},
			[]string{"+I a", "+U b", "-D b", "-D a"},
		},
		{
			op.AntiJoin,
			joinTest{left: onID.left, right: onID.right, output: []int{1}},
			[]exectest.Event{
				exectest.Rows(0, "+I 1 a 0"), exectest.Rows(1, "+I A 1 0"), exectest.Rows(1, "+I B 1 0"), exectest.Rows(1, "-D A 1 0"), exectest.Rows(1, "-D B 1 0"),
				exectest.Rows(0, "-U 1 a 0"), exectest.Rows(0, "+I NULL n 0"),
			},
			[]string{"+I a", "-D a", "+I a", "-U a", "+I n"},
		},
	}
	for _, test := range tests {
		var all []exectest.Event
		for _, e := range test.events {
			all = append(all, e, exectest.Mark())
		}
		got := exectest.Run(t, exectest.Case{
			New:       func() (exec.Operator, error) { return op.NewOuterJoin(test.kind, test.test.spec(true, true)) },
			Kinds:     [][]vector.Kind{leftInput.Kinds(), rightInput.Kinds()},
			Events:    all,
			KeepNulls: true,
		})
		changesEqual(t, got.Changes(), test.want...)
	}
}

// TestOuterJoinNet shows that partners which come and go within an epoch leave no
// trace when the going comes first.
func TestOuterJoinNet(t *testing.T) {
	t.Parallel()
	onID := joinTest{left: []string{"k"}, right: []string{"id"}, output: []int{1}}
	for _, kind := range []op.JoinKind{op.SemiJoin, op.AntiJoin} {
		got := exectest.Run(t, exectest.Case{
			New:   func() (exec.Operator, error) { return op.NewOuterJoin(kind, onID.spec(true, true)) },
			Kinds: [][]vector.Kind{leftInput.Kinds(), rightInput.Kinds()},
			Events: []exectest.Event{
				exectest.Rows(0, "+I 1 a 0"), exectest.Rows(1, "+I A 1 0"), exectest.Mark(),
				exectest.Rows(1, "-U A 1 0"), exectest.Rows(1, "+U B 1 0"), exectest.Mark(),
				exectest.Rows(1, "-D B 1 0"), exectest.Rows(1, "+I C 1 0"), exectest.Rows(1, "-D C 1 0"), exectest.Mark(),
				exectest.Rows(1, "-D D 1 0"), exectest.Rows(1, "+I D 1 0"), exectest.Mark(),
			},
			KeepNulls: true,
		})
		for e, want := range [][]string{{"+I a"}, {}, {"-D a"}, {}} {
			if kind == op.AntiJoin {
				want = [][]string{{"+I a", "-D a"}, {}, {"+I a"}, {}}[e]
			}
			changesEqual(t, got.Epochs[e].Changes, want...)
		}
	}
}
