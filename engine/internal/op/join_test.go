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

var (
	leftInput  = schema("k bigint", "s string", "v bigint")
	rightInput = schema("name string", "id bigint", "w bigint")
)

// joinTest is a way to join leftInput and rightInput.
type joinTest struct {
	left, right []string // key columns
	nullSafe    []bool
	residual    bool // v <= w
	output      []int
}

func (j joinTest) spec(leftUpdating, rightUpdating bool) op.JoinSpec {
	s := op.JoinSpec{
		Left:   op.JoinSide{Types: leftInput.Types(), Updating: leftUpdating},
		Right:  op.JoinSide{Types: rightInput.Types(), Updating: rightUpdating},
		Output: j.output, NullSafe: j.nullSafe,
	}
	for i := range j.left {
		s.Left.Keys = append(s.Left.Keys, leftInput.Index(j.left[i]))
		s.Right.Keys = append(s.Right.Keys, rightInput.Index(j.right[i]))
	}
	if j.residual {
		both := append(append(leftInput[:0:0], leftInput...), rightInput...)
		s.Residual = apply("<=", column(both, "v"), column(both, "w"))
	}
	return s
}

// refJoin is what the join of two tables gives.
func (j joinTest) refJoin(left, right exectest.Table) exectest.Table {
	out := exectest.Table{}
	spec := j.spec(true, true)
	for _, l := range rowsOf(left) {
	pairs:
		for _, r := range rowsOf(right) {
			for i, k := range spec.Left.Keys {
				if a, b := l[k], r[spec.Right.Keys[i]]; a == "NULL" && (j.nullSafe == nil || !j.nullSafe[i]) || a != b {
					continue pairs
				}
			}
			if j.residual {
				v, err1 := strconv.Atoi(l[2])
				w, err2 := strconv.Atoi(r[2])
				if err1 != nil || err2 != nil || v > w {
					continue
				}
			}
			pair := append(append([]string(nil), l...), r...)
			if j.output != nil {
				var some []string
				for _, c := range j.output {
					some = append(some, pair[c])
				}
				pair = some
			}
			out[strings.Join(pair, " ")]++
		}
	}
	return out
}

func TestJoinReference(t *testing.T) {
	t.Parallel()
	tests := map[string]joinTest{
		"bigint":       {left: []string{"k"}, right: []string{"id"}},
		"string":       {left: []string{"s"}, right: []string{"name"}},
		"two":          {left: []string{"s", "k"}, right: []string{"name", "id"}},
		"null safe":    {left: []string{"k"}, right: []string{"id"}, nullSafe: []bool{true}},
		"one safe":     {left: []string{"s", "k"}, right: []string{"name", "id"}, nullSafe: []bool{true, false}},
		"residual":     {left: []string{"k"}, right: []string{"id"}, residual: true},
		"output":       {left: []string{"k"}, right: []string{"id"}, residual: true, output: []int{5, 1, 0, 1}},
		"no columns":   {left: []string{"k"}, right: []string{"id"}, output: []int{}},
		"every pair":   {},
		"every filter": {residual: true},
	}
	seed := uint64(0)
	for name, test := range tests {
		for mode := range 4 {
			seed++
			seed := seed
			leftUpdating, rightUpdating := mode&1 != 0, mode&2 != 0
			t.Run(fmt.Sprintf("%s/updating=%t,%t", name, leftUpdating, rightUpdating), func(t *testing.T) {
				t.Parallel()
				testJoin(t, seed, test, leftUpdating, rightUpdating)
			})
		}
	}
}

func testJoin(t *testing.T, seed uint64, test joinTest, leftUpdating, rightUpdating bool) {
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	side := func(updating bool, row func() string) script {
		if updating {
			return updates(r, 6, 30, row)
		}
		return appends(r, 6, 20, row)
	}
	left := side(leftUpdating, func() string {
		return fmt.Sprintf("%s %s %s", maybe(r, r.IntN(5)), maybe(r, pick(r, "x", "y", "zz")), maybe(r, r.IntN(6)))
	})
	right := side(rightUpdating, func() string {
		return fmt.Sprintf("%s %s %s", maybe(r, pick(r, "x", "y", "w")), maybe(r, r.IntN(5)), maybe(r, r.IntN(6)))
	})
	got := exectest.Run(t, exectest.Case{
		New:    func() (exec.Operator, error) { return op.NewJoin(test.spec(leftUpdating, rightUpdating)) },
		Kinds:  [][]vector.Kind{leftInput.Kinds(), rightInput.Kinds()},
		Events: events(r, left, right),
	})
	ls, rs := left.tables(), right.tables()
	for e := range ls {
		if diff := got.Epochs[e].Table.Diff(test.refJoin(ls[e], rs[e])); diff != "" {
			t.Fatalf("after epoch %d the pairs differ by%s", e+1, diff)
		}
	}
	if got.Inconsistent != 0 {
		t.Errorf("%d inconsistencies in a consistent input", got.Inconsistent)
	}
}

func newJoin(test joinTest, leftUpdating, rightUpdating bool, events ...exectest.Event) exectest.Case {
	return exectest.Case{
		New:       func() (exec.Operator, error) { return op.NewJoin(test.spec(leftUpdating, rightUpdating)) },
		Kinds:     [][]vector.Kind{leftInput.Kinds(), rightInput.Kinds()},
		Events:    events,
		KeepNulls: true,
	}
}

func TestJoinKinds(t *testing.T) {
	t.Parallel()
	onID := joinTest{left: []string{"k"}, right: []string{"id"}, output: []int{1, 3}}
	got := exectest.Run(t, newJoin(onID, true, true,
		exectest.Rows(0, "+I 1 a 0"),
		exectest.Rows(1, "+I A 1 0", "-U A 1 0", "+U B 1 0"),
		exectest.Rows(0, "-U 1 a 0", "+U 1 b 0", "-D 1 b 0"),
		exectest.Mark(),
		// The removal of a right row comes first: the pair that it makes with a new
		// left row is taken back by the addition.
		exectest.Rows(1, "-D C 2 0"), exectest.Rows(0, "+I 2 c 0"), exectest.Rows(1, "+I C 2 0"),
		exectest.Mark(),
		exectest.Rows(1, "+I D 3 0", "+I D 3 0"), exectest.Rows(0, "+U 3 d 0"),
		exectest.Mark(),
	))
	changesEqual(t, got.Epochs[0].Changes, "+I a A", "-U a A", "+U a B", "-U a B", "+U b B", "-D b B")
	changesEqual(t, got.Epochs[1].Changes, "-D c C", "+I c C")
	changesEqual(t, got.Epochs[2].Changes, "+U d D", "+U d D")
}

// A side that is Replacing keeps the last row of each identity, and takes a -D without
// the other columns; its -U say nothing.
func TestJoinReplaces(t *testing.T) {
	t.Parallel()
	spec := joinTest{left: []string{"k"}, right: []string{"id"}, output: []int{0, 1, 2, 3, 5}}.spec(true, true)
	spec.Left.Replacing, spec.Left.Identity = true, []int{1}
	spec.Right.Replacing = true
	c := newJoin(joinTest{}, true, true,
		exectest.Rows(0, "+I 1 a 0", "+I 1 b 0", "+I NULL a 0", "+I 2 a 0"),
		exectest.Rows(1, "+I A 1 0", "+U A 1 5", "+U D 9 0"),
		exectest.Mark(),
		exectest.Rows(0, "-U 1 b 0", "+U 1 b 7", "-D 1 a NULL", "-D 1 c NULL", "-U 2 a 0"),
		exectest.Mark(),
		exectest.Rows(1, "+U B 1 6"), exectest.Mark(),
		exectest.Rows(1, "-D NULL 1 NULL"), exectest.Rows(0, "+U 1 b 8"), exectest.Mark(),
		exectest.Rows(1, "+I C 1 1", "+I C 2 1"),
	)
	c.New = func() (exec.Operator, error) { return op.NewJoin(spec) }
	got := exectest.Run(t, c)
	changesEqual(t, got.Epochs[0].Changes, "+I 1 b 0 A 0", "+I 1 a 0 A 0", "+U 1 b 0 A 5", "+U 1 a 0 A 5")
	changesEqual(t, got.Epochs[1].Changes, "+U 1 b 7 A 5", "-D 1 a NULL A 5", "-D 1 c NULL A 5")
	changesEqual(t, got.Epochs[2].Changes, "+U 1 b 7 B 6")
	changesEqual(t, got.Epochs[3].Changes, "-D 1 b 7 NULL NULL")
	changesEqual(t, got.Epochs[4].Changes, "+I 1 b 8 C 1", "+I 2 a 0 C 1")
	if got.Inconsistent != 0 {
		t.Errorf("%d inconsistencies", got.Inconsistent)
	}
}

func TestJoinInconsistent(t *testing.T) {
	t.Parallel()
	onID := joinTest{left: []string{"k"}, right: []string{"id"}}
	got := exectest.Run(t, newJoin(onID, true, true, exectest.Rows(0, "-D 1 a 0"), exectest.Mark(), exectest.Rows(1, "+I A 1 0"), exectest.Mark(),
		exectest.Rows(0, "+I 1 a 0")))
	if got.Inconsistent != 1 {
		t.Errorf("%d inconsistencies", got.Inconsistent)
	}
	if rows := got.Last().Table.Rows(); len(rows) != 0 {
		t.Errorf("%q", rows)
	}
}

// TestJoinEnd ends a side: rows of the other still find its rows.
func TestJoinEnd(t *testing.T) {
	t.Parallel()
	onID := joinTest{left: []string{"k"}, right: []string{"id"}, output: []int{1, 3}}
	got := exectest.Run(t, newJoin(onID, false, true,
		exectest.Rows(0, "1 a 0", "2 b 0"), exectest.Rows(1, "A 1 0"), exectest.End(0), exectest.Mark(),
		exectest.Rows(1, "-D A 1 0", "B 2 0", "B 2 0"), exectest.Mark(),
		exectest.Rows(1, "-D B 2 0"), exectest.End(1),
	))
	changesEqual(t, got.Changes(), "+I a A", "-D a A", "+I b B", "+I b B", "-D b B")
	if got.Inconsistent != 0 {
		t.Errorf("%d inconsistencies", got.Inconsistent)
	}
}

// TestJoinChunks makes more pairs of one row than fit a batch.
func TestJoinChunks(t *testing.T) {
	t.Parallel()
	var rows []string
	for range vector.Target + 100 {
		rows = append(rows, "+I A 1 0") // one row, many times
	}
	for i := range 200 {
		rows = append(rows, fmt.Sprintf("+I A 1 %d", i))
	}
	onID := joinTest{left: []string{"k"}, right: []string{"id"}, output: []int{1, 5}}
	for _, updating := range []bool{false, true} {
		o, err := op.NewJoin(onID.spec(false, updating))
		d := newDriver(t, o, err)
		right := exectest.NewBatch(d.pool, rightInput.Kinds(), rows...)
		left := exectest.NewBatch(d.pool, leftInput.Kinds(), "1 a 0", "1 b 0")
		if err := d.process(1, right); err != nil {
			t.Fatal(err)
		}
		if err := d.process(0, left); err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, n := range d.sizes {
			total += n
			if n > vector.Target {
				t.Errorf("a batch of %d rows", n)
			}
		}
		if total != 2*len(rows) {
			t.Errorf("%d pairs, want %d", total, 2*len(rows))
		}
	}
}

func TestJoinWatermark(t *testing.T) {
	t.Parallel()
	got := exectest.Run(t, newJoin(joinTest{}, false, false,
		exectest.Watermark(0, 10), exectest.Mark(), exectest.Watermark(1, 5), exectest.Mark(), exectest.End(0), exectest.Mark(), exectest.End(1)))
	for i, want := range []exec.Watermark{exec.NoWatermark, 5, 5, exec.EndWatermark} {
		if w := got.Epochs[i].Watermark; w != want {
			t.Errorf("after epoch %d the watermark is %v, want %v", i+1, w, want)
		}
	}
}
