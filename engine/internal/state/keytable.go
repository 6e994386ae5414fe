package state

import (
	"bytes"
	"slices"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// payload is what a table keeps for each of its keys, by slot.
type payload interface {
	grow(n int) // makes room for slots below n
	// release ends entries: their slots go back to zero.
	release(slots []Slot)
	// For EvictAll; see column.
	prepare(s Slot) // makes a poisoned slot zero
	poison(slots []Slot)
	move()
	intact(free []Slot) bool
	save(buf []byte, s Slot) []byte
	load(data []byte, s Slot) error // into a slot that is zero
	// loadRow takes one of an entry's rows in the database, in the order of their
	// suffixes, into a slot that was zero before the first; loaded follows the last.
	loadRow(suffix, value []byte, s Slot) error
	loaded(s Slot)
	// copyEntries copies what has changed of dirty entries, between beginCopy and
	// endCopy; copyWhole copies an entry, replacing what the database has of it.
	beginCopy(c *copier)
	copyEntries(part *tablePart, slots []Slot)
	endCopy(part *tablePart)
	copyWhole(part *tablePart, s Slot)
	bytes() int64
	live(used, n int64) int64 // about the bytes of so many slots of n
}

// keyTable maps keys to slots. It knows which entries are held, dirty or dropped;
// the values behind a slot are its payload's. Values and Rows are built on it.
type keyTable struct {
	name    string
	layout  rowkey.Layout
	payload payload

	index index
	// A packed key by slot; masks of NULL columns only once there was one.
	packed bool
	words  []uint64
	masks  []uint8
	// Any other key by slot.
	hashes []uint64
	keys   arena
	refs   []uint32

	size    int    // slots ever used: those from here on are free and zero
	free    []Slot // zero slots below size
	count   int64  // entries, in memory or not
	held    []Slot
	ordinal []int32       // by slot: base plus index in held plus one, or less if not held
	base    int32         // grows by the number of held entries with each epoch
	dirty   vector.Bitmap // by slot
	changed int64         // dirty slots
	gone    vector.Bitmap // by slot: dropped, not yet reusable
	dropped []Slot

	noteCreated bool
	created     []Slot // in this call, if noteCreated

	miss    *misses  // scratch of the store
	touched byte     // keeps touchKeys from being optimised away
	evict   *evictor // Options.EvictAll
	disk    *disk    // Options.DB
	budget  bool     // entries may be evicted: note which are used
	moving  bool     // entries go to or come from elsewhere: they neither end nor begin
	err     error    // restoring failed; every Resolve says so

	pack packing // of slots
}

func newKeyTable(name string, l rowkey.Layout, opt Options) keyTable {
	t := keyTable{name: name, layout: l, packed: l.Packed(), miss: opt.miss, pack: packing{from: opt.sparseFrom()}}
	t.index = newIndex(t.packed)
	t.keys.poisons = opt.EvictAll
	return t
}

// block is the number of rows that go through one stage of a lookup before they
// go through the next: few enough that what was touched is still in the cache.
const block = 512

// misses are rows of a block.
type misses [block]int32

func (t *keyTable) resolve(k *rowkey.Keys, create bool, slots []Slot) error {
	if t.err != nil {
		return t.err
	}
	slots = slots[:k.Len()]
	if t.evict != nil {
		if err := t.evict.fault(t, k); err != nil {
			return err
		}
	} else if t.disk != nil && !t.disk.complete {
		if err := t.disk.fault(t, k); err != nil {
			return err
		}
	}
	if words, masks, ok := k.Packed(); ok {
		t.resolvePacked(k.Hash(), words, masks, create, slots)
	} else {
		t.resolveBytes(k, create, slots)
	}
	if t.evict != nil {
		t.evict.pin(slots)
	} else if t.budget {
		t.disk.touch(slots)
	}
	return nil
}

func (t *keyTable) resolvePacked(hash, words []uint64, masks []uint8, create bool, slots []Slot) {
	var mask uint32
	for from := 0; from < len(slots); from += block {
		to := min(from+block, len(slots))
		var m []uint8
		if masks != nil {
			m = masks[from:to]
		}
		miss := t.index.firstPacked(hash[from:to], words[from:to], m, slots[from:to], t.miss)
		if create {
			t.room(len(miss))
		}
		for _, i := range miss {
			i += int32(from)
			if masks != nil {
				mask = uint32(masks[i])
			}
			s := t.index.findPacked(hash[i], words[i], mask)
			if s == None && create {
				s = t.newSlot()
				t.setPacked(s, hash[i], words[i], mask)
				t.added(s)
			}
			slots[i] = s
		}
	}
}

// firstPacked looks at the first place of each key. The loop has no branch that
// depends on what it finds, so that loads of many rows are under way at once. It
// returns the rows that need a closer look.
func (x *index) firstPacked(hash, words []uint64, masks []uint8, slots []Slot, misses *misses) []int32 {
	miss := misses[:]
	if len(x.dir) == 1 && masks == nil {
		s := x.dir[0]
		return s.nextPacked(hash, words, slots, s.firstPacked(hash, words, slots, miss))
	}
	words, slots = words[:len(hash)], slots[:len(hash)]
	dir, shift, n := x.dir, x.shift, 0
	for i, h := range hash {
		entries := dir[h<<groupBits>>shift].entries
		e := &entries[h&uint64(len(entries)-1)]
		diff := e.key ^ words[i]
		if masks != nil {
			diff |= uint64(e.mask ^ uint32(masks[i]))
		} else {
			diff |= uint64(e.mask)
		}
		s := e.slot - 1
		if diff != 0 {
			s = None
		}
		slots[i] = s
		miss[n&(block-1)] = int32(i)
		n += int(uint32(s) >> 31)
	}
	return miss[:n]
}

// firstPacked is that of an index of one segment, for keys without NULL: its loop needs no
// more values than there are registers.
func (s *segment) firstPacked(hash, words []uint64, slots []Slot, miss []int32) []int32 {
	words, slots = words[:len(hash)], slots[:len(hash)]
	entries, last, n := s.entries, uint64(len(s.entries)-1), 0
	for i, h := range hash {
		e := &entries[h&last]
		at := e.slot - 1
		if e.key^words[i]|uint64(e.mask) != 0 {
			at = None
		}
		slots[i] = at
		miss[n&(block-1)] = int32(i)
		n += int(uint32(at) >> 31)
	}
	return miss[:n]
}

// nextPacked looks at the second place of the keys that were not at their first.
func (s *segment) nextPacked(hash, words []uint64, slots []Slot, miss []int32) []int32 {
	words, slots = words[:len(hash)], slots[:len(hash)]
	entries, last, n := s.entries, uint64(len(s.entries)-1), 0
	for _, i := range miss {
		e := &entries[(hash[i]+1)&last]
		at := e.slot - 1
		if e.key^words[i]|uint64(e.mask) != 0 {
			at = None
		}
		slots[i] = at
		miss[n] = i
		n += int(uint32(at) >> 31)
	}
	return miss[:n]
}

func (t *keyTable) setPacked(s Slot, hash, word uint64, mask uint32) {
	t.words[s] = word
	if mask != 0 && t.masks == nil {
		t.masks = make([]uint8, len(t.words))
	}
	if t.masks != nil {
		t.masks[s] = uint8(mask)
	}
	t.index.insert(hash, word, mask, s)
}

func (t *keyTable) resolveBytes(k *rowkey.Keys, create bool, slots []Slot) {
	hash := k.Hash()
	for from := 0; from < len(slots); from += block {
		to := min(from+block, len(slots))
		miss := t.index.firstHash(hash[from:to], slots[from:to], t.miss)
		t.touchKeys(slots[from:to])
		for i := from; i < to; i++ {
			if s := slots[i]; s >= 0 && !bytes.Equal(t.keys.get(t.refs[s]), k.Bytes(i)) {
				miss = append(miss, int32(i-from))
			}
		}
		if create {
			t.room(len(miss))
		}
		for _, i := range miss {
			i += int32(from)
			s := t.findBytes(hash[i], k.Bytes(int(i)))
			if s == None && create {
				s = t.newSlot()
				t.setBytes(s, hash[i], k.Bytes(int(i)))
				t.added(s)
			}
			slots[i] = s
		}
	}
}

// firstHash is firstPacked for hashes: the slots it finds have the right hash.
func (x *index) firstHash(hash []uint64, slots []Slot, misses *misses) []int32 {
	miss := misses[:]
	slots = slots[:len(hash)]
	dir, shift, n := x.dir, x.shift, 0
	for i, h := range hash {
		entries := dir[h<<groupBits>>shift].entries
		e := &entries[h&uint64(len(entries)-1)]
		s := e.slot - 1
		if e.key != h {
			s = None
		}
		slots[i] = s
		miss[n&(block-1)] = int32(i)
		n += int(uint32(s) >> 31)
	}
	return miss[:n]
}

// touchKeys loads the beginning of the keys of slots, so that the comparison
// that follows does not wait for memory row by row.
func (t *keyTable) touchKeys(slots []Slot) {
	var sum byte
	for _, s := range slots {
		if s >= 0 {
			if ref := t.refs[s]; ref != 0 {
				c, at := t.keys.at(ref)
				sum += c.data[at]
			}
		}
	}
	t.touched = sum
}

func (t *keyTable) findBytes(hash uint64, key []byte) Slot {
	s := t.index.segment(hash)
	last := uint64(len(s.entries) - 1)
	for j := hash & last; ; j = (j + 1) & last {
		e := &s.entries[j]
		if e.slot == 0 {
			return None
		}
		if e.key == hash && bytes.Equal(t.keys.get(t.refs[e.slot-1]), key) {
			return e.slot - 1
		}
	}
}

func (t *keyTable) setBytes(s Slot, hash uint64, key []byte) {
	t.hashes[s] = hash
	t.refs[s] = t.keys.put(s, key)
	t.index.insert(hash, hash, 0, s)
}

// added notes that the entry of s is new.
func (t *keyTable) added(s Slot) {
	t.count++
	t.setDirty(s)
	if t.disk != nil {
		t.disk.count(t.hashOf(s), 1)
	}
	if t.noteCreated {
		t.created = append(t.created, s)
	}
}

// room makes sure that n slots can be taken.
func (t *keyTable) room(n int) {
	need, have := t.size+n-len(t.free), len(t.ordinal)
	t.pack.use(need)
	if need <= have {
		return
	}
	t.grow(max(need, grown(have, t.budget)))
}

// grown is the length that an array grows to: to twice what it had while it is small,
// less of it when there is a budget.
func grown(have int, budget bool) int {
	switch {
	case have >= 1<<16 && budget:
		return have / 4 * 5
	case have >= 1<<20:
		return have / 2 * 3
	}
	return max(have*2, 8)
}

func (t *keyTable) grow(size int) {
	have := len(t.ordinal)
	t.ordinal = extend(t.ordinal, size)
	t.dirty = extend(t.dirty, vector.BitmapWords(size))
	t.gone = extend(t.gone, vector.BitmapWords(size))
	if t.packed {
		t.words = extend(t.words, size)
		if t.masks != nil {
			t.masks = extend(t.masks, size)
		}
	} else {
		t.hashes = extend(t.hashes, size)
		t.refs = extend(t.refs, size)
	}
	t.payload.grow(size)
	if t.disk != nil {
		t.disk.grow(size)
	}
	if t.evict != nil {
		t.evict.grown(t, have, size)
	}
}

// newSlot takes a slot for which there is room. All that it holds is zero.
func (t *keyTable) newSlot() Slot {
	if t.evict != nil {
		return t.evict.newSlot(t)
	}
	if n := len(t.free) - 1; n >= 0 {
		s := t.free[n]
		t.free = t.free[:n]
		return s
	}
	t.size++
	return Slot(t.size - 1)
}

func (t *keyTable) hashOf(s Slot) uint64 {
	if !t.packed {
		return t.hashes[s]
	}
	return t.layout.HashPacked(t.words[s], t.maskOf(s))
}

func (t *keyTable) maskOf(s Slot) uint8 {
	if t.masks == nil {
		return 0
	}
	return t.masks[s]
}

// appendKey appends the canonical bytes of the key of s.
func (t *keyTable) appendKey(buf []byte, s Slot) []byte {
	if t.packed {
		return rowkey.AppendPacked(buf, t.layout, t.words[s], t.maskOf(s))
	}
	return append(buf, t.keys.get(t.refs[s])...)
}

func (t *keyTable) setDirty(s Slot) {
	w, bit := s>>6, uint64(1)<<(s&63)
	t.changed += int64(^t.dirty[w] & bit >> (s & 63))
	t.dirty[w] |= bit
}

func (t *keyTable) markDirty(slots []Slot) {
	t.check(slots)
	if t.disk == nil && t.evict == nil {
		return // entries are stored nowhere else
	}
	for _, s := range slots {
		if s >= 0 {
			t.setDirty(s)
		}
	}
}

// clean forgets what is dirty: it has been stored.
func (t *keyTable) clean() {
	if t.evict != nil {
		return // what is in memory may not be in the tier
	}
	clear(t.dirty)
	t.changed = 0
}

func (t *keyTable) hold(slots []Slot, fresh []int32) []int32 {
	t.check(slots)
	ordinal, base := t.ordinal, t.base
	for i, s := range slots {
		if s >= 0 && ordinal[s] <= base {
			t.held = append(t.held, s)
			ordinal[s] = base + int32(len(t.held))
			fresh = append(fresh, int32(i))
		}
	}
	return fresh
}

func (t *keyTable) drop(slots []Slot) {
	t.check(slots)
	for _, s := range slots {
		if s < 0 || t.gone.Get(int(s)) {
			continue
		}
		if t.evict != nil {
			if !t.evict.usable(t, s) {
				continue
			}
			t.evict.delete(t, s)
		}
		if t.disk != nil {
			t.disk.dropped(t, s)
		}
		t.gone.Set(int(s))
		t.dropped = append(t.dropped, s)
		t.unlink(s)
		t.count--
	}
}

// unlink takes the key of s out of the index; the key itself stays readable.
func (t *keyTable) unlink(s Slot) {
	t.index.remove(t.hashOf(s), s)
	if t.dirty.Get(int(s)) {
		t.dirty.Clear(int(s))
		t.changed--
	}
}

// endCall makes the slots of dropped entries reusable, but for held ones.
func (t *keyTable) endCall() error {
	if len(t.dropped) > 0 {
		t.free = slices.Grow(t.free, len(t.dropped))
		kept, freed := t.dropped[:0], len(t.free)
		for _, s := range t.dropped {
			if t.isHeld(s) {
				kept = append(kept, s)
				continue
			}
			t.free = append(t.free, s)
			t.gone.Clear(int(s))
		}
		t.dropped = kept
		t.recycle(t.free[freed:])
	}
	if t.evict != nil {
		return t.evict.endCall(t)
	}
	return nil
}

// recycle clears slots that have just become free.
func (t *keyTable) recycle(slots []Slot) {
	t.payload.release(slots)
	if !t.packed {
		for _, s := range slots {
			t.keys.drop(t.refs[s])
			t.refs[s] = 0
		}
		t.keys.compact(t.refs)
	}
	if t.evict != nil {
		t.payload.poison(slots)
	}
}

func (t *keyTable) endEpoch() error {
	t.base += int32(len(t.held))
	t.held = t.held[:0]
	if t.base > 1<<30 { // there is room for one more epoch's
		clear(t.ordinal)
		t.base = 0
	}
	return t.endCall()
}

func (t *keyTable) entries() int64 { return t.count }

func (t *keyTable) fail(err error) { t.err = err }

func (t *keyTable) isHeld(s Slot) bool { return t.ordinal[s] > t.base }

// check reports slots that the operator may not use now; only EvictAll knows.
func (t *keyTable) check(slots []Slot) {
	if t.evict != nil {
		t.evict.check(t, slots)
	}
}

func (t *keyTable) bytes() int64 {
	n := t.index.bytes() + t.keys.size + t.payload.bytes()
	n += int64(cap(t.words)+cap(t.hashes))*8 + int64(cap(t.refs)+cap(t.ordinal)+cap(t.free)+cap(t.held))*4
	return n + int64(cap(t.masks)) + int64(cap(t.dirty)+cap(t.gone))*8
}
