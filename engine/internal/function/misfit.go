package function

import (
	"fmt"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// AppendValue writes row i of v, a column of type t, as CAST(... AS STRING) does.
func AppendValue(dst []byte, v *vector.Vector, t sqltype.Type, i int, zone *kernel.Zone) []byte {
	switch t.ID {
	case sqltype.Varchar, sqltype.Char, sqltype.Varbinary, sqltype.Binary:
		return append(dst, v.Bytes(i)...)
	case sqltype.Date:
		return kernel.AppendDate(dst, vector.Values[int32](v)[i])
	case sqltype.Time:
		return kernel.AppendTime(dst, vector.Values[int64](v)[i], t.UnitDigits(), t.Precision)
	case sqltype.Timestamp:
		return kernel.AppendTimestamp(dst, vector.Values[int64](v)[i], t.UnitDigits(), t.Precision)
	case sqltype.TimestampLTZ:
		local := zone.Local(vector.Values[int64](v)[i], kernel.Units(t.UnitDigits()))
		return kernel.AppendTimestamp(dst, local, t.UnitDigits(), t.Precision)
	case sqltype.IntervalDay:
		return appendDayInterval(dst, vector.Values[int64](v)[i])
	case sqltype.IntervalMonth:
		return appendMonthInterval(dst, vector.Values[int32](v)[i])
	case sqltype.Boolean, sqltype.Null:
		if vector.Values[bool](v)[i] {
			return append(dst, "TRUE"...)
		}
		return append(dst, "FALSE"...)
	case sqltype.Decimal:
		return kernel.AppendDecimal(dst, vector.Values[vector.Dec](v)[i], t.Scale)
	case sqltype.TinyInt:
		return fmt.Append(dst, vector.Values[int8](v)[i])
	case sqltype.SmallInt:
		return fmt.Append(dst, vector.Values[int16](v)[i])
	case sqltype.Integer:
		return fmt.Append(dst, vector.Values[int32](v)[i])
	case sqltype.BigInt:
		return fmt.Append(dst, vector.Values[int64](v)[i])
	case sqltype.Float:
		return kernel.AppendFloat(dst, float64(vector.Values[float32](v)[i]), 32)
	case sqltype.Double:
		return kernel.AppendFloat(dst, vector.Values[float64](v)[i], 64)
	}
	if t.IsNested() {
		return sqltype.AppendNested(dst, t, v, i, func(dst []byte, t sqltype.Type, v *vector.Vector, i int) []byte {
			return AppendValue(dst, v, t, i, zone)
		})
	}
	panic("function: no text for " + t.String())
}

// appendDayInterval writes milliseconds as "+1 02:03:04.005".
func appendDayInterval(dst []byte, ms int64) []byte {
	sign := byte('+')
	u := uint64(ms)
	if ms < 0 {
		sign, u = '-', -u
	}
	dst = fmt.Appendf(append(dst, sign), "%d ", u/86_400_000)
	return kernel.AppendTime(dst, int64(u%86_400_000), 3, 3)
}

// appendMonthInterval writes months as "+1-02".
func appendMonthInterval(dst []byte, months int32) []byte {
	sign, m := byte('+'), int64(months)
	if m < 0 {
		sign, m = '-', -m
	}
	return fmt.Appendf(append(dst, sign), "%d-%02d", m/12, m%12)
}

// show is a value as an error message quotes it.
func show(v *vector.Vector, t sqltype.Type, row int) string {
	if v.Len() == 1 {
		row = 0
	}
	if v.IsNull(row) {
		return "NULL"
	}
	s := string(AppendValue(nil, v, t, row, kernel.NewZone(time.UTC)))
	if t.IsString() {
		if len(s) > 60 {
			s = s[:57] + "..."
		}
		return "'" + s + "'"
	}
	return s
}

// outOfRange is the error for the first row of m that is no NULL, or nil: the
// operation op on the first of c's arguments, args, has a result that type ret does not hold.
func outOfRange(c *Call, m *kernel.Misfits, op string, args []Arg, ret sqltype.Type) error {
	row, bad := m.First(c.Valid)
	if !bad {
		return nil
	}
	last := min(len(c.Args), len(args)) - 1
	if op == "/" || op == "%" {
		if b := show(c.Args[last], args[last].Type, row); isZero(b) {
			return errs.New(errs.Arithmetic, errs.Position{}, "division by zero: %s %s %s", show(c.Args[0], args[0].Type, row), op, b)
		}
	}
	text := op + show(c.Args[0], args[0].Type, row)
	if last > 0 {
		text = show(c.Args[0], args[0].Type, row) + " " + op + " " + show(c.Args[last], args[last].Type, row)
	}
	return errs.New(errs.Arithmetic, errs.Position{}, "%s out of range: %s", ret.Optional(), text)
}

func isZero(s string) bool {
	for _, r := range s {
		if r != '0' && r != '.' && r != '-' {
			return false
		}
	}
	return true
}
