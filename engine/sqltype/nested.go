package sqltype

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weirdb/weir/vector"
)

// ArrayOf is ARRAY<elem>.
func ArrayOf(elem Type) Type { return Type{ID: Array, Elem: &elem} }

// MapOf is MAP<key, value>.
func MapOf(key, value Type) Type { return Type{ID: Map, Key: &key, Elem: &value} }

// MultisetOf is MULTISET<elem>.
func MultisetOf(elem Type) Type { return Type{ID: Multiset, Elem: &elem} }

// RowOf is ROW<fields>.
func RowOf(fields ...Column) Type { return Type{ID: Row, Fields: fields} }

// IsNested reports whether t is an ARRAY, MAP, MULTISET or ROW.
func (t Type) IsNested() bool { return t.ID >= Array && t.ID <= Row }

// Children are the types of the child columns of a nested type: the element of an
// ARRAY, key and value of a MAP, element and count of a MULTISET, the fields of a ROW.
// Keys and the elements of a MULTISET are never NULL.
func (t Type) Children() []Type {
	switch t.ID {
	case Array:
		return []Type{*t.Elem}
	case Map:
		return []Type{t.Key.Required(), *t.Elem}
	case Multiset:
		return []Type{t.Elem.Required(), IntType.Required()}
	case Row:
		return Schema(t.Fields).Types()
	}
	return nil
}

// nestedKind is the kind of a nested type, Invalid when that of a child is.
func (t Type) nestedKind() vector.Kind {
	var kinds []vector.Kind
	for _, c := range t.Children() {
		k := c.Kind()
		if k == vector.Invalid {
			return k
		}
		kinds = append(kinds, k)
	}
	switch t.ID {
	case Array:
		return vector.ListOf(kinds[0])
	case Map, Multiset:
		return vector.MapOf(kinds[0], kinds[1])
	}
	return vector.StructOf(kinds...)
}

// AppendNested appends row i of v, which is not NULL, as [a, b], {k=v, l=w} or (a, b),
// as Flink casts to STRING, with NULL for NULL and other children by value.
func AppendNested(dst []byte, t Type, v *vector.Vector, i int, value func(dst []byte, t Type, v *vector.Vector, i int) []byte) []byte {
	child := func(t Type, v *vector.Vector, i int) {
		if v.IsNull(i) {
			dst = append(dst, "NULL"...)
		} else {
			dst = value(dst, t, v, i)
		}
	}
	types := t.Children()
	if t.ID == Row {
		dst = append(dst, '(')
		for f, ft := range types {
			if f > 0 {
				dst = append(dst, ", "...)
			}
			child(ft, v.Child(f), i)
		}
		return append(dst, ')')
	}
	first, last := byte('['), byte(']')
	if len(types) == 2 {
		first, last = '{', '}'
	}
	dst = append(dst, first)
	from, to := v.Offsets()[i], v.Offsets()[i+1]
	for e := from; e < to; e++ {
		if e > from {
			dst = append(dst, ", "...)
		}
		child(types[0], v.Child(0), int(e))
		if len(types) == 2 {
			dst = append(dst, '=')
			child(types[1], v.Child(1), int(e))
		}
	}
	return append(dst, last)
}

// appendParsedNested reads what AppendText writes. Texts inside are taken as
// they are, without quotes, so they can hold no comma, bracket or =, nor be NULL.
func appendParsedNested(c *vector.ColumnBuilder, t Type, text []byte) bool {
	n := c.Len()
	if parseNested(c, t, trimBlanks(text)) {
		return true
	}
	c.Truncate(n)
	return false
}

func parseNested(c *vector.ColumnBuilder, t Type, text []byte) bool {
	brackets := map[ID]string{Array: "[]", Map: "{}", Multiset: "{}", Row: "()"}[t.ID]
	if len(text) < 2 || text[0] != brackets[0] || text[len(text)-1] != brackets[1] {
		return false
	}
	types, parts := t.Children(), split(text[1:len(text)-1], ',')
	if t.ID == Row && len(parts) != len(types) {
		return false
	}
	for i, part := range parts {
		ok := false
		switch t.ID {
		case Row:
			ok = parseOrNull(c.Child(i), types[i], part)
		case Array:
			ok = parseOrNull(c.Child(0), types[0], part)
		default:
			if kv := split(part, '='); len(kv) == 2 {
				ok = parseOrNull(c.Child(0), types[0], kv[0]) && parseOrNull(c.Child(1), types[1], kv[1])
			}
		}
		if !ok {
			return false
		}
	}
	c.EndValue()
	return true
}

func parseOrNull(c *vector.ColumnBuilder, t Type, text []byte) bool {
	text = trimBlanks(text)
	if bytes.Equal(text, []byte("NULL")) {
		c.AppendNull()
		return !t.NotNull
	}
	return AppendParsed(c, t, text)
}

// split cuts text at the separators that stand outside of brackets.
func split(text []byte, sep byte) [][]byte {
	if len(trimBlanks(text)) == 0 {
		return nil
	}
	var out [][]byte
	depth, from := 0, 0
	for i, b := range text {
		switch b {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case sep:
			if depth == 0 {
				out, from = append(out, text[from:i]), i+1
			}
		}
	}
	return append(out, text[from:])
}

func (t Type) nestedArrow() arrow.DataType {
	switch types := t.Children(); t.ID {
	case Array:
		return arrow.ListOfField(arrow.Field{Name: "element", Type: t.Elem.Arrow(), Nullable: !t.Elem.NotNull})
	case Row:
		return arrow.StructOf(Schema(t.Fields).Arrow().Fields()...)
	default:
		m := arrow.MapOf(types[0].Arrow(), types[1].Arrow())
		m.SetItemNullable(!types[1].NotNull)
		return m
	}
}

func nestedFromArrow(dt arrow.DataType) (Type, error) {
	child := func(f arrow.Field) (Type, error) {
		t, err := FromArrow(f.Type)
		t.NotNull = !f.Nullable
		return t, err
	}
	switch dt := dt.(type) {
	case *arrow.MapType:
		key, err := child(dt.KeyField())
		if err != nil {
			return Type{}, err
		}
		value, err := child(dt.ItemField())
		return MapOf(key, value), err
	case *arrow.StructType:
		fields, err := SchemaFromArrow(arrow.NewSchema(dt.Fields(), nil))
		return RowOf(fields...), err
	}
	elem, err := child(dt.(arrow.ListLikeType).ElemField())
	return ArrayOf(elem), err
}
