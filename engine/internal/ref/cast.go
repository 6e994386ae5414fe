package ref

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// literal is a constant as a value of a Row.
func literal(l *expr.Literal) any {
	if d, ok := l.Value.(vector.Dec); ok {
		return new(big.Rat).SetFrac(d.BigInt(), tenTo(l.T.Scale))
	}
	return l.Value
}

// cast converts a value to the type of the cast.
func (e evaluator) cast(c *expr.Cast, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	out, ok, err := convert(c, v, c.Arg.Type(), c.T, e.zoneOf(c.Zone))
	switch {
	case err != nil:
		return nil, err
	case ok:
		return out, nil
	case c.Try:
		return nil, nil
	}
	return nil, errs.New(errs.Cast, c.At, "%s is no %s", Text(c.Arg.Type(), v), c.T)
}

// convert reports whether the value has a form in the type. Its error says that there
// is no cast between the types.
func convert(c *expr.Cast, v any, from, to sqltype.Type, zone *time.Location) (any, bool, error) {
	interval := func(t sqltype.Type) bool { return t.ID == sqltype.IntervalDay || t.ID == sqltype.IntervalMonth }
	switch {
	case from.ID == to.ID && from.IsNested():
		return convertNested(c, v.(Nested), from, to, zone)
	case to.IsString():
		s, ok := text(v, from, zone)
		return toLength(s, to), ok, nil
	case to.IsBinary() && from.IsString():
		return ofLength([]byte(v.(string)), to), true, nil
	case to.IsBinary() && from.IsBinary():
		return ofLength(v, to), true, nil
	case from.IsString() && to.ID == sqltype.Boolean:
		return parseTruth(v.(string))
	case from.IsString() && to.IsNumeric():
		out, ok := parseNumber(v.(string), to)
		return out, ok, nil
	case from.IsString() && isTime(to):
		out, ok := parseTime(v.(string), to, zone)
		return out, ok, nil
	case from.IsNumeric() && to.IsNumeric():
		if f, ok := v.(float64); ok && to.ID == sqltype.Decimal {
			if r, finite := shortest(f, floatBits(from)); finite {
				v = r
			}
		}
		out, ok := number(v, to)
		return out, ok, nil
	case from.ID == sqltype.Boolean && to.IsNumeric():
		one := int64(0)
		if v == true {
			one = 1
		}
		out, ok := number(one, to)
		return out, ok, nil
	case from.IsNumeric() && to.ID == sqltype.Boolean:
		if f, ok := v.(float64); ok {
			return f != 0, true, nil
		}
		return rational(v).Sign() != 0, true, nil
	case interval(from) && to.IsInteger(), from.IsInteger() && interval(to):
		out, ok := fit(rational(v), to)
		return out, ok, nil
	case from.ID == sqltype.Date && to.ID == sqltype.Time, from.ID == sqltype.Time && to.ID == sqltype.Date:
	case from.ID == sqltype.TimestampLTZ && to.ID == sqltype.TimestampLTZ: // the same moment
		out, ok := ofReading(reading(v, from, time.UTC), to, time.UTC)
		return out, ok, nil
	case isTime(from) && isTime(to):
		out, ok := ofReading(reading(v, from, zone), to, zone)
		return out, ok, nil
	case from.ID == to.ID: // intervals and truth values
		return v, true, nil
	}
	return nil, false, unsupported(c, "cast from %s to %s", from, to)
}

// text is the text form of a value. It reports whether there is one: bytes need not be
// UTF-8.
func text(v any, t sqltype.Type, zone *time.Location) (string, bool) {
	switch {
	case v == nil:
		return "NULL", true
	case t.IsNested():
		known := true
		s := joined(t, v.(Nested), func(t sqltype.Type, v any) string {
			s, ok := text(v, t, zone)
			known = known && ok
			return s
		})
		return s, known
	case t.IsTimestamp():
		r := reading(v, t, zone)
		return dateText(r) + " " + clockText(r, t.Precision), true
	}
	switch t.ID {
	case sqltype.Date:
		return dateText(reading(v, t, zone)), true
	case sqltype.Time:
		return clockText(reading(v, t, zone), t.Precision), true
	case sqltype.IntervalDay:
		return intervalText(v.(int64)), true
	case sqltype.IntervalMonth:
		months, sign := v.(int64), "+"
		if months < 0 {
			months, sign = -months, "-"
		}
		return fmt.Sprintf("%s%d-%02d", sign, months/12, months%12), true
	}
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), utf8.Valid(v)
	case bool:
		return strings.ToUpper(strconv.FormatBool(v)), true
	case float64:
		return floatText(v, floatBits(t)), true
	case *big.Rat:
		return v.FloatString(t.Scale), true
	}
	return fmt.Sprint(v), true
}

// intervalText writes milliseconds as days and a time.
func intervalText(ms int64) string {
	x, sign := big.NewInt(ms), "+"
	if x.Sign() < 0 {
		x, sign = x.Neg(x), "-"
	}
	days, rest := new(big.Int).QuoRem(x, big.NewInt(86_400_000), new(big.Int))
	return sign + days.String() + " " + clockText(time.UnixMilli(rest.Int64()).UTC(), 3)
}

// floatText writes a number as Java does: with a point always, and an exponent where it
// is very large or small.
func floatText(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0]
	}
	if a := math.Abs(f); a == 0 || a >= 1e-3 && a < 1e7 {
		s := strconv.FormatFloat(f, 'f', -1, bits)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, bits), "e")
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	e, _ := strconv.Atoi(exponent)
	return digits + "E" + strconv.Itoa(e)
}

// toLength cuts a string to the length of a type, and pads it when that is fixed.
func toLength(s string, t sqltype.Type) string {
	if n := utf8.RuneCountInString(s); n > t.Precision {
		return string([]rune(s)[:t.Precision])
	} else if t.ID == sqltype.Char {
		return s + strings.Repeat(" ", t.Precision-n)
	}
	return s
}

// ofLength cuts a value to the length of its type, and fills it up when that is fixed.
func ofLength(v any, t sqltype.Type) any {
	switch x := v.(type) {
	case string:
		return toLength(x, t)
	case []byte:
		x = bytes.Clone(x[:min(len(x), t.Precision)])
		if t.ID == sqltype.Binary {
			x = append(x, make([]byte, t.Precision-len(x))...)
		}
		return x
	}
	return v
}

func parseTruth(s string) (any, bool, error) {
	s = strings.ToLower(spacesOff(s))
	isTrue := slices.Contains([]string{"true", "t", "yes", "y", "on", "1"}, s)
	return isTrue, isTrue || slices.Contains([]string{"false", "f", "no", "n", "off", "0"}, s), nil
}

// The forms of numbers. Those of integers have no exponent; their fraction is dropped.
var (
	plainNumber  = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)$`)
	exactNumber  = regexp.MustCompile(`^([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+))?$`)
	approxNumber = regexp.MustCompile(`^(?i:[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan))$`)
)

func parseNumber(s string, t sqltype.Type) (any, bool) {
	s = spacesOff(s)
	switch {
	case t.IsApprox():
		if !approxNumber.MatchString(s) {
			return nil, false
		}
		f, _ := strconv.ParseFloat(s, floatBits(t)) // out of range it is infinite
		return f, true
	case t.IsInteger() && !plainNumber.MatchString(s):
		return nil, false
	}
	p := exactNumber.FindStringSubmatch(s)
	if p == nil {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(p[1])
	if !ok {
		return nil, false
	}
	if p[2] != "" {
		e, err := strconv.Atoi(p[2])
		if err != nil {
			return nil, false
		}
		if r.Sign() == 0 {
			return number(r, t)
		}
		e = min(max(e, -1000), 1000) // far beyond what any DECIMAL has
		power := new(big.Rat).SetInt(tenTo(max(e, -e)))
		if e < 0 {
			power.Inv(power)
		}
		r.Mul(r, power)
	}
	return number(r, t)
}
