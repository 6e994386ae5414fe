package function

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/sqltype"
)

func TestRegistry(t *testing.T) {
	r := newRegistry()
	if !slices.IsSorted(r.names) {
		t.Error("names are not sorted")
	}
	for name, s := range r.scalars {
		if s.Doc == "" || strings.Contains(s.Doc, "\n") || len(s.Signatures) == 0 || s.Infer == nil {
			t.Errorf("%s lacks a line of documentation, its signatures or its types", name)
		}
		if (s.Bind == nil) != (s.Lazy != Eager) {
			t.Errorf("%s has a kernel and is lazy, or neither", name)
		}
		for _, sig := range s.Signatures {
			if !strings.HasPrefix(sig, "(") || !strings.HasSuffix(sig, ")") {
				t.Errorf("%s has the signature %s", name, sig)
			}
		}
	}
	for _, want := range []string{"ABS", "UPPER", "COUNT", "CEILING", "SUBSTR"} {
		if !slices.Contains(Names(), want) {
			t.Errorf("Names lacks %s", want)
		}
	}
	for _, no := range []string{"AND", "+", "LIKE", "IS NULL"} {
		if slices.Contains(Names(), no) {
			t.Errorf("Names has the operator %s", no)
		}
	}
	if s, ok := LookupScalar("upper"); !ok || s.Name != "UPPER" {
		t.Error("upper is not found")
	}
	if s, ok := LookupScalar("substr"); !ok || s.Name != "SUBSTRING" {
		t.Error("substr is not SUBSTRING")
	}
	if _, ok := LookupScalar("COUNT"); ok {
		t.Error("COUNT is a scalar")
	}
}

func TestCommonType(t *testing.T) {
	vc := func(n int) sqltype.Type { return sqltype.Type{ID: sqltype.Varchar, Precision: n} }
	char := func(n int) sqltype.Type { return sqltype.Type{ID: sqltype.Char, Precision: n} }
	for _, c := range []struct {
		a, b sqltype.Type
		want string
	}{
		{sqltype.IntType, sqltype.BigIntType, "BIGINT"},
		{sqltype.IntType.Required(), sqltype.BigIntType.Required(), "BIGINT NOT NULL"},
		{sqltype.IntType.Required(), sqltype.NullType, "INT"},
		{sqltype.IntType, sqltype.DecimalOf(5, 2), "DECIMAL(12, 2)"},
		{sqltype.BigIntType, sqltype.DecimalOf(38, 10), "DECIMAL(38, 10)"},
		{sqltype.DecimalOf(38, 0), sqltype.DecimalOf(38, 20), "DECIMAL(38, 0)"},
		{sqltype.FloatType, sqltype.BigIntType, "FLOAT"},
		{sqltype.FloatType, sqltype.DecimalOf(5, 2), "DOUBLE"},
		{sqltype.DoubleType, sqltype.DecimalOf(5, 2), "DOUBLE"},
		{char(1), char(3), "VARCHAR(3)"},
		{char(3), char(3), "CHAR(3)"},
		{char(5), vc(3), "VARCHAR(5)"},
		{vc(5), sqltype.StringType, "STRING"},
		{sqltype.DateType, sqltype.TimestampOf(3), "TIMESTAMP(3)"},
		{sqltype.TimestampOf(6), sqltype.TimestampOf(3), "TIMESTAMP(6)"},
		{sqltype.TimestampOf(6), sqltype.TimestampLTZOf(3), "TIMESTAMP_LTZ(6)"},
		{sqltype.IntType, sqltype.StringType, ""},
		{sqltype.BoolType, sqltype.IntType, ""},
		{sqltype.DateType, sqltype.StringType, ""},
	} {
		for _, pair := range [][2]sqltype.Type{{c.a, c.b}, {c.b, c.a}} {
			got, err := CommonType(pair[0], pair[1])
			if err != nil != (c.want == "") || err == nil && got.String() != c.want {
				t.Errorf("%s and %s: %s (%v), want %s", pair[0], pair[1], got, err, c.want)
			}
		}
	}
	rowtime := sqltype.TimestampOf(3)
	rowtime.Attr = sqltype.Rowtime
	if got, _ := CommonType(rowtime, rowtime); got.Attr != sqltype.Rowtime {
		t.Error("the union of two rowtimes is none")
	}
	if got, _ := CommonType(rowtime, sqltype.TimestampOf(3)); got.Attr != sqltype.NoTime {
		t.Error("the union of a rowtime and a timestamp is a rowtime")
	}
}

func TestCanCast(t *testing.T) {
	for _, c := range []struct {
		from, to           sqltype.Type
		explicit, implicit bool
	}{
		{sqltype.IntType, sqltype.BigIntType, true, true},
		{sqltype.BigIntType, sqltype.IntType, true, false},
		{sqltype.IntType, sqltype.StringType, true, false},
		{sqltype.StringType, sqltype.IntType, true, false},
		{sqltype.DecimalOf(10, 2), sqltype.DecimalOf(5, 1), true, true},
		{sqltype.DecimalOf(10, 2), sqltype.DoubleType, true, true},
		{sqltype.DoubleType, sqltype.DecimalOf(10, 2), true, false},
		{sqltype.IntType, sqltype.TimestampOf(3), false, false},
		{sqltype.TimestampOf(3), sqltype.BigIntType, false, false},
		{sqltype.TimestampOf(6), sqltype.TimestampOf(3), true, true},
		{sqltype.DateType, sqltype.TimestampOf(3), true, true},
		{sqltype.TimestampOf(3), sqltype.DateType, true, false},
		{sqltype.BoolType, sqltype.IntType, true, false},
		{sqltype.BytesType, sqltype.StringType, true, false},
		{sqltype.BytesType, sqltype.IntType, false, false},
		{sqltype.NullType, sqltype.DateType, true, true},
		{sqltype.StringType, sqltype.Type{ID: sqltype.Varchar, Precision: 3}, true, true},
	} {
		if CanCast(c.from, c.to, false) != c.explicit || CanCast(c.from, c.to, true) != c.implicit {
			t.Errorf("%s to %s: explicit %v, implicit %v", c.from, c.to, CanCast(c.from, c.to, false), CanCast(c.from, c.to, true))
		}
	}
}

// Every cast that CanCast allows between types with columns has a kernel, except from
// strings to intervals.
func TestBindCastIsComplete(t *testing.T) {
	all := []sqltype.Type{
		sqltype.BoolType, sqltype.TinyType, sqltype.SmallType, sqltype.IntType, sqltype.BigIntType, sqltype.FloatType, sqltype.DoubleType, sqltype.DecimalOf(10, 2),
		{ID: sqltype.Char, Precision: 3},
		sqltype.StringType,
		{ID: sqltype.Binary, Precision: 3},
		sqltype.BytesType, sqltype.DateType,
		{ID: sqltype.Time},
		sqltype.TimestampOf(3), sqltype.TimestampLTZOf(9),
		{ID: sqltype.IntervalDay},
		{ID: sqltype.IntervalMonth},
	}
	for _, from := range all {
		for _, to := range all {
			want := CanCast(from, to, false) && !(from.IsString() && isInterval(to))
			if got := bindCast(from, to, nil) != nil; got != want && !from.Equal(to) {
				t.Errorf("%s to %s: kernel %v, want %v", from, to, got, want)
			}
		}
	}
}

func TestAggregateTypes(t *testing.T) {
	for _, c := range []struct {
		name string
		arg  sqltype.Type
		want string
	}{
		{"COUNT", sqltype.StringType, "BIGINT NOT NULL"},
		{"SUM", sqltype.IntType.Required(), "INT"},
		{"SUM", sqltype.BigIntType, "BIGINT"},
		{"SUM", sqltype.DecimalOf(10, 2), "DECIMAL(38, 2)"},
		{"SUM", sqltype.StringType, ""},
		{"AVG", sqltype.IntType, "INT"},
		{"AVG", sqltype.DecimalOf(10, 2), "DECIMAL(38, 6)"},
		{"AVG", sqltype.DecimalOf(10, 8), "DECIMAL(38, 8)"},
		{"AVG", sqltype.DoubleType, "DOUBLE"},
		{"MIN", sqltype.DateType.Required(), "DATE"},
		{"MAX", sqltype.StringType, "STRING"},
	} {
		a, _ := LookupAggregate(c.name)
		_, ret, err := a.Resolve([]Arg{{Type: c.arg}})
		if err != nil != (c.want == "") || err == nil && ret.String() != c.want {
			t.Errorf("%s(%s): %s (%v), want %s", c.name, c.arg, ret, err, c.want)
		}
	}
	count, _ := LookupAggregate("count")
	if _, ret, err := count.Resolve(nil); err != nil || ret.String() != "BIGINT NOT NULL" {
		t.Errorf("COUNT(*): %s (%v)", ret, err)
	}
}

func TestTimeFormat(t *testing.T) {
	for _, bad := range []string{"yyyy 'open", "Q", "yyyy-MM-dd'T"} {
		if _, err := compileTimeFormat(bad); err == nil {
			t.Errorf("%q compiles", bad)
		}
	}
	for _, pattern := range []string{"yyyy-MM-dd HH:mm:ss.SSS", "yyyyMMddHHmmssSSS", "d MMMM yyyy h:m:s a SSS", "EEE, dd MMM yyyy kk:mm:ss SSS", "''yyyy'' DDD KK a mm ss SSS"} {
		f, err := compileTimeFormat(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, ms := range []int64{0, 1614870367089, 1582979999999, 951868799001, 43200000, -62135596800000} {
			text := f.append(nil, ms, 3)
			if back, ok := f.parse(text, 3); !ok || back != ms {
				t.Errorf("%q writes %d as %q and reads %d (%v)", pattern, ms, text, back, ok)
			}
		}
		for _, bad := range []string{"", "x", "2020", "2020-01-01 00:00:00.000x"} {
			if v, ok := f.parse([]byte(bad), 3); ok {
				t.Errorf("%q reads %q as %d", pattern, bad, v)
			}
		}
	}
}

func FuzzLike(f *testing.F) {
	f.Add("hello", "h%o_")
	f.Add("aXbXc", "%X%")
	f.Add("é", "_")
	f.Fuzz(func(t *testing.T, s, pattern string) {
		s, pattern = strings.ToValidUTF8(s, "?"), strings.ToValidUTF8(pattern, "?")
		if len(s) > 30 || len(pattern) > 12 {
			return
		}
		p, err := compileLike(pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.match([]byte(s)), slowLike([]rune(s), []rune(pattern)); got != want {
			t.Errorf("%q LIKE %q is %v, want %v", s, pattern, got, want)
		}
	})
}

// slowLike is LIKE by its definition.
func slowLike(s, p []rune) bool {
	switch {
	case len(p) == 0:
		return len(s) == 0
	case p[0] == '%':
		return slowLike(s, p[1:]) || len(s) > 0 && slowLike(s[1:], p)
	case len(s) == 0:
		return false
	}
	return (p[0] == '_' || p[0] == s[0]) && slowLike(s[1:], p[1:])
}
