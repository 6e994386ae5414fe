package function

import (
	"fmt"
	"time"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Row is the arguments of one call. The typed methods are for arguments of that
// type that are not NULL; they panic for others. A Row is valid until the function
// returns, what its methods return for good, Bytes apart.
type Row struct {
	call *Call
	at   int
}

// Len is the number of arguments.
func (r Row) Len() int { return len(r.call.Args) }

// IsNull reports whether argument i is NULL.
func (r Row) IsNull(i int) bool { return r.call.Args[i].IsNull(r.at) }

// Bool is argument i, a BOOLEAN.
func (r Row) Bool(i int) bool { return vector.Values[bool](r.call.Args[i])[r.at] }

// Int is argument i, an integer of any width.
func (r Row) Int(i int) int64 {
	switch v := r.call.Args[i]; v.Kind() {
	case vector.Int8:
		return int64(vector.Values[int8](v)[r.at])
	case vector.Int16:
		return int64(vector.Values[int16](v)[r.at])
	case vector.Int32:
		return int64(vector.Values[int32](v)[r.at])
	default:
		return vector.Values[int64](v)[r.at]
	}
}

// Float is argument i, a FLOAT or DOUBLE.
func (r Row) Float(i int) float64 {
	if v := r.call.Args[i]; v.Kind() == vector.Float32 {
		return float64(vector.Values[float32](v)[r.at])
	}
	return vector.Values[float64](r.call.Args[i])[r.at]
}

// Decimal is argument i, a DECIMAL, as a count of units of its declared scale.
func (r Row) Decimal(i int) vector.Dec { return vector.Values[vector.Dec](r.call.Args[i])[r.at] }

// Text is argument i, a CHAR or VARCHAR.
func (r Row) Text(i int) string { return string(r.call.Args[i].Bytes(r.at)) }

// Bytes is argument i, a character or byte string, in place: it must not be changed
// or kept.
func (r Row) Bytes(i int) []byte { return r.call.Args[i].Bytes(r.at) }

// Time is argument i, a DATE, TIMESTAMP or TIMESTAMP_LTZ, in UTC.
func (r Row) Time(i int) time.Time {
	v, t := r.Int(i), r.call.Types[i]
	if t.ID == sqltype.Date {
		return time.Unix(v*secondsPerDay, 0).UTC()
	}
	switch t.UnitDigits() {
	case 3:
		return time.UnixMilli(v).UTC()
	case 6:
		return time.UnixMicro(v).UTC()
	}
	return time.Unix(0, v).UTC()
}

// Duration is argument i, a TIME, since midnight, or an INTERVAL of days to seconds.
func (r Row) Duration(i int) time.Duration {
	return time.Duration(r.Int(i)) * r.call.Types[i].Unit()
}

const secondsPerDay = 24 * 60 * 60

// Value is argument i as a Go value: nil for NULL, else a bool, an int64 (integers
// and months), float64, vector.Dec, string, []byte, time.Time or time.Duration.
func (r Row) Value(i int) any {
	if r.IsNull(i) {
		return nil
	}
	switch t := r.call.Types[i]; {
	case t.ID == sqltype.Boolean:
		return r.Bool(i)
	case t.IsInteger(), t.ID == sqltype.IntervalMonth:
		return r.Int(i)
	case t.IsApprox():
		return r.Float(i)
	case t.ID == sqltype.Decimal:
		return r.Decimal(i)
	case t.IsString():
		return r.Text(i)
	case t.ID == sqltype.Date, t.IsTimestamp():
		return r.Time(i)
	case t.ID == sqltype.Time, t.ID == sqltype.IntervalDay:
		return r.Duration(i)
	}
	return append([]byte{}, r.Bytes(i)...)
}

// AppendValue adds a Go value to a column of type t, as sqltype.AppendGo does. It
// fails for values that do not fit.
func AppendValue(c *vector.ColumnBuilder, t sqltype.Type, v any) error {
	switch {
	case sqltype.AppendGo(c, t, v):
		return nil
	case v == nil:
		return fmt.Errorf("the result is NULL, and was declared %s", t)
	}
	return fmt.Errorf("the result %v of Go's type %T does not fit %s", v, v, t.Optional())
}
