package kernel

import (
	"math"
	"math/bits"
	"time"
)

// Day is a second count of one day.
const daySeconds = 86400

// Days is the number of days from 1970-01-01 to a date of the proleptic Gregorian
// calendar. The month is 1 to 12; the day may lie outside the month.
func Days(year, month, day int) int32 {
	// Years that begin in March put the leap day last.
	y := year
	if month <= 2 {
		y--
	}
	era := y / 400
	if y < 0 {
		era = (y - 399) / 400
	}
	yoe := y - era*400
	doy := (153*((month+9)%12)+2)/5 + day - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return int32(era*146097 + doe - 719468)
}

// Civil is the date that is the given number of days after 1970-01-01.
func Civil(days int32) (year, month, day int) {
	z := int(days) + 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = doy - (153*mp+2)/5 + 1
	month = mp + 3
	if mp >= 10 {
		month = mp - 9
	}
	year = yoe + era*400
	if month <= 2 {
		year++
	}
	return year, month, day
}

// MonthDays is the length of a month.
func MonthDays(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// MonthsLater is AddMonths, and reports whether the result is within the range of days.
func MonthsLater(days int32, months int) (int32, bool) {
	y, _, _ := Civil(days)
	const most = 5_870_000 // years on either side
	later := y + months/12
	if later > most || later < -most {
		return 0, false
	}
	return AddMonths(days, months), true
}

// AddMonths moves a date by months; a day that the month has not becomes its last.
func AddMonths(days int32, months int) int32 {
	y, m, d := Civil(days)
	t := y*12 + m - 1 + months
	y, m = t/12, t%12+1
	if t%12 < 0 {
		y, m = y-1, m+12
	}
	return Days(y, m, min(d, MonthDays(y, m)))
}

// FloorDiv is a / b rounded down, for b > 0.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Units is how many units of digits fractional digits (3, 6 or 9) a second has.
func Units(digits int) int64 { return pow10(digits) }

// Zone converts between instants and the clock of a time zone. It remembers the
// last range of one offset, so it belongs to one goroutine.
type Zone struct {
	loc      *time.Location
	from, to int64 // seconds of instants with this offset
	offset   int64 // seconds east
	fixed    bool
}

// NewZone is a converter for loc.
func NewZone(loc *time.Location) *Zone {
	z := &Zone{loc: loc, from: 1, to: 0}
	if loc == time.UTC {
		z.fixed = true
	}
	return z
}

// UTC reports whether the zone is UTC, so that no conversion is needed.
func (z *Zone) UTC() bool { return z.fixed }

// Offset is how many seconds the zone is east of UTC at an instant, in seconds.
func (z *Zone) Offset(sec int64) int64 {
	if z.fixed {
		return 0
	}
	if sec >= z.from && sec < z.to {
		return z.offset
	}
	t := time.Unix(sec, 0).In(z.loc)
	_, off := t.Zone()
	start, end := t.ZoneBounds()
	z.offset, z.from, z.to = int64(off), math.MinInt64, math.MaxInt64
	if !start.IsZero() {
		z.from = start.Unix()
	}
	if !end.IsZero() {
		z.to = end.Unix()
	}
	return z.offset
}

// Local is the clock reading at an instant; unit is the number of units in a second.
func (z *Zone) Local(instant, unit int64) int64 {
	if z.fixed {
		return instant
	}
	return instant + z.Offset(FloorDiv(instant, unit))*unit
}

// Instant is the instant at which the clock shows local. A reading that occurs twice
// is the earlier instant; one that is skipped is moved forward by the gap, as Java does.
func (z *Zone) Instant(local, unit int64) int64 {
	if z.fixed {
		return local
	}
	sec := FloorDiv(local, unit)
	before := z.Offset(sec - z.Offset(sec-daySeconds) - daySeconds/2) // the offset in force some hours earlier
	if at := sec - before; z.Offset(at) == before {
		return local - before*unit
	}
	after := z.Offset(sec - before)
	if at := sec - after; z.Offset(at) == after {
		return local - after*unit
	}
	return local - before*unit
}

func appendPadded(dst []byte, v, width int) []byte {
	var buf [20]byte
	at := len(buf)
	for v > 0 || len(buf)-at < width {
		at--
		buf[at] = byte('0' + v%10)
		v /= 10
	}
	return append(dst, buf[at:]...)
}

func append2(dst []byte, v int) []byte { return append(dst, byte('0'+v/10%10), byte('0'+v%10)) }

// AppendDate writes days since 1970 as yyyy-MM-dd.
func AppendDate(dst []byte, days int32) []byte {
	y, m, d := Civil(days)
	if y < 0 {
		dst = append(dst, '-')
		y = -y
	}
	if y <= 9999 {
		dst = append2(append2(dst, y/100), y%100)
	} else {
		dst = appendPadded(dst, y, 4)
	}
	dst = append2(append(dst, '-'), m)
	return append2(append(dst, '-'), d)
}

// AppendTime writes a time of day, in units of digits fractional digits, as HH:mm:ss
// with precision fractional digits.
func AppendTime(dst []byte, t int64, digits, precision int) []byte {
	unit := Units(digits)
	sec := int(t / unit)
	dst = append2(dst, sec/3600)
	dst = append2(append(dst, ':'), sec/60%60)
	dst = append2(append(dst, ':'), sec%60)
	if precision > 0 {
		frac := int(t % unit)
		for d := digits; d > precision; d-- {
			frac /= 10
		}
		for d := digits; d < precision; d++ {
			frac *= 10
		}
		dst = appendPadded(append(dst, '.'), frac, precision)
	}
	return dst
}

// AppendTimestamp writes a timestamp, in units of digits fractional digits since
// 1970, as yyyy-MM-dd HH:mm:ss with precision fractional digits.
func AppendTimestamp(dst []byte, t int64, digits, precision int) []byte {
	day := Units(digits) * daySeconds
	d := FloorDiv(t, day)
	dst = append(AppendDate(dst, int32(d)), ' ')
	return AppendTime(dst, t-d*day, digits, precision)
}

// number reads up to most digits of s, at least one.
func number(s []byte, most int) (v, n int) {
	for n < len(s) && n < most && s[n]-'0' <= 9 {
		v = v*10 + int(s[n]-'0')
		n++
	}
	return v, n
}

// parseDate reads yyyy-MM-dd, months and days with one digit or two, and returns
// what follows.
func parseDate(s []byte) (days int32, rest []byte, ok bool) {
	neg := len(s) > 0 && s[0] == '-'
	if neg {
		s = s[1:]
	}
	y, n := number(s, 9)
	if n == 0 || n >= len(s) || s[n] != '-' {
		return 0, s, false
	}
	s = s[n+1:]
	m, n := number(s, 2)
	if n == 0 || n >= len(s) || s[n] != '-' {
		return 0, s, false
	}
	s = s[n+1:]
	d, n := number(s, 2)
	if neg {
		y = -y
	}
	if n == 0 || m < 1 || m > 12 || d < 1 || d > MonthDays(y, m) || y > 5_000_000 || y < -5_000_000 {
		return 0, s, false
	}
	return Days(y, m, d), s[n:], true
}

// parseTime reads H:mm[:ss[.fraction]], and returns what follows. Further digits than
// the unit holds are dropped.
func parseTime(s []byte, digits int) (t int64, rest []byte, ok bool) {
	h, n := number(s, 2)
	if n == 0 || h > 23 || n >= len(s) || s[n] != ':' {
		return 0, s, false
	}
	s = s[n+1:]
	m, n := number(s, 2)
	if n == 0 || m > 59 {
		return 0, s, false
	}
	s = s[n:]
	sec, frac := 0, int64(0)
	if len(s) > 0 && s[0] == ':' {
		sec, n = number(s[1:], 2)
		if n == 0 || sec > 59 {
			return 0, s, false
		}
		s = s[n+1:]
		if len(s) > 0 && s[0] == '.' {
			i := 1
			for ; i < len(s) && s[i]-'0' <= 9; i++ {
				if i <= digits {
					frac = frac*10 + int64(s[i]-'0')
				}
			}
			for j := i; j <= digits; j++ {
				frac *= 10
			}
			s = s[i:]
		}
	}
	return int64(h*3600+m*60+sec)*Units(digits) + frac, s, true
}

// ParseDate reads yyyy-MM-dd; a time of day after it is dropped.
func ParseDate(s []byte) (int32, bool) {
	s = TrimSpace(s)
	d, rest, ok := parseDate(s)
	if ok && len(rest) > 0 {
		_, ok = ParseTimestamp(s, 3)
	}
	return d, ok
}

// ParseTime reads HH:mm[:ss[.fraction]] into units of digits fractional digits.
func ParseTime(s []byte, digits int) (int64, bool) {
	t, rest, ok := parseTime(TrimSpace(s), digits)
	return t, ok && len(rest) == 0
}

// ParseTimestamp reads yyyy-MM-dd[( |T)HH:mm[:ss[.fraction]]] into units of digits
// fractional digits since 1970.
func ParseTimestamp(s []byte, digits int) (int64, bool) {
	t, rest, ok := parseTimestamp(TrimSpace(s), digits)
	return t, ok && len(rest) == 0
}

func parseTimestamp(s []byte, digits int) (t int64, rest []byte, ok bool) {
	d, rest, ok := parseDate(s)
	if !ok {
		return 0, s, false
	}
	if len(rest) > 1 && (rest[0] == ' ' || rest[0] == 'T' || rest[0] == 't') {
		t, rest, ok = parseTime(rest[1:], digits)
	}
	// The day alone may lie below the range where the time on it does not.
	hi, lo := mulSigned(int64(d), Units(digits)*daySeconds)
	low, carry := bits.Add64(uint64(lo), uint64(t), 0)
	if hi += int64(carry); hi != int64(low)>>63 {
		return 0, s, false
	}
	return int64(low), rest, ok
}

// ParseInstant reads what ParseTimestamp does, as a clock reading of zone or, with Z
// or an offset such as +02:00 after it, as an instant.
func ParseInstant(s []byte, digits int, zone *Zone) (int64, bool) {
	t, rest, ok := parseTimestamp(TrimSpace(s), digits)
	if !ok {
		return 0, false
	}
	unit := Units(digits)
	// at is the instant, unless that is out of range where t was not.
	at := func(instant int64) (int64, bool) { return instant, (instant > t) == (instant-t > 0) || instant == t }
	switch {
	case len(rest) == 0:
		return at(zone.Instant(t, unit))
	case len(rest) == 1 && rest[0]|0x20 == 'z':
		return t, true
	case len(rest) == 6 && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':':
		h, n := number(rest[1:3], 2)
		m, k := number(rest[4:6], 2)
		if n != 2 || k != 2 || h > 18 || m > 59 {
			return 0, false
		}
		off := int64(h*3600+m*60) * unit
		if rest[0] == '-' {
			off = -off
		}
		return at(t - off)
	}
	return 0, false
}
