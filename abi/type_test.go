package abi

import (
	"strings"
	"testing"
)

func TestType(t *testing.T) {
	for _, c := range []struct {
		t             Type
		word          uint32
		width         int
		offsets, data bool
		text          string
	}{
		{TypeOf(Boolean), 1, 0, false, true, "BOOLEAN"},
		{TypeOf(TinyInt), 2, 1, false, true, "TINYINT"},
		{TypeOf(SmallInt), 3, 2, false, true, "SMALLINT"},
		{TypeOf(Integer), 4, 4, false, true, "INT"},
		{TypeOf(BigInt), 5, 8, false, true, "BIGINT"},
		{TypeOf(Float), 6, 4, false, true, "FLOAT"},
		{TypeOf(Double), 7, 8, false, true, "DOUBLE"},
		{DecimalType(38, 10), 0x0a2608, 16, false, true, "DECIMAL(38, 10)"},
		{DecimalType(1, 1), 0x010108, 16, false, true, "DECIMAL(1, 1)"},
		{TypeOf(Date), 9, 4, false, true, "DATE"},
		{TimeType(Second), 0x00a, 4, false, true, "TIME(0)"},
		{TimeType(Millisecond), 0x10a, 4, false, true, "TIME(3)"},
		{TimeType(Microsecond), 0x20a, 8, false, true, "TIME(6)"},
		{TimestampType(Millisecond, false), 0x0010b, 8, false, true, "TIMESTAMP(3)"},
		{TimestampType(Nanosecond, true), 0x1030b, 8, false, true, "TIMESTAMP_LTZ(9)"},
		{TypeOf(String), 12, 0, true, true, "STRING"},
		{TypeOf(Binary), 13, 0, true, true, "BYTES"},
		{TypeOf(IntervalMonth), 14, 4, false, true, "INTERVAL YEAR TO MONTH"},
		{TypeOf(IntervalDay), 15, 8, false, true, "INTERVAL DAY TO SECOND"},
		{TypeOf(Array), 16, 0, true, false, "ARRAY"},
		{TypeOf(Map), 17, 0, true, false, "MAP"},
		{TypeOf(Row), 18, 0, false, false, "ROW"},
	} {
		if uint32(c.t) != c.word || c.t.Width() != c.width || c.t.HasOffsets() != c.offsets || c.t.HasData() != c.data || c.t.String() != c.text {
			t.Errorf("%s: %#x, %d bytes, offsets %v, data %v, %s", c.text, uint32(c.t), c.t.Width(), c.t.HasOffsets(), c.t.HasData(), c.t)
		}
		if err := c.t.Validate(); err != nil {
			t.Error(err)
		}
	}
	if d := DecimalType(20, 6); d.ID() != Decimal || d.Precision() != 20 || d.Scale() != 6 {
		t.Error(d)
	}
	if ts := TimestampType(Microsecond, true); ts.Unit() != Microsecond || !ts.LTZ() {
		t.Error(ts)
	}
	for _, bad := range []Type{
		0, 19, 255, TypeOf(BigInt) | 1<<8, TypeOf(BigInt) | 1<<16, TypeOf(BigInt) | 1<<24, DecimalType(0, 0), DecimalType(39, 0),
		DecimalType(5, 6), DecimalType(5, 2) | 1<<31, TimeType(4), TimeType(1) | 1<<16, TimestampType(4, false),
		TimestampType(1, false) | 2<<16, TypeOf(Row) | 1<<8,
	} {
		if err := bad.Validate(); err == nil {
			t.Errorf("%#x is valid", uint32(bad))
		}
		if s := bad.String(); !strings.HasPrefix(s, "TYPE(0x") {
			t.Error(s)
		}
	}
}

func TestShape(t *testing.T) {
	leaf := Shape{Type: TypeOf(BigInt)}
	nested := leaf
	for range MaxLevels - 1 {
		nested = Shape{TypeOf(Array), []Shape{nested}}
	}
	for _, c := range []struct {
		s       Shape
		columns int
		want    string
	}{
		{leaf, 1, ""},
		{nested, MaxLevels, ""},
		{Shape{TypeOf(Array), []Shape{nested}}, MaxLevels + 1, "nested deeper than 8 levels"},
		{Shape{TypeOf(Map), []Shape{leaf, leaf}}, 3, ""},
		{Shape{TypeOf(Row), []Shape{leaf, {TypeOf(Array), []Shape{leaf}}, leaf}}, 5, ""},
		{Shape{TypeOf(Row), nil}, 1, "has 0 children, not 1"},
		{Shape{TypeOf(Map), []Shape{leaf}}, 2, "has 1 children, not 2"},
		{Shape{TypeOf(Array), []Shape{leaf, leaf}}, 3, "has 2 children, not 1"},
		{Shape{TypeOf(BigInt), []Shape{leaf}}, 2, "has 1 children, not 0"},
		{Shape{TypeOf(Array), []Shape{{Type: 99}}}, 2, "is no type of version 1"},
	} {
		if n := c.s.Columns(); n != c.columns {
			t.Errorf("%v: %d columns", c.s, n)
		}
		if err := c.s.Validate(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.s, err, c.want)
		}
	}
}

// FuzzType: a valid word is made of its parts, and says one thing only.
func FuzzType(f *testing.F) {
	for _, w := range []uint32{5, 0x0a2608, 0x1030b, 0x20a, 18, 0xffffffff} {
		f.Add(w)
	}
	f.Fuzz(func(t *testing.T, w uint32) {
		x := Type(w)
		_ = x.String()
		if x.Validate() != nil {
			return
		}
		y := TypeOf(x.ID())
		switch x.ID() {
		case Decimal:
			y = DecimalType(x.Precision(), x.Scale())
		case Time:
			y = TimeType(x.Unit())
		case Timestamp:
			y = TimestampType(x.Unit(), x.LTZ())
		}
		if x != y {
			t.Errorf("%#x, %#x", w, uint32(y))
		}
		if n := x.Width(); n != 0 && (x.HasOffsets() || !x.HasData()) {
			t.Errorf("%v: width %d", x, n)
		}
	})
}
