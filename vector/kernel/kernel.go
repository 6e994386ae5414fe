// Package kernel has the typed loops that compute over whole columns.
//
// An operand has n rows, or one row when it is a constant; two constants are for
// the caller to fold. Results are new columns of n rows from the pool, without a
// validity bitmap: kernels ignore NULLs, compute arbitrary values in their place,
// and leave it to the caller to combine bitmaps. A row that cannot be computed is
// added to a Misfits; the caller drops those that are NULL.
package kernel

import (
	"fmt"
	"unsafe"

	"github.com/weirdb/weir/vector"
)

// Int lists the integer value types.
type Int interface{ int8 | int16 | int32 | int64 }

// Float lists the approximate value types.
type Float interface{ float32 | float64 }

// Number lists the types on which Go's own arithmetic works.
type Number interface{ Int | Float }

// Misfits collects the rows that a kernel could not compute, in ascending order:
// overflows, divisions by zero, texts that are no number. It may be reused.
type Misfits struct{ Rows []int32 }

// Reset forgets all rows.
func (m *Misfits) Reset() { m.Rows = m.Rows[:0] }

// First is the first row that is set in valid (nil: any), or false.
func (m *Misfits) First(valid vector.Bitmap) (int, bool) {
	for _, r := range m.Rows {
		if valid == nil || valid.Get(int(r)) {
			return int(r), true
		}
	}
	return 0, false
}

// Spread makes the misfit of a constant, a column of one row, one of all n rows.
func (m *Misfits) Spread(rows, n int) {
	if rows != 1 || len(m.Rows) == 0 {
		return
	}
	m.Reset()
	for i := range n {
		m.add(i)
	}
}

func (m *Misfits) add(row int) { m.Rows = append(m.Rows, int32(row)) }

// Broadcast is a column of n times the only row of v.
func Broadcast(p *vector.Pool, v *vector.Vector, n int) *vector.Vector {
	if v.Kind().Nested() {
		rows := p.New(vector.Int32, n)
		defer rows.Release()
		fill(vector.Values[int32](rows), 0)
		return v.Take(p, vector.Values[int32](rows))
	}
	var out *vector.Vector
	if v.Kind().Variable() {
		b := v.Bytes(0)
		out = p.NewVariable(v.Kind(), n, n*len(b))
		data, off := out.Data(), out.Offsets()
		for i := range n {
			copy(data[i*len(b):], b)
			off[i+1] = int32((i + 1) * len(b))
		}
	} else {
		out = p.New(v.Kind(), n)
		switch v.Kind() {
		case vector.Bool:
			fill(vector.Values[bool](out), vector.Values[bool](v)[0])
		case vector.Int8:
			fill(vector.Values[int8](out), vector.Values[int8](v)[0])
		case vector.Int16:
			fill(vector.Values[int16](out), vector.Values[int16](v)[0])
		case vector.Int32:
			fill(vector.Values[int32](out), vector.Values[int32](v)[0])
		case vector.Int64:
			fill(vector.Values[int64](out), vector.Values[int64](v)[0])
		case vector.Float32:
			fill(vector.Values[float32](out), vector.Values[float32](v)[0])
		case vector.Float64:
			fill(vector.Values[float64](out), vector.Values[float64](v)[0])
		case vector.Decimal:
			fill(vector.Values[vector.Dec](out), vector.Values[vector.Dec](v)[0])
		}
	}
	if v.IsNull(0) {
		out.NewValid(false)
	}
	return out
}

func fill[T any](dst []T, x T) {
	for i := range dst {
		dst[i] = x
	}
}

// octets views booleans as the bytes 0 and 1 that they are.
func octets(b []bool) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

// Combine writes to dst the rows of n in which every one of vs has a value, and
// reports whether any row has a NULL. Constants of one row are left out: the caller
// knows them. dst has room for n bits.
func Combine(dst vector.Bitmap, n int, vs []*vector.Vector) bool {
	any := false
	words := vector.BitmapWords(n)
	dst = dst[:words]
	for _, v := range vs {
		valid := v.Valid()
		if valid == nil || v.Len() != n {
			continue
		}
		if !any {
			copy(dst, valid[:words])
			any = true
			continue
		}
		for i, w := range valid[:words] {
			dst[i] &= w
		}
	}
	return any
}

func unexpected(what string, k vector.Kind) string {
	return fmt.Sprintf("kernel: %s of %v", what, k)
}
