package function

import (
	"strings"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

func timeFunctions() []*Scalar {
	str, ltz := sqltype.StringType, sqltype.TimestampLTZOf(3)
	list := []*Scalar{
		{Name: "EXTRACT", Doc: "a part of a time", Signatures: []string{"('unit', TIMESTAMP)", "('unit', DATE)", "('unit', TIME)", "('unit', INTERVAL)"},
			Infer: inferExtract, Bind: bindExtractUnit},
		{Name: "DATE_FORMAT", Doc: "a time written by a pattern such as 'yyyy-MM-dd HH:mm'", Signatures: []string{"(TIMESTAMP, STRING)", "(DATE, STRING)", "(STRING, STRING)"},
			Infer: inferDateFormat, Bind: bindDateFormat},
		{Name: "TO_DATE", Doc: "a string as a date, by a pattern if given; NULL when it is none", Signatures: []string{"(STRING)", "(STRING, STRING)"}, MayNull: true,
			Infer: inferStrings(1, 2, sqltype.DateType), Bind: bindToTime},
		{Name: "TO_TIMESTAMP", Doc: "a string as a timestamp, by a pattern if given; NULL when it is none", Signatures: []string{"(STRING)", "(STRING, STRING)"}, MayNull: true,
			Infer: inferStrings(1, 2, sqltype.TimestampOf(3)), Bind: bindToTime},
		{Name: "TO_TIMESTAMP_LTZ", Doc: "seconds (0) or milliseconds (3) since 1970, or a string, as an instant", MayNull: true,
			Signatures: []string{"(number)", "(number, INT precision)", "(STRING)", "(STRING, STRING)"}, Infer: inferToInstant, Bind: bindToInstant},
		{Name: "UNIX_TIMESTAMP", Doc: "a string in the session's time zone as seconds since 1970; the present without one", Signatures: []string{"()", "(STRING)", "(STRING, STRING)"}, Clock: true,
			Infer: inferStrings(0, 2, sqltype.BigIntType), Bind: bindUnixTimestamp},
		{Name: "FROM_UNIXTIME", Doc: "seconds since 1970 as text in the session's time zone", Signatures: []string{"(INT)", "(INT, STRING)"},
			Infer: inferPattern("i|is", str), Bind: bindFromUnixtime},
		{Name: "TIMESTAMPADD", Doc: "a time moved by so many units", Signatures: []string{"('unit', INT, TIMESTAMP)", "('unit', INT, DATE)"}, Infer: inferTimestampAdd, Bind: bindTimestampAdd},
		{Name: "TIMESTAMPDIFF", Doc: "the number of whole units from the first time to the second", Signatures: []string{"('unit', TIMESTAMP, TIMESTAMP)", "('unit', DATE, DATE)"},
			Infer: inferTimestampDiff, Bind: bindTimestampDiff},
	}
	for _, unit := range []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR", "DAYOFMONTH", "DAYOFWEEK", "HOUR", "MINUTE", "SECOND"} {
		list = append(list, &Scalar{Name: unit, Doc: strings.ToLower(unit) + " of a time", Signatures: []string{"(TIMESTAMP)", "(DATE)", "(TIME)"},
			Infer: func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
				if len(args) != 1 || args[0].Type.IsNumeric() {
					return nil, sqltype.BigIntType, ErrMismatch
				}
				coerced, ret, err := inferExtract([]Arg{{Type: str, Const: true, Value: unit}, args[0]})
				return coerced[min(1, len(coerced)):], ret, err
			},
			Bind: func(b Binding) (Kernel, error) {
				return extractKernel(unit, b.Args[0].Type, b.Zone)
			}})
	}
	for _, s := range list {
		s.Deterministic = true
	}
	now := func(name, doc string, ret sqltype.Type) {
		list = append(list, &Scalar{Name: name, Doc: doc, Signatures: []string{"()"}, Clock: true, Infer: func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
			if len(args) != 0 {
				return nil, ret, ErrMismatch
			}
			return nil, ret.Required(), nil
		}, Bind: bindNow})
	}
	now("NOW", "the present", ltz)
	now("CURRENT_TIMESTAMP", "the present", ltz)
	now("CURRENT_ROW_TIMESTAMP", "the present", ltz)
	now("PROCTIME", "the present, as processing time", ltz)
	now("LOCALTIMESTAMP", "the present on the session's clock", sqltype.TimestampOf(3))
	now("LOCALTIME", "the time of day on the session's clock", sqltype.Type{ID: sqltype.Time})
	now("CURRENT_TIME", "the time of day on the session's clock", sqltype.Type{ID: sqltype.Time})
	now("CURRENT_DATE", "today on the session's clock", sqltype.DateType)
	return list
}

// bindNow reads the clock of the epoch.
func bindNow(b Binding) (Kernel, error) {
	zone := kernel.NewZone(b.Zone)
	return func(c *Call) (*vector.Vector, error) {
		t := c.Now
		if b.Ret.ID != sqltype.TimestampLTZ {
			t = zone.Local(t, 1000)
		}
		switch b.Ret.ID {
		case sqltype.Date:
			one := vector.Of(c.Pool, int32(kernel.FloorDiv(t, dayMillis)))
			defer one.Release()
			return kernel.Broadcast(c.Pool, one, c.N), nil
		case sqltype.Time:
			t = ((t % dayMillis) + dayMillis) % dayMillis / 1000 * 1000
		}
		one := vector.Of(c.Pool, t)
		defer one.Release()
		return kernel.Broadcast(c.Pool, one, c.N), nil
	}, nil
}

// timeUnit is the canonical name of a unit of time.
func timeUnit(name string) string {
	name = strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(name)), "SQL_TSI_")
	switch name {
	case "DAYOFMONTH":
		return "DAY"
	case "DAYOFYEAR":
		return "DOY"
	case "DAYOFWEEK":
		return "DOW"
	case "YEARS", "QUARTERS", "MONTHS", "WEEKS", "DAYS", "HOURS", "MINUTES", "SECONDS", "MILLISECONDS", "MICROSECONDS", "NANOSECONDS":
		return name[:len(name)-1]
	}
	return name
}

// monthsOf is the number of months in a unit, or 0 when it is shorter.
func monthsOf(unit string) int64 {
	switch unit {
	case "YEAR":
		return 12
	case "QUARTER":
		return 3
	case "MONTH":
		return 1
	}
	return 0
}

// fixedUnit is the length of a unit in nanoseconds, of DAY and shorter ones.
func fixedUnit(unit string) (int64, bool) {
	switch unit {
	case "WEEK":
		return int64(7 * 24 * time.Hour), true
	case "DAY":
		return int64(24 * time.Hour), true
	case "HOUR":
		return int64(time.Hour), true
	case "MINUTE":
		return int64(time.Minute), true
	case "SECOND":
		return int64(time.Second), true
	case "MILLISECOND":
		return int64(time.Millisecond), true
	case "MICROSECOND":
		return int64(time.Microsecond), true
	case "NANOSECOND":
		return 1, true
	}
	return 0, false
}

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
		return int64((y + 99) / 100)
	case "DECADE":
		return kernel.FloorDiv(int64(y), 10)
	case "MILLENNIUM":
		return int64((y + 999) / 1000)
	}
	// The ISO week is that of its Thursday.
	thursday := days + 4 - int32(isoDay(days))
	year, _, _ := kernel.Civil(thursday)
	if unit == "ISOYEAR" {
		return int64(year)
	}
	return int64(thursday-kernel.Days(year, 1, 1))/7 + 1
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
	return func(c *Call) (*vector.Vector, error) {
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
				if up && q != v {
					q += n
				}
				dst[i] = q
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
				dst[i] = from * n
			}
		}
		if instants {
			for i, v := range dst {
				dst[i] = zone.Instant(v, perSecond)
			}
		}
		return out, nil
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

func inferDateFormat(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 2 || !args[1].Type.IsString() && args[1].Type.ID != sqltype.Null {
		return nil, sqltype.StringType, ErrMismatch
	}
	t := args[0].Type
	switch {
	case t.ID == sqltype.Null, t.IsString(), t.ID == sqltype.Date:
		t = sqltype.TimestampOf(3)
	case !t.IsTimestamp():
		return nil, t, ErrMismatch
	}
	return []sqltype.Type{t, sqltype.StringType}, sqltype.StringType, nil
}

// formatCache compiles the pattern of a row.
type formatCache struct {
	constant bool
	last     cached[timeFormat]
}

// newFormatCache is for argument i, or the given pattern when there is none.
func newFormatCache(b Binding, i int, otherwise string) (*formatCache, error) {
	f := &formatCache{}
	text, constant := otherwise, i >= len(b.Args)
	if !constant && b.Args[i].Const && b.Args[i].Value != nil {
		text, constant = b.Args[i].Value.(string), true
	}
	if constant {
		p, err := compileTimeFormat(text)
		if err != nil {
			return nil, err
		}
		f.constant, f.last.value = true, p
	}
	return f, nil
}

func (f *formatCache) of(pattern []byte) (*timeFormat, error) {
	if !f.constant && (!f.last.known || string(pattern) != f.last.text) {
		p, err := compileTimeFormat(string(pattern))
		if err != nil {
			return nil, err
		}
		f.last = cached[timeFormat]{text: string(pattern), known: true, value: p}
	}
	return &f.last.value, nil
}

// row is the pattern of row i, given as argument k if at all.
func (f *formatCache) row(c *Call, k, i int) (*timeFormat, error) {
	if f.constant {
		return &f.last.value, nil
	}
	return f.of(textsOf(c.Args[k]).at(i))
}

func bindDateFormat(b Binding) (Kernel, error) {
	cache, err := newFormatCache(b, 1, "")
	if err != nil {
		return nil, err
	}
	zone := kernel.NewZone(b.Zone)
	t := b.Args[0].Type
	var text kernel.TextBuffer
	return func(c *Call) (*vector.Vector, error) {
		src := localTimes(c, c.Args[0], t, zone)
		defer src.Release()
		text.Reset()
		x, digits := vector.Values[int64](src), t.UnitDigits()
		for i := range c.N {
			if c.Valid == nil || c.Valid.Get(i) {
				f, err := cache.row(c, 1, i)
				if err != nil {
					return nil, err
				}
				text.Data = f.append(text.Data, x[i*step(x)], digits)
			}
			text.End()
		}
		return text.Column(c.Pool, vector.String), nil
	}, nil
}

// bindToTime is TO_DATE and TO_TIMESTAMP: what cannot be read is NULL.
func bindToTime(b Binding) (Kernel, error) {
	cache, err := newFormatCache(b, 1, "")
	if err != nil {
		return nil, err
	}
	var missing kernel.Misfits
	digits := b.Ret.UnitDigits()
	return func(c *Call) (*vector.Vector, error) {
		missing.Reset()
		s := textsOf(c.Args[0])
		times := c.Pool.New(vector.Int64, c.N)
		dst := vector.Values[int64](times)
		for i := range dst {
			var t int64
			ok := c.Valid == nil || c.Valid.Get(i)
			switch {
			case !ok:
			case len(c.Args) == 1 && b.Ret.ID == sqltype.Date:
				var d int32
				d, ok = kernel.ParseDate(s.at(i))
				t = int64(d) * dayMillis
			case len(c.Args) == 1:
				t, ok = kernel.ParseTimestamp(s.at(i), digits)
			default:
				f, err := cache.row(c, 1, i)
				if err != nil {
					return checked(times, err)
				}
				t, ok = f.parse(s.at(i), digits)
			}
			dst[i] = t
			if !ok {
				missing.Rows = append(missing.Rows, int32(i))
			}
		}
		out := times
		if b.Ret.ID == sqltype.Date {
			out = c.Pool.New(vector.Int32, c.N)
			days := vector.Values[int32](out)
			for i, t := range dst {
				days[i] = int32(kernel.FloorDiv(t, dayMillis))
			}
			times.Release()
		}
		clearRows(out, c.Valid, missing.Rows)
		return out, nil
	}, nil
}

// clearRows makes rows NULL beside those that valid leaves out.
func clearRows(out *vector.Vector, valid vector.Bitmap, rows []int32) {
	if len(rows) == 0 {
		return
	}
	own := copyValid(out, valid)
	for _, r := range rows {
		own.Clear(int(r))
	}
}

func inferToInstant(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	ret := sqltype.TimestampLTZOf(3)
	if len(args) > 0 && (args[0].Type.IsString() || args[0].Type.ID == sqltype.Null && len(args) == 1) {
		return inferStrings(1, 2, ret)(args)
	}
	if len(args) < 1 || len(args) > 2 || !args[0].Type.IsNumeric() && args[0].Type.ID != sqltype.Null {
		return nil, ret, ErrMismatch
	}
	coerced := []sqltype.Type{sqltype.BigIntType}
	if !args[0].Type.IsInteger() {
		coerced[0] = sqltype.DoubleType
	}
	if len(args) == 2 {
		if !args[1].Type.IsInteger() {
			return nil, ret, ErrMismatch
		}
		coerced = append(coerced, sqltype.IntType)
	}
	return coerced, ret, nil
}

func bindToInstant(b Binding) (Kernel, error) {
	if b.Args[0].Type.IsString() {
		return bindParseInstant(b, 3, false)
	}
	precision := int64(3)
	if len(b.Args) == 2 {
		v, ok := b.Args[1].Value.(int64)
		if !ok || v != 0 && v != 3 {
			return nil, errs.New(errs.Invalid, errs.Position{}, "the precision of TO_TIMESTAMP_LTZ is 0 (seconds) or 3 (milliseconds)")
		}
		precision = v
	}
	factor := int64(1)
	if precision == 0 {
		factor = 1000
	}
	var m kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		m.Reset()
		if c.Args[0].Kind() == vector.Float64 {
			out := c.Pool.New(vector.Int64, c.N)
			dst, x := vector.Values[int64](out), vector.Values[float64](c.Args[0])
			for i := range dst {
				v := x[i*step(x)] * float64(factor)
				if !(v > -9e18 && v < 9e18) {
					m.Rows = append(m.Rows, int32(i))
					continue
				}
				dst[i] = int64(v)
			}
			return checked(out, outOfRange(c, &m, "TO_TIMESTAMP_LTZ ", b.Args[:1], b.Ret))
		}
		out := kernel.ScaleInts(c.Pool, c.Args[0], factor, &m)
		return checked(out, outOfRange(c, &m, "TO_TIMESTAMP_LTZ ", b.Args[:1], b.Ret))
	}, nil
}

// bindParseInstant reads strings on the session's clock into units of digits digits.
// What cannot be read is NULL or, with seconds, the least BIGINT, as Flink has it.
func bindParseInstant(b Binding, digits int, seconds bool) (Kernel, error) {
	cache, err := newFormatCache(b, 1, "")
	if err != nil {
		return nil, err
	}
	zone, unit := kernel.NewZone(b.Zone), kernel.Units(digits)
	var missing kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		missing.Reset()
		s := textsOf(c.Args[0])
		out := c.Pool.New(vector.Int64, c.N)
		dst := vector.Values[int64](out)
		for i := range dst {
			var t int64
			ok := c.Valid == nil || c.Valid.Get(i)
			switch {
			case !ok:
			case len(c.Args) == 1:
				t, ok = kernel.ParseInstant(s.at(i), digits, zone)
			default:
				f, err := cache.row(c, 1, i)
				if err != nil {
					return checked(out, err)
				}
				if t, ok = f.parse(s.at(i), digits); ok {
					t = zone.Instant(t, unit)
				}
			}
			switch {
			case !seconds:
			case ok:
				t = kernel.FloorDiv(t, unit)
			default:
				t, ok = -1<<63, true
			}
			dst[i] = t
			if !ok {
				missing.Rows = append(missing.Rows, int32(i))
			}
		}
		clearRows(out, c.Valid, missing.Rows)
		return out, nil
	}, nil
}

func bindUnixTimestamp(b Binding) (Kernel, error) {
	if len(b.Args) > 0 {
		return bindParseInstant(b, 3, true)
	}
	return func(c *Call) (*vector.Vector, error) {
		one := vector.Of(c.Pool, kernel.FloorDiv(c.Now, 1000))
		defer one.Release()
		return kernel.Broadcast(c.Pool, one, c.N), nil
	}, nil
}

func bindFromUnixtime(b Binding) (Kernel, error) {
	cache, err := newFormatCache(b, 1, "yyyy-MM-dd HH:mm:ss")
	if err != nil {
		return nil, err
	}
	zone := kernel.NewZone(b.Zone)
	var text kernel.TextBuffer
	return func(c *Call) (*vector.Vector, error) {
		text.Reset()
		x := bigintsOf(c.Args[0])
		for i := range c.N {
			if c.Valid == nil || c.Valid.Get(i) {
				f, err := cache.row(c, 1, i)
				if err != nil {
					return nil, err
				}
				sec := min(max(x.at(i), -8e15), 8e15)
				text.Data = f.append(text.Data, zone.Local(sec, 1)*1000, 3)
			}
			text.End()
		}
		return text.Column(c.Pool, vector.String), nil
	}, nil
}

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
		defer func() { by.Release() }()
		if months > 0 {
			narrow := kernel.CastNumber(c.Pool, by, vector.Int32, &m)
			by.Release()
			by = narrow
		}
		if err := outOfRange(c, &m, "TIMESTAMPADD ", b.Args[1:2], interval); err != nil {
			return nil, err
		}
		d := *c
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
		from, to := localTimes(c, c.Args[1], t, zone), localTimes(c, c.Args[2], t, zone)
		defer from.Release()
		defer to.Release()
		out := c.Pool.New(vector.Int32, c.N)
		dst, x, y := vector.Values[int32](out), bigintsOf(from), bigintsOf(to)
		for i := range dst {
			var v int64
			if months > 0 {
				v = monthsBetween(x.at(i), y.at(i), 86400*perSecond) / months
			} else {
				v = (y.at(i) - x.at(i)) / (length / nanos)
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
