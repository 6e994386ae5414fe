package rowkey

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/weirdb/weir/vector"
)

// The canonical encoding of a key is that of its columns one after the other. A
// column begins with a tag that orders NULL against values. A fixed-width value
// follows as big-endian bytes with the sign flipped so that they sort (a NULL as
// zeros, so that every key of such a layout has one length). A text follows with
// each zero byte written 00 FF, and then 00 01; a NULL text is its tag alone, as is a
// NULL of a nested kind. A list is each element after a byte that says there is one
// more, then the byte that ends it; a map is a list of its entries, key and value; a
// struct its fields. Inside of these every NULL is its tag alone, first in order.
// The bytes of a descending value are inverted.
const (
	tagNullFirst = 0
	tagValue     = 1
	tagNullLast  = 2

	escape     = 0x00
	escapedNul = 0xFF
	endText    = 0x01
)

// orderWord maps a canonical word of kind k to one that sorts as the value does.
func orderWord(k vector.Kind, w uint64, desc bool) uint64 {
	mask, sign := uint64(math.MaxUint64), uint64(0)
	if width := k.Width(); width < 8 {
		mask = 1<<(width*8) - 1
	}
	if k != vector.Bool {
		sign = mask>>1 + 1
	}
	if (k == vector.Float32 || k == vector.Float64) && w&sign != 0 {
		w ^= mask
	} else {
		w ^= sign
	}
	if desc {
		w ^= mask
	}
	return w
}

// orderWords is orderWord for a column.
func orderWords(words []uint64, k vector.Kind, desc bool) {
	mask, sign := uint64(math.MaxUint64), uint64(0)
	if width := k.Width(); width < 8 {
		mask = 1<<(width*8) - 1
	}
	flip := uint64(0)
	if desc {
		flip = mask
	}
	switch k {
	case vector.Bool:
	case vector.Float32, vector.Float64:
		sign = mask>>1 + 1
		for i, w := range words {
			if w&sign != 0 {
				w ^= mask
			} else {
				w ^= sign
			}
			words[i] = w ^ flip
		}
		return
	default:
		sign = mask>>1 + 1
	}
	flip ^= sign
	for i := range words {
		words[i] ^= flip
	}
}

// encodeBytes writes the canonical encodings of a layout that is not packed.
func (e *Encoder) encodeBytes(b *vector.Batch, cols []int) {
	k := &e.keys
	sel, _ := b.Sel()
	k.null = resize(k.null, k.n)
	clear(k.null)
	for _, c := range cols {
		if v := b.Col(c); v.Valid() != nil {
			markNulls(k.null, v, sel, &k.anyNil)
		}
	}
	k.off = resize(k.off, k.n+1)
	if len(cols) == 1 && e.layout.Kinds[0].Variable() && !e.layout.desc(0) && sel == nil && k.n > 0 && e.encodeText(b.Col(cols[0])) {
		k.encoded = true
		return
	}
	e.pos = resize(e.pos, k.n)
	e.place(b, cols, sel)
	copy(e.pos, k.off)
	for i, c := range cols {
		v, kind, desc := b.Col(c), e.layout.Kinds[i], e.layout.desc(i)
		switch {
		case k.n == 0:
		case kind.Variable():
			putTexts(k.data, e.pos, v, sel, e.layout.tag(i, true), desc)
			continue
		case kind.Nested():
			e.nested[i].put(k.data, e.pos, e.layout.tag(i, true), desc)
			continue
		case kind == vector.Decimal:
			e.high = resize(e.high, k.n)
			decimalWords(e.word, e.high, vector.Values[vector.Dec](v), sel)
			orderDecimals(e.word, e.high, desc)
			setNulls(e.high, v, sel, 0)
			setNulls(e.word, v, sel, 0)
			putDecimals(k.data, e.pos, e.word, e.high)
		default:
			words(e.word, v, sel)
			orderWords(e.word, kind, desc)
			setNulls(e.word, v, sel, 0)
			putWords(k.data, e.pos, e.word, kind.Width())
		}
		if valid := v.Valid(); valid != nil {
			tag, back := e.layout.tag(i, true), kind.Width()+1
			for j, p := range e.pos {
				r := j
				if sel != nil {
					r = int(sel[j])
				}
				if !valid.Get(r) {
					k.data[p-back] = tag
				}
			}
		}
	}
	k.encoded = true
}

// encodeText writes the encodings of one text column in one go, as long as it has
// neither NULLs nor bytes to be escaped; else it reports false.
func (e *Encoder) encodeText(v *vector.Vector) bool {
	k := &e.keys
	from, data := v.Offsets(), v.Data()
	text := data[from[0]:from[k.n]]
	if v.Valid() != nil || bytes.IndexByte(text, escape) >= 0 {
		return false
	}
	k.data = resize(k.data, len(text)+3*k.n)
	from, off, at := from[:k.n+1], k.off[:k.n+1], 0
	for i := range k.n {
		off[i] = at
		t := data[from[i]:from[i+1]]
		d := k.data[at : at+len(t)+3]
		d[0] = tagValue
		putText(d[1:], t)
		d[len(d)-2], d[len(d)-1] = escape, endText
		at += len(d)
	}
	off[k.n] = at
	return true
}

func markNulls(null []bool, v *vector.Vector, sel []int32, some *bool) {
	valid := v.Valid()
	for i := range null {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if !valid.Get(r) {
			null[i], *some = true, true
		}
	}
}

// place computes where each key's encoding begins and makes room for all.
func (e *Encoder) place(b *vector.Batch, cols []int, sel []int32) {
	k := &e.keys
	if size, fixed := e.layout.fixed(); fixed {
		for i := range k.off {
			k.off[i] = i * size
		}
		k.data = resize(k.data, k.n*size)
		return
	}
	size := 0
	for _, kind := range e.layout.Kinds {
		if kind.Variable() {
			size += 3
		} else {
			size += 1 + kind.Width() // a nested column adds its lengths below
		}
	}
	lens := k.off[1:]
	for i := range lens {
		lens[i] = size
	}
	for i, c := range cols {
		switch kind := e.layout.Kinds[i]; {
		case k.n == 0:
		case kind.Variable():
			addTextLens(lens, b.Col(c), sel)
		case kind.Nested():
			e.nested[i].addLens(lens)
		}
	}
	k.off[0] = 0
	for i := range lens {
		lens[i] += k.off[i]
	}
	k.data = resize(k.data, k.off[k.n])
}

func addTextLens(lens []int, v *vector.Vector, sel []int32) {
	off, data, valid := v.Offsets(), v.Data(), v.Valid()
	nuls := bytes.IndexByte(data, 0) >= 0
	for i := range lens {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if valid != nil && !valid.Get(r) {
			lens[i] -= 2 // the tag alone
			continue
		}
		lens[i] += int(off[r+1] - off[r])
		if nuls {
			lens[i] += bytes.Count(data[off[r]:off[r+1]], []byte{0})
		}
	}
}

func putTexts(dst []byte, pos []int, v *vector.Vector, sel []int32, nullTag byte, desc bool) {
	off, data, valid := v.Offsets(), v.Data(), v.Valid()
	nuls := bytes.IndexByte(data, 0) >= 0
	for i, p := range pos {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if valid != nil && !valid.Get(r) {
			dst[p] = nullTag
			pos[i] = p + 1
			continue
		}
		text := data[off[r]:off[r+1]]
		dst[p] = tagValue
		start := p + 1
		p = start
		if nuls {
			for _, c := range text {
				dst[p] = c
				p++
				if c == escape {
					dst[p] = escapedNul
					p++
				}
			}
		} else {
			putText(dst[p:], text)
			p += len(text)
		}
		dst[p], dst[p+1] = escape, endText
		p += 2
		if desc {
			invert(dst[start:p])
		}
		pos[i] = p
	}
}

// putText is copy for texts, which are often short: then a loop is sooner done than a
// call.
func putText(dst, text []byte) {
	if len(text) > 8 {
		copy(dst, text)
		return
	}
	dst = dst[:len(text)]
	for i := range dst {
		dst[i] = text[i]
	}
}

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

func putWords(dst []byte, pos []int, words []uint64, width int) {
	words = words[:len(pos)]
	switch width {
	case 1:
		for i, p := range pos {
			d := dst[p : p+2 : p+2]
			d[0], d[1] = tagValue, byte(words[i])
			pos[i] = p + 2
		}
	case 2:
		for i, p := range pos {
			d := dst[p : p+3 : p+3]
			d[0] = tagValue
			binary.BigEndian.PutUint16(d[1:], uint16(words[i]))
			pos[i] = p + 3
		}
	case 4:
		for i, p := range pos {
			d := dst[p : p+5 : p+5]
			d[0] = tagValue
			binary.BigEndian.PutUint32(d[1:], uint32(words[i]))
			pos[i] = p + 5
		}
	case 8:
		for i, p := range pos {
			d := dst[p : p+9 : p+9]
			d[0] = tagValue
			binary.BigEndian.PutUint64(d[1:], words[i])
			pos[i] = p + 9
		}
	}
}

func orderDecimals(low, high []uint64, desc bool) {
	flip := uint64(0)
	if desc {
		flip = math.MaxUint64
	}
	high = high[:len(low)]
	for i := range low {
		low[i] ^= flip
		high[i] ^= flip ^ 1<<63
	}
}

func putDecimals(dst []byte, pos []int, low, high []uint64) {
	low, high = low[:len(pos)], high[:len(pos)]
	for i, p := range pos {
		d := dst[p : p+17 : p+17]
		d[0] = tagValue
		binary.BigEndian.PutUint64(d[1:], high[i])
		binary.BigEndian.PutUint64(d[9:], low[i])
		pos[i] = p + 17
	}
}

// encodePacked writes the canonical encodings of packed keys from their words.
func (k *Keys) encodePacked() {
	size, _ := k.layout.fixed()
	k.off = resize(k.off, k.n+1)
	for i := range k.off {
		k.off[i] = i * size
	}
	k.data = resize(k.data, k.n*size)
	for i := range k.n {
		var m uint8
		if k.nulls != nil {
			m = k.nulls[i]
		}
		AppendPacked(k.data[k.off[i]:k.off[i]], k.layout, k.words[i], m)
	}
	k.encoded = true
}

// AppendPacked appends the canonical encoding of a packed key, given as its word
// and mask: what Keys.Bytes has for it.
func AppendPacked(dst []byte, l Layout, word uint64, nulls uint8) []byte {
	for c, kind := range l.Kinds {
		bits := kind.Width() * 8
		w := word & (math.MaxUint64 >> (64 - bits))
		word >>= bits & 63
		null := nulls>>c&1 != 0
		if null {
			w = 0
		} else {
			w = orderWord(kind, w, l.desc(c))
		}
		dst = append(dst, l.tag(c, null))
		switch bits {
		case 8:
			dst = append(dst, byte(w))
		case 16:
			dst = binary.BigEndian.AppendUint16(dst, uint16(w))
		case 32:
			dst = binary.BigEndian.AppendUint32(dst, uint32(w))
		default:
			dst = binary.BigEndian.AppendUint64(dst, w)
		}
	}
	return dst
}
