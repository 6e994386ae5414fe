package kernel

import "github.com/weirdb/weir/vector"

// Part is what one branch gives for some rows of a Merge.
type Part struct {
	Rows []int32        // rows of the result, in the order of V
	V    *vector.Vector // as many rows, or one that counts for all
}

// Merge puts columns of one kind together into one of n rows: row Rows[i] of each
// part is row i of its V. No row is in two parts; a row that is in none is NULL.
func Merge(p *vector.Pool, kind vector.Kind, n int, parts []Part) *vector.Vector {
	if kind.Nested() {
		return mergeNested(p, kind, n, parts)
	}
	var out *vector.Vector
	if kind.Variable() {
		out = mergeBytes(p, kind, n, parts)
	} else {
		out = p.New(kind, n)
		for _, part := range parts {
			switch kind {
			case vector.Bool:
				scatter[bool](out, part)
			case vector.Int8:
				scatter[int8](out, part)
			case vector.Int16:
				scatter[int16](out, part)
			case vector.Int32:
				scatter[int32](out, part)
			case vector.Int64:
				scatter[int64](out, part)
			case vector.Float32:
				scatter[float32](out, part)
			case vector.Float64:
				scatter[float64](out, part)
			case vector.Decimal:
				scatter[vector.Dec](out, part)
			}
		}
	}
	mergeValid(out, n, parts)
	return out
}

func scatter[T vector.Fixed](out *vector.Vector, part Part) {
	dst, src := vector.Values[T](out), vector.Values[T](part.V)
	if len(src) != len(part.Rows) {
		x := src[0]
		for _, r := range part.Rows {
			dst[r] = x
		}
		return
	}
	for i, r := range part.Rows {
		dst[r] = src[i]
	}
}

func mergeValid(out *vector.Vector, n int, parts []Part) {
	covered, nulls := 0, false
	for _, part := range parts {
		covered += len(part.Rows)
		nulls = nulls || part.V.Valid() != nil && len(part.Rows) > 0
	}
	if covered == n && !nulls {
		return
	}
	valid := out.NewValid(false)
	for _, part := range parts {
		one := part.V.Len() == 1
		for i, r := range part.Rows {
			if one {
				i = 0
			}
			if !part.V.IsNull(i) {
				valid.Set(int(r))
			}
		}
	}
}

// mergeBytes finds the lengths first: they stand in the offsets until summed up.
func mergeBytes(p *vector.Pool, kind vector.Kind, n int, parts []Part) *vector.Vector {
	lengths := p.New(vector.Int32, n)
	defer lengths.Release()
	length := vector.Values[int32](lengths)
	clear(length)
	size := 0
	for _, part := range parts {
		one, off := part.V.Len() == 1, part.V.Offsets()
		for i, r := range part.Rows {
			if one {
				i = 0
			}
			l := off[i+1] - off[i]
			length[r] = l
			size += int(l)
		}
	}
	out := p.NewVariable(kind, n, size)
	off, data := out.Offsets(), out.Data()
	at := int32(0)
	for i, l := range length {
		at += l
		off[i+1] = at
	}
	for _, part := range parts {
		one := part.V.Len() == 1
		for i, r := range part.Rows {
			if one {
				i = 0
			}
			copy(data[off[r]:off[r+1]], part.V.Bytes(i))
		}
	}
	return out
}
