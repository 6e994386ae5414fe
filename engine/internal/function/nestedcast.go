package function

import (
	"slices"
	"time"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// nestedCast casts the children of a nested type; a value one of whose children does
// not fit is a misfit as a whole. Names of fields do not matter.
func nestedCast(from, to sqltype.Type, zone *time.Location) caster {
	types, want := from.Children(), to.Children()
	casts := make([]caster, len(types))
	for i, t := range types {
		if t.Equal(want[i]) {
			continue // nil: nothing to do
		}
		if casts[i] = bindCast(t, want[i], zone); casts[i] == nil {
			return nil
		}
	}
	return func(c *Call, v *vector.Vector, m *kernel.Misfits) *vector.Vector {
		children := make([]*vector.Vector, len(casts))
		bad := make([]bool, v.Len())
		for i, cast := range casts {
			children[i] = castChild(c, v, i, cast, bad)
		}
		for i, b := range bad {
			if b {
				m.Rows = append(m.Rows, int32(i))
			}
		}
		switch {
		case v.Kind().Struct():
			return c.Pool.NewStruct(v.Len(), children)
		case len(children) == 1:
			out := c.Pool.NewList(v.Len(), children[0])
			copy(out.Offsets(), v.Offsets())
			return out
		case casts[0] == nil:
			out := c.Pool.NewMap(v.Len(), children[0], children[1])
			copy(out.Offsets(), v.Offsets())
			return out
		}
		if to.ID == sqltype.Multiset {
			return orderedMultiset(c.Pool, v.Offsets(), children[0], children[1])
		}
		return orderedMap(c.Pool, v.Offsets(), children[0], children[1])
	}
}

// castChild casts child i of v and marks in bad the rows of v that have a misfit in it.
func castChild(c *Call, v *vector.Vector, i int, cast caster, bad []bool) *vector.Vector {
	child := v.Child(i)
	if cast == nil {
		return child.Retain()
	}
	var m kernel.Misfits
	out := cast(&Call{Pool: c.Pool, N: child.Len(), Args: []*vector.Vector{child}, Valid: child.Valid(), Now: c.Now}, child, &m)
	if child.Valid() != nil {
		copyValid(out, child.Valid())
	}
	row := 0
	for _, r := range m.Rows {
		if child.IsNull(int(r)) {
			continue
		}
		if v.Kind().Struct() {
			row = int(r)
		} else {
			for v.Offsets()[row+1] <= r {
				row++
			}
		}
		bad[row] = true
	}
	return out
}

// orderedMap puts entries whose keys a cast has changed back in order. Of keys that
// have become equal the last one's value stays.
func orderedMap(p *vector.Pool, off []int32, keys, values *vector.Vector) *vector.Vector {
	defer keys.Release()
	defer values.Release()
	b := vector.NewColumnBuilder(p, vector.MapOf(keys.Kind(), values.Kind()))
	for i := range len(off) - 1 {
		for e := off[i]; e < off[i+1]; e++ {
			b.Child(0).AppendFrom(keys, int(e))
			b.Child(1).AppendFrom(values, int(e))
		}
		b.EndValue()
	}
	return b.Finish()
}

// orderedMultiset is orderedMap for a multiset: elements that have become equal are
// counted together.
func orderedMultiset(p *vector.Pool, off []int32, elements, counts *vector.Vector) *vector.Vector {
	defer elements.Release()
	defer counts.Release()
	b := vector.NewColumnBuilder(p, vector.MapOf(elements.Kind(), counts.Kind()))
	n := vector.Values[int32](counts)
	var order []int
	compare := func(x, y int) int { return vector.Compare(elements, x, elements, y) }
	for i := range len(off) - 1 {
		order = order[:0]
		for e := off[i]; e < off[i+1]; e++ {
			order = append(order, int(e))
		}
		slices.SortFunc(order, compare)
		for at := 0; at < len(order); {
			first, total := order[at], int32(0)
			for at < len(order) && compare(first, order[at]) == 0 {
				total += n[order[at]]
				at++
			}
			b.Child(0).AppendFrom(elements, first)
			vector.Append(b.Child(1), total)
		}
		b.EndValue()
	}
	return b.Finish()
}
