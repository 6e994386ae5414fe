package weir

// ListBuilder takes the ends of the values of an ARRAY, MAP or MULTISET, whose
// children have builders of their own.
type ListBuilder struct {
	nulls
	out     *Vector
	offsets []int32
	n       int
}

// Attach lets the builder fill result column v.
func (b *ListBuilder) Attach(v *Vector) {
	b.out, b.n = v, 0
	room := int(v.raw.RowCap)
	b.offsets = slice[int32](v.raw.Offsets, room+1)
	if b.offsets == nil {
		b.offsets = make([]int32, 1)
	}
	b.offsets[0] = 0
	b.attach(v, room)
}

// Append adds a row of all the elements since the row before: the children then
// have the given number of rows.
func (b *ListBuilder) Append(elements int) {
	b.n++
	if b.n == len(b.offsets) {
		offsets := make([]int32, roomAfter(len(b.offsets))+1)
		copy(offsets, b.offsets)
		b.offsets = offsets
		b.growTo(b.n-1, len(offsets)-1)
	}
	b.offsets[b.n] = int32(elements)
}

// AppendNull adds a row that is NULL.
func (b *ListBuilder) AppendNull() {
	b.Append(int(b.offsets[b.n]))
	b.setNull(b.n - 1)
}

// Len is the number of rows so far.
func (b *ListBuilder) Len() int { return b.n }

// Close hands the column over.
func (b *ListBuilder) Close() {
	if b.own {
		b.out.raw.Offsets = address(b.offsets)
		keep(b.offsets)
	}
	b.close(b.out, b.n, len(b.offsets)-1)
}

// StructBuilder counts the values of a ROW, whose fields have builders of their own.
type StructBuilder struct {
	nulls
	out  *Vector
	room int
	n    int
}

// Attach lets the builder fill result column v.
func (b *StructBuilder) Attach(v *Vector) {
	b.out, b.n, b.room = v, 0, int(v.raw.RowCap)
	b.attach(v, b.room)
}

// Append adds a row.
func (b *StructBuilder) Append() {
	if b.n == b.room {
		b.room = roomAfter(b.room)
		b.growTo(b.n, b.room)
	}
	b.n++
}

// AppendNull adds a row that is NULL. Its fields have a value of any kind.
func (b *StructBuilder) AppendNull() {
	b.Append()
	b.setNull(b.n - 1)
}

// Len is the number of rows so far.
func (b *StructBuilder) Len() int { return b.n }

// Close hands the column over.
func (b *StructBuilder) Close() { b.close(b.out, b.n, b.room) }
