package state

import (
	"encoding/binary"
	"math/bits"

	"github.com/weirdb/weir/vector/rowkey"
)

// field is a part of stored values: a column, or what Rows has besides columns. put
// writes the values of positions at to dst, each at its pos, which moves on; sizes adds
// how many bytes they take.
type field interface {
	sizes(at []int32, out []int)
	put(dst []byte, pos []int, at []int32)
}

// gather copies entries to a part, field by field for a block of them.
type gather struct {
	size, keys, pos []int
	head            []byte // of the keys; their groups differ
	words           []uint64
	masks           []uint8
	fields          []field
}

// copy adds the entries, or rows of entries, at the given slots. suffixes are those of
// their keys, one after the other; at is where the fields have their values.
func (g *gather) copy(part *tablePart, t *keyTable, slots []Slot, suffixes []byte, at []int32) {
	n := len(slots)
	g.size, g.keys, g.pos = resize(g.size, n), resize(g.keys, n), resize(g.pos, n)
	clear(g.size)
	for _, f := range g.fields {
		f.sizes(at, g.size)
	}
	d := t.disk
	suffix := d.table.Class.suffix()
	t.keySizes(slots, keyHead+len(d.time)+suffix, g.keys)
	total := n * recordStart
	for i, k := range g.keys {
		total += k + g.size[i]
	}
	part.room(total)
	part.number += n
	last := len(part.chunks) - 1
	from := len(part.chunks[last])
	buf := part.chunks[last][:from+total]
	part.chunks[last] = buf
	g.head = d.head(g.head[:0], 0)
	for i, key := range g.keys {
		value := g.size[i]
		start(buf[from:], key, value)
		from += recordStart
		copy(buf[from:], g.head)
		g.pos[i] = from + len(g.head)
		from += key + value
	}
	g.putKeys(buf, t, slots)
	for i, p := range g.pos {
		g.pos[i] = p + copy(buf[p:], suffixes[i*suffix:(i+1)*suffix])
	}
	for _, f := range g.fields {
		f.put(buf, g.pos, at)
	}
}

// putKeys writes the groups and the keys of slots, behind the heads.
func (g *gather) putKeys(buf []byte, t *keyTable, slots []Slot) {
	back := len(g.head) - (keyHead - 1)
	if !t.packed {
		for i, s := range slots {
			p := g.pos[i]
			buf[p-back] = groupOf(t.hashes[s])
			g.pos[i] = p + copy(buf[p:], t.keys.get(t.refs[s]))
		}
		return
	}
	g.words, g.masks = resize(g.words, len(slots)), g.masks[:0]
	for i, s := range slots {
		g.words[i] = t.words[s]
		buf[g.pos[i]-back] = groupOf(t.layout.HashPacked(t.words[s], t.maskOf(s)))
	}
	if t.masks != nil {
		for _, s := range slots {
			g.masks = append(g.masks, t.masks[s])
		}
	}
	rowkey.PutPacked(buf, g.pos, t.layout, g.words, g.masks)
}

// keySizes sets out to the lengths of the keys of slots, plus that of what is around
// them.
func (t *keyTable) keySizes(slots []Slot, around int, out []int) {
	if t.packed {
		for _, k := range t.layout.Kinds {
			around += 1 + k.Width()
		}
		for i := range slots {
			out[i] = around
		}
		return
	}
	for i, s := range slots {
		out[i] = around + len(t.keys.get(t.refs[s]))
	}
}

// varints is a field of numbers.
type varints []int64

func zigzag(x int64) uint64 { return uint64(x<<1) ^ uint64(x>>63) }

func uvarintSize(x uint64) int { return (bits.Len64(x|1) + 6) / 7 }

func (v varints) sizes(at []int32, out []int) {
	for i, p := range at {
		out[i] += uvarintSize(zigzag(v[p]))
	}
}

func (v varints) put(dst []byte, pos []int, at []int32) {
	for i, p := range at {
		pos[i] += binary.PutUvarint(dst[pos[i]:], zigzag(v[p]))
	}
}

// nullBits is a field that says which columns are NULL, a bit for each.
type nullBits []column

func nullBytes(cols []column) int { return (len(cols) + 7) / 8 }

func (cols nullBits) sizes(at []int32, out []int) {
	for i := range at {
		out[i] += nullBytes(cols)
	}
}

func (cols nullBits) put(dst []byte, pos []int, at []int32) {
	n := nullBytes(cols)
	for i := range at {
		clear(dst[pos[i] : pos[i]+n])
	}
	for c, col := range cols {
		for i, p := range at {
			if col.isNull(p) {
				dst[pos[i]+c>>3] |= 1 << (c & 7)
			}
		}
	}
	for i := range at {
		pos[i] += n
	}
}
