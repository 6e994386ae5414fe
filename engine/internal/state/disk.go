package state

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

var errCorrupt = errors.New("the data is corrupt")

// disk is what a table knows of its entries in the database: those of the last
// commit, of the key groups that the store owns.
//
// An entry in memory is what counts; the database is asked only for keys that are
// not there, and only if some entry may be. So a table that was never restored and
// never evicted from costs what one without a database does.
type disk struct {
	db       *DB
	operator *operator
	table    *storedTable
	from, to int    // key groups
	time     []byte // before the key, for tables in the order of time
	changes  *changes

	complete bool            // no entry is only in the database
	here     vector.Bitmap   // by slot: the database has the entry, or will when copies are committed
	flying   vector.Bitmap   // by slot: copied, and not known to be committed
	used     vector.Bitmap   // by slot: resolved since the hand came by; only with a budget
	hand     int             // where used was last looked at, in words
	gone     map[string]bool // keys that were dropped since the last copy
	leaving  map[string]bool // keys that were dropped before, not known to be committed

	counts groupCounts
	moved  bool // counts have changed since the last copy

	touched groupSet // groups of which the database may have entries, once there was a copy
	copies  bool     // there was one

	scratch *diskScratch
}

// diskScratch is what is needed within a call only: slices of a table share it.
type diskScratch struct {
	copier  copier
	slots   []Slot
	key     []byte
	missing tablePart // keys of the database that are looked for; their values are rows of the batch
}

// changes are what a table deletes in the database, collected until the next copy.
// The slices of a table share them.
type changes struct{ part *tablePart }

func (c *changes) deleteSpan(s span) { c.part.spans = append(c.part.spans, s) }

func newDisk(opt Options, o *operator, t *storedTable) *disk {
	d := &disk{db: opt.DB, operator: o, table: t, from: opt.From, to: opt.To, scratch: &diskScratch{}, changes: &changes{part: &tablePart{stored: t, spare: &opt.DB.spare}}}
	d.begin(opt.DB.counts(t)[""])
	return d
}

// begin makes counts those of what the database has.
func (d *disk) begin(counts groupCounts) {
	d.counts, d.touched = counts.part(d.from, d.to), groupSet{}
	for g := range d.counts.each(d.from, d.to) {
		d.touched.add(g)
	}
	d.copies = d.entries() != 0
	d.complete = !d.copies
}

// entries is the number of entries in the groups of the store.
func (d *disk) entries() int64 {
	return d.counts.sum(d.from, d.to)
}

func (d *disk) count(hash uint64, by int64) {
	g := groupOf(hash)
	if int(g) < d.from || int(g) >= d.to {
		panic(fmt.Sprintf("state: a key of group %d in a shard of groups %d to %d", g, d.from, d.to))
	}
	d.counts.add(g, by)
	d.touched.add(g)
	d.moved = true
}

func (d *disk) grow(n int) {
	words := vector.BitmapWords(n)
	d.here, d.flying, d.used = extend(d.here, words), extend(d.flying, words), extend(d.used, words)
}

// head appends what all keys of a group begin with.
func (d *disk) head(buf []byte, group uint8) []byte {
	return append(appendHead(buf, d.operator.Number, d.table.byte(), group), d.time...)
}

// groupSpan is the keys of a group.
func (d *disk) groupSpan(group uint8) span {
	s := groupSpan(d.operator.Number, d.table.byte(), int(group), int(group)+1)
	if d.time == nil {
		return s
	}
	s.start = d.head(nil, group)
	if at := timeOf(d.time); at < math.MaxInt64 {
		s.end = appendTime(d.head(nil, group)[:keyHead], at+1)
	}
	return s
}

// appendKey appends the database's key of a slot, without suffix.
func (d *disk) appendKey(buf []byte, t *keyTable, s Slot) []byte {
	return t.appendKey(d.head(buf, groupOf(t.hashOf(s))), s)
}

// dropped notes that an entry ends.
func (d *disk) dropped(t *keyTable, s Slot) {
	d.count(t.hashOf(s), -1)
	if t.evict != nil {
		key := d.appendKey(nil, t, s)
		delete(t.evict.changed, string(append(t.appendKey(nil, s), groupOf(t.hashOf(s)))))
		if d.table.Class.suffix() == 0 {
			d.changes.part.delete(key)
		} else {
			t.evict.deleteRows(d.changes.part, key)
		}
		return
	}
	if !d.here.Get(int(s)) {
		return
	}
	d.here.Clear(int(s))
	d.flying.Clear(int(s))
	d.scratch.key = d.appendKey(d.scratch.key[:0], t, s)
	if d.gone == nil {
		d.gone = map[string]bool{}
	}
	d.gone[string(d.scratch.key)] = true
	if d.table.Class.suffix() == 0 {
		d.changes.part.delete(d.scratch.key)
	}
}

// droppedAll notes that all entries end.
func (d *disk) droppedAll() {
	d.changes.deleteSpan(groupSpan(d.operator.Number, d.table.byte(), d.from, d.to))
	d.counts, d.moved, d.complete = groupCounts{}, true, true
	d.here, d.flying, d.used, d.gone, d.leaving, d.hand = nil, nil, nil, nil, nil, 0
}

// copied notes that dropped keys are in a copy, too.
func (d *disk) copied() {
	if d.leaving == nil {
		d.leaving, d.gone = d.gone, nil
		return
	}
	for k := range d.gone {
		d.leaving[k] = true
	}
	d.gone = nil
}

// settled notes that all copies are committed.
func (d *disk) settled() {
	clear(d.flying)
	d.leaving = nil
}

// fault brings the entries of keys into memory that only the database has.
func (d *disk) fault(t *keyTable, k *rowkey.Keys) error {
	m := d.lookFor(0)
	keys := m.chunks[0]
	for i, h := range k.Hash() {
		if t.find(k, i) != None {
			continue
		}
		at := len(keys)
		keys = append(d.head(keys, groupOf(h)), k.Bytes(i)...)
		if key := keys[at:]; d.gone[string(key)] || d.leaving[string(key)] {
			keys = keys[:at]
			continue
		}
		keys = d.noSuffix(keys)
		m.entries = append(m.entries, partEntry{at: int32(at), key: int32(len(keys) - at), value: int32(i)})
	}
	m.chunks[0] = keys
	if len(m.entries) == 0 {
		return nil
	}
	m.order()
	it, err := d.iterator()
	if err != nil {
		return err
	}
	t.moving = true
	err = d.load(it, t, k)
	t.moving = false
	if closed := it.Close(); err == nil {
		err = d.db.worldError("read", closed)
	}
	return err
}

// lookFor empties missing, for so many keys or more.
func (d *disk) lookFor(n int) *tablePart {
	m := &d.scratch.missing
	if m.chunks == nil {
		m.chunks = make([][]byte, 1)
	}
	m.chunks[0], m.entries = m.chunks[0][:0], slices.Grow(m.entries[:0], n)
	return m
}

// noSuffix appends the suffix that comes before all others.
func (d *disk) noSuffix(key []byte) []byte {
	var zero [16]byte
	return append(key, zero[:d.table.Class.suffix()]...)
}

func (d *disk) iterator() (*pebble.Iterator, error) {
	if err := d.db.failed.Load(); err != nil {
		return nil, *err
	}
	s := groupSpan(d.operator.Number, d.table.byte(), d.from, d.to)
	it, err := d.db.pebble.NewIter(&pebble.IterOptions{LowerBound: s.start, UpperBound: s.end, UseL6Filters: true})
	if err != nil {
		return nil, d.db.worldError("read", err)
	}
	return it, nil
}

// load reads the rows of each missing key.
func (d *disk) load(it *pebble.Iterator, t *keyTable, k *rowkey.Keys) error {
	suffix := d.table.Class.suffix()
	for _, e := range d.scratch.missing.entries {
		s, key := None, d.scratch.missing.key(e)
		for ok := it.SeekPrefixGE(key); ok; ok = it.Next() {
			if s == None {
				t.room(1)
				s = t.newSlot()
				t.setKey(s, k, int(e.value))
				d.here.Set(int(s))
			}
			value, err := it.ValueAndErr()
			if err != nil {
				return d.db.worldError("read", err)
			}
			if err := t.payload.loadRow(it.Key()[len(key)-suffix:], value, s); err != nil {
				return corrupt(t.name, err)
			}
		}
		if err := it.Error(); err != nil {
			return d.db.worldError("read", err)
		}
		if s != None {
			t.payload.loaded(s)
		}
	}
	return nil
}

// find is the slot of key i of k, or None.
func (t *keyTable) find(k *rowkey.Keys, i int) Slot {
	if words, masks, packed := k.Packed(); packed {
		mask := uint32(0)
		if masks != nil {
			mask = uint32(masks[i])
		}
		return t.index.findPacked(k.Hash()[i], words[i], mask)
	}
	return t.findBytes(k.Hash()[i], k.Bytes(i))
}

// setKey gives a slot key i of k.
func (t *keyTable) setKey(s Slot, k *rowkey.Keys, i int) {
	if words, masks, packed := k.Packed(); packed {
		mask := uint32(0)
		if masks != nil {
			mask = uint32(masks[i])
		}
		t.setPacked(s, k.Hash()[i], words[i], mask)
		return
	}
	t.setBytes(s, k.Hash()[i], k.Bytes(i))
}

// attach connects a new table with its part of the database.
func (t *keyTable) attach(d *disk) error {
	t.disk = d
	t.count = d.entries()
	d.grow(len(t.ordinal))
	if t.evict != nil && !d.complete {
		return t.loadAll()
	}
	return nil
}

// loadAll brings all entries into memory, for EvictAll, which keeps them in a tier
// of its own from then on. They count as changed.
func (t *keyTable) loadAll() error {
	d := t.disk
	it, err := d.iterator()
	if err != nil {
		return err
	}
	defer it.Close()
	var recs []record
	head := len(d.head(nil, 0))
	for ok := it.First(); ok; ok = it.Next() {
		if !bytes.HasPrefix(it.Key()[keyHead:], d.time) {
			continue
		}
		key := it.Key()[head : len(it.Key())-d.table.Class.suffix()]
		if len(recs) == 0 || !bytes.Equal(recs[len(recs)-1].key, key) {
			recs = append(recs, record{key: bytes.Clone(key)})
		}
	}
	if err := it.Error(); err != nil {
		return d.db.worldError("read", err)
	}
	t.count = 0
	d.counts = groupCounts{}
	for ok := d.table.Class.suffix() > 0 && it.First(); ok; ok = it.Next() {
		n := len(it.Key()) - d.table.Class.suffix()
		key, suffix := string(it.Key()[:n]), bytes.Clone(it.Key()[n:])
		t.evict.copied[key] = append(t.evict.copied[key], suffix)
	}
	if len(recs) > 0 {
		k, release, err := encodeKeys(t.layout, recs)
		if err != nil {
			return corrupt(t.name, err)
		}
		defer release()
		m := d.lookFor(len(recs))
		keys := m.chunks[0]
		for i, h := range k.Hash() {
			at := len(keys)
			keys = d.noSuffix(append(d.head(keys, groupOf(h)), k.Bytes(i)...))
			m.entries = append(m.entries, partEntry{at: int32(at), key: int32(len(keys) - at), value: int32(i)})
		}
		m.chunks[0] = keys
		t.moving = true
		err = d.load(it, t, k)
		t.moving = false
		if err != nil {
			return err
		}
		t.index.each(func(s Slot) {
			t.added(s)
			t.evict.pinned.Set(int(s))
		})
		t.created = t.created[:0]
	}
	d.complete = true
	return t.evict.endCall(t)
}

// record is one stored entry.
type record struct{ key, value []byte }

// encodeKeys turns the keys of records back into hashed keys.
func encodeKeys(l rowkey.Layout, recs []record) (k *rowkey.Keys, release func(), err error) {
	d := newKeyDecoder(vector.NewPool(), l)
	for _, r := range recs {
		if err := d.add(r.key); err != nil {
			d.discard()
			return nil, nil, err
		}
	}
	b := vector.NewBatch(len(recs), d.finish(), nil)
	cols := make([]int, len(l.Kinds))
	for i := range cols {
		cols[i] = i
	}
	return rowkey.NewEncoder(l).Encode(b, cols), b.Release, nil
}
