package vector

import "fmt"

// ColumnBuilder grows one column value by value: for sources and for results
// whose size is not known. Hot loops fill a Vector directly.
type ColumnBuilder struct {
	kind  Kind
	code  byte // the first of kind: all of it for a plain one
	width int  // of kind
	p     *Pool
	n     int
	fixed []uint64 // capacity for values or offsets
	data  []uint64
	used  int // bytes of data
	valid []uint64
	nulls int

	children []*ColumnBuilder // of a nested kind
}

// NewColumnBuilder returns an empty builder for columns of the given kind.
func NewColumnBuilder(p *Pool, kind Kind) *ColumnBuilder {
	c := &ColumnBuilder{kind: kind, width: kind.Width(), p: p}
	if kind != Invalid {
		c.code = kind[0]
	}
	if kind.Nested() {
		c.children = []*ColumnBuilder{} // not nil, though a struct may have no fields
		for _, k := range kind.Children() {
			c.children = append(c.children, NewColumnBuilder(p, k))
		}
	}
	return c
}

// Kind is the kind of the column.
func (c *ColumnBuilder) Kind() Kind { return c.kind }

// Len is the number of values so far.
func (c *ColumnBuilder) Len() int { return c.n }

// Size is the number of bytes that the values take so far.
func (c *ColumnBuilder) Size() int {
	if c.children != nil {
		return c.nestedSize()
	}
	if c.kind.Variable() {
		return c.n*4 + c.used
	}
	return c.n * c.kind.Width()
}

func (c *ColumnBuilder) room() {
	w := c.width
	if w == 0 {
		w = 4
	}
	if need := (c.n + 2) * w; need > len(c.fixed)*8 {
		c.fixed = c.grow(c.fixed, max(need, 64*w))
	}
	c.roomForValid()
}

func (c *ColumnBuilder) roomForValid() {
	if c.valid != nil && BitmapWords(c.n+1) > len(c.valid) {
		old := len(c.valid)
		c.valid = c.grow(c.valid, (old+1)*8)
		clear(c.valid[old:])
	}
}

func (c *ColumnBuilder) grow(b []uint64, need int) []uint64 {
	n := c.p.alloc(max(need, len(b)*16))
	n = n[:cap(n)]
	copy(n, b)
	if b != nil {
		c.p.put(b)
	}
	return n
}

// Append adds a value to a fixed-width column. T must be the type of its kind.
func Append[T Fixed](c *ColumnBuilder, v T) {
	if k := KindOf[T](); k[0] != c.code {
		panic(fmt.Sprintf("vector: %v appended to a column of %v", k, c.kind))
	}
	c.room()
	as[T](c.fixed, c.n+1)[c.n] = v
	c.appended()
}

// AppendBytes adds a value to a String or Bytes column, copying it.
func (c *ColumnBuilder) AppendBytes(v []byte) {
	appendVar(c, v)
}

// AppendString adds a value to a String or Bytes column, copying it.
func (c *ColumnBuilder) AppendString(v string) {
	appendVar(c, v)
}

func appendVar[S []byte | string](c *ColumnBuilder, v S) {
	if c.code != String[0] && c.code != Bytes[0] {
		panic(fmt.Sprintf("vector: bytes appended to a column of %v", c.kind))
	}
	c.room()
	if need := c.used + len(v); need > len(c.data)*8 {
		c.data = c.grow(c.data, max(need, 1024))
	}
	copy(as[byte](c.data, len(c.data)*8)[c.used:], v)
	c.used += len(v)
	off := as[int32](c.fixed, c.n+2)
	off[0] = 0
	off[c.n+1] = int32(c.used)
	c.appended()
}

func (c *ColumnBuilder) appended() {
	if c.valid != nil {
		Bitmap(c.valid).Set(c.n)
	}
	c.n++
}

// AppendNull adds a NULL.
func (c *ColumnBuilder) AppendNull() {
	if c.valid == nil {
		c.valid = c.p.alloc(max(BitmapWords(c.n+1), 8) * 8)
		c.valid = c.valid[:cap(c.valid)]
		clear(c.valid)
		Bitmap(c.valid).Fill(c.n)
	}
	switch w := c.width; {
	case c.kind.Struct():
		c.roomForValid()
		for _, f := range c.children {
			f.AppendNull() // a place for each row
		}
	case w == 0:
		c.room()
		off := as[int32](c.fixed, c.n+2)
		off[0] = 0
		off[c.n+1] = int32(c.used)
		if c.children != nil {
			off[c.n+1] = int32(c.children[0].n)
		}
	default:
		c.room()
		clear(as[byte](c.fixed, (c.n+1)*w)[c.n*w:])
	}
	Bitmap(c.valid).Clear(c.n)
	c.nulls++
	c.n++
}

// AppendFrom adds row r of v, which has the builder's kind.
func (c *ColumnBuilder) AppendFrom(v *Vector, r int) {
	if v.IsNull(r) {
		c.AppendNull()
		return
	}
	switch {
	case c.children != nil:
		c.appendNested(v, r)
		return
	case c.width == 0:
		c.AppendBytes(v.Bytes(r))
		return
	}
	c.room()
	w := c.width
	copy(as[byte](c.fixed, (c.n+1)*w)[c.n*w:], as[byte](v.fixed, v.n*w)[r*w:(r+1)*w])
	c.appended()
}

// Truncate drops the values from row n on: what half a bad record left behind.
func (c *ColumnBuilder) Truncate(n int) {
	if c.children != nil {
		c.truncateNested(min(n, c.n))
	}
	if n >= c.n {
		return
	}
	if c.valid != nil {
		for i := n; i < c.n; i++ {
			if !Bitmap(c.valid).Get(i) {
				c.nulls--
			}
			Bitmap(c.valid).Clear(i)
		}
	}
	if c.kind.Variable() {
		c.used = int(as[int32](c.fixed, c.n+1)[n])
	}
	c.n = n
}

// Finish returns the column and empties the builder.
func (c *ColumnBuilder) Finish() *Vector {
	v := &Vector{kind: c.kind, n: c.n, pool: c.p}
	v.refs.Store(1)
	switch {
	case c.kind.Struct():
		v.owned[0] = c.fixed
	case c.kind.Variable() || c.children != nil:
		c.room()
		v.owned[0], v.owned[1] = c.fixed, c.data
		v.offsets = as[int32](c.fixed, c.n+1)
		v.offsets[0] = 0
		v.data = as[byte](c.data, c.used)
	default:
		v.owned[0], v.fixed = c.fixed, c.fixed
	}
	if c.nulls > 0 {
		v.owned[2] = c.valid
		v.valid = c.valid[:BitmapWords(c.n)]
	} else if c.valid != nil {
		c.p.put(c.valid)
	}
	for _, f := range c.children {
		v.children = append(v.children, f.Finish())
	}
	*c = ColumnBuilder{kind: c.kind, code: c.code, width: c.width, p: c.p, children: c.children}
	return v
}

// Builder grows a batch row by row. The caller appends one value to each column,
// then calls EndRow.
type Builder struct {
	cols  []*ColumnBuilder
	kinds *ColumnBuilder // made at the first row that is no Insert
	p     *Pool
	n     int
}

// NewBuilder returns an empty builder with a column of each kind.
func NewBuilder(p *Pool, kinds []Kind) *Builder {
	b := &Builder{p: p}
	for _, k := range kinds {
		b.cols = append(b.cols, NewColumnBuilder(p, k))
	}
	return b
}

// Pool is where the batches come from.
func (b *Builder) Pool() *Pool { return b.p }

// Col is the builder of column i.
func (b *Builder) Col(i int) *ColumnBuilder { return b.cols[i] }

// Cols is the number of columns.
func (b *Builder) Cols() int { return len(b.cols) }

// Len is the number of rows ended so far.
func (b *Builder) Len() int { return b.n }

// Size is the number of bytes that the values take so far.
func (b *Builder) Size() int {
	s := 0
	for _, c := range b.cols {
		s += c.Size()
	}
	return s
}

// EndRow ends the row whose values were appended to every column.
func (b *Builder) EndRow(kind RowKind) {
	if kind != Insert && b.kinds == nil {
		b.kinds = NewColumnBuilder(b.p, Int8)
		for range b.n {
			Append(b.kinds, int8(Insert))
		}
	}
	if b.kinds != nil {
		Append(b.kinds, int8(kind))
	}
	b.n++
}

// EndRows ends n rows that were appended column-wise, all inserts.
func (b *Builder) EndRows(n int) {
	if b.kinds != nil {
		for range n {
			Append(b.kinds, int8(Insert))
		}
	}
	b.n += n
}

// DropRow takes back the values of a row that was begun and not ended.
func (b *Builder) DropRow() {
	for _, c := range b.cols {
		c.Truncate(b.n)
	}
}

// AppendRow adds physical row r of src, whose columns have the builder's kinds.
func (b *Builder) AppendRow(src *Batch, r int, kind RowKind) {
	for i, c := range b.cols {
		c.AppendFrom(src.cols[i], r)
	}
	b.EndRow(kind)
}

// Finish returns the rows as a batch and empties the builder.
func (b *Builder) Finish() *Batch {
	cols := make([]*Vector, len(b.cols))
	for i, c := range b.cols {
		cols[i] = c.Finish()
	}
	var kinds *Vector
	if b.kinds != nil {
		kinds = b.kinds.Finish()
		b.kinds = nil
	}
	n := b.n
	b.n = 0
	return NewBatch(n, cols, kinds)
}

// Discard releases what the builder holds.
func (b *Builder) Discard() {
	for _, c := range b.cols {
		c.Finish().Release()
	}
	if b.kinds != nil {
		b.kinds.Finish().Release()
		b.kinds = nil
	}
	b.n = 0
}
