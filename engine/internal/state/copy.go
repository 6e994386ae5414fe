package state

import (
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
	for _, n := range s.names {
		if err := s.tables[n].copyTo(p); err != nil {
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
	t.disk.handOver(p)
	return nil
}

// handOver moves the collected changes to a part.
func (d *disk) handOver(p *Part) {
	part := d.changes.part
	d.changes.part = &tablePart{table: part.table}
	if d.moved {
		counts := d.counts
		part.counts, d.moved = &counts, false
	}
	p.tables = append(p.tables, part)
}

func (t *keyTable) copyEntries() error {
	d := t.disk
	d.copies = d.copies || t.changed > 0 || t.evict != nil
	if t.evict != nil {
		if err := t.evict.copyChanged(t); err != nil {
			return err
		}
	} else {
		for w, word := range t.dirty {
			for ; word != 0; word &= word - 1 {
				s := Slot(w<<6 + bits.TrailingZeros64(word))
				t.payload.copyRows(d.changes.part, s)
			}
			d.here[w] |= t.dirty[w]
			d.flying[w] |= t.dirty[w]
		}
		t.payload.copyRest(d.changes.part)
		t.clean()
	}
	d.copied()
	return nil
}

// settled says that all copies are committed.
func (t *keyTable) settled() { t.disk.settled() }

func (v *valuesPayload) copyRows(part *tablePart, s Slot) {
	buf := part.begin()
	at := len(buf)
	buf = v.disk.appendKey(buf, &v.keyTable, s)
	key := len(buf) - at
	part.end(v.save(buf, s), key, false)
}

func (v *valuesPayload) copyRest(*tablePart) {}

func (v *valuesPayload) copyWhole(part *tablePart, s Slot) { v.copyRows(part, s) }

func (v *valuesPayload) loadRow(_, value []byte, s Slot) error { return v.load(value, s) }

func (v *valuesPayload) loaded(Slot) {}

// rowsOnDisk is what a Rows table knows of its rows in the database.
type rowsOnDisk struct {
	here    vector.Bitmap // by row id: the database has the row, or will when copies are committed
	dirty   vector.Bitmap // by row id, Indexed: to be copied
	changed []RowID       // the dirty ones, some perhaps gone
	kept    []int32       // by slot, not Indexed: the first rows of the chain that the database has
	whole   vector.Bitmap // by slot: notes have changed, so that all rows are to be copied
	// ordinals are those of rows whose content has the hash of another's.
	ordinals map[RowID]uint8
}

// note marks rows as changed.
func (d *rowsOnDisk) note(ids []RowID) {
	for _, id := range ids {
		w, bit := id>>6, uint64(1)<<(id&63)
		if d.dirty[w]&bit == 0 {
			d.dirty[w] |= bit
			d.changed = append(d.changed, id)
		}
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

func (r *Rows) copyRow(part *tablePart, s Slot, id RowID, number uint32) {
	buf := part.begin()
	at := len(buf)
	buf = r.appendRowKey(buf, s, id, number)
	key := len(buf) - at
	part.end(r.saveRow(buf, id), key, false)
}

// copyRows copies what is new under an entry, or all when notes have changed.
func (p *rowsPayload) copyRows(part *tablePart, s Slot) {
	r := (*Rows)(p)
	d := r.onDisk
	whole := d.whole.Get(int(s))
	d.whole.Clear(int(s))
	if r.opt.Indexed {
		if whole {
			for id := r.head[s]; id != 0; id = r.next[id] {
				d.note([]RowID{id})
			}
		}
		return // copyRest copies them
	}
	number := r.number[s]
	until := d.kept[s]
	if whole {
		until = 0
	}
	for id := r.head[s]; number > until; id = r.next[id] {
		number--
		r.copyRow(part, s, id, uint32(number))
	}
	d.kept[s] = r.number[s]
}

// copyRest copies the rows that have changed.
func (p *rowsPayload) copyRest(part *tablePart) {
	r := (*Rows)(p)
	d := r.onDisk
	for _, id := range d.changed {
		if !d.dirty.Get(int(id)) || r.owner[id] == None {
			continue // gone, or gone and another now
		}
		d.dirty.Clear(int(id))
		d.here.Set(int(id))
		r.copyRow(part, r.owner[id], id, 0)
	}
	d.changed = d.changed[:0]
}

// forgetRow notes that a row ends whose entry is s.
func (r *Rows) forgetRow(s Slot, id RowID) {
	d := r.onDisk
	if d.here.Get(int(id)) && !r.moving {
		r.disk.buf = r.appendRowKey(r.disk.buf[:0], s, id, 0)
		r.disk.changes.part.delete(r.disk.buf)
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
			r.disk.buf = r.appendRowKey(r.disk.buf[:0], s, 0, uint32(n))
			r.disk.changes.part.delete(r.disk.buf)
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
		buf := part.begin()
		buf = append(append(buf, key...), suffix...)
		part.end(r.saveRow(buf, id), len(key)+len(suffix), false)
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
