package op_test

import (
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// nestedInput has a column of each nested type.
var nestedInput = sqltype.Schema{
	{Name: "k", Type: sqltype.BigIntType},
	{Name: "m", Type: sqltype.MapOf(sqltype.StringType.Required(), sqltype.IntType)},
	{Name: "r", Type: sqltype.RowOf(sqltype.Column{Name: "a", Type: sqltype.BigIntType.Required()}, sqltype.Column{Name: "l", Type: sqltype.ArrayOf(sqltype.StringType)})},
}

// Nested values are keys of a join, and are kept in its state: maps are equal
// whatever the order of their entries, a NULL map matches nothing.
func TestJoinNested(t *testing.T) {
	t.Parallel()
	side := op.JoinSide{Types: nestedInput.Types(), Keys: []int{1}, Updating: true}
	spec := op.JoinSpec{Left: side, Right: side, Output: []int{0, 3, 2, 5}}
	in := func(events ...exectest.Event) exectest.Case {
		return exectest.Case{
			New:       func() (exec.Operator, error) { return op.NewJoin(spec) },
			Kinds:     [][]vector.Kind{nestedInput.Kinds(), nestedInput.Kinds()},
			Events:    events,
			KeepNulls: true,
		}
	}
	rows := []exectest.Event{
		exectest.Rows(0, "+I 1 {a=1,b=NULL} (1,[x])", "+I 2 {} (2,NULL)", "+I 3 NULL (3,[])"),
		exectest.Mark(),
		exectest.Rows(1, "+I 10 {b=NULL,a=1} (10,[NULL,y])", "+I 20 {a=1} NULL", "+I 30 NULL NULL", "+I 40 {} NULL"),
		exectest.Mark(),
		exectest.Rows(0, "-D 1 {b=NULL,a=1} (1,[x])"),
		exectest.Mark(),
	}
	got := exectest.Run(t, in(rows...))
	changesEqual(t, got.Epochs[1].Changes, "+I 1 10 '(1, [x])' '(10, [NULL, y])'", "+I 2 40 '(2, NULL)' NULL")
	changesEqual(t, got.Epochs[2].Changes, "-D 1 10 '(1, [x])' '(10, [NULL, y])'")

	outer := in(rows...)
	outer.New = func() (exec.Operator, error) { return op.NewOuterJoin(op.LeftJoin, spec) }
	got = exectest.Run(t, outer)
	for e, want := range []exectest.Table{
		exectest.NewTable("+I 1 NULL '(1, [x])' NULL", "+I 2 NULL '(2, NULL)' NULL", "+I 3 NULL '(3, [])' NULL"),
		exectest.NewTable("+I 1 10 '(1, [x])' '(10, [NULL, y])'", "+I 2 40 '(2, NULL)' NULL", "+I 3 NULL '(3, [])' NULL"),
		exectest.NewTable("+I 2 40 '(2, NULL)' NULL", "+I 3 NULL '(3, [])' NULL"),
	} {
		if diff := got.Epochs[e].Table.Diff(want); diff != "" {
			t.Errorf("after epoch %d the outer join differs by%s", e+1, diff)
		}
	}
}

func TestAggregateNested(t *testing.T) {
	t.Parallel()
	for _, updating := range []bool{false, true} {
		spec := op.AggregateSpec{
			Input: nestedInput.Types(), Keys: []int{2, 1}, Updating: updating,
			Calls: []*expr.Aggregate{aggregate("SUM", false, nil, column(nestedInput, "k")), aggregate("COUNT", true, nil, column(nestedInput, "r"))},
		}
		got := exectest.Run(t, exectest.Case{
			New:   func() (exec.Operator, error) { return op.NewAggregate(spec) },
			Kinds: [][]vector.Kind{nestedInput.Kinds()},
			Events: []exectest.Event{
				exectest.Rows(0, "+I 1 {a=1,b=2} (1,[x])", "+I 2 {b=2,a=1} (1,[x])", "+I 4 NULL NULL"),
				exectest.Mark(),
				exectest.Rows(0, "+I 8 {b=2,a=1} (1,[x])", "+I 16 {a=1,b=2} (1,[x,NULL])", "+I 32 {} (1,NULL)"),
				exectest.Mark(),
			},
			KeepNulls: true,
		})
		changesEqual(t, got.Epochs[0].Changes, "+I '(1, [x])' '{a=1, b=2}' 3 1", "+I NULL NULL 4 0")
		changesEqual(t, got.Epochs[1].Changes, "-U '(1, [x])' '{a=1, b=2}' 3 1", "+U '(1, [x])' '{a=1, b=2}' 11 1",
			"+I '(1, [x, NULL])' '{a=1, b=2}' 16 1", "+I '(1, NULL)' {} 32 1")
	}
}

// Normalize and Materialize keep nested values, and see whether they change.
func TestTablesNested(t *testing.T) {
	t.Parallel()
	normal := tableCase(normalize, nestedInput, false, 0)
	normal.KeepNulls = true
	normal.Events = []exectest.Event{
		exectest.Rows(0, "+I 1 {a=1,b=2} (1,[x])", "+I 2 NULL NULL", "+I 3 {} (1,[])"),
		exectest.Mark(),
		exectest.Rows(0, "+U 1 {b=2,a=1} (1,[x])", "+U 2 {} NULL", "-D 3 NULL NULL"),
		exectest.Mark(),
	}
	got := exectest.Run(t, normal)
	changesEqual(t, got.Epochs[0].Changes, "+I 1 '{a=1, b=2}' '(1, [x])'", "+I 2 NULL NULL", "+I 3 {} '(1, [])'")
	changesEqual(t, got.Epochs[1].Changes, "-U 2 NULL NULL", "-D 3 {} '(1, [])'", "+U 2 {} NULL")

	live := tableCase(materialize, nestedInput, false, 2)
	live.KeepNulls = true
	live.Events = []exectest.Event{
		exectest.Rows(0, "+I 1 {a=1} (1,[x])", "+I 2 {} (1,[x])", "+I 3 {} NULL"),
		exectest.Mark(),
		exectest.Rows(0, "-D 2 {} (1,[x])"),
		exectest.Mark(),
	}
	got = exectest.Run(t, live)
	changesEqual(t, got.Epochs[0].Changes, "+I 2 {} '(1, [x])'", "+I 3 {} NULL")
	changesEqual(t, got.Epochs[1].Changes, "-U 2 {} '(1, [x])'", "+U 1 {a=1} '(1, [x])'")
}
