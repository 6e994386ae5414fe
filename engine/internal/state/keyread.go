package state

import (
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// keyWords are the packed keys of the given entries, in place if they are next to one
// another.
func (t *keyTable) keyWords(slots []Slot) (words []uint64, masks []uint8) {
	if from, to, ok := stretch(slots); ok {
		if t.masks != nil {
			masks = t.masks[from:to]
		}
		return t.words[from:to], masks
	}
	words = make([]uint64, len(slots))
	for i, s := range slots {
		words[i] = t.words[s]
	}
	if t.masks != nil {
		masks = make([]uint8, len(slots))
		for i, s := range slots {
			masks[i] = t.masks[s]
		}
	}
	return words, masks
}

// stretch reports whether slots are all from one up to another.
func stretch(slots []Slot) (from, to Slot, ok bool) {
	if len(slots) == 0 {
		return 0, 0, true
	}
	from = slots[0]
	for i, s := range slots {
		if s != from+Slot(i) {
			return 0, 0, false
		}
	}
	return from, from + Slot(len(slots)), true
}

// encode are the keys of the given entries.
func (t *keyTable) encode(slots []Slot, enc *rowkey.Encoder) *rowkey.Keys {
	t.check(slots)
	if t.packed {
		return enc.Packed(t.keyWords(slots))
	}
	from, to, ok := stretch(slots)
	hashes := t.hashes[from:to]
	if !ok {
		hashes = make([]uint64, len(slots))
		for i, s := range slots {
			hashes[i] = t.hashes[s]
		}
	}
	return enc.Encoded(hashes, func(b []byte, i int) []byte { return append(b, t.keys.get(t.refs[slots[i]])...) })
}

// keyColumns are the key columns of the given entries.
func (t *keyTable) keyColumns(p *vector.Pool, slots []Slot) ([]*vector.Vector, error) {
	t.check(slots)
	if t.packed {
		words, masks := t.keyWords(slots)
		return t.layout.Unpack(p, words, masks), nil
	}
	d := newKeyDecoder(p, t.layout)
	for _, s := range slots {
		if err := d.add(t.keys.get(t.refs[s])); err != nil {
			d.discard()
			return nil, err
		}
	}
	return d.finish(), nil
}

// keyDecoder turns canonical keys back into columns.
type keyDecoder struct {
	layout rowkey.Layout
	cols   []*vector.ColumnBuilder
}

func newKeyDecoder(p *vector.Pool, l rowkey.Layout) *keyDecoder {
	d := &keyDecoder{layout: l}
	for _, k := range l.Kinds {
		d.cols = append(d.cols, vector.NewColumnBuilder(p, k))
	}
	return d
}

func (d *keyDecoder) add(key []byte) error { return rowkey.Decode(d.layout, key, d.cols) }

func (d *keyDecoder) finish() []*vector.Vector {
	out := make([]*vector.Vector, len(d.cols))
	for i, c := range d.cols {
		out[i] = c.Finish()
	}
	return out
}

func (d *keyDecoder) discard() {
	for _, c := range d.cols {
		c.Finish().Release()
	}
}
