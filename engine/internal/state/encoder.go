package state

import (
	"encoding/binary"
	"math/bits"

	"github.com/weirdb/weir/vector/rowkey"
)

// encoder makes records of blocks, field by field for all entries of a block.
type encoder struct {
	rest  []byte // of the block
	size  []int  // of the value
	keys  []int  // sizes of the keys
	pos   []int  // where the next bytes of a record go
	parts []fieldPart
}

// fieldPart is a field's part of a block.
type fieldPart struct {
	form
	values  []byte
	lengths []uint32 // textForm
}

// encode makes records of the blocks. They follow those that are there, as what was
// copied follows what was deleted before the copy.
func (t *tablePart) encode() {
	var e encoder
	for i := range t.blocks {
		b := &t.blocks[i]
		e.block(t, b)
		if i+1 == len(t.blocks) || t.blocks[i+1].chunk != b.chunk {
			t.spare.put(t.raw[b.chunk])
		}
	}
	t.blocks, t.raw = nil, nil
}

// take takes n bytes, aligned as they were gathered.
func (e *encoder) take(n int) []byte {
	b := e.rest[:n:n]
	e.rest = e.rest[min(aligned(n), len(e.rest)):]
	return b
}

func (e *encoder) block(t *tablePart, b *rawBlock) {
	s, n := b.schema, b.n
	e.rest = t.raw[b.chunk][b.from:b.to]
	e.size, e.keys, e.pos = resize(e.size, n), resize(e.keys, n), resize(e.pos, n)
	suffix := s.class.suffix()

	// The keys.
	var words []uint64
	var masks, groups []byte
	var key fieldPart
	around := len(s.head) + suffix
	if s.packed {
		words = rawValues[uint64](e.take(8 * n))
		if b.masked {
			masks = e.take(n)
		}
		for _, k := range s.layout.Kinds {
			around += 1 + k.Width()
		}
		for i := range e.keys {
			e.keys[i] = around
		}
	} else {
		groups = e.take(n)
		key = e.field(form{kind: textForm}, n)
		for i, l := range key.lengths {
			e.keys[i] = around + int(l)
		}
	}
	var contents []uint64
	var ordinals []byte
	var numbers []uint32
	switch s.class {
	case indexed:
		contents, ordinals = rawValues[uint64](e.take(8*n)), e.take(n)
	case appended:
		numbers = rawValues[uint32](e.take(4 * n))
	}

	// How long the values are.
	e.parts = e.parts[:0]
	fixed := 0
	for _, f := range s.forms {
		e.parts = append(e.parts, e.field(f, n))
		fixed += f.width
	}
	for i := range e.size {
		e.size[i] = fixed
	}
	for _, f := range e.parts {
		f.sizes(e.size)
	}

	// The records.
	total := n * recordStart
	for i, k := range e.keys {
		total += k + e.size[i]
	}
	t.room(total)
	last := len(t.chunks) - 1
	from := len(t.chunks[last])
	buf := t.chunks[last][:from+total]
	t.chunks[last] = buf
	for i, key := range e.keys {
		start(buf[from:], key, e.size[i])
		from += recordStart
		copy(buf[from:], s.head)
		e.pos[i] = from + len(s.head)
		from += key + e.size[i]
	}
	back := len(s.head) - (keyHead - 1) // from behind the head to the group
	if s.packed {
		for i, w := range words {
			mask := uint8(0)
			if masks != nil {
				mask = masks[i]
			}
			buf[e.pos[i]-back] = groupOf(s.layout.HashPacked(w, mask))
		}
		rowkey.PutPacked(buf, e.pos, s.layout, words, masks)
	} else {
		for i, g := range groups {
			buf[e.pos[i]-back] = g
		}
		key.putBytes(buf, e.pos)
	}
	for i, c := range contents {
		binary.BigEndian.PutUint64(buf[e.pos[i]:], c)
		buf[e.pos[i]+8] = ordinals[i]
		e.pos[i] += suffix
	}
	for i, c := range numbers {
		binary.BigEndian.PutUint32(buf[e.pos[i]:], c)
		e.pos[i] += suffix
	}
	for _, f := range e.parts {
		f.put(buf, e.pos)
	}
}

// field takes a field's part of the block.
func (e *encoder) field(f form, n int) fieldPart {
	p := fieldPart{form: f}
	switch f.kind {
	case fixedForm:
		p.values = e.take(n * f.width)
	case varintForm:
		p.values = e.take(n * 8)
	case textForm:
		p.lengths = rawValues[uint32](e.take(n * 4))
		total := 0
		for _, l := range p.lengths {
			total += int(l)
		}
		p.values = e.take(total)
	}
	return p
}

// sizes adds the sizes of values, but for those of fixedForm.
func (p *fieldPart) sizes(out []int) {
	switch p.kind {
	case varintForm:
		for i, v := range rawValues[int64](p.values) {
			out[i] += uvarintSize(zigzag(v))
		}
	case textForm:
		for i, l := range p.lengths {
			out[i] += int(l) + uvarintSize(uint64(l))
		}
	}
}

// put writes values to dst, each at its pos, which moves on.
func (p *fieldPart) put(dst []byte, pos []int) {
	switch p.kind {
	case fixedForm:
		p.putFixed(dst, pos)
	case varintForm:
		for i, v := range rawValues[int64](p.values) {
			pos[i] += binary.PutUvarint(dst[pos[i]:], zigzag(v))
		}
	case textForm:
		for i, l := range p.lengths {
			pos[i] += binary.PutUvarint(dst[pos[i]:], uint64(l))
		}
		p.putBytes(dst, pos)
	}
}

func (p *fieldPart) putFixed(dst []byte, pos []int) {
	switch w := p.width; w {
	case 0:
	case 1:
		for i, v := range p.values {
			dst[pos[i]] = v
			pos[i]++
		}
	case 8:
		for i, v := range rawValues[uint64](p.values) {
			binary.NativeEndian.PutUint64(dst[pos[i]:], v)
			pos[i] += 8
		}
	default:
		for i := range pos {
			pos[i] += copy(dst[pos[i]:], p.values[i*w:(i+1)*w])
		}
	}
}

// putBytes writes texts, without their lengths.
func (p *fieldPart) putBytes(dst []byte, pos []int) {
	rest := p.values
	for i, l := range p.lengths {
		pos[i] += copy(dst[pos[i]:], rest[:l])
		rest = rest[l:]
	}
}

func zigzag(x int64) uint64 { return uint64(x<<1) ^ uint64(x>>63) }

func uvarintSize(x uint64) int { return (bits.Len64(x|1) + 6) / 7 }
