package kernel

import "github.com/weirdb/weir/vector"

// Nulls is a column of n NULLs.
func Nulls(p *vector.Pool, kind vector.Kind, n int) *vector.Vector {
	b := vector.NewColumnBuilder(p, kind)
	for range n {
		b.AppendNull()
	}
	return b.Finish()
}

// TakeOrNull gathers rows of v; a negative one is NULL.
func TakeOrNull(p *vector.Pool, v *vector.Vector, rows []int32) *vector.Vector {
	if v.Len() == 0 {
		return Nulls(p, v.Kind(), len(rows))
	}
	found := p.New(vector.Int32, len(rows))
	defer found.Release()
	at, missing := vector.Values[int32](found), false
	for i, r := range rows {
		at[i] = max(r, 0)
		missing = missing || r < 0
	}
	out := v.Take(p, at)
	if !missing {
		return out
	}
	valid := out.Valid()
	if valid == nil {
		valid = out.NewValid(true)
	}
	for i, r := range rows {
		if r < 0 {
			valid.Clear(i)
		}
	}
	return out
}

func mergeNested(p *vector.Pool, kind vector.Kind, n int, parts []Part) *vector.Vector {
	part, row := make([]int32, n), make([]int32, n) // of each row of the result; part 0 is none
	for i, from := range parts {
		one := from.V.Len() == 1
		for k, r := range from.Rows {
			part[r] = int32(i + 1)
			if !one {
				row[r] = int32(k)
			}
		}
	}
	b := vector.NewColumnBuilder(p, kind)
	for i, k := range part {
		if k == 0 {
			b.AppendNull()
		} else {
			b.AppendFrom(parts[k-1].V, int(row[i]))
		}
	}
	return b.Finish()
}

func compareNested(op Cmp, dst []bool, a, b *vector.Vector) {
	one := b.Len() != len(dst)
	for i := range dst {
		j := i
		if one {
			j = 0
		}
		dst[i] = op.Holds(vector.Compare(a, i, b, j))
	}
}
