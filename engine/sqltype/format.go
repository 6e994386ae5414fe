package sqltype

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/weirdb/weir/vector"
)

// AppendText appends the value of row i of v, a column of type t, as people read
// it: TRUE, 12, 1.50, 1.0E10, 2001-01-01 06:55:00, x'0aff', [1, 2], {a=1}, (1, b). It is not quoted, and
// NULL is the word NULL. Every output of the engine that shows values uses it;
// fractions of a second lose trailing zeros, a TIMESTAMP_LTZ is in UTC with a Z.
func AppendText(dst []byte, t Type, v *vector.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, "NULL"...)
	}
	switch t.ID {
	case Null:
		return append(dst, "NULL"...)
	case Boolean:
		if vector.Values[bool](v)[i] {
			return append(dst, "TRUE"...)
		}
		return append(dst, "FALSE"...)
	case TinyInt, SmallInt, Integer, BigInt:
		return strconv.AppendInt(dst, Int(v, i), 10)
	case Float:
		return AppendFloat(dst, float64(vector.Values[float32](v)[i]), 32)
	case Double:
		return AppendFloat(dst, vector.Values[float64](v)[i], 64)
	case Decimal:
		return AppendDecimal(dst, vector.Values[vector.Dec](v)[i], t.Scale)
	case Char, Varchar:
		return append(dst, v.Bytes(i)...)
	case Binary, Varbinary:
		dst = append(dst, "x'"...)
		dst = hex.AppendEncode(dst, v.Bytes(i))
		return append(dst, '\'')
	case Date:
		return AppendDate(dst, Int(v, i))
	case Time:
		return AppendTime(dst, Int(v, i), t.UnitDigits())
	case Timestamp:
		return AppendTimestamp(dst, Int(v, i), t.UnitDigits())
	case TimestampLTZ:
		return append(AppendTimestamp(dst, Int(v, i), t.UnitDigits()), 'Z')
	case IntervalDay:
		return appendIntervalDay(dst, Int(v, i))
	case IntervalMonth:
		return appendIntervalMonth(dst, Int(v, i))
	case Array, Map, Multiset, Row:
		return AppendNested(dst, t, v, i, AppendText)
	}
	panic(fmt.Sprintf("sqltype: no text form of %v", t))
}

// Int is the value of row i of an integer column of any width.
func Int(v *vector.Vector, i int) int64 {
	switch v.Kind() {
	case vector.Int8:
		return int64(vector.Values[int8](v)[i])
	case vector.Int16:
		return int64(vector.Values[int16](v)[i])
	case vector.Int32:
		return int64(vector.Values[int32](v)[i])
	}
	return vector.Values[int64](v)[i]
}

// AppendFloat appends a FLOAT (bits 32) or DOUBLE (bits 64) in the shortest form
// that reads back the same, always recognisable as approximate: 1.0, 1.0E7, NaN.
// As in Java, and so in Flink, the exponent is used from 10^7 up and below 10^-3.
func AppendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	start := len(dst)
	if a := math.Abs(f); f == 0 || a >= 1e-3 && a < 1e7 {
		dst = strconv.AppendFloat(dst, f, 'f', -1, bits)
		for _, c := range dst[start:] {
			if c == '.' {
				return dst
			}
		}
		return append(dst, ".0"...)
	}
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], f, 'E', -1, bits) // d.dddE+dd or dE+dd
	at := len(e) - 1
	for e[at] != 'E' {
		at--
	}
	dst = append(dst, e[:at]...)
	if at <= 2 { // one digit, perhaps a sign
		dst = append(dst, ".0"...)
	}
	exp, _ := strconv.Atoi(string(e[at+1:])) // digits by construction
	return strconv.AppendInt(append(dst, 'E'), int64(exp), 10)
}

// AppendDecimal appends a decimal with exactly scale digits after the point.
func AppendDecimal(dst []byte, d vector.Dec, scale int) []byte {
	var buf [48]byte
	digits := buf[:0]
	if hi := d.HighBits(); hi == int64(d.LowBits())>>63 {
		digits = strconv.AppendInt(digits, int64(d.LowBits()), 10)
	} else {
		digits = d.BigInt().Append(digits, 10)
	}
	if digits[0] == '-' {
		dst = append(dst, '-')
		digits = digits[1:]
	}
	if scale == 0 {
		return append(dst, digits...)
	}
	if whole := len(digits) - scale; whole > 0 {
		dst = append(dst, digits[:whole]...)
		digits = digits[whole:]
	} else {
		dst = append(dst, '0')
	}
	dst = append(dst, '.')
	for range scale - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// AppendDate appends days since 1970-01-01 as YYYY-MM-DD.
func AppendDate(dst []byte, days int64) []byte {
	return time.Unix(days*86400, 0).UTC().AppendFormat(dst, time.DateOnly)
}

// AppendTime appends a time of day, counted in units of 10^-digits seconds, as
// HH:MM:SS and the fraction without trailing zeros.
func AppendTime(dst []byte, t int64, digits int) []byte {
	sec, frac := splitSeconds(t, digits)
	dst = time.Unix(sec, 0).UTC().AppendFormat(dst, time.TimeOnly)
	return appendFraction(dst, frac, digits)
}

// AppendTimestamp appends a time since 1970-01-01 00:00:00, counted in units of
// 10^-digits seconds, as YYYY-MM-DD HH:MM:SS and the fraction without trailing zeros.
func AppendTimestamp(dst []byte, t int64, digits int) []byte {
	sec, frac := splitSeconds(t, digits)
	dst = time.Unix(sec, 0).UTC().AppendFormat(dst, time.DateTime)
	return appendFraction(dst, frac, digits)
}

// splitSeconds divides with the fraction never negative.
func splitSeconds(t int64, digits int) (sec, frac int64) {
	unit := pow10(digits)
	sec, frac = t/unit, t%unit
	if frac < 0 {
		sec, frac = sec-1, frac+unit
	}
	return sec, frac
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

func appendFraction(dst []byte, frac int64, digits int) []byte {
	if frac == 0 {
		return dst
	}
	for frac%10 == 0 {
		frac /= 10
		digits--
	}
	dst = append(dst, '.')
	for p := pow10(digits - 1); p > frac; p /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, frac, 10)
}

// appendIntervalDay is "+1 02:03:04.005": sign, days, time.
func appendIntervalDay(dst []byte, ms int64) []byte {
	const day = 86400_000
	dst, u := appendSign(dst, ms)
	dst = strconv.AppendUint(dst, u/day, 10)
	return AppendTime(append(dst, ' '), int64(u%day), 3)
}

// appendIntervalMonth is "+1-02": sign, years, months.
func appendIntervalMonth(dst []byte, months int64) []byte {
	dst, u := appendSign(dst, months)
	dst = strconv.AppendUint(dst, u/12, 10)
	dst = append(dst, '-', byte('0'+u%12/10))
	return append(dst, byte('0'+u%12%10))
}

func appendSign(dst []byte, x int64) ([]byte, uint64) {
	if x < 0 {
		return append(dst, '-'), -uint64(x)
	}
	return append(dst, '+'), uint64(x)
}
