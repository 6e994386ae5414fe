package op

import (
	"slices"
	"testing"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func TestCalcSeparatesUpdates(t *testing.T) {
	pool := vector.NewCheckedPool()
	schema := sqltype.Schema{{Name: "x", Type: sqltype.BigIntType}}
	x := expr.NewColumn(schema, 0, errs.Position{})
	cond, err := expr.Apply(">", errs.Position{}, x, &expr.Literal{Value: int64(10), T: sqltype.BigIntType})
	if err != nil {
		t.Fatal(err)
	}
	calc, err := NewCalc(cond, []expr.Expr{x})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, want []string }{
		{[]string{"-U 11", "+U 12"}, []string{"-U 11", "+U 12"}},
		{[]string{"-U 11", "+U 2"}, []string{"-D 11"}},
		{[]string{"-U 1", "+U 12"}, []string{"+I 12"}},
		{[]string{"-U 1", "+U 2"}, nil},
		{[]string{"+I 1", "-U 11", "+U 2", "-U 3", "+U 13", "-U 14", "+U 15", "-D 1"}, []string{"-D 11", "+I 13", "-U 14", "+U 15"}},
		{[]string{"-U 11"}, []string{"-U 11"}},
	} {
		b := exectest.NewBatch(pool, schema.Kinds(), c.in...)
		sel, err := calc.pred.Select(pool, b)
		if err != nil {
			t.Fatal(err)
		}
		calc.rt = exec.NewRuntime(pool, nil, func() int64 { return 0 }, nil, nil)
		part := calc.passed(b, sel)
		if got := exectest.Text(part); !slices.Equal(got, c.want) {
			t.Errorf("%v passes as %v, want %v", c.in, got, c.want)
		}
		part.Release()
		b.Release()
	}
	if err := pool.Leaks(); err != nil {
		t.Error(err)
	}
}
