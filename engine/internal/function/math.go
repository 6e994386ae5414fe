package function

import (
	"math"
	"strconv"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

func mathFunctions() []*Scalar {
	double := []string{"(number)"}
	return []*Scalar{
		{Name: "ABS", Doc: "the absolute value", Signatures: double, Deterministic: true, Infer: inferSame, Bind: func(b Binding) (Kernel, error) {
			var m kernel.Misfits
			return func(c *Call) (*vector.Vector, error) {
				m.Reset()
				return checked(kernel.Abs(c.Pool, c.Args[0], &m), outOfRange(c, &m, "ABS ", b.Args, b.Ret))
			}, nil
		}},
		{Name: "SIGN", Doc: "-1, 0 or 1, in the type of the argument", Signatures: double, Deterministic: true, Infer: inferSign, Bind: bindSign},
		{
			Name: "CEIL", Doc: "the next whole number up; a time rounded up to a unit", Signatures: []string{"(number)", "(TIMESTAMP, 'unit')", "(DATE, 'unit')", "(TIME, 'unit')"},
			Deterministic: true, Infer: inferFloor, Bind: bindFloor(true),
		},
		{
			Name: "FLOOR", Doc: "the next whole number down; a time rounded down to a unit", Signatures: []string{"(number)", "(TIMESTAMP, 'unit')", "(DATE, 'unit')", "(TIME, 'unit')"},
			Deterministic: true, Infer: inferFloor, Bind: bindFloor(false),
		},
		{
			Name: "ROUND", Doc: "rounded to digits after the point, half away from zero", Signatures: []string{"(number)", "(number, INT)"},
			Deterministic: true, Infer: inferRound, Bind: bindRound,
		},
		{
			Name: "POWER", Doc: "the first argument raised to the second", Signatures: []string{"(number, number)"}, Deterministic: true,
			Infer: inferDoubles(2), Bind: func(Binding) (Kernel, error) { return power, nil },
		},
		{Name: "SQRT", Doc: "the square root", Signatures: double, Deterministic: true, Infer: inferDoubles(1), Bind: bindDouble(sqrt)},
		{Name: "LN", Doc: "the natural logarithm", Signatures: double, Deterministic: true, Infer: inferDoubles(1), Bind: bindDouble(ln)},
		{Name: "LOG10", Doc: "the logarithm to base 10", Signatures: double, Deterministic: true, Infer: inferDoubles(1), Bind: bindDouble(log10)},
		{Name: "LOG2", Doc: "the logarithm to base 2", Signatures: double, Deterministic: true, Infer: inferDoubles(1), Bind: bindDouble(log2)},
		{Name: "EXP", Doc: "e raised to the argument", Signatures: double, Deterministic: true, Infer: inferDoubles(1), Bind: bindDouble(exp)},
	}
}

// inferSame is for functions of one number whose result has its type.
func inferSame(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 1 || !args[0].Type.IsNumeric() && args[0].Type.ID != sqltype.Null {
		return nil, sqltype.Type{}, ErrMismatch
	}
	t := args[0].Type
	if t.ID == sqltype.Null {
		t = sqltype.IntType
	}
	return []sqltype.Type{t}, t, nil
}

// inferDoubles is for functions of n numbers that compute in DOUBLE.
func inferDoubles(n int) infer {
	return func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
		if len(args) != n {
			return nil, sqltype.Type{}, ErrMismatch
		}
		coerced := make([]sqltype.Type, n)
		for i, a := range args {
			if !a.Type.IsNumeric() && a.Type.ID != sqltype.Null {
				return nil, sqltype.Type{}, ErrMismatch
			}
			coerced[i] = sqltype.DoubleType
		}
		return coerced, sqltype.DoubleType, nil
	}
}

// doubleOp is a function of one DOUBLE.
type doubleOp uint8

const (
	sqrt doubleOp = iota
	ln
	log10
	log2
	exp
)

func bindDouble(op doubleOp) func(Binding) (Kernel, error) {
	return func(Binding) (Kernel, error) {
		return func(c *Call) (*vector.Vector, error) {
			out := c.Pool.New(vector.Float64, c.N)
			dst, x := vector.Values[float64](out), vector.Values[float64](c.Args[0])
			dst = dst[:len(x)]
			switch op {
			case sqrt:
				for i, v := range x {
					dst[i] = math.Sqrt(v)
				}
			case ln:
				for i, v := range x {
					dst[i] = math.Log(v)
				}
			case log10:
				for i, v := range x {
					dst[i] = math.Log10(v)
				}
			case log2:
				for i, v := range x {
					dst[i] = math.Log2(v)
				}
			case exp:
				for i, v := range x {
					dst[i] = math.Exp(v)
				}
			}
			return out, nil
		}, nil
	}
}

func power(c *Call) (*vector.Vector, error) {
	out := c.Pool.New(vector.Float64, c.N)
	dst, x, y := vector.Values[float64](out), vector.Values[float64](c.Args[0]), vector.Values[float64](c.Args[1])
	for i := range dst {
		dst[i] = math.Pow(x[i*step(x)], y[i*step(y)])
	}
	return out, nil
}

// inferSign has room for a 1 before the point of a decimal.
func inferSign(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	coerced, ret, err := inferSame(args)
	if err == nil && ret.ID == sqltype.Decimal && ret.Precision == ret.Scale {
		p := min(ret.Precision+1, maxDecimal)
		ret = sqltype.DecimalOf(p, p-1)
	}
	return coerced, ret, err
}

func bindSign(b Binding) (Kernel, error) {
	one := int64(1)
	for range b.Ret.Scale {
		if b.Ret.Scale > 18 {
			break
		}
		one *= 10
	}
	return func(c *Call) (*vector.Vector, error) {
		x := c.Args[0]
		out := c.Pool.New(x.Kind(), c.N)
		switch x.Kind() {
		case vector.Int8:
			signs(vector.Values[int8](out), vector.Values[int8](x))
		case vector.Int16:
			signs(vector.Values[int16](out), vector.Values[int16](x))
		case vector.Int32:
			signs(vector.Values[int32](out), vector.Values[int32](x))
		case vector.Int64:
			signs(vector.Values[int64](out), vector.Values[int64](x))
		case vector.Float32:
			signs(vector.Values[float32](out), vector.Values[float32](x))
		case vector.Float64:
			signs(vector.Values[float64](out), vector.Values[float64](x))
		case vector.Decimal:
			dst := vector.Values[vector.Dec](out)
			for i, v := range vector.Values[vector.Dec](x) {
				unit := vector.Dec{}
				if s := v.Sign(); s != 0 {
					unit, _ = kernel.RescaleDec(kernel.DecOf(int64(s)), 0, b.Ret.Scale, maxDecimal)
				}
				dst[i] = unit
			}
		}
		return out, nil
	}, nil
}

func signs[T kernel.Number](dst, src []T) {
	dst = dst[:len(src)]
	for i, x := range src {
		switch {
		case x > 0:
			dst[i] = 1
		case x < 0:
			dst[i] = -1
		default:
			dst[i] = x // 0 or NaN
		}
	}
}

func inferFloor(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) == 2 && args[1].Type.IsString() {
		t := args[0].Type
		if !t.IsTimestamp() && t.ID != sqltype.Date && t.ID != sqltype.Time {
			return nil, t, ErrMismatch
		}
		return []sqltype.Type{t, args[1].Type}, t, nil
	}
	coerced, ret, err := inferSame(args)
	if ret.ID == sqltype.Decimal {
		ret = sqltype.DecimalOf(min(ret.Precision-ret.Scale+1, maxDecimal), 0)
		if coerced[0].Scale == 0 {
			ret.Precision = coerced[0].Precision
		}
	}
	return coerced, ret, err
}

// bindFloor rounds numbers to whole ones, down or up, and times to a unit.
func bindFloor(up bool) func(Binding) (Kernel, error) {
	return func(b Binding) (Kernel, error) {
		if len(b.Args) == 2 {
			return bindFloorTime(b, up)
		}
		scale := b.Args[0].Type.Scale
		return func(c *Call) (*vector.Vector, error) {
			x := c.Args[0]
			out := c.Pool.New(x.Kind(), c.N)
			switch x.Kind() {
			case vector.Float32:
				dst := vector.Values[float32](out)
				for i, v := range vector.Values[float32](x) {
					if up {
						dst[i] = float32(math.Ceil(float64(v)))
					} else {
						dst[i] = float32(math.Floor(float64(v)))
					}
				}
			case vector.Float64:
				dst := vector.Values[float64](out)
				if up {
					for i, v := range vector.Values[float64](x) {
						dst[i] = math.Ceil(v)
					}
				} else {
					for i, v := range vector.Values[float64](x) {
						dst[i] = math.Floor(v)
					}
				}
			case vector.Decimal:
				dst := vector.Values[vector.Dec](out)
				for i, v := range vector.Values[vector.Dec](x) {
					dst[i] = kernel.FloorDec(v, scale, up)
				}
			default:
				out.Release()
				out = x.Slice(c.Pool, 0, c.N)
				out.DropValid()
			}
			return out, nil
		}, nil
	}
}

// maxRound bounds the second argument of ROUND where it is taken as a constant.
const maxRound = 1000

// inferRound gives a decimal the scale asked for, when that is a constant.
func inferRound(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 1 && len(args) != 2 {
		return nil, sqltype.Type{}, ErrMismatch
	}
	coerced, ret, err := inferSame(args[:1])
	if err != nil {
		return nil, ret, err
	}
	digits := int64(0)
	if len(args) == 2 {
		if !args[1].Type.IsInteger() && args[1].Type.ID != sqltype.Null {
			return nil, ret, ErrMismatch
		}
		coerced = append(coerced, sqltype.IntType)
		v, known := args[1].Value.(int64)
		if !known && ret.ID == sqltype.Decimal { // 9.5 may become 10.0
			return coerced, sqltype.DecimalOf(min(maxDecimal, ret.Precision+1), ret.Scale), nil
		}
		digits = min(max(v, -maxRound), maxRound)
	}
	if ret.ID == sqltype.Decimal {
		p, s, r := ret.Precision, ret.Scale, int(digits)
		switch {
		case r >= s:
		case r < 0:
			ret = sqltype.DecimalOf(min(maxDecimal, 1+p-s), 0)
		default:
			ret = sqltype.DecimalOf(min(maxDecimal, 1+p-s+r), r)
		}
	}
	return coerced, ret, nil
}

func bindRound(b Binding) (Kernel, error) {
	t := b.Args[0].Type
	var m kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		x := c.Args[0]
		digits := []int32{0}
		if len(c.Args) == 2 {
			digits = vector.Values[int32](c.Args[1])
		}
		m.Reset()
		out := c.Pool.New(x.Kind(), c.N)
		switch x.Kind() {
		case vector.Int8:
			roundInts(vector.Values[int8](out), vector.Values[int8](x), digits, &m)
		case vector.Int16:
			roundInts(vector.Values[int16](out), vector.Values[int16](x), digits, &m)
		case vector.Int32:
			roundInts(vector.Values[int32](out), vector.Values[int32](x), digits, &m)
		case vector.Int64:
			roundInts(vector.Values[int64](out), vector.Values[int64](x), digits, &m)
		case vector.Float32:
			dst, src := vector.Values[float32](out), vector.Values[float32](x)
			for i := range dst {
				v := src[i*step(src)]
				f, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'e', -1, 32), 64)
				dst[i] = float32(roundHalfUp(f, int(digits[i*step(digits)])))
			}
		case vector.Float64:
			dst, src := vector.Values[float64](out), vector.Values[float64](x)
			for i := range dst {
				dst[i] = roundHalfUp(src[i*step(src)], int(digits[i*step(digits)]))
			}
		case vector.Decimal:
			dst, src := vector.Values[vector.Dec](out), vector.Values[vector.Dec](x)
			for i := range dst {
				to := min(int(digits[i*step(digits)]), t.Scale)
				if to < -maxDecimal { // beyond all digits
					dst[i] = vector.Dec{}
					continue
				}
				v, ok := kernel.RoundDec(src[i*step(src)], t.Scale, to, b.Ret.Scale, b.Ret.Precision)
				dst[i] = v
				if !ok {
					m.Rows = append(m.Rows, int32(i))
				}
			}
		}
		return checked(out, outOfRange(c, &m, "ROUND", b.Args, b.Ret))
	}, nil
}

// roundInts rounds to tens, hundreds and so on where digits is negative.
func roundInts[T kernel.Int](dst, src []T, digits []int32, m *kernel.Misfits) {
	for i := range dst {
		x := src[i*step(src)]
		d := digits[i*step(digits)]
		dst[i] = x
		if d >= 0 {
			continue
		}
		if d < -19 {
			dst[i] = 0
			continue
		}
		unit := vector.Dec{}
		unit, _ = kernel.RoundDec(kernel.DecOf(int64(x)), 0, int(d), 0, maxDecimal)
		v, ok := kernel.DecToInt(unit, 0)
		dst[i] = T(v)
		if !ok || int64(T(v)) != v {
			m.Rows = append(m.Rows, int32(i))
		}
	}
}

// roundSlow rounds by way of the decimal text.
func roundSlow(x float64, scale int) float64 {
	// d.ddd e exp: digit i has the weight 10^(exp-i).
	var buf [32]byte
	s := strconv.AppendFloat(buf[:0], math.Abs(x), 'e', -1, 64)
	var digits []byte
	at := 0
	for ; s[at] != 'e'; at++ {
		if s[at] != '.' {
			digits = append(digits, s[at])
		}
	}
	exp, _ := strconv.Atoi(string(s[at+1:]))
	keep := exp + scale + 1 // digits that stay
	if keep >= len(digits) {
		return x
	}
	if keep < 0 {
		return math.Copysign(0, x)
	}
	up := digits[keep] >= '5'
	text := append([]byte{'0'}, digits[:keep]...)
	if up {
		i := len(text) - 1
		for ; text[i] == '9'; i-- {
			text[i] = '0'
		}
		text[i]++
	}
	text = append(text, 'e')
	text = strconv.AppendInt(text, int64(-scale), 10)
	f, _ := strconv.ParseFloat(string(text), 64)
	return math.Copysign(f, x)
}

// constantText is the value of a string argument that must be a constant.
func constantText(b Binding, i int, what string) (string, error) {
	if s, ok := b.Args[i].Value.(string); ok {
		return s, nil
	}
	return "", errs.New(errs.Unsupported, errs.Position{}, "%s must be a constant", what)
}
