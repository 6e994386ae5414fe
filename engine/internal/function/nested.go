package function

import (
	"sort"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// The names of what SQL writes as r.f and a[i].
const (
	Field = "."
	Item  = "[]"
)

// nestedFunctions make and read ARRAY, MAP and ROW values.
func nestedFunctions() []*Scalar {
	return []*Scalar{
		{Name: "ROW", Doc: "a row of the values", Signatures: []string{"(value, ...)"}, Deterministic: true, NullCall: true, Infer: inferRow, Bind: bindRow},
		{Name: "ARRAY", Doc: "an array of the values", Signatures: []string{"(value, ...)"}, Deterministic: true, NullCall: true, Infer: inferArray, Bind: bindArray},
		{Name: "MAP", Doc: "a map of keys and values", Signatures: []string{"(key, value, ...)"}, Deterministic: true, NullCall: true, Infer: inferMap, Bind: bindMap},
		{Name: Field, Doc: "a field of a row, NULL when the row is", Signatures: []string{"(ROW, name)"}, Deterministic: true, Cheap: true, NullCall: true, Infer: inferField, Bind: bindField},
		{
			Name: Item, Doc: "the element of an array at a position from 1, or the value of a key in a map; NULL where there is none", Signatures: []string{"(ARRAY, INT)", "(MAP, key)"},
			Deterministic: true, MayNull: true, Infer: inferItem, Bind: bindItem,
		},
		{Name: "CARDINALITY", Doc: "the number of elements of an array or entries of a map", Signatures: []string{"(ARRAY)", "(MAP)", "(MULTISET)"}, Deterministic: true, Infer: inferCardinality, Bind: bindCardinality},
		{Name: "ELEMENT", Doc: "the only element of an array, NULL when it is empty", Signatures: []string{"(ARRAY)"}, Deterministic: true, MayNull: true, Infer: inferElement, Bind: bindElement},
		{Name: "ARRAY_CONTAINS", Doc: "whether the value, which may be NULL, is an element of the array", Signatures: []string{"(ARRAY, element)"}, Deterministic: true, NullCall: true, Infer: inferContains, Bind: bindContains},
	}
}

func inferRow(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) == 0 {
		return nil, sqltype.Type{}, ErrMismatch
	}
	types, fields := make([]sqltype.Type, len(args)), make([]sqltype.Column, len(args))
	for i, a := range args {
		types[i] = a.Type.Plain()
		fields[i] = sqltype.Column{Name: "EXPR$" + itoa(i), Type: types[i]}
	}
	return types, sqltype.RowOf(fields...).Required(), nil
}

func itoa(i int) string { return string(kernel.AppendDecimal(nil, vector.DecFromInt64(int64(i)), 0)) }

func bindRow(Binding) (Kernel, error) {
	return func(c *Call) (*vector.Vector, error) {
		fields := make([]*vector.Vector, len(c.Args))
		for i := range fields {
			fields[i] = full(c, i)
		}
		return c.Pool.NewStruct(c.N, fields), nil
	}, nil
}

func inferArray(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) == 0 {
		return nil, sqltype.Type{}, ErrMismatch
	}
	types, elem, err := common(args)
	return types, sqltype.ArrayOf(elem.Plain()).Required(), err
}

// bindArray interleaves the columns of the elements.
func bindArray(b Binding) (Kernel, error) {
	return func(c *Call) (*vector.Vector, error) {
		elems := interleave(c, 0, 1)
		out := c.Pool.NewList(c.N, elems)
		ascend(out.Offsets(), len(c.Args))
		return out, nil
	}, nil
}

// interleave is row 0 of arguments from, from+step, ..., then row 1 of them, and so on.
func interleave(c *Call, from, step int) *vector.Vector {
	k := (len(c.Args) - from + step - 1) / step
	var parts []kernel.Part
	for i := range k {
		v := full(c, from+i*step)
		defer v.Release()
		rows := make([]int32, c.N)
		for r := range rows {
			rows[r] = int32(r*k + i)
		}
		parts = append(parts, kernel.Part{Rows: rows, V: v})
	}
	return kernel.Merge(c.Pool, parts[0].V.Kind(), c.N*k, parts)
}

func ascend(offsets []int32, step int) {
	for i := range offsets {
		offsets[i] = int32(i * step)
	}
}

func inferMap(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) == 0 || len(args)%2 != 0 {
		return nil, sqltype.Type{}, ErrMismatch
	}
	var keys, values []Arg
	for i := 0; i < len(args); i += 2 {
		keys, values = append(keys, args[i]), append(values, args[i+1])
	}
	_, key, err := common(keys)
	if err != nil {
		return nil, key, err
	}
	_, value, err := common(values)
	types := make([]sqltype.Type, len(args))
	for i := range types {
		types[i] = key
		if i%2 == 1 {
			types[i] = value
		}
	}
	return types, sqltype.MapOf(key.Plain(), value.Plain()).Required(), err
}

// bindMap goes through a builder, which orders the entries. A NULL key has no place
// in a map.
func bindMap(b Binding) (Kernel, error) {
	return func(c *Call) (*vector.Vector, error) {
		keys, values := interleave(c, 0, 2), interleave(c, 1, 2)
		defer keys.Release()
		defer values.Release()
		if keys.Nulls() > 0 {
			return nil, errs.New(errs.Data, errs.Position{}, "a key of a MAP is NULL")
		}
		out := vector.NewColumnBuilder(c.Pool, b.Ret.Kind())
		for i := range keys.Len() {
			out.Child(0).AppendFrom(keys, i)
			out.Child(1).AppendFrom(values, i)
			if (i+1)%(len(c.Args)/2) == 0 {
				out.EndValue()
			}
		}
		return out.Finish(), nil
	}, nil
}

// inferField takes the position of the field as a constant.
func inferField(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 2 || args[0].Type.ID != sqltype.Row {
		return nil, sqltype.Type{}, ErrMismatch
	}
	i, ok := args[1].Value.(int64)
	if !ok || i < 0 || int(i) >= len(args[0].Type.Fields) {
		return nil, sqltype.Type{}, ErrMismatch
	}
	ret := args[0].Type.Fields[i].Type
	ret.NotNull = ret.NotNull && args[0].Type.NotNull
	return []sqltype.Type{args[0].Type, args[1].Type}, ret, nil
}

// FieldName is the name of the field that a call of Field reads.
func FieldName(row, field Arg) string { return row.Type.Fields[field.Value.(int64)].Name }

func bindField(b Binding) (Kernel, error) {
	i := int(b.Args[1].Value.(int64))
	return func(c *Call) (*vector.Vector, error) { return c.Args[0].Field(c.Pool, i), nil }, nil
}

func inferItem(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 2 {
		return nil, sqltype.Type{}, ErrMismatch
	}
	of, at := args[0].Type, args[1]
	switch {
	case of.ID == sqltype.Array && (at.Type.IsInteger() || at.Type.ID == sqltype.Null):
		if i, ok := at.Value.(int64); ok && i < 1 {
			return nil, of, errs.New(errs.Invalid, errs.Position{}, "the elements of an ARRAY are numbered from 1, and this is number %d", i)
		}
		return []sqltype.Type{of, sqltype.BigIntType}, *of.Elem, nil
	case of.ID == sqltype.Map:
		if _, ok := commonType(*of.Key, at.Type); ok {
			return []sqltype.Type{of, of.Key.Optional()}, *of.Elem, nil
		}
	}
	return nil, of, ErrMismatch
}

func bindItem(b Binding) (Kernel, error) {
	list := b.Args[0].Type.ID == sqltype.Array
	return func(c *Call) (*vector.Vector, error) {
		of, at := full(c, 0), full(c, 1)
		defer of.Release()
		defer at.Release()
		rows := make([]int32, c.N)
		off := of.Offsets()
		for i := range rows {
			rows[i] = -1
			from, to := off[i], off[i+1]
			switch {
			case c.Valid != nil && !c.Valid.Get(i):
			case list:
				if n := vector.Values[int64](at)[i]; n >= 1 && n <= int64(to-from) {
					rows[i] = from + int32(n-1)
				}
			default:
				keys := of.Child(0)
				k := from + int32(sort.Search(int(to-from), func(k int) bool { return vector.Compare(keys, int(from)+k, at, i) >= 0 }))
				if k < to && vector.Compare(keys, int(k), at, i) == 0 {
					rows[i] = k
				}
			}
		}
		return kernel.TakeOrNull(c.Pool, of.Child(of.Children()-1), rows), nil
	}, nil
}

func inferCardinality(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 1 || !args[0].Type.IsNested() || args[0].Type.ID == sqltype.Row {
		return nil, sqltype.Type{}, ErrMismatch
	}
	return []sqltype.Type{args[0].Type}, sqltype.IntType, nil
}

// bindCardinality counts equal elements of a MULTISET as many times as it has them.
func bindCardinality(b Binding) (Kernel, error) {
	bag := b.Args[0].Type.ID == sqltype.Multiset
	return func(c *Call) (*vector.Vector, error) {
		v := full(c, 0)
		defer v.Release()
		out := c.Pool.New(vector.Int32, c.N)
		dst, off := vector.Values[int32](out), v.Offsets()
		for i := range dst {
			dst[i] = off[i+1] - off[i]
			if bag {
				dst[i] = 0
				for _, n := range vector.Values[int32](v.Child(1))[off[i]:off[i+1]] {
					dst[i] += n
				}
			}
		}
		return out, nil
	}, nil
}

func inferElement(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 1 || args[0].Type.ID != sqltype.Array {
		return nil, sqltype.Type{}, ErrMismatch
	}
	return []sqltype.Type{args[0].Type}, *args[0].Type.Elem, nil
}

func bindElement(b Binding) (Kernel, error) {
	return func(c *Call) (*vector.Vector, error) {
		v := full(c, 0)
		defer v.Release()
		rows, off := make([]int32, c.N), v.Offsets()
		for i := range rows {
			rows[i] = -1
			if c.Valid != nil && !c.Valid.Get(i) {
				continue
			}
			switch n := off[i+1] - off[i]; n {
			case 0:
			case 1:
				rows[i] = off[i]
			default:
				return nil, errs.New(errs.Data, errs.Position{}, "ELEMENT of an ARRAY of %d elements", n).WithHint("take one by its number: a[1]")
			}
		}
		return kernel.TakeOrNull(c.Pool, v.Child(0), rows), nil
	}, nil
}

func inferContains(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 2 || args[0].Type.ID != sqltype.Array {
		return nil, sqltype.Type{}, ErrMismatch
	}
	elem, ok := commonType(*args[0].Type.Elem, args[1].Type)
	if !ok {
		return nil, elem, ErrMismatch
	}
	array := args[0].Type
	array.Elem = &elem
	ret := sqltype.BoolType
	ret.NotNull = array.NotNull
	return []sqltype.Type{array, elem}, ret, nil
}

func bindContains(b Binding) (Kernel, error) {
	return func(c *Call) (*vector.Vector, error) {
		v, x := full(c, 0), full(c, 1)
		defer v.Release()
		defer x.Release()
		out := c.Pool.New(vector.Bool, c.N)
		dst, off, elems := vector.Values[bool](out), v.Offsets(), v.Child(0)
		for i := range dst {
			dst[i] = false
			for e := off[i]; e < off[i+1] && !dst[i]; e++ {
				dst[i] = vector.Compare(elems, int(e), x, i) == 0
			}
		}
		if v.Valid() != nil {
			copyValid(out, v.Valid())
		}
		return out, nil
	}, nil
}
