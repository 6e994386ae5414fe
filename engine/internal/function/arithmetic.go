package function

import (
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

const (
	numbers       = "(number, number)"
	dayMillis     = 86_400_000
	maxDecimal    = sqltype.MaxPrecision
	minQuotient   = 6 // digits after the point that a quotient keeps at least
	timeIntervals = "(TIMESTAMP, INTERVAL)"
)

func arithmetic() []*Scalar {
	sum := []string{numbers, timeIntervals, "(DATE, INTERVAL)", "(TIME, INTERVAL)", "(INTERVAL, INTERVAL)"}
	return []*Scalar{
		{Name: "+", Doc: "sum of numbers; a time plus an interval", Signatures: sum, Deterministic: true, Infer: inferSum, Bind: bindArith(kernel.Add)},
		{
			Name: "-", Doc: "difference of numbers; a time minus an interval; the interval between two times",
			Signatures: append(sum[:len(sum):len(sum)], "(TIMESTAMP, TIMESTAMP)", "(DATE, DATE)"), Deterministic: true, Infer: inferDifference, Bind: bindArith(kernel.Sub),
		},
		{
			Name: "*", Doc: "product of numbers; a multiple of an interval", Signatures: []string{numbers, "(INTERVAL, number)", "(number, INTERVAL)"}, Deterministic: true,
			Infer: inferProduct, Bind: bindArith(kernel.Mul),
		},
		{
			Name: "/", Doc: "quotient of numbers; of integers it is truncated toward zero", Signatures: []string{numbers, "(INTERVAL, INT)"}, Deterministic: true,
			Infer: inferQuotient, Bind: bindArith(kernel.Div),
		},
		{Name: "%", Doc: "remainder, with the sign of the dividend", Signatures: []string{numbers}, Deterministic: true, Infer: inferRemainder, Bind: bindArith(kernel.Mod)},
		{Name: "MOD", Doc: "remainder, with the sign of the dividend", Signatures: []string{numbers}, Deterministic: true, Infer: inferRemainder, Bind: bindArith(kernel.Mod)},
		{Name: "NEG", Doc: "the negative of a number or interval", Signatures: []string{"(number)", "(INTERVAL)"}, Deterministic: true, Infer: inferNeg, Bind: bindNeg},
	}
}

// untypedNulls replaces the type of NULL by that of the other operand; of two NULLs it
// makes INTs.
func untypedNulls(args []Arg) (a, b sqltype.Type, ok bool) {
	if len(args) != 2 {
		return a, b, false
	}
	a, b = args[0].Type, args[1].Type
	switch {
	case a.ID == sqltype.Null && b.ID == sqltype.Null:
		return sqltype.IntType, sqltype.IntType, true
	case a.ID == sqltype.Null:
		a = b.Optional()
	case b.ID == sqltype.Null:
		b = a.Optional()
	}
	return a, b, true
}

func isInterval(t sqltype.Type) bool {
	return t.ID == sqltype.IntervalDay || t.ID == sqltype.IntervalMonth
}

// pair is the result of Infer for two arguments.
func pair(a, b, ret sqltype.Type) ([]sqltype.Type, sqltype.Type, error) {
	return []sqltype.Type{a, b}, ret, nil
}

// decimalResult caps a decimal type at 38 digits. It gives up digits after the
// point, but keeps six of them (or all, if fewer).
func decimalResult(precision, scale int) sqltype.Type {
	if precision <= maxDecimal {
		return sqltype.DecimalOf(precision, scale)
	}
	return sqltype.DecimalOf(maxDecimal, max(maxDecimal-(precision-scale), min(scale, minQuotient)))
}

// numericOperands types two numbers: decimals keep their own scales, all else gets
// the common type.
func numericOperands(a, b sqltype.Type) (x, y sqltype.Type, decimal, ok bool) {
	if !a.IsNumeric() || !b.IsNumeric() {
		return a, b, false, false
	}
	if (a.ID == sqltype.Decimal || b.ID == sqltype.Decimal) && !a.IsApprox() && !b.IsApprox() {
		return asDecimal(a), asDecimal(b), true, true
	}
	t, _ := commonType(a, b)
	return t, t, false, true
}

func inferSum(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	a, b, ok := untypedNulls(args)
	if !ok {
		return nil, a, ErrMismatch
	}
	if x, y, decimal, ok := numericOperands(a, b); ok {
		if decimal {
			scale := max(x.Scale, y.Scale)
			return pair(x, y, decimalResult(max(x.Precision-x.Scale, y.Precision-y.Scale)+scale+1, scale))
		}
		return pair(x, y, x)
	}
	if args[0].Type.ID == sqltype.Null && isInterval(b) || args[1].Type.ID == sqltype.Null && !isInterval(a) {
		return nil, a, ErrMismatch // NULL + INTERVAL could be anything
	}
	switch {
	case isInterval(a) && a.ID == b.ID:
		return pair(a, b, a)
	case isInterval(b) && (a.IsTimestamp() || a.ID == sqltype.Date || a.ID == sqltype.Time && b.ID == sqltype.IntervalDay):
		return pair(a, b, shifted(a))
	case isInterval(a) && (b.IsTimestamp() || b.ID == sqltype.Date || b.ID == sqltype.Time && a.ID == sqltype.IntervalDay):
		return pair(a, b, shifted(b))
	}
	return nil, a, ErrMismatch
}

// shifted is the type of a time moved by an interval, which has milliseconds.
func shifted(t sqltype.Type) sqltype.Type {
	if t.ID != sqltype.Date {
		t.Precision = max(t.Precision, 3)
	}
	return t
}

func inferDifference(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	a, b, ok := untypedNulls(args)
	switch {
	case !ok:
	case isInterval(a) && !isInterval(b):
	case a.ID == sqltype.Date && b.ID == sqltype.Date:
		return pair(a, b, sqltype.Type{ID: sqltype.IntervalDay})
	case a.IsTimestamp() && (b.IsTimestamp() || b.ID == sqltype.Date), b.IsTimestamp() && a.ID == sqltype.Date:
		t, _ := commonType(a, b)
		return pair(t, t, sqltype.Type{ID: sqltype.IntervalDay})
	default:
		return inferSum(args)
	}
	return nil, a, ErrMismatch
}

func inferProduct(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	a, b, ok := untypedNulls(args)
	if !ok {
		return nil, a, ErrMismatch
	}
	if x, y, decimal, ok := numericOperands(a, b); ok {
		if decimal {
			return pair(x, y, decimalResult(x.Precision+y.Precision+1, x.Scale+y.Scale))
		}
		return pair(x, y, x)
	}
	switch {
	case isInterval(a) && b.IsInteger():
		return pair(a, intervalFactor(a), a)
	case isInterval(b) && a.IsInteger():
		return pair(intervalFactor(b), b, b)
	}
	return nil, a, ErrMismatch
}

// intervalFactor is the integer type as wide as an interval.
func intervalFactor(t sqltype.Type) sqltype.Type {
	if t.ID == sqltype.IntervalMonth {
		return sqltype.IntType
	}
	return sqltype.BigIntType
}

func inferQuotient(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	a, b, ok := untypedNulls(args)
	if !ok {
		return nil, a, ErrMismatch
	}
	if x, y, decimal, ok := numericOperands(a, b); ok {
		if decimal {
			scale := max(minQuotient, x.Scale+y.Precision+1)
			return pair(x, y, decimalResult(x.Precision-x.Scale+y.Scale+scale, scale))
		}
		return pair(x, y, x)
	}
	if isInterval(a) && b.IsInteger() {
		return pair(a, intervalFactor(a), a)
	}
	return nil, a, ErrMismatch
}

func inferRemainder(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	a, b, ok := untypedNulls(args)
	if !ok {
		return nil, a, ErrMismatch
	}
	if a.IsInteger() && b.IsInteger() {
		return pair(a, b, b)
	}
	x, y, decimal, ok := numericOperands(a, b)
	if !ok {
		return nil, a, ErrMismatch
	}
	if decimal {
		scale := max(x.Scale, y.Scale)
		return pair(x, y, decimalResult(min(x.Precision-x.Scale, y.Precision-y.Scale)+scale, scale))
	}
	return pair(x, y, x)
}

func inferNeg(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 1 {
		return nil, sqltype.Type{}, ErrMismatch
	}
	t := args[0].Type
	if t.ID == sqltype.Null {
		t = sqltype.IntType
	}
	if !t.IsNumeric() && !isInterval(t) {
		return nil, t, ErrMismatch
	}
	return []sqltype.Type{t}, t, nil
}

func bindNeg(b Binding) (Kernel, error) {
	var m kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		m.Reset()
		out := kernel.Neg(c.Pool, c.Args[0], &m)
		return checked(out, outOfRange(c, &m, "-", b.Args, b.Ret))
	}, nil
}

// checked is out, or err with out released.
func checked(out *vector.Vector, err error) (*vector.Vector, error) {
	if err != nil {
		out.Release()
		return nil, err
	}
	return out, nil
}

func bindArith(op kernel.Op) func(Binding) (Kernel, error) {
	return func(b Binding) (Kernel, error) {
		x, y := b.Args[0].Type, b.Args[1].Type
		switch {
		case x.ID == sqltype.Decimal:
			return bindDecimal(op, b), nil
		case op == kernel.Mod && x.IsInteger():
			var m kernel.Misfits
			return func(c *Call) (*vector.Vector, error) {
				m.Reset()
				out := kernel.ModInts(c.Pool, c.Args[0], c.Args[1], c.N, &m)
				return checked(out, outOfRange(c, &m, "%", b.Args, b.Ret))
			}, nil
		case x.IsNumeric() && y.IsNumeric(), isInterval(x) && isInterval(y), isInterval(x) && y.IsInteger(), isInterval(y) && x.IsInteger():
			var m kernel.Misfits
			return func(c *Call) (*vector.Vector, error) {
				m.Reset()
				out := kernel.Arith(c.Pool, op, c.Args[0], c.Args[1], c.N, &m)
				return checked(out, outOfRange(c, &m, op.String(), b.Args, b.Ret))
			}, nil
		case isInterval(x) && !isInterval(y):
			return bindShift(op, b, 1, 0), nil
		case isInterval(y):
			return bindShift(op, b, 0, 1), nil
		}
		return bindBetween(b), nil
	}
}

func bindDecimal(op kernel.Op, b Binding) Kernel {
	x, y := b.Args[0].Type, b.Args[1].Type
	spec := kernel.DecimalSpec{ScaleA: x.Scale, ScaleB: y.Scale, Precision: b.Ret.Precision, Scale: b.Ret.Scale}
	whole := b.Ret.Precision - b.Ret.Scale
	switch op {
	case kernel.Add, kernel.Sub:
		spec.Fits = max(x.Precision-x.Scale, y.Precision-y.Scale)+1 <= whole
	case kernel.Mul:
		spec.Fits = x.Precision+y.Precision-x.Scale-y.Scale <= whole
	}
	var m kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		m.Reset()
		out := kernel.ArithDec(c.Pool, op, c.Args[0], c.Args[1], c.N, spec, &m)
		return checked(out, outOfRange(c, &m, op.String(), b.Args, b.Ret))
	}
}
