package vector

import "unsafe"

// Take gathers the rows at the given positions into a new column of p.
func (v *Vector) Take(p *Pool, rows []int32) *Vector {
	out := v.takeValues(p, rows)
	if v.valid != nil {
		valid := out.NewValid(false)
		for i, r := range rows {
			valid[i>>6] |= (v.valid[r>>6] >> (uint(r) & 63) & 1) << (uint(i) & 63)
		}
	}
	return out
}

func (v *Vector) takeValues(p *Pool, rows []int32) *Vector {
	switch {
	case v.kind.Variable():
		return v.takeBytes(p, rows)
	case v.kind.Nested():
		return v.takeNested(p, rows)
	}
	out := p.New(v.kind, len(rows))
	switch v.kind.Width() {
	case 1:
		gather(as[uint8](out.fixed, out.n), as[uint8](v.fixed, v.n), rows)
	case 2:
		gather(as[uint16](out.fixed, out.n), as[uint16](v.fixed, v.n), rows)
	case 4:
		gather(as[uint32](out.fixed, out.n), as[uint32](v.fixed, v.n), rows)
	case 8:
		gather(as[uint64](out.fixed, out.n), as[uint64](v.fixed, v.n), rows)
	case 16:
		gather(as[Dec](out.fixed, out.n), as[Dec](v.fixed, v.n), rows)
	}
	return out
}

func gather[T any](dst, src []T, rows []int32) {
	dst = dst[:len(rows)]
	for i, r := range rows {
		dst[i] = src[r]
	}
}

// copyText is copy for texts, which are often short: then a loop is sooner done than
// a call.
func copyText(dst, src []byte) int {
	if len(src) > 8 {
		return copy(dst, src)
	}
	dst = dst[:len(src)]
	for i := range dst {
		dst[i] = src[i]
	}
	return len(src)
}

func (v *Vector) takeBytes(p *Pool, rows []int32) *Vector {
	size := 0
	for _, r := range rows {
		size += int(v.offsets[r+1] - v.offsets[r])
	}
	out := p.NewVariable(v.kind, len(rows), size)
	at, off := 0, out.offsets
	for i, r := range rows {
		at += copyText(out.data[at:], v.data[v.offsets[r]:v.offsets[r+1]])
		off[i+1] = int32(at)
	}
	return out
}

// Slice copies rows [from, to) into a new column of p.
func (v *Vector) Slice(p *Pool, from, to int) *Vector {
	n := to - from
	var out *Vector
	switch {
	case v.kind.Nested():
		out = v.sliceNested(p, from, to)
	case v.kind.Variable():
		a, b := v.offsets[from], v.offsets[to]
		out = p.NewVariable(v.kind, n, int(b-a))
		copy(out.data, v.data[a:b])
		for i := range out.offsets {
			out.offsets[i] = v.offsets[from+i] - a
		}
	default:
		out = p.New(v.kind, n)
		w := v.kind.Width()
		copy(as[byte](out.fixed, n*w), unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v.fixed))), v.n*w)[from*w:to*w])
	}
	if v.valid != nil {
		valid := out.NewValid(false)
		for i := range n {
			if v.valid.Get(from + i) {
				valid.Set(i)
			}
		}
	}
	return out
}
