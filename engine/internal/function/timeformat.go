package function

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/vector/kernel"
)

// timeFormat is a compiled pattern of Java's SimpleDateFormat, as far as it has a
// meaning without a time zone: y M d H h k K m s S a E D, quoted and other text.
type timeFormat struct{ fields []timeField }

type timeField struct {
	letter byte   // 0: literal text
	count  int    // how many letters
	text   string // of a literal
	packed bool   // a number follows without anything between
}

func compileTimeFormat(pattern string) (timeFormat, error) {
	var f timeFormat
	literal := func(s string) {
		if n := len(f.fields); n > 0 && f.fields[n-1].letter == 0 {
			f.fields[n-1].text += s
			return
		}
		f.fields = append(f.fields, timeField{text: s})
	}
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c == '\'':
			text, end, ok := quoted(pattern[i+1:])
			if !ok {
				return f, errs.New(errs.Invalid, errs.Position{}, "the time format %q has an open quote", pattern)
			}
			literal(text)
			i += 1 + end
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			n := 1
			for i+n < len(pattern) && pattern[i+n] == c {
				n++
			}
			if !strings.ContainsRune("yuMLdHhkKmsSaED", rune(c)) {
				return f, errs.New(errs.Invalid, errs.Position{}, "the time format %q has the letter %c", pattern, c).
					WithHint("y M d H h k K m s S a E D stand for parts of a time; other letters are quoted, as in 'T'")
			}
			if k := len(f.fields); k > 0 && f.fields[k-1].numeric() && c != 'a' && c != 'E' {
				f.fields[k-1].packed = true
			}
			f.fields = append(f.fields, timeField{letter: c, count: n})
			i += n
		default:
			literal(pattern[i : i+1])
			i++
		}
	}
	return f, nil
}

// quoted reads text up to its closing quote, and what that takes. Two quotes are one in
// the text, and outside of any.
func quoted(s string) (text string, n int, ok bool) {
	if strings.HasPrefix(s, "'") {
		return "'", 1, true
	}
	for {
		end := strings.IndexByte(s[n:], '\'')
		if end < 0 {
			return "", 0, false
		}
		text += s[n : n+end]
		n += end + 1
		if n == len(s) || s[n] != '\'' {
			return text, n, true
		}
		text += "'"
		n++
	}
}

// numeric reports whether a field is written in digits.
func (f timeField) numeric() bool {
	return f.letter != 0 && f.letter != 'a' && f.letter != 'E' && !((f.letter == 'M' || f.letter == 'L') && f.count > 2)
}

const (
	monthNames = "JanuaryFebruaryMarchAprilMayJuneJulyAugustSeptemberOctoberNovemberDecember"
	dayNames   = "SundayMondayTuesdayWednesdayThursdayFridaySaturday"
)

// nameAt is name number i, from 0, of names that are written together.
func nameAt(names string, i int) string {
	for ; ; i-- {
		end := 1
		for end < len(names) && names[end] >= 'a' {
			end++
		}
		if i == 0 {
			return names[:end]
		}
		names = names[end:]
	}
}

// append writes a timestamp in units of digits fractional digits.
func (f *timeFormat) append(dst []byte, t int64, digits int) []byte {
	unit := kernel.Units(digits)
	dayUnits := 86400 * unit
	days := kernel.FloorDiv(t, dayUnits)
	rest := t - days*dayUnits
	y, m, d := kernel.Civil(int32(days))
	sec := int(rest / unit)
	hour := sec / 3600
	for _, field := range f.fields {
		v := 0
		switch field.letter {
		case 0:
			dst = append(dst, field.text...)
			continue
		case 'a':
			dst = append(dst, "AMPM"[hour/12*2:hour/12*2+2]...)
			continue
		case 'E':
			name := nameAt(dayNames, int(((days+4)%7+7)%7))
			if field.count < 4 {
				name = name[:3]
			}
			dst = append(dst, name...)
			continue
		case 'S':
			dst = appendFraction(dst, rest%unit, digits, field.count)
			continue
		case 'y', 'u':
			if field.count == 2 {
				dst = appendDigits(dst, ((y%100)+100)%100, 2)
				continue
			}
			v = y
		case 'M', 'L':
			if field.count > 2 {
				name := nameAt(monthNames, m-1)
				if field.count == 3 {
					name = name[:3]
				}
				dst = append(dst, name...)
				continue
			}
			v = m
		case 'd':
			v = d
		case 'D':
			v = int(int32(days)-kernel.Days(y, 1, 1)) + 1
		case 'H':
			v = hour
		case 'k':
			v = (hour+23)%24 + 1
		case 'K':
			v = hour % 12
		case 'h':
			v = (hour+11)%12 + 1
		case 'm':
			v = sec / 60 % 60
		case 's':
			v = sec % 60
		}
		dst = appendDigits(dst, v, field.count)
	}
	return dst
}

func appendDigits(dst []byte, v, width int) []byte {
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	}
	var buf [20]byte
	at := len(buf)
	for v > 0 || len(buf)-at < min(width, len(buf)) {
		at--
		buf[at] = byte('0' + v%10)
		v /= 10
	}
	return append(dst, buf[at:]...)
}

// appendFraction writes the first width digits of a fraction of digits digits.
func appendFraction(dst []byte, frac int64, digits, width int) []byte {
	from := len(dst)
	dst = appendDigits(dst, int(frac), digits)
	if width <= digits {
		return dst[:from+width]
	}
	for range width - digits {
		dst = append(dst, '0')
	}
	return dst
}

// parse reads a timestamp into units of digits fractional digits.
func (f *timeFormat) parse(s []byte, digits int) (int64, bool) {
	y, m, d, dayOfYear := 1970, 1, 1, -1
	hour, half, pm, minute, sec := 0, -1, -1, 0, 0
	frac, unit := int64(0), kernel.Units(digits)
	for _, field := range f.fields {
		switch {
		case field.letter == 0:
			if len(s) < len(field.text) || string(s[:len(field.text)]) != field.text {
				return 0, false
			}
			s = s[len(field.text):]
			continue
		case field.letter == 'a':
			if len(s) < 2 || s[1]|0x20 != 'm' || s[0]|0x20 != 'a' && s[0]|0x20 != 'p' {
				return 0, false
			}
			pm = 0
			if s[0]|0x20 == 'p' {
				pm = 1
			}
			s = s[2:]
			continue
		case !field.numeric():
			i, n := parseName(s, field)
			if n == 0 {
				return 0, false
			}
			s = s[n:]
			if field.letter != 'E' {
				m = i + 1
			}
			continue
		}
		neg := false
		if (field.letter == 'y' || field.letter == 'u') && len(s) > 0 && s[0] == '-' {
			neg = true
			s = s[1:]
		}
		most := 9
		if field.packed {
			most = field.count
		}
		v, n := 0, 0
		for n < len(s) && n < most && s[n]-'0' <= 9 {
			v = v*10 + int(s[n]-'0')
			n++
		}
		if n == 0 {
			return 0, false
		}
		s = s[n:]
		if neg {
			v = -v
		}
		switch field.letter {
		case 'y', 'u':
			if y = v; field.count == 2 && n == 2 && !neg {
				y += 2000
			}
		case 'M', 'L':
			m = v
		case 'd':
			d = v
		case 'D':
			dayOfYear = v
		case 'H':
			hour = v
		case 'k':
			hour = v % 24
			if v < 1 || v > 24 {
				return 0, false
			}
		case 'K':
			half = v
		case 'h':
			half = v % 12
			if v < 1 || v > 12 {
				return 0, false
			}
		case 'm':
			minute = v
		case 's':
			sec = v
		case 'S':
			frac = int64(v)
			for k := n; k < digits; k++ {
				frac *= 10
			}
			for k := n; k > digits; k-- {
				frac /= 10
			}
		}
	}
	if half >= 0 {
		hour = half
		if pm == 1 {
			hour += 12
		}
	}
	if len(s) > 0 || m < 1 || m > 12 || d < 1 || d > kernel.MonthDays(y, m) || hour > 23 || minute > 59 || sec > 59 || half > 11 || y < -290000 || y > 290000 {
		return 0, false
	}
	days := int64(kernel.Days(y, m, d))
	if dayOfYear >= 0 {
		first, next := kernel.Days(y, 1, 1), kernel.Days(y+1, 1, 1)
		if dayOfYear < 1 || dayOfYear > int(next-first) {
			return 0, false
		}
		days = int64(first) + int64(dayOfYear) - 1
	}
	if limit := int64(1<<63-1)/(86400*unit) - 1; days > limit || days < -limit {
		return 0, false
	}
	return days*86400*unit + int64(hour*3600+minute*60+sec)*unit + frac, true
}

// parseName finds the month or day that s begins with, and the length of its name.
func parseName(s []byte, field timeField) (index, n int) {
	names, count := monthNames, 12
	if field.letter == 'E' {
		names, count = dayNames, 7
	}
	for i := range count {
		name := nameAt(names, i)
		for _, form := range []string{name, name[:3]} {
			if len(s) >= len(form) && strings.EqualFold(string(s[:len(form)]), form) {
				return i, len(form)
			}
		}
	}
	return 0, 0
}
