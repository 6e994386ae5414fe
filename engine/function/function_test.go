package function_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func TestValuesGoThere(t *testing.T) {
	noon := time.Date(2024, 2, 29, 12, 0, 0, 123456789, time.UTC)
	for _, tt := range []struct {
		typ   sqltype.Type
		given any
		want  any // nil: it does not fit
	}{
		{sqltype.BoolType, true, true},
		{sqltype.TinyType, 127, int64(127)},
		{sqltype.TinyType, 128, nil},
		{sqltype.SmallType, uint16(7), int64(7)},
		{sqltype.IntType, int64(math.MinInt32), int64(math.MinInt32)},
		{sqltype.IntType, int64(math.MaxInt32) + 1, nil},
		{sqltype.BigIntType, uint64(math.MaxInt64), int64(math.MaxInt64)},
		{sqltype.BigIntType, uint64(math.MaxUint64), nil},
		{sqltype.BigIntType, "1", nil},
		{sqltype.FloatType, float32(0.5), 0.5},
		{sqltype.DoubleType, 2, 2.0},
		{sqltype.DecimalOf(5, 2), vector.DecFromInt64(12345), vector.DecFromInt64(12345)},
		{sqltype.DecimalOf(5, 2), vector.DecFromInt64(123456), nil},
		{sqltype.StringType, "ä", "ä"},
		{sqltype.StringType, []byte("a"), nil},
		{sqltype.DateType, noon, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{sqltype.DateType, time.Unix(-1, 0).UTC(), time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)},
		{sqltype.TimestampOf(3), noon, noon.Truncate(time.Millisecond)},
		{sqltype.TimestampLTZOf(6), noon, noon.Truncate(time.Microsecond)},
		{sqltype.TimestampOf(9), noon, noon},
		{sqltype.TimestampOf(9), 5, nil},
	} {
		b := vector.NewColumnBuilder(vector.NewPool(), tt.typ.Kind())
		err := function.AppendValue(b, tt.typ, tt.given)
		if (err == nil) != (tt.want != nil) {
			t.Errorf("%v as %s: %v", tt.given, tt.typ, err)
			continue
		}
		if err != nil {
			continue
		}
		c := function.Call{N: 1, Args: []*vector.Vector{b.Finish()}, Types: []sqltype.Type{tt.typ}}
		got := c.Row(0).Value(0)
		if w, ok := tt.want.(time.Time); ok && w.Equal(got.(time.Time)) {
			continue
		}
		if got != tt.want {
			t.Errorf("%v as %s came back as %v, want %v", tt.given, tt.typ, got, tt.want)
		}
	}
	b := vector.NewColumnBuilder(vector.NewPool(), vector.Int64)
	if err := function.AppendValue(b, sqltype.BigIntType.Required(), nil); err == nil {
		t.Error("NULL was taken for BIGINT NOT NULL")
	}
}

// hidden has a field that its encoding leaves out.
type hidden struct{ n int64 }

func (h *hidden) Accumulate(function.Row) error { h.n++; return nil }
func (h *hidden) Value() (any, error)           { return h.n, nil }

func TestValidate(t *testing.T) {
	big := []sqltype.Type{sqltype.BigIntType}
	eval := function.EachRow(func(function.Row) (any, error) { return nil, nil })
	for want, f := range map[string]function.Function{
		"":                            &function.ScalarFunction{Name: "f", Returns: sqltype.IntType, Eval: eval},
		"the name is not one":         &function.ScalarFunction{Name: "my function", Returns: sqltype.IntType, Eval: eval},
		"Eval is nil":                 &function.ScalarFunction{Name: "f", Args: big, Returns: sqltype.IntType},
		"a variadic function needs":   &function.ScalarFunction{Name: "f", Variadic: true, Returns: sqltype.IntType, Eval: eval},
		"cannot be returned from Go":  &function.ScalarFunction{Name: "f", Eval: eval},
		"argument 1: NULL cannot be":  &function.ScalarFunction{Name: "f", Args: []sqltype.Type{sqltype.NullType}, Returns: sqltype.IntType, Eval: eval},
		"Create is nil":               &function.AggregateFunction{Name: "f", Args: big, Returns: sqltype.IntType},
		"the field n of *":            &function.AggregateFunction{Name: "f", Args: big, Returns: sqltype.IntType, Create: func() function.Accumulator { return &hidden{} }},
		"an aggregate cannot promise": &function.AggregateFunction{Name: "f", Args: big, Returns: sqltype.IntType.Required(), Create: func() function.Accumulator { return &weighted{} }},
	} {
		err := f.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestErrors has what users see when a function or its call is wrong.
func TestErrors(t *testing.T) {
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	one := func(name string, returns sqltype.Type, f func(function.Row) (any, error)) *function.ScalarFunction {
		return &function.ScalarFunction{Name: name, Args: []sqltype.Type{sqltype.BigIntType}, Returns: returns, Eval: function.EachRow(f)}
	}
	cause := errors.New("out of luck")
	for _, f := range []function.Function{
		one("fails", sqltype.IntType, func(function.Row) (any, error) { return nil, cause }),
		one("panics", sqltype.IntType, func(r function.Row) (any, error) { return r.Text(0), nil }),
		one("none", sqltype.IntType.Required(), func(function.Row) (any, error) { return nil, nil }),
		one("wide", sqltype.TinyType, func(r function.Row) (any, error) { return r.Int(0), nil }),
		&function.ScalarFunction{Name: "short", Args: []sqltype.Type{sqltype.BigIntType}, Returns: sqltype.IntType, Eval: func(c *function.Call) (*vector.Vector, error) {
			return c.Pool.New(vector.Int64, c.N), nil
		}},
	} {
		if err := e.RegisterFunction(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.RegisterFunction(one("FAILS", sqltype.IntType, nil)); errs.CodeOf(err) != errs.Exists {
		t.Errorf("registered twice: %v", err)
	}
	for call, want := range map[string]string{
		"fails(n)":    "line 1:8: function fails: out of luck",
		"panics(n)":   "line 1:8: function panics panicked:",
		"none(n)":     "line 1:8: function none: the result is NULL, and was declared INT NOT NULL",
		"wide(n)":     "line 1:8: function wide: the result 1000 of Go's type int64 does not fit TINYINT",
		"short(n)":    "function short returned 1 rows of int64, want 1 rows of int32",
		"fails('x')":  "line 1:8: no function fails(CHAR(1)); it takes (BIGINT)",
		"fails(n, n)": "line 1:8: no function fails(INT, INT); it takes (BIGINT)",
		"fail(n)":     "line 1:8: function fail not found; did you mean \"fails\"?",
		"db.fails(n)": "line 1:8: function db.fails not found; fails alone is one",
	} {
		q, err := e.ExecuteSQL(ctx, "SELECT "+call+" FROM (VALUES (1000)) AS t(n)")
		if err == nil {
			_, err = q.Changelog().Next(ctx)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", call, err, want)
		}
		if call == "fails(n)" && (!errors.Is(err, cause) || errs.CodeOf(err) != errs.Function) {
			t.Errorf("the cause of %v is lost", err)
		}
	}
}

// TestNonDeterministic checks that such a function is called for every row, also
// with constants, once, and not where its rows would be taken back.
func TestNonDeterministic(t *testing.T) {
	ctx := context.Background()
	calls := 0
	next := &function.ScalarFunction{
		Name: "next", Args: []sqltype.Type{sqltype.BigIntType}, Returns: sqltype.BigIntType.Required(), NonDeterministic: true,
		Eval: function.EachRow(func(r function.Row) (any, error) { calls++; return int64(calls) + r.Int(0), nil }),
	}
	e, err := engine.Open(ctx, engine.Config{Parallelism: 1, Functions: []function.Function{next}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	q, err := e.ExecuteSQL(ctx, "SELECT x, x + x FROM (SELECT next(100) AS x FROM (VALUES (1), (2), (3)) AS t(n)) WHERE x > 101")
	if err != nil {
		t.Fatal(err)
	}
	b, err := q.Changelog().Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	if calls != 3 || b.Len() != 2 {
		t.Errorf("%d calls gave %d rows, want 3 and 2", calls, b.Len())
	}
	for i := range b.Len() {
		r := b.Row(i)
		if x, twice := vector.Values[int64](b.Col(0))[r], vector.Values[int64](b.Col(1))[r]; twice != 2*x {
			t.Errorf("x is %d, x + x is %d", x, twice)
		}
	}
	_, err = e.ExecuteSQL(ctx, "SELECT next(n) FROM (SELECT COUNT(*) AS n FROM (VALUES (1), (2)) AS t(k) GROUP BY k)")
	if errs.CodeOf(err) != errs.Changelog || !strings.Contains(err.Error(), "line 1:8: next(n) gives another result when a row is taken back") {
		t.Errorf("over rows that change: %v", err)
	}
}
