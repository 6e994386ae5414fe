package weir

// Builder takes the values of a result of a fixed-width type, one Append or
// AppendNull a row: Builder[int64] is a BIGINT.
type Builder[T any] struct {
	nulls
	out    *Vector
	values []T // as many as there is room for
	n      int
}

// NewBuilder returns an empty builder: for tests, which read Values and IsNull.
func NewBuilder[T any]() *Builder[T] { return &Builder[T]{} }

// Attach lets the builder fill result column v.
func (b *Builder[T]) Attach(v *Vector) {
	b.out, b.n = v, 0
	room := int(v.raw.RowCap)
	b.values = slice[T](v.raw.Data, room)
	b.attach(v, room)
}

// Append adds a row.
func (b *Builder[T]) Append(v T) {
	if b.n == len(b.values) {
		b.grow()
	}
	b.values[b.n] = v
	b.n++
}

// AppendNull adds a row that is NULL.
func (b *Builder[T]) AppendNull() {
	var zero T
	b.Append(zero)
	b.setNull(b.n - 1)
}

// AppendSlice adds a row for each value.
func (b *Builder[T]) AppendSlice(v []T) {
	for b.n+len(v) > len(b.values) {
		b.grow()
	}
	copy(b.values[b.n:], v)
	b.n += len(v)
}

// Len is the number of rows so far.
func (b *Builder[T]) Len() int { return b.n }

// Values are the values so far, those of NULL rows zero.
func (b *Builder[T]) Values() []T { return b.values[:b.n] }

func (b *Builder[T]) grow() {
	values := make([]T, roomAfter(len(b.values)))
	copy(values, b.values[:b.n])
	b.values = values
	b.growTo(b.n, len(values))
}

// Close hands the column over.
func (b *Builder[T]) Close() {
	if b.own {
		b.out.raw.Data = address(b.values)
		keep(b.values)
	}
	b.close(b.out, b.n, len(b.values))
}

// BoolBuilder takes the values of a result of type BOOLEAN.
type BoolBuilder struct {
	nulls
	out  *Vector
	bits Bitmap
	room int
	n    int
}

// NewBoolBuilder returns an empty builder: for tests, which read At and IsNull.
func NewBoolBuilder() *BoolBuilder { return &BoolBuilder{} }

// Attach lets the builder fill result column v.
func (b *BoolBuilder) Attach(v *Vector) {
	b.out, b.n, b.room = v, 0, int(v.raw.RowCap)
	b.bits = slice[byte](v.raw.Data, (b.room+7)/8)
	b.attach(v, b.room)
}

// Append adds a row.
func (b *BoolBuilder) Append(v bool) {
	if b.n == b.room {
		b.room = roomAfter(b.room)
		bits := make(Bitmap, (b.room+7)/8)
		copy(bits, b.bits)
		b.bits = bits
		b.growTo(b.n, b.room)
	}
	bit := byte(1) << (b.n & 7)
	if v {
		b.bits[b.n>>3] |= bit
	} else {
		b.bits[b.n>>3] &^= bit
	}
	b.n++
}

// AppendNull adds a row that is NULL.
func (b *BoolBuilder) AppendNull() {
	b.Append(false)
	b.setNull(b.n - 1)
}

// Len is the number of rows so far.
func (b *BoolBuilder) Len() int { return b.n }

// At is row i.
func (b *BoolBuilder) At(i int) bool { return b.bits.Get(i) }

// Close hands the column over.
func (b *BoolBuilder) Close() {
	if b.own {
		b.out.raw.Data = address(b.bits)
		keep(b.bits)
	}
	b.close(b.out, b.n, b.room)
}

// nulls is the bitmap of a builder, and whether its buffers are the module's own.
type nulls struct {
	valid Bitmap
	own   bool
}

func (s *nulls) attach(v *Vector, room int) {
	s.valid, s.own = slice[byte](v.raw.Validity, (room+7)/8), false
}

func (s *nulls) setNull(i int) { s.valid[i>>3] &^= 1 << (i & 7) }

// IsNull reports whether row i is NULL.
func (s *nulls) IsNull(i int) bool { return !s.valid.Get(i) }

// growTo makes room for the bits of more rows than the rows there are, and marks
// the buffers as own. The bits that follow the rows may have been anything.
func (s *nulls) growTo(rows, room int) {
	valid := NewBitmap(room)
	copy(valid, s.valid[:(rows+7)/8])
	if rows&7 != 0 {
		valid[rows>>3] |= 0xff << (rows & 7)
	}
	s.valid, s.own = valid, true
}

func (s *nulls) close(v *Vector, rows, room int) {
	v.raw.Length = uint32(rows)
	if s.own {
		v.raw.Validity, v.raw.RowCap = address(s.valid), uint32(room)
		keep(s.valid)
	}
}

// roomAfter is the number of rows to make room for when there is room for n.
func roomAfter(n int) int { return max(2*n, 64) }

// SetNull makes row i of result column v NULL.
func SetNull(v *Vector, i int) {
	slice[byte](v.raw.Validity, int(v.raw.RowCap+7)/8)[i>>3] &^= 1 << (i & 7)
}

// OutValues are the values of a fixed-width result of as many rows as the batch.
func OutValues[T any](v *Vector, rows int) []T {
	if rows > int(v.raw.RowCap) {
		panic("weir: the host made room for fewer rows than it sent")
	}
	v.raw.Length = uint32(rows)
	return slice[T](v.raw.Data, rows)
}
