package kernel

import (
	"math"
	"math/bits"

	"github.com/weirdb/weir/vector"
)

// Op is an arithmetic operator.
type Op uint8

// The operators. Div and Mod of integers truncate toward zero.
const (
	Add Op = iota
	Sub
	Mul
	Div
	Mod
)

func (o Op) String() string { return [...]string{"+", "-", "*", "/", "%"}[o] }

// Arith computes a op b on two columns of one integer or approximate kind. Overflow
// and integer division by zero are misfits.
func Arith(p *vector.Pool, op Op, a, b *vector.Vector, n int, m *Misfits) *vector.Vector {
	if a.Len() != n {
		if op == Add || op == Mul {
			a, b = b, a
		} else {
			a = Broadcast(p, a, n)
			defer a.Release()
		}
	}
	out := p.New(a.Kind(), n)
	switch a.Kind() {
	case vector.Int8:
		ints(op, vector.Values[int8](out), vector.Values[int8](a), vector.Values[int8](b), m)
	case vector.Int16:
		ints(op, vector.Values[int16](out), vector.Values[int16](a), vector.Values[int16](b), m)
	case vector.Int32:
		ints(op, vector.Values[int32](out), vector.Values[int32](a), vector.Values[int32](b), m)
	case vector.Int64:
		ints(op, vector.Values[int64](out), vector.Values[int64](a), vector.Values[int64](b), m)
	case vector.Float32:
		floats(op, vector.Values[float32](out), vector.Values[float32](a), vector.Values[float32](b))
	case vector.Float64:
		floats(op, vector.Values[float64](out), vector.Values[float64](a), vector.Values[float64](b))
	default:
		panic(unexpected("arithmetic", a.Kind()))
	}
	return out
}

// ints computes dst = a op b; b may be a constant.
func ints[T Int](op Op, dst, a, b []T, m *Misfits) {
	if len(dst) == 0 {
		return
	}
	constant := len(b) != len(dst)
	a = a[:len(dst)]
	var bad bool
	switch op {
	case Add:
		bad = addInts(dst, a, b, constant)
	case Sub:
		bad = subInts(dst, a, b, constant)
	case Mul:
		if d, ok := any(dst).([]int64); ok {
			bad = mulInt64(d, any(a).([]int64), any(b).([]int64), constant)
		} else {
			bad = mulInts(dst, a, b, constant)
		}
	default:
		if constant && b[0] > 1 {
			divConst(op, dst, a, NewDivisor(int64(b[0])))
			return
		}
		bad = divInts(op, dst, a, b, constant)
	}
	if bad {
		misfitInts(op, a, b, constant, m)
	}
}

func addInts[T Int](dst, a, b []T, constant bool) bool {
	var over T
	if constant {
		y := b[0]
		for i, x := range a {
			s := x + y
			over |= (x ^ s) & (y ^ s)
			dst[i] = s
		}
		return over < 0
	}
	b = b[:len(dst)]
	for i, x := range a {
		y := b[i]
		s := x + y
		over |= (x ^ s) & (y ^ s)
		dst[i] = s
	}
	return over < 0
}

func subInts[T Int](dst, a, b []T, constant bool) bool {
	var over T
	if constant {
		y := b[0]
		for i, x := range a {
			s := x - y
			over |= (x ^ y) & (x ^ s)
			dst[i] = s
		}
		return over < 0
	}
	b = b[:len(dst)]
	for i, x := range a {
		y := b[i]
		s := x - y
		over |= (x ^ y) & (x ^ s)
		dst[i] = s
	}
	return over < 0
}

// mulInts is for types narrower than int64.
func mulInts[T Int](dst, a, b []T, constant bool) bool {
	var over int64
	if constant {
		y := int64(b[0])
		for i, x := range a {
			w := int64(x) * y
			over |= w ^ int64(T(w))
			dst[i] = T(w)
		}
		return over != 0
	}
	b = b[:len(dst)]
	for i, x := range a {
		w := int64(x) * int64(b[i])
		over |= w ^ int64(T(w))
		dst[i] = T(w)
	}
	return over != 0
}

func mulInt64(dst, a, b []int64, constant bool) bool {
	var over int64
	if constant {
		y := b[0]
		for i, x := range a {
			hi, lo := mulSigned(x, y)
			over |= hi ^ lo>>63
			dst[i] = lo
		}
		return over != 0
	}
	b = b[:len(dst)]
	for i, x := range a {
		hi, lo := mulSigned(x, b[i])
		over |= hi ^ lo>>63
		dst[i] = lo
	}
	return over != 0
}

// mulSigned is the 128-bit product of x and y.
func mulSigned(x, y int64) (hi, lo int64) {
	h, l := bits.Mul64(uint64(x), uint64(y))
	return int64(h) - x>>63&y - y>>63&x, int64(l)
}

func divInts[T Int](op Op, dst, a, b []T, constant bool) (bad bool) {
	for i, x := range a {
		y := b[0]
		if !constant {
			y = b[i]
		}
		switch {
		case y == 0:
			bad = true
			dst[i] = 0
		case y == -1: // the smallest integer has no negative
			if op == Mod {
				dst[i] = 0
				continue
			}
			bad = bad || x == -x && x != 0
			dst[i] = -x
		case op == Div:
			dst[i] = x / y
		default:
			dst[i] = x % y
		}
	}
	return bad
}

func divConst[T Int](op Op, dst, a []T, d Divisor) {
	if op == Div {
		for i, x := range a {
			dst[i] = T(d.Div(int64(x)))
		}
		return
	}
	for i, x := range a {
		dst[i] = T(int64(x) - d.Div(int64(x))*d.d)
	}
}

// misfitInts finds the rows that made a loop's flag come up.
func misfitInts[T Int](op Op, a, b []T, constant bool, m *Misfits) {
	for i, x := range a {
		y := b[0]
		if !constant {
			y = b[i]
		}
		bad := false
		switch op {
		case Add:
			s := x + y
			bad = (x^s)&(y^s) < 0
		case Sub:
			s := x - y
			bad = (x^y)&(x^s) < 0
		case Mul:
			hi, lo := mulSigned(int64(x), int64(y))
			bad = hi != lo>>63 || int64(T(lo)) != lo
		default:
			bad = y == 0 || op == Div && y == -1 && x == -x && x != 0
		}
		if bad {
			m.add(i)
		}
	}
}

// Divisor divides by one number again and again, by multiplication.
type Divisor struct {
	d     int64
	magic uint64
	shift uint
}

// NewDivisor prepares division by d, which is at least 2.
func NewDivisor(d int64) Divisor {
	if d < 2 {
		panic("kernel: a Divisor of less than 2")
	}
	// With l = ceil(log2 d), the quotient of |x| < 2^63 is |x| * m >> (63 + l) for
	// m = ceil(2^(63+l) / d), which fits 64 bits (Granlund and Montgomery 1994).
	l := uint(bits.Len64(uint64(d - 1)))
	q, r := bits.Div64(1<<(l-1), 0, uint64(d))
	if r != 0 {
		q++
	}
	return Divisor{d: d, magic: q, shift: l - 1}
}

// Div is x / d, truncated toward zero.
func (d Divisor) Div(x int64) int64 {
	s := x >> 63
	hi, _ := bits.Mul64(uint64((x^s)-s), d.magic)
	q := int64(hi >> d.shift)
	return (q ^ s) - s
}

// FloorDiv is x / d, rounded down.
func (d Divisor) FloorDiv(x int64) int64 {
	s := x >> 63
	hi, _ := bits.Mul64(uint64(x^s), d.magic)
	return int64(hi>>d.shift) ^ s
}

// ModInts computes a % b for any two integer kinds into the kind of b, as SQL's MOD
// does. A zero in b is a misfit.
func ModInts(p *vector.Pool, a, b *vector.Vector, n int, m *Misfits) *vector.Vector {
	common := a.Kind()
	if b.Kind().Width() > common.Width() {
		common = b.Kind()
	}
	if b.Len() == 1 && n != 1 && a.Len() == n {
		if y := intAt(b, 0); y > 1 {
			out := p.New(b.Kind(), n)
			d := NewDivisor(y)
			switch a.Kind() {
			case vector.Int8:
				modTo(out, vector.Values[int8](a), d)
			case vector.Int16:
				modTo(out, vector.Values[int16](a), d)
			case vector.Int32:
				modTo(out, vector.Values[int32](a), d)
			default:
				modTo(out, vector.Values[int64](a), d)
			}
			return out
		}
	}
	var none Misfits
	x, y := CastNumber(p, a, common, &none), CastNumber(p, b, common, &none)
	q := Arith(p, Mod, x, y, n, m)
	out := CastNumber(p, q, b.Kind(), &none)
	x.Release()
	y.Release()
	q.Release()
	return out
}

func modTo[T Int](out *vector.Vector, a []T, d Divisor) {
	switch out.Kind() {
	case vector.Int8:
		modConst(vector.Values[int8](out), a, d)
	case vector.Int16:
		modConst(vector.Values[int16](out), a, d)
	case vector.Int32:
		modConst(vector.Values[int32](out), a, d)
	default:
		modConst(vector.Values[int64](out), a, d)
	}
}

func modConst[T, R Int](dst []R, a []T, d Divisor) {
	dst = dst[:len(a)]
	for i, x := range a {
		dst[i] = R(int64(x) - d.Div(int64(x))*d.d)
	}
}

func intAt(v *vector.Vector, i int) int64 {
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

// floats computes dst = a op b; b may be a constant.
func floats[T Float](op Op, dst, a, b []T) {
	if len(dst) == 0 {
		return
	}
	a = a[:len(dst)]
	if len(b) != len(dst) {
		floatsConst(op, dst, a, b[0])
		return
	}
	b = b[:len(dst)]
	switch op {
	case Add:
		for i, x := range a {
			dst[i] = x + b[i]
		}
	case Sub:
		for i, x := range a {
			dst[i] = x - b[i]
		}
	case Mul:
		for i, x := range a {
			dst[i] = x * b[i]
		}
	case Div:
		for i, x := range a {
			dst[i] = x / b[i]
		}
	default:
		for i, x := range a {
			dst[i] = T(math.Mod(float64(x), float64(b[i])))
		}
	}
}

func floatsConst[T Float](op Op, dst, a []T, y T) {
	switch op {
	case Add:
		for i, x := range a {
			dst[i] = x + y
		}
	case Sub:
		for i, x := range a {
			dst[i] = x - y
		}
	case Mul:
		for i, x := range a {
			dst[i] = x * y
		}
	case Div:
		for i, x := range a {
			dst[i] = x / y
		}
	default:
		for i, x := range a {
			dst[i] = T(math.Mod(float64(x), float64(y)))
		}
	}
}

// Neg is -v for an integer, approximate or decimal column. The smallest integer is
// a misfit.
func Neg(p *vector.Pool, v *vector.Vector, m *Misfits) *vector.Vector {
	out := p.New(v.Kind(), v.Len())
	switch v.Kind() {
	case vector.Int8:
		negInts(vector.Values[int8](out), vector.Values[int8](v), m)
	case vector.Int16:
		negInts(vector.Values[int16](out), vector.Values[int16](v), m)
	case vector.Int32:
		negInts(vector.Values[int32](out), vector.Values[int32](v), m)
	case vector.Int64:
		negInts(vector.Values[int64](out), vector.Values[int64](v), m)
	case vector.Float32:
		negFloats(vector.Values[float32](out), vector.Values[float32](v))
	case vector.Float64:
		negFloats(vector.Values[float64](out), vector.Values[float64](v))
	case vector.Decimal:
		dst := vector.Values[vector.Dec](out)
		for i, x := range vector.Values[vector.Dec](v) {
			dst[i] = negDec(x)
		}
	default:
		panic(unexpected("the negative", v.Kind()))
	}
	return out
}

func negInts[T Int](dst, a []T, m *Misfits) {
	dst = dst[:len(a)]
	var over T
	for i, x := range a {
		dst[i] = -x
		over |= x & -x
	}
	if over < 0 {
		for i, x := range a {
			if x&-x < 0 {
				m.add(i)
			}
		}
	}
}

func negFloats[T Float](dst, a []T) {
	dst = dst[:len(a)]
	for i, x := range a {
		dst[i] = -x
	}
}

// Abs is |v|, as Neg treats kinds and misfits.
func Abs(p *vector.Pool, v *vector.Vector, m *Misfits) *vector.Vector {
	out := p.New(v.Kind(), v.Len())
	switch v.Kind() {
	case vector.Int8:
		absInts(vector.Values[int8](out), vector.Values[int8](v), m)
	case vector.Int16:
		absInts(vector.Values[int16](out), vector.Values[int16](v), m)
	case vector.Int32:
		absInts(vector.Values[int32](out), vector.Values[int32](v), m)
	case vector.Int64:
		absInts(vector.Values[int64](out), vector.Values[int64](v), m)
	case vector.Float32:
		dst := vector.Values[float32](out)
		for i, x := range vector.Values[float32](v) {
			dst[i] = float32(math.Abs(float64(x)))
		}
	case vector.Float64:
		dst := vector.Values[float64](out)
		for i, x := range vector.Values[float64](v) {
			dst[i] = math.Abs(x)
		}
	case vector.Decimal:
		dst := vector.Values[vector.Dec](out)
		for i, x := range vector.Values[vector.Dec](v) {
			dst[i] = x
			if x.HighBits() < 0 {
				dst[i] = negDec(x)
			}
		}
	default:
		panic(unexpected("the absolute value", v.Kind()))
	}
	return out
}

func absInts[T Int](dst, a []T, m *Misfits) {
	dst = dst[:len(a)]
	var over T
	for i, x := range a {
		y := x
		if x < 0 {
			y = -x
		}
		dst[i] = y
		over |= y
	}
	if over < 0 {
		for i, x := range dst {
			if x < 0 {
				m.add(i)
			}
		}
	}
}
