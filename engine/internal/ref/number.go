package ref

import (
	"math"
	"math/big"
	"strconv"
)

// numbers are arithmetic and mathematical functions: exact numbers are computed without
// loss, then brought into the type of the result; approximate ones as the processor
// does it.
func numbers() map[string]definition {
	double := func(f func(float64) float64) definition {
		return func(c call) (any, error) { return f(c.float(0)), nil }
	}
	return map[string]definition{
		"+":     plus,
		"-":     minus,
		"*":     binary((*big.Rat).Mul, func(x, y float64) float64 { return x * y }),
		"/":     divided(func(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }, func(x, y float64) float64 { return x / y }),
		"%":     divided(remainder, math.Mod),
		"MOD":   divided(remainder, math.Mod),
		"NEG":   unary((*big.Rat).Neg, func(x float64) float64 { return -x }),
		"ABS":   unary((*big.Rat).Abs, math.Abs),
		"SIGN":  sign,
		"FLOOR": floor,
		"CEIL":  ceil,
		"ROUND": round,
		"POWER": func(c call) (any, error) { return math.Pow(c.float(0), c.float(1)), nil },
		"SQRT":  double(math.Sqrt),
		"LN":    double(math.Log),
		"LOG10": double(math.Log10),
		"LOG2":  double(math.Log2),
		"EXP":   double(math.Exp),
	}
}

// fitted is a result in its type, or the error that it is out of range.
func fitted(c call, r *big.Rat) (any, error) {
	v, ok := fit(r, c.T)
	if !ok {
		return nil, arithmetic(c, c.Func.Name+" is out of range")
	}
	return v, nil
}

func unary(exact func(z, x *big.Rat) *big.Rat, approx func(x float64) float64) definition {
	return func(c call) (any, error) {
		if x, ok := c.args[0].(float64); ok {
			return approximate(approx(x), c.T), nil
		}
		return fitted(c, exact(new(big.Rat), rational(c.args[0])))
	}
}

func binary(exact func(z, x, y *big.Rat) *big.Rat, approx func(x, y float64) float64) definition {
	return func(c call) (any, error) {
		if x, ok := c.args[0].(float64); ok {
			return approximate(approx(x, c.float(1)), c.T), nil
		}
		return fitted(c, exact(new(big.Rat), rational(c.args[0]), rational(c.args[1])))
	}
}

func divided(exact func(x, y *big.Rat) *big.Rat, approx func(x, y float64) float64) definition {
	return func(c call) (any, error) {
		if x, ok := c.args[0].(float64); ok {
			return approximate(approx(x, c.float(1)), c.T), nil
		}
		x, y := rational(c.args[0]), rational(c.args[1])
		if y.Sign() == 0 {
			return nil, arithmetic(c, "division by zero")
		}
		return fitted(c, exact(x, y))
	}
}

// remainder has the sign of the dividend.
func remainder(x, y *big.Rat) *big.Rat {
	whole := new(big.Rat).SetInt(truncate(new(big.Rat).Quo(x, y)))
	return new(big.Rat).Sub(x, whole.Mul(whole, y))
}

func plus(c call) (any, error) {
	if isTime(c.typ(0)) || isTime(c.typ(1)) {
		return moved(c, 1)
	}
	return binary((*big.Rat).Add, func(x, y float64) float64 { return x + y })(c)
}

func minus(c call) (any, error) {
	switch {
	case isTime(c.typ(0)) && isTime(c.typ(1)):
		return between(c)
	case isTime(c.typ(0)):
		return moved(c, -1)
	}
	return binary((*big.Rat).Sub, func(x, y float64) float64 { return x - y })(c)
}

func sign(c call) (any, error) {
	x, ok := c.args[0].(float64)
	switch {
	case !ok:
		return fitted(c, big.NewRat(int64(rational(c.args[0]).Sign()), 1))
	case x > 0:
		return 1.0, nil
	case x < 0:
		return -1.0, nil
	}
	return x, nil // 0 or NaN
}

func floor(c call) (any, error) {
	if len(c.args) == 2 {
		return floorTime(c, false)
	}
	return unary(func(z, x *big.Rat) *big.Rat {
		return z.SetInt(new(big.Int).Div(x.Num(), x.Denom())) // Euclid's rounds down
	}, math.Floor)(c)
}

func ceil(c call) (any, error) {
	if len(c.args) == 2 {
		return floorTime(c, true)
	}
	return unary(func(z, x *big.Rat) *big.Rat {
		z.SetInt(new(big.Int).Div(new(big.Int).Neg(x.Num()), x.Denom()))
		return z.Neg(z)
	}, math.Ceil)(c)
}

// round rounds half away from zero; an approximate number is what its shortest decimal
// form says.
func round(c call) (any, error) {
	digits := int64(0)
	if len(c.args) == 2 {
		digits = min(max(c.int(1), -400), 400)
	}
	if f, ok := c.args[0].(float64); ok {
		x, finite := shortest(f, floatBits(c.typ(0)))
		if !finite {
			return f, nil
		}
		return approximate(rounded(x, int(digits)), c.T), nil
	}
	if c.T.IsInteger() {
		digits = min(digits, 0)
	} else {
		digits = min(digits, int64(c.typ(0).Scale))
	}
	return fitted(c, rounded(rational(c.args[0]), int(digits)))
}

func rounded(x *big.Rat, digits int) *big.Rat {
	unit := new(big.Rat).SetInt(tenTo(max(digits, -digits)))
	if digits > 0 {
		unit.Inv(unit)
	}
	whole := roundHalf(new(big.Rat).Quo(x, unit))
	return unit.Mul(unit, new(big.Rat).SetInt(whole))
}

// roundHalf is the whole number next to x, of two the one away from zero.
func roundHalf(x *big.Rat) *big.Int {
	half := big.NewRat(1, 2)
	if x.Sign() < 0 {
		half.Neg(half)
	}
	return truncate(half.Add(half, x))
}

// shortest is the number that the shortest decimal form of f says. It reports whether f
// is finite.
func shortest(f float64, bits int) (*big.Rat, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, false
	}
	return new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, bits))
}
