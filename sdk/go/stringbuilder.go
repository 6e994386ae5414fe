package weir

// StringBuilder takes the values of a result of type STRING, CHAR, VARCHAR or a
// binary type. Append, AppendBytes, AppendNull, Extend, or Tail and AppendTail add a row.
type StringBuilder struct {
	nulls
	out     *Vector
	offsets []int32 // one more than there is room for
	data    []byte
	n       int
	ownData bool
}

// NewStringBuilder returns an empty builder: for tests, which read At and IsNull.
func NewStringBuilder() *StringBuilder { return &StringBuilder{offsets: make([]int32, 1)} }

// Attach lets the builder fill result column v.
func (b *StringBuilder) Attach(v *Vector) {
	b.out, b.n, b.ownData = v, 0, false
	room := int(v.raw.RowCap)
	b.offsets = slice[int32](v.raw.Offsets, room+1)
	if b.offsets == nil { // a column without room has no buffers
		b.offsets = make([]int32, 1)
	}
	b.offsets[0] = 0
	b.data = slice[byte](v.raw.Data, int(v.raw.DataCap))[:0]
	b.attach(v, room)
}

// Append adds a row.
func (b *StringBuilder) Append(s string) {
	if len(s) > cap(b.data)-len(b.data) {
		b.growData(len(s))
	}
	b.data = append(b.data, s...)
	b.end()
}

// AppendBytes adds a row, copying v.
func (b *StringBuilder) AppendBytes(v []byte) { b.Append(text(v)) }

// AppendNull adds a row that is NULL.
func (b *StringBuilder) AppendNull() {
	b.end()
	b.setNull(b.n - 1)
}

// Tail is an empty slice whose room is where the row's bytes will lie. The caller
// appends to it and passes the result to AppendTail: what fits is not copied.
func (b *StringBuilder) Tail() []byte { return b.data[len(b.data):] }

// AppendTail adds a row: Tail with bytes appended, or any other slice.
func (b *StringBuilder) AppendTail(tail []byte) {
	if n := len(b.data) + len(tail); len(tail) > 0 && n <= cap(b.data) && &tail[0] == &b.data[:n][len(b.data)] {
		b.data = b.data[:n]
		b.end()
		return
	}
	b.AppendBytes(tail)
}

// Extend adds a row of n bytes and returns them, which hold anything, to be filled.
func (b *StringBuilder) Extend(n int) []byte {
	if n > cap(b.data)-len(b.data) {
		b.growData(n)
	}
	from := len(b.data)
	b.data = b.data[:from+n]
	b.end()
	return b.data[from : from+n : from+n]
}

// Len is the number of rows so far.
func (b *StringBuilder) Len() int { return b.n }

// At is row i.
func (b *StringBuilder) At(i int) string { return string(b.data[b.offsets[i]:b.offsets[i+1]]) }

func (b *StringBuilder) end() {
	b.n++
	if b.n == len(b.offsets) {
		offsets := make([]int32, roomAfter(len(b.offsets))+1)
		copy(offsets, b.offsets)
		b.offsets = offsets
		b.growTo(b.n-1, len(offsets)-1)
	}
	b.offsets[b.n] = int32(len(b.data))
}

func (b *StringBuilder) growData(by int) {
	if len(b.data)+by > 1<<31-1 {
		panic("weir: the texts of one batch take more than 2 GiB")
	}
	data := make([]byte, len(b.data), max(2*cap(b.data), len(b.data)+by, 1024))
	copy(data, b.data)
	b.data, b.ownData = data, true
}

// Close hands the column over.
func (b *StringBuilder) Close() {
	if b.ownData {
		b.out.raw.Data, b.out.raw.DataCap = address(b.data), uint32(cap(b.data))
		keep(b.data)
	}
	b.out.raw.DataLen = uint32(len(b.data))
	if b.own {
		b.out.raw.Offsets = address(b.offsets)
		keep(b.offsets)
	}
	b.close(b.out, b.n, len(b.offsets)-1)
}
