package state

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// evictor makes a table as forgetful as the contract allows (Options.EvictAll):
// after each call every entry that is not held goes to the tier, its slot is
// poisoned, and it comes back in a slot drawn at random. It notices uses of slots
// that are not pinned, writes to memory that was given up, and changes to entries
// that were not marked dirty, and keys that another shard should have got, which would
// not be found after a restart. The first such problem is what EndCall returns.
type evictor struct {
	tier   Tier
	from   int // the key groups that the shard has
	to     int
	rand   *rand.Rand
	pinned vector.Bitmap // by slot: resolved in this call
	// With a database:
	changed map[string]TierKey  // since the last copy
	copied  map[string][][]byte // the suffixes of rows that were copied, by key of the database
	problem error
}

func (e *evictor) report(t *keyTable, format string, args ...any) {
	if e.problem == nil {
		e.problem = fmt.Errorf("state: table %q: %s", t.name, fmt.Sprintf(format, args...))
	}
}

func (e *evictor) check(t *keyTable, slots []Slot) {
	for _, s := range slots {
		if s != None && !e.usable(t, s) {
			e.report(t, "slot %d is used, but was neither resolved in this call nor held", s)
			return
		}
	}
}

func (e *evictor) usable(t *keyTable, s Slot) bool {
	return s >= 0 && int(s) < len(t.ordinal) && (e.pinned.Get(int(s)) || t.isHeld(s))
}

func (e *evictor) pin(slots []Slot) {
	for _, s := range slots {
		if s >= 0 {
			e.pinned.Set(int(s))
		}
	}
}

// grown takes the new slots for free ones.
func (e *evictor) grown(t *keyTable, from, to int) {
	e.pinned = extend(e.pinned, vector.BitmapWords(to))
	n := len(t.free)
	for s := from; s < to; s++ {
		t.free = append(t.free, Slot(s))
	}
	t.payload.poison(t.free[n:])
	t.size = to
}

func (e *evictor) newSlot(t *keyTable) Slot {
	i, last := e.rand.IntN(len(t.free)), len(t.free)-1
	s := t.free[i]
	t.free[i] = t.free[last]
	t.free = t.free[:last]
	t.payload.prepare(s)
	return s
}

// fault brings the entries of keys into memory, after all columns have moved:
// slices that were taken before are void.
func (e *evictor) fault(t *keyTable, k *rowkey.Keys) error {
	e.inspect(t)
	t.payload.move()
	type missing struct {
		key TierKey
		row int
	}
	var absent []missing
	words, masks, packed := k.Packed()
	for i, h := range k.Hash() {
		s := None
		if packed {
			var mask uint32
			if masks != nil {
				mask = uint32(masks[i])
			}
			s = t.index.findPacked(h, words[i], mask)
		} else {
			s = t.findBytes(h, k.Bytes(i))
		}
		if s == None {
			key := TierKey{groupOf(h), bytes.Clone(k.Bytes(i))}
			if g := int(key.Group); g < e.from || g >= e.to {
				e.report(t, "a key of group %d came to the shard of groups %d to %d", g, e.from, e.to-1)
			}
			absent = append(absent, missing{key, i})
		}
	}
	slices.SortFunc(absent, func(a, b missing) int { return a.key.compare(b.key) })
	absent = slices.CompactFunc(absent, func(a, b missing) bool { return a.key.compare(b.key) == 0 })
	keys := make([]TierKey, len(absent))
	for i, m := range absent {
		keys[i] = m.key
	}
	t.moving = true
	defer func() { t.moving = false }()
	return e.tier.Load(t.name, keys, func(i int, value []byte) error {
		row := absent[i].row
		t.room(1)
		s := t.newSlot()
		if packed {
			var mask uint32
			if masks != nil {
				mask = uint32(masks[row])
			}
			t.setPacked(s, k.Hash()[row], words[row], mask)
		} else {
			t.setBytes(s, k.Hash()[row], k.Bytes(row))
		}
		return t.payload.load(value, s)
	})
}

func groupOf(hash uint64) uint8 { return uint8(rowkey.KeyGroup(hash, rowkey.Groups)) }

func (e *evictor) tierKey(t *keyTable, s Slot) TierKey {
	return TierKey{groupOf(t.hashOf(s)), t.appendKey(nil, s)}
}

func (e *evictor) delete(t *keyTable, s Slot) {
	if err := e.tier.Delete(t.name, e.tierKey(t, s)); err != nil && e.problem == nil {
		e.problem = err
	}
}

// deleteAll empties the tier's part of a table.
func (e *evictor) deleteAll(t *keyTable) error {
	var all []TierKey
	err := e.tier.Scan(t.name, func(k TierKey, _ []byte) error {
		all = append(all, TierKey{k.Group, bytes.Clone(k.Key)})
		return nil
	})
	for _, k := range all {
		if err == nil {
			err = e.tier.Delete(t.name, k)
		}
	}
	return err
}

// inspect looks for writes to memory that is not in use.
func (e *evictor) inspect(t *keyTable) {
	if !t.payload.intact(t.free) {
		e.report(t, "a column was written outside of the slots resolved in this call, or through a slice taken before the last Resolve")
	}
}

// endCall evicts all but the held entries.
func (e *evictor) endCall(t *keyTable) error {
	e.inspect(t)
	var out []Slot
	t.index.each(func(s Slot) {
		if !t.isHeld(s) {
			out = append(out, s)
		}
	})
	for _, s := range out {
		if err := e.write(t, s); err != nil {
			return err
		}
	}
	t.moving = true
	for _, s := range out {
		t.unlink(s)
	}
	n := len(t.free)
	t.free = append(t.free, out...)
	t.recycle(t.free[n:])
	t.moving = false
	t.payload.move()
	clear(e.pinned)
	problem := e.problem
	e.problem = nil
	return problem
}

// write saves an entry that is dirty, and checks one that is not.
func (e *evictor) write(t *keyTable, s Slot) error {
	k, value := e.tierKey(t, s), t.payload.save(nil, s)
	if t.dirty.Get(int(s)) {
		if t.disk != nil {
			e.note(k)
		}
		return e.tier.Save(t.name, k, value)
	}
	return e.tier.Load(t.name, []TierKey{k}, func(_ int, stored []byte) error {
		if !bytes.Equal(stored, value) {
			e.report(t, "the entry of key %x changed, but was not marked dirty", k.Key)
		}
		return nil
	})
}

// note says that an entry is to be copied.
func (e *evictor) note(k TierKey) {
	if e.changed == nil {
		e.changed = map[string]TierKey{}
	}
	e.changed[string(append(bytes.Clone(k.Key), k.Group))] = k
}

// deleteRows deletes the rows of a key that were copied.
func (e *evictor) deleteRows(part *tablePart, key []byte) {
	for _, suffix := range e.copied[string(key)] {
		part.delete(append(bytes.Clone(key), suffix...))
	}
	delete(e.copied, string(key))
}

// copyChanged copies entries that have changed, whole: what the tier knows of their
// rows is not which are new.
func (e *evictor) copyChanged(t *keyTable) error {
	var recs []record
	for _, k := range e.changed {
		recs = append(recs, record{key: k.Key})
	}
	e.changed = nil
	if len(recs) == 0 {
		return nil
	}
	k, release, err := encodeKeys(t.layout, recs)
	if err != nil {
		return err
	}
	defer release()
	if err := e.fault(t, k); err != nil {
		return err
	}
	for i := range recs {
		if s := t.find(k, i); s != None { // else it has ended meanwhile
			t.payload.copyWhole(t.disk.changes.part, s)
		}
	}
	return e.endCall(t)
}
