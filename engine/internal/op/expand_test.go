package op_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	s := schema("k bigint", "s string", "v int")
	spec := op.ExpandSpec{Types: s.Types(), Keys: []int{1, 0}, Sets: [][]bool{{true, true}, {false, true}, {false, false}}, Forward: []int{2, 0}}
	r := rand.New(rand.NewPCG(1, 9))
	in := updates(r, 4, 30, func() string {
		return fmt.Sprintf("%s %s %s", maybe(r, r.IntN(5)), maybe(r, pick(r, "a", "b")), maybe(r, r.IntN(5)))
	})
	got := exectest.Run(t, exectest.Case{
		New:    func() (exec.Operator, error) { return op.NewExpand(spec), nil },
		Kinds:  [][]vector.Kind{s.Kinds()},
		Events: events(r, in),
	})
	for e := range in {
		want := exectest.Table{}
		for row, n := range exectest.NewTable(in[e]...) {
			f := strings.Fields(row)
			for set, keep := range spec.Sets {
				keys := []string{f[1], f[0]}
				for i := range keys {
					if !keep[i] {
						keys[i] = "NULL"
					}
				}
				want[fmt.Sprintf("%s %s %d %s %s", keys[0], keys[1], set, f[2], f[0])] += n
			}
		}
		if diff := got.Epochs[e].Net.Diff(want); diff != "" {
			t.Fatalf("the changes of epoch %d differ by%s", e+1, diff)
		}
	}
}
