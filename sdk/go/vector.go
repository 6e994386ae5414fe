package weir

import (
	"unsafe"

	"github.com/weirdb/weir/abi"
)

// Vector is a column as the host laid it out: an argument, a result, or a child of
// a nested one. Generated code makes typed views and builders of it.
type Vector struct{ raw abi.Column }

// Child is the column of an ARRAY's elements (0), a MAP's keys (0) or values (1),
// or of field i of a ROW.
func (v *Vector) Child(i int) *Vector {
	return (*Vector)(unsafe.Add(at(v.raw.Children), i*abi.ColumnBytes))
}

// Len is the number of rows.
func (v *Vector) Len() int { return int(v.raw.Length) }

// HasNulls reports whether a row is NULL.
func (v *Vector) HasNulls() bool { return v.raw.NullCount != 0 }

// stored is how many rows the buffers hold, and the mask of a row number in them:
// one row, and 0, when it stands for all.
func (v *Vector) stored() (n, mask int) {
	if v.raw.Flags&abi.ColumnConstant != 0 {
		return 1, 0
	}
	return int(v.raw.Length), -1
}

// valid is the bitmap of an argument, or nil when no row is NULL.
func (v *Vector) valid() Bitmap {
	if v.raw.NullCount == 0 {
		return nil
	}
	n, _ := v.stored()
	return slice[byte](v.raw.Validity, (n+7)/8)
}

// Values are the values of a fixed-width argument without NULLs or whose NULLs do
// not matter: those of NULL rows are arbitrary.
func Values[T any](v *Vector) []T {
	n, _ := v.stored()
	return slice[T](v.raw.Data, n)
}

// Bitmap holds a bit per row, the first row in the lowest bit of the first byte: a
// set bit is a value, a clear bit a NULL. A nil Bitmap has no NULL.
type Bitmap []byte

// Get reports bit i.
func (b Bitmap) Get(i int) bool { return b[i>>3]>>(i&7)&1 != 0 }

// NewBitmap returns a bitmap of n rows, all set but the given ones.
func NewBitmap(n int, null ...int) Bitmap {
	b := make(Bitmap, (n+7)/8)
	for i := range b {
		b[i] = 0xff
	}
	for _, i := range null {
		b[i>>3] &^= 1 << (i & 7)
	}
	return b
}

// anyNull reports whether a bit from, .. to-1 is clear.
func (b Bitmap) anyNull(from, to int) bool {
	if b == nil {
		return false
	}
	for i := from; i < to; i++ {
		if !b.Get(i) {
			return true
		}
	}
	return false
}
