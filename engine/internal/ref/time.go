package ref

import (
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// unit is the number of ticks of a time type in a second.
func unit(t sqltype.Type) int64 { return tenTo(t.UnitDigits()).Int64() }

func isTime(t sqltype.Type) bool {
	return t.ID == sqltype.Date || t.ID == sqltype.Time || t.IsTimestamp()
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// reading is what calendar and clock show, as a time in UTC: of an instant those of the
// zone, of a time of day those of 1970-01-01.
func reading(v any, t sqltype.Type, zone *time.Location) time.Time {
	if t.ID == sqltype.Date {
		return time.Unix(v.(int64)*86400, 0).UTC()
	}
	sec := floorDiv(v.(int64), unit(t))
	at := time.Unix(sec, (v.(int64)-sec*unit(t))*(1e9/unit(t))).UTC()
	if t.ID == sqltype.TimestampLTZ {
		return at.Add(offset(at, zone))
	}
	return at
}

// offset is how far the zone's clock is ahead at an instant.
func offset(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

// instant is when the zone's clock shows r: for the first time, or, if it skips r, as
// long after as r lies in what is skipped.
func instant(r time.Time, zone *time.Location) time.Time {
	before := offset(r.Add(-24*time.Hour), zone)
	after := offset(r.Add(24*time.Hour), zone)
	for _, o := range []time.Duration{max(before, after), min(before, after)} { // the farther ahead the earlier
		if at := r.Add(-o); offset(at, zone) == o {
			return at
		}
	}
	return r.Add(-before)
}

// ofReading is the value of type t, cut to its precision, when calendar and clock show
// r. It reports whether that is in the range of the type.
func ofReading(r time.Time, t sqltype.Type, zone *time.Location) (any, bool) {
	switch t.ID {
	case sqltype.Date:
		days := floorDiv(r.Unix(), 86400)
		return days, days == int64(int32(days))
	case sqltype.Time:
		h, m, s := r.Clock()
		r = time.Date(1970, 1, 1, h, m, s, r.Nanosecond(), time.UTC)
	case sqltype.TimestampLTZ:
		r = instant(r, zone)
	}
	cut := tenTo(9 - min(t.Precision, 9)).Int64()
	fraction := int64(r.Nanosecond()) / cut * cut / (1e9 / unit(t))
	ticks := new(big.Int).Mul(big.NewInt(r.Unix()), big.NewInt(unit(t)))
	ticks.Add(ticks, big.NewInt(fraction))
	return ticks.Int64(), ticks.IsInt64()
}

func (c call) reading(i int) time.Time { return reading(c.args[i], c.typ(i), c.zone) }

func (c call) ofReading(r time.Time) (any, error) {
	v, ok := ofReading(r, c.T, c.zone)
	if !ok {
		return nil, arithmetic(c, c.Func.Name+" is out of range")
	}
	return v, nil
}

// addMonths moves a date by months; a day that the month has not becomes its last.
func addMonths(r time.Time, n int64) time.Time {
	total := int64(r.Year())*12 + int64(r.Month()) - 1 + n
	year, month := int(floorDiv(total, 12)), time.Month(total-floorDiv(total, 12)*12+1)
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(year, month, min(r.Day(), last), r.Hour(), r.Minute(), r.Second(), r.Nanosecond(), time.UTC)
}

// moved is a time and an INTERVAL added, or the second taken from the first.
func moved(c call, sign int64) (any, error) {
	at, by := 0, 1
	if !isTime(c.typ(0)) {
		at, by = 1, 0
	}
	return shifted(c, at, c.typ(by).ID == sqltype.IntervalMonth, new(big.Int).Mul(big.NewInt(sign), big.NewInt(c.int(by))))
}

// shifted moves argument at by months on the calendar, or by milliseconds. A date moves
// by whole days, and a time of day begins again after 24 hours.
func shifted(c call, at int, months bool, by *big.Int) (any, error) {
	t, x := c.typ(at), big.NewInt(c.int(at))
	switch {
	case months:
		if !by.IsInt64() || by.CmpAbs(big.NewInt(math.MaxInt32)) > 0 {
			return nil, arithmetic(c, "so many months are out of range")
		}
		later := addMonths(c.reading(at), by.Int64())
		if _, ok := ofReading(later, sqltype.DateType, c.zone); !ok { // DATE is the range of the calendar
			return nil, arithmetic(c, "so many months are out of range")
		}
		return c.ofReading(later)
	case t.ID == sqltype.Date:
		by = new(big.Int).Quo(by, big.NewInt(86_400_000))
	default:
		by = new(big.Int).Mul(by, big.NewInt(unit(t)/1000))
	}
	sum := new(big.Int).Add(x, by)
	if t.ID == sqltype.Time {
		sum.Mod(sum, big.NewInt(86400*unit(t)))
	}
	return fitted(c, new(big.Rat).SetInt(sum))
}

// between is the interval from the second time to the first, in milliseconds.
func between(c call) (any, error) {
	tick := big.NewRat(86_400_000, 1)
	if t := c.typ(0); t.ID != sqltype.Date {
		tick = big.NewRat(1000, unit(t))
	}
	diff := new(big.Rat).SetInt(new(big.Int).Sub(big.NewInt(c.int(0)), big.NewInt(c.int(1))))
	return fitted(c, diff.Mul(diff, tick))
}

// unitOf is the name of a unit of time without its other forms.
func unitOf(name string) string {
	name = strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(name)), "SQL_TSI_")
	switch name {
	case "DAYOFMONTH":
		return "DAY"
	case "DAYOFYEAR":
		return "DOY"
	case "DAYOFWEEK":
		return "DOW"
	case "CENTURY", "MILLENNIUM":
		return name
	}
	return strings.TrimSuffix(name, "S")
}

// lengthOf is the length of a unit that always has the same.
func lengthOf(unit string) (time.Duration, bool) {
	d, ok := map[string]time.Duration{
		"WEEK": 7 * 24 * time.Hour, "DAY": 24 * time.Hour, "HOUR": time.Hour, "MINUTE": time.Minute, "SECOND": time.Second,
		"MILLISECOND": time.Millisecond, "MICROSECOND": time.Microsecond, "NANOSECOND": time.Nanosecond,
	}[unit]
	return d, ok
}

// monthsIn is the number of months in a unit, or 0.
func monthsIn(unit string) int64 {
	return map[string]int64{"MONTH": 1, "QUARTER": 3, "YEAR": 12}[unit]
}

// times are the functions of times but the clock's.
func times() map[string]definition {
	all := map[string]definition{
		"EXTRACT":          func(c call) (any, error) { return part(c, c.text(0), 1) },
		"TIMESTAMPADD":     timestampAdd,
		"TIMESTAMPDIFF":    timestampDiff,
		"DATE_FORMAT":      dateFormat,
		"TO_DATE":          toTime,
		"TO_TIMESTAMP":     toTime,
		"TO_TIMESTAMP_LTZ": toInstant,
		"FROM_UNIXTIME":    fromUnixtime,
	}
	for _, name := range []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR", "DAYOFMONTH", "DAYOFWEEK", "HOUR", "MINUTE", "SECOND"} {
		all[name] = func(c call) (any, error) { return part(c, name, 0) }
	}
	return all
}

// part is a unit of argument i.
func part(c call, name string, i int) (any, error) {
	u, t := unitOf(name), c.typ(i)
	var v int64
	var ok bool
	switch {
	case t.ID == sqltype.IntervalMonth:
		v, ok = partOfMonths(u, c.int(i))
	case t.ID == sqltype.IntervalDay:
		v, ok = partOfMillis(u, c.int(i))
	case u == "EPOCH" && t.ID == sqltype.TimestampLTZ:
		v, ok = reading(c.args[i], t, time.UTC).Unix(), true
	default:
		r := c.reading(i)
		if v, ok = partOfClock(u, r); !ok && t.ID != sqltype.Time {
			v, ok = partOfDate(u, r)
		}
	}
	if !ok {
		return nil, errs.New(errs.Type, c.At, "%s has no %s", t, u)
	}
	return v, nil
}

func partOfClock(unit string, r time.Time) (int64, bool) {
	switch unit {
	case "HOUR":
		return int64(r.Hour()), true
	case "MINUTE":
		return int64(r.Minute()), true
	case "SECOND":
		return int64(r.Second()), true
	case "MILLISECOND":
		return int64(r.Second())*1e3 + int64(r.Nanosecond())/1e6, true
	case "MICROSECOND":
		return int64(r.Second())*1e6 + int64(r.Nanosecond())/1e3, true
	case "NANOSECOND":
		return int64(r.Second())*1e9 + int64(r.Nanosecond()), true
	case "EPOCH":
		return r.Unix(), true
	}
	return 0, false
}

// partOfDate counts days of the week from Sunday = 1, ISO's from Monday = 1. There is a
// year 0, and a century 0 that is that year alone.
func partOfDate(unit string, r time.Time) (int64, bool) {
	isoYear, week := r.ISOWeek()
	year := int64(r.Year())
	since := func(n int64) int64 { // the years of our era are rounded up, those before it down
		if year > 0 {
			return (year + n - 1) / n
		}
		return (year - n + 1) / n
	}
	switch unit {
	case "YEAR":
		return year, true
	case "ISOYEAR":
		return int64(isoYear), true
	case "QUARTER":
		return (int64(r.Month()) + 2) / 3, true
	case "MONTH":
		return int64(r.Month()), true
	case "WEEK":
		return int64(week), true
	case "DAY":
		return int64(r.Day()), true
	case "DOY":
		return int64(r.YearDay()), true
	case "DOW":
		return int64(r.Weekday()) + 1, true
	case "ISODOW":
		return (int64(r.Weekday())+6)%7 + 1, true
	case "DECADE":
		return floorDiv(year, 10), true
	case "CENTURY":
		return since(100), true
	case "MILLENNIUM":
		return since(1000), true
	}
	return 0, false
}

func partOfMonths(unit string, months int64) (int64, bool) {
	switch unit {
	case "YEAR":
		return months / 12, true
	case "QUARTER":
		return months%12/3 + 1, true
	case "MONTH":
		return months % 12, true
	}
	return 0, false
}

func partOfMillis(unit string, ms int64) (int64, bool) {
	switch unit {
	case "DAY":
		return ms / 86_400_000, true
	case "HOUR":
		return ms / 3_600_000 % 24, true
	case "MINUTE":
		return ms / 60_000 % 60, true
	case "SECOND":
		return ms / 1000 % 60, true
	case "MILLISECOND":
		return ms % 60_000, true
	case "EPOCH":
		return ms / 1000, true
	}
	return 0, false
}

// floorTime is a time when its unit began, or up when the next one does. Weeks begin
// on Sunday, centuries and millennia with the year 1 of theirs.
func floorTime(c call, up bool) (any, error) {
	u := unitOf(c.text(1))
	_, known := lengthOf(u)
	if c.typ(0).ID == sqltype.Time && (!known || u == "DAY" || u == "WEEK") {
		return nil, errs.New(errs.Type, c.At, "%s has no %s", c.typ(0), u)
	}
	r := c.reading(0)
	from, next, ok := begin(u, r)
	if !ok {
		return nil, errs.New(errs.Invalid, c.At, "%s is no unit of time", u)
	}
	if up && !from.Equal(r) {
		from = next
	}
	return c.ofReading(from)
}

// begin is when the unit that r lies in begins, and the one after it.
func begin(unit string, r time.Time) (from, next time.Time, ok bool) {
	y, m, d := r.Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	years := func(n, first int64) (time.Time, time.Time, bool) {
		start := int(floorDiv(int64(y)-first, n)*n + first)
		return time.Date(start, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(start+int(n), 1, 1, 0, 0, 0, 0, time.UTC), true
	}
	switch unit {
	case "YEAR":
		return years(1, 0)
	case "DECADE":
		return years(10, 0)
	case "CENTURY":
		return years(100, 1)
	case "MILLENNIUM":
		return years(1000, 1)
	case "QUARTER":
		from = time.Date(y, (m-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
		return from, from.AddDate(0, 3, 0), true
	case "MONTH":
		from = time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
		return from, from.AddDate(0, 1, 0), true
	case "WEEK":
		from = midnight.AddDate(0, 0, -int(r.Weekday()))
		return from, from.AddDate(0, 0, 7), true
	case "DAY":
		return midnight, midnight.AddDate(0, 0, 1), true
	}
	length, ok := lengthOf(unit)
	if !ok {
		return r, r, false
	}
	from = midnight.Add(r.Sub(midnight) / length * length)
	return from, from.Add(length), true
}

// timestampAdd moves a time by months on the calendar, or by a length.
func timestampAdd(c call) (any, error) {
	u, n := unitOf(c.text(0)), big.NewInt(c.int(1))
	if m := monthsIn(u); m > 0 {
		return shifted(c, 2, true, n.Mul(n, big.NewInt(m)))
	}
	length, ok := lengthOf(u)
	if !ok || length < time.Millisecond {
		return nil, errs.New(errs.Invalid, c.At, "TIMESTAMPADD takes no unit %s", u)
	}
	if n.Mul(n, big.NewInt(length.Milliseconds())); !n.IsInt64() {
		return nil, arithmetic(c, "so many units are out of range")
	}
	return shifted(c, 2, false, n)
}

// timestampDiff is the number of whole units from one time to another: of months as the
// calendar has them, of others as long as they are.
func timestampDiff(c call) (any, error) {
	u := unitOf(c.text(0))
	if n := monthsIn(u); n > 0 {
		return fitted(c, big.NewRat(monthsBetween(c.reading(1), c.reading(2)), n))
	}
	length, ok := lengthOf(u)
	ticks := new(big.Rat).SetInt(new(big.Int).Sub(big.NewInt(c.int(2)), big.NewInt(c.int(1))))
	tick := big.NewRat(1e9, unit(c.typ(1)))
	if !ok || tick.Cmp(new(big.Rat).SetInt64(int64(length))) > 0 {
		return nil, errs.New(errs.Invalid, c.At, "TIMESTAMPDIFF takes no unit %s of %s", u, c.typ(1))
	}
	return fitted(c, ticks.Mul(ticks, tick).Quo(ticks, new(big.Rat).SetInt64(int64(length))))
}

func monthsBetween(from, to time.Time) int64 {
	if to.Before(from) {
		return -monthsBetween(to, from)
	}
	n := int64(to.Year()-from.Year())*12 + int64(to.Month()) - int64(from.Month())
	for addMonths(from, n).After(to) {
		n--
	}
	return n
}

// clocks are the functions of the present.
func clocks() map[string]definition {
	all := map[string]definition{"UNIX_TIMESTAMP": unixTimestamp}
	for _, name := range []string{"NOW", "CURRENT_TIMESTAMP", "CURRENT_ROW_TIMESTAMP", "PROCTIME", "LOCALTIMESTAMP", "LOCALTIME", "CURRENT_TIME", "CURRENT_DATE"} {
		all[name] = func(c call) (any, error) {
			return c.ofReading(c.now.UTC().Truncate(time.Millisecond).Add(offset(c.now, c.zone)))
		}
	}
	return all
}
