package function

import (
	"math"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// bindShift is a time plus or minus an interval; at and by are the positions of the
// two arguments.
func bindShift(op kernel.Op, b Binding, at, by int) Kernel {
	t, sign := b.Args[at].Type, int64(1)
	if op == kernel.Sub {
		sign = -1
	}
	var m kernel.Misfits
	if b.Args[by].Type.ID == sqltype.IntervalMonth {
		zone := kernel.NewZone(b.Zone)
		return func(c *Call) (*vector.Vector, error) {
			m.Reset()
			out := addMonths(c, t, c.Args[at], c.Args[by], int(sign), zone, &m)
			return checked(out, outOfRange(c, &m, op.String(), b.Args, b.Ret))
		}
	}
	switch t.ID {
	case sqltype.Date:
		return func(c *Call) (*vector.Vector, error) {
			m.Reset()
			out := addDays(c, c.Args[at], c.Args[by], sign, &m)
			return checked(out, outOfRange(c, &m, op.String(), b.Args, b.Ret))
		}
	case sqltype.Time:
		return func(c *Call) (*vector.Vector, error) {
			out := c.Pool.New(vector.Int64, c.N)
			unit := kernel.Units(t.UnitDigits()) / 1000
			dst, x, y := vector.Values[int64](out), vector.Values[int64](c.Args[at]), vector.Values[int64](c.Args[by])
			for i := range dst {
				day := dayMillis * unit
				v := x[i*step(x)] + sign*(y[i*step(y)]%dayMillis)*unit
				dst[i] = ((v % day) + day) % day
			}
			return out, nil
		}
	}
	factor := kernel.Units(t.UnitDigits()) / 1000
	return func(c *Call) (*vector.Vector, error) {
		m.Reset()
		interval := c.Args[by].Retain()
		if factor > 1 {
			scaled := kernel.ScaleInts(c.Pool, interval, factor, &m)
			m.Spread(interval.Len(), c.N)
			interval.Release()
			interval = scaled
		}
		out := kernel.Arith(c.Pool, op, c.Args[at], interval, c.N, &m)
		interval.Release()
		return checked(out, outOfRange(c, &m, op.String(), b.Args, b.Ret))
	}
}

// step is the stride through an argument: 0 for a constant. (A batch of one row makes
// no difference.)
func step[T any](v []T) int {
	if len(v) == 1 {
		return 0
	}
	return 1
}

func addDays(c *Call, dates, intervals *vector.Vector, sign int64, m *kernel.Misfits) *vector.Vector {
	out := c.Pool.New(vector.Int32, c.N)
	dst, x, y := vector.Values[int32](out), vector.Values[int32](dates), vector.Values[int64](intervals)
	for i := range dst {
		v := int64(x[i*step(x)]) + sign*(y[i*step(y)]/dayMillis)
		dst[i] = int32(v)
		if v != int64(int32(v)) {
			m.Rows = append(m.Rows, int32(i))
		}
	}
	return out
}

// addMonths keeps the time of day, as the session's clock shows it.
func addMonths(c *Call, t sqltype.Type, times, intervals *vector.Vector, sign int, zone *kernel.Zone, m *kernel.Misfits) *vector.Vector {
	months := vector.Values[int32](intervals)
	if t.ID == sqltype.Date {
		out := c.Pool.New(vector.Int32, c.N)
		dst, x := vector.Values[int32](out), vector.Values[int32](times)
		for i := range dst {
			d, ok := kernel.MonthsLater(x[i*step(x)], sign*int(months[i*step(months)]))
			dst[i] = d
			if !ok {
				m.Rows = append(m.Rows, int32(i))
			}
		}
		return out
	}
	out := c.Pool.New(vector.Int64, c.N)
	dst, x := vector.Values[int64](out), vector.Values[int64](times)
	unit := kernel.Units(t.UnitDigits())
	day := 86400 * unit
	for i := range dst {
		v := x[i*step(x)]
		if t.ID == sqltype.TimestampLTZ {
			v = zone.Local(v, unit)
		}
		d := kernel.FloorDiv(v, day)
		later, ok := kernel.MonthsLater(int32(d), sign*int(months[i*step(months)]))
		moved := int64(later)
		if !ok || d != int64(int32(d)) || moved > math.MaxInt64/day-1 || moved < math.MinInt64/day+1 {
			m.Rows = append(m.Rows, int32(i))
			continue
		}
		v = moved*day + v - d*day
		if t.ID == sqltype.TimestampLTZ {
			v = zone.Instant(v, unit)
		}
		dst[i] = v
	}
	return out
}

// bindBetween is the interval from one date or timestamp to another.
func bindBetween(b Binding) Kernel {
	t := b.Args[0].Type
	var m kernel.Misfits
	if t.ID == sqltype.Date {
		return func(c *Call) (*vector.Vector, error) {
			out := c.Pool.New(vector.Int64, c.N)
			dst, x, y := vector.Values[int64](out), vector.Values[int32](c.Args[0]), vector.Values[int32](c.Args[1])
			for i := range dst {
				dst[i] = (int64(x[i*step(x)]) - int64(y[i*step(y)])) * dayMillis
			}
			return out, nil
		}
	}
	factor := kernel.Units(t.UnitDigits()) / 1000
	if factor == 1 {
		return func(c *Call) (*vector.Vector, error) {
			m.Reset()
			out := kernel.Arith(c.Pool, kernel.Sub, c.Args[0], c.Args[1], c.N, &m)
			return checked(out, outOfRange(c, &m, "-", b.Args, b.Ret))
		}
	}
	return func(c *Call) (*vector.Vector, error) {
		out := c.Pool.New(vector.Int64, c.N)
		dst, x, y := vector.Values[int64](out), bigintsOf(c.Args[0]), bigintsOf(c.Args[1])
		for i := range dst {
			dst[i] = wholeDifference(x.at(i), y.at(i), factor)
		}
		return out, nil
	}
}

// wholeDifference is (x - y) / f, truncated, for f > 1, where x - y may be out of range.
func wholeDifference(x, y, f int64) int64 {
	q, r := x/f-y/f, x%f-y%f
	q, r = q+r/f, r%f
	switch {
	case q > 0 && r < 0:
		q--
	case q < 0 && r > 0:
		q++
	}
	return q
}
