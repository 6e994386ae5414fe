package vector

import "slices"

// Child is the builder of a list's elements (0), a map's keys (0) or values (1), or
// of field i of a struct. EndValue ends what was appended to the children.
func (c *ColumnBuilder) Child(i int) *ColumnBuilder { return c.children[i] }

// Children is the number of child builders.
func (c *ColumnBuilder) Children() int { return len(c.children) }

// EndValue ends a value of a nested kind: a list or map of all that was appended to
// the children since the value before, or a struct of one value in each. The
// entries of a map are put in order; of several with one key the last stays.
func (c *ColumnBuilder) EndValue() {
	c.endValue()
	if c.kind.Map() {
		c.orderEntries()
	}
}

func (c *ColumnBuilder) endValue() {
	if c.kind.Struct() {
		for _, f := range c.children {
			if f.n != c.n+1 {
				panic("vector: a struct ended without one value for each field")
			}
		}
		c.roomForValid()
		c.appended()
		return
	}
	if len(c.children) == 2 && c.children[0].n != c.children[1].n {
		panic("vector: a map ended with keys and values that do not pair")
	}
	c.room()
	off := as[int32](c.fixed, c.n+2)
	off[0] = 0
	off[c.n+1] = int32(c.children[0].n)
	c.appended()
}

// orderEntries sorts the entries of the last map, if they are not.
func (c *ColumnBuilder) orderEntries() {
	off := as[int32](c.fixed, c.n+1)
	from, to := int(off[c.n-1]), int(off[c.n])
	if to-from < 2 {
		return
	}
	keys := c.children[0].view()
	ordered := true
	for i := from + 1; i < to && ordered; i++ {
		ordered = Compare(keys, i-1, keys, i) < 0
	}
	if ordered {
		return
	}
	rows := make([]int32, to-from)
	for i := range rows {
		rows[i] = int32(from + i)
	}
	slices.SortStableFunc(rows, func(a, b int32) int { return Compare(keys, int(a), keys, int(b)) })
	kept := rows[:0]
	for i, r := range rows {
		if i+1 == len(rows) || Compare(keys, int(r), keys, int(rows[i+1])) != 0 {
			kept = append(kept, r)
		}
	}
	for _, f := range c.children {
		moved := f.view().Take(c.p, kept)
		f.Truncate(from)
		for i := range moved.n {
			f.AppendFrom(moved, i)
		}
		moved.Release()
	}
	off[c.n] = int32(from + len(kept))
}

// view is the column so far, to be read before the next change to c.
func (c *ColumnBuilder) view() *Vector {
	v := &Vector{kind: c.kind, n: c.n, pool: c.p}
	switch {
	case c.kind.Width() > 0:
		v.fixed = c.fixed
	case !c.kind.Struct() && c.n > 0:
		v.offsets = as[int32](c.fixed, c.n+1)
		v.data = as[byte](c.data, c.used)
	}
	if c.nulls > 0 {
		v.valid = c.valid[:BitmapWords(c.n)]
	}
	for _, f := range c.children {
		v.children = append(v.children, f.view())
	}
	return v
}

func (c *ColumnBuilder) appendNested(v *Vector, r int) {
	if c.kind.Struct() {
		for i, f := range c.children {
			f.AppendFrom(v.children[i], r)
		}
	} else {
		for i, f := range c.children {
			for e := v.offsets[r]; e < v.offsets[r+1]; e++ {
				f.AppendFrom(v.children[i], int(e))
			}
		}
	}
	c.endValue()
}

// takeNested is AppendTake without validity and count.
func (c *ColumnBuilder) takeNested(v *Vector, rows []int32) {
	if c.kind.Struct() {
		for i, f := range c.children {
			f.AppendTake(v.children[i], rows)
		}
		return
	}
	c.reserve((c.n + len(rows) + 1) * 4)
	off, start := as[int32](c.fixed, c.n+len(rows)+1), c.children[0].n
	off[0] = 0
	at := start
	for i, r := range rows {
		at += int(v.offsets[r+1] - v.offsets[r])
		off[c.n+1+i] = int32(at)
	}
	inner := v.elementRows(c.p, rows, at-start)
	for i, f := range c.children {
		f.AppendTake(v.children[i], as[int32](inner.fixed, inner.n))
	}
	inner.Release()
}

// truncateNested drops what the children hold behind value n.
func (c *ColumnBuilder) truncateNested(n int) {
	keep := n
	if !c.kind.Struct() {
		keep = 0
		if n > 0 {
			keep = int(as[int32](c.fixed, n+1)[n])
		}
	}
	for _, f := range c.children {
		f.Truncate(keep)
	}
}

func (c *ColumnBuilder) nestedSize() int {
	size := 0
	if !c.kind.Struct() {
		size = c.n * 4
	}
	for _, f := range c.children {
		size += f.Size()
	}
	return size
}
