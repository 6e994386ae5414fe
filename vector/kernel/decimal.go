package kernel

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/weirdb/weir/vector"
)

// DecimalSpec has the scales of the operands of a decimal operation and the type
// of its result. A result that has more digits after the point than Scale is
// rounded half away from zero; one of more than Precision digits is a misfit.
type DecimalSpec struct {
	ScaleA, ScaleB   int
	Precision, Scale int
	// Fits says that Precision is enough for every result, so that no check is
	// needed: the rules for result types see to it unless they hit 38 digits.
	Fits bool
}

// maxDigits is the largest precision of a decimal.
const maxDigits = 38

// pow10Dec is 10^k, k at most 38.
func pow10Dec(k int) vector.Dec { return decimal128.GetScaleMultiplier(k) }

// pow10 is 10^k for k at most 18.
func pow10(k int) int64 { return int64(pow10Dec(k).LowBits()) }

func negDec(x vector.Dec) vector.Dec {
	lo, borrow := bits.Sub64(0, x.LowBits(), 0)
	hi, _ := bits.Sub64(0, uint64(x.HighBits()), borrow)
	return decimal128.New(int64(hi), lo)
}

func addDec(x, y vector.Dec) vector.Dec {
	lo, carry := bits.Add64(x.LowBits(), y.LowBits(), 0)
	hi, _ := bits.Add64(uint64(x.HighBits()), uint64(y.HighBits()), carry)
	return decimal128.New(int64(hi), lo)
}

// mul64Dec is the exact product.
func mul64Dec(x, y int64) vector.Dec {
	hi, lo := mulSigned(x, y)
	return decimal128.New(hi, uint64(lo))
}

// is64 is zero when x fits an int64.
func is64(x vector.Dec) int64 { return x.HighBits() ^ int64(x.LowBits())>>63 }

// CmpDec compares two decimals of one scale.
func CmpDec(x, y vector.Dec) int {
	switch {
	case x == y:
		return 0
	case lessDec(x, y):
		return -1
	}
	return 1
}

func lessDec(x, y vector.Dec) bool {
	return x.HighBits() < y.HighBits() || x.HighBits() == y.HighBits() && x.LowBits() < y.LowBits()
}

// FitsDec reports whether x has at most precision digits.
func FitsDec(x vector.Dec, precision int) bool {
	if x.HighBits() < 0 {
		x = negDec(x)
	}
	return x.HighBits() >= 0 && lessDec(x, pow10Dec(precision))
}

// ArithDec computes a op b on decimal columns. Overflow of the precision and
// division by zero are misfits.
func ArithDec(p *vector.Pool, op Op, a, b *vector.Vector, n int, s DecimalSpec, m *Misfits) *vector.Vector {
	if a.Len() != n {
		if op == Add || op == Mul {
			a, b, s.ScaleA, s.ScaleB = b, a, s.ScaleB, s.ScaleA
		} else {
			a = Broadcast(p, a, n)
			defer a.Release()
		}
	}
	out := p.New(vector.Decimal, n)
	if n == 0 {
		return out
	}
	dst, x, y := vector.Values[vector.Dec](out), vector.Values[vector.Dec](a), vector.Values[vector.Dec](b)
	fast := false
	switch op {
	case Mul:
		fast = s.Scale == s.ScaleA+s.ScaleB && mulDecs(dst, x, y)
	case Add:
		fast = s.Scale == max(s.ScaleA, s.ScaleB) && addDecs(dst, x, y, s, 1)
	case Sub:
		fast = s.Scale == max(s.ScaleA, s.ScaleB) && addDecs(dst, x, y, s, -1)
	}
	if fast {
		if !s.Fits {
			checkDecs(dst, s.Precision, m)
		}
		return out
	}
	shift := s.Scale - s.ScaleA + s.ScaleB // of a quotient
	for i, v := range x {
		w := y[0]
		if len(y) == len(x) {
			w = y[i]
		}
		var r vector.Dec
		var ok bool
		if op == Div && shift >= 0 && shift <= maxDigits && is64(v)|is64(w) == 0 && w.LowBits() != 0 {
			r, ok = quoDec(int64(v.LowBits()), int64(w.LowBits()), pow10Dec(shift), s.Precision)
		} else {
			r, ok = OneDec(op, v, w, s)
		}
		dst[i] = r
		if !ok {
			m.add(i)
		}
	}
	return out
}

// mulDecs multiplies values that fit 64 bits; it reports false when some do not.
func mulDecs(dst, a, b []vector.Dec) bool {
	var big int64
	a = a[:len(dst)]
	if len(b) != len(dst) {
		y := int64(b[0].LowBits())
		big = is64(b[0])
		for i, x := range a {
			big |= is64(x)
			dst[i] = mul64Dec(int64(x.LowBits()), y)
		}
		return big == 0
	}
	b = b[:len(dst)]
	for i, x := range a {
		y := b[i]
		big |= is64(x) | is64(y)
		dst[i] = mul64Dec(int64(x.LowBits()), int64(y.LowBits()))
	}
	return big == 0
}

// addDecs adds values that fit 64 bits (b times sign) at the larger scale; it reports
// false when some do not.
func addDecs(dst, a, b []vector.Dec, s DecimalSpec, sign int64) bool {
	up := max(s.ScaleA, s.ScaleB)
	if up-s.ScaleA > 18 || up-s.ScaleB > 18 {
		return false
	}
	fa, fb := pow10(up-s.ScaleA), pow10(up-s.ScaleB)*sign
	var big int64
	a = a[:len(dst)]
	if len(b) != len(dst) {
		y := mul64Dec(int64(b[0].LowBits()), fb)
		big = is64(b[0])
		for i, x := range a {
			big |= is64(x)
			dst[i] = addDec(mul64Dec(int64(x.LowBits()), fa), y)
		}
		return big == 0
	}
	b = b[:len(dst)]
	for i, x := range a {
		y := b[i]
		big |= is64(x) | is64(y)
		dst[i] = addDec(mul64Dec(int64(x.LowBits()), fa), mul64Dec(int64(y.LowBits()), fb))
	}
	return big == 0
}

// quoDec is x * f / y, rounded half away from zero, or false when it has more than
// precision digits.
func quoDec(x, y int64, f vector.Dec, precision int) (vector.Dec, bool) {
	neg := x^y < 0
	ux, uy := uint64(x), uint64(y)
	if x < 0 {
		ux = -ux
	}
	if y < 0 {
		uy = -uy
	}
	c, n0 := bits.Mul64(ux, f.LowBits())
	n2, n1 := bits.Mul64(ux, uint64(f.HighBits()))
	n1, carry := bits.Add64(n1, c, 0)
	n2 += carry
	if n2 >= uy { // the quotient takes more than two words
		return vector.Dec{}, false
	}
	q1, r := bits.Div64(n2, n1, uy)
	q0, r := bits.Div64(r, n0, uy)
	if r >= uy-r {
		q0, carry = bits.Add64(q0, 1, 0)
		q1 += carry
	}
	q := decimal128.New(int64(q1), q0)
	if q1>>63 != 0 || !lessDec(q, pow10Dec(precision)) {
		return vector.Dec{}, false
	}
	if neg {
		q = negDec(q)
	}
	return q, true
}

func checkDecs(a []vector.Dec, precision int, m *Misfits) {
	for i, x := range a {
		if is64(x) != 0 || precision < 19 {
			if !FitsDec(x, precision) {
				m.add(i)
			}
		}
	}
}

// OneDec is the slow and general form of ArithDec for one row.
func OneDec(op Op, x, y vector.Dec, s DecimalSpec) (vector.Dec, bool) {
	a, b := bigOf(x), bigOf(y)
	switch op {
	case Mul:
		r, ok := a.mul(b)
		return r.round(s.ScaleA+s.ScaleB-s.Scale, s.Precision, ok)
	case Add, Sub:
		if op == Sub {
			b.neg = !b.neg
		}
		up := max(s.ScaleA, s.ScaleB)
		a, _ = a.scale10(up - s.ScaleA) // at most 10^76: fits 256 bits
		b, _ = b.scale10(up - s.ScaleB)
		return a.add(b).round(up-s.Scale, s.Precision, true)
	case Mod:
		if b.zero() {
			return vector.Dec{}, false
		}
		up := max(s.ScaleA, s.ScaleB)
		a, _ = a.scale10(up - s.ScaleA)
		b, _ = b.scale10(up - s.ScaleB)
		_, r := a.quoRem(b)
		return r.round(up-s.Scale, s.Precision, true)
	}
	if b.zero() {
		return vector.Dec{}, false
	}
	ok := true
	if k := s.Scale - s.ScaleA + s.ScaleB; k >= 0 {
		a, ok = a.scale10(k) // what overflows 256 bits has a quotient of more than 38 digits
	} else {
		b, _ = b.scale10(-k)
	}
	if !ok {
		return vector.Dec{}, false
	}
	q, r := a.quoRem(b)
	// Round half away from zero: when 2r >= b.
	r.neg = false
	b.neg = false
	if r.add(r).cmpAbs(b) >= 0 {
		neg := a.neg != (y.HighBits() < 0)
		q.neg = false
		q = q.add(bigOf(decimal128.FromU64(1)))
		q.neg = neg
	}
	return q.round(0, s.Precision, true)
}

// RescaleDec is x of scale from at scale to, rounded half away from zero, or false
// when it has more than precision digits then.
func RescaleDec(x vector.Dec, from, to, precision int) (vector.Dec, bool) {
	switch {
	case from == to:
		return x, FitsDec(x, precision)
	case to > from && to-from <= 18 && is64(x) == 0:
		r := mul64Dec(int64(x.LowBits()), pow10(to-from))
		return r, FitsDec(r, precision)
	case from > to && from-to <= 18 && is64(x) == 0:
		d := pow10(from - to)
		v := int64(x.LowBits())
		q, r := v/d, v%d
		if r >= d-d/2 {
			q++
		} else if -r >= d-d/2 {
			q--
		}
		x = decimal128.FromI64(q)
		return x, FitsDec(x, precision)
	}
	b := bigOf(x)
	if to > from {
		b, ok := b.scale10(to - from)
		return b.round(0, precision, ok)
	}
	return b.round(from-to, precision, true)
}

// CmpDecScaled compares decimals of different scales.
func CmpDecScaled(x, y vector.Dec, scaleX, scaleY int) int {
	up := max(scaleX, scaleY)
	if is64(x)|is64(y) == 0 && up-min(scaleX, scaleY) <= 18 {
		return CmpDec(mul64Dec(int64(x.LowBits()), pow10(up-scaleX)), mul64Dec(int64(y.LowBits()), pow10(up-scaleY)))
	}
	a, _ := bigOf(x).scale10(up - scaleX)
	b, _ := bigOf(y).scale10(up - scaleY)
	return a.cmp(b)
}

// int256 is an integer of 256 bits and a sign, for what 128 bits cannot hold on the way.
type int256 struct {
	neg bool
	w   [4]uint64 // magnitude, least significant word first
}

func bigOf(x vector.Dec) int256 {
	neg := x.HighBits() < 0
	if neg {
		x = negDec(x)
	}
	return int256{neg: neg, w: [4]uint64{x.LowBits(), uint64(x.HighBits()), 0, 0}}
}

func (a int256) zero() bool { return a.w == [4]uint64{} }

// mul is a * b for magnitudes below 2^128.
func (a int256) mul(b int256) (int256, bool) {
	r := int256{neg: a.neg != b.neg}
	for i := range 2 {
		var carry uint64
		for j := range 2 {
			hi, lo := bits.Mul64(a.w[i], b.w[j])
			var c uint64
			lo, c = bits.Add64(lo, r.w[i+j], 0)
			hi += c
			lo, c = bits.Add64(lo, carry, 0)
			carry = hi + c
			r.w[i+j] = lo
		}
		r.w[i+2] = carry
	}
	return r, true
}

func (a int256) mulWord(f uint64) (int256, bool) {
	var carry uint64
	for i, w := range a.w {
		hi, lo := bits.Mul64(w, f)
		var c uint64
		a.w[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	return a, carry == 0
}

// scale10 is a * 10^k.
func (a int256) scale10(k int) (int256, bool) {
	ok := true
	for k > 0 && ok {
		step := min(k, 18)
		a, ok = a.mulWord(uint64(pow10(step)))
		k -= step
	}
	return a, ok
}

func (a int256) divWord(d uint64) (int256, uint64) {
	var r uint64
	for i := a.words() - 1; i >= 0; i-- {
		a.w[i], r = bits.Div64(r, a.w[i], d)
	}
	return a, r
}

func (a int256) cmpAbs(b int256) int {
	for i := 3; i >= 0; i-- {
		switch {
		case a.w[i] < b.w[i]:
			return -1
		case a.w[i] > b.w[i]:
			return 1
		}
	}
	return 0
}

func (a int256) cmp(b int256) int {
	an, bn := a.neg && !a.zero(), b.neg && !b.zero()
	switch {
	case an && bn:
		return b.cmpAbs(a)
	case an:
		return -1
	case bn:
		return 1
	}
	return a.cmpAbs(b)
}

// add is a + b; callers keep magnitudes below 2^255.
func (a int256) add(b int256) int256 {
	if a.neg == b.neg {
		var c uint64
		for i := range a.w {
			a.w[i], c = bits.Add64(a.w[i], b.w[i], c)
		}
		return a
	}
	if a.cmpAbs(b) < 0 {
		a, b = b, a
	}
	var c uint64
	for i := range a.w {
		a.w[i], c = bits.Sub64(a.w[i], b.w[i], c)
	}
	return a
}

func (a int256) words() int {
	n := 4
	for n > 0 && a.w[n-1] == 0 {
		n--
	}
	return n
}

// quoRem divides magnitudes, truncating: Knuth's algorithm D (TAOCP 2, 4.3.1).
// The remainder has the sign of a.
func (a int256) quoRem(b int256) (q, r int256) {
	q.neg, r.neg = a.neg != b.neg, a.neg
	n := b.words()
	switch {
	case a.cmpAbs(b) < 0:
		r.w = a.w
		return q, r
	case n == 1:
		d, rest := a.divWord(b.w[0])
		q.w = d.w
		r.w[0] = rest
		return q, r
	}
	shift := uint(bits.LeadingZeros64(b.w[n-1]))
	var v [4]uint64
	for i := n - 1; i >= 0; i-- {
		v[i] = b.w[i] << shift
		if i > 0 {
			v[i] |= b.w[i-1] >> (64 - shift)
		}
	}
	var u [5]uint64
	u[4] = a.w[3] >> (64 - shift)
	for i := 3; i >= 0; i-- {
		u[i] = a.w[i] << shift
		if i > 0 {
			u[i] |= a.w[i-1] >> (64 - shift)
		}
	}
	for j := 4 - n; j >= 0; j-- {
		qhat, rhat, over := ^uint64(0), uint64(0), false
		if u[j+n] < v[n-1] {
			qhat, rhat = bits.Div64(u[j+n], u[j+n-1], v[n-1])
		} else {
			var c uint64
			rhat, c = bits.Add64(u[j+n-1], v[n-1], 0)
			over = c != 0
		}
		for !over {
			hi, lo := bits.Mul64(qhat, v[n-2])
			if hi < rhat || hi == rhat && lo <= u[j+n-2] {
				break
			}
			qhat--
			var c uint64
			rhat, c = bits.Add64(rhat, v[n-1], 0)
			over = c != 0
		}
		var borrow, carry uint64
		for i := range n {
			hi, lo := bits.Mul64(qhat, v[i])
			var c uint64
			lo, c = bits.Add64(lo, carry, 0)
			carry = hi + c
			u[i+j], borrow = bits.Sub64(u[i+j], lo, borrow)
		}
		u[j+n], borrow = bits.Sub64(u[j+n], carry, borrow)
		if borrow != 0 {
			qhat--
			var c uint64
			for i := range n {
				u[i+j], c = bits.Add64(u[i+j], v[i], c)
			}
			u[j+n] += c
		}
		q.w[j] = qhat
	}
	for i := range n {
		r.w[i] = u[i]>>shift | u[i+1]<<(64-shift)
	}
	return q, r
}

// round drops the last k digits, rounding half away from zero, and is false when
// more than precision digits are left.
func (a int256) round(k, precision int, ok bool) (vector.Dec, bool) {
	if !ok {
		return vector.Dec{}, false
	}
	if k > 0 {
		for k > 1 {
			step := min(k-1, 18)
			a, _ = a.divWord(uint64(pow10(step)))
			k -= step
		}
		var r uint64
		a, r = a.divWord(10)
		if r >= 5 {
			neg := a.neg
			a.neg = false
			a = a.add(int256{w: [4]uint64{1}})
			a.neg = neg
		}
	}
	if a.w[3]|a.w[2] != 0 || a.w[1]>>63 != 0 {
		return vector.Dec{}, false
	}
	x := decimal128.New(int64(a.w[1]), a.w[0])
	if !lessDec(x, pow10Dec(precision)) {
		return vector.Dec{}, false
	}
	if a.neg {
		x = negDec(x)
	}
	return x, true
}

// FloorDec rounds x to a whole number, of scale 0, down or up.
func FloorDec(x vector.Dec, scale int, up bool) vector.Dec {
	if scale == 0 {
		return x
	}
	b := bigOf(x)
	unit, _ := bigOf(decimal128.FromU64(1)).scale10(scale)
	q, r := b.quoRem(unit)
	if !r.zero() && b.neg != up {
		neg := b.neg
		q.neg = false
		q = q.add(int256{w: [4]uint64{1}})
		q.neg = neg
	}
	v, _ := q.round(0, maxDigits, true)
	return v
}

// RoundDec rounds x, of scale from, to the given number of digits after the point
// (negative: before it), at most from, and gives the result scale to.
func RoundDec(x vector.Dec, from, digits, to, precision int) (vector.Dec, bool) {
	rounded, ok := bigOf(x).round(from-digits, maxDigits, true)
	if !ok {
		return rounded, false
	}
	b := bigOf(rounded)
	if to >= digits {
		b, ok = b.scale10(to - digits)
		return b.round(0, precision, ok)
	}
	return b.round(digits-to, precision, true)
}

// DecOf is the whole number x as a decimal of scale 0.
func DecOf(x int64) vector.Dec { return decimal128.FromI64(x) }
