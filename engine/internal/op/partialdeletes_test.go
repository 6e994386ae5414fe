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

// A -D by key has no values to compute with: 1 / v would fail, and gives NULL.
func TestCalcOfPartialDeletes(t *testing.T) {
	t.Parallel()
	s := schema("k bigint", "v bigint", "s string")
	projs := []expr.Expr{
		column(s, "k"), apply("/", integer(12), column(s, "v")), apply("+", column(s, "k"), integer(1)), column(s, "s"), apply("||", column(s, "s"), column(s, "s")),
	}
	run := func(events ...exectest.Event) []string {
		return exectest.Run(t, exectest.Case{
			New: func() (exec.Operator, error) {
				c, err := op.NewCalc(apply(">", column(s, "k"), integer(0)), projs)
				if err == nil {
					c.DeletesByKey([]int{0}, projs)
				}
				return c, err
			},
			Kinds: [][]vector.Kind{s.Kinds()}, Events: events, KeepNulls: true,
		}).Changes()
	}
	changesEqual(t, run(
		exectest.Rows(0, "+I 1 4 a", "-D 2 0 b", "+U 3 6 c", "-D 0 0 x", "-D 1 NULL NULL"), exectest.Mark(),
		exectest.Rows(0, "-D 5 0 z"), exectest.Mark(), exectest.Rows(0, "6 1 f"),
	), "+I 1 3 2 a aa", "-D 2 NULL 3 b NULL", "+U 3 2 4 c cc", "-D 1 NULL 2 NULL NULL", "-D 5 NULL 6 z NULL", "+I 6 12 7 f ff")
}

func TestFillDeletes(t *testing.T) {
	t.Parallel()
	s := schema("k bigint", "s string", "v bigint", "w bigint")
	types := s.Types()
	for _, c := range []int{1, 2} {
		types[c] = types[c].Required()
	}
	got := exectest.Run(t, exectest.Case{
		New:   func() (exec.Operator, error) { return op.NewFillDeletes(types), nil },
		Kinds: [][]vector.Kind{s.Kinds()}, KeepNulls: true,
		Events: []exectest.Event{exectest.Rows(0, "+I 1 a 2 NULL", "-D 1 NULL NULL NULL", "-D 2 b NULL 3"), exectest.Mark(), exectest.Rows(0, "-D 4 d 4 4")},
	})
	changesEqual(t, got.Changes(), "+I 1 a 2 NULL", "-D 1 '' -1 NULL", "-D 2 b -1 3", "-D 4 d 4 4")
}

// Every type has a filler, also inside of rows.
func TestFillers(t *testing.T) {
	t.Parallel()
	types := []sqltype.Type{
		sqltype.BoolType, sqltype.TinyType, sqltype.SmallType, sqltype.IntType, sqltype.BigIntType, sqltype.FloatType, sqltype.DoubleType, sqltype.DecimalOf(4, 2),
		sqltype.StringType, sqltype.BytesType, sqltype.DateType, sqltype.TimestampOf(6), sqltype.ArrayOf(sqltype.IntType),
		sqltype.MapOf(sqltype.StringType.Required(), sqltype.IntType),
		sqltype.RowOf(sqltype.Column{Name: "a", Type: sqltype.IntType.Required()}, sqltype.Column{Name: "b", Type: sqltype.IntType}),
	}
	p := vector.NewCheckedPool()
	kinds := make([]vector.Kind, len(types))
	for i := range types {
		types[i] = types[i].Required()
		kinds[i] = types[i].Kind()
	}
	b := vector.NewBuilder(p, kinds)
	for i := range kinds {
		b.Col(i).AppendNull()
	}
	b.EndRow(vector.Delete)
	in := b.Finish()
	o := op.NewFillDeletes(types)
	if err := o.Open(t.Context(), exec.NewRuntime(p, nil, nil, nil, nil)); err != nil {
		t.Fatal(err)
	}
	err := o.Process(0, in, emit(func(out *vector.Batch) error {
		for i, typ := range types {
			if out.Col(i).IsNull(0) {
				t.Errorf("%v has no filler", typ)
			}
		}
		if row := out.Col(len(types) - 1); vector.Values[int32](row.Child(0))[0] != -1 || !row.Child(1).IsNull(0) {
			t.Error("the fields of a row have other fillers")
		}
		return nil
	}))
	if err != nil {
		t.Error(err)
	}
	in.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}
