package connector

import (
	"fmt"
	"math/bits"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// CanAdapt reports whether columns of type from, as a file or a client has them,
// can be read as type to: the same type, a wider one of its family, or a timestamp
// of another precision.
func CanAdapt(from, to sqltype.Type) bool {
	switch {
	case from.ID == sqltype.Null:
		return true
	case from.IsInteger() && to.IsInteger():
		return from.Kind().Width() <= to.Kind().Width()
	case from.IsInteger() && to.ID == sqltype.Decimal:
		return true
	case from.IsApprox() && to.IsApprox():
		return from.ID <= to.ID
	case from.ID == sqltype.Decimal && to.ID == sqltype.Decimal:
		return from.Scale <= to.Scale && from.Precision-from.Scale <= to.Precision-to.Scale
	case from.IsString() && to.IsString(), from.IsBinary() && to.IsBinary(),
		from.ID == sqltype.Time && to.ID == sqltype.Time, from.IsTimestamp() && to.IsTimestamp():
		return true
	}
	return from.ID == to.ID && from.Elem == nil && from.Fields == nil
}

// Adapt turns a column of type from into one of type to, for which CanAdapt holds.
// It takes over the reference to v, also when it fails because a value does not
// fit. Digits of a second that the new type does not have are cut.
func Adapt(p *vector.Pool, v *vector.Vector, from, to sqltype.Type) (*vector.Vector, error) {
	switch {
	case from.ID == sqltype.Null && to.ID != sqltype.Null:
		c := vector.NewColumnBuilder(p, to.Kind())
		for range v.Len() {
			c.AppendNull()
		}
		v.Release()
		return c.Finish(), nil
	case from.IsInteger() && to.IsInteger() && from.ID != to.ID:
		return widen(p, v, to.Kind()), nil
	case from.IsInteger() && to.ID == sqltype.Decimal:
		return integersToDecimal(p, v, to)
	case from.ID == sqltype.Float && to.ID == sqltype.Double:
		return convert(p, v, func(x float32) float64 { return float64(x) }), nil
	case from.ID == sqltype.Decimal && from.Scale != to.Scale:
		up := to.Scale - from.Scale
		return convert(p, v, func(x vector.Dec) vector.Dec { return x.IncreaseScaleBy(int32(up)) }), nil
	case (from.ID == sqltype.Time || from.IsTimestamp()) && from.UnitDigits() != to.UnitDigits():
		return rescale(p, v, to.UnitDigits()-from.UnitDigits())
	case (to.IsString() || to.IsBinary()) && to.Precision < from.Precision:
		for i := range v.Len() {
			n := len(v.Bytes(i))
			if to.IsString() && n > to.Precision {
				n = utf8.RuneCount(v.Bytes(i))
			}
			if n > to.Precision && !v.IsNull(i) {
				v.Release()
				return nil, fmt.Errorf("row %d: a value of length %d is too long for %v", i, n, to)
			}
		}
	}
	return v, nil
}

// convert makes a column of another type value by value, and releases v.
func convert[S, T vector.Fixed](p *vector.Pool, v *vector.Vector, f func(S) T) *vector.Vector {
	out := p.New(vector.KindOf[T](), v.Len())
	src, dst := vector.Values[S](v), vector.Values[T](out)
	for i, x := range src {
		dst[i] = f(x)
	}
	copyValid(out, v)
	v.Release()
	return out
}

func copyValid(to, from *vector.Vector) {
	if valid := from.Valid(); valid != nil {
		copy(to.NewValid(false), valid)
	}
}

func widen(p *vector.Pool, v *vector.Vector, kind vector.Kind) *vector.Vector {
	switch kind {
	case vector.Int16:
		return convert(p, v, func(x int8) int16 { return int16(x) })
	case vector.Int32:
		if v.Kind() == vector.Int8 {
			return convert(p, v, func(x int8) int32 { return int32(x) })
		}
		return convert(p, v, func(x int16) int32 { return int32(x) })
	}
	switch v.Kind() {
	case vector.Int8:
		return convert(p, v, func(x int8) int64 { return int64(x) })
	case vector.Int16:
		return convert(p, v, func(x int16) int64 { return int64(x) })
	}
	return convert(p, v, func(x int32) int64 { return int64(x) })
}

func integersToDecimal(p *vector.Pool, v *vector.Vector, to sqltype.Type) (*vector.Vector, error) {
	out := p.New(vector.Decimal, v.Len())
	dst := vector.Values[vector.Dec](out)
	for i := range dst {
		if v.IsNull(i) {
			dst[i] = vector.Dec{}
			continue
		}
		x := sqltype.Int(v, i)
		d, ok := sqltype.ParseDecimal(fmt.Append(nil, x), to.Precision, to.Scale)
		if !ok {
			v.Release()
			out.Release()
			return nil, fmt.Errorf("row %d: the value %d does not fit %v", i, x, to)
		}
		dst[i] = d
	}
	copyValid(out, v)
	v.Release()
	return out, nil
}

// rescale changes the unit of a time or timestamp by a power of ten.
func rescale(p *vector.Pool, v *vector.Vector, digits int) (*vector.Vector, error) {
	by := int64(1)
	for range max(digits, -digits) {
		by *= 10
	}
	if digits < 0 {
		return convert(p, v, func(x int64) int64 {
			q := x / by
			if x%by < 0 {
				q--
			}
			return q
		}), nil
	}
	out := p.New(vector.Int64, v.Len())
	src, dst := vector.Values[int64](v), vector.Values[int64](out)
	over := false
	for i, x := range src {
		hi, lo := bits.Mul64(uint64(max(x, -x)), uint64(by))
		over = over || hi != 0 || lo > 1<<63-1
		dst[i] = x * by
	}
	if over {
		for i, x := range src {
			if y := x * by; y/by != x && !v.IsNull(i) {
				v.Release()
				out.Release()
				return nil, fmt.Errorf("row %d: the time %d is out of the range of the column's precision", i, x)
			}
		}
	}
	copyValid(out, v)
	v.Release()
	return out, nil
}
