package weir

import "errors"

// ErrDecimal says that a text is no decimal number of the scale asked for, or too
// large for one.
var ErrDecimal = errors.New("not a decimal number that fits")

// ParseDecimal reads a number such as -12.5 in the given scale, 0 to 38. More
// digits after the point than scale are an error unless they are zeros.
func ParseDecimal(s string, scale int) (Decimal, error) {
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative, s = s[0] == '-', s[1:]
	}
	var d Decimal
	digits, after, point := 0, 0, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '.' && !point:
			point = true
			continue
		case c < '0' || c > '9':
			return Decimal{}, ErrDecimal
		case point && after == scale:
			if c != '0' {
				return Decimal{}, ErrDecimal
			}
			digits++
			continue
		case point:
			after++
		}
		digits++
		var ok bool
		if d, ok = d.shiftIn(c - '0'); !ok {
			return Decimal{}, ErrDecimal
		}
	}
	if digits == 0 {
		return Decimal{}, ErrDecimal
	}
	d, ok := d.Rescale(0, scale-after, TowardZero)
	if !ok {
		return Decimal{}, ErrDecimal
	}
	if negative {
		d = d.Neg()
	}
	return d, nil
}

// shiftIn is d * 10 + digit.
func (d Decimal) shiftIn(digit byte) (Decimal, bool) {
	d, ok := d.Mul(DecimalOf(10))
	if !ok {
		return d, false
	}
	return d.Add(DecimalOf(int64(digit)))
}

// AppendText appends d with exactly scale digits after the point.
func (d Decimal) AppendText(dst []byte, scale int) []byte {
	if d.hi < 0 {
		dst = append(dst, '-')
	}
	var text [40]byte
	at := len(text)
	rest := uint256{d.magnitude().lo, d.magnitude().hi}
	for n := 0; n <= scale || rest[0]|rest[1] != 0; {
		// Eighteen digits a division.
		quo, rem := rest.div(uint128{0, 1e18})
		rest = quo
		for k := 0; k < 18; k++ {
			if n > scale && rem.lo == 0 && rest[0]|rest[1] == 0 {
				break
			}
			at--
			text[at] = '0' + byte(rem.lo%10)
			rem.lo /= 10
			n++
		}
	}
	digits := text[at:]
	point := len(digits) - scale
	dst = append(dst, digits[:point]...)
	if scale > 0 {
		dst = append(dst, '.')
		dst = append(dst, digits[point:]...)
	}
	return dst
}

// Text is d with exactly scale digits after the point.
func (d Decimal) Text(scale int) string {
	return string(d.AppendText(nil, scale))
}

// Float64 is the nearest float64 to the number d of the given scale, give or take
// one unit in the last place.
func (d Decimal) Float64(scale int) float64 {
	m := d.magnitude()
	f := float64(m.hi)*(1<<64) + float64(m.lo)
	for ; scale > 22; scale -= 22 {
		f /= 1e22
	}
	by := 1.0
	for ; scale > 0; scale-- {
		by *= 10
	}
	f /= by
	if d.hi < 0 {
		return -f
	}
	return f
}
