package function

import (
	"math"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

func inferTimestampAdd(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 3 || !args[0].Type.IsString() || !args[1].Type.IsInteger() {
		return nil, sqltype.Type{}, ErrMismatch
	}
	t := args[2].Type
	unit := ""
	if s, ok := args[0].Value.(string); ok {
		unit = timeUnit(s)
	}
	length, fixed := fixedUnit(unit)
	switch {
	case t.ID == sqltype.Null, t.IsString():
		t = sqltype.TimestampOf(3)
	case t.ID == sqltype.Date && fixed && length < int64(24*time.Hour):
		t = sqltype.TimestampOf(3)
	case !t.IsTimestamp() && t.ID != sqltype.Date:
		return nil, t, ErrMismatch
	}
	return []sqltype.Type{args[0].Type, sqltype.BigIntType, t}, shifted(t), nil
}

// bindTimestampAdd turns the count into an interval and shifts by it.
func bindTimestampAdd(b Binding) (Kernel, error) {
	name, err := constantText(b, 0, "the unit of TIMESTAMPADD")
	if err != nil {
		return nil, err
	}
	unit := timeUnit(name)
	months := monthsOf(unit)
	length, fixed := fixedUnit(unit)
	interval := sqltype.Type{ID: sqltype.IntervalDay}
	factor := length / int64(time.Millisecond)
	switch {
	case months > 0:
		interval.ID, factor = sqltype.IntervalMonth, months
	case !fixed || factor == 0:
		return nil, errs.New(errs.Invalid, errs.Position{}, "TIMESTAMPADD takes no unit %s", name)
	}
	shift := bindShift(kernel.Add, Binding{Args: []Arg{{Type: b.Args[2].Type}, {Type: interval}}, Ret: b.Ret, Zone: b.Zone}, 0, 1)
	var m kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		m.Reset()
		by := kernel.ScaleInts(c.Pool, c.Args[1], factor, &m)
		m.Spread(by.Len(), c.N)
		defer func() { by.Release() }()
		if months > 0 {
			narrow := kernel.CastNumber(c.Pool, by, vector.Int32, &m)
			m.Spread(by.Len(), c.N)
			by.Release()
			by = narrow
		}
		d := *c
		d.Args = c.Args[1:2]
		if err := outOfRange(&d, &m, "TIMESTAMPADD ", b.Args[1:2], interval); err != nil {
			return nil, err
		}
		d.Args = []*vector.Vector{c.Args[2], by}
		return shift(&d)
	}, nil
}

func inferTimestampDiff(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	ret := sqltype.IntType
	if len(args) != 3 || !args[0].Type.IsString() {
		return nil, ret, ErrMismatch
	}
	t, ok := commonType(args[1].Type, args[2].Type)
	switch {
	case !ok:
		return nil, ret, ErrMismatch
	case t.ID == sqltype.Date, t.ID == sqltype.Null:
		t = sqltype.TimestampOf(3)
	case !t.IsTimestamp():
		return nil, ret, ErrMismatch
	}
	return []sqltype.Type{args[0].Type, t, t}, ret, nil
}

func bindTimestampDiff(b Binding) (Kernel, error) {
	name, err := constantText(b, 0, "the unit of TIMESTAMPDIFF")
	if err != nil {
		return nil, err
	}
	unit, t := timeUnit(name), b.Args[1].Type
	months := monthsOf(unit)
	length, fixed := fixedUnit(unit)
	perSecond := kernel.Units(t.UnitDigits())
	nanos := int64(time.Second) / perSecond
	if months == 0 && (!fixed || length < nanos) {
		return nil, errs.New(errs.Invalid, errs.Position{}, "TIMESTAMPDIFF takes no unit %s of %s", name, t.Optional())
	}
	zone := kernel.NewZone(b.Zone)
	var m kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		m.Reset()
		from, to := c.Args[1].Retain(), c.Args[2].Retain()
		if months > 0 { // a month is one of the calendar, an hour lasts as long as it does
			from.Release()
			to.Release()
			from, to = localTimes(c, c.Args[1], t, zone), localTimes(c, c.Args[2], t, zone)
		}
		defer from.Release()
		defer to.Release()
		out := c.Pool.New(vector.Int32, c.N)
		dst, x, y := vector.Values[int32](out), bigintsOf(from), bigintsOf(to)
		for i := range dst {
			var v int64
			if months > 0 {
				v = monthsBetween(x.at(i), y.at(i), 86400*perSecond) / months
			} else if f := length / nanos; f > 1 {
				v = wholeDifference(y.at(i), x.at(i), f)
			} else if v = y.at(i) - x.at(i); v > 0 != (y.at(i) > x.at(i)) {
				v = math.MaxInt64 // far more than an INT holds
			}
			dst[i] = int32(v)
			if v != int64(int32(v)) {
				m.Rows = append(m.Rows, int32(i))
			}
		}
		return checked(out, outOfRange(c, &m, "TIMESTAMPDIFF ", b.Args, b.Ret))
	}, nil
}

// monthsBetween is the number of whole months from x to y, timestamps of which a day
// has n units.
func monthsBetween(x, y, n int64) int64 {
	sign := int64(1)
	if y < x {
		x, y, sign = y, x, -1
	}
	dx, dy := int32(kernel.FloorDiv(x, n)), int32(kernel.FloorDiv(y, n))
	y1, m1, _ := kernel.Civil(dx)
	y2, m2, _ := kernel.Civil(dy)
	months := int64(y2-y1)*12 + int64(m2-m1)
	back := kernel.AddMonths(dx, int(months))
	if back > dy || back == dy && x-int64(dx)*n > y-int64(dy)*n {
		months--
	}
	return sign * months
}
