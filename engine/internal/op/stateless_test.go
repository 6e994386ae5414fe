package op_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func TestCalc(t *testing.T) {
	t.Parallel()
	s := schema("a bigint", "s string", "b bigint")
	cond := apply("<", column(s, "a"), integer(3))
	tests := map[string]struct {
		pred  expr.Expr
		projs []expr.Expr
		want  func(f []string) (string, bool)
	}{
		"filter": {cond, []expr.Expr{column(s, "b"), column(s, "s"), column(s, "b")}, func(f []string) (string, bool) {
			a, err := strconv.Atoi(f[0])
			return f[2] + " " + f[1] + " " + f[2], err == nil && a < 3
		}},
		"project": {nil, []expr.Expr{apply("+", column(s, "a"), column(s, "b")), column(s, "a")}, func(f []string) (string, bool) {
			a, err1 := strconv.Atoi(f[0])
			b, err2 := strconv.Atoi(f[2])
			if err1 != nil || err2 != nil {
				return "NULL " + f[0], true
			}
			return fmt.Sprintf("%d %s", a+b, f[0]), true
		}},
		"both": {cond, []expr.Expr{apply("*", column(s, "a"), integer(2)), column(s, "s")}, func(f []string) (string, bool) {
			a, err := strconv.Atoi(f[0])
			return fmt.Sprintf("%d %s", 2*a, f[1]), err == nil && a < 3
		}},
		"nothing": {apply("<", integer(2), integer(1)), []expr.Expr{column(s, "a")}, func([]string) (string, bool) { return "", false }},
		"all":     {apply("<", integer(1), integer(2)), []expr.Expr{column(s, "a")}, func(f []string) (string, bool) { return f[0], true }},
		"const":   {cond, []expr.Expr{integer(7)}, func(f []string) (string, bool) { a, err := strconv.Atoi(f[0]); return "7", err == nil && a < 3 }},
		"no columns": {cond, nil, func(f []string) (string, bool) {
			a, err := strconv.Atoi(f[0])
			return "", err == nil && a < 3
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(3, 4))
			in := updates(r, 4, 30, func() string {
				return fmt.Sprintf("%s %s %s", maybe(r, r.IntN(6)), maybe(r, pick(r, "x", "yy")), maybe(r, r.IntN(100)))
			})
			got := exectest.Run(t, exectest.Case{
				New:    func() (exec.Operator, error) { return op.NewCalc(test.pred, test.projs) },
				Kinds:  [][]vector.Kind{s.Kinds()},
				Events: events(r, in),
			})
			for e := range in {
				var want []string
				for _, change := range in[e] {
					f := strings.Fields(change)
					if row, ok := test.want(f[1:]); ok {
						want = append(want, strings.TrimSpace(f[0]+" "+row))
					}
				}
				changesEqual(t, got.Epochs[e].Changes, want...)
			}
		})
	}
}

// TestCalcSharesColumns checks that a column which is passed through is not copied.
func TestCalcSharesColumns(t *testing.T) {
	s := schema("a bigint")
	c, err := op.NewCalc(apply("<", column(s, "a"), integer(9)), []expr.Expr{column(s, "a")})
	if err != nil {
		t.Fatal(err)
	}
	p := vector.NewPool()
	rt := exec.NewRuntime(p, nil, func() int64 { return 0 }, nil, nil)
	if err := c.Open(context.Background(), rt); err != nil {
		t.Fatal(err)
	}
	b := exectest.NewBatch(p, s.Kinds(), "1", "2")
	defer b.Release()
	out := func(got *vector.Batch) error {
		if got.Col(0) != b.Col(0) {
			t.Error("the column was copied")
		}
		return nil
	}
	if err := c.Process(0, b, emit(out)); err != nil {
		t.Fatal(err)
	}
}

// emit is an output that calls a function.
type emit func(*vector.Batch) error

func (e emit) Emit(b *vector.Batch) error { return e(b) }

func (emit) Advance(exec.Watermark) error { return nil }

func TestUnion(t *testing.T) {
	t.Parallel()
	s := schema("a bigint")
	got := exectest.Run(t, exectest.Case{
		New:   func() (exec.Operator, error) { return op.NewUnion(2), nil },
		Kinds: [][]vector.Kind{s.Kinds(), s.Kinds()},
		Events: []exectest.Event{
			exectest.Rows(0, "1"), exectest.Rows(1, "-U 2", "+U 3"), exectest.Watermark(0, 7), exectest.Mark(),
			exectest.Watermark(1, 9), exectest.Mark(), exectest.Watermark(0, 11), exectest.Mark(),
		},
	})
	changesEqual(t, got.Changes(), "+I 1", "-U 2", "+U 3")
	for i, want := range []exec.Watermark{exec.NoWatermark, 7, 9} {
		if w := got.Epochs[i].Watermark; w != want {
			t.Errorf("after epoch %d the watermark is %v, want %v", i+1, w, want)
		}
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	s := schema("a bigint")
	for _, skip := range []int64{0, 1, 5, 9, 10, 11} {
		for _, count := range []int64{0, 1, 4, 10, 12} {
			c := exectest.Case{New: func() (exec.Operator, error) { return op.NewLimit(skip, count), nil }, Kinds: [][]vector.Kind{s.Kinds()}, KeepNulls: true}
			var want []string
			for i := range int64(10) {
				c.Events = append(c.Events, exectest.Rows(0, fmt.Sprint(i)))
				if i == 4 {
					c.Events = append(c.Events, exectest.Mark())
				}
				if i >= skip && i < skip+count {
					want = append(want, fmt.Sprint("+I ", i))
				}
			}
			changesEqual(t, exectest.Run(t, c).Changes(), want...)
			c.Events = []exectest.Event{exectest.Rows(0, "0", "1", "2", "3", "4", "5", "6", "7", "8", "9")}
			changesEqual(t, exectest.Run(t, c).Changes(), want...)
		}
	}
}

func TestValues(t *testing.T) {
	types := []sqltype.Type{sqltype.BigIntType, sqltype.StringType}
	text := func(s string) expr.Expr { return &expr.Literal{Value: s, T: sqltype.StringType} }
	v := op.NewValues(types, [][]expr.Expr{
		{integer(1), text("a")}, {apply("+", integer(1), integer(1)), &expr.Literal{T: sqltype.NullType}}, {integer(3), text("c")},
	})
	splits, err := v.Splits(context.Background())
	if err != nil || len(splits) != 1 {
		t.Fatal(splits, err)
	}
	p := vector.NewCheckedPool()
	var got []string
	var position []byte
	for range 3 {
		r, err := v.Open(context.Background(), splits[0], connector.Scan{Columns: []int{1, 0}}, position)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Read(context.Background(), p, 2)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, exectest.Text(b)...)
		b.Release()
		position = r.Position()
	}
	changesEqual(t, got, "+I a 1", "+I NULL 2", "+I c 3")
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
	if _, err := v.Open(context.Background(), splits[0], connector.Scan{}, []byte{9}); errs.CodeOf(err) != errs.State {
		t.Errorf("%v", err)
	}
}

func TestSinkChangelog(t *testing.T) {
	t.Parallel()
	s := schema("a bigint")
	c := exectest.Case{
		New:    func() (exec.Operator, error) { return op.NewSinkChangelog("t", sqltype.UpsertMode), nil },
		Kinds:  [][]vector.Kind{s.Kinds()},
		Events: []exectest.Event{exectest.Rows(0, "+I 1", "-U 1"), exectest.Rows(0, "+U 2", "-D 2"), exectest.Rows(0, "-U 1")},
	}
	changesEqual(t, exectest.Run(t, c).Changes(), "+I 1", "+U 2", "-D 2")
	c.New = func() (exec.Operator, error) { return op.NewSinkChangelog("t", sqltype.AppendMode), nil }
	for _, row := range []string{"-U 1", "+U 1", "-D 1"} {
		if _, err := drive(t, c, "1", row); errs.CodeOf(err) != errs.Changelog || !strings.Contains(err.Error(), "table t") {
			t.Errorf("%v", err)
		}
	}
	if got, err := drive(t, c, "1"); err != nil || len(got) != 1 {
		t.Error(got, err)
	}
	c.New = func() (exec.Operator, error) { return op.NewSinkChangelog("t", sqltype.RetractMode), nil }
	if got, err := drive(t, c, "-U 1"); err != nil || len(got) != 1 {
		t.Error(got, err)
	}
}

func TestNotNull(t *testing.T) {
	t.Parallel()
	s := schema("a bigint", "b string")
	c := exectest.Case{
		New: func() (exec.Operator, error) {
			return op.NewNotNull(op.NotNullSpec{Table: "t", Columns: []int{1}, Names: []string{"b"}}), nil
		},
		Kinds:  [][]vector.Kind{s.Kinds()},
		Events: []exectest.Event{exectest.Rows(0, "NULL x", "-D 1 NULL")}, KeepNulls: true,
	}
	changesEqual(t, exectest.Run(t, c).Changes(), "+I NULL x", "-D 1 NULL")
	if _, err := drive(t, c, "1 x", "+U 1 NULL"); errs.CodeOf(err) != errs.Data || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("%v", err)
	}
}
