package state

import (
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// KeyColumns collects the keys of entries of tables that have the same layout.
type KeyColumns struct {
	pool   *vector.Pool
	layout rowkey.Layout
	n      int

	words   []uint64 // packed
	masks   []uint8  // nil as long as no key has NULL
	decoder *keyDecoder
}

// NewKeyColumns returns a collection without keys.
func NewKeyColumns(p *vector.Pool, l rowkey.Layout) *KeyColumns {
	return &KeyColumns{pool: p, layout: l, decoder: newKeyDecoder(p, l)}
}

// Len is the number of keys.
func (k *KeyColumns) Len() int { return k.n }

// Add adds the keys of entries, as Values.Keys has them.
func (k *KeyColumns) Add(v *Values, slots []Slot) error {
	v.check(slots)
	k.n += len(slots)
	if !v.packed {
		for _, s := range slots {
			if err := k.decoder.add(v.keys.get(v.refs[s])); err != nil {
				return err
			}
		}
		return nil
	}
	words, masks := v.keyWords(slots)
	if masks != nil || k.masks != nil {
		k.masks = append(k.masks, make([]uint8, len(k.words)-len(k.masks))...)
		if masks == nil {
			masks = make([]uint8, len(words))
		}
		k.masks = append(k.masks, masks...)
	}
	k.words = append(k.words, words...)
	return nil
}

// Finish returns the keys in vectors that the caller releases, and begins without keys.
func (k *KeyColumns) Finish() []*vector.Vector {
	k.n = 0
	if !k.layout.Packed() {
		return k.decoder.finish()
	}
	cols := k.layout.Unpack(k.pool, k.words, k.masks)
	k.words, k.masks = k.words[:0], nil
	return cols
}
