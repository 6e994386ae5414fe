package kernel

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/weirdb/weir/vector"
)

// TextBuffer gathers the values of a String or Bytes column whose size is not known
// beforehand. A kernel keeps one from batch to batch.
type TextBuffer struct {
	Data []byte // append the bytes of a value here, then call End
	ends []int32
}

// Reset begins a column.
func (t *TextBuffer) Reset() { t.Data, t.ends = t.Data[:0], t.ends[:0] }

// End ends a value.
func (t *TextBuffer) End() { t.ends = append(t.ends, int32(len(t.Data))) }

// Column is the values ended since Reset, as a new column.
func (t *TextBuffer) Column(p *vector.Pool, kind vector.Kind) *vector.Vector {
	out := p.NewVariable(kind, len(t.ends), len(t.Data))
	copy(out.Data(), t.Data)
	copy(out.Offsets()[1:], t.ends)
	return out
}

// text views bytes as a string, for calls that do not keep it.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// TrimSpace cuts white space (all bytes up to the blank) off both ends.
func TrimSpace(s []byte) []byte {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// ParseInt reads a decimal integer, with white space around it and a fraction that
// is dropped.
func ParseInt(s []byte) (int64, bool) {
	s = TrimSpace(s)
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	var v uint64
	i := 0
	for ; i < len(s) && s[i] != '.'; i++ {
		d := s[i] - '0'
		if d > 9 || v > (1<<63)/10 {
			return 0, false
		}
		v = v*10 + uint64(d)
		if v > 1<<63 {
			return 0, false
		}
	}
	digits := i
	for j := i + 1; j < len(s); j++ {
		if s[j]-'0' > 9 {
			return 0, false
		}
		digits++
	}
	if digits == 0 || v == 1<<63 && !neg {
		return 0, false
	}
	if neg {
		return -int64(v), true
	}
	return int64(v), true
}

// ParseFloat reads an approximate number, with white space around it.
func ParseFloat(s []byte) (float64, bool) {
	s = TrimSpace(s)
	for _, c := range s {
		if c == '_' || c == 'x' || c == 'X' { // Go's own forms
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(text(s), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// ParseBool reads TRUE, FALSE and their usual short forms, in any case.
func ParseBool(s []byte) (value, ok bool) {
	s = TrimSpace(s)
	if len(s) == 0 || len(s) > 5 {
		return false, false
	}
	var low [5]byte
	for i, c := range s {
		low[i] = c | 0x20
		if c >= '0' && c <= '9' {
			low[i] = c
		}
	}
	switch string(low[:len(s)]) {
	case "true", "t", "yes", "y", "on", "1":
		return true, true
	case "false", "f", "no", "n", "off", "0":
		return false, true
	}
	return false, false
}

// ParseDecimal reads a number, with white space around it and an exponent if there
// is one, and rounds it half away from zero to the given scale.
func ParseDecimal(s []byte, precision, scale int) (vector.Dec, bool) {
	s = TrimSpace(s)
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	var v int256
	point, digits, dropped := -1, 0, 0
	i := 0
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' {
			if point >= 0 {
				return vector.Dec{}, false
			}
			point = digits
			continue
		}
		d := c - '0'
		if d > 9 {
			break
		}
		digits++
		if v.w[3] != 0 { // more digits than can matter; they still count for the exponent
			dropped++
			continue
		}
		v, _ = v.mulWord(10)
		v = v.add(int256{w: [4]uint64{uint64(d)}})
	}
	if digits == 0 {
		return vector.Dec{}, false
	}
	if point < 0 {
		point = digits
	}
	exp := 0
	if i < len(s) {
		if s[i]|0x20 != 'e' {
			return vector.Dec{}, false
		}
		e, err := strconv.Atoi(text(s[i+1:]))
		if err != nil {
			return vector.Dec{}, false
		}
		exp = min(max(e, -10000), 10000)
	}
	// The value is v * 10^(exp + point - digits + dropped).
	k := exp + point - digits + dropped + scale
	if v.zero() {
		return vector.Dec{}, true
	}
	v.neg = neg
	switch {
	case k >= 0:
		v, ok := v.scale10(min(k, 100))
		return v.round(0, precision, ok)
	case k < -80:
		return vector.Dec{}, true
	}
	return v.round(-k, precision, true)
}

// FloatToDec is the decimal that the shortest form of x rounds to. bits is 32 or 64.
func FloatToDec(x float64, bits, precision, scale int) (vector.Dec, bool) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return vector.Dec{}, false
	}
	var buf [32]byte
	return ParseDecimal(strconv.AppendFloat(buf[:0], x, 'e', -1, bits), precision, scale)
}

// AppendDecimal writes x in plain form with all its digits after the point.
func AppendDecimal(dst []byte, x vector.Dec, scale int) []byte {
	if x.HighBits() < 0 {
		dst = append(dst, '-')
		x = negDec(x)
	}
	var buf [40]byte
	at := len(buf)
	b := int256{w: [4]uint64{x.LowBits(), uint64(x.HighBits())}}
	for b.w[1] != 0 {
		var r uint64
		b, r = b.divWord(1e18)
		for range 18 {
			at--
			buf[at] = byte('0' + r%10)
			r /= 10
		}
	}
	for v := b.w[0]; v > 0; v /= 10 {
		at--
		buf[at] = byte('0' + v%10)
	}
	for len(buf)-at <= scale {
		at--
		buf[at] = '0'
	}
	dst = append(dst, buf[at:len(buf)-scale]...)
	if scale > 0 {
		dst = append(dst, '.')
		dst = append(dst, buf[len(buf)-scale:]...)
	}
	return dst
}

// AppendFloat writes x in the shortest form that reads back equal, as Java and so
// Flink do: "1.0", "1.0E10", "NaN". bits is 32 or 64.
func AppendFloat(dst []byte, x float64, bits int) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, "NaN"...)
	case math.IsInf(x, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(x, -1):
		return append(dst, "-Infinity"...)
	case x == 0:
		if math.Signbit(x) {
			return append(dst, "-0.0"...)
		}
		return append(dst, "0.0"...)
	}
	from := len(dst)
	if a := math.Abs(x); a >= 1e-3 && a < 1e7 {
		dst = strconv.AppendFloat(dst, x, 'f', -1, bits)
		for _, c := range dst[from:] {
			if c == '.' {
				return dst
			}
		}
		return append(dst, ".0"...)
	}
	var buf [32]byte
	s := strconv.AppendFloat(buf[:0], x, 'E', -1, bits) // -1.5E+10, 1E-05
	e := 0
	for s[e] != 'E' {
		e++
	}
	dst = append(dst, s[:e]...)
	point := false
	for _, c := range s[:e] {
		point = point || c == '.'
	}
	if !point {
		dst = append(dst, ".0"...)
	}
	dst = append(dst, 'E')
	if s[e+1] == '-' {
		dst = append(dst, '-')
	}
	digits := s[e+2:]
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	return append(dst, digits...)
}

// ParseNumbers reads a String column as Bool, integers or approximate values. What
// cannot be read, or does not fit, is a misfit.
func ParseNumbers(p *vector.Pool, v *vector.Vector, to vector.Kind, m *Misfits) *vector.Vector {
	n := v.Len()
	switch to {
	case vector.Bool:
		out := p.New(to, n)
		dst := vector.Values[bool](out)
		for i := range dst {
			b, ok := ParseBool(v.Bytes(i))
			dst[i] = b
			if !ok {
				m.add(i)
			}
		}
		return out
	case vector.Float32, vector.Float64:
		out := p.New(vector.Float64, n)
		dst := vector.Values[float64](out)
		for i := range dst {
			f, ok := ParseFloat(v.Bytes(i))
			dst[i] = f
			if !ok {
				m.add(i)
			}
		}
		if to == vector.Float64 {
			return out
		}
		defer out.Release()
		return CastNumber(p, out, to, m)
	}
	out := p.New(vector.Int64, n)
	dst := vector.Values[int64](out)
	before := len(m.Rows)
	for i := range dst {
		x, ok := ParseInt(v.Bytes(i))
		dst[i] = x
		if !ok {
			m.add(i)
		}
	}
	if to == vector.Int64 {
		return out
	}
	defer out.Release()
	narrow := CastNumber(p, out, to, m)
	m.sort(before)
	return narrow
}

// ParseDecimals reads a String column as decimals; see ParseDecimal for misfits.
func ParseDecimals(p *vector.Pool, v *vector.Vector, precision, scale int, m *Misfits) *vector.Vector {
	out := p.New(vector.Decimal, v.Len())
	dst := vector.Values[vector.Dec](out)
	for i := range dst {
		d, ok := ParseDecimal(v.Bytes(i), precision, scale)
		dst[i] = d
		if !ok {
			m.add(i)
		}
	}
	return out
}

// FormatNumbers writes Bool, integers, approximate values and decimals (of the given
// scale) as text, into t.
func FormatNumbers(t *TextBuffer, v *vector.Vector, scale int) {
	t.Reset()
	switch v.Kind() {
	case vector.Bool:
		for _, x := range vector.Values[bool](v) {
			if x {
				t.Data = append(t.Data, "TRUE"...)
			} else {
				t.Data = append(t.Data, "FALSE"...)
			}
			t.End()
		}
	case vector.Int8:
		formatInts(t, vector.Values[int8](v))
	case vector.Int16:
		formatInts(t, vector.Values[int16](v))
	case vector.Int32:
		formatInts(t, vector.Values[int32](v))
	case vector.Int64:
		formatInts(t, vector.Values[int64](v))
	case vector.Float32:
		for _, x := range vector.Values[float32](v) {
			t.Data = AppendFloat(t.Data, float64(x), 32)
			t.End()
		}
	case vector.Float64:
		for _, x := range vector.Values[float64](v) {
			t.Data = AppendFloat(t.Data, x, 64)
			t.End()
		}
	case vector.Decimal:
		for _, x := range vector.Values[vector.Dec](v) {
			t.Data = AppendDecimal(t.Data, x, scale)
			t.End()
		}
	default:
		panic(unexpected("text", v.Kind()))
	}
}

func formatInts[T Int](t *TextBuffer, v []T) {
	for _, x := range v {
		t.Data = strconv.AppendInt(t.Data, int64(x), 10)
		t.End()
	}
}
