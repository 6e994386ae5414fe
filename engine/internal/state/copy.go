package state

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/weirdb/weir/vector"
)

// Copy takes what has changed since the last copy, for DB.Commit. It is called at a
// mark, after EndEpoch; epoch is the mark's. What was copied stays in memory until
// that epoch, or a later one, is committed. It is nil for a store without a database.
func (s *Store) Copy(epoch uint64) (*Part, error) {
	if s.opt.DB == nil {
		return nil, nil
	}
	p := newPart(s.operator, s.opt.From, s.opt.To)
	for _, t := range s.tables {
		if err := t.copyTo(p); err != nil {
			return nil, err
		}
	}
	s.copied = epoch
	p.finish()
	return p, nil
}

// copyTo adds what has changed to a part.
func (t *keyTable) copyTo(p *Part) error {
	if err := t.copyEntries(); err != nil {
		return err
	}
	p.tables = append(p.tables, t.disk.handOver())
	return nil
}

// handOver gives away what is collected.
func (d *disk) handOver() *tablePart {
	part := d.changes.part
	d.changes.part = &tablePart{stored: part.stored, spare: part.spare}
	d.tell(part)
	return part
}

// tell adds the numbers of entries to a part, if they have changed.
func (d *disk) tell(part *tablePart) {
	if d.moved {
		part.counts = append(part.counts, sliceCounts{string(d.time), d.counts.part(d.from, d.to)})
		d.moved = false
	}
}

func (t *keyTable) copyEntries() error {
	d := t.disk
	if t.evict != nil {
		d.copies = true
		if err := t.evict.copyChanged(t); err != nil {
			return err
		}
	} else if t.changed > 0 {
		d.copies = true
		t.payload.beginCopy(&d.scratch.copier)
		d.scratch.copier.begin(t)
		slots := slices.Grow(d.scratch.slots[:0], block)
		for w, word := range t.dirty {
			if word == 0 {
				continue
			}
			if len(slots)+64 > block {
				t.payload.copyEntries(d.changes.part, slots)
				slots = slots[:0]
			}
			slots = appendBits(slots, w, word)
			d.here[w] |= word
			d.flying[w] |= word
		}
		t.payload.copyEntries(d.changes.part, slots)
		t.payload.endCopy(d.changes.part)
		d.scratch.slots = slots
		t.clean()
	}
	d.copied()
	return nil
}

// appendBits appends the numbers of the bits that are set in a word of a bitmap.
func appendBits(to []int32, w int, word uint64) []int32 {
	for ; word != 0; word &= word - 1 {
		to = append(to, int32(w<<6+bits.TrailingZeros64(word)))
	}
	return to
}

// settled says that all copies are committed.
func (t *keyTable) settled() { t.disk.settled() }

func (v *valuesPayload) beginCopy(c *copier) {
	c.fields = c.fields[:0]
	for _, col := range v.cols {
		c.fields = append(c.fields, col)
	}
}

func (v *valuesPayload) copyEntries(part *tablePart, slots []Slot) {
	v.disk.scratch.copier.copy(part, &v.keyTable, slots, slots)
}

func (v *valuesPayload) endCopy(*tablePart) {}

func (v *valuesPayload) copyWhole(part *tablePart, s Slot) {
	part.set(v.disk.appendKey(nil, &v.keyTable, s), v.save(nil, s))
}

func (v *valuesPayload) loadRow(_, value []byte, s Slot) error { return v.load(value, s) }

func (v *valuesPayload) loaded(Slot) {}

// rowsOnDisk is what a Rows table knows of its rows in the database.
type rowsOnDisk struct {
	here  vector.Bitmap // by row id: the database has the row, or will when copies are committed
	dirty vector.Bitmap // by row id, Indexed: to be copied
	kept  []int32       // by slot, not Indexed: the first rows of the chain that the database has
	whole vector.Bitmap // by slot: notes have changed, so that all rows are to be copied
	// ordinals are those of rows whose content has the hash of another's.
	ordinals map[RowID]uint8

	// The rows that are to be copied next, the slots of their entries, and, if not
	// Indexed, their numbers.
	ids     []RowID
	slots   []Slot
	numbers []uint32
}

// note marks rows as changed.
func (d *rowsOnDisk) note(ids []RowID) {
	for _, id := range ids {
		d.dirty.Set(int(id))
	}
}

// appendRowKey appends the database's key of a row.
func (r *Rows) appendRowKey(buf []byte, s Slot, id RowID, number uint32) []byte {
	buf = r.disk.appendKey(buf, &r.keyTable, s)
	if r.opt.Indexed {
		buf = binary.BigEndian.AppendUint64(buf, r.content[id])
		return append(buf, r.onDisk.ordinals[id])
	}
	return binary.BigEndian.AppendUint32(buf, number)
}

func (p *rowsPayload) beginCopy(c *copier) {
	c.fields, c.suffix = c.fields[:0], (*rowNumbers)(p)
	if p.opt.Indexed {
		c.fields, c.suffix = append(c.fields, varints(p.counts)), (*rowContents)(p)
	}
	if p.opt.Noted {
		c.fields = append(c.fields, varints(p.notes))
	}
	c.fields = append(c.fields, nullBits(p.cols))
	for _, col := range p.cols {
		c.fields = append(c.fields, col)
	}
}

// rowNumbers are the suffixes of rows that are not Indexed, rowContents of others.
type (
	rowNumbers  Rows
	rowContents Rows
)

func (r *rowNumbers) gather(part *tablePart, _ []RowID) {
	copy(rawValues[uint32](part.rawRoom(len(r.onDisk.numbers)*4)), r.onDisk.numbers)
}

func (r *rowContents) gather(part *tablePart, ids []RowID) {
	gatherValues(part, r.content, ids)
	ordinals := part.rawRoom(len(ids))
	clear(ordinals)
	if len(r.onDisk.ordinals) > 0 {
		for i, id := range ids {
			ordinals[i] = r.onDisk.ordinals[id]
		}
	}
}

// varints is a field of numbers.
type varints []int64

func (v varints) forms(all []form) []form { return append(all, form{kind: varintForm}) }

func (v varints) gather(part *tablePart, at []int32) { gatherValues(part, v, at) }

// nullBits is a field that says which columns are NULL, a bit for each.
type nullBits []column

func nullBytes(cols []column) int { return (len(cols) + 7) / 8 }

func (cols nullBits) forms(all []form) []form {
	return append(all, form{kind: fixedForm, width: nullBytes(cols)})
}

func (cols nullBits) gather(part *tablePart, at []int32) {
	n := nullBytes(cols)
	dst := part.rawRoom(n * len(at))
	clear(dst)
	for c, col := range cols {
		if !col.hasNulls() {
			continue
		}
		for i, p := range at {
			if col.isNull(p) {
				dst[i*n+c>>3] |= 1 << (c & 7)
			}
		}
	}
}

// copyRow puts a row of a table that is not Indexed among those that are copied next.
func (r *Rows) copyRow(part *tablePart, s Slot, id RowID, number int32) {
	d := r.onDisk
	if len(d.ids) == block {
		r.copyRows(part)
	}
	d.ids, d.slots, d.numbers = append(d.ids, id), append(d.slots, s), append(d.numbers, uint32(number))
}

func (r *Rows) copyRows(part *tablePart) {
	d := r.onDisk
	r.disk.scratch.copier.copy(part, &r.keyTable, d.slots, d.ids)
	d.ids, d.slots, d.numbers = d.ids[:0], d.slots[:0], d.numbers[:0]
}

// copyEntries copies what is new under entries, or all when notes have changed.
func (p *rowsPayload) copyEntries(part *tablePart, slots []Slot) {
	r := (*Rows)(p)
	d := r.onDisk
	for _, s := range slots {
		whole := d.whole.Get(int(s))
		d.whole.Clear(int(s))
		if r.opt.Indexed {
			if whole {
				for id := r.head[s]; id != 0; id = r.next[id] {
					d.dirty.Set(int(id))
				}
			}
			continue // endCopy copies them
		}
		number, until := r.number[s], d.kept[s]
		if whole {
			until = 0
		}
		for id := r.head[s]; number > until; id = r.next[id] {
			number--
			r.copyRow(part, s, id, number)
		}
		d.kept[s] = r.number[s]
	}
}

// endCopy copies the rows that have changed.
func (p *rowsPayload) endCopy(part *tablePart) {
	r := (*Rows)(p)
	d := r.onDisk
	if !r.opt.Indexed {
		r.copyRows(part)
		return
	}
	for w, word := range d.dirty {
		if word == 0 {
			continue
		}
		if len(d.ids)+64 > block {
			r.copyIndexed(part)
		}
		d.ids = appendBits(d.ids, w, word)
		d.here[w] |= word
	}
	clear(d.dirty)
	r.copyIndexed(part)
}

func (r *Rows) copyIndexed(part *tablePart) {
	d := r.onDisk
	d.slots = resize(d.slots, len(d.ids))
	for i, id := range d.ids {
		d.slots[i] = r.owner[id]
	}
	r.copyRows(part)
}

// forgetRow notes that a row ends whose entry is s.
func (r *Rows) forgetRow(s Slot, id RowID) {
	d := r.onDisk
	if d.here.Get(int(id)) && !r.moving {
		r.disk.scratch.key = r.appendRowKey(r.disk.scratch.key[:0], s, id, 0)
		r.disk.changes.part.delete(r.disk.scratch.key)
	}
	d.here.Clear(int(id))
	d.dirty.Clear(int(id))
	delete(d.ordinals, id)
}

// forgetRows notes that all rows of an entry end, or move.
func (r *Rows) forgetRows(s Slot) {
	d := r.onDisk
	d.whole.Clear(int(s))
	if r.opt.Indexed {
		for id := r.head[s]; id != 0; id = r.next[id] {
			r.forgetRow(s, id)
		}
		return
	}
	if !r.moving {
		// One by one: a deleted span that ends within the rows of a key is not seen by
		// all reads of Pebble.
		for n := range d.kept[s] {
			r.disk.scratch.key = r.appendRowKey(r.disk.scratch.key[:0], s, 0, uint32(n))
			r.disk.changes.part.delete(r.disk.scratch.key)
		}
	}
	d.kept[s] = 0
}

// copyWhole is for EvictAll, where nothing is known of single rows.
func (p *rowsPayload) copyWhole(part *tablePart, s Slot) {
	r := (*Rows)(p)
	key := r.disk.appendKey(nil, &r.keyTable, s)
	r.evict.deleteRows(part, key)
	ordinals, number := map[uint64]uint8{}, uint32(r.number[s])
	var suffixes [][]byte
	for id := r.head[s]; id != 0; id = r.next[id] {
		number--
		var suffix []byte
		if content := r.content; r.opt.Indexed {
			suffix = append(binary.BigEndian.AppendUint64(nil, content[id]), ordinals[content[id]])
			ordinals[content[id]]++
		} else {
			suffix = binary.BigEndian.AppendUint32(nil, number)
		}
		suffixes = append(suffixes, suffix)
		part.set(append(bytes.Clone(key), suffix...), r.saveRow(nil, id))
	}
	r.evict.copied[string(key)] = suffixes
}

// loadRow takes one row from the database.
func (p *rowsPayload) loadRow(suffix, value []byte, s Slot) error {
	r := (*Rows)(p)
	r.roomForRows(1)
	id := r.newRow()
	if r.opt.Indexed {
		if len(suffix) != indexed.suffix() {
			return errCorrupt
		}
		count, w := binary.Varint(value)
		if w <= 0 || count == 0 {
			return errCorrupt
		}
		value = value[w:]
		r.loadIndexed(s, id, count, binary.BigEndian.Uint64(suffix))
		if d := r.onDisk; d != nil {
			d.here.Set(int(id))
			if suffix[8] != 0 {
				d.ordinal(id, suffix[8])
			}
		}
	} else {
		if len(suffix) != appended.suffix() || binary.BigEndian.Uint32(suffix) != uint32(r.number[s]) {
			return errCorrupt
		}
		r.next[id] = r.head[s]
		r.head[s] = id
		r.number[s]++
		if r.onDisk != nil {
			r.onDisk.kept[s]++
		}
	}
	rest, err := r.loadRow(value, id)
	if err == nil && len(rest) > 0 {
		err = errCorrupt
	}
	return err
}

func (d *rowsOnDisk) ordinal(id RowID, n uint8) {
	if d.ordinals == nil {
		d.ordinals = map[RowID]uint8{}
	}
	d.ordinals[id] = n
}

// loaded puts the rows of an entry in order.
func (p *rowsPayload) loaded(s Slot) {
	r := (*Rows)(p)
	if r.sorted == nil {
		return
	}
	a := &r.add
	a.id, a.slot = a.id[:0], a.slot[:0]
	for id := r.head[s]; id != 0; id = r.next[id] {
		a.id, a.slot = append(a.id, id), append(a.slot, s)
	}
	r.sorted.add(a.slot, a.id)
}

// nextOrdinal tells a new row apart from those of one hash under the same entry.
func (r *Rows) nextOrdinal(id RowID) {
	var taken [256]bool
	key := rowKey(r.content[id], r.owner[id])
	for other := r.byRow.findHash(key, 0); other != 0; other = r.byRow.findHash(key, other) {
		if other != id && r.owner[other] == r.owner[id] {
			taken[r.onDisk.ordinals[other]] = true
		}
	}
	switch n := slices.Index(taken[:], false); n {
	case 0:
	case -1:
		panic("state: table " + r.name + ": more than 256 rows of one hash under one key")
	default:
		r.onDisk.ordinal(id, uint8(n))
	}
}

func (v *Values) class() class { return single }

func (r *Rows) class() class {
	if r.opt.Indexed {
		return indexed
	}
	return appended
}

func (r *Rows) attach(d *disk) error {
	if r.evict == nil {
		r.onDisk = &rowsOnDisk{}
	}
	return r.keyTable.attach(d)
}
