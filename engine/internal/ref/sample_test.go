package ref

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/sqltype"
)

// sampled draws values, extreme ones often.
type sampled struct{ *rand.Rand }

func (s sampled) pick(words ...string) string { return words[s.IntN(len(words))] }

func (s sampled) several(n int, f func() string) string {
	out := ""
	for range s.IntN(n + 1) {
		out += f()
	}
	return out
}

func (s sampled) text(flavor string) string {
	digits := func() string { return s.pick("0", "1", "2", "5", "9") }
	switch flavor {
	case "number":
		t := s.pick("", "", "-", "+", " ") + s.several(4, digits) + s.pick("", "", ".", ".5", ".49999", ".995") + s.pick("", "", "e2", "E-3", "e+40", " ", "x")
		return s.pick(t, t, t, t, "9223372036854775807", "9223372036854775808", "-9223372036854775808", "128", "-129", "1e400", "1e-400", "NaN", "-Infinity", "inf", "99999999999999999999999999999999999999", "1_000", "0x1p4", ".", "-", "१", "\t7\n", strings.Repeat("9", 80)+"e-70")
	case "time":
		date := s.pick("2000-02-29", "1999-2-29", "1970-01-01", "1969-12-31", "0000-12-31", "-0001-1-1", "9999-12-31", "12345-06-07", "2024-03-31", "2024-10-27", "2000-13-01", "2000-00-10", "2024-04-31", "1677-09-21", "2262-04-11", "5000001-01-01")
		clock := s.pick("00:00:00", "23:59:59.999999999", "12:34", "1:2:3.4", "24:00:00", "02:30:00.5", "12:60:00", "10:00:00.", "00:12:43.145224193", "23:47:16.854775807")
		t := date + s.pick(" ", "T", "t", "  ") + clock
		return s.pick(date, clock, t, t, t+"Z", t+s.pick("+02:00", "-18:30", "+19:00", "+0200"), " "+t+" ", "", "now") + s.pick("", "", "", "x")
	case "pattern":
		return s.several(4, func() string { return s.pick("%", "_", "a", "b", "é", "\\%", "\\", "A", "[", "x_", "%%") })
	case "escape":
		return s.pick("\\", "\\", "x", "é", "%", "", "ab", "X")
	case "regex":
		return s.several(3, func() string {
			return s.pick("a", "b*", "(a|b)", ".", "[ab]+", "^", "$", "(x)?", `\d`, "é", "(?i)A", "(a)(b)?", "a{2}", "|") + s.pick("", "", "", "", "+", "(")
		})
	case "similar":
		return s.several(4, func() string {
			return s.pick("%", "_", "a", "b*", "(a|b)", "[ab]", "[^a]", "[[:ALPHA:]]+", "a{1,2}", "é?", ".", "^", "\\%", "[a-c&]", "$", "[", ")")
		})
	case "format":
		return s.several(4, func() string {
			return s.pick("yyyy", "yy", "y", "MM", "M", "MMM", "MMMM", "dd", "d", "HH", "H", "hh", "h", "kk", "K", "mm", "ss", "SSS", "S", "SSSSSS", "a", "E", "EEEE", "D", "DDD", "uuuu", "L") + s.pick("-", "-", " ", "", "'T'", "''", "/", "é", "'it''s'")
		}) + s.pick("", "", "", "", "", "", "'", "z")
	case "part":
		return s.pick("2000-02-29", "29/02/2000", "00-2-3-", "1999-12-31 23:59:59", "1970-1-1-", "12 PM", "12-AM-", "7-", "february-", "Feb ", "24-", "365-", "366-", "0-", "Tue 5", "-5-", "999", "1234567890", "2000-")
	case "truth":
		return s.pick("TRUE", "false", " t ", "F", "Yes", "nO", "on", "off", "1", "0", "", "2", "tr", "wahr")
	}
	return s.pick("", " ", "a", "ab", "abab", "A b", "é", "aé", "𝄞b", "x'y", "%_", "a,b,,c", "  a ", "HELLO wOrld 2nd", "ß", "ÀÉ", "aaa", "12", "ŉ", "a\nb") + s.several(1, func() string { return s.pick("a", "b", " ", "é", ",", "") })
}

func (s sampled) int(bits int) int64 {
	most := int64(1)<<(bits-1) - 1
	switch s.IntN(9) {
	case 0:
		return most
	case 1:
		return -most - 1
	case 2:
		return s.Int64() >> (64 - bits + s.IntN(bits))
	case 3:
		return -(s.Int64() >> (64 - bits + s.IntN(bits)))
	}
	return int64(s.IntN(12)) - 3
}

func (s sampled) float(bits int) float64 {
	f := []float64{
		0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1, -1, 2.5, -2.5, 0.5, 1.005, 1e15 + 0.5, 1e22, -1e-7,
		9223372036854775807, -9223372036854775808, 2147483648, 127.9, 1e7, 0.001, 123456.789, 3.4e38, 10, 1000, 8,
	}[s.IntN(27)]
	if s.IntN(3) == 0 {
		f = s.NormFloat64() * math.Pow10(s.IntN(20)-6)
	}
	if bits == 32 {
		return float64(float32(f))
	}
	return f
}

func (s sampled) decimal(t sqltype.Type) *big.Rat {
	most := new(big.Int).Sub(tenTo(t.Precision), big.NewInt(1))
	x := new(big.Int)
	switch s.IntN(7) {
	case 0:
		x = most
	case 1:
		x.Neg(most)
	case 2:
		x.SetInt64(int64(s.IntN(11)) - 5)
	case 3:
		x.Quo(tenTo(t.Precision), big.NewInt(2))
	default:
		for range s.IntN(t.Precision) + 1 {
			x.Add(x.Mul(x, big.NewInt(10)), big.NewInt(int64([]int{0, 4, 5, 9, 1}[s.IntN(5)])))
		}
		if s.IntN(2) == 0 {
			x.Neg(x)
		}
	}
	return new(big.Rat).SetFrac(x, tenTo(t.Scale))
}

// seconds is a moment between the years -9999 and 9999, mostly.
func (s sampled) seconds() int64 {
	day := []string{"1970-01-01", "1969-12-31", "2000-02-29", "1900-02-28", "2024-03-31", "2024-10-27", "2024-11-03", "2024-03-10", "0001-01-01", "0000-12-31", "-0001-03-01", "9999-12-31", "1582-10-15", "2023-12-31", "2021-01-03", "2020-12-31", "-0150-05-05", "2001-01-01", "2000-01-31"}[s.IntN(19)]
	p := strings.Split(strings.TrimPrefix(day, "-"), "-")
	r, _ := dateOf(p[0], p[1], p[2])
	if day[0] == '-' {
		r = r.AddDate(-2*r.Year(), 0, 0)
	}
	sec := r.Unix() + []int64{0, 1, 86399, 3600, 5400, 9000, 43200}[s.IntN(7)]
	if s.IntN(4) == 0 {
		sec = int64(s.IntN(630_000_000_000)) - 315_000_000_000
	}
	return sec
}

func (s sampled) value(f flavored) any {
	if s.IntN(8) == 0 {
		return nil
	}
	switch t := f.typ; t.ID {
	case sqltype.Boolean:
		return s.IntN(2) == 0
	case sqltype.TinyInt:
		return s.int(8)
	case sqltype.SmallInt:
		return s.int(16)
	case sqltype.Integer, sqltype.IntervalMonth:
		return s.int(32)
	case sqltype.BigInt:
		return s.int(64)
	case sqltype.IntervalDay:
		return []int64{0, 1, -1, 999, 86_400_000, -86_400_001, 3_600_000, 90_061_001, s.int(64)}[s.IntN(9)]
	case sqltype.Float:
		return s.float(32)
	case sqltype.Double:
		return s.float(64)
	case sqltype.Decimal:
		return s.decimal(t)
	case sqltype.Char, sqltype.Varchar:
		return toLength(s.text(f.flavor), t)
	case sqltype.Binary, sqltype.Varbinary:
		var b []byte
		for range s.IntN(6) {
			b = append(b, []byte{0, 'a', 0xFF, 0xFE, 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xD8, 0xDC, 0xF0, 0x9D}[s.IntN(13)])
		}
		return ofLength(b, t)
	case sqltype.Date:
		if s.IntN(30) == 0 {
			return s.int(32) / 2
		}
		return floorDiv(s.seconds(), 86400)
	case sqltype.Time:
		v, _ := ofReading(time.Unix(s.seconds(), int64(s.IntN(3))*499_999_999).UTC(), t, time.UTC)
		return v
	case sqltype.Timestamp, sqltype.TimestampLTZ:
		v, ok := ofReading(time.Unix(s.seconds(), int64(s.IntN(3))*499_999_999).UTC(), t, time.UTC)
		if !ok {
			return int64(0)
		}
		return v
	case sqltype.Row:
		out := Nested{}
		for _, c := range t.Fields {
			out = append(out, s.value(flavored{typ: c.Type}))
		}
		return out
	case sqltype.Array:
		out := Nested{}
		for range s.IntN(4) {
			out = append(out, s.value(flavored{typ: *t.Elem}))
		}
		return out
	}
	out := Nested{}
	children := f.typ.Children()
	for range s.IntN(4) {
		if key := s.value(flavored{typ: children[0]}); key != nil {
			v := any(int64(1) + int64(s.IntN(3)))
			if f.typ.ID == sqltype.Map {
				v = s.value(flavored{typ: children[1]})
			}
			out = append(out, Nested{key, v})
		}
	}
	return entries(f.typ, out)
}
