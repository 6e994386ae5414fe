package weir

// Column is an argument of a fixed-width type, for functions over slices that want
// to see NULLs or to be sent constants: Column[int64] is a BIGINT.
type Column[T any] struct {
	values []T
	valid  Bitmap
	rows   int
	mask   int // of row numbers: 0 when one value stands for all rows
}

// NewColumn returns a column of the given values, NULL in the given rows: for
// tests.
func NewColumn[T any](values []T, null ...int) Column[T] {
	c := Column[T]{values: values, rows: len(values), mask: -1}
	if len(null) > 0 {
		c.valid = NewBitmap(len(values), null...)
	}
	return c
}

// ColumnOf views a column.
func ColumnOf[T any](v *Vector) Column[T] {
	_, mask := v.stored()
	return Column[T]{Values[T](v), v.valid(), v.Len(), mask}
}

// Len is the number of rows.
func (c *Column[T]) Len() int { return c.rows }

// At is the value of row i; any value when it is NULL.
func (c *Column[T]) At(i int) T { return c.values[i&c.mask] }

// IsNull reports whether row i is NULL.
func (c *Column[T]) IsNull(i int) bool { return c.valid != nil && !c.valid.Get(i&c.mask) }

// Get is row i, NULL or not.
func (c *Column[T]) Get(i int) Null[T] {
	if c.IsNull(i) {
		return Null[T]{}
	}
	return Null[T]{c.values[i&c.mask], true}
}

// Values are all values, those of NULL rows arbitrary; one value when the column is
// constant.
func (c *Column[T]) Values() []T { return c.values }

// Constant reports whether one value stands for all rows.
func (c *Column[T]) Constant() bool { return c.mask == 0 }

// HasNulls reports whether there is a NULL.
func (c *Column[T]) HasNulls() bool { return c.valid != nil }

// AnyNull reports whether one of rows from to to-1 is NULL.
func (c *Column[T]) AnyNull(from, to int) bool { return c.valid.anyNull(from, to) }

// Strings is an argument of type STRING, CHAR, VARCHAR, or of a binary type.
type Strings struct {
	offsets []int32
	data    []byte
	valid   Bitmap
	rows    int
	mask    int
}

// NewStrings returns a column of the given values: for tests.
func NewStrings(values ...string) Strings {
	s := Strings{offsets: make([]int32, 1, len(values)+1), rows: len(values), mask: -1}
	for _, v := range values {
		s.data = append(s.data, v...)
		s.offsets = append(s.offsets, int32(len(s.data)))
	}
	return s
}

// WithNulls is the same column, NULL in the given rows: for tests.
func (s Strings) WithNulls(null ...int) Strings {
	s.valid = NewBitmap(s.rows, null...)
	return s
}

// StringsOf views a column.
func StringsOf(v *Vector) Strings {
	n, mask := v.stored()
	s := Strings{offsets: slice[int32](v.raw.Offsets, n+1), valid: v.valid(), rows: v.Len(), mask: mask}
	if n > 0 {
		s.data = slice[byte](v.raw.Data, int(s.offsets[n]))
	}
	return s
}

// Len is the number of rows.
func (s *Strings) Len() int { return s.rows }

// Bytes is the value of row i in place: read only, good until the function returns.
func (s *Strings) Bytes(i int) []byte {
	i &= s.mask
	from, to := s.offsets[i], s.offsets[i+1]
	return s.data[from:to:to]
}

// At is the value of row i in place: a copy is needed for what outlives the call.
func (s *Strings) At(i int) string { return text(s.Bytes(i)) }

// IsNull reports whether row i is NULL.
func (s *Strings) IsNull(i int) bool { return s.valid != nil && !s.valid.Get(i&s.mask) }

// Constant reports whether one value stands for all rows.
func (s *Strings) Constant() bool { return s.mask == 0 }

// HasNulls reports whether there is a NULL.
func (s *Strings) HasNulls() bool { return s.valid != nil }

// Data are the bytes of all rows one after the other, and Offsets where they begin.
func (s *Strings) Data() []byte { return s.data }

// Offsets are one more than there are rows: row i is Data()[Offsets()[i]:Offsets()[i+1]].
func (s *Strings) Offsets() []int32 { return s.offsets }

// Bools is an argument of type BOOLEAN.
type Bools struct {
	bits  Bitmap
	valid Bitmap
	rows  int
	mask  int
}

// NewBools returns a column of the given values: for tests.
func NewBools(values ...bool) Bools {
	b := Bools{bits: make(Bitmap, (len(values)+7)/8), rows: len(values), mask: -1}
	for i, v := range values {
		if v {
			b.bits[i>>3] |= 1 << (i & 7)
		}
	}
	return b
}

// BoolsOf views a column.
func BoolsOf(v *Vector) Bools {
	n, mask := v.stored()
	return Bools{slice[byte](v.raw.Data, (n+7)/8), v.valid(), v.Len(), mask}
}

// Len is the number of rows.
func (b *Bools) Len() int { return b.rows }

// At is the value of row i.
func (b *Bools) At(i int) bool { return b.bits.Get(i & b.mask) }

// IsNull reports whether row i is NULL.
func (b *Bools) IsNull(i int) bool { return b.valid != nil && !b.valid.Get(i&b.mask) }

// Lists is an argument of type ARRAY, MAP or MULTISET, without its children.
type Lists struct {
	offsets []int32
	valid   Bitmap
	mask    int
}

// ListsOf views a column.
func ListsOf(v *Vector) Lists {
	n, mask := v.stored()
	return Lists{slice[int32](v.raw.Offsets, n+1), v.valid(), mask}
}

// Range are the positions of row i's elements in the children: from, .. to-1.
func (l *Lists) Range(i int) (from, to int) {
	i &= l.mask
	return int(l.offsets[i]), int(l.offsets[i+1])
}

// IsNull reports whether row i is NULL.
func (l *Lists) IsNull(i int) bool { return l.valid != nil && !l.valid.Get(i&l.mask) }

// Structs is an argument of type ROW, without its children.
type Structs struct {
	valid Bitmap
	mask  int
}

// StructsOf views a column.
func StructsOf(v *Vector) Structs {
	_, mask := v.stored()
	return Structs{v.valid(), mask}
}

// IsNull reports whether row i is NULL.
func (s *Structs) IsNull(i int) bool { return s.valid != nil && !s.valid.Get(i&s.mask) }
