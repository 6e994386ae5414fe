package function

import (
	"bytes"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

func comparisons() []*Scalar {
	sigs := []string{"(number, number)", "(STRING, STRING)", "(BOOLEAN, BOOLEAN)", "(DATE, DATE)", "(TIME, TIME)", "(TIMESTAMP, TIMESTAMP)", "(INTERVAL, INTERVAL)", "(BYTES, BYTES)"}
	var out []*Scalar
	for op, doc := range map[kernel.Cmp]string{
		kernel.Eq: "equal", kernel.Ne: "not equal", kernel.Lt: "less", kernel.Le: "less or equal", kernel.Gt: "greater", kernel.Ge: "greater or equal",
	} {
		infer := inferComparison
		if op == kernel.Eq || op == kernel.Ne {
			infer = inferEquality
		}
		out = append(out, &Scalar{Name: op.String(), Doc: doc, Signatures: sigs, Deterministic: true, Cheap: true, Infer: infer, Bind: bindComparison(op)})
	}
	return append(out,
		&Scalar{
			Name: "IS DISTINCT FROM", Doc: "unequal, NULL being a value", Signatures: sigs, Deterministic: true, Cheap: true, NullCall: true,
			Infer: inferDistinct, Bind: bindDistinct(true),
		},
		&Scalar{
			Name: "IS NOT DISTINCT FROM", Doc: "equal, NULL being a value", Signatures: sigs, Deterministic: true, Cheap: true, NullCall: true,
			Infer: inferDistinct, Bind: bindDistinct(false),
		},
		&Scalar{
			Name: "IN", Doc: "equal to one of a list", Signatures: []string{"(value, value, ...)"}, Deterministic: true, Cheap: true, NullCall: true,
			Infer: inferIn, Bind: bindIn,
		},
	)
}

// Comparison reports whether s is one of = <> < <= > >=, and which.
func (s *Scalar) Comparison() (kernel.Cmp, bool) {
	switch s.Name {
	case "=":
		return kernel.Eq, true
	case "<>":
		return kernel.Ne, true
	case "<":
		return kernel.Lt, true
	case "<=":
		return kernel.Le, true
	case ">":
		return kernel.Gt, true
	case ">=":
		return kernel.Ge, true
	}
	return 0, false
}

func inferComparison(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 2 {
		return nil, sqltype.Type{}, ErrMismatch
	}
	a, b, ok := comparands(args[0], args[1])
	if !ok {
		return nil, a, ErrMismatch
	}
	return []sqltype.Type{a, b}, sqltype.BoolType, nil
}

// inferEquality is inferComparison for what nested values know too.
func inferEquality(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) == 2 && args[0].Type.IsNested() && args[1].Type.IsNested() {
		t, ok := commonType(args[0].Type, args[1].Type)
		if !ok {
			return nil, t, ErrMismatch
		}
		return []sqltype.Type{t, t}, sqltype.BoolType, nil
	}
	return inferComparison(args)
}

// comparands is the types to which two values must be cast to compare them: the same
// but for the scale of decimals and the length of strings.
func comparands(x, y Arg) (sqltype.Type, sqltype.Type, bool) {
	a, b := x.Type.Plain(), y.Type.Plain()
	switch {
	case a.ID == sqltype.Null && b.ID == sqltype.Null:
		return sqltype.BoolType, sqltype.BoolType, true
	case a.ID == sqltype.Null:
		return b, b, b.Kind() != vector.Invalid
	case b.ID == sqltype.Null:
		return a, a, a.Kind() != vector.Invalid
	case a.IsString() && b.IsString(), a.IsBinary() && b.IsBinary():
		return a, b, true
	case a.IsInteger() && b.IsInteger():
		t, _ := commonType(a, b)
		// A column is not widened for a constant that fits its own type.
		if x.Const != y.Const && a.ID != b.ID {
			c, column := x, b
			if y.Const {
				c, column = y, a
			}
			if v, ok := c.Value.(int64); ok && integerHolds(column, v) {
				t = column
			}
		}
		return t, t, true
	case a.IsNumeric() && b.IsNumeric():
		if a.IsApprox() || b.IsApprox() {
			t, _ := commonType(a, b)
			return t, t, true
		}
		a, b = asDecimal(a), asDecimal(b)
		digits, scale := max(a.Precision-a.Scale, b.Precision-b.Scale), max(a.Scale, b.Scale)
		if digits+scale <= maxDecimal {
			t := sqltype.DecimalOf(digits+scale, scale)
			return t, t, true
		}
		return a, b, true
	case a.IsString():
		t, u, ok := stringComparable(y, x)
		return u, t, ok
	case b.IsString():
		return stringComparable(x, y)
	case a.ID >= sqltype.Array || b.ID >= sqltype.Array:
		return a, b, false
	}
	t, ok := commonType(a, b)
	return t, t, ok
}

func integerHolds(t sqltype.Type, v int64) bool {
	switch t.ID {
	case sqltype.TinyInt:
		return v == int64(int8(v))
	case sqltype.SmallInt:
		return v == int64(int16(v))
	case sqltype.Integer:
		return v == int64(int32(v))
	}
	return true
}

// stringComparable compares a value with a string, which is read as a value of the
// same kind: exact numbers as decimals, so that '1.5' is no 1.
func stringComparable(x, s Arg) (t, u sqltype.Type, ok bool) {
	t = x.Type.Plain()
	switch {
	case t.IsInteger() || t.ID == sqltype.Decimal:
		if lit, is := s.Value.(string); is && t.IsInteger() && !bytes.ContainsAny([]byte(lit), ".eE") {
			if v, ok := kernel.ParseInt([]byte(lit)); ok && integerHolds(t, v) {
				return t, t, true
			}
		}
		d := asDecimal(t)
		scale := max(d.Scale, 18)
		if d.Precision-d.Scale+scale > maxDecimal {
			return d, sqltype.DecimalOf(maxDecimal, scale), true
		}
		wide := sqltype.DecimalOf(maxDecimal, scale)
		return wide, wide, true
	case t.IsApprox():
		return sqltype.DoubleType, sqltype.DoubleType, true
	case t.ID == sqltype.Timestamp, t.ID == sqltype.TimestampLTZ, t.ID == sqltype.Time:
		t.Precision = max(t.Precision, 3)
		return t, t, true
	case t.ID == sqltype.Date, t.ID == sqltype.Boolean:
		return t, t, true
	}
	return t, s.Type, false
}

func bindComparison(op kernel.Cmp) func(Binding) (Kernel, error) {
	return func(b Binding) (Kernel, error) {
		sa, sb := b.Args[0].Type.Scale, b.Args[1].Type.Scale
		if b.Args[0].Type.ID == sqltype.Decimal && sa != sb {
			return func(c *Call) (*vector.Vector, error) {
				return kernel.CompareScaled(c.Pool, op, c.Args[0], c.Args[1], c.N, sa, sb), nil
			}, nil
		}
		return func(c *Call) (*vector.Vector, error) {
			return kernel.Compare(c.Pool, op, c.Args[0], c.Args[1], c.N), nil
		}, nil
	}
}

func inferDistinct(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	coerced, ret, err := inferEquality(args)
	return coerced, ret.Required(), err
}

// full is argument i with c.N rows, to be released.
func full(c *Call, i int) *vector.Vector {
	if v := c.Args[i]; v.Len() == c.N {
		return v.Retain()
	}
	return kernel.Broadcast(c.Pool, c.Args[i], c.N)
}

func bindDistinct(want bool) func(Binding) (Kernel, error) {
	return func(b Binding) (Kernel, error) {
		equal, err := bindComparison(kernel.Eq)(b)
		if err != nil {
			return nil, err
		}
		return func(c *Call) (*vector.Vector, error) {
			x, y := full(c, 0), full(c, 1)
			defer x.Release()
			defer y.Release()
			d := *c
			d.Args = []*vector.Vector{x, y}
			eq, err := equal(&d)
			if err != nil {
				return nil, err
			}
			defer eq.Release()
			return kernel.Distinct(c.Pool, eq, x, y, want), nil
		}, nil
	}
}

func inferIn(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) < 2 {
		return nil, sqltype.Type{}, ErrMismatch
	}
	if args[0].Type.IsNested() {
		types, _, err := common(args)
		ret := sqltype.BoolType.Required()
		for _, a := range args {
			ret.NotNull = ret.NotNull && a.Type.NotNull
		}
		return types, ret, err
	}
	// All items are compared as one type, which the comparisons with the first operand
	// widen step by step.
	x := args[0]
	if x.Type.ID == sqltype.Null {
		x = args[1]
	}
	notNull := args[0].Type.NotNull
	for _, item := range args[1:] {
		a, b, ok := comparands(x, item)
		if !ok {
			return nil, a, ErrMismatch
		}
		if !x.Type.IsString() && !a.Equal(b) {
			t, err := CommonType(a, b)
			if err != nil {
				return nil, t, ErrMismatch
			}
			a = t
		}
		if !x.Type.IsString() || !item.Type.IsString() {
			x.Type = a
		}
		x.Const = false
		notNull = notNull && item.Type.NotNull
	}
	coerced := make([]sqltype.Type, len(args))
	for i := range coerced {
		coerced[i] = x.Type
		if x.Type.IsString() && args[i].Type.IsString() {
			coerced[i] = args[i].Type
		}
	}
	ret := sqltype.BoolType
	ret.NotNull = notNull
	return coerced, ret, nil
}
