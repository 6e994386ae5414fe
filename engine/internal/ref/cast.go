package ref

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
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
func cast(c *expr.Cast, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	out, ok, err := convert(c, v, c.Arg.Type(), c.T)
	switch {
	case isUnsupported(err):
		own := *c
		cols, types := columnsFor(c.Arg)
		own.Arg = cols[0]
		return borrowed(&own, types, []any{v}, err)
	case err != nil:
		return nil, err
	case ok:
		return out, nil
	case c.Try:
		return nil, nil
	}
	return nil, errs.New(errs.Cast, c.At, "%s is no %s", Text(c.Arg.Type(), v), c.T)
}

// convert reports whether the value has a form in the type. Its error says that
// the reference does not know the types.
func convert(c *expr.Cast, v any, from, to sqltype.Type) (any, bool, error) {
	switch {
	case from.Equal(to):
		return v, true, nil
	case from.ID == to.ID && from.IsNested():
		return convertNested(c, v.(Nested), from, to)
	case to.IsString():
		s, ok := text(v, from)
		if !ok {
			break
		}
		return toLength(s, to), true, nil
	case from.IsString() && to.IsNumeric():
		return parseNumber(c, v.(string), to)
	case from.IsNumeric() && to.IsNumeric():
		out, ok := number(v, to)
		return out, ok, nil
	case from.ID == sqltype.Boolean && to.ID == sqltype.Boolean:
		return v, true, nil
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
	case from.ID == sqltype.Date && to.ID == sqltype.Date:
		return v, true, nil
	case from.ID == sqltype.Date && to.ID == sqltype.Timestamp:
		return v.(int64) * 86400 * unit(to), true, nil
	case from.ID == sqltype.Timestamp && to.ID == sqltype.Date:
		return floorDiv(v.(int64), 86400*unit(from)), true, nil
	case from.ID == to.ID && from.IsTimestamp() && from.Precision <= to.Precision && math.Abs(float64(v.(int64))) < math.MaxInt64/1e6:
		return v.(int64) * (unit(to) / unit(from)), true, nil
	}
	return nil, false, unsupported(c, "cast from %s to %s", from, to)
}

// unit is the number of ticks of a time type in a second.
func unit(t sqltype.Type) int64 { return tenTo(t.UnitDigits()).Int64() }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// text is the text form of a value, where the reference knows it.
func text(v any, t sqltype.Type) (string, bool) {
	switch {
	case t.IsString():
		return v.(string), true
	case t.IsNumeric(), t.ID == sqltype.Boolean, t.ID == sqltype.Date:
		return Text(t, v), true
	case t.IsNested():
		return textOfNested(v.(Nested), t)
	}
	return "", false
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

var wholeNumber = regexp.MustCompile(`^[+-]?[0-9]+$`)

// parseNumber reads what is clearly a number, or clearly none.
func parseNumber(c *expr.Cast, s string, t sqltype.Type) (any, bool, error) {
	s = strings.TrimSpace(s)
	if wholeNumber.MatchString(s) {
		r, _ := new(big.Rat).SetString(s)
		v, ok := number(r, t)
		return v, ok, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return nil, false, nil
	case t.ID == sqltype.Double:
		return f, true, nil
	}
	return nil, false, unsupported(c, "way to read '%s' as %s", s, t)
}
