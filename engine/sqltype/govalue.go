package sqltype

import (
	"math"
	"time"

	"github.com/weirdb/weir/vector"
)

// AppendGo adds a Go value to a column of type t: nil for NULL, a bool, an integer
// of any of Go's types, float32, float64, vector.Dec (of the column's scale), string,
// []byte, time.Time, or time.Duration (TIME, since midnight, and INTERVAL DAY TO
// SECOND). A time.Time gives TIMESTAMP_LTZ its instant, and types without a zone the
// date and clock that it shows. AppendGo reports false, and adds nothing, when the
// value does not fit.
func AppendGo(c *vector.ColumnBuilder, t Type, v any) bool {
	switch v := v.(type) {
	case nil:
		if !t.NotNull {
			c.AppendNull()
		}
		return !t.NotNull
	case bool:
		return t.ID == Boolean && appended(c, v)
	case string:
		if t.IsString() {
			c.AppendString(v)
		}
		return t.IsString()
	case []byte:
		fits := t.IsBinary() && len(v) <= t.Precision
		if fits {
			c.AppendBytes(v)
		}
		return fits
	case vector.Dec:
		return t.ID == Decimal && v.FitsInPrecision(int32(t.Precision)) && appended(c, v)
	case time.Time:
		return appendTime(c, t, v)
	case time.Duration:
		return (t.ID == Time || t.ID == IntervalDay) && appended(c, int64(v/t.Unit()))
	case float32:
		return appendFloat(c, t, float64(v))
	case float64:
		return appendFloat(c, t, v)
	case int:
		return appendInt(c, t, int64(v))
	case int8:
		return appendInt(c, t, int64(v))
	case int16:
		return appendInt(c, t, int64(v))
	case int32:
		return appendInt(c, t, int64(v))
	case int64:
		return appendInt(c, t, v)
	case uint:
		return v <= math.MaxInt64 && appendInt(c, t, int64(v))
	case uint8:
		return appendInt(c, t, int64(v))
	case uint16:
		return appendInt(c, t, int64(v))
	case uint32:
		return appendInt(c, t, int64(v))
	case uint64:
		return v <= math.MaxInt64 && appendInt(c, t, int64(v))
	}
	return false
}

// Unit is what the integers of a TIME, TIMESTAMP, TIMESTAMP_LTZ or INTERVAL DAY TO
// SECOND count.
func (t Type) Unit() time.Duration {
	switch {
	case t.ID == IntervalDay, t.UnitDigits() == 3:
		return time.Millisecond
	case t.UnitDigits() == 6:
		return time.Microsecond
	}
	return time.Nanosecond
}

func appended[T vector.Fixed](c *vector.ColumnBuilder, v T) bool {
	vector.Append(c, v)
	return true
}

func appendInt(c *vector.ColumnBuilder, t Type, v int64) bool {
	switch t.ID {
	case TinyInt:
		return int64(int8(v)) == v && appended(c, int8(v))
	case SmallInt:
		return int64(int16(v)) == v && appended(c, int16(v))
	case Integer, IntervalMonth:
		return int64(int32(v)) == v && appended(c, int32(v))
	case BigInt:
		return appended(c, v)
	case Float, Double:
		return appendFloat(c, t, float64(v))
	case Decimal:
		d, err := vector.DecFromInt64(v).Rescale(0, int32(t.Scale))
		return err == nil && d.FitsInPrecision(int32(t.Precision)) && appended(c, d)
	}
	return false
}

func appendFloat(c *vector.ColumnBuilder, t Type, v float64) bool {
	switch t.ID {
	case Double:
		return appended(c, v)
	case Float:
		fits := math.Abs(v) <= math.MaxFloat32 || math.IsInf(v, 0) || math.IsNaN(v)
		return fits && appended(c, float32(v))
	}
	return false
}

func appendTime(c *vector.ColumnBuilder, t Type, v time.Time) bool {
	if t.ID != TimestampLTZ {
		v = time.Date(v.Year(), v.Month(), v.Day(), v.Hour(), v.Minute(), v.Second(), v.Nanosecond(), time.UTC)
	}
	switch {
	case t.ID == Date:
		days := math.Floor(float64(v.Unix()) / (24 * 60 * 60))
		return math.Abs(days) <= math.MaxInt32 && appended(c, int32(days))
	case t.ID == Time:
		return appended(c, int64(v.Sub(v.Truncate(24*time.Hour))/t.Unit()))
	case !t.IsTimestamp():
		return false
	case t.UnitDigits() == 3:
		return appended(c, v.UnixMilli())
	case t.UnitDigits() == 6:
		return appended(c, v.UnixMicro())
	}
	// UnixNano wraps around outside of the years 1678 to 2262.
	return time.Unix(0, v.UnixNano()).Equal(v) && appended(c, v.UnixNano())
}
