package plan

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// text is a string constant of type CHAR(n).
func text(s string, pos errs.Position) *expr.Literal {
	n := max(utf8.RuneCountInString(s), 1)
	return &expr.Literal{Value: s, T: sqltype.Type{ID: sqltype.Char, Precision: n, NotNull: true}, At: pos}
}

// literal is a constant as written; a number may have a sign before it. A
// TIMESTAMP_LTZ is a local time of the zone.
func literal(l *parse.Literal, negative bool, zone *time.Location) (expr.Expr, error) {
	bad := func(what, form string) error {
		return errs.New(errs.Invalid, l.At, "'%s' is no %s", l.Text, what).WithHint("write it as '%s'", form)
	}
	signed := l.Text
	if negative {
		signed = "-" + signed
	}
	out := &expr.Literal{At: l.At}
	switch l.Kind {
	case parse.NullLiteral:
		out.T = sqltype.NullType
		return out, nil
	case parse.BoolLiteral:
		out.Value, out.T = strings.EqualFold(l.Text, "TRUE"), sqltype.BoolType
	case parse.IntLiteral:
		n, err := strconv.ParseInt(signed, 10, 64)
		switch {
		case err != nil:
			return decimalLiteral(signed, l.At)
		case n == int64(int32(n)):
			out.T = sqltype.IntType
		default:
			out.T = sqltype.BigIntType
		}
		out.Value = n
	case parse.DecimalLiteral:
		return decimalLiteral(signed, l.At)
	case parse.ApproxLiteral:
		f, err := strconv.ParseFloat(signed, 64)
		if err != nil {
			return nil, errs.New(errs.Invalid, l.At, "%s is no DOUBLE", signed)
		}
		out.Value, out.T = f, sqltype.DoubleType
	case parse.StringLiteral:
		return text(l.Text, l.At), nil
	case parse.BinaryLiteral:
		b, err := hex.DecodeString(l.Text)
		if err != nil {
			return nil, errs.New(errs.Invalid, l.At, "X'%s' is not made of pairs of hexadecimal digits", l.Text)
		}
		out.Value, out.T = b, sqltype.Type{ID: sqltype.Binary, Precision: max(len(b), 1)}
	case parse.DateLiteral:
		t, err := time.Parse(time.DateOnly, strings.TrimSpace(l.Text))
		if err != nil {
			return nil, bad("DATE", "2026-01-31")
		}
		out.Value, out.T = t.Unix()/86400, sqltype.DateType
	case parse.TimeLiteral:
		t, digits, err := moment("15:04:05", l.Text, time.UTC)
		if err != nil {
			return nil, bad("TIME", "12:30:00.123")
		}
		out.T = sqltype.Type{ID: sqltype.Time, Precision: digits}
		out.Value = inUnits(t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)).Nanoseconds(), out.T)
	case parse.TimestampLiteral, parse.TimestampLTZLiteral:
		if l.Kind == parse.TimestampLiteral {
			zone = time.UTC
		}
		t, digits, err := moment(time.DateTime, l.Text, zone)
		if err != nil {
			return nil, bad("TIMESTAMP", "2026-01-31 12:30:00.123")
		}
		out.T = sqltype.TimestampOf(digits)
		if l.Kind == parse.TimestampLTZLiteral {
			out.T = sqltype.TimestampLTZOf(digits)
		}
		unit := int64(1)
		for range out.T.UnitDigits() {
			unit *= 10
		}
		out.Value = t.Unix()*unit + inUnits(int64(t.Nanosecond()), out.T)
	}
	out.T.NotNull = true
	return out, nil
}

// moment reads a time and counts the digits of its fraction.
func moment(layout, s string, zone *time.Location) (time.Time, int, error) {
	s = strings.Replace(strings.TrimSpace(s), "T", " ", 1)
	digits := 0
	if _, frac, ok := strings.Cut(s, "."); ok {
		digits = min(len(frac), 9)
	}
	t, err := time.ParseInLocation(layout, s, zone)
	return t, digits, err
}

// inUnits is a number of nanoseconds in the unit of t.
func inUnits(ns int64, t sqltype.Type) int64 {
	for range 9 - t.UnitDigits() {
		ns /= 10
	}
	return ns
}

func decimalLiteral(s string, pos errs.Position) (expr.Expr, error) {
	whole, frac, _ := strings.Cut(s, ".")
	precision := max(len(strings.TrimLeft(strings.TrimPrefix(whole, "-"), "0"))+len(frac), 1)
	if precision > sqltype.MaxPrecision {
		return nil, errs.New(errs.Invalid, pos, "%s has more than %d digits", s, sqltype.MaxPrecision).WithHint("write it with an exponent, as a DOUBLE: 1e40")
	}
	n, ok := sqltype.ParseDecimal([]byte(s), precision, len(frac))
	if !ok {
		return nil, errs.New(errs.Invalid, pos, "%s is no number", s)
	}
	return &expr.Literal{Value: n, T: sqltype.DecimalOf(precision, len(frac)).Required(), At: pos}, nil
}

// interval is a constant of milliseconds or months.
func interval(e *parse.Interval) (expr.Expr, error) {
	n, months, ok := intervalValue(e)
	if !ok || months && n != int64(int32(n)) {
		return nil, badInterval(e)
	}
	t := sqltype.Type{ID: sqltype.IntervalDay, NotNull: true}
	if months {
		t.ID = sqltype.IntervalMonth
	}
	return &expr.Literal{Value: n, T: t, At: e.At}, nil
}

func badInterval(e *parse.Interval) error {
	unit := string(e.From)
	if e.To != "" {
		unit += " TO " + string(e.To)
	}
	err := errs.New(errs.Invalid, e.At, "'%s' is no interval of %s", e.Value, unit)
	forms := map[string]string{
		"DAY TO HOUR": "1 02", "DAY TO MINUTE": "1 02:03", "DAY TO SECOND": "1 02:03:04.5", "HOUR TO MINUTE": "1:30", "HOUR TO SECOND": "1:30:00",
		"MINUTE TO SECOND": "1:30", "YEAR TO MONTH": "1-06", "SECOND": "5.5",
	}
	switch form, ok := forms[unit]; {
	case ok:
		return err.WithHint("write it as '%s'", form)
	case e.To != "":
		return err.WithHint("the larger unit goes first")
	}
	return err.WithHint("write a whole number: '5'")
}

// intervalValue reads the fields of an interval from its first unit to its last.
func intervalValue(e *parse.Interval) (value int64, months, ok bool) {
	s, sign := strings.TrimSpace(e.Value), int64(1)
	if e.Negative {
		sign = -1
	}
	if rest, neg := strings.CutPrefix(s, "-"); neg {
		s, sign = rest, -sign
	} else {
		s = strings.TrimPrefix(s, "+")
	}
	to := e.To
	if to == "" {
		to = e.From
	}
	type unit struct {
		name  parse.Unit
		scale int64
		sep   string // after the field
	}
	units := []unit{{parse.Day, 86400_000, " "}, {parse.Hour, 3600_000, ":"}, {parse.Minute, 60_000, ":"}, {parse.Second, 1000, ""}}
	switch e.From {
	case parse.Year, parse.Quarter, parse.Month:
		months = true
		units = []unit{{parse.Year, 12, "-"}, {parse.Month, 1, ""}}
		if e.From == parse.Quarter {
			units = []unit{{parse.Quarter, 3, ""}}
		}
	case parse.Week:
		units = []unit{{parse.Week, 7 * 86400_000, ""}}
	case parse.Millisecond:
		units = []unit{{parse.Millisecond, 1, ""}}
	}
	started := false
	for _, u := range units {
		if u.name == e.From {
			started = true
		}
		if !started {
			continue
		}
		field := s
		if u.name != to {
			var found bool
			if field, s, found = strings.Cut(s, u.sep); !found {
				return 0, months, false
			}
		}
		n, good := intervalField(strings.TrimSpace(field), u.scale, u.name == parse.Second)
		sum := value + n
		if !good || sum < value {
			return 0, months, false
		}
		value = sum
		if u.name == to {
			return sign * value, months, true
		}
	}
	return 0, months, false
}

// intervalField is a whole number of units; seconds may have a fraction.
func intervalField(s string, scale int64, fraction bool) (int64, bool) {
	whole, frac, has := strings.Cut(s, ".")
	if has && (!fraction || frac == "") {
		return 0, false
	}
	n, err := strconv.ParseUint(whole, 10, 63)
	if err != nil || n > 1<<62/uint64(scale) {
		return 0, false
	}
	value := int64(n) * scale
	if has {
		ms, err := strconv.ParseUint((frac + "000")[:3], 10, 63)
		if err != nil {
			return 0, false
		}
		value += int64(ms)
	}
	return value, true
}
