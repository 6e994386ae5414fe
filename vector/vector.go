package vector

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Vector is one column of a batch. It is written by whoever made it, then
// published and read-only. See the package comment for references.
type Vector struct {
	kind    Kind
	n       int
	valid   Bitmap   // nil: no NULL
	fixed   []uint64 // values of a fixed-width kind
	offsets []int32  // n+1 of them, for a variable kind, a List or a Map
	data    []byte

	children []*Vector // of a nested kind; the column holds a reference to each

	pool    *Pool
	refs    atomic.Int32
	owned   [3][]uint64 // buffers that go back to pool: values or offsets, data, validity
	foreign func()      // releases memory that came from elsewhere (an Arrow array)
}

// New returns a column of n rows of a fixed-width kind with arbitrary values and
// no NULLs, to be filled through Values.
func (p *Pool) New(kind Kind, n int) *Vector {
	w := kind.Width()
	if w == 0 {
		panic(fmt.Sprintf("vector: New(%v): not a fixed-width kind", kind))
	}
	v, b := p.vector(n * w)
	v.kind, v.n, v.pool = kind, n, p
	v.refs.Store(1)
	v.fixed = b
	v.owned[0] = b
	return v
}

// NewVariable returns a column of n rows of kind String or Bytes whose values
// take size bytes in all. The caller fills Offsets and Data.
func (p *Pool) NewVariable(kind Kind, n, size int) *Vector {
	if !kind.Variable() {
		panic(fmt.Sprintf("vector: NewVariable(%v): not a kind of variable width", kind))
	}
	v, b := p.vector((n + 1) * 4)
	v.kind, v.n, v.pool = kind, n, p
	v.refs.Store(1)
	v.owned[0] = b
	v.offsets = as[int32](v.owned[0], n+1)
	v.offsets[0] = 0
	v.owned[1] = p.alloc(size)
	v.data = as[byte](v.owned[1], size)
	return v
}

// NewValid gives v a validity bitmap with every bit clear (all NULL) or set, and
// returns it for writing.
func (v *Vector) NewValid(set bool) Bitmap {
	w := BitmapWords(v.n)
	b := v.pool.alloc(w * 8)
	if v.owned[2] != nil {
		v.pool.put(v.owned[2])
	}
	v.owned[2] = b
	v.valid = b
	if v.valid == nil {
		v.valid = Bitmap{}
	}
	clear(v.valid)
	if set {
		v.valid.Fill(v.n)
	}
	return v.valid
}

// DropValid removes the validity bitmap: there is no NULL after all.
func (v *Vector) DropValid() { v.valid = nil }

// Kind is the physical form of the values.
func (v *Vector) Kind() Kind { return v.kind }

// Len is the number of rows.
func (v *Vector) Len() int { return v.n }

// Valid is the validity bitmap, or nil when no row is NULL. Read only.
func (v *Vector) Valid() Bitmap { return v.valid }

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool { return v.valid != nil && !v.valid.Get(i) }

// Nulls counts the NULL rows.
func (v *Vector) Nulls() int {
	if v.valid == nil {
		return 0
	}
	return v.n - v.valid.Count(v.n)
}

// Values is the slice of all values of a fixed-width column; those of NULL rows
// are arbitrary. It panics when the column holds another type.
func Values[T Fixed](v *Vector) []T {
	if k := KindOf[T](); k != v.kind {
		panic(fmt.Sprintf("vector: values of %v asked from a column of %v", k, v.kind))
	}
	return as[T](v.fixed, v.n)
}

// Offsets are the n+1 offsets into Data of a variable column, or into the children
// of a List or a Map.
func (v *Vector) Offsets() []int32 { return v.offsets }

// Data holds the bytes of a variable column.
func (v *Vector) Data() []byte { return v.data }

// Bytes is the value of row i of a variable column, in place.
func (v *Vector) Bytes(i int) []byte { return v.data[v.offsets[i]:v.offsets[i+1]] }

// Text is the value of row i of a variable column, in place: it is valid only
// as long as the caller holds v.
func (v *Vector) Text(i int) string {
	b := v.data[v.offsets[i]:v.offsets[i+1]]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Size is the number of bytes that the column's values take.
func (v *Vector) Size() int {
	size := v.n*v.kind.Width() + len(v.offsets)*4 + len(v.data) + len(v.valid)*8
	for _, c := range v.children {
		size += c.Size()
	}
	return size
}

// Retain adds a reference and returns v.
func (v *Vector) Retain() *Vector {
	v.refs.Add(1)
	return v
}

// Release drops a reference; with the last one the buffers go back to their pool.
func (v *Vector) Release() {
	switch r := v.refs.Add(-1); {
	case r > 0:
		return
	case r < 0:
		panic("vector: released more often than retained")
	}
	for i, b := range v.owned {
		if b != nil {
			v.pool.put(b)
			v.owned[i] = nil
		}
	}
	for _, c := range v.children {
		c.Release()
	}
	v.fixed, v.offsets, v.data, v.valid, v.children = nil, nil, nil, nil, nil
	if v.foreign != nil {
		v.foreign()
		v.foreign = nil
	}
}

// Of returns a column that holds a copy of vals, with no NULLs: for tests and
// constants.
func Of[T Fixed](p *Pool, vals ...T) *Vector {
	v := p.New(KindOf[T](), len(vals))
	copy(Values[T](v), vals)
	return v
}

// OfStrings returns a String column with the given values.
func OfStrings(p *Pool, vals ...string) *Vector {
	size := 0
	for _, s := range vals {
		size += len(s)
	}
	v := p.NewVariable(String, len(vals), size)
	at := 0
	for i, s := range vals {
		at += copy(v.data[at:], s)
		v.offsets[i+1] = int32(at)
	}
	return v
}
