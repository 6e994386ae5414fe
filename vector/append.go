package vector

// AppendTake adds the rows of v at the given positions, in that order. v has the
// builder's kind.
func (c *ColumnBuilder) AppendTake(v *Vector, rows []int32) {
	if len(rows) == 0 {
		return
	}
	switch {
	case c.children != nil:
		c.takeNested(v, rows)
	case c.kind.Variable():
		c.takeBytes(v, rows)
	default:
		c.reserve((c.n + len(rows)) * c.kind.Width())
		switch c.kind.Width() {
		case 1:
			gather(tail[uint8](c, len(rows)), as[uint8](v.fixed, v.n), rows)
		case 2:
			gather(tail[uint16](c, len(rows)), as[uint16](v.fixed, v.n), rows)
		case 4:
			gather(tail[uint32](c, len(rows)), as[uint32](v.fixed, v.n), rows)
		case 8:
			gather(tail[uint64](c, len(rows)), as[uint64](v.fixed, v.n), rows)
		case 16:
			gather(tail[Dec](c, len(rows)), as[Dec](v.fixed, v.n), rows)
		}
	}
	c.takeValid(v, rows)
	c.n += len(rows)
}

// tail views the room for the next n values.
func tail[T any](c *ColumnBuilder, n int) []T { return as[T](c.fixed, c.n+n)[c.n:] }

// reserve makes room for size bytes of values or offsets in all.
func (c *ColumnBuilder) reserve(size int) {
	if size > len(c.fixed)*8 {
		c.fixed = c.grow(c.fixed, size)
	}
}

func (c *ColumnBuilder) takeBytes(v *Vector, rows []int32) {
	size := 0
	for _, r := range rows {
		size += int(v.offsets[r+1] - v.offsets[r])
	}
	c.reserve((c.n + len(rows) + 1) * 4)
	if c.used+size > len(c.data)*8 {
		c.data = c.grow(c.data, c.used+size)
	}
	all := as[int32](c.fixed, c.n+len(rows)+1)
	all[0] = 0
	off, data, at := all[c.n+1:], as[byte](c.data, c.used+size), c.used
	off = off[:len(rows)]
	for i, r := range rows {
		at += copyText(data[at:], v.data[v.offsets[r]:v.offsets[r+1]])
		off[i] = int32(at)
	}
	c.used = at
}

// takeValid appends the validity of rows of v, before they are counted in n.
func (c *ColumnBuilder) takeValid(v *Vector, rows []int32) {
	if v.valid == nil && c.valid == nil {
		return
	}
	if need := BitmapWords(c.n + len(rows)); need > len(c.valid) {
		had, first := len(c.valid), c.valid == nil
		c.valid = c.grow(c.valid, need*8)
		clear(c.valid[had:])
		if first {
			Bitmap(c.valid).Fill(c.n)
		}
	}
	valid := Bitmap(c.valid)
	if v.valid == nil {
		for i := range rows {
			valid.Set(c.n + i)
		}
		return
	}
	for i, r := range rows {
		if v.valid.Get(int(r)) {
			valid.Set(c.n + i)
		} else {
			valid.Clear(c.n + i)
			c.nulls++
		}
	}
}

// AppendTake adds the rows of src at the given physical positions with their row
// kinds. src's columns have the builder's kinds.
func (b *Builder) AppendTake(src *Batch, rows []int32) {
	for i, c := range b.cols {
		c.AppendTake(src.cols[i], rows)
	}
	if src.kinds == nil {
		b.EndRows(len(rows))
		return
	}
	if b.kinds == nil {
		b.kinds = NewColumnBuilder(b.p, Int8)
		for range b.n {
			Append(b.kinds, int8(Insert))
		}
	}
	b.kinds.AppendTake(src.kinds, rows)
	b.n += len(rows)
}
