package vector

import "strings"

// Nested kinds follow Arrow's layout: a List has offsets into one child, a Map into
// a child of keys and one of values, a Struct has a child of its own length for each
// field. Children have their own validity; what they hold under a NULL row of the
// parent is arbitrary. The entries of a map are in ascending order of their keys,
// which differ: maps with the same entries have the same form.

// ListOf is the kind of lists with elements of kind elem.
func ListOf(elem Kind) Kind { return "[" + elem }

// MapOf is the kind of maps.
func MapOf(key, value Kind) Kind { return "{" + key + value }

// StructOf is the kind of structs with fields of the given kinds.
func StructOf(fields ...Kind) Kind {
	var b strings.Builder
	b.WriteByte('(')
	for _, f := range fields {
		b.WriteString(string(f))
	}
	b.WriteByte(')')
	return Kind(b.String())
}

// List reports whether k was made by ListOf.
func (k Kind) List() bool { return len(k) > 1 && k[0] == '[' }

// Map reports whether k was made by MapOf.
func (k Kind) Map() bool { return len(k) > 1 && k[0] == '{' }

// Struct reports whether k was made by StructOf.
func (k Kind) Struct() bool { return len(k) > 1 && k[0] == '(' }

// Nested reports whether k is a list, a map or a struct.
func (k Kind) Nested() bool { return len(k) > 1 }

// Children are the kinds of a list's elements, a map's keys and values, or a
// struct's fields.
func (k Kind) Children() []Kind {
	if !k.Nested() {
		return nil
	}
	rest, out := k[1:], []Kind(nil)
	for len(rest) > 0 && rest[0] != ')' {
		n := rest.length()
		out, rest = append(out, rest[:n]), rest[n:]
	}
	return out
}

// length is the number of bytes that the first kind in k takes.
func (k Kind) length() int {
	switch k[0] {
	case '[':
		return 1 + k[1:].length()
	case '{':
		n := 1 + k[1:].length()
		return n + k[n:].length()
	case '(':
		n := 1
		for k[n] != ')' {
			n += k[n:].length()
		}
		return n + 1
	}
	return 1
}

func (k Kind) nestedString() string {
	var b strings.Builder
	switch k[0] {
	case '[':
		b.WriteString("list<")
	case '{':
		b.WriteString("map<")
	case '(':
		b.WriteString("struct<")
	default:
		return "kind(" + string(k) + ")"
	}
	for i, c := range k.Children() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.String())
	}
	return b.String() + ">"
}

// NewList returns a column of n lists, taking over the caller's reference to their
// elements. The caller fills Offsets, whose first is 0.
func (p *Pool) NewList(n int, elems *Vector) *Vector {
	return p.newOffsets(ListOf(elems.kind), n, []*Vector{elems})
}

// NewMap returns a column of n maps, taking over the caller's references to keys
// and values. The caller fills Offsets, whose first is 0, and keeps the order of
// keys that a Map has.
func (p *Pool) NewMap(n int, keys, values *Vector) *Vector {
	if keys.n != values.n {
		panic("vector: a map needs as many keys as values")
	}
	return p.newOffsets(MapOf(keys.kind, values.kind), n, []*Vector{keys, values})
}

func (p *Pool) newOffsets(kind Kind, n int, children []*Vector) *Vector {
	v := &Vector{kind: kind, n: n, children: children, pool: p}
	v.refs.Store(1)
	v.owned[0] = p.alloc((n + 1) * 4)
	v.offsets = as[int32](v.owned[0], n+1)
	v.offsets[0] = 0
	return v
}

// NewStruct returns a column of n structs, none of them NULL, taking over the
// caller's references to the fields, columns of n rows.
func (p *Pool) NewStruct(n int, fields []*Vector) *Vector {
	kinds := make([]Kind, len(fields))
	for i, f := range fields {
		kinds[i] = f.kind
		if f.n != n {
			panic("vector: a struct's fields need a row for each of its own")
		}
	}
	v := &Vector{kind: StructOf(kinds...), n: n, children: fields, pool: p}
	v.refs.Store(1)
	return v
}

// Child is the column of a list's elements (0), a map's keys (0) or values (1), or
// of field i of a struct, borrowed.
func (v *Vector) Child(i int) *Vector { return v.children[i] }

// Children is the number of child columns.
func (v *Vector) Children() int { return len(v.children) }

// Field returns field i of a struct with the struct's own NULLs, owned by the
// caller: it is NULL where the struct is.
func (v *Vector) Field(p *Pool, i int) *Vector {
	f := v.children[i]
	if v.valid == nil {
		return f.Retain()
	}
	out := f.alias()
	out.pool = p
	valid := out.NewValid(false)
	copy(valid, v.valid)
	if f.valid != nil {
		for i, w := range f.valid[:len(valid)] {
			valid[i] &= w
		}
	}
	return out
}

// alias returns a column over the memory of v, which it holds, without validity.
func (v *Vector) alias() *Vector {
	out := &Vector{kind: v.kind, n: v.n, fixed: v.fixed, offsets: v.offsets, data: v.data, children: retainAll(v.children), pool: v.pool}
	out.refs.Store(1)
	out.foreign = v.Retain().Release
	return out
}

// ownedBy reports whether all memory of v belongs to p.
func (v *Vector) ownedBy(p *Pool) bool {
	if v.pool != p || v.foreign != nil {
		return false
	}
	for _, c := range v.children {
		if !c.ownedBy(p) {
			return false
		}
	}
	return true
}

func (v *Vector) takeNested(p *Pool, rows []int32) *Vector {
	if v.kind.Struct() {
		fields := make([]*Vector, len(v.children))
		for i, c := range v.children {
			fields[i] = c.Take(p, rows)
		}
		out := &Vector{kind: v.kind, n: len(rows), children: fields, pool: p}
		out.refs.Store(1)
		return out
	}
	out := p.newOffsets(v.kind, len(rows), make([]*Vector, len(v.children)))
	at := 0
	for i, r := range rows {
		at += int(v.offsets[r+1] - v.offsets[r])
		out.offsets[i+1] = int32(at)
	}
	inner := v.elementRows(p, rows, at)
	for i, c := range v.children {
		out.children[i] = c.Take(p, as[int32](inner.fixed, at))
	}
	inner.Release()
	return out
}

// elementRows lists the positions in the children of all size elements of rows.
func (v *Vector) elementRows(p *Pool, rows []int32, size int) *Vector {
	out := p.New(Int32, size)
	dst, at := as[int32](out.fixed, size), 0
	for _, r := range rows {
		for e := v.offsets[r]; e < v.offsets[r+1]; e++ {
			dst[at] = e
			at++
		}
	}
	return out
}

func (v *Vector) sliceNested(p *Pool, from, to int) *Vector {
	n := to - from
	out := &Vector{kind: v.kind, n: n, children: make([]*Vector, len(v.children)), pool: p}
	out.refs.Store(1)
	if !v.kind.Struct() {
		a, b := v.offsets[from], v.offsets[to]
		out.owned[0] = p.alloc((n + 1) * 4)
		out.offsets = as[int32](out.owned[0], n+1)
		for i := range out.offsets {
			out.offsets[i] = v.offsets[from+i] - a
		}
		from, to = int(a), int(b)
	}
	for i, c := range v.children {
		out.children[i] = c.Slice(p, from, to)
	}
	return out
}

// Compare orders row i of a and row j of b, columns of one kind: NULL first and
// equal to NULL, false before true, NaN last and equal to NaN, -0 equal to 0, texts
// by bytes; lists, structs and maps (by their entries) like words of a dictionary.
// It is for nested values; plain columns have kernels.
func Compare(a *Vector, i int, b *Vector, j int) int {
	if an, bn := a.IsNull(i), b.IsNull(j); an || bn {
		switch {
		case an && bn:
			return 0
		case an:
			return -1
		}
		return 1
	}
	switch a.kind {
	case Bool:
		return int(as[uint8](a.fixed, a.n)[i]) - int(as[uint8](b.fixed, b.n)[j])
	case Int8:
		return compareOrdered(as[int8](a.fixed, a.n)[i], as[int8](b.fixed, b.n)[j])
	case Int16:
		return compareOrdered(as[int16](a.fixed, a.n)[i], as[int16](b.fixed, b.n)[j])
	case Int32:
		return compareOrdered(as[int32](a.fixed, a.n)[i], as[int32](b.fixed, b.n)[j])
	case Int64:
		return compareOrdered(as[int64](a.fixed, a.n)[i], as[int64](b.fixed, b.n)[j])
	case Float32:
		return compareOrdered(as[float32](a.fixed, a.n)[i], as[float32](b.fixed, b.n)[j])
	case Float64:
		return compareOrdered(as[float64](a.fixed, a.n)[i], as[float64](b.fixed, b.n)[j])
	case Decimal:
		return as[Dec](a.fixed, a.n)[i].Cmp(as[Dec](b.fixed, b.n)[j])
	case String, Bytes:
		return strings.Compare(a.Text(i), b.Text(j))
	}
	if a.kind.Struct() {
		return compareChildren(a, i, b, j)
	}
	x, xEnd, y, yEnd := a.offsets[i], a.offsets[i+1], b.offsets[j], b.offsets[j+1]
	for ; x < xEnd && y < yEnd; x, y = x+1, y+1 {
		if c := compareChildren(a, int(x), b, int(y)); c != 0 {
			return c
		}
	}
	return compareOrdered(xEnd-x, yEnd-y)
}

func compareChildren(a *Vector, i int, b *Vector, j int) int {
	for f, c := range a.children {
		if d := Compare(c, i, b.children[f], j); d != 0 {
			return d
		}
	}
	return 0
}

func compareOrdered[T int8 | int16 | int32 | int64 | float32 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b || a != a && b != b:
		return 0
	case a != a:
		return 1
	}
	return -1
}
