package ref

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// RowOf is row i of a batch, counted as Batch.Row does, with columns of the types.
func RowOf(types []sqltype.Type, b *vector.Batch, i int) Row {
	out := make(Row, len(types))
	for c, t := range types {
		out[c] = valueOf(t, b.Col(c), i)
	}
	return out
}

func valueOf(t sqltype.Type, v *vector.Vector, i int) any {
	if v.IsNull(i) || t.ID == sqltype.Null {
		return nil
	}
	switch v.Kind() {
	case vector.Bool:
		return vector.Values[bool](v)[i]
	case vector.Float32:
		return float64(vector.Values[float32](v)[i])
	case vector.Float64:
		return vector.Values[float64](v)[i]
	case vector.Decimal:
		return new(big.Rat).SetFrac(vector.Values[vector.Dec](v)[i].BigInt(), tenTo(t.Scale))
	case vector.String:
		return string(v.Bytes(i))
	case vector.Bytes:
		return bytes.Clone(v.Bytes(i))
	}
	if t.IsNested() {
		return nestedOf(t, v, i)
	}
	return sqltype.Int(v, i)
}

// Append adds a value of type t to a column.
func Append(b *vector.ColumnBuilder, t sqltype.Type, v any) {
	switch v := v.(type) {
	case nil:
		b.AppendNull()
	case Nested:
		appendNested(b, t, v)
	case bool:
		vector.Append(b, v)
	case string:
		b.AppendString(v)
	case []byte:
		b.AppendBytes(v)
	case float64:
		if t.ID == sqltype.Float {
			vector.Append(b, float32(v))
			return
		}
		vector.Append(b, v)
	case *big.Rat:
		text := v.FloatString(t.Scale)
		d, ok := sqltype.ParseDecimal([]byte(text), t.Precision, t.Scale)
		if !ok {
			panic("ref: " + text + " is no " + t.String())
		}
		vector.Append(b, d)
	case int64:
		switch b.Kind() {
		case vector.Int8:
			vector.Append(b, int8(v))
		case vector.Int16:
			vector.Append(b, int16(v))
		case vector.Int32:
			vector.Append(b, int32(v))
		default:
			vector.Append(b, v)
		}
	}
}

// Text is a value of type t as it is written in a row of a conformance case.
func Text(t sqltype.Type, v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case Nested:
		return "'" + strings.ReplaceAll(joined(t, v, partText), "'", "''") + "'"
	case bool:
		return strings.ToUpper(strconv.FormatBool(v))
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case []byte:
		return fmt.Sprintf("x'%x'", v)
	case float64:
		return string(sqltype.AppendFloat(nil, v, floatBits(t)))
	case *big.Rat:
		return v.FloatString(t.Scale)
	}
	x := v.(int64)
	switch t.ID {
	case sqltype.Date:
		return string(sqltype.AppendDate(nil, x))
	case sqltype.Time:
		return string(sqltype.AppendTime(nil, x, t.UnitDigits()))
	case sqltype.Timestamp:
		return "'" + string(sqltype.AppendTimestamp(nil, x, t.UnitDigits())) + "'"
	case sqltype.TimestampLTZ:
		return "'" + string(sqltype.AppendTimestamp(nil, x, t.UnitDigits())) + "Z'"
	}
	return strconv.FormatInt(x, 10)
}

func floatBits(t sqltype.Type) int {
	if t.ID == sqltype.Float {
		return 32
	}
	return 64
}

func tenTo(k int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(k)), nil) }

// unordered is what compare gives when a value is NaN.
const unordered = 2

// compare is -1, 0 or 1, or unordered. Neither value is nil.
func compare(a, b any) int {
	switch x := a.(type) {
	case bool:
		if x == b.(bool) {
			return 0
		} else if x {
			return 1
		}
		return -1
	case string:
		return strings.Compare(x, b.(string))
	case []byte:
		return bytes.Compare(x, b.([]byte))
	case float64:
		y := b.(float64)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		case x == y:
			return 0
		}
		return unordered
	case Nested:
		return order(a, b)
	}
	return rational(a).Cmp(rational(b))
}

// equal is equality as = sees it. Inside of nested values NULL is equal to NULL.
func equal(a, b any) bool { return compare(a, b) == 0 }

// rational is an exact number.
func rational(v any) *big.Rat {
	switch x := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(x)
	case *big.Rat:
		return x
	}
	panic(fmt.Sprintf("ref: %T is no exact number", v))
}

// fit makes a rational a value of the exact type t: cut toward zero to an integer,
// rounded half away from zero to a decimal. It reports whether the value is in
// the type's range.
func fit(r *big.Rat, t sqltype.Type) (any, bool) {
	if t.ID == sqltype.Decimal {
		whole := roundHalf(new(big.Rat).Mul(r, new(big.Rat).SetInt(tenTo(t.Scale))))
		if whole.CmpAbs(tenTo(t.Precision)) >= 0 {
			return nil, false
		}
		return new(big.Rat).SetFrac(whole, tenTo(t.Scale)), true
	}
	bits := map[vector.Kind]uint{vector.Int8: 8, vector.Int16: 16, vector.Int32: 32, vector.Int64: 64}[t.Kind()]
	whole := truncate(r)
	most := new(big.Int).Lsh(big.NewInt(1), bits-1)
	if whole.Cmp(most) >= 0 || whole.Cmp(most.Neg(most)) < 0 {
		return nil, false
	}
	return whole.Int64(), true
}

func truncate(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) }

// approximate makes a number a FLOAT or DOUBLE.
func approximate(v any, t sqltype.Type) float64 {
	f, ok := v.(float64)
	switch {
	case t.ID == sqltype.Float && ok:
		return float64(float32(f))
	case t.ID == sqltype.Float:
		f, _ := rational(v).Float32()
		return float64(f)
	case !ok:
		f, _ = rational(v).Float64()
	}
	return f
}

// number makes a number a value of the numeric type t.
func number(v any, t sqltype.Type) (any, bool) {
	if t.IsApprox() {
		return approximate(v, t), true
	}
	f, ok := v.(float64)
	if !ok {
		return fit(rational(v), t)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, false
	}
	return fit(new(big.Rat).SetFloat64(f), t)
}

func arithmetic(n interface{ Pos() errs.Position }, what string) error {
	return errs.New(errs.Arithmetic, n.Pos(), "%s", what)
}
