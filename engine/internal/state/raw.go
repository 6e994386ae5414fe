package state

import (
	"unsafe"

	"github.com/weirdb/weir/vector/rowkey"
)

// At a mark a task only gathers what has changed, as it is in memory, column by column
// and a block of entries at a time: rawBlock. Records are made of blocks in the
// background (see encoder).

// form is how a field's values are in a block, and in stored values.
type form struct {
	kind  formKind
	width int // of fixedForm
}

type formKind uint8

const (
	fixedForm  formKind = iota // so many bytes, here and there
	varintForm                 // 64 bits; stored as a varint
	textForm                   // all lengths, 32 bits each, then all bytes; stored as a varint for the length, and the bytes
)

// field is a part of stored values: a column, or what Rows has besides columns.
type field interface {
	// forms appends those of the field: one, but for lists.
	forms(all []form) []form
	gatherer
}

// gatherer adds the values of positions to the block that is being gathered.
type gatherer interface {
	gather(part *tablePart, at []int32)
}

// rawSchema says what a block consists of: keys, suffixes, fields.
type rawSchema struct {
	head   []byte // of the keys; their groups differ
	timed  bool   // each key is behind a time of its own, which comes first in the block
	layout rowkey.Layout
	packed bool
	class  class
	forms  []form
}

// rawBlock is a block in one of the raw chunks of a part.
type rawBlock struct {
	schema   *rawSchema
	chunk    int
	from, to int
	n        int
	masked   bool // keys are packed and have masks
}

// rawAlign is what parts of a block, and the sizes of raw chunks, are aligned to.
const rawAlign = 8

func aligned(n int) int { return (n + rawAlign - 1) &^ (rawAlign - 1) }

// copier gathers the entries of a table.
type copier struct {
	schema *rawSchema
	suffix gatherer // nil: there is none
	fields []field
}

func (c *copier) begin(t *keyTable) {
	d := t.disk
	c.schema = &rawSchema{head: d.head(nil, 0), layout: t.layout, packed: t.packed, class: d.table.Class}
	for _, f := range c.fields {
		c.schema.forms = f.forms(c.schema.forms)
	}
}

// copy adds the entries, or rows of entries, of the given slots; at is where the
// fields have their values.
func (c *copier) copy(part *tablePart, t *keyTable, slots []Slot, at []int32) {
	if len(slots) == 0 {
		return
	}
	part.beginBlock()
	b := rawBlock{schema: c.schema, n: len(slots), masked: t.masks != nil}
	t.gatherKeys(part, slots)
	if c.suffix != nil {
		c.suffix.gather(part, at)
	}
	for _, f := range c.fields {
		f.gather(part, at)
	}
	part.endBlock(b)
}

// gatherKeys adds the keys of slots, packed or behind their groups.
func (t *keyTable) gatherKeys(part *tablePart, slots []Slot) {
	if t.packed {
		gatherValues(part, t.words, slots)
		if t.masks != nil {
			gatherValues(part, t.masks, slots)
		}
		return
	}
	gatherKeys(part, t.hashes, &t.keys, t.refs, slots)
}

// gatherKeys adds the groups of keys, and the keys.
func gatherKeys(part *tablePart, hashes []uint64, keys *arena, refs []uint32, at []int32) {
	groups := part.rawRoom(len(at))
	for i, p := range at {
		groups[i] = groupOf(hashes[p])
	}
	gatherBytes(part, keys, refs, at)
}

// gatherValues adds src[p] for each p in at.
func gatherValues[T any](part *tablePart, src []T, at []int32) {
	dst := rawValues[T](part.rawRoom(len(at) * int(unsafe.Sizeof(src[0]))))
	dst = dst[:len(at)]
	for i, p := range at {
		dst[i] = src[p]
	}
}

// gatherBytes adds strings of an arena.
func gatherBytes(part *tablePart, a *arena, refs []uint32, at []int32) {
	lengths := rawValues[uint32](part.rawRoom(len(at) * 4))[:len(at)]
	total := 0
	for i, p := range at { // which brings the strings into the cache, many at once
		n := len(a.get(refs[p]))
		lengths[i] = uint32(n)
		total += n
	}
	dst := part.rawRoom(total)
	for _, p := range at {
		dst = dst[copy(dst, a.get(refs[p])):]
	}
}

// rawValues are the values that aligned bytes of a block are.
func rawValues[T any](b []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}

// beginBlock begins a block at the end of the last raw chunk.
func (t *tablePart) beginBlock() {
	if len(t.raw) == 0 {
		t.raw = append(t.raw, make([]byte, 0, partReserve*2))
	}
	last := len(t.raw) - 1
	t.blockFrom = aligned(len(t.raw[last]))
	t.raw[last] = t.raw[last][:t.blockFrom]
}

// rawRoom appends n bytes, aligned, to the block. What it returned before may have
// moved: it is to be filled before the next call.
func (t *tablePart) rawRoom(n int) []byte {
	last := len(t.raw) - 1
	chunk := t.raw[last]
	from := aligned(len(chunk))
	if from+n > cap(chunk) {
		begun := chunk[t.blockFrom:]
		t.raw[last] = chunk[:t.blockFrom]
		chunk = append(t.rawChunk(len(begun)+rawAlign+n), begun...)
		t.raw, t.blockFrom = append(t.raw, chunk), 0
		last++
		from = aligned(len(chunk))
	}
	chunk = chunk[:from+n]
	t.raw[last] = chunk
	return chunk[from:]
}

// rawChunk is a chunk with room for n bytes: the first ones are small.
func (t *tablePart) rawChunk(n int) []byte {
	n = aligned(n)
	switch size := len(t.raw) * partChunk / 8; {
	case n > partChunk:
		return make([]byte, 0, n)
	case len(t.raw) < 3:
		return make([]byte, 0, max(n, size))
	}
	return t.spare.take()
}

func (t *tablePart) endBlock(b rawBlock) {
	b.chunk = len(t.raw) - 1
	b.from, b.to = t.blockFrom, len(t.raw[b.chunk])
	t.blocks = append(t.blocks, b)
	t.number += b.n
}
