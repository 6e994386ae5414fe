package sqltype_test

import (
	"testing"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// TestNestedText reads texts and writes them again, through Arrow as well.
func TestNestedText(t *testing.T) {
	col := func(name string, typ sqltype.Type) sqltype.Column { return sqltype.Column{Name: name, Type: typ} }
	row := sqltype.RowOf(col("a", sqltype.IntType.Required()), col("b", sqltype.MapOf(sqltype.StringType.Required(), sqltype.ArrayOf(sqltype.DoubleType))))
	for _, tt := range []struct {
		t    sqltype.Type
		kind string
		text []string // as read and written, or with " -> " between
		bad  []string
	}{
		{sqltype.ArrayOf(sqltype.IntType), "list<int32>", []string{"[]", "[1]", "[1, NULL, -3]", " [1,2 ] -> [1, 2]"}, []string{"", "[", "1", "[x]", "[1,]", "(1)", "[1]]", "[3000000000]"}},
		{sqltype.ArrayOf(sqltype.IntType.Required()), "list<int32>", []string{"[1, 2]"}, []string{"[NULL]", "[1, NULL]"}},
		{sqltype.ArrayOf(sqltype.TimestampOf(3)), "list<int64>", []string{"[2001-01-01 06:55:00, 1970-01-01 00:00:00.5]"}, []string{"[2001]"}},
		{sqltype.MapOf(sqltype.StringType, sqltype.DecimalOf(5, 2)), "map<string, decimal>", []string{"{}", "{a=1.50, b=NULL}", "{b=1,a=2,b=3} -> {a=2.00, b=3.00}"}, []string{"{a}", "{a=b}", "{NULL=1}", "{=1=2}", "[]"}},
		{sqltype.MultisetOf(sqltype.BoolType), "map<bool, int32>", []string{"{FALSE=1, TRUE=2}"}, []string{"{NULL=1, TRUE=2}", "{TRUE=NULL}", "{TRUE}"}},
		{row, "struct<int32, map<string, list<float64>>>", []string{"(1, NULL)", "(1, {x=[1.0, NULL], y=[], z=NULL})"}, []string{"()", "(1)", "(NULL, NULL)", "(1, 2)", "(1, {}, 3)"}},
		{sqltype.RowOf(), "struct<>", []string{"()"}, []string{"(1)"}},
	} {
		if got := tt.t.Kind().String(); got != tt.kind {
			t.Errorf("%v is kept as %s, want %s", tt.t, got, tt.kind)
		}
		p := vector.NewCheckedPool()
		c := vector.NewColumnBuilder(p, tt.t.Kind())
		for _, text := range tt.bad {
			if sqltype.AppendParsed(c, tt.t, []byte(text)) || c.Len() != 0 {
				t.Errorf("%q is read as %v", text, tt.t)
			}
		}
		var want []string
		for _, text := range tt.text {
			in, out := text, text
			for i := range len(text) - 3 {
				if text[i:i+4] == " -> " {
					in, out = text[:i], text[i+4:]
				}
			}
			if !sqltype.AppendParsed(c, tt.t, []byte(in)) {
				t.Fatalf("%q is no %v", in, tt.t)
			}
			want = append(want, out)
		}
		c.AppendNull()
		want = append(want, "NULL")
		v := c.Finish()
		arr := v.Arrow(tt.t.Arrow())
		back, err := vector.FromArrow(p, arr)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range want {
			if got := string(sqltype.AppendText(nil, tt.t, v, i)); got != text {
				t.Errorf("%v: %s, want %s", tt.t, got, text)
			}
			if got := string(sqltype.AppendText(nil, tt.t, back, i)); got != text {
				t.Errorf("%v: %s after Arrow, want %s", tt.t, got, text)
			}
		}
		if from, err := sqltype.FromArrow(tt.t.Arrow()); err != nil || tt.t.ID != sqltype.Multiset && !from.Equal(tt.t) || from.Kind() != tt.t.Kind() {
			t.Errorf("%v from Arrow is %v, %v", tt.t, from, err)
		}
		arr.Release()
		back.Release()
		v.Release()
		if err := p.Leaks(); err != nil {
			t.Errorf("%v: %v", tt.t, err)
		}
	}
}
