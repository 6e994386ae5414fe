package weir

import "math/bits"

// Decimal is the value of a DECIMAL(p, s) without its scale: the integer that is
// the number times 10^s, in 128 bits. Which scale it has, the function's signature
// says: with price DECIMAL(10, 2), 12.50 arrives as 1250.
//
// Operations report with ok whether the result fits 128 bits. Whether it also
// fits the precision of the result's type is checked when the row is handed over.
type Decimal struct {
	lo uint64 // first: the layout is that of a 16-byte little-endian integer
	hi int64
}

// DecimalOf is the decimal whose unscaled value is x.
func DecimalOf(x int64) Decimal { return Decimal{uint64(x), x >> 63} }

// DecimalFromParts is the decimal of the two halves of its 128-bit two's
// complement.
func DecimalFromParts(hi int64, lo uint64) Decimal { return Decimal{lo, hi} }

// Parts are the two halves of d's two's complement.
func (d Decimal) Parts() (hi int64, lo uint64) { return d.hi, d.lo }

// Int64 is d's unscaled value, and whether it fits.
func (d Decimal) Int64() (v int64, ok bool) {
	v = int64(d.lo)
	return v, d.hi == v>>63
}

// Sign is -1, 0 or +1.
func (d Decimal) Sign() int {
	switch {
	case d.hi < 0:
		return -1
	case d.hi == 0 && d.lo == 0:
		return 0
	}
	return 1
}

// Cmp is -1, 0 or +1 as d is less than, equal to or greater than e, which has the
// same scale.
func (d Decimal) Cmp(e Decimal) int {
	switch {
	case d == e:
		return 0
	case d.hi < e.hi || d.hi == e.hi && d.lo < e.lo:
		return -1
	}
	return 1
}

// Less reports whether d is less than e, which has the same scale.
func (d Decimal) Less(e Decimal) bool { return d.Cmp(e) < 0 }

// Add is d + e, of one scale.
func (d Decimal) Add(e Decimal) (sum Decimal, ok bool) {
	lo, carry := bits.Add64(d.lo, e.lo, 0)
	hi, _ := bits.Add64(uint64(d.hi), uint64(e.hi), carry)
	sum = Decimal{lo, int64(hi)}
	return sum, (d.hi^sum.hi)&(e.hi^sum.hi) >= 0
}

// Sub is d - e, of one scale.
func (d Decimal) Sub(e Decimal) (diff Decimal, ok bool) {
	lo, borrow := bits.Sub64(d.lo, e.lo, 0)
	hi, _ := bits.Sub64(uint64(d.hi), uint64(e.hi), borrow)
	diff = Decimal{lo, int64(hi)}
	return diff, (d.hi^e.hi)&(d.hi^diff.hi) >= 0
}

// Neg is -d. The least value of 128 bits, which no DECIMAL has, stays itself.
func (d Decimal) Neg() Decimal {
	lo, borrow := bits.Sub64(0, d.lo, 0)
	hi, _ := bits.Sub64(0, uint64(d.hi), borrow)
	return Decimal{lo, int64(hi)}
}

// Abs is d without its sign.
func (d Decimal) Abs() Decimal {
	if d.hi < 0 {
		return d.Neg()
	}
	return d
}

// Mul is d * e; its scale is the sum of theirs.
func (d Decimal) Mul(e Decimal) (product Decimal, ok bool) {
	return d.MulRound(e, 0, TowardZero)
}

// MulRound is d * e / 10^digits, rounded. The product in between has 256 bits, so
// only a result that does not fit is refused. With digits set to e's scale it is
// what amount times rate gives in the amount's scale. Digits are 0 to 38.
func (d Decimal) MulRound(e Decimal, digits int, mode Rounding) (result Decimal, ok bool) {
	x, y := d.magnitude(), e.magnitude()
	if x.hi|y.hi == 0 && digits < len(pow10s) {
		hi, lo := bits.Mul64(x.lo, y.lo)
		return uint128{hi, lo}.cut(digits, d.hi^e.hi < 0, mode)
	}
	by := pow10(digits)
	quo, rem := x.mul(y).div(by)
	return quo.round(rem, by, d.hi^e.hi < 0, mode)
}

// QuoRound is d * 10^digits / e, rounded: its scale is d's plus digits minus e's.
// It is not ok when e is zero. Digits are 0 to 38.
func (d Decimal) QuoRound(e Decimal, digits int, mode Rounding) (result Decimal, ok bool) {
	if e == (Decimal{}) {
		return Decimal{}, false
	}
	by := e.magnitude()
	quo, rem := d.magnitude().mul(pow10(digits)).div(by)
	return quo.round(rem, by, d.hi^e.hi < 0, mode)
}

// Rescale is the number d, of scale from, in scale to, rounded where digits are
// lost. Scales are 0 to 38.
func (d Decimal) Rescale(from, to int, mode Rounding) (result Decimal, ok bool) {
	m, negative := d.magnitude(), d.hi < 0
	switch {
	case to < from && from-to < len(pow10s):
		return m.cut(from-to, negative, mode)
	case to < from:
		return d.MulRound(DecimalOf(1), from-to, mode)
	case m.hi == 0 && to-from < len(pow10s):
		hi, lo := bits.Mul64(m.lo, pow10s[to-from])
		return uint128{hi, lo}.decimal(negative)
	}
	return m.mul(pow10(to-from)).round(uint128{}, uint128{0, 1}, negative, mode)
}

// Round is d, of the given scale, rounded to fewer digits after the point; the
// scale stays.
func (d Decimal) Round(scale, digits int, mode Rounding) (result Decimal, ok bool) {
	if digits >= scale {
		return d, true
	}
	if r, ok := d.Rescale(scale, digits, mode); ok {
		return r.Rescale(digits, scale, mode)
	}
	return Decimal{}, false
}

// Fits reports whether d has at most precision digits, 1 to 38.
func (d Decimal) Fits(precision int) bool {
	return d.magnitude().less(pow10(precision))
}

// magnitude is |d| without a sign bit.
func (d Decimal) magnitude() uint128 {
	d = d.Abs()
	return uint128{uint64(d.hi), d.lo}
}
