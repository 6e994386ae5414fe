package ref

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Nested is an ARRAY of elements, a ROW of fields, or a MAP or MULTISET of entries,
// each the Nested of a key and its value or of an element and its count. Entries are
// in the order of their keys, each key once, so that equal values have equal parts.
type Nested []any

// order compares values as parts of others are, in ORDER BY too: NULL comes first and
// is equal to NULL, NaN comes last and is equal to NaN.
func order(a, b any) int {
	if a == nil || b == nil {
		switch {
		case a == nil && b == nil:
			return 0
		case a == nil:
			return -1
		}
		return 1
	}
	switch x := a.(type) {
	case Nested:
		return slices.CompareFunc(x, b.(Nested), order)
	case float64:
		y := b.(float64)
		if xn, yn := math.IsNaN(x), math.IsNaN(y); xn || yn {
			return compare(xn, yn)
		}
	}
	return compare(a, b)
}

// entries puts entries in order. Of several with one key the last counts, of a MULTISET
// their sum.
func entries(t sqltype.Type, all Nested) Nested {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b any) int { return order(a.(Nested)[0], b.(Nested)[0]) })
	kept := out[:0]
	for _, e := range out {
		last := len(kept) - 1
		if last < 0 || order(kept[last].(Nested)[0], e.(Nested)[0]) != 0 {
			kept = append(kept, e)
			continue
		}
		if t.ID == sqltype.Multiset {
			e = Nested{e.(Nested)[0], kept[last].(Nested)[1].(int64) + e.(Nested)[1].(int64)}
		}
		kept[last] = e
	}
	return kept
}

// nestedOf is row i of a column of a nested type.
func nestedOf(t sqltype.Type, v *vector.Vector, i int) Nested {
	types, out := t.Children(), Nested{}
	if t.ID == sqltype.Row {
		for f, c := range types {
			out = append(out, valueOf(c, v.Child(f), i))
		}
		return out
	}
	for e := int(v.Offsets()[i]); e < int(v.Offsets()[i+1]); e++ {
		x := valueOf(types[0], v.Child(0), e)
		if len(types) == 2 {
			x = Nested{x, valueOf(types[1], v.Child(1), e)}
		}
		out = append(out, x)
	}
	return out
}

func appendNested(b *vector.ColumnBuilder, t sqltype.Type, v Nested) {
	types := t.Children()
	for i, x := range v {
		switch t.ID {
		case sqltype.Row:
			Append(b.Child(i), types[i], x)
		case sqltype.Array:
			Append(b.Child(0), types[0], x)
		default:
			Append(b.Child(0), types[0], x.(Nested)[0])
			Append(b.Child(1), types[1], x.(Nested)[1])
		}
	}
	b.EndValue()
}

// joined writes a nested value as [a, b], {k=v, l=w} or (a, b), its parts by part.
func joined(t sqltype.Type, v Nested, part func(t sqltype.Type, v any) string) string {
	types, parts := t.Children(), make([]string, len(v))
	for i, x := range v {
		switch t.ID {
		case sqltype.Row:
			parts[i] = part(types[i], x)
		case sqltype.Array:
			parts[i] = part(types[0], x)
		default:
			parts[i] = part(types[0], x.(Nested)[0]) + "=" + part(types[1], x.(Nested)[1])
		}
	}
	brackets := map[sqltype.ID]string{sqltype.Row: "()", sqltype.Array: "[]"}[t.ID]
	if brackets == "" {
		brackets = "{}"
	}
	return brackets[:1] + strings.Join(parts, ", ") + brackets[1:]
}

// partText is Text inside of a nested value: without quotes, but for strings that
// would read as something else.
func partText(t sqltype.Type, v any) string {
	switch x := v.(type) {
	case Nested:
		return joined(t, x, partText)
	case string:
		if x != "" && x != "NULL" && !strings.ContainsAny(x, "'()[]{},= \t\n") {
			return x
		}
	case int64:
		if t.IsTimestamp() {
			return strings.ReplaceAll(Text(t, v), "'", "")
		}
	}
	return Text(t, v)
}

// canonical gives all values that are equal as groups are the same form.
func canonical(v any) any {
	switch x := v.(type) {
	case float64:
		if x == 0 {
			return 0.0
		} else if math.IsNaN(x) {
			return math.NaN()
		}
	case Nested:
		out := make(Nested, len(x))
		for i, part := range x {
			out[i] = canonical(part)
		}
		return out
	}
	return v
}

// nested are the functions that make nested values and read them.
func nested() map[string]definition {
	made := func(c call) (any, error) { return Nested(c.args), nil }
	return map[string]definition{
		"ROW":   made,
		"ARRAY": made,
		"MAP": func(c call) (any, error) {
			var all Nested
			for i := 0; i+1 < len(c.args); i += 2 {
				if c.args[i] == nil {
					return nil, errs.New(errs.Data, c.At, "a key of a MAP is NULL")
				}
				all = append(all, Nested{c.args[i], c.args[i+1]})
			}
			return entries(c.T, all), nil
		},
		function.Field: func(c call) (any, error) {
			if c.args[0] == nil {
				return nil, nil
			}
			return c.args[0].(Nested)[c.int(1)], nil
		},
		function.Item: func(c call) (any, error) { return itemAt(c.typ(0), c.args[0].(Nested), c.args[1]), nil },
		"CARDINALITY": func(c call) (any, error) { return cardinality(c.typ(0), c.args[0].(Nested)), nil },
		"ELEMENT": func(c call) (any, error) {
			switch of := c.args[0].(Nested); len(of) {
			case 0:
				return nil, nil
			case 1:
				return of[0], nil
			default:
				return nil, errs.New(errs.Data, c.At, "ELEMENT of an ARRAY of %d elements", len(of))
			}
		},
		"ARRAY_CONTAINS": func(c call) (any, error) {
			if c.args[0] == nil {
				return nil, nil
			}
			return slices.ContainsFunc(c.args[0].(Nested), func(x any) bool { return order(x, c.args[1]) == 0 }), nil
		},
	}
}

// itemAt is the element at a position from 1, or the value of a key. Where there is
// none it is NULL.
func itemAt(t sqltype.Type, of Nested, at any) any {
	if t.ID == sqltype.Array {
		if i := at.(int64); i >= 1 && i <= int64(len(of)) {
			return of[i-1]
		}
		return nil
	}
	for _, e := range of {
		if order(e.(Nested)[0], at) == 0 {
			return e.(Nested)[1]
		}
	}
	return nil
}

// cardinality counts an element of a MULTISET as often as it is in it.
func cardinality(t sqltype.Type, of Nested) int64 {
	if t.ID != sqltype.Multiset {
		return int64(len(of))
	}
	n := int64(0)
	for _, e := range of {
		n += e.(Nested)[1].(int64)
	}
	return n
}

// convertNested casts part by part. One part that has no form in its type leaves the
// value without one.
func convertNested(c *expr.Cast, v Nested, from, to sqltype.Type, zone *time.Location) (any, bool, error) {
	types, want := from.Children(), to.Children()
	part := func(i int, x any) (any, bool, error) {
		if x == nil {
			return nil, true, nil
		}
		return convert(c, x, types[i], want[i], zone)
	}
	out := make(Nested, len(v))
	for i, x := range v {
		var ok bool
		var err error
		switch from.ID {
		case sqltype.Row:
			out[i], ok, err = part(i, x)
		case sqltype.Array:
			out[i], ok, err = part(0, x)
		default:
			e := make(Nested, 2)
			if e[0], ok, err = part(0, x.(Nested)[0]); ok && err == nil {
				e[1], ok, err = part(1, x.(Nested)[1])
			}
			out[i] = e
		}
		if err != nil || !ok {
			return nil, false, err
		}
	}
	if from.ID == sqltype.Map || from.ID == sqltype.Multiset {
		out = entries(to, out)
	}
	return out, true, nil
}

// nullWithin reports whether a value has NULL inside where its type has none. Only with
// collections are elements, keys and values looked at; a bag's are never.
func nullWithin(t sqltype.Type, v any, collections bool) bool {
	of, ok := v.(Nested)
	if !ok || t.ID == sqltype.Multiset || t.ID != sqltype.Row && !collections {
		return false
	}
	wrong := func(t sqltype.Type, v any) bool {
		return v == nil && t.NotNull || nullWithin(t, v, collections)
	}
	types := t.Children()
	for i, x := range of {
		switch t.ID {
		case sqltype.Row:
			ok = !wrong(types[i], x)
		case sqltype.Array:
			ok = !wrong(types[0], x)
		default:
			ok = !wrong(types[0], x.(Nested)[0]) && !wrong(types[1], x.(Nested)[1])
		}
		if !ok {
			return true
		}
	}
	return false
}
