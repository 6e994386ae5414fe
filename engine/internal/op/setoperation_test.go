package op_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

var setInput = schema("k bigint", "s string", "f double")

func setCase(except, all bool, events ...exectest.Event) exectest.Case {
	spec := op.SetSpec{Types: setInput.Types(), Except: except, All: all}
	return exectest.Case{
		New:       func() (exec.Operator, error) { return op.NewSetOperation(spec), nil },
		Kinds:     [][]vector.Kind{setInput.Kinds(), setInput.Kinds()},
		Events:    events,
		KeepNulls: true,
	}
}

// refSet is the set operation on two tables, by its definition.
func refSet(except, all bool, left, right exectest.Table) exectest.Table {
	out := exectest.Table{}
	for row, l := range left {
		r := right[row]
		switch {
		case all && except:
			l -= r
		case all:
			l = min(l, r)
		case (r > 0) == except:
			l = 0
		default:
			l = 1
		}
		if l > 0 {
			out[row] = l
		}
	}
	return out
}

func TestSetOperationReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		for mode := range 4 {
			except, all := mode&1 != 0, mode&2 != 0
			t.Run(fmt.Sprintf("except=%t/all=%t/seed=%d", except, all, seed), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(seed, 6))
				row := func() string {
					return fmt.Sprintf("%s %s %s", maybe(r, r.IntN(2)), maybe(r, pick(r, "x", "y")), maybe(r, r.IntN(2)))
				}
				side := func() script {
					if r.IntN(3) == 0 {
						return appends(r, 8, 10, row)
					}
					return updates(r, 8, 30, row)
				}
				left, right := side(), side()
				c := setCase(except, all, events(r, left, right)...)
				c.KeepNulls = false
				got := exectest.Run(t, c)
				ls, rs := left.tables(), right.tables()
				for e := range ls {
					want := refSet(except, all, ls[e], rs[e])
					if diff := got.Epochs[e].Table.Diff(want); diff != "" {
						t.Fatalf("after epoch %d the table differs by%s", e+1, diff)
					}
					checkNet(t, got.Epochs[e])
				}
				if got.Inconsistent != 0 {
					t.Errorf("%d inconsistencies in a consistent input", got.Inconsistent)
				}
			})
		}
	}
}

// checkNet checks that an epoch changes no row both ways.
func checkNet(t *testing.T, e exectest.Epoch) {
	t.Helper()
	n := 0
	for _, k := range e.Net {
		n += max(k, -k)
	}
	if len(e.Changes) != n {
		t.Errorf("%d changes that come to %d: %q", len(e.Changes), n, e.Changes)
	}
}

func TestSetOperationChangelog(t *testing.T) {
	t.Parallel()
	input := []exectest.Event{
		exectest.Rows(0, "1 a 0", "1 a 0", "2 NULL -0", "3 c NaN"), exectest.Mark(),
		exectest.Rows(1, "1 a 0", "2 NULL 0"), exectest.Mark(),
		exectest.Rows(1, "-D 2 NULL 0", "1 a 0"), exectest.Mark(),
		exectest.Rows(1, "3 c NaN"), exectest.Rows(0, "-U 1 a 0", "+U 4 d 0"), exectest.Mark(),
		exectest.Rows(1, "-D 5 e 0"), exectest.Rows(0, "5 e 0"), exectest.Rows(1, "5 e 0"), exectest.Mark(),
	}
	tests := []struct {
		except, all bool
		want        [][]string // by epoch
	}{
		{true, false, [][]string{
			{"+I 1 a 0", "+I 2 NULL 0", "+I 3 c NaN"}, {"-D 1 a 0", "-D 2 NULL 0"}, {"+I 2 NULL 0"}, {"-D 3 c NaN", "+I 4 d 0"}, {"+I 5 e 0"},
		}},
		{true, true, [][]string{
			{"+I 1 a 0", "+I 1 a 0", "+I 2 NULL 0", "+I 3 c NaN"},
			{"-D 1 a 0", "-D 2 NULL 0"},
			{"-D 1 a 0", "+I 2 NULL 0"},
			{"-D 3 c NaN", "+I 4 d 0"},
			{"+I 5 e 0"},
		}},
		{false, false, [][]string{{}, {"+I 1 a 0", "+I 2 NULL 0"}, {"-D 2 NULL 0"}, {"+I 3 c NaN"}, {}}},
		{false, true, [][]string{{}, {"+I 1 a 0", "+I 2 NULL 0"}, {"-D 2 NULL 0", "+I 1 a 0"}, {"-D 1 a 0", "+I 3 c NaN"}, {}}},
	}
	for _, test := range tests {
		got := exectest.Run(t, setCase(test.except, test.all, input...))
		for e, want := range test.want {
			changesEqual(t, got.Epochs[e].Changes, want...)
		}
	}
}

func TestSetOperationInconsistent(t *testing.T) {
	t.Parallel()
	got := exectest.Run(t, setCase(true, true,
		exectest.Rows(1, "-D 1 a 0"), exectest.Rows(0, "1 a 0"), exectest.Mark(), exectest.Rows(1, "1 a 0"),
	))
	changesEqual(t, got.Changes(), "+I 1 a 0")
	if got.Inconsistent != 1 {
		t.Errorf("%d inconsistencies, want 1", got.Inconsistent)
	}
}
