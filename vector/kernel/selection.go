package kernel

import "github.com/weirdb/weir/vector"

// CanSelect reports whether SelectCompare takes columns of this kind.
func CanSelect(k vector.Kind) bool {
	return k != vector.Decimal && k != vector.Invalid && !k.Nested()
}

// SelectCompare writes to out the rows of v for which "v op c" holds, c being a
// constant of v's kind that is not NULL. With some, only the rows of sel are looked
// at, else all; rows that are NULL never hold. out has room for all rows looked at and may be
// sel itself. It returns how many rows hold.
func SelectCompare(op Cmp, v, c *vector.Vector, sel []int32, some bool, out []int32) int {
	if v.Valid() != nil {
		sel = out[:SelectValid(v, true, sel, some, out)]
		some = true
	}
	switch v.Kind() {
	case vector.Bool:
		return selectOrdered(op, octets(vector.Values[bool](v)), octets(vector.Values[bool](c))[0], sel, some, out)
	case vector.Int8:
		return selectOrdered(op, vector.Values[int8](v), vector.Values[int8](c)[0], sel, some, out)
	case vector.Int16:
		return selectOrdered(op, vector.Values[int16](v), vector.Values[int16](c)[0], sel, some, out)
	case vector.Int32:
		return selectOrdered(op, vector.Values[int32](v), vector.Values[int32](c)[0], sel, some, out)
	case vector.Int64:
		return selectOrdered(op, vector.Values[int64](v), vector.Values[int64](c)[0], sel, some, out)
	case vector.Float32:
		return selectOrdered(op, vector.Values[float32](v), vector.Values[float32](c)[0], sel, some, out)
	case vector.Float64:
		return selectOrdered(op, vector.Values[float64](v), vector.Values[float64](c)[0], sel, some, out)
	case vector.String, vector.Bytes:
		return selectBytes(op, v, c.Text(0), sel, some, out)
	}
	panic(unexpected("selection", v.Kind()))
}

// bit is 1 for true. The compiler makes it a conditional move; going through memory
// would be three times as slow.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func selectOrdered[T ordered](op Cmp, v []T, y T, sel []int32, some bool, out []int32) int {
	if some {
		return narrowOrdered(op, v, y, sel, out)
	}
	out = out[:len(v)]
	k := 0
	switch op {
	case Eq:
		for i, x := range v {
			out[k] = int32(i)
			k += bit(x == y)
		}
	case Ne:
		for i, x := range v {
			out[k] = int32(i)
			k += bit(x != y)
		}
	case Lt:
		for i, x := range v {
			out[k] = int32(i)
			k += bit(x < y)
		}
	case Le:
		for i, x := range v {
			out[k] = int32(i)
			k += bit(x <= y)
		}
	case Gt:
		for i, x := range v {
			out[k] = int32(i)
			k += bit(x > y)
		}
	case Ge:
		for i, x := range v {
			out[k] = int32(i)
			k += bit(x >= y)
		}
	}
	return k
}

func narrowOrdered[T ordered](op Cmp, v []T, y T, sel, out []int32) int {
	out = out[:len(sel)]
	k := 0
	switch op {
	case Eq:
		for _, r := range sel {
			out[k] = r
			k += bit(v[r] == y)
		}
	case Ne:
		for _, r := range sel {
			out[k] = r
			k += bit(v[r] != y)
		}
	case Lt:
		for _, r := range sel {
			out[k] = r
			k += bit(v[r] < y)
		}
	case Le:
		for _, r := range sel {
			out[k] = r
			k += bit(v[r] <= y)
		}
	case Gt:
		for _, r := range sel {
			out[k] = r
			k += bit(v[r] > y)
		}
	case Ge:
		for _, r := range sel {
			out[k] = r
			k += bit(v[r] >= y)
		}
	}
	return k
}

func selectBytes(op Cmp, v *vector.Vector, y string, sel []int32, some bool, out []int32) int {
	off, data := v.Offsets(), v.Data()
	n := v.Len()
	if some {
		n = len(sel)
	}
	k := 0
	for i := range n {
		r := int32(i)
		if some {
			r = sel[i]
		}
		x := data[off[r]:off[r+1]]
		var hit bool
		switch op {
		case Eq:
			hit = string(x) == y
		case Ne:
			hit = string(x) != y
		case Lt:
			hit = string(x) < y
		case Le:
			hit = string(x) <= y
		case Gt:
			hit = string(x) > y
		default:
			hit = string(x) >= y
		}
		out[k] = r
		k += bit(hit)
	}
	return k
}

// SelectTrue writes to out the rows for which v is TRUE, not FALSE or NULL. v has
// one row for each row of sel, in that order, or with some false one for each row.
func SelectTrue(v *vector.Vector, sel []int32, some bool, out []int32) int {
	hits := vector.Values[bool](v)
	valid := v.Valid()
	k := 0
	switch {
	case some && valid == nil:
		sel = sel[:len(hits)]
		for i, hit := range hits {
			out[k] = sel[i]
			k += bit(hit)
		}
	case some:
		sel = sel[:len(hits)]
		for i, hit := range hits {
			out[k] = sel[i]
			k += bit(hit) & int(valid[i>>6]>>(uint(i)&63)) & 1
		}
	case valid == nil:
		for i, hit := range hits {
			out[k] = int32(i)
			k += bit(hit)
		}
	default:
		for i, hit := range hits {
			out[k] = int32(i)
			k += bit(hit) & int(valid[i>>6]>>(uint(i)&63)) & 1
		}
	}
	return k
}

// SelectValid writes to out the rows of v, among sel when some, that have a value
// (want true) or are NULL (want false).
func SelectValid(v *vector.Vector, want bool, sel []int32, some bool, out []int32) int {
	valid := v.Valid()
	k := 0
	switch {
	case valid == nil && !want:
	case valid == nil && some:
		k = copy(out, sel)
	case valid == nil:
		k = v.Len()
		for i := range out[:k] {
			out[i] = int32(i)
		}
	case some:
		flip := 1 - bit(want)
		for _, r := range sel {
			out[k] = r
			k += int(valid[r>>6]>>(uint(r)&63))&1 ^ flip
		}
	default:
		flip := 1 - bit(want)
		for i := range v.Len() {
			out[k] = int32(i)
			k += int(valid[i>>6]>>(uint(i)&63))&1 ^ flip
		}
	}
	return k
}

// Partition is SelectTrue that also writes the other rows to rest.
func Partition(v *vector.Vector, sel []int32, some bool, hits, rest []int32) (k, r int) {
	valid := v.Valid()
	for i, hit := range vector.Values[bool](v) {
		row := int32(i)
		if some {
			row = sel[i]
		}
		b := bit(hit)
		if valid != nil {
			b = b & int(valid[i>>6]>>(uint(i)&63)) & 1
		}
		hits[k], rest[r] = row, row
		k += b
		r += 1 - b
	}
	return k, r
}
