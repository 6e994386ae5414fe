package weir

import "math/bits"

// uint128 is an unsigned integer of two words.
type uint128 struct{ hi, lo uint64 }

// uint256 is an unsigned integer of four words, the lowest first.
type uint256 [4]uint64

// pow10 is 10^n for n from 0 to 38.
func pow10(n int) uint128 {
	if n <= 19 {
		return uint128{0, pow10s[n]}
	}
	hi, lo := bits.Mul64(pow10s[19], pow10s[n-19])
	return uint128{hi, lo}
}

// pow10s are the powers of ten that fit one word. It is never written.
var pow10s = [20]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

func (x uint128) less(y uint128) bool {
	return x.hi < y.hi || x.hi == y.hi && x.lo < y.lo
}

func (x uint128) isZero() bool { return x.hi|x.lo == 0 }

// divWord is x / y with the remainder. Where the hardware can, it divides there:
// WebAssembly divides words, but not two words by one.
func (x uint128) divWord(y uint64) (quo uint128, rem uint64) {
	if x.hi == 0 {
		return uint128{0, x.lo / y}, x.lo % y
	}
	quo.hi, rem = x.hi/y, x.hi%y
	if y>>32 != 0 {
		quo.lo, rem = bits.Div64(rem, x.lo, y)
		return quo, rem
	}
	a := rem<<32 | x.lo>>32
	b := a%y<<32 | x.lo&(1<<32-1)
	quo.lo = a/y<<32 | b/y
	return quo, b % y
}

// cut is x / 10^n, rounded, with a sign. n is less than the number of pow10s.
func (x uint128) cut(n int, negative bool, mode Rounding) (Decimal, bool) {
	by := pow10s[n]
	quo, rem := x.divWord(by)
	if rem != 0 {
		half := 0 // rem is less than, as much as or more than half of by
		if rest := by - rem; rem < rest {
			half = -1
		} else if rem > rest {
			half = 1
		}
		if mode.up(quo.lo&1 == 1, negative, half) {
			quo.lo++
			if quo.lo == 0 {
				quo.hi++
			}
		}
	}
	return quo.decimal(negative)
}

// decimal is x with a sign, if it fits.
func (x uint128) decimal(negative bool) (Decimal, bool) {
	d := Decimal{x.lo, int64(x.hi)}
	if d.hi < 0 {
		return Decimal{}, false
	}
	if negative {
		d = d.Neg()
	}
	return d, true
}

// mul is x * y.
func (x uint128) mul(y uint128) (z uint256) {
	if x.hi|y.hi == 0 {
		z[1], z[0] = bits.Mul64(x.lo, y.lo)
		return z
	}
	var carry uint64
	h, l := bits.Mul64(x.lo, y.lo)
	z[0], z[1] = l, h
	h, l = bits.Mul64(x.hi, y.lo)
	z[1], carry = bits.Add64(z[1], l, 0)
	z[2], _ = bits.Add64(h, 0, carry)
	h, l = bits.Mul64(x.lo, y.hi)
	z[1], carry = bits.Add64(z[1], l, 0)
	z[2], carry = bits.Add64(z[2], h, carry)
	z[3] = carry
	h, l = bits.Mul64(x.hi, y.hi)
	z[2], carry = bits.Add64(z[2], l, 0)
	z[3], _ = bits.Add64(z[3], h, carry)
	return z
}

// div is z / y with the remainder, by division of the words. y is not zero.
func (z uint256) div(y uint128) (quo uint256, rem uint128) {
	if y.hi == 0 {
		var r uint64
		for i := 3; i >= 0; i-- {
			if r == 0 && z[i] < y.lo { // keeps small numbers to one division
				r = z[i]
				continue
			}
			quo[i], r = bits.Div64(r, z[i], y.lo)
		}
		return quo, uint128{0, r}
	}
	// Two words: shift until the divisor's highest bit is set, then estimate each
	// word of the quotient from the two highest words (Knuth's algorithm D).
	s := uint(bits.LeadingZeros64(y.hi))
	d1, d0 := y.hi<<s|y.lo>>(64-s), y.lo<<s
	var u [5]uint64
	u[4] = z[3] >> (64 - s)
	for i := 3; i > 0; i-- {
		u[i] = z[i]<<s | z[i-1]>>(64-s)
	}
	u[0] = z[0] << s
	for i := 2; i >= 0; i-- {
		quo[i] = divStep(&u, i, d1, d0)
	}
	return quo, uint128{u[1] >> s, u[0]>>s | u[1]<<(64-s)}
}

// divStep divides the three words u[i], u[i+1], u[i+2] by d1, d0, whose highest
// bit is set, leaves the remainder in u and returns the word of the quotient.
func divStep(u *[5]uint64, i int, d1, d0 uint64) uint64 {
	q := ^uint64(0)
	var r uint64
	exact := false // whether r < 2^64, so that the estimate can be refined
	if u[i+2] < d1 {
		q, r = bits.Div64(u[i+2], u[i+1], d1)
		exact = true
	} else {
		var carry uint64
		r, carry = bits.Add64(u[i+1], d1, 0)
		exact = carry == 0
	}
	for exact {
		h, l := bits.Mul64(q, d0)
		if h < r || h == r && l <= u[i] {
			break
		}
		q--
		var carry uint64
		r, carry = bits.Add64(r, d1, 0)
		exact = carry == 0
	}
	h0, l0 := bits.Mul64(q, d0)
	h1, l1 := bits.Mul64(q, d1)
	mid, carry := bits.Add64(h0, l1, 0)
	top := h1 + carry
	var borrow uint64
	u[i], borrow = bits.Sub64(u[i], l0, 0)
	u[i+1], borrow = bits.Sub64(u[i+1], mid, borrow)
	u[i+2], borrow = bits.Sub64(u[i+2], top, borrow)
	if borrow != 0 {
		q--
		u[i], carry = bits.Add64(u[i], d0, 0)
		u[i+1], carry = bits.Add64(u[i+1], d1, carry)
		u[i+2], _ = bits.Add64(u[i+2], 0, carry)
	}
	return q
}

// round makes a Decimal of the quotient z, whose remainder of a division by by is
// rem, and the sign.
func (z uint256) round(rem, by uint128, negative bool, mode Rounding) (Decimal, bool) {
	if z[2]|z[3] != 0 || int64(z[1]) < 0 {
		return Decimal{}, false
	}
	x := uint128{z[1], z[0]}
	if !rem.isZero() && mode.up(x.lo&1 == 1, negative, half(rem, by)) {
		var carry uint64
		x.lo, carry = bits.Add64(x.lo, 1, 0)
		x.hi += carry
	}
	return x.decimal(negative)
}

// half compares rem with half of by: -1, 0, +1.
func half(rem, by uint128) int {
	rest := by // by - rem, compared with rem
	var borrow uint64
	rest.lo, borrow = bits.Sub64(by.lo, rem.lo, 0)
	rest.hi, _ = bits.Sub64(by.hi, rem.hi, borrow)
	switch {
	case rem == rest:
		return 0
	case rem.less(rest):
		return -1
	}
	return 1
}
