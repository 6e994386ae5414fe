package function

import (
	"time"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// caster converts a column; rows that do not fit go to m. The result may have NULLs
// of its own only where its argument has them.
type caster func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector

// BindCast is the kernel of CAST(from AS to), of one argument. With try a value that
// does not fit becomes NULL instead of an error.
func BindCast(from, to sqltype.Type, try bool, zone *time.Location) (Kernel, error) {
	cast := bindCast(from, to, zone)
	if cast == nil {
		return nil, errs.New(errs.Type, errs.Position{}, "%s cannot be cast to %s", from.Optional(), to.Optional())
	}
	var m kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		m.Reset()
		out := cast(c, c.Args[0], &m)
		if len(m.Rows) == 0 {
			return out, nil
		}
		if try {
			valid := copyValid(out, c.Valid)
			for _, r := range m.Rows {
				valid.Clear(int(r))
			}
			return out, nil
		}
		row, bad := m.First(c.Valid)
		if !bad {
			return out, nil
		}
		out.Release()
		e := errs.New(errs.Cast, errs.Position{}, "%s is no %s", show(c.Args[0], from, row), to.Optional())
		return nil, e.WithHint("TRY_CAST gives NULL instead")
	}, nil
}

// copyValid gives out a bitmap of its own that starts as valid.
func copyValid(out *vector.Vector, valid vector.Bitmap) vector.Bitmap {
	own := out.NewValid(valid == nil)
	copy(own, valid)
	return own
}

func bindCast(from, to sqltype.Type, zone *time.Location) caster {
	switch {
	case from.ID == sqltype.Null:
		return func(c *Call, _ *vector.Vector, _ *kernel.Misfits) *vector.Vector {
			out := kernel.Nulls(c.Pool, to.Kind(), c.N)
			out.DropValid()
			return out
		}
	case to.ID == sqltype.Null || !CanCast(from, to, false):
		return nil
	case to.IsNested():
		return nestedCast(from, to, zone)
	case to.IsString():
		return toString(from, to, zone)
	case from.IsString():
		return fromString(to, zone)
	case from.IsBinary():
		return fitLength(to)
	case from.ID == sqltype.Decimal && to.ID == sqltype.Decimal:
		return func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector {
			return kernel.CastDecimal(c.Pool, v, from.Scale, to.Precision, to.Scale, m)
		}
	case from.ID == sqltype.Decimal:
		return func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector {
			return kernel.DecimalToNumber(c.Pool, v, from.Scale, to.Kind(), m)
		}
	case to.ID == sqltype.Decimal:
		return func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector {
			return kernel.NumberToDecimal(c.Pool, v, to.Precision, to.Scale, m)
		}
	case from.IsNumeric() || from.ID == sqltype.Boolean || isInterval(from):
		return func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector {
			return kernel.CastNumber(c.Pool, v, to.Kind(), m)
		}
	}
	return timeCast(from, to, kernel.NewZone(zone))
}

// toString writes values as text; CHAR is padded, and what is longer than a CHAR or
// VARCHAR is cut.
func toString(from, to sqltype.Type, loc *time.Location) caster {
	var text kernel.TextBuffer
	zone := kernel.NewZone(loc)
	fit := fitLength(to)
	return func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector {
		if from.IsString() || from.IsBinary() {
			if from.IsBinary() {
				for i := range v.Len() {
					if !utf8.Valid(v.Bytes(i)) {
						m.Rows = append(m.Rows, int32(i))
					}
				}
			}
			return fit(c, v, m)
		}
		if from.IsNumeric() || from.ID == sqltype.Boolean {
			kernel.FormatNumbers(&text, v, from.Scale)
		} else {
			text.Reset()
			for i := range v.Len() {
				text.Data = AppendValue(text.Data, v, from, i, zone)
				text.End()
			}
		}
		out := text.Column(c.Pool, vector.String)
		if to.Precision == sqltype.MaxLength {
			return out
		}
		defer out.Release()
		return fit(c, out, m)
	}
}

// fitLength copies strings or bytes, cut to the length of the type and, if that is
// fixed, padded with blanks or zeros.
func fitLength(to sqltype.Type) caster {
	var text kernel.TextBuffer
	pad, fixed := byte(' '), to.ID == sqltype.Char
	if to.ID == sqltype.Binary {
		pad, fixed = 0, true
	}
	return func(c *Call, v *vector.Vector, _ *kernel.Misfits) *vector.Vector {
		text.Reset()
		for i := range v.Len() {
			b := v.Bytes(i)
			n := len(b)
			if to.IsString() && (n > to.Precision || fixed) {
				n = 0
				at := 0
				for at < len(b) && n < to.Precision {
					_, size := utf8.DecodeRune(b[at:])
					at += size
					n++
				}
				b = b[:at]
			} else if n > to.Precision {
				n = to.Precision
				b = b[:n]
			}
			text.Data = append(text.Data, b...)
			for ; fixed && n < to.Precision; n++ {
				text.Data = append(text.Data, pad)
			}
			text.End()
		}
		return text.Column(c.Pool, to.Kind())
	}
}

func fromString(to sqltype.Type, loc *time.Location) caster {
	zone := kernel.NewZone(loc)
	digits := to.UnitDigits()
	switch {
	case to.IsBinary():
		return fitLength(to)
	case to.ID == sqltype.Decimal:
		return func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector {
			return kernel.ParseDecimals(c.Pool, v, to.Precision, to.Scale, m)
		}
	case to.IsNumeric() || to.ID == sqltype.Boolean:
		return func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector {
			return kernel.ParseNumbers(c.Pool, v, to.Kind(), m)
		}
	case to.ID == sqltype.Date:
		return func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector {
			out := c.Pool.New(vector.Int32, v.Len())
			dst := vector.Values[int32](out)
			for i := range dst {
				d, ok := kernel.ParseDate(v.Bytes(i))
				dst[i] = d
				if !ok {
					m.Rows = append(m.Rows, int32(i))
				}
			}
			return out
		}
	case isInterval(to):
		return nil
	}
	cut := cutUnit(to)
	return func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector {
		out := c.Pool.New(vector.Int64, v.Len())
		dst := vector.Values[int64](out)
		for i := range dst {
			var t int64
			var ok bool
			switch to.ID {
			case sqltype.Time:
				t, ok = kernel.ParseTime(v.Bytes(i), digits)
			case sqltype.Timestamp:
				t, ok = kernel.ParseTimestamp(v.Bytes(i), digits)
			default:
				t, ok = kernel.ParseInstant(v.Bytes(i), digits, zone)
			}
			if cut > 1 {
				floor := kernel.FloorDiv(t, cut) * cut
				t, ok = floor, ok && floor <= t
			}
			dst[i] = t
			if !ok {
				m.Rows = append(m.Rows, int32(i))
			}
		}
		return out
	}
}

// cutUnit is the step between the values of a time type, in units of its int64: 100
// for TIMESTAMP(1), 1 when precision and unit agree.
func cutUnit(t sqltype.Type) int64 {
	cut := int64(1)
	for d := t.UnitDigits(); d > t.Precision; d-- {
		cut *= 10
	}
	return cut
}

// timeCast converts between DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ.
func timeCast(from, to sqltype.Type, zone *kernel.Zone) caster {
	fromUnit, toUnit := kernel.Units(from.UnitDigits()), kernel.Units(to.UnitDigits())
	switch {
	case from.ID == sqltype.Date && to.ID == sqltype.Date:
		return func(c *Call, v *vector.Vector, _ *kernel.Misfits) *vector.Vector { return v.Slice(c.Pool, 0, v.Len()) }
	case from.ID == sqltype.Date:
		return func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector {
			return datesToTimestamps(c, v, toUnit, to.ID == sqltype.TimestampLTZ, zone, m)
		}
	case to.ID == sqltype.Date:
		return func(c *Call, v *vector.Vector, _ *kernel.Misfits) *vector.Vector {
			local := localTimes(c, v, from, zone)
			defer local.Release()
			out := c.Pool.New(vector.Int32, v.Len())
			dst, day := vector.Values[int32](out), kernel.NewDivisor(86400*fromUnit)
			for i, t := range vector.Values[int64](local) {
				dst[i] = int32(day.FloorDiv(t))
			}
			return out
		}
	}
	cut := cutUnit(to)
	return func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector {
		t := v.Retain()
		replace := func(next *vector.Vector) {
			t.Release()
			t = next
		}
		if from.ID == sqltype.TimestampLTZ && to.ID != sqltype.TimestampLTZ {
			replace(localTimes(c, t, from, zone))
		}
		if from.IsTimestamp() && to.ID == sqltype.Time {
			replace(timesOfDay(c, t, fromUnit))
		}
		switch {
		case toUnit > fromUnit:
			replace(kernel.ScaleInts(c.Pool, t, toUnit/fromUnit, m))
		case toUnit < fromUnit:
			replace(kernel.FloorInts(c.Pool, t, fromUnit/toUnit))
		}
		if cut > 1 {
			replace(floorTo(c, t, cut, m))
		}
		if to.ID == sqltype.TimestampLTZ && from.ID != sqltype.TimestampLTZ {
			replace(instants(c, t, toUnit, zone))
		}
		if t == v { // nothing to do, but a result is new
			replace(v.Slice(c.Pool, 0, v.Len()))
			t.DropValid()
		}
		return t
	}
}

func datesToTimestamps(c *Call, v *vector.Vector, unit int64, instant bool, zone *kernel.Zone, m *kernel.Misfits) *vector.Vector {
	out := c.Pool.New(vector.Int64, v.Len())
	dst, day := vector.Values[int64](out), 86400*unit
	for i, d := range vector.Values[int32](v) {
		t := int64(d) * day
		if t/day != int64(d) {
			m.Rows = append(m.Rows, int32(i))
		}
		if instant {
			t = zone.Instant(t, unit)
		}
		dst[i] = t
	}
	return out
}

// localTimes is a timestamp column as the session's clock shows it, to be released.
func localTimes(c *Call, v *vector.Vector, t sqltype.Type, zone *kernel.Zone) *vector.Vector {
	if t.ID != sqltype.TimestampLTZ || zone.UTC() {
		return v.Retain()
	}
	out := c.Pool.New(vector.Int64, v.Len())
	dst, unit := vector.Values[int64](out), kernel.Units(t.UnitDigits())
	for i, x := range vector.Values[int64](v) {
		dst[i] = zone.Local(x, unit)
	}
	return out
}

func instants(c *Call, v *vector.Vector, unit int64, zone *kernel.Zone) *vector.Vector {
	out := c.Pool.New(vector.Int64, v.Len())
	dst := vector.Values[int64](out)
	for i, x := range vector.Values[int64](v) {
		dst[i] = zone.Instant(x, unit)
	}
	return out
}

func timesOfDay(c *Call, v *vector.Vector, unit int64) *vector.Vector {
	out := c.Pool.New(vector.Int64, v.Len())
	dst, day := vector.Values[int64](out), kernel.NewDivisor(86400*unit)
	for i, x := range vector.Values[int64](v) {
		dst[i] = x - day.FloorDiv(x)*86400*unit
	}
	return out
}

func floorTo(c *Call, v *vector.Vector, cut int64, m *kernel.Misfits) *vector.Vector {
	out := c.Pool.New(vector.Int64, v.Len())
	dst, d := vector.Values[int64](out), kernel.NewDivisor(cut)
	for i, x := range vector.Values[int64](v) {
		if dst[i] = d.FloorDiv(x) * cut; dst[i] > x { // it has left the range
			m.Rows = append(m.Rows, int32(i))
		}
	}
	return out
}
