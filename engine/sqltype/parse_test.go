package sqltype_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func TestAppendParsed(t *testing.T) {
	ts, lt := sqltype.TimestampOf, sqltype.TimestampLTZOf
	tm := func(p int) sqltype.Type { return sqltype.Type{ID: sqltype.Time, Precision: p} }
	for _, tt := range []struct {
		t        sqltype.Type
		in, want string // "": not a value
	}{
		{sqltype.BoolType, " True\t", "TRUE"},
		{sqltype.BoolType, "false", "FALSE"},
		{sqltype.BoolType, "1", ""},
		{sqltype.BoolType, "", ""},
		{sqltype.TinyType, "-128", "-128"},
		{sqltype.TinyType, "128", ""},
		{sqltype.SmallType, "32767", "32767"},
		{sqltype.SmallType, "-32769", ""},
		{sqltype.IntType, "+2147483647", "2147483647"},
		{sqltype.IntType, "2147483648", ""},
		{sqltype.BigIntType, "9223372036854775807", "9223372036854775807"},
		{sqltype.BigIntType, "-9223372036854775808", "-9223372036854775808"},
		{sqltype.BigIntType, "9223372036854775808", ""},
		{sqltype.BigIntType, "-9223372036854775809", ""},
		{sqltype.BigIntType, "99999999999999999999", ""},
		{sqltype.BigIntType, "18446744073709551617", ""},
		{sqltype.BigIntType, "0000000000000000000000007", "7"},
		{sqltype.BigIntType, "-0", "0"},
		{sqltype.BigIntType, "", ""},
		{sqltype.BigIntType, "-", ""},
		{sqltype.BigIntType, "1_000", ""},
		{sqltype.BigIntType, "1.0", ""},
		{sqltype.BigIntType, "1 2", ""},
		{sqltype.FloatType, "0.1", "0.1"},
		{sqltype.FloatType, "1e39", ""},
		{sqltype.DoubleType, "1e308", "1.0E308"},
		{sqltype.DoubleType, "1e309", ""},
		{sqltype.DoubleType, "NaN", "NaN"},
		{sqltype.DoubleType, "-Infinity", "-Infinity"},
		{sqltype.DoubleType, ".5", "0.5"},
		{sqltype.DoubleType, "0x1p4", ""},
		{sqltype.DoubleType, "1_0", ""},
		{sqltype.DoubleType, "", ""},
		{sqltype.DecimalOf(5, 2), "123.45", "123.45"},
		{sqltype.DecimalOf(5, 2), "-.5", "-0.50"},
		{sqltype.DecimalOf(5, 2), "5.", "5.00"},
		{sqltype.DecimalOf(5, 2), "999.994", "999.99"},
		{sqltype.DecimalOf(5, 2), "999.995", ""},
		{sqltype.DecimalOf(5, 2), "1.005", "1.01"},
		{sqltype.DecimalOf(5, 2), "-1.005", "-1.01"},
		{sqltype.DecimalOf(5, 2), "1000", ""},
		{sqltype.DecimalOf(5, 2), "1e2", "100.00"},
		{sqltype.DecimalOf(5, 2), "12345e-2", "123.45"},
		{sqltype.DecimalOf(5, 2), "0e99", "0.00"},
		{sqltype.DecimalOf(5, 2), "1e-99", "0.00"},
		{sqltype.DecimalOf(5, 2), "1e999999", ""},
		{sqltype.DecimalOf(5, 2), "1e", ""},
		{sqltype.DecimalOf(5, 2), ".", ""},
		{sqltype.DecimalOf(5, 2), "1.2.3", ""},
		{sqltype.DecimalOf(5, 2), "x", ""},
		{sqltype.DecimalOf(5, 2), "", ""},
		{sqltype.DecimalOf(38, 0), "99999999999999999999999999999999999999", "99999999999999999999999999999999999999"},
		{sqltype.DecimalOf(38, 0), "99999999999999999999999999999999999999.5", ""},
		{sqltype.DecimalOf(38, 18), "-12345678901234567890.123456789012345678", "-12345678901234567890.123456789012345678"},
		{sqltype.DecimalOf(18, 18), "0.999999999999999999", "0.999999999999999999"},
		{sqltype.DecimalOf(18, 18), "1", ""},
		{sqltype.StringType, " a ", " a "},
		{sqltype.StringType, "", " "},
		{sqltype.StringType, "\xff", ""},
		{sqltype.Type{ID: sqltype.Char, Precision: 2}, "äö", "äö"},
		{sqltype.Type{ID: sqltype.Char, Precision: 2}, "abc", ""},
		{sqltype.BytesType, "AAEC", "x'000102'"},
		{sqltype.BytesType, "AAE", ""},
		{sqltype.Type{ID: sqltype.Binary, Precision: 2}, "AAEC", ""},
		{sqltype.DateType, "2024-02-29", "2024-02-29"},
		{sqltype.DateType, "2023-02-29", ""},
		{sqltype.DateType, "1900-02-29", ""},
		{sqltype.DateType, "2000-02-29", "2000-02-29"},
		{sqltype.DateType, "0001-01-01", "0001-01-01"},
		{sqltype.DateType, "0000-03-01", "0000-03-01"},
		{sqltype.DateType, "9999-12-31", "9999-12-31"},
		{sqltype.DateType, "2024-13-01", ""},
		{sqltype.DateType, "2024-00-01", ""},
		{sqltype.DateType, "2024-04-31", ""},
		{sqltype.DateType, "2024-1-1", ""},
		{sqltype.DateType, "2024-01-01 ", "2024-01-01"},
		{sqltype.DateType, "2024-01-01x", ""},
		{sqltype.DateType, "2024/01/01", ""},
		{tm(3), "12:34", "12:34:00"},
		{tm(3), "23:59:59.9999", "23:59:59.999"},
		{tm(9), "00:00:00.000000001", "00:00:00.000000001"},
		{tm(3), "24:00", ""},
		{tm(3), "12:60", ""},
		{tm(3), "12:34:60", ""},
		{tm(3), "12:34:56.", ""},
		{tm(3), "1:23", ""},
		{ts(3), "2024-02-29 12:34:56.789", "2024-02-29 12:34:56.789"},
		{ts(3), "2024-02-29T12:34", "2024-02-29 12:34:00"},
		{ts(3), "2024-02-29", "2024-02-29 00:00:00"},
		{ts(6), "1969-12-31 23:59:59.000001", "1969-12-31 23:59:59.000001"},
		{ts(9), "2262-04-11 23:47:16.854775807", "2262-04-11 23:47:16.854775807"},
		{ts(9), "2262-04-11 23:47:16.854775808", ""},
		{ts(9), "2300-01-01", ""},
		{ts(3), "2024-02-29x12:34", ""},
		{ts(3), "2024-02-29 12:34:56x", ""},
		{lt(3), "2024-02-29T12:34:56Z", "2024-02-29 12:34:56Z"},
		{lt(3), "2024-02-29T12:34:56+01:30", "2024-02-29 11:04:56Z"},
		{lt(3), "2024-02-29T12:34:56-0130", "2024-02-29 14:04:56Z"},
		{lt(3), "2024-02-29T12:34+09", "2024-02-29 03:34:00Z"},
		{lt(3), "2024-02-29T12:34:56+1", ""},
		{lt(3), "2024-02-29T12:34:56+01:", ""},
		{lt(3), "2024-02-29T12:34:56+99:00", ""},
		{sqltype.Type{ID: sqltype.IntervalDay}, "1", ""},
	} {
		p := vector.NewCheckedPool()
		c := vector.NewColumnBuilder(p, tt.t.Kind())
		ok := sqltype.AppendParsed(c, tt.t, []byte(tt.in))
		got := ""
		if ok {
			v := c.Finish()
			if got = string(sqltype.AppendText(nil, tt.t, v, 0)); got == "" {
				got = " "
			}
			v.Release()
		} else if c.Len() != 0 {
			t.Errorf("%v %q: a value was appended all the same", tt.t, tt.in)
		}
		if got != tt.want {
			t.Errorf("%v %q: got %q, want %q", tt.t, tt.in, got, tt.want)
		}
	}
}

// Every time is read as package time reads it, and as it was written.
func TestParseTimestampRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMicro()
	for range 10000 {
		us := first + rnd.Int64N(last-first)
		text := time.UnixMicro(us).UTC().Format("2006-01-02 15:04:05.000000")
		if got, ok := sqltype.ParseTimestamp([]byte(text), 6); !ok || got != us {
			t.Fatalf("%s: got %d, %v, want %d", text, got, ok, us)
		}
		if got, ok := sqltype.ParseTimestamp(sqltype.AppendTimestamp(nil, us, 6), 6); !ok || got != us {
			t.Fatalf("%s: read back as %d, %v, want %d", text, got, ok, us)
		}
	}
}
