package expr

import (
	"slices"
	"testing"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Columns that the tests below name.
func colA() Expr { return &Column{Index: 0, Name: "a", T: sqltype.BigIntType} }
func colB() Expr { return &Column{Index: 1, Name: "b", T: sqltype.IntType.Required()} }
func colS() Expr { return &Column{Index: 2, Name: "s", T: sqltype.StringType} }
func colP() Expr { return &Column{Index: 3, Name: "p", T: sqltype.BoolType} }

func TestString(t *testing.T) {
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{call("+", colA(), call("*", colB(), num(2))), "a + CAST(b * 2 AS BIGINT)"},
		{call("*", call("+", colB(), num(1)), num(2)), "(b + 1) * 2"},
		{call("-", colB(), call("-", num(1), num(2))), "b - (1 - 2)"},
		{call("-", call("-", colB(), num(1)), num(2)), "b - 1 - 2"},
		{call("AND", call("OR", colP(), call("NOT", colP())), call("=", colB(), num(1))), "(p OR NOT p) AND b = 1"},
		{call("NOT", call("=", colB(), num(1))), "NOT b = 1"},
		{call("IS NULL", call("=", colB(), num(1))), "(b = 1) IS NULL"},
		{call("IS NOT DISTINCT FROM", colB(), num(1)), "b IS NOT DISTINCT FROM 1"},
		{call("LIKE", colS(), str("it's%"), str("#")), "s LIKE 'it''s%' ESCAPE '#'"},
		{call("IN", colB(), num(1), num(2)), "b IN (1, 2)"},
		{call("NEG", call("+", colB(), num(1))), "-(b + 1)"},
		{call("UPPER", colS()), "UPPER(s)"},
		{caseOf(colP(), colB(), null()), "CASE WHEN p THEN b ELSE NULL END"},
		{&Cast{Arg: colS(), T: sqltype.IntType, Try: true}, "TRY_CAST(s AS INT)"},
		{lit(true, sqltype.BoolType), "TRUE"},
		{lit(decOf(-150), sqltype.DecimalOf(5, 2)), "-1.50"},
		{lit([]byte{1, 0xab}, sqltype.BytesType), "X'01AB'"},
		{lit(int64(0), sqltype.DateType), "DATE '1970-01-01'"},
		{lit(int64(1500), sqltype.TimestampOf(3)), "TIMESTAMP '1970-01-01 00:00:01.500'"},
		{lit(int64(5000), sqltype.Type{ID: sqltype.IntervalDay}), "INTERVAL '0 00:00:05.000' DAY TO SECOND"},
		{lit(int64(-14), sqltype.Type{ID: sqltype.IntervalMonth}), "INTERVAL '-1-02' YEAR TO MONTH"},
		{&Column{Index: 4, T: sqltype.IntType}, "$4"},
		{call("+", colB(), num(-1)), "b + -1"},
	} {
		if got := c.e.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	sum, _ := function.LookupAggregate("SUM")
	a, err := NewAggregate(sum, errs.Position{}, true, colP(), colB())
	if err != nil || a.String() != "SUM(DISTINCT b) FILTER (WHERE p)" || a.T.String() != "INT" {
		t.Errorf("%v %v", a, err)
	}
	count, _ := function.LookupAggregate("COUNT")
	if a, err := NewAggregate(count, errs.Position{}, false, nil); err != nil || a.String() != "COUNT(*)" {
		t.Errorf("%v %v", a, err)
	}
	least, _ := function.LookupAggregate("MIN")
	if a, err := NewAggregate(least, errs.Position{}, true, nil, colB()); err != nil || a.Distinct {
		t.Errorf("%v %v", a, err)
	}
}

func TestFold(t *testing.T) {
	division := call("/", num(1), num(0))
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{call("+", num(1), call("*", num(2), num(3))), "7"},
		{call("+", colB(), call("*", num(2), num(3))), "b + 6"},
		{division, "1 / 0"},
		{call("=", colB(), division), "b = 1 / 0"},
		{call("AND", colP(), lit(true, sqltype.BoolType)), "p"},
		{call("AND", colP(), lit(false, sqltype.BoolType)), "FALSE"},
		{call("OR", colP(), call("=", num(1), num(1))), "TRUE"},
		{call("OR", colP(), call("=", num(1), num(2)), call("NOT", colP())), "p OR NOT p"},
		{call("AND", colP(), null()), "p AND NULL"},
		{call("=", colB(), null()), "NULL"},
		{call("IS NULL", null()), "TRUE"},
		{caseOf(call("=", num(1), num(2)), num(1), colP(), num(2), num(3)), "CASE WHEN p THEN 2 ELSE 3 END"},
		{caseOf(colP(), num(1), call("=", num(1), num(1)), num(2), num(3)), "CASE WHEN p THEN 1 ELSE 2 END"},
		{caseOf(call("=", num(1), num(1)), num(1), num(3)), "1"},
		{caseOf(null(), num(1), colB()), "b"},
		{call("IF", call("=", num(1), num(1)), colB(), num(2)), "b"},
		{call("COALESCE", null(), colB(), num(1), colB()), "COALESCE(b, 1)"},
		{call("COALESCE", null(), num(1), colB()), "1"},
		{call("COALESCE", colB(), colB()), "COALESCE(b, b)"}, // NOT NULL may be wrong above an outer join
		{cast(str("12"), sqltype.IntType), "12"},
		{cast(str("x"), sqltype.IntType), "CAST('x' AS INT)"},
		{cast(colB(), sqltype.IntType), "b"},
		{call("=", colA(), num(5)), "a = 5"},
		{call("UPPER", str("a")), "'A'"},
		{call("NOW"), "NOW()"},
		{call("UNIX_TIMESTAMP"), "UNIX_TIMESTAMP()"},
		{call("UNIX_TIMESTAMP", str("1970-01-01 00:00:01")), "1"},
	} {
		got := Fold(c.e)
		if got.String() != c.want {
			t.Errorf("%s folds to %s, want %s", c.e, got, c.want)
		}
		if !got.Type().Equal(c.e.Type()) {
			t.Errorf("%s: %s folds to %s", c.e, c.e.Type(), got.Type())
		}
	}
	if l := call("=", colA(), num(5)).(*Call).Args[1]; !l.Type().Equal(sqltype.BigIntType) || l.String() != "5" {
		t.Errorf("the 5 in a = 5 is %s of type %s", l, l.Type())
	}
	if c := call("=", &Column{T: sqltype.SmallType, Name: "x"}, num(5)); c.(*Call).Args[0].Type().ID != sqltype.SmallInt {
		t.Errorf("%s: the column is cast for a constant that fits", c)
	}
}

func TestWalk(t *testing.T) {
	e := call("AND", call("=", colA(), num(1)), call("AND", colP(), call("<", colB(), num(2))))
	if got := Columns(e); !slices.Equal(got, []int{0, 1, 3}) {
		t.Errorf("columns %v", got)
	}
	parts := Conjuncts(e)
	if len(parts) != 3 || And(parts...).String() != e.String() {
		t.Errorf("%d conjuncts: %s", len(parts), And(parts...))
	}
	if And().String() != "TRUE" || len(Conjuncts(And())) != 0 || And(colP()).String() != "p" {
		t.Error("AND of nothing or one")
	}
	moved := Remap(e, func(i int) int { return i + 10 })
	if got := Columns(moved); !slices.Equal(got, []int{10, 11, 13}) || Equal(e, moved) || !Equal(e, Remap(moved, func(i int) int { return i - 10 })) {
		t.Errorf("remapped to %v", got)
	}
	if Rewrite(e, func(e Expr) Expr { return e }) != e {
		t.Error("a rewrite that changes nothing copies")
	}
	if !Deterministic(e) || Deterministic(call("=", call("NOW"), call("NOW"))) {
		t.Error("determinism")
	}
	if Equal(num(1), bigint(1)) || !Equal(num(1), num(1)) || Equal(str("a"), str("b")) || Equal(colA(), colB()) {
		t.Error("equality")
	}
}

func TestNotNull(t *testing.T) {
	for _, c := range []struct {
		e    Expr
		want bool
	}{
		{call("+", colB(), num(1)), true},
		{call("+", colA(), num(1)), false},
		{call("COALESCE", colA(), num(1)), true},
		{call("COALESCE", colA(), colA()), false},
		{call("IS NULL", colA()), true},
		{call("AND", colP(), call("IS NULL", colA())), false},
		{call("SPLIT_INDEX", str("a"), str("b"), num(0)), false},
		{caseOf(colP(), colB(), num(1)), true},
		{caseOf(colP(), colB(), null()), false},
		{call("IF", colP(), colB(), num(1)), true},
		{call("NULLIF", colB(), num(1)), false},
		{&Cast{Arg: colB(), T: sqltype.BigIntType.Required()}, true},
	} {
		if c.e.Type().NotNull != c.want {
			t.Errorf("%s has the type %s", c.e, c.e.Type())
		}
	}
}

// batchAB has the columns a BIGINT and b INT.
func batchAB(p *vector.Pool, a []int64, b []int32) *vector.Batch {
	return vector.NewBatch(len(a), []*vector.Vector{vector.Of(p, a...), vector.Of(p, b...)}, nil)
}

func TestGuards(t *testing.T) {
	p := vector.NewCheckedPool()
	b := batchAB(p, []int64{1, 2, 3, 4}, []int32{0, 1, 0, 2})
	quotient := call("/", num(12), colB())
	isPositive := call(">", colB(), num(0))
	for _, c := range []struct {
		e    Expr
		want []string
	}{
		{caseOf(isPositive, quotient, num(-1)), []string{"-1", "12", "-1", "6"}},
		{call("IF", isPositive, quotient, null()), []string{"NULL", "12", "NULL", "6"}},
		{call("AND", isPositive, call("=", quotient, num(6))), []string{"FALSE", "FALSE", "FALSE", "TRUE"}},
		{call("OR", call("=", colB(), num(0)), call("=", quotient, num(6))), []string{"TRUE", "FALSE", "TRUE", "TRUE"}},
		{call("COALESCE", call("NULLIF", colA(), num(2)), quotient), []string{"1", "12", "3", "4"}},
	} {
		ev, err := Compile(c.e)
		if err != nil {
			t.Fatal(err)
		}
		v, err := ev.Eval(p, b)
		if err != nil {
			t.Errorf("%s: %v", c.e, err)
			continue
		}
		for i, want := range c.want {
			if got := show(v, c.e.Type(), i); got != want {
				t.Errorf("%s on row %d: %s, want %s", c.e, i, got, want)
			}
		}
		v.Release()
	}
	pr, err := CompilePredicate(call("AND", isPositive, call("=", quotient, num(6))))
	if err != nil {
		t.Fatal(err)
	}
	sel, err := pr.Select(p, b)
	if err != nil || !slices.Equal(vector.Values[int32](sel), []int32{3}) {
		t.Errorf("selected %v (%v)", sel, err)
	}
	sel.Release()
	b.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestErrorPosition(t *testing.T) {
	p := vector.NewCheckedPool()
	b := batchAB(p, []int64{1, 2}, []int32{5, 0})
	div, err := Apply("/", errs.Position{Line: 3, Column: 14}, num(12), colB())
	if err != nil {
		t.Fatal(err)
	}
	e := call("+", num(1), call("*", div, num(2)))
	ev, err := Compile(e)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ev.Eval(p, b)
	if err == nil || err.Error() != "line 3:14: division by zero: 12 / 0" || errs.CodeOf(err) != errs.Arithmetic {
		t.Errorf("%v", err)
	}
	pr, err := CompilePredicate(call(">", e, num(0)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pr.Select(p, b); err == nil || err.Error() != "line 3:14: division by zero: 12 / 0" {
		t.Errorf("%v", err)
	}
	b.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestConstantPredicates(t *testing.T) {
	p := vector.NewCheckedPool()
	b := batchAB(p, []int64{1, 2, 3}, []int32{5, 0, 1})
	for _, c := range []struct {
		e    Expr
		want int
	}{
		{Bool(true), 3},
		{Bool(false), 0},
		{null(), 0},
		{call("=", num(1), num(1)), 3},
		{call("AND", Bool(true), call("=", colA(), null())), 0},
		{call("=", num(2), colA()), 1},
		{call("<", num(1), colA()), 2},
		{call("IS NULL", colA()), 0},
		{call("IS NOT NULL", colA()), 3},
		{call("AND", call("=", call("NOW"), call("NOW")), call(">", colA(), num(1))), 2},
	} {
		pr, err := CompilePredicate(c.e)
		if err != nil {
			t.Fatal(err)
		}
		sel, err := pr.Select(p, b)
		if err != nil || sel.Len() != c.want {
			t.Errorf("%s selects %d rows (%v), want %d", c.e, sel.Len(), err, c.want)
		}
		sel.Release()
	}
	b.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}
