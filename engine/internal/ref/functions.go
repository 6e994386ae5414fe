package ref

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/internal/expr"
)

// apply computes a function of values.
func apply(c *expr.Call, args []any) (any, error) {
	v, err := applyOwn(c, args)
	if isUnsupported(err) {
		own := *c
		cols, types := columnsFor(c.Args...)
		own.Args = cols
		return borrowed(&own, types, args, err)
	}
	return v, err
}

// applyOwn is apply for the functions that the reference has a version of.
func applyOwn(c *expr.Call, args []any) (any, error) {
	if v, ok := applyToNulls(c.Func.Name, args); ok {
		return v, nil
	}
	if v, ok, err := applyToNested(c, args); ok {
		return v, err
	}
	if !c.Func.NullCall {
		for _, a := range args {
			if a == nil {
				return nil, nil
			}
		}
	}
	switch c.Func.Name {
	case "+", "-", "*", "/", "%", "MOD", "NEG", "ABS", "SIGN", "FLOOR", "CEIL":
		return compute(c, args)
	}
	if v, ok := applyToValues(c.Func.Name, args); ok {
		return v, nil
	}
	if v, ok := applyToTime(c, args); ok {
		return v, nil
	}
	return nil, unsupported(c, "function %s", c.Func.Name)
}

// applyToNulls has the functions that look at NULLs themselves.
func applyToNulls(name string, args []any) (any, bool) {
	switch name {
	case "IS NULL":
		return args[0] == nil, true
	case "IS NOT NULL":
		return args[0] != nil, true
	case "IS TRUE":
		return args[0] == true, true
	case "IS NOT TRUE":
		return args[0] != true, true
	case "IS FALSE":
		return args[0] == false, true
	case "IS NOT FALSE":
		return args[0] != false, true
	case "IS UNKNOWN":
		return args[0] == nil, true
	case "IS NOT UNKNOWN":
		return args[0] != nil, true
	case "IS NOT DISTINCT FROM":
		return same(args[0], args[1]), true
	case "IS DISTINCT FROM":
		return !same(args[0], args[1]), true
	case "NULLIF":
		if args[0] != nil && args[1] != nil && equal(args[0], args[1]) {
			return nil, true
		}
		return args[0], true
	case "IN":
		return in(args[0], args[1:]), true
	}
	return nil, false
}

// same is equality under which NULL is a value.
func same(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return equal(a, b)
}

// in is x = y1 OR x = y2 OR ..: a NULL among the items leaves a miss unknown.
func in(x any, items []any) any {
	if x == nil {
		return nil
	}
	unknown := false
	for _, y := range items {
		if y == nil {
			unknown = true
		} else if equal(x, y) {
			return true
		}
	}
	if unknown {
		return nil
	}
	return false
}

// applyToValues has the functions of arguments that are not NULL. A comparison
// with NaN is FALSE but for <>.
func applyToValues(name string, args []any) (any, bool) {
	switch name {
	case "NOT":
		return args[0] == false, true
	case "=":
		return equal(args[0], args[1]), true
	case "<>":
		return !equal(args[0], args[1]), true
	case "<":
		return compare(args[0], args[1]) == -1, true
	case ">":
		return compare(args[0], args[1]) == 1, true
	case "<=":
		c := compare(args[0], args[1])
		return c == -1 || c == 0, true
	case ">=":
		c := compare(args[0], args[1])
		return c == 1 || c == 0, true
	case "GREATEST":
		return extreme(args, 1), true
	case "LEAST":
		return extreme(args, -1), true
	}
	return applyToText(name, args)
}

func applyToText(name string, args []any) (any, bool) {
	s := make([]string, len(args))
	for i, a := range args {
		var ok bool
		if s[i], ok = a.(string); !ok {
			return applyToPart(name, args)
		}
	}
	switch name {
	case "||", "CONCAT":
		return strings.Join(s, ""), true
	case "UPPER":
		return strings.ToUpper(s[0]), true
	case "LOWER":
		return strings.ToLower(s[0]), true
	case "REVERSE":
		r := []rune(s[0])
		slices.Reverse(r)
		return string(r), true
	case "CHAR_LENGTH":
		return int64(utf8.RuneCountInString(s[0])), true
	case "REPLACE":
		if s[1] != "" {
			return strings.ReplaceAll(s[0], s[1], s[2]), true
		}
	case "POSITION":
		if i := strings.Index(s[1], s[0]); i >= 0 {
			return int64(utf8.RuneCountInString(s[1][:i])) + 1, true
		}
		return int64(0), true
	case "LIKE":
		if len(s) == 2 {
			return like([]rune(s[0]), []rune(s[1])), true
		}
	}
	return nil, false
}

// applyToPart has functions of a string and numbers.
func applyToPart(name string, args []any) (any, bool) {
	s, ok := args[0].(string)
	if !ok {
		return nil, false
	}
	switch name {
	case "SUBSTRING":
		from, length := args[1].(int64), int64(math.MaxInt32)
		if len(args) == 3 {
			length = args[2].(int64)
		}
		if from >= 1 && length >= 0 { // the other cases have rules of their own
			r := []rune(s)
			start := min(from-1, int64(len(r)))
			return string(r[start:min(start+length, int64(len(r)))]), true
		}
	case "LEFT", "RIGHT":
		r := []rune(s)
		if n := args[1].(int64); n < 0 || n >= int64(len(r)) {
			return s, n >= 0
		} else if name == "LEFT" {
			return string(r[:n]), true
		} else {
			return string(r[int64(len(r))-n:]), true
		}
	case "REPEAT":
		if n := args[1].(int64); n >= 0 && n*int64(len(s)) < 1<<20 {
			return strings.Repeat(s, int(n)), true
		}
	}
	return nil, false
}

// like matches a text with a pattern of %, _ and characters.
func like(s, pattern []rune) bool {
	switch {
	case len(pattern) == 0:
		return len(s) == 0
	case pattern[0] == '%':
		return like(s, pattern[1:]) || len(s) > 0 && like(s[1:], pattern)
	case len(s) == 0:
		return false
	}
	return (pattern[0] == '_' || pattern[0] == s[0]) && like(s[1:], pattern[1:])
}

// compute is arithmetic: exact numbers without loss, then brought into the type
// of the result; approximate ones as the processor does it.
func compute(c *expr.Call, args []any) (any, error) {
	for i, a := range c.Args {
		if _, ok := args[i].(float64); !ok && !a.Type().IsNumeric() {
			return moved(c, args)
		}
	}
	if x, ok := args[0].(float64); ok {
		y := 0.0
		if len(args) == 2 {
			y = args[1].(float64)
		}
		if v, ok := computeApproximate(c.Func.Name, x, y); ok {
			return approximate(v, c.T), nil
		}
		return nil, unsupported(c, "function %s of %s", c.Func.Name, c.T)
	}
	x, y := rational(args[0]), new(big.Rat)
	if len(args) == 2 {
		y = rational(args[1])
	}
	r := new(big.Rat)
	switch c.Func.Name {
	case "+":
		r.Add(x, y)
	case "-":
		r.Sub(x, y)
	case "*":
		r.Mul(x, y)
	case "/", "%", "MOD":
		if y.Sign() == 0 {
			return nil, arithmetic(c, "division by zero")
		}
		r.Quo(x, y)
		if c.Func.Name != "/" {
			r.Sub(x, r.Mul(y, new(big.Rat).SetInt(truncate(r))))
		}
	case "NEG":
		r.Neg(x)
	case "ABS":
		r.Abs(x)
	case "SIGN":
		r.SetInt64(int64(x.Sign()))
	case "FLOOR":
		r.SetInt(new(big.Int).Div(x.Num(), x.Denom())) // Euclid's rounds down
	case "CEIL":
		r.SetInt(new(big.Int).Div(new(big.Int).Neg(x.Num()), x.Denom()))
		r.Neg(r)
	}
	v, ok := fit(r, c.T)
	if !ok {
		return nil, arithmetic(c, c.Func.Name+" is out of range")
	}
	return v, nil
}

func computeApproximate(name string, x, y float64) (float64, bool) {
	switch name {
	case "+":
		return x + y, true
	case "-":
		return x - y, true
	case "*":
		return x * y, true
	case "/":
		return x / y, true
	case "%", "MOD":
		return math.Mod(x, y), true
	case "NEG":
		return -x, true
	case "ABS":
		return math.Abs(x), true
	case "FLOOR":
		return math.Floor(x), true
	case "CEIL":
		return math.Ceil(x), true
	}
	return 0, false
}
