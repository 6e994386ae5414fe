package sqltype_test

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func TestAppendText(t *testing.T) {
	p := vector.NewCheckedPool()
	dec := func(s string, scale int32) vector.Dec {
		d, err := decimal128.FromString(s, sqltype.MaxPrecision, scale)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	null := vector.Of[int32](p, 0)
	null.NewValid(false)
	tests := []struct {
		typ  sqltype.Type
		v    *vector.Vector
		want string
	}{
		{sqltype.BoolType, vector.Of(p, true), "TRUE"},
		{sqltype.BoolType, vector.Of(p, false), "FALSE"},
		{sqltype.NullType, vector.Of(p, false), "NULL"},
		{sqltype.IntType, null, "NULL"},
		{sqltype.TinyType, vector.Of[int8](p, -128), "-128"},
		{sqltype.SmallType, vector.Of[int16](p, 32767), "32767"},
		{sqltype.IntType, vector.Of[int32](p, 7), "7"},
		{sqltype.BigIntType, vector.Of[int64](p, math.MinInt64), "-9223372036854775808"},
		{sqltype.FloatType, vector.Of[float32](p, 0.1), "0.1"},
		{sqltype.DoubleType, vector.Of(p, 1.0), "1.0"},
		{sqltype.DoubleType, vector.Of(p, math.Copysign(0, -1)), "-0.0"},
		{sqltype.DoubleType, vector.Of(p, 0.30000000000000004), "0.30000000000000004"},
		{sqltype.DoubleType, vector.Of(p, 9999999.5), "9999999.5"},
		{sqltype.DoubleType, vector.Of(p, 1e7), "1.0E7"},
		{sqltype.DoubleType, vector.Of(p, -1.25e-9), "-1.25E-9"},
		{sqltype.DoubleType, vector.Of(p, -1e-9), "-1.0E-9"},
		{sqltype.DoubleType, vector.Of(p, 0.001), "0.001"},
		{sqltype.DoubleType, vector.Of(p, math.MaxFloat64), "1.7976931348623157E308"},
		{sqltype.DoubleType, vector.Of(p, math.NaN()), "NaN"},
		{sqltype.DoubleType, vector.Of(p, math.Inf(1)), "Infinity"},
		{sqltype.DoubleType, vector.Of(p, math.Inf(-1)), "-Infinity"},
		{sqltype.DecimalOf(10, 2), vector.Of(p, dec("1.5", 2)), "1.50"},
		{sqltype.DecimalOf(10, 2), vector.Of(p, dec("-0.05", 2)), "-0.05"},
		{sqltype.DecimalOf(10, 0), vector.Of(p, dec("42", 0)), "42"},
		{sqltype.DecimalOf(38, 38), vector.Of(p, dec("0", 38)), "0.00000000000000000000000000000000000000"},
		{sqltype.DecimalOf(38, 3), vector.Of(p, dec("-12345678901234567890123456789012345.678", 3)), "-12345678901234567890123456789012345.678"},
		{sqltype.StringType, vector.OfStrings(p, "a b"), "a b"},
		{sqltype.DateType, vector.Of[int32](p, 11323), "2001-01-01"},
		{sqltype.DateType, vector.Of[int32](p, -1), "1969-12-31"},
		{sqltype.Type{ID: sqltype.Time, Precision: 3}, vector.Of[int64](p, 3723_040), "01:02:03.04"},
		{sqltype.Type{ID: sqltype.Time}, vector.Of[int64](p, 0), "00:00:00"},
		{sqltype.TimestampOf(3), vector.Of[int64](p, 978332100_000), "2001-01-01 06:55:00"},
		{sqltype.TimestampOf(3), vector.Of[int64](p, -1), "1969-12-31 23:59:59.999"},
		{sqltype.TimestampOf(6), vector.Of[int64](p, 978332100_000010), "2001-01-01 06:55:00.00001"},
		{sqltype.TimestampOf(9), vector.Of[int64](p, 1), "1970-01-01 00:00:00.000000001"},
		{sqltype.TimestampLTZOf(3), vector.Of[int64](p, 978332100_500), "2001-01-01 06:55:00.5Z"},
		{sqltype.Type{ID: sqltype.IntervalDay}, vector.Of[int64](p, 93784_005), "+1 02:03:04.005"},
		{sqltype.Type{ID: sqltype.IntervalDay}, vector.Of[int64](p, -1000), "-0 00:00:01"},
		{sqltype.Type{ID: sqltype.IntervalMonth}, vector.Of[int32](p, 14), "+1-02"},
		{sqltype.Type{ID: sqltype.IntervalMonth}, vector.Of[int32](p, -11), "-0-11"},
	}
	for _, tt := range tests {
		if got := string(sqltype.AppendText(nil, tt.typ, tt.v, 0)); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.typ, got, tt.want)
		}
		tt.v.Release()
	}
	c := vector.NewColumnBuilder(p, vector.Bytes)
	c.AppendBytes([]byte{0x0a, 0xff})
	b := c.Finish()
	if got := string(sqltype.AppendText(nil, sqltype.BytesType, b, 0)); got != "x'0aff'" {
		t.Errorf("BYTES: got %s", got)
	}
	b.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}
