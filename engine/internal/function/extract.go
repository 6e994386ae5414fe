package function

import (
	"math"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

func inferExtract(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	ret := sqltype.BigIntType
	if len(args) != 2 || !args[0].Type.IsString() {
		return nil, ret, ErrMismatch
	}
	t := args[1].Type
	switch {
	case t.ID == sqltype.Null, t.IsString():
		t = sqltype.TimestampOf(3)
	case t.ID == sqltype.Date, t.ID == sqltype.Time, t.IsTimestamp(), isInterval(t):
	default:
		return nil, ret, ErrMismatch
	}
	return []sqltype.Type{args[0].Type, t}, ret, nil
}

func bindExtractUnit(b Binding) (Kernel, error) {
	unit, err := constantText(b, 0, "the unit of EXTRACT")
	if err != nil {
		return nil, err
	}
	k, err := extractKernel(unit, b.Args[1].Type, b.Zone)
	if err != nil {
		return nil, err
	}
	return func(c *Call) (*vector.Vector, error) {
		d := *c
		d.Args = c.Args[1:]
		return k(&d)
	}, nil
}

// extractKernel gives a part of its only argument, of type t.
func extractKernel(name string, t sqltype.Type, loc *time.Location) (Kernel, error) {
	unit := timeUnit(name)
	bad := errs.New(errs.Type, errs.Position{}, "a value of %s has no %s", t.Optional(), unit)
	switch {
	case t.ID == sqltype.IntervalMonth:
		return extractMonths(unit, bad)
	case t.ID == sqltype.IntervalDay:
		return extractInterval(unit, bad)
	}
	zone := kernel.NewZone(loc)
	perSecond := kernel.Units(t.UnitDigits())
	if t.ID == sqltype.Date {
		perSecond = 1
	}
	nanos := int64(time.Second) / perSecond // of one unit
	var within, length int64                // the part is (time mod within) / length, in nanoseconds
	switch unit {
	case "HOUR":
		within, length = int64(24*time.Hour), int64(time.Hour)
	case "MINUTE":
		within, length = int64(time.Hour), int64(time.Minute)
	case "SECOND":
		within, length = int64(time.Minute), int64(time.Second)
	case "MILLISECOND":
		within, length = int64(time.Minute), int64(time.Millisecond)
	case "MICROSECOND":
		within, length = int64(time.Minute), int64(time.Microsecond)
	case "NANOSECOND":
		within, length = int64(time.Minute), 1
	case "YEAR", "ISOYEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOY", "DOW", "ISODOW", "EPOCH", "CENTURY", "DECADE", "MILLENNIUM":
		if t.ID == sqltype.Time && unit != "EPOCH" {
			return nil, bad
		}
	default:
		return nil, errs.New(errs.Invalid, errs.Position{}, "%s is no unit of time", name)
	}
	return func(c *Call) (*vector.Vector, error) {
		if t.ID == sqltype.Date {
			out := c.Pool.New(vector.Int64, c.N)
			dst, days := vector.Values[int64](out), vector.Values[int32](c.Args[0])
			for i, d := range days {
				switch {
				case length > 0:
					dst[i] = 0
				case unit == "EPOCH":
					dst[i] = int64(d) * 86400
				default:
					dst[i] = datePart(unit, d)
				}
			}
			return out, nil
		}
		src := c.Args[0].Retain()
		if unit != "EPOCH" {
			src.Release()
			src = localTimes(c, c.Args[0], t, zone)
		}
		defer src.Release()
		out := c.Pool.New(vector.Int64, c.N)
		dst, x := vector.Values[int64](out), vector.Values[int64](src)
		switch {
		case length > 0 && length >= nanos:
			mod, div := kernel.NewDivisor(within/nanos), max(length/nanos, 1)
			for i, v := range x {
				dst[i] = (v - mod.FloorDiv(v)*(within/nanos)) / div
			}
		case length > 0:
			mod, f := kernel.NewDivisor(within/nanos), nanos/length
			for i, v := range x {
				dst[i] = (v - mod.FloorDiv(v)*(within/nanos)) * f
			}
		case unit == "EPOCH":
			for i, v := range x {
				dst[i] = kernel.FloorDiv(v, perSecond)
			}
		default:
			day := kernel.NewDivisor(86400 * perSecond)
			for i, v := range x {
				dst[i] = datePart(unit, int32(day.FloorDiv(v)))
			}
		}
		return out, nil
	}, nil
}

// datePart is a calendar part of a day. Weeks are ISO's; DOW counts from Sunday = 1,
// ISODOW from Monday = 1.
func datePart(unit string, days int32) int64 {
	y, m, d := kernel.Civil(days)
	switch unit {
	case "YEAR":
		return int64(y)
	case "QUARTER":
		return int64(m+2) / 3
	case "MONTH":
		return int64(m)
	case "DAY":
		return int64(d)
	case "DOY":
		return int64(days-kernel.Days(y, 1, 1)) + 1
	case "DOW":
		return ((int64(days)+4)%7+7)%7 + 1
	case "ISODOW":
		return isoDay(days)
	case "CENTURY":
		return centuries(y, 100)
	case "DECADE":
		return kernel.FloorDiv(int64(y), 10)
	case "MILLENNIUM":
		return centuries(y, 1000)
	}
	// The ISO week is that of its Thursday.
	thursday := days + 4 - int32(isoDay(days))
	year, _, _ := kernel.Civil(thursday)
	if unit == "ISOYEAR" {
		return int64(year)
	}
	return int64(thursday-kernel.Days(year, 1, 1))/7 + 1
}

// centuries counts spans of n years from the year 1 up, and from the year -1 down, as
// Calcite does: the year 0 is one by itself.
func centuries(year, n int) int64 {
	if year > 0 {
		return int64((year + n - 1) / n)
	}
	return int64((year - n + 1) / n)
}

func isoDay(days int32) int64 {
	d := (int64(days) + 3) % 7
	return (d+7)%7 + 1
}

func extractMonths(unit string, bad error) (Kernel, error) {
	switch unit {
	case "YEAR", "MONTH", "QUARTER":
	default:
		return nil, bad
	}
	return func(c *Call) (*vector.Vector, error) {
		out := c.Pool.New(vector.Int64, c.N)
		dst := vector.Values[int64](out)
		for i, v := range vector.Values[int32](c.Args[0]) {
			switch unit {
			case "YEAR":
				dst[i] = int64(v / 12)
			case "MONTH":
				dst[i] = int64(v % 12)
			default:
				dst[i] = int64(v%12)/3 + 1
			}
		}
		return out, nil
	}, nil
}

func extractInterval(unit string, bad error) (Kernel, error) {
	within, length := int64(0), int64(0)
	switch unit {
	case "DAY":
		length = dayMillis
	case "HOUR":
		within, length = dayMillis, 3_600_000
	case "MINUTE":
		within, length = 3_600_000, 60_000
	case "SECOND":
		within, length = 60_000, 1000
	case "MILLISECOND":
		within, length = 60_000, 1
	case "EPOCH":
		length = 1000
	default:
		return nil, bad
	}
	return func(c *Call) (*vector.Vector, error) {
		out := c.Pool.New(vector.Int64, c.N)
		dst := vector.Values[int64](out)
		for i, v := range vector.Values[int64](c.Args[0]) {
			if within > 0 {
				v %= within
			}
			dst[i] = v / length
		}
		return out, nil
	}, nil
}

// bindFloorTime rounds a time down or up to a unit of the session's clock. Weeks
// begin on Sunday.
func bindFloorTime(b Binding, up bool) (Kernel, error) {
	name, err := constantText(b, 1, "the unit of FLOOR and CEIL")
	if err != nil {
		return nil, err
	}
	t, unit := b.Args[0].Type, timeUnit(name)
	length, fixed := fixedUnit(unit)
	switch unit {
	case "WEEK":
		fixed = false
	case "YEAR", "QUARTER", "MONTH", "DECADE", "CENTURY", "MILLENNIUM":
	default:
		if !fixed {
			return nil, errs.New(errs.Invalid, errs.Position{}, "%s is no unit of time", name)
		}
	}
	if t.ID == sqltype.Time && (!fixed || unit == "DAY") {
		return nil, errs.New(errs.Type, errs.Position{}, "a value of %s has no %s", t.Optional(), unit)
	}
	if t.ID == sqltype.Date {
		return func(c *Call) (*vector.Vector, error) {
			out := c.Pool.New(vector.Int32, c.N)
			dst := vector.Values[int32](out)
			for i, d := range vector.Values[int32](c.Args[0]) {
				dst[i] = d
				if !fixed {
					dst[i] = roundDate(unit, d, up)
				}
			}
			return out, nil
		}, nil
	}
	zone, perSecond := kernel.NewZone(b.Zone), kernel.Units(t.UnitDigits())
	nanos := int64(time.Second) / perSecond
	instants := t.ID == sqltype.TimestampLTZ && !zone.UTC()
	op := "FLOOR "
	if up {
		op = "CEIL "
	}
	var m kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		m.Reset()
		src := localTimes(c, c.Args[0], t, zone)
		defer src.Release()
		out := c.Pool.New(vector.Int64, c.N)
		dst, x := vector.Values[int64](out), vector.Values[int64](src)
		switch {
		case fixed && length <= nanos:
			copy(dst, x)
		case fixed:
			n := length / nanos
			d := kernel.NewDivisor(n)
			for i, v := range x {
				q := d.FloorDiv(v) * n
				misfit := q > v
				if up && q != v {
					q += n
					misfit = q < v
				}
				if t.ID == sqltype.Time {
					q %= 86400 * perSecond // after 24 hours the day begins again
				}
				if dst[i] = q; misfit {
					m.Rows = append(m.Rows, int32(i))
				}
			}
		default:
			n := 86400 * perSecond
			d := kernel.NewDivisor(n)
			for i, v := range x {
				day := d.FloorDiv(v)
				from := int64(roundDate(unit, int32(day), false))
				if up && from*n != v {
					from = int64(roundDate(unit, int32(day)+1, true)) // the next boundary after day
				}
				if dst[i] = from * n; from > math.MaxInt64/n || from < math.MinInt64/n {
					m.Rows = append(m.Rows, int32(i))
				}
			}
		}
		if instants {
			for i, v := range dst {
				dst[i] = zone.Instant(v, perSecond)
			}
		}
		return checked(out, outOfRange(c, &m, op, b.Args[:1], b.Ret))
	}, nil
}

// roundDate is the first day of the unit that days lies in or, up, of the next one,
// unless days is a first day itself.
func roundDate(unit string, days int32, up bool) int32 {
	y, m, _ := kernel.Civil(days)
	var from, to int32
	switch unit {
	case "WEEK":
		from = days - int32(((int64(days)+4)%7+7)%7)
		to = from + 7
	case "MONTH":
		from = kernel.Days(y, m, 1)
		to = kernel.AddMonths(from, 1)
	case "QUARTER":
		from = kernel.Days(y, (m-1)/3*3+1, 1)
		to = kernel.AddMonths(from, 3)
	default:
		years, first := 1, 0
		switch unit {
		case "DECADE":
			years = 10
		case "CENTURY": // centuries begin with the year 1
			years, first = 100, 1
		case "MILLENNIUM":
			years, first = 1000, 1
		}
		start := int(kernel.FloorDiv(int64(y-first), int64(years)))*years + first
		from, to = kernel.Days(start, 1, 1), kernel.Days(start+years, 1, 1)
	}
	if up && from != days {
		return to
	}
	return from
}
