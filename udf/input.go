package udf

import (
	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/vector"
)

// span is the rows of a vector that a call takes: those at sel, or [from, to).
type span struct {
	from, to int
	sel      []int32 // nil: all of [from, to)
}

func (s span) len() int {
	if s.sel != nil {
		return len(s.sel)
	}
	return s.to - s.from
}

// measure notes what rows s of v take and returns the bytes of their buffers. Nested
// columns have no selection: they were gathered before.
func (c *column) measure(v *vector.Vector, s span) int {
	c.rows, c.nulls, c.bytes = s.len(), nullsIn(v, s), 0
	size := 0
	if c.nulls > 0 {
		size = pad(bitmapBytes(c.rows))
	}
	switch c.form {
	case formFixed, formTime:
		return size + valueRoom(c.rows*c.width)
	case formBits:
		return size + pad(bitmapBytes(c.rows))
	case formText:
		c.bytes = textBytes(v.Offsets(), s)
		return size + pad((c.rows+1)*4) + valueRoom(c.bytes)
	case formList:
		size += pad((c.rows + 1) * 4)
		s = span{from: int(v.Offsets()[s.from]), to: int(v.Offsets()[s.to])}
	}
	for k := range c.children {
		size += c.children[k].measure(v.Child(k), s)
	}
	return size
}

func nullsIn(v *vector.Vector, s span) int {
	valid := v.Valid()
	if valid == nil {
		return 0
	}
	n := 0
	if s.sel != nil {
		for _, r := range s.sel {
			n += int(^valid[r>>6] >> (uint(r) & 63) & 1)
		}
		return n
	}
	if s.from == 0 {
		return s.to - valid.Count(s.to)
	}
	for r := s.from; r < s.to; r++ {
		n += int(^valid[r>>6] >> (uint(r) & 63) & 1)
	}
	return n
}

func textBytes(offsets []int32, s span) int {
	if s.sel == nil {
		return int(offsets[s.to] - offsets[s.from])
	}
	n := 0
	for _, r := range s.sel {
		n += int(offsets[r+1] - offsets[r])
	}
	return n
}

// put writes what was measured, and the column that describes it. Length is the number of
// rows that the buffers stand for: more than they hold when the column is constant.
func (c *column) put(a *arena, v *vector.Vector, s span, length int) {
	d := abi.Column{Type: c.word, Length: uint32(length), NullCount: uint32(c.nulls)}
	if length != c.rows {
		d.Flags = abi.ColumnConstant
		if c.nulls > 0 {
			d.NullCount = uint32(length)
		}
	}
	if c.nulls > 0 {
		buf, at := a.cut(bitmapBytes(c.rows))
		putBits(view[uint64](buf, vector.BitmapWords(c.rows)), v.Valid(), s)
		d.Validity = at
	}
	kids := s
	switch c.form {
	case formFixed:
		buf, at := a.cutValues(c.rows * c.width)
		putFixed(buf, v, c.width, &s)
		d.Data, d.DataLen = at, uint32(c.rows*c.width)
	case formTime:
		buf, at := a.cutValues(c.rows * 4)
		putTime(view[int32](buf, c.rows), vector.Values[int64](v), s)
		d.Data, d.DataLen = at, uint32(c.rows*4)
	case formBits:
		buf, at := a.cut(bitmapBytes(c.rows))
		putBools(buf, vector.Values[bool](v), s)
		d.Data, d.DataLen = at, uint32(c.rows+7)/8
	case formText:
		offsets, at := a.cut((c.rows + 1) * 4)
		data, dataAt := a.cutValues(c.bytes)
		putText(view[int32](offsets, c.rows+1), data, v, s)
		d.Offsets, d.Data, d.DataLen = at, dataAt, uint32(c.bytes)
	case formList:
		offsets, at := a.cut((c.rows + 1) * 4)
		src := v.Offsets()[s.from : s.to+1]
		putOffsets(view[int32](offsets, len(src)), src)
		d.Offsets = at
		kids = span{from: int(src[0]), to: int(src[len(src)-1])}
	}
	if len(c.children) > 0 {
		d.Children, d.NChildren = a.address(c.kidsAt), uint32(len(c.children))
		for k := range c.children {
			kid := &c.children[k]
			kid.put(a, v.Child(k), kids, kid.rows)
		}
	}
	*a.column(c.at) = d
}

// putBits copies the bits of the rows, whole words.
func putBits(dst []uint64, src vector.Bitmap, s span) {
	switch {
	case s.sel != nil:
		clear(dst)
		for i, r := range s.sel {
			dst[i>>6] |= (src[r>>6] >> (uint(r) & 63) & 1) << (uint(i) & 63)
		}
	case s.from&63 == 0:
		copy(dst, src[s.from>>6:])
	default:
		shift := uint(s.from) & 63
		src = src[s.from>>6:]
		for i := range dst {
			w := src[i] >> shift
			if i+1 < len(src) {
				w |= src[i+1] << (64 - shift)
			}
			dst[i] = w
		}
	}
}

// putFixed copies values. It gets a pointer since a copy of a span that has just been
// written waits for the writes.
func putFixed(dst []byte, v *vector.Vector, width int, s *span) {
	if s.sel == nil {
		copy(dst, v.FixedBytes()[s.from*width:s.to*width])
		return
	}
	switch v.Kind() {
	case vector.Int8:
		putSelected(dst, vector.Values[int8](v), s.sel)
	case vector.Int16:
		putSelected(dst, vector.Values[int16](v), s.sel)
	case vector.Int32:
		putSelected(dst, vector.Values[int32](v), s.sel)
	case vector.Int64:
		putSelected(dst, vector.Values[int64](v), s.sel)
	case vector.Float32:
		putSelected(dst, vector.Values[float32](v), s.sel)
	case vector.Float64:
		putSelected(dst, vector.Values[float64](v), s.sel)
	case vector.Decimal:
		putSelected(dst, vector.Values[vector.Dec](v), s.sel)
	default:
		panic("udf: no fixed-width kind: " + v.Kind().String())
	}
}

func putSelected[T vector.Fixed](buf []byte, src []T, sel []int32) {
	dst := view[T](buf, len(sel))[:len(sel)]
	for i, r := range sel {
		dst[i] = src[r]
	}
}

func putTime(dst []int32, src []int64, s span) {
	if s.sel == nil {
		src = src[s.from:s.to]
		for i := range dst {
			dst[i] = int32(src[i])
		}
		return
	}
	for i, r := range s.sel {
		dst[i] = int32(src[r])
	}
}

// putBools packs bytes into bits. Those of NULL rows may be any bytes.
func putBools(dst []byte, src []bool, s span) {
	if s.sel != nil {
		clear(dst[:(len(s.sel)+7)/8])
		for i, r := range s.sel {
			if src[r] {
				dst[i>>3] |= 1 << (i & 7)
			}
		}
		return
	}
	raw := view[byte](boolBytes(src[s.from:s.to]), s.to-s.from)
	i := 0
	for ; len(raw) >= 8; raw = raw[8:] {
		w := uint64(raw[0]) | uint64(raw[1])<<8 | uint64(raw[2])<<16 | uint64(raw[3])<<24 |
			uint64(raw[4])<<32 | uint64(raw[5])<<40 | uint64(raw[6])<<48 | uint64(raw[7])<<56
		dst[i] = byte(w & 0x0101010101010101 * 0x0102040810204080 >> 56)
		i++
	}
	if len(raw) > 0 {
		dst[i] = 0
		for k, b := range raw {
			dst[i] |= b & 1 << k
		}
	}
}

func putText(offsets []int32, data []byte, v *vector.Vector, s span) {
	src, from := v.Data(), v.Offsets()
	if s.sel == nil {
		putOffsets(offsets, from[s.from:s.to+1])
		copy(data, src[from[s.from]:from[s.to]])
		return
	}
	offsets[0] = 0
	to, at := offsets[1:][:len(s.sel)], 0
	for i, r := range s.sel {
		text := src[from[r]:from[r+1]]
		if len(text) > 16 {
			at += copy(data[at:], text)
		} else {
			for _, b := range text {
				data[at] = b
				at++
			}
		}
		to[i] = int32(at)
	}
}

// putOffsets writes offsets so that the first is 0.
func putOffsets(dst, src []int32) {
	base := src[0]
	if base == 0 {
		copy(dst, src)
		return
	}
	dst = dst[:len(src)]
	for i, o := range src {
		dst[i] = o - base
	}
}

// liveRows writes which rows have a value in every column.
func liveRows(and []uint64, a *arena, in []column, rows int) {
	vector.Bitmap(and).Fill(rows)
	for k := range in {
		c := &in[k]
		if c.nulls == 0 {
			continue
		}
		if c.rows != rows { // constant, and NULL
			clear(and)
			continue
		}
		at := int(a.column(c.at).Validity - abi.Ptr(a.base))
		for i, w := range view[uint64](a.mem[at:], len(and)) {
			and[i] &= w
		}
	}
}
