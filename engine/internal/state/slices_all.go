package state

import (
	"bytes"

	"github.com/weirdb/weir/vector"
)

// All brings every entry of the slice of a time into memory and returns the slice with
// the slots of its entries: in the order of slots, which is about that in which they came,
// unless they are shuffled for a test. They are pinned until the call into the operator
// ends. Without a slice it returns nil.
func (t *Slices) All(at int64, slots []Slot) (*Values, []Slot, error) {
	v, err := t.Slice(at, false)
	if v == nil {
		return nil, nil, err
	}
	slots, err = v.All(slots)
	return v, slots, err
}

// All brings every entry into memory and appends its slot, as Slices.All does.
func (v *Values) All(slots []Slot) ([]Slot, error) {
	if err := v.loadElsewhere(); err != nil {
		return nil, err
	}
	if v.evict != nil {
		v.index.each(func(s Slot) { slots = append(slots, s) })
		v.evict.pin(slots)
		return slots, nil
	}
	slots = v.appendSlots(slots)
	if v.budget {
		v.disk.touch(slots)
	}
	return slots, nil
}

// appendSlots appends the slots of all entries in memory, in their order. That of the
// index is not for filling another table: it would pile up where it has been filled.
func (t *keyTable) appendSlots(slots []Slot) []Slot {
	if int(t.count) == t.size {
		for s := range t.size {
			slots = append(slots, Slot(s))
		}
		return slots
	}
	live := make(vector.Bitmap, vector.BitmapWords(t.size))
	t.index.each(func(s Slot) { live.Set(int(s)) })
	for s := range t.size {
		if live.Get(s) {
			slots = append(slots, Slot(s))
		}
	}
	return slots
}

// loadElsewhere brings the entries into memory that are not there.
func (t *keyTable) loadElsewhere() error {
	if t.err != nil {
		return t.err
	}
	var recs []record
	switch {
	case t.evict != nil:
		err := t.evict.tier.Scan(t.name, func(k TierKey, _ []byte) error {
			recs = append(recs, record{key: bytes.Clone(k.Key)})
			return nil
		})
		if err != nil {
			return err
		}
	case t.disk != nil && !t.disk.complete:
		var err error
		if recs, err = t.disk.keys(); err != nil {
			return err
		}
	}
	if len(recs) == 0 {
		return nil
	}
	k, release, err := encodeKeys(t.layout, recs)
	if err != nil {
		return corrupt(t.name, err)
	}
	defer release()
	return t.resolve(k, false, make([]Slot, len(recs)))
}

// keys are those of the entries that the database has, of tables without suffixes.
func (d *disk) keys() ([]record, error) {
	it, err := d.iterator()
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var recs []record
	head := len(d.head(nil, 0))
	for g := d.from; g < d.to; g++ {
		if !d.touched.has(g) {
			continue
		}
		s := d.groupSpan(uint8(g))
		for ok := it.SeekGE(s.start); ok && bytes.Compare(it.Key(), s.end) < 0; ok = it.Next() {
			recs = append(recs, record{key: bytes.Clone(it.Key()[head:])})
		}
	}
	if err := it.Error(); err != nil {
		return nil, d.db.worldError("read", err)
	}
	return recs, nil
}
