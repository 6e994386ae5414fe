package state

import (
	"encoding/binary"
	"math/bits"

	"github.com/weirdb/weir/vector/rowkey"
)

// encoder makes records of blocks, field by field for all entries of a block.
type encoder struct {
	schema *rawSchema
	rest   []byte // of the block

	// The parts of the block; those that it does not have are empty.
	times    []int64
	words    []uint64
	masks    []byte
	groups   []byte
	key      fieldPart
	contents []uint64
	ordinals []byte
	numbers  []uint32
	fields   []fieldPart

	keys, values []int // how long they are
	pos          []int // where the next bytes of a record go
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
	e.schema, e.rest = b.schema, t.raw[b.chunk][b.from:b.to]
	e.keys, e.values, e.pos = resize(e.keys, b.n), resize(e.values, b.n), resize(e.pos, b.n)
	e.split(b)
	e.measure()
	e.write(t)
}

// split finds the parts of a block, in the order in which they were gathered.
func (e *encoder) split(b *rawBlock) {
	s, n := e.schema, b.n
	*e = encoder{schema: s, rest: e.rest, keys: e.keys, values: e.values, pos: e.pos, fields: e.fields[:0]}
	if s.timed {
		e.times = rawValues[int64](e.take(timeBytes * n))
	}
	if s.packed {
		e.words = rawValues[uint64](e.take(8 * n))
		if b.masked {
			e.masks = e.take(n)
		}
	} else {
		e.groups = e.take(n)
		e.key = e.field(form{kind: textForm}, n)
	}
	switch s.class {
	case indexed:
		e.contents, e.ordinals = rawValues[uint64](e.take(8*n)), e.take(n)
	case appended:
		e.numbers = rawValues[uint32](e.take(4 * n))
	}
	for _, f := range s.forms {
		e.fields = append(e.fields, e.field(f, n))
	}
}

// measure finds out how long keys and values are.
func (e *encoder) measure() {
	s := e.schema
	around, fixed := len(s.head)+s.class.suffix(), 0
	if s.timed {
		around += timeBytes
	}
	if s.packed {
		for _, k := range s.layout.Kinds {
			around += 1 + k.Width()
		}
	}
	for _, f := range s.forms {
		fixed += f.width
	}
	for i := range e.keys {
		e.keys[i], e.values[i] = around, fixed
	}
	for i, n := range e.key.lengths {
		e.keys[i] += int(n)
	}
	for _, f := range e.fields {
		f.sizes(e.values)
	}
}

// write writes the records.
func (e *encoder) write(t *tablePart) {
	s, total := e.schema, len(e.keys)*recordStart
	for i, n := range e.keys {
		total += n + e.values[i]
	}
	t.room(total)
	last := len(t.chunks) - 1
	from := len(t.chunks[last])
	buf := t.chunks[last][:from+total]
	t.chunks[last] = buf
	for i, n := range e.keys {
		start(buf[from:], n, e.values[i])
		from += recordStart
		copy(buf[from:], s.head)
		buf[from+keyHead-1] = e.group(i)
		e.pos[i] = from + len(s.head)
		from += n + e.values[i]
	}
	for i, at := range e.times {
		appendTime(buf[:e.pos[i]], at)
		e.pos[i] += timeBytes
	}
	if s.packed {
		rowkey.PutPacked(buf, e.pos, s.layout, e.words, e.masks)
	} else {
		e.key.putBytes(buf, e.pos)
	}
	for i, c := range e.contents {
		binary.BigEndian.PutUint64(buf[e.pos[i]:], c)
		buf[e.pos[i]+8] = e.ordinals[i]
		e.pos[i] += s.class.suffix()
	}
	for i, n := range e.numbers {
		binary.BigEndian.PutUint32(buf[e.pos[i]:], n)
		e.pos[i] += s.class.suffix()
	}
	for _, f := range e.fields {
		f.put(buf, e.pos)
	}
}

// group is the key group of entry i.
func (e *encoder) group(i int) uint8 {
	switch {
	case !e.schema.packed:
		return e.groups[i]
	case e.masks == nil:
		return groupOf(e.schema.layout.HashPacked(e.words[i], 0))
	}
	return groupOf(e.schema.layout.HashPacked(e.words[i], e.masks[i]))
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
