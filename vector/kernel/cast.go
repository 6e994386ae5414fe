package kernel

import (
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/weirdb/weir/vector"
)

// CastNumber converts between Bool, the integer and the approximate kinds. Approximate
// values are truncated toward zero. What does not fit an integer kind is a misfit;
// what does not fit a FLOAT becomes infinite. The result is new even when the kinds
// are equal.
func CastNumber(p *vector.Pool, v *vector.Vector, to vector.Kind, m *Misfits) *vector.Vector {
	out := p.New(to, v.Len())
	switch v.Kind() {
	case vector.Bool:
		boolTo(out, octets(vector.Values[bool](v)))
	case vector.Int8:
		intsTo(out, vector.Values[int8](v), m)
	case vector.Int16:
		intsTo(out, vector.Values[int16](v), m)
	case vector.Int32:
		intsTo(out, vector.Values[int32](v), m)
	case vector.Int64:
		intsTo(out, vector.Values[int64](v), m)
	case vector.Float32:
		floatsTo(out, vector.Values[float32](v), m)
	case vector.Float64:
		floatsTo(out, vector.Values[float64](v), m)
	default:
		panic(unexpected("a number cast", v.Kind()))
	}
	return out
}

func boolTo(out *vector.Vector, src []uint8) {
	switch out.Kind() {
	case vector.Bool:
		copy(octets(vector.Values[bool](out)), src)
	case vector.Int8:
		convert(vector.Values[int8](out), src)
	case vector.Int16:
		convert(vector.Values[int16](out), src)
	case vector.Int32:
		convert(vector.Values[int32](out), src)
	case vector.Int64:
		convert(vector.Values[int64](out), src)
	case vector.Float32:
		convert(vector.Values[float32](out), src)
	default:
		convert(vector.Values[float64](out), src)
	}
}

func convert[T, F Number | uint8](dst []T, src []F) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = T(x)
	}
}

func intsTo[F Int](out *vector.Vector, src []F, m *Misfits) {
	switch out.Kind() {
	case vector.Bool:
		notZero(vector.Values[bool](out), src)
	case vector.Int8:
		narrow(vector.Values[int8](out), src, m)
	case vector.Int16:
		narrow(vector.Values[int16](out), src, m)
	case vector.Int32:
		narrow(vector.Values[int32](out), src, m)
	case vector.Int64:
		convert(vector.Values[int64](out), src)
	case vector.Float32:
		convert(vector.Values[float32](out), src)
	case vector.Float64:
		convert(vector.Values[float64](out), src)
	default:
		panic(unexpected("a number cast", out.Kind()))
	}
}

func notZero[F Number](dst []bool, src []F) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = x != 0
	}
}

func narrow[T, F Int](dst []T, src []F, m *Misfits) {
	dst = dst[:len(src)]
	var lost int64
	for i, x := range src {
		y := T(x)
		lost |= int64(x) ^ int64(y)
		dst[i] = y
	}
	if lost != 0 {
		for i, x := range src {
			if int64(x) != int64(T(x)) {
				m.add(i)
			}
		}
	}
}

func floatsTo[F Float](out *vector.Vector, src []F, m *Misfits) {
	switch out.Kind() {
	case vector.Bool:
		notZero(vector.Values[bool](out), src)
	case vector.Int8:
		truncate(vector.Values[int8](out), src, math.MinInt8, 1<<7, m)
	case vector.Int16:
		truncate(vector.Values[int16](out), src, math.MinInt16, 1<<15, m)
	case vector.Int32:
		truncate(vector.Values[int32](out), src, math.MinInt32, 1<<31, m)
	case vector.Int64:
		truncate(vector.Values[int64](out), src, math.MinInt64, 1<<63, m)
	case vector.Float32:
		convert(vector.Values[float32](out), src)
	case vector.Float64:
		convert(vector.Values[float64](out), src)
	default:
		panic(unexpected("a number cast", out.Kind()))
	}
}

// truncate drops the fraction; values in [low, high) fit.
func truncate[T Int, F Float](dst []T, src []F, low, high float64, m *Misfits) {
	dst = dst[:len(src)]
	for i, x := range src {
		w := math.Trunc(float64(x))
		if !(w >= low && w < high) {
			m.add(i)
			dst[i] = 0
			continue
		}
		dst[i] = T(w)
	}
}

// NumberToDecimal converts Bool, integers and approximate values to decimals of the
// given type, rounding half away from zero. What does not fit is a misfit.
func NumberToDecimal(p *vector.Pool, v *vector.Vector, precision, scale int, m *Misfits) *vector.Vector {
	out := p.New(vector.Decimal, v.Len())
	dst := vector.Values[vector.Dec](out)
	switch v.Kind() {
	case vector.Bool:
		intsToDec(dst, octets(vector.Values[bool](v)), 1, precision, scale, m)
	case vector.Int8:
		intsToDec(dst, vector.Values[int8](v), 3, precision, scale, m)
	case vector.Int16:
		intsToDec(dst, vector.Values[int16](v), 5, precision, scale, m)
	case vector.Int32:
		intsToDec(dst, vector.Values[int32](v), 10, precision, scale, m)
	case vector.Int64:
		intsToDec(dst, vector.Values[int64](v), 19, precision, scale, m)
	case vector.Float32:
		for i, x := range vector.Values[float32](v) {
			d, ok := FloatToDec(float64(x), 32, precision, scale)
			dst[i] = d
			if !ok {
				m.add(i)
			}
		}
	case vector.Float64:
		for i, x := range vector.Values[float64](v) {
			d, ok := FloatToDec(x, 64, precision, scale)
			dst[i] = d
			if !ok {
				m.add(i)
			}
		}
	default:
		panic(unexpected("a cast to decimal", v.Kind()))
	}
	return out
}

func intsToDec[F Int | uint8](dst []vector.Dec, src []F, digits, precision, scale int, m *Misfits) {
	dst = dst[:len(src)]
	if scale > 18 {
		for i, x := range src {
			d, ok := RescaleDec(decimal128.FromI64(int64(x)), 0, scale, precision)
			dst[i] = d
			if !ok {
				m.add(i)
			}
		}
		return
	}
	if scale == 0 {
		for i, x := range src {
			dst[i] = decimal128.New(int64(x)>>63, uint64(int64(x)))
		}
	} else {
		f := pow10(scale)
		for i, x := range src {
			dst[i] = mul64Dec(int64(x), f)
		}
	}
	if precision-scale < digits {
		for i, x := range dst {
			if !FitsDec(x, precision) {
				m.add(i)
			}
		}
	}
}

// DecimalToNumber converts decimals of the given scale to Bool, integers (truncated)
// or approximate values. What does not fit an integer is a misfit.
func DecimalToNumber(p *vector.Pool, v *vector.Vector, scale int, to vector.Kind, m *Misfits) *vector.Vector {
	src := vector.Values[vector.Dec](v)
	switch to {
	case vector.Bool:
		out := p.New(to, v.Len())
		dst := vector.Values[bool](out)
		for i, x := range src {
			dst[i] = x != vector.Dec{}
		}
		return out
	case vector.Float32, vector.Float64:
		wide := p.New(vector.Float64, v.Len())
		dst := vector.Values[float64](wide)
		for i, x := range src {
			dst[i] = DecToFloat(x, scale)
		}
		if to == vector.Float64 {
			return wide
		}
		defer wide.Release()
		return CastNumber(p, wide, to, m)
	}
	wide := p.New(vector.Int64, v.Len())
	dst := vector.Values[int64](wide)
	before := len(m.Rows)
	for i, x := range src {
		q, ok := DecToInt(x, scale)
		dst[i] = q
		if !ok {
			m.add(i)
		}
	}
	if to == vector.Int64 {
		return wide
	}
	defer wide.Release()
	out := CastNumber(p, wide, to, m)
	m.sort(before)
	return out
}

// sort orders the rows added since there were from of them.
func (m *Misfits) sort(from int) {
	slices.Sort(m.Rows[from:])
}

// DecToInt is x without its fraction, or false when that is no int64.
func DecToInt(x vector.Dec, scale int) (int64, bool) {
	if scale <= 18 && is64(x) == 0 {
		return int64(x.LowBits()) / pow10(scale), true
	}
	b := bigOf(x)
	for k := scale; k > 0; {
		step := min(k, 18)
		b, _ = b.divWord(uint64(pow10(step)))
		k -= step
	}
	if b.w[1] != 0 || b.w[0] > 1<<63 || b.w[0] == 1<<63 && !b.neg {
		return 0, false
	}
	q := int64(b.w[0])
	if b.neg {
		q = -q
	}
	return q, true
}

// DecToFloat is the float64 nearest to x.
func DecToFloat(x vector.Dec, scale int) float64 {
	if is64(x) == 0 && scale <= 22 {
		if v := int64(x.LowBits()); v > -1<<53 && v < 1<<53 {
			return float64(v) / math.Pow10(scale) // both exact, so one rounding
		}
	}
	var buf [48]byte
	f, _ := ParseFloat(AppendDecimal(buf[:0], x, scale))
	return f
}

// CastDecimal changes the scale of decimals, rounding half away from zero. What has
// too many digits then is a misfit.
func CastDecimal(p *vector.Pool, v *vector.Vector, from, precision, to int, m *Misfits) *vector.Vector {
	out := p.New(vector.Decimal, v.Len())
	dst := vector.Values[vector.Dec](out)
	for i, x := range vector.Values[vector.Dec](v) {
		d, ok := RescaleDec(x, from, to, precision)
		dst[i] = d
		if !ok {
			m.add(i)
		}
	}
	return out
}

// ScaleInts multiplies an Int64 column by f: for timestamps that get a finer unit.
// Overflow is a misfit.
func ScaleInts(p *vector.Pool, v *vector.Vector, f int64, m *Misfits) *vector.Vector {
	out := p.New(vector.Int64, v.Len())
	src, dst := vector.Values[int64](v), vector.Values[int64](out)
	if len(src) > 0 && mulInt64(dst, src, []int64{f}, len(src) != 1) {
		misfitInts(Mul, src, []int64{f}, true, m)
	}
	return out
}

// FloorInts divides an Int64 column by f > 1, rounding down: for timestamps that get
// a coarser unit.
func FloorInts(p *vector.Pool, v *vector.Vector, f int64) *vector.Vector {
	out := p.New(vector.Int64, v.Len())
	dst, d := vector.Values[int64](out), NewDivisor(f)
	for i, x := range vector.Values[int64](v) {
		dst[i] = d.FloorDiv(x)
	}
	return out
}
