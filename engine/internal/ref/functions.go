package ref

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/weirdb/weir/engine/errs"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
)

// call is a call of a function on values.
type call struct {
	*expr.Call
	args []any // none of them NULL, unless the function sees NULL
	zone *time.Location
	now  time.Time
}

func (c call) text(i int) string { return c.args[i].(string) }

func (c call) int(i int) int64 { return c.args[i].(int64) }

func (c call) float(i int) float64 { return c.args[i].(float64) }

func (c call) typ(i int) sqltype.Type { return c.Args[i].Type() }

// definition says what a function gives.
type definition func(c call) (any, error)

// definitions are those of all functions of the registry but the lazy ones, which eval
// knows: they are built on first use and never change.
var definitions = sync.OnceValue(func() map[string]definition {
	all := map[string]definition{}
	for _, group := range []map[string]definition{
		conditions(), comparisons(), numbers(), texts(), searches(), patterns(), times(), clocks(), watermarkFunctions(), hashes(), charsets(), nested(),
	} {
		maps.Copy(all, group)
	}
	return all
})

// Defines reports whether the reference has a version of a built-in function of its own.
func Defines(f *function.Scalar) bool {
	return f.Lazy != function.Eager || definitions()[f.Name] != nil
}

// apply computes a function of values. Functions that users wrote are their own
// definition.
func (e evaluator) apply(c *expr.Call, args []any) (any, error) {
	if !c.Func.NullCall && slices.Contains(args, nil) {
		return nil, nil
	}
	define := definitions()[c.Func.Name]
	if builtin, ok := function.LookupScalar(c.Func.Name); !ok || builtin != c.Func {
		define = e.written
	} else if define == nil {
		return nil, unsupported(c, "function %s", c.Func.Name)
	}
	return define(call{Call: c, args: args, zone: e.zoneOf(c.Zone), now: e.in.Now})
}

// zoneOf is the time zone that an expression is evaluated in.
func (e evaluator) zoneOf(own *time.Location) *time.Location {
	switch {
	case own != nil:
		return own
	case e.in.Zone != nil:
		return e.in.Zone
	}
	return time.UTC
}

// conditions are the functions of truth and NULL.
func conditions() map[string]definition {
	is := func(f func(v any) bool) definition {
		return func(c call) (any, error) { return f(c.args[0]), nil }
	}
	isNot := func(f func(v any) bool) definition {
		return is(func(v any) bool { return !f(v) })
	}
	null := func(v any) bool { return v == nil }
	isTrue := func(v any) bool { return v == true }
	isFalse := func(v any) bool { return v == false }
	return map[string]definition{
		"NOT":            is(isFalse),
		"IS NULL":        is(null),
		"IS NOT NULL":    isNot(null),
		"IS UNKNOWN":     is(null),
		"IS NOT UNKNOWN": isNot(null),
		"IS TRUE":        is(isTrue),
		"IS NOT TRUE":    isNot(isTrue),
		"IS FALSE":       is(isFalse),
		"IS NOT FALSE":   isNot(isFalse),
		"IS NOT DISTINCT FROM": func(c call) (any, error) {
			return same(c.args[0], c.args[1]), nil
		},
		"IS DISTINCT FROM": func(c call) (any, error) {
			return !same(c.args[0], c.args[1]), nil
		},
		function.Single: func(c call) (any, error) {
			if rows := c.args[1]; rows != nil && rows.(int64) > 1 {
				return nil, errs.New(errs.Data, c.At, "a subquery as a value has %d rows", rows)
			}
			return c.args[0], nil
		},
		"NULLIF": func(c call) (any, error) {
			if c.args[0] != nil && c.args[1] != nil && equal(c.args[0], c.args[1]) {
				return nil, nil
			}
			return c.args[0], nil
		},
		"IN": func(c call) (any, error) { return in(c.args[0], c.args[1:]), nil },
	}
}

// comparisons are those of values that are not NULL. One with NaN is FALSE but for <>.
func comparisons() map[string]definition {
	ordered := func(signs ...int) definition {
		return func(c call) (any, error) { return slices.Contains(signs, compare(c.args[0], c.args[1])), nil }
	}
	best := func(sign int) definition {
		return func(c call) (any, error) { return extreme(c.args, sign), nil }
	}
	return map[string]definition{
		"=":        ordered(0),
		"<>":       ordered(-1, 1, unordered),
		"<":        ordered(-1),
		"<=":       ordered(-1, 0),
		">":        ordered(1),
		">=":       ordered(0, 1),
		"GREATEST": best(1),
		"LEAST":    best(-1),
	}
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
