package sqltype

import (
	"encoding/base64"
	"math/big"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/weirdb/weir/vector"
)

// AppendParsed reads a value of type t from text and appends it to c, whose kind
// is that of t. It reports whether text is such a value, and appends nothing when
// it is not. It reads what AppendText writes, and also ISO 8601 times with a T and
// a zone; binary types are read as base64. Blanks around a value count only in
// text. Text that is too long for a CHAR or VARCHAR is not of that type.
func AppendParsed(c *vector.ColumnBuilder, t Type, text []byte) bool {
	switch t.ID {
	case Boolean:
		v, ok := ParseBool(text)
		return appendIf(c, v, ok)
	case TinyInt:
		v, ok := ParseInt(text)
		return appendIf(c, int8(v), ok && v == int64(int8(v)))
	case SmallInt:
		v, ok := ParseInt(text)
		return appendIf(c, int16(v), ok && v == int64(int16(v)))
	case Integer:
		v, ok := ParseInt(text)
		return appendIf(c, int32(v), ok && v == int64(int32(v)))
	case BigInt:
		v, ok := ParseInt(text)
		return appendIf(c, v, ok)
	case Float:
		v, ok := ParseFloat(text, 32)
		return appendIf(c, float32(v), ok)
	case Double:
		v, ok := ParseFloat(text, 64)
		return appendIf(c, v, ok)
	case Decimal:
		v, ok := ParseDecimal(text, t.Precision, t.Scale)
		return appendIf(c, v, ok)
	case Char, Varchar:
		if !t.Holds(text) || !utf8.Valid(text) {
			return false
		}
		c.AppendBytes(text)
		return true
	case Binary, Varbinary:
		v, err := base64.StdEncoding.AppendDecode(nil, text)
		if err != nil || len(v) > t.Precision {
			return false
		}
		c.AppendBytes(v)
		return true
	case Date:
		v, ok := ParseDate(text)
		return appendIf(c, v, ok)
	case Time:
		v, ok := ParseTime(text, t.UnitDigits())
		return appendIf(c, v, ok)
	case Timestamp, TimestampLTZ:
		v, ok := ParseTimestamp(text, t.UnitDigits())
		return appendIf(c, v, ok)
	case Array, Map, Multiset, Row:
		return appendParsedNested(c, t, text)
	}
	return false
}

func appendIf[T vector.Fixed](c *vector.ColumnBuilder, v T, ok bool) bool {
	if ok {
		vector.Append(c, v)
	}
	return ok
}

// Holds reports whether text is short enough for the CHAR or VARCHAR type t.
func (t Type) Holds(text []byte) bool {
	return len(text) <= t.Precision || utf8.RuneCount(text) <= t.Precision
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// ParseBool reads true or false in any letter case.
func ParseBool(b []byte) (v, ok bool) {
	b = trimBlanks(b)
	switch {
	case foldEqual(b, "true"):
		return true, true
	case foldEqual(b, "false"):
		return false, true
	}
	return false, false
}

func foldEqual(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range b {
		if b[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

// ParseInt reads a whole decimal number that fits an int64.
func ParseInt(b []byte) (int64, bool) {
	b = trimBlanks(b)
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 19 {
		if len(b) == 0 || !leadingZeros(&b) {
			return 0, false
		}
	}
	var u uint64
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		u = u*10 + uint64(d) // 19 digits always fit a uint64
	}
	if neg {
		return -int64(u), u <= 1<<63
	}
	return int64(u), u < 1<<63
}

// leadingZeros drops them and reports whether at most 19 digits are left.
func leadingZeros(b *[]byte) bool {
	for len(*b) > 1 && (*b)[0] == '0' {
		*b = (*b)[1:]
	}
	return len(*b) <= 19
}

// ParseFloat reads a decimal number, NaN or an infinity.
func ParseFloat(b []byte, bits int) (float64, bool) {
	b = trimBlanks(b)
	for _, c := range b {
		if c == '_' || c|0x20 == 'x' || c|0x20 == 'p' { // Go's own notations
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), bits)
	return v, err == nil
}

// ParseDecimal reads a number, with or without an exponent, rounding half away
// from zero to scale. It fails when more than precision digits are left.
func ParseDecimal(b []byte, precision, scale int) (vector.Dec, bool) {
	b = trimBlanks(b)
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	// The short way: at most 18 digits in all, none to be rounded off.
	var u int64
	digits, frac, point := 0, 0, false
	for _, c := range b {
		if c == '.' && !point {
			point = true
			continue
		}
		d := c - '0'
		if d > 9 || digits == 18 {
			return parseLongDecimal(b, neg, precision, scale)
		}
		digits++
		u = u*10 + int64(d)
		if point {
			frac++
		}
	}
	if digits == 0 {
		return vector.Dec{}, false
	}
	if frac > scale || digits+scale-frac > 18 {
		return parseLongDecimal(b, neg, precision, scale)
	}
	u *= pow10(scale - frac)
	if precision < 18 && u >= pow10(precision) {
		return vector.Dec{}, false
	}
	if neg {
		u = -u
	}
	return decimal128.FromI64(u), true
}

func parseLongDecimal(b []byte, neg bool, precision, scale int) (vector.Dec, bool) {
	if len(b) > 512 {
		return vector.Dec{}, false
	}
	digits := make([]byte, 0, len(b))
	exp, point, seen := 0, false, false
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9':
			seen = true
			if c != '0' || len(digits) > 0 {
				digits = append(digits, c)
			}
			if point {
				exp--
			}
			continue
		case c == '.' && !point:
			point = true
			continue
		case c|0x20 == 'e' && seen:
			e, err := strconv.Atoi(string(b[i+1:]))
			if err != nil || e > 10000 || e < -10000 {
				return vector.Dec{}, false
			}
			exp += e
		default:
			return vector.Dec{}, false
		}
		break
	}
	if !seen {
		return vector.Dec{}, false
	}
	if len(digits) == 0 {
		return vector.Dec{}, true
	}
	shift := exp + scale // the value is digits * 10^shift in units of 10^-scale
	if len(digits)+shift > precision+1 {
		return vector.Dec{}, false
	}
	if len(digits)+shift < 0 {
		return vector.Dec{}, true
	}
	x, _ := new(big.Int).SetString(string(digits), 10)
	ten := big.NewInt(10)
	if shift >= 0 {
		x.Mul(x, ten.Exp(ten, big.NewInt(int64(shift)), nil))
	} else {
		d := ten.Exp(ten, big.NewInt(int64(-shift)), nil)
		x.Add(x, new(big.Int).Rsh(d, 1))
		x.Quo(x, d)
	}
	if x.Cmp(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)) >= 0 {
		return vector.Dec{}, false
	}
	if neg {
		x.Neg(x)
	}
	return decimal128.FromBigInt(x), true
}

// ParseDate reads YYYY-MM-DD as days since 1970-01-01.
func ParseDate(b []byte) (int32, bool) {
	b = trimBlanks(b)
	days, rest, ok := parseDate(b)
	return int32(days), ok && len(rest) == 0
}

func parseDate(b []byte) (days int64, rest []byte, ok bool) {
	if len(b) < 10 || b[4] != '-' || b[7] != '-' {
		return 0, b, false
	}
	y, ok1 := twoDigits(b[0:2])
	y2, ok2 := twoDigits(b[2:4])
	m, ok3 := twoDigits(b[5:7])
	d, ok4 := twoDigits(b[8:10])
	y = y*100 + y2
	if !(ok1 && ok2 && ok3 && ok4) || m < 1 || m > 12 || d < 1 || d > daysIn(y, m) {
		return 0, b, false
	}
	return daysFromCivil(y, m, d), b[10:], true
}

func twoDigits(b []byte) (int64, bool) {
	hi, lo := b[0]-'0', b[1]-'0'
	return int64(hi)*10 + int64(lo), hi <= 9 && lo <= 9
}

func daysIn(y, m int64) int64 {
	switch {
	case m == 2 && y%4 == 0 && (y%100 != 0 || y%400 == 0):
		return 29
	case m == 2:
		return 28
	case m == 4 || m == 6 || m == 9 || m == 11:
		return 30
	}
	return 31
}

// daysFromCivil counts days since 1970-01-01 in the proleptic Gregorian calendar,
// in years that begin with March, for y >= 0.
func daysFromCivil(y, m, d int64) int64 {
	if m <= 2 {
		y, m = y-1, m+12
	}
	y += 400 // keeps the division below exact for the year 0
	return 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + d - 1 - 719468 - 146097
}

// ParseTime reads HH:MM[:SS[.fraction]] in units of 10^-digits seconds, cutting
// further digits of the fraction.
func ParseTime(b []byte, digits int) (int64, bool) {
	b = trimBlanks(b)
	sec, frac, rest, ok := parseTime(b, digits)
	return sec*pow10(digits) + frac, ok && len(rest) == 0
}

func parseTime(b []byte, digits int) (sec, frac int64, rest []byte, ok bool) {
	if len(b) < 5 || b[2] != ':' {
		return 0, 0, b, false
	}
	h, ok1 := twoDigits(b[0:2])
	m, ok2 := twoDigits(b[3:5])
	if !ok1 || !ok2 || h > 23 || m > 59 {
		return 0, 0, b, false
	}
	sec = h*3600 + m*60
	b = b[5:]
	if len(b) < 3 || b[0] != ':' {
		return sec, 0, b, true
	}
	s, ok := twoDigits(b[1:3])
	if !ok || s > 59 {
		return 0, 0, b, false
	}
	sec += s
	b = b[3:]
	if len(b) < 2 || b[0] != '.' {
		return sec, 0, b, true
	}
	b = b[1:]
	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		if n < digits {
			frac = frac*10 + int64(b[n]-'0')
		}
		n++
	}
	if n == 0 || n > 18 {
		return 0, 0, b, false
	}
	for i := n; i < digits; i++ {
		frac *= 10
	}
	return sec, frac, b[n:], true
}

// ParseTimestamp reads YYYY-MM-DD, alone or followed by a blank or T and a time, in
// units of 10^-digits seconds since 1970-01-01 00:00:00. A zone, Z or +HH:MM, is
// taken off: the result is then in UTC.
func ParseTimestamp(b []byte, digits int) (int64, bool) {
	b = trimBlanks(b)
	days, b, ok := parseDate(b)
	if !ok {
		return 0, false
	}
	sec, frac := days*86400, int64(0)
	if len(b) > 0 {
		if b[0] != ' ' && b[0] != 'T' {
			return 0, false
		}
		var s int64
		if s, frac, b, ok = parseTime(b[1:], digits); !ok {
			return 0, false
		}
		sec += s
		zone, ok := parseZone(b)
		if !ok {
			return 0, false
		}
		sec -= zone
	}
	unit := pow10(digits)
	v := sec * unit
	if v/unit != sec || frac > 0 && v > v+frac {
		return 0, false
	}
	return v + frac, true
}

// parseZone reads the rest of a timestamp: nothing, Z, +HH, +HHMM or +HH:MM.
func parseZone(b []byte) (seconds int64, ok bool) {
	switch {
	case len(b) == 0, len(b) == 1 && b[0] == 'Z':
		return 0, true
	case len(b) < 3 || b[0] != '+' && b[0] != '-':
		return 0, false
	}
	h, ok := twoDigits(b[1:3])
	if !ok {
		return 0, false
	}
	m, rest := int64(0), b[3:]
	if len(rest) > 0 && rest[0] == ':' {
		rest = rest[1:]
	}
	switch len(rest) {
	case 0:
		ok = len(b) == 3
	case 2:
		m, ok = twoDigits(rest)
	default:
		ok = false
	}
	if !ok || h > 18 || m > 59 {
		return 0, false
	}
	if b[0] == '-' {
		return -(h*3600 + m*60), true
	}
	return h*3600 + m*60, true
}
