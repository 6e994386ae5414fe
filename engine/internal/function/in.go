package function

import (
	"cmp"
	"slices"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// bindIn looks integers and strings up in a list of constants; anything else is
// compared with item after item.
func bindIn(b Binding) (Kernel, error) {
	constant := true
	for _, a := range b.Args[1:] {
		constant = constant && a.Const
	}
	t := b.Args[0].Type
	if constant {
		null := slices.ContainsFunc(b.Args[1:], func(a Arg) bool { return a.Value == nil })
		switch t.Kind() {
		case vector.Int8, vector.Int16, vector.Int32, vector.Int64:
			return inInts(sortedValues[int64](b.Args[1:]), null), nil
		case vector.String:
			return inStrings(sortedValues[string](b.Args[1:]), null), nil
		}
	}
	equal, err := bindComparison(kernel.Eq)(b)
	if err != nil {
		return nil, err
	}
	return func(c *Call) (*vector.Vector, error) {
		var found *vector.Vector
		for i := 1; i < len(c.Args); i++ {
			x, y := full(c, 0), full(c, i)
			valid := make(vector.Bitmap, vector.BitmapWords(c.N))
			some := kernel.Combine(valid, c.N, []*vector.Vector{x, y})
			d := Call{Pool: c.Pool, N: c.N, Args: []*vector.Vector{x, y}}
			eq, err := equal(&d)
			x.Release()
			y.Release()
			if err != nil {
				return nil, err
			}
			if some {
				copy(eq.NewValid(false), valid)
			}
			if found == nil {
				found = eq
				continue
			}
			both := kernel.Or(c.Pool, found, eq)
			found.Release()
			eq.Release()
			found = both
		}
		return found, nil
	}, nil
}

func sortedValues[T cmp.Ordered](args []Arg) []T {
	var out []T
	for _, a := range args {
		if a.Value != nil {
			out = append(out, a.Value.(T))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// linear is up to how many items are compared one by one.
const linear = 8

func inInts(items []int64, null bool) Kernel {
	return func(c *Call) (*vector.Vector, error) {
		out := c.Pool.New(vector.Bool, c.N)
		dst, x := vector.Values[bool](out), c.Args[0]
		switch x.Kind() {
		case vector.Int8:
			lookupInts(dst, vector.Values[int8](x), items)
		case vector.Int16:
			lookupInts(dst, vector.Values[int16](x), items)
		case vector.Int32:
			lookupInts(dst, vector.Values[int32](x), items)
		default:
			lookupInts(dst, vector.Values[int64](x), items)
		}
		inValid(out, x, null)
		return out, nil
	}
}

func lookupInts[T kernel.Int](dst []bool, src []T, items []int64) {
	for i := range dst {
		x := int64(src[i*step(src)])
		hit := false
		if len(items) <= linear {
			for _, y := range items {
				hit = hit || x == y
			}
		} else {
			_, hit = slices.BinarySearch(items, x)
		}
		dst[i] = hit
	}
}

func inStrings(items []string, null bool) Kernel {
	return func(c *Call) (*vector.Vector, error) {
		out := c.Pool.New(vector.Bool, c.N)
		dst, x := vector.Values[bool](out), c.Args[0]
		one := x.Len() == 1
		for i := range dst {
			at := i
			if one {
				at = 0
			}
			s := x.Text(at)
			hit := false
			if len(items) <= linear {
				for _, y := range items {
					if s == y {
						hit = true
						break
					}
				}
			} else {
				_, hit = slices.BinarySearch(items, s)
			}
			dst[i] = hit
		}
		inValid(out, x, null)
		return out, nil
	}
}

// inValid makes NULL the rows whose operand is NULL, and those not found in a list
// that has a NULL.
func inValid(out, x *vector.Vector, null bool) {
	if x.Valid() == nil && !null {
		return
	}
	valid := out.NewValid(true)
	found := vector.Values[bool](out)
	for i := range found {
		at := i
		if x.Len() == 1 {
			at = 0
		}
		if x.IsNull(at) || null && !found[i] {
			valid.Clear(i)
		}
	}
}

func logic() []*Scalar {
	all := func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
		ret := sqltype.BoolType.Required()
		if len(args) < 2 {
			return nil, ret, ErrMismatch
		}
		coerced := make([]sqltype.Type, len(args))
		for i, a := range args {
			if a.Type.ID != sqltype.Boolean && a.Type.ID != sqltype.Null {
				return nil, ret, ErrMismatch
			}
			coerced[i] = sqltype.BoolType
			ret.NotNull = ret.NotNull && a.Type.NotNull
		}
		return coerced, ret, nil
	}
	out := []*Scalar{
		{Name: "AND", Doc: "TRUE when all are, FALSE when one is FALSE", Signatures: []string{"(BOOLEAN, BOOLEAN)"}, Deterministic: true, Cheap: true, NullCall: true, Lazy: LazyAnd, Infer: all},
		{Name: "OR", Doc: "TRUE when one is, FALSE when all are", Signatures: []string{"(BOOLEAN, BOOLEAN)"}, Deterministic: true, Cheap: true, NullCall: true, Lazy: LazyOr, Infer: all},
		{
			Name: "NOT", Doc: "the opposite", Signatures: []string{"(BOOLEAN)"}, Deterministic: true, Cheap: true, Infer: inferTruth,
			Bind: func(Binding) (Kernel, error) {
				return func(c *Call) (*vector.Vector, error) { return kernel.Not(c.Pool, c.Args[0]), nil }, nil
			},
		},
		isNull("IS NULL", "value", "has no value", true, inferIsNull),
		isNull("IS NOT NULL", "value", "has a value", false, inferIsNull),
		isNull("IS UNKNOWN", "BOOLEAN", "is neither TRUE nor FALSE", true, inferIsTruth),
		isNull("IS NOT UNKNOWN", "BOOLEAN", "is TRUE or FALSE", false, inferIsTruth),
		isTruth("IS TRUE", "is TRUE, not FALSE or NULL", true, false),
		isTruth("IS NOT TRUE", "is FALSE or NULL", true, true),
		isTruth("IS FALSE", "is FALSE, not TRUE or NULL", false, false),
		isTruth("IS NOT FALSE", "is TRUE or NULL", false, true),
	}
	return out
}

func inferTruth(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 1 || args[0].Type.ID != sqltype.Boolean && args[0].Type.ID != sqltype.Null {
		return nil, sqltype.BoolType, ErrMismatch
	}
	return []sqltype.Type{sqltype.BoolType}, sqltype.BoolType, nil
}

func inferIsTruth(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	coerced, ret, err := inferTruth(args)
	return coerced, ret.Required(), err
}

func inferIsNull(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 1 {
		return nil, sqltype.BoolType, ErrMismatch
	}
	return []sqltype.Type{args[0].Type}, sqltype.BoolType.Required(), nil
}

type infer = func(args []Arg) ([]sqltype.Type, sqltype.Type, error)

func isNull(name, of, doc string, want bool, inf infer) *Scalar {
	return &Scalar{
		Name: name, Doc: doc, Signatures: []string{"(" + of + ")"}, Deterministic: true, Cheap: true, NullCall: true, Infer: inf,
		Bind: func(Binding) (Kernel, error) {
			return func(c *Call) (*vector.Vector, error) { return kernel.IsNull(c.Pool, c.Args[0], want), nil }, nil
		},
	}
}

func isTruth(name, doc string, truth, negate bool) *Scalar {
	return &Scalar{
		Name: name, Doc: doc, Signatures: []string{"(BOOLEAN)"}, Deterministic: true, Cheap: true, NullCall: true, Infer: inferIsTruth,
		Bind: func(Binding) (Kernel, error) {
			return func(c *Call) (*vector.Vector, error) {
				return kernel.IsTruth(c.Pool, c.Args[0], truth, negate), nil
			}, nil
		},
	}
}
