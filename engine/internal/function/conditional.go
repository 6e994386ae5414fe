package function

import (
	"bytes"
	"math"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

func conditionals() []*Scalar {
	return []*Scalar{
		{
			Name: "IF", Doc: "the second argument when the first is TRUE, else the third", Signatures: []string{"(BOOLEAN, value, value)"},
			Deterministic: true, NullCall: true, Lazy: LazyIf, Infer: inferIf,
		},
		{
			Name: "COALESCE", Doc: "the first argument that is not NULL", Signatures: []string{"(value, ...)"},
			Deterministic: true, NullCall: true, Lazy: LazyCoalesce, Infer: inferCoalesce,
		},
		{
			Name: "IFNULL", Doc: "the first argument, or the second when that is NULL", Signatures: []string{"(value, value)"},
			Deterministic: true, NullCall: true, Lazy: LazyCoalesce, Infer: func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
				if len(args) != 2 {
					return nil, sqltype.Type{}, ErrMismatch
				}
				return inferCoalesce(args)
			},
		},
		{
			Name: "NULLIF", Doc: "NULL when the arguments are equal, else the first", Signatures: []string{"(value, value)"},
			Deterministic: true, NullCall: true, Infer: inferNullIf, Bind: bindNullIf,
		},
		{
			Name: "GREATEST", Doc: "the greatest of the arguments; NULL when one is NULL", Signatures: []string{"(value, value, ...)"},
			Deterministic: true, Infer: inferExtreme, Bind: bindExtreme(kernel.Gt),
		},
		{
			Name: "LEAST", Doc: "the least of the arguments; NULL when one is NULL", Signatures: []string{"(value, value, ...)"},
			Deterministic: true, Infer: inferExtreme, Bind: bindExtreme(kernel.Lt),
		},
	}
}

// common types all of args alike.
func common(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	types := make([]sqltype.Type, len(args))
	for i, a := range args {
		types[i] = a.Type
	}
	t, err := CommonType(types...)
	if err != nil {
		return nil, t, err
	}
	for i := range types {
		types[i] = t
	}
	return types, t, nil
}

func inferIf(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 3 || args[0].Type.ID != sqltype.Boolean && args[0].Type.ID != sqltype.Null {
		return nil, sqltype.Type{}, ErrMismatch
	}
	types, t, err := common(args[1:])
	return append([]sqltype.Type{sqltype.BoolType}, types...), t, err
}

func inferCoalesce(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) == 0 {
		return nil, sqltype.Type{}, ErrMismatch
	}
	types, t, err := common(args)
	for _, a := range args {
		t.NotNull = t.NotNull || a.Type.NotNull
	}
	return types, t, err
}

// inferNullIf compares the arguments as = does, and gives the first as it is when
// that comparison has its type.
func inferNullIf(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	coerced, _, err := inferEquality(args)
	if err != nil {
		return nil, sqltype.Type{}, err
	}
	return coerced, coerced[0].Optional(), nil
}

func bindNullIf(b Binding) (Kernel, error) {
	equal, err := bindComparison(kernel.Eq)(b)
	if err != nil {
		return nil, err
	}
	return func(c *Call) (*vector.Vector, error) {
		x, y := full(c, 0), full(c, 1)
		defer x.Release()
		defer y.Release()
		eq, err := equal(&Call{Pool: c.Pool, N: c.N, Args: []*vector.Vector{x, y}})
		if err != nil {
			return nil, err
		}
		defer eq.Release()
		out := x.Slice(c.Pool, 0, c.N)
		valid := copyValid(out, x.Valid())
		for i, same := range vector.Values[bool](eq) {
			if same && !y.IsNull(i) {
				valid.Clear(i)
			}
		}
		return out, nil
	}, nil
}

func inferExtreme(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) == 0 {
		return nil, sqltype.Type{}, ErrMismatch
	}
	types, t, err := common(args)
	if err == nil && (t.ID >= sqltype.Array || t.ID == sqltype.Null) {
		err = ErrMismatch
	}
	return types, t, err
}

// bindExtreme keeps the better of two columns, argument after argument.
func bindExtreme(better kernel.Cmp) func(Binding) (Kernel, error) {
	return func(b Binding) (Kernel, error) {
		var text kernel.TextBuffer
		return func(c *Call) (*vector.Vector, error) {
			best := full(c, 0)
			for i := 1; i < len(c.Args); i++ {
				x := full(c, i)
				next := c.extreme(better, best, x, &text)
				best.Release()
				x.Release()
				best = next
			}
			if len(c.Args) == 1 {
				out := best.Slice(c.Pool, 0, c.N)
				best.Release()
				best = out
			}
			best.DropValid()
			return best, nil
		}, nil
	}
}

func (c *Call) extreme(better kernel.Cmp, a, b *vector.Vector, text *kernel.TextBuffer) *vector.Vector {
	if a.Kind().Variable() {
		text.Reset()
		for i := range c.N {
			v := a.Bytes(i)
			if w := b.Bytes(i); better.Holds(bytes.Compare(w, v)) {
				v = w
			}
			text.Data = append(text.Data, v...)
			text.End()
		}
		return text.Column(c.Pool, a.Kind())
	}
	out := c.Pool.New(a.Kind(), c.N)
	switch a.Kind() {
	case vector.Bool:
		dst, x, y := vector.Values[bool](out), vector.Values[bool](a), vector.Values[bool](b)
		for i := range dst {
			dst[i] = x[i] && y[i] || better == kernel.Gt && (x[i] || y[i])
		}
	case vector.Int8:
		extremes(better, vector.Values[int8](out), vector.Values[int8](a), vector.Values[int8](b))
	case vector.Int16:
		extremes(better, vector.Values[int16](out), vector.Values[int16](a), vector.Values[int16](b))
	case vector.Int32:
		extremes(better, vector.Values[int32](out), vector.Values[int32](a), vector.Values[int32](b))
	case vector.Int64:
		extremes(better, vector.Values[int64](out), vector.Values[int64](a), vector.Values[int64](b))
	case vector.Float32:
		extremes(better, vector.Values[float32](out), vector.Values[float32](a), vector.Values[float32](b))
	case vector.Float64:
		extremes(better, vector.Values[float64](out), vector.Values[float64](a), vector.Values[float64](b))
	case vector.Decimal:
		dst, x, y := vector.Values[vector.Dec](out), vector.Values[vector.Dec](a), vector.Values[vector.Dec](b)
		for i := range dst {
			dst[i] = x[i]
			if better.Holds(kernel.CmpDec(y[i], x[i])) {
				dst[i] = y[i]
			}
		}
	}
	return out
}

func extremes[T kernel.Number](better kernel.Cmp, dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	if better == kernel.Gt {
		for i, x := range a {
			if b[i] > x { // not max: a later NaN is no better, as in Flink
				x = b[i]
			}
			dst[i] = x
		}
		return
	}
	for i, x := range a {
		if b[i] < x {
			x = b[i]
		}
		dst[i] = x
	}
}

// roundHalfUp rounds the shortest decimal form of x to scale digits after the point,
// half away from zero.
func roundHalfUp(x float64, scale int) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) || scale > 300 {
		return x
	}
	if scale >= 0 && scale <= 15 {
		f := math.Pow10(scale)
		if y := x * f; math.Abs(y) < 1<<52 {
			whole := math.Floor(y)
			switch frac := y - whole; {
			case frac < 0.499: // far enough from a half for the error of y not to matter
				return whole / f
			case frac > 0.501:
				return (whole + 1) / f
			}
		}
	}
	return roundSlow(x, scale)
}
