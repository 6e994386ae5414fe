package expr

import (
	"testing"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func array(items ...Expr) Expr { return call("ARRAY", items...) }
func mapOf(items ...Expr) Expr { return call("MAP", items...) }
func rowOf(items ...Expr) Expr { return call("ROW", items...) }
func field(row Expr, i int64) Expr {
	return call(function.Field, row, &Literal{Value: i, T: sqltype.IntType.Required()})
}
func item(of, at Expr) Expr { return call(function.Item, of, at) }
func nullOf(t sqltype.Type) Expr {
	return Null(t, errs.Position{})
}

// column0 keeps an expression from being constant: it is 1, 2 and 3.
func column0() Expr { return &Column{Name: "c", T: sqltype.BigIntType.Required()} }

func TestNested(t *testing.T) {
	ints := sqltype.ArrayOf(sqltype.BigIntType)
	ab := sqltype.RowOf(sqltype.Column{Name: "a", Type: sqltype.BigIntType.Required()}, sqltype.Column{Name: "b", Type: sqltype.StringType})
	for _, tt := range []struct {
		e               Expr
		text, want, typ string
	}{
		{array(bigint(1), nullOf(sqltype.NullType), bigint(3)), "ARRAY[1, NULL, 3]", "[1, NULL, 3]", "ARRAY<BIGINT> NOT NULL"},
		{mapOf(str("b"), bigint(1), str("a"), bigint(2), str("b"), bigint(3)), "MAP['b', 1, 'a', 2, 'b', 3]", "{a=2, b=3}", "MAP<STRING NOT NULL, BIGINT NOT NULL> NOT NULL"},
		{rowOf(bigint(1), str("x"), array(bigint(2))), "ROW(1, 'x', ARRAY[2])", "(1, x, [2])", "ROW<EXPR$0 BIGINT NOT NULL, EXPR$1 STRING NOT NULL, EXPR$2 ARRAY<BIGINT NOT NULL> NOT NULL> NOT NULL"},
		{field(rowOf(column0(), str("x")), 1), "ROW(c, 'x').EXPR$1", "x", "STRING NOT NULL"},
		{field(nullOf(ab), 0), "NULL.a", "NULL", "BIGINT"},
		{field(cast(rowOf(bigint(7), bigint(8)), ab), 1), "CAST(ROW(7, 8) AS ROW<a BIGINT NOT NULL, b STRING NOT NULL>).b", "8", "STRING NOT NULL"},
		{item(array(bigint(5), bigint(6)), bigint(2)), "ARRAY[5, 6][2]", "6", "BIGINT"},
		{item(array(bigint(5), bigint(6)), bigint(3)), "ARRAY[5, 6][3]", "NULL", "BIGINT"},
		{item(array(bigint(5)), nullOf(sqltype.BigIntType)), "ARRAY[5][NULL]", "NULL", "BIGINT"},
		{item(nullOf(ints), column0()), "NULL[c]", "NULL", "BIGINT"},
		{item(mapOf(str("a"), bigint(1), str("c"), bigint(2)), str("c")), "MAP['a', 1, 'c', 2]['c']", "2", "BIGINT"},
		{item(mapOf(str("a"), bigint(1), str("c"), bigint(2)), str("b")), "MAP['a', 1, 'c', 2]['b']", "NULL", "BIGINT"},
		{call("CARDINALITY", array(bigint(1), bigint(1))), "CARDINALITY(ARRAY[1, 1])", "2", "INT NOT NULL"},
		{call("CARDINALITY", nullOf(ints)), "CARDINALITY(NULL)", "NULL", "INT"},
		{call("ELEMENT", array(str("x"))), "ELEMENT(ARRAY['x'])", "x", "STRING"},
		{call("ARRAY_CONTAINS", array(bigint(1), nullOf(sqltype.BigIntType)), nullOf(sqltype.NullType)), "ARRAY_CONTAINS(ARRAY[1, NULL], NULL)", "TRUE", "BOOLEAN NOT NULL"},
		{call("ARRAY_CONTAINS", array(bigint(1)), bigint(2)), "ARRAY_CONTAINS(ARRAY[1], 2)", "FALSE", "BOOLEAN NOT NULL"},
		{call("=", rowOf(bigint(1), nullOf(sqltype.BigIntType)), rowOf(bigint(1), nullOf(sqltype.BigIntType))), "ROW(1, NULL) = ROW(1, NULL)", "TRUE", "BOOLEAN NOT NULL"},
		{call("<>", array(bigint(1), bigint(2)), array(bigint(1))), "ARRAY[1, 2] <> ARRAY[1]", "TRUE", "BOOLEAN NOT NULL"},
		{call("=", nullOf(ints), array(bigint(1))), "NULL = ARRAY[1]", "NULL", "BOOLEAN"},
		{call("IS NOT DISTINCT FROM", nullOf(ints), nullOf(ints)), "NULL IS NOT DISTINCT FROM NULL", "TRUE", "BOOLEAN NOT NULL"},
		{call("IN", array(bigint(2)), array(bigint(1)), array(bigint(2))), "ARRAY[2] IN (ARRAY[1], ARRAY[2])", "TRUE", "BOOLEAN NOT NULL"},
		{call("COALESCE", nullOf(ints), array(bigint(1))), "COALESCE(NULL, ARRAY[1])", "[1]", "ARRAY<BIGINT> NOT NULL"},
		{call("IF", call(">", column0(), bigint(0)), array(bigint(1)), nullOf(ints)), "IF(c > 0, ARRAY[1], NULL)", "[1]", "ARRAY<BIGINT>"},
		{cast(mapOf(str("2"), bigint(1), str("10"), bigint(2)), sqltype.MapOf(sqltype.IntType, sqltype.StringType)), "CAST(MAP['2', 1, '10', 2] AS MAP<INT NOT NULL, STRING NOT NULL>)", "{2=1, 10=2}", "MAP<INT NOT NULL, STRING NOT NULL> NOT NULL"},
		{cast(array(str("1"), nullOf(sqltype.StringType)), ints), "CAST(ARRAY['1', NULL] AS ARRAY<BIGINT>)", "[1, NULL]", "ARRAY<BIGINT> NOT NULL"},
		{cast(rowOf(bigint(1), nullOf(sqltype.NullType)), sqltype.StringType), "CAST(ROW(1, NULL) AS STRING)", "(1, NULL)", "STRING NOT NULL"},
	} {
		if tt.e.String() != tt.text {
			t.Errorf("%s, want %s", tt.e, tt.text)
		}
		if got, err := eval(t, tt.e); got != tt.want || err != nil {
			t.Errorf("%s is %s, %v, want %s", tt.text, got, err, tt.want)
		}
		if got, err := eval(t, Fold(tt.e)); got != tt.want || err != nil {
			t.Errorf("%s folded is %s, %v, want %s", tt.text, got, err, tt.want)
		}
		if tt.e.Type().String() != tt.typ {
			t.Errorf("%s is of type %s, want %s", tt.text, tt.e.Type(), tt.typ)
		}
	}
}

func TestNestedFails(t *testing.T) {
	for _, tt := range []struct {
		e    Expr
		want string
	}{
		{cast(array(str("1"), str("x")), sqltype.ArrayOf(sqltype.IntType)), "line 1:1: [1, x] is no ARRAY<INT NOT NULL>; TRY_CAST gives NULL instead"},
		{call("ELEMENT", array(bigint(1), bigint(2))), "line 1:1: ELEMENT of an ARRAY of 2 elements; take one by its number: a[1]"},
		{mapOf(nullOf(sqltype.StringType), bigint(1)), "line 1:1: a key of a MAP is NULL"},
	} {
		if _, err := eval(t, tt.e); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.e, err, tt.want)
		}
	}
	for _, tt := range []struct {
		name string
		args []Expr
		want string
	}{
		{"<", []Expr{array(bigint(1)), array(bigint(1))}, "no operator ARRAY<BIGINT NOT NULL> < ARRAY<BIGINT NOT NULL>"},
		{"ARRAY", []Expr{bigint(1), boolean(true)}, "BIGINT and BOOLEAN have no common type"},
		{function.Item, []Expr{array(bigint(1)), bigint(0)}, "the elements of an ARRAY are numbered from 1, and this is number 0"},
		{function.Item, []Expr{bigint(1), bigint(1)}, "no operator BIGINT [] BIGINT"},
		{"CARDINALITY", []Expr{rowOf(bigint(1))}, "no function CARDINALITY(ROW<EXPR$0 BIGINT NOT NULL>)"},
	} {
		if _, err := Apply(tt.name, errs.Position{}, tt.args...); err == nil || len(err.Error()) < len(tt.want) || err.Error()[:len(tt.want)] != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// Fields and elements of columns, with NULL rows that hold values below, on all rows
// and on some.
func TestNestedColumns(t *testing.T) {
	typ := sqltype.RowOf(sqltype.Column{Name: "x", Type: sqltype.BigIntType.Required()}, sqltype.Column{Name: "l", Type: sqltype.ArrayOf(sqltype.StringType)})
	p := vector.NewCheckedPool()
	x := vector.Of[int64](p, 1, 2, 3, 4)
	lists := p.NewList(4, vector.OfStrings(p, "a", "b", "c", "d", "e"))
	copy(lists.Offsets(), []int32{0, 2, 3, 3, 5})
	rows := p.NewStruct(4, []*vector.Vector{x, lists})
	rows.NewValid(true).Clear(1)
	all := vector.NewBatch(4, []*vector.Vector{rows}, nil)
	some := all.Select(vector.Of[int32](p, 3, 1))
	r := &Column{Name: "r", T: typ}
	for _, tt := range []struct {
		e    Expr
		want []string
	}{
		{field(r, 0), []string{"1", "NULL", "3", "4"}},
		{item(field(r, 1), field(r, 0)), []string{"a", "NULL", "NULL", "NULL"}},
		{item(field(r, 1), bigint(2)), []string{"b", "NULL", "NULL", "e"}},
		{call("CARDINALITY", field(r, 1)), []string{"2", "NULL", "0", "2"}},
		{call("IS NULL", r), []string{"FALSE", "TRUE", "FALSE", "FALSE"}},
		{rowOf(r, field(r, 0)), []string{"((1, [a, b]), 1)", "(NULL, NULL)", "((3, []), 3)", "((4, [d, e]), 4)"}},
		{call("COALESCE", field(r, 1), array(str("z"))), []string{"[a, b]", "[z]", "[]", "[d, e]"}},
		{cast(r, sqltype.RowOf(sqltype.Column{Name: "p", Type: sqltype.StringType}, typ.Fields[1])), []string{"(1, [a, b])", "NULL", "(3, [])", "(4, [d, e])"}},
	} {
		ev, err := Compile(tt.e)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []*vector.Batch{all, some} {
			v, err := ev.Eval(p, b)
			if err != nil {
				t.Fatalf("%s: %v", tt.e, err)
			}
			for i := range v.Len() {
				if got := show(v, tt.e.Type(), i); got != tt.want[b.Row(i)] {
					t.Errorf("%s: row %d is %s, want %s", tt.e, b.Row(i), got, tt.want[b.Row(i)])
				}
			}
			v.Release()
		}
	}
	some.Release()
	all.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}
