package op_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

func TestToChangelog(t *testing.T) {
	t.Parallel()
	s := schema("a bigint", "s string", "d decimal")
	codes := []op.OperationCode{{Code: "add", Kind: vector.Insert}, {Code: "add", Kind: vector.UpdateAfter}, {Code: "gone", Kind: vector.Delete}}
	for _, shown := range [][]int{nil, {}, {0}, {0, 1, 2}} {
		in := []string{"+I 1 x 2", "-U 1 x 2", "+U 1 NULL 3", "-D 1 NULL 3"}
		res := exectest.Run(t, exectest.Case{
			New:   func() (exec.Operator, error) { return op.NewToChangelog(s.Types(), codes, shown), nil },
			Kinds: [][]vector.Kind{s.Kinds()}, Events: []exectest.Event{exectest.Rows(0, in...), exectest.Mark(), exectest.Rows(0, "-U 1 x 2"), exectest.Mark()},
		})
		last := []string{"NULL", "NULL", "NULL"}
		for i, v := range []string{"1", "NULL", "3"} {
			for _, c := range shown {
				if c == i {
					last[i] = v
				}
			}
			if shown == nil {
				last[i] = v
			}
		}
		want := exectest.NewTable("+I add 1 x 2", "+I add 1 NULL 3", "+I gone "+strings.Join(last, " "))
		if diff := res.Last().Table.Diff(want); diff != "" {
			t.Errorf("shown %v:\n%s", shown, diff)
		}
	}
}

// TestFromChangelog checks that FROM_CHANGELOG takes back what TO_CHANGELOG makes.
func TestFromChangelog(t *testing.T) {
	t.Parallel()
	codes := []op.OperationCode{{Code: "i", Kind: vector.Insert}, {Code: "ub", Kind: vector.UpdateBefore}, {Code: "ua", Kind: vector.UpdateAfter}, {Code: "", Kind: vector.Delete}}
	s := schema("a bigint", "code string", "s string")
	r := rand.New(rand.NewPCG(8, 8))
	var in, want []string
	for range 50 {
		c := codes[r.IntN(len(codes))]
		a, text := maybe(r, r.IntN(9)), maybe(r, pick(r, "x", "yy"))
		code := c.Code
		if code == "" {
			code = "''"
		}
		in = append(in, "+I "+a+" "+code+" "+text)
		want = append(want, c.Kind.String()+" "+a+" "+text)
	}
	res := exectest.Run(t, exectest.Case{
		New:   func() (exec.Operator, error) { return op.NewFromChangelog(1, codes), nil },
		Kinds: [][]vector.Kind{s.Kinds()}, Events: []exectest.Event{exectest.Rows(0, in...)}, NotNull: [][]int{{1}},
	})
	if got := res.Changes(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %v, want %v", got, want)
	}
}
