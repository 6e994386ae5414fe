package ref

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/sqltype"
)

// dateText writes a date as ISO has it.
func dateText(r time.Time) string {
	y, m, d := r.Date()
	sign := ""
	if y < 0 {
		sign, y = "-", -y
	}
	return fmt.Sprintf("%s%04d-%02d-%02d", sign, y, m, d)
}

// clockText writes a time of day with some digits after the point.
func clockText(r time.Time, digits int) string {
	s := fmt.Sprintf("%02d:%02d:%02d.%09d", r.Hour(), r.Minute(), r.Second(), r.Nanosecond())
	if digits == 0 {
		return s[:len("00:00:00")]
	}
	return s[:len("00:00:00.")+digits]
}

// The forms of times, after spaces were cut off.
var (
	clockForm   = regexp.MustCompile(`^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?$`)
	dateForm    = regexp.MustCompile(`^(-?\d{1,9})-(\d{1,2})-(\d{1,2})(?:[ Tt](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?)?([Zz]|[+-]\d\d:\d\d)?$`)
	quotedForm  = regexp.MustCompile(`^'((?:[^']|'')*)'`)
	leadingForm = regexp.MustCompile(`^(-?)(\d+)`)
)

func spacesOff(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
}

// dateOf is the day that three numbers mean, if there is one.
func dateOf(year, month, day string) (time.Time, bool) {
	y, _ := strconv.Atoi(year)
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	r := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return r, r.Year() == y && r.Month() == time.Month(m) && r.Day() == d && max(y, -y) <= 5_000_000
}

// clockOf is the time of day that four numbers mean, the last two of which may be left
// out.
func clockOf(hour, minute, second, fraction string) (time.Duration, bool) {
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi(minute)
	s, _ := strconv.Atoi(second)
	n, _ := strconv.Atoi((fraction + "000000000")[:9])
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second + time.Duration(n), h < 24 && m < 60 && s < 60
}

// parseTime reads a text as a DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ.
func parseTime(s string, t sqltype.Type, zone *time.Location) (any, bool) {
	if t.ID == sqltype.Time {
		p := clockForm.FindStringSubmatch(spacesOff(s))
		if p == nil {
			return nil, false
		}
		d, ok := clockOf(p[1], p[2], p[3], p[4])
		v, _ := ofReading(time.Unix(0, 0).UTC().Add(d), t, zone)
		return v, ok
	}
	p := dateForm.FindStringSubmatch(spacesOff(s))
	if p == nil || p[8] != "" && t.ID != sqltype.TimestampLTZ {
		return nil, false
	}
	r, isDate := dateOf(p[1], p[2], p[3])
	d, isClock := clockOf(p[4], p[5], p[6], p[7])
	if !isDate || !isClock {
		return nil, false
	}
	r = r.Add(d)
	if _, ok := ofReading(r, sqltype.Type{ID: sqltype.Timestamp, Precision: t.Precision}, zone); t.IsTimestamp() && !ok {
		return nil, false // what the clock shows is a TIMESTAMP
	}
	if p[8] != "" {
		zone = time.UTC
		if len(p[8]) > 1 {
			h, _ := strconv.Atoi(p[8][1:3])
			m, _ := strconv.Atoi(p[8][4:6])
			if h > 18 || m > 59 {
				return nil, false
			}
			east := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
			if p[8][0] == '-' {
				east = -east
			}
			r = r.Add(-east)
		}
	}
	return ofReading(r, t, zone)
}

// field is a run of one letter in a time format, or text.
type field struct {
	letter byte // 0: text
	n      int
	text   string
}

// named reports whether the field is written as a word.
func (f field) named() bool {
	return f.letter == 'E' || (f.letter == 'M' || f.letter == 'L') && f.n > 2
}

func (f field) numeric() bool { return f.letter != 0 && f.letter != 'a' && !f.named() }

// fields reads a format of Java's SimpleDateFormat.
func fields(c call, pattern string) (out []field, err error) {
	for len(pattern) > 0 {
		letter := pattern[0]
		switch {
		case strings.HasPrefix(pattern, "''"):
			out = append(out, field{text: "'"})
			pattern = pattern[2:]
		case letter == '\'':
			m := quotedForm.FindStringSubmatch(pattern)
			if m == nil {
				return nil, invalid(c, "a quote in the time format is open")
			}
			out = append(out, field{text: strings.ReplaceAll(m[1], "''", "'")})
			pattern = pattern[len(m[0]):]
		case letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z':
			if !strings.ContainsRune("yuMLdHhkKmsSaED", rune(letter)) {
				return nil, invalid(c, "the time format has a letter without meaning")
			}
			rest := strings.TrimLeft(pattern, string(letter))
			out = append(out, field{letter: letter, n: len(pattern) - len(rest)})
			pattern = rest
		default:
			out = append(out, field{text: pattern[:1]})
			pattern = pattern[1:]
		}
	}
	return out, nil
}

// formatted writes a time by a format.
func formatted(c call, r time.Time, pattern string) (any, error) {
	all, err := fields(c, pattern)
	if err != nil {
		return nil, err
	}
	out := ""
	for _, f := range all {
		v := 0
		switch f.letter {
		case 0:
			out += f.text
			continue
		case 'a':
			out += r.Format("PM")
			continue
		case 'E':
			if f.n > 3 {
				out += r.Format("Monday")
			} else {
				out += r.Format("Mon")
			}
			continue
		case 'S':
			out += (fmt.Sprintf("%09d", r.Nanosecond()) + strings.Repeat("0", f.n))[:f.n]
			continue
		case 'y', 'u':
			if v = r.Year(); f.n == 2 {
				v = (v%100 + 100) % 100
			}
		case 'M', 'L':
			if f.n == 3 {
				out += r.Format("Jan")
				continue
			} else if f.n > 3 {
				out += r.Format("January")
				continue
			}
			v = int(r.Month())
		case 'd':
			v = r.Day()
		case 'D':
			v = r.YearDay()
		case 'H':
			v = r.Hour()
		case 'k':
			if v = r.Hour(); v == 0 {
				v = 24
			}
		case 'K':
			v = r.Hour() % 12
		case 'h':
			if v = r.Hour() % 12; v == 0 {
				v = 12
			}
		case 'm':
			v = r.Minute()
		case 's':
			v = r.Second()
		}
		if v < 0 {
			out += "-"
			v = -v
		}
		out += fmt.Sprintf("%0*d", f.n, v)
	}
	return out, nil
}

// parsed reads a time by a format. It reports whether the text is one.
func parsed(c call, s, pattern string) (r time.Time, ok bool, err error) {
	all, err := fields(c, pattern)
	if err != nil {
		return r, false, err
	}
	have := map[byte]int{'y': 1970, 'M': 1, 'd': 1}
	fraction := ""
	for i, f := range all {
		switch {
		case f.letter == 0:
			if s, ok = strings.CutPrefix(s, f.text); !ok {
				return r, false, nil
			}
			continue
		case f.letter == 'a':
			if len(s) < 2 || !strings.EqualFold(s[:2], "am") && !strings.EqualFold(s[:2], "pm") {
				return r, false, nil
			}
			have['a'] = strings.Index("ap", strings.ToLower(s[:1]))
			s = s[2:]
			continue
		case f.named():
			which, n := name(s, f.letter == 'E')
			if n == 0 {
				return r, false, nil
			}
			if s = s[n:]; f.letter != 'E' {
				have['M'] = which
			}
			continue
		}
		// A number takes what it can, unless another one follows at once.
		m, most := leadingForm.FindStringSubmatch(s), 9
		if i+1 < len(all) && all[i+1].numeric() {
			most = f.n
		}
		signed := m != nil && m[1] != ""
		if m == nil || signed && f.letter != 'y' && f.letter != 'u' {
			return r, false, nil
		}
		digits := m[2][:min(len(m[2]), most)]
		s = s[len(m[1])+len(digits):]
		v, _ := strconv.Atoi(m[1] + digits)
		switch f.letter {
		case 'S':
			fraction = digits
		case 'y', 'u':
			if have['y'] = v; f.n == 2 && len(digits) == 2 && !signed {
				have['y'] = 2000 + v
			}
		case 'L':
			have['M'] = v
		default:
			have[f.letter] = v
		}
	}
	if s != "" {
		return r, false, nil
	}
	r, ok = assembled(have)
	d, _ := clockOf("", "", "", fraction)
	return r.Add(d), ok, nil
}

// assembled is the time that the fields of a format mean. The 12 hours go before the 24
// ones.
func assembled(have map[byte]int) (time.Time, bool) {
	within := func(letter byte, from, to int) bool {
		v, ok := have[letter]
		return !ok || v >= from && v <= to
	}
	ok := within('y', -290_000, 290_000) && within('M', 1, 12) && within('H', 0, 23) && within('k', 1, 24) && within('K', 0, 11) && within('h', 1, 12) && within('m', 0, 59) && within('s', 0, 59)
	hour := have['H']
	if k, is := have['k']; is {
		hour = k % 24
	}
	for _, letter := range []byte("Kh") {
		if half, is := have[letter]; is {
			hour = half%12 + 12*have['a']
		}
	}
	day := time.Date(have['y'], time.Month(have['M']), have['d'], 0, 0, 0, 0, time.UTC)
	ok = ok && day.Month() == time.Month(have['M']) && day.Day() == have['d']
	if n, is := have['D']; is {
		day = time.Date(have['y'], 1, n, 0, 0, 0, 0, time.UTC)
		ok = ok && n >= 1 && day.Year() == have['y']
	}
	return day.Add(time.Duration(hour)*time.Hour + time.Duration(have['m'])*time.Minute + time.Duration(have['s'])*time.Second), ok
}

// name finds the month or day whose name, in full or its first three letters, s begins
// with, in any case, and how long that is.
func name(s string, day bool) (which, n int) {
	for i := 1; i <= 12; i++ {
		full := time.Month(i).String()
		if day {
			full = time.Weekday(i % 7).String()
		}
		for _, form := range []string{full, full[:3]} {
			if len(s) >= len(form) && strings.EqualFold(s[:len(form)], form) {
				return i, len(form)
			}
		}
	}
	return 0, 0
}

func dateFormat(c call) (any, error) { return formatted(c, c.reading(0), c.text(1)) }

// toTime is NULL for what is no time.
func toTime(c call) (any, error) {
	if len(c.args) == 1 {
		if v, ok := parseTime(c.text(0), c.T, c.zone); ok {
			return v, nil
		}
		return nil, nil
	}
	r, ok, err := parsed(c, c.text(0), c.text(1))
	if err != nil || !ok {
		return nil, err
	}
	v, ok := ofReading(r, c.T, c.zone)
	if !ok {
		return nil, nil
	}
	return v, nil
}

// toInstant takes seconds, with the precision 0, or milliseconds, or a text.
func toInstant(c call) (any, error) {
	if c.typ(0).IsString() {
		return toTime(c)
	}
	factor := int64(1)
	if len(c.args) == 2 {
		switch c.args[1] {
		case int64(0):
			factor = 1000
		case int64(3):
		default:
			return nil, invalid(c, "the precision is 0 or 3")
		}
	}
	if f, ok := c.args[0].(float64); ok {
		ms := f * float64(factor)
		if !(math.Abs(ms) < 9e18) {
			return nil, arithmetic(c, "it is out of range")
		}
		return int64(ms), nil
	}
	return fitted(c, new(big.Rat).Mul(rational(c.args[0]), new(big.Rat).SetInt64(factor)))
}

// unixTimestamp of what is no time is the least BIGINT, as Flink has it.
func unixTimestamp(c call) (any, error) {
	if len(c.args) == 0 {
		return c.now.Unix(), nil
	}
	own := c
	as := *c.Call
	as.T = sqltype.TimestampLTZOf(3)
	own.Call = &as
	v, err := toTime(own)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return int64(math.MinInt64), nil
	}
	return floorDiv(v.(int64), 1000), nil
}

func fromUnixtime(c call) (any, error) {
	pattern := "yyyy-MM-dd HH:mm:ss"
	if len(c.args) == 2 {
		pattern = c.text(1)
	}
	if _, err := fields(c, pattern); err != nil {
		return nil, err
	}
	at := time.Unix(c.int(0), 0).UTC()
	if day := floorDiv(c.int(0), 86400); day != int64(int32(day)) {
		return nil, arithmetic(c, "the calendar does not go that far")
	}
	return formatted(c, at.Add(offset(at, c.zone)), pattern)
}
