package state

import (
	"encoding/binary"
	"slices"

	"github.com/weirdb/weir/vector"
)

// rowKey is what the index of rows is searched by: the content of a row and the
// slot it is under.
func rowKey(content uint64, s Slot) uint64 {
	h := content ^ uint64(s+1)*0x9E3779B97F4A7C15
	h ^= h >> 32
	h *= 0xD6E8FEB86659FD93
	return h ^ h>>32
}

// fold adds the rows of r.add, equal ones as one row. It works in stages over the
// whole batch: find or make the rows by hash, store the new ones, compare the
// others in full, count, and free those whose count came to 0.
func (r *Rows) fold(b *vector.Batch, slots []Slot) {
	a := &r.add
	content := r.enc.Hash(b, r.compared)
	a.hash = a.hash[:0]
	if len(a.row) == len(content) {
		a.hash = append(a.hash, content...)
	} else {
		for i, s := range slots[:b.Len()] {
			if s != None {
				a.hash = append(a.hash, content[i])
			}
		}
	}
	r.foldHashed(b)
}

// foldHashed is fold once r.add has the hashes of the rows' contents.
func (r *Rows) foldHashed(b *vector.Batch) {
	r.roomForRows(len(r.add.row))
	r.findRows()
	r.storeNew(b)
	r.verify(b)
	if r.opt.Replacing {
		r.replace(b)
	} else {
		r.settle()
	}
}

// findRows sets a.id to the rows that have the right hash, making those that are
// missing, whose positions it leaves in a.pick; their columns are not stored yet.
func (r *Rows) findRows() {
	a := &r.add
	a.id = resize(a.id, len(a.row))
	a.pick = a.pick[:0]
	var keys [block]uint64
	for from := 0; from < len(a.row); from += block {
		to := min(from+block, len(a.row))
		k := keys[:to-from]
		for i, s := range a.slot[from:to] {
			k[i] = rowKey(a.hash[from+i], s)
		}
		for _, i := range r.byRow.firstHash(k, a.id[from:to], r.miss) {
			id := r.byRow.findHash(k[i], 0)
			if id == 0 {
				id = r.newIndexedRow(from+int(i), k[i])
				a.pick = append(a.pick, int32(from)+i)
			}
			a.id[from+int(i)] = id
		}
	}
}

// findHash is the first row with the given hash behind the row after (0: of all),
// or 0.
func (x *index) findHash(hash uint64, after RowID) RowID {
	s := x.segment(hash)
	last := uint64(len(s.entries) - 1)
	for j := hash & last; ; j = (j + 1) & last {
		e := &s.entries[j]
		switch {
		case e.slot == 0:
			return 0
		case e.key != hash:
		case after == 0:
			return e.slot - 1
		case e.slot-1 == after:
			after = 0
		}
	}
}

// newIndexedRow makes a row of count 0 for position i of r.add and links it.
func (r *Rows) newIndexedRow(i int, key uint64) RowID {
	id, s := r.newRow(), r.add.slot[i]
	r.owner[id] = s
	r.content[id] = r.add.hash[i]
	r.counts[id] = 0
	r.link(id, s)
	r.byRow.insert(key, key, 0, id)
	return id
}

func (r *Rows) link(id RowID, s Slot) {
	first := r.head[s]
	r.next[id], r.prev[id] = first, 0
	if first != 0 {
		r.prev[first] = id
	}
	r.head[s] = id
	r.number[s]++
}

func (r *Rows) unlinkRow(id RowID) {
	s, next, prev := r.owner[id], r.next[id], r.prev[id]
	if prev == 0 {
		r.head[s] = next
	} else {
		r.next[prev] = next
	}
	if next != 0 {
		r.prev[next] = prev
	}
	r.number[s]--
}

// storeNew stores the columns of the rows at a.pick, which findRows made.
func (r *Rows) storeNew(b *vector.Batch) {
	a := &r.add
	if len(a.pick) == 0 {
		return
	}
	rows, ids, slots := a.pickRow[:0], a.pickID[:0], a.pickSlot[:0]
	for _, j := range a.pick {
		rows, ids, slots = append(rows, a.row[j]), append(ids, a.id[j]), append(slots, a.slot[j])
	}
	a.pickRow, a.pickID, a.pickSlot = rows, ids, slots
	for i, c := range r.cols {
		c.store(b.Col(i), rows, ids)
	}
	if r.sorted != nil {
		r.sorted.add(slots, ids)
	}
}

// verify compares the rows that were found by hash. Where a stored row only has
// the same hash, it looks on for the right one.
func (r *Rows) verify(b *vector.Batch) {
	a := &r.add
	if len(a.pick) == len(a.row) {
		return
	}
	rows, ids, found := a.pickRow[:0], a.pickID[:0], a.found[:0]
	made := a.pick // ascending
	for i, id := range a.id {
		if len(made) > 0 && made[0] == int32(i) {
			made = made[1:]
			continue
		}
		rows, ids, found = append(rows, a.row[i]), append(ids, id), append(found, int32(i))
	}
	a.pickRow, a.pickID, a.found = rows, ids, found
	a.diff = resize(a.diff, len(rows))
	clear(a.diff)
	for _, c := range r.compared {
		r.cols[c].differ(b.Col(c), rows, ids, a.diff)
	}
	for j, i := range found {
		if a.diff[j] || r.owner[ids[j]] != a.slot[i] {
			a.id[i] = r.collide(b, int(i))
		}
	}
}

// collide finds or makes the row for position i among several of one hash.
func (r *Rows) collide(b *vector.Batch, i int) RowID {
	a := &r.add
	key := rowKey(a.hash[i], a.slot[i])
	row, diff := a.row[i:i+1], []bool{false}
	for id := r.byRow.findHash(key, 0); id != 0; id = r.byRow.findHash(key, id) {
		diff[0] = r.owner[id] != a.slot[i]
		for _, c := range r.compared {
			r.cols[c].differ(b.Col(c), row, []RowID{id}, diff)
		}
		if !diff[0] {
			return id
		}
	}
	r.roomForRows(1)
	id := r.newIndexedRow(i, key)
	if r.onDisk != nil {
		r.nextOrdinal(id)
	}
	for c, col := range r.cols {
		col.store(b.Col(c), row, []RowID{id})
	}
	if r.sorted != nil {
		r.sorted.add(a.slot[i:i+1], []RowID{id})
	}
	return id
}

// settle applies the signs and frees the rows that are gone.
func (r *Rows) settle() {
	a := &r.add
	if r.onDisk != nil {
		r.onDisk.note(a.id)
	}
	a.dead = a.dead[:0]
	for i, id := range a.id {
		sign := int64(1)
		if len(a.sign) > 0 {
			sign = a.sign[i]
		}
		was := r.counts[id]
		now := was + sign
		r.counts[id] = now
		r.sum[a.slot[i]] += sign
		r.negative += was>>63 - now>>63
		if now == 0 {
			a.dead = append(a.dead, id)
		}
	}
	r.bury()
}

// bury frees those rows of a.dead whose count is 0.
func (r *Rows) bury() {
	a := &r.add
	n := 0
	for _, id := range a.dead {
		if r.counts[id] != 0 || r.owner[id] == None {
			continue
		}
		s := r.owner[id]
		if r.onDisk != nil {
			r.forgetRow(s, id)
		}
		if r.sorted != nil {
			r.sorted.remove(s, id)
		}
		r.byRow.remove(rowKey(r.content[id], s), id)
		r.unlinkRow(id)
		r.owner[id] = None
		if r.number[s] == 0 {
			r.emptied = append(r.emptied, s)
		}
		a.dead[n] = id
		n++
	}
	r.freeRows(a.dead[:n])
	a.dead = a.dead[:0]
}

// forget takes all rows under s, given as ids, out of the index.
func (r *Rows) forget(s Slot, ids []RowID) {
	moving := r.moving
	for _, id := range ids {
		r.byRow.remove(rowKey(r.content[id], s), id)
		r.owner[id] = None
		if r.counts[id] < 0 && !moving {
			r.negative--
		}
	}
	r.sum[s] = 0
}

func (p *rowsPayload) save(buf []byte, s Slot) []byte {
	r := (*Rows)(p)
	buf = binary.AppendUvarint(buf, uint64(r.number[s]))
	ids := r.add.dead[:0]
	for id := r.head[s]; id != 0; id = r.next[id] {
		ids = append(ids, id)
	}
	r.add.dead = ids[:0]
	slices.Reverse(ids) // loading them one by one makes the same chain
	for _, id := range ids {
		if r.opt.Indexed {
			buf = binary.LittleEndian.AppendUint64(buf, r.content[id])
		}
		buf = r.saveRow(buf, id)
	}
	return buf
}

// saveRow appends a row: its count, its note, which columns are NULL, its columns.
func (r *Rows) saveRow(buf []byte, id RowID) []byte {
	if r.opt.Indexed {
		buf = binary.AppendVarint(buf, r.counts[id])
	}
	if r.opt.Noted {
		buf = binary.AppendVarint(buf, r.notes[id])
	}
	at := len(buf)
	buf = append(buf, make([]byte, nullBytes(r.cols))...)
	for i, c := range r.cols {
		if c.isNull(id) {
			buf[at+i>>3] |= 1 << (i & 7)
		}
	}
	for _, c := range r.cols {
		buf = c.save(buf, id)
	}
	return buf
}

// loadRow reads what saveRow wrote, behind the count, into a row, and returns the
// rest.
func (r *Rows) loadRow(data []byte, id RowID) ([]byte, error) {
	if r.opt.Noted {
		note, w := binary.Varint(data)
		if w <= 0 {
			return nil, errCorrupt
		}
		r.notes[id], data = note, data[w:]
	}
	nulls := data
	if len(data) < nullBytes(r.cols) {
		return nil, errCorrupt
	}
	data = data[nullBytes(r.cols):]
	var err error
	for i, c := range r.cols {
		if data, err = c.load(data, id); err != nil {
			return nil, err
		}
		if nulls[i>>3]>>(i&7)&1 != 0 {
			c.setNull(id)
		}
	}
	return data, nil
}

func (p *rowsPayload) load(data []byte, s Slot) error {
	r := (*Rows)(p)
	n, w := binary.Uvarint(data)
	if w <= 0 || n > uint64(len(data)) && len(r.cols) > 0 {
		return errCorrupt
	}
	data = data[w:]
	r.roomForRows(int(n))
	a := &r.add
	a.id, a.slot = a.id[:0], a.slot[:0]
	for range n {
		id := r.newRow()
		if !r.opt.Indexed {
			r.next[id] = r.head[s]
			r.head[s] = id
			r.number[s]++
		} else {
			if len(data) < 8 {
				return errCorrupt
			}
			count, w := binary.Varint(data[8:])
			if w <= 0 || count == 0 {
				return errCorrupt
			}
			r.loadIndexed(s, id, count, binary.LittleEndian.Uint64(data))
			data = data[8+w:]
		}
		var err error
		if data, err = r.loadRow(data, id); err != nil {
			return err
		}
		a.id, a.slot = append(a.id, id), append(a.slot, s)
	}
	if r.sorted != nil {
		r.sorted.add(a.slot, a.id)
	}
	if len(data) > 0 {
		return errCorrupt
	}
	return nil
}

func (r *Rows) loadIndexed(s Slot, id RowID, count int64, content uint64) {
	r.owner[id], r.content[id], r.counts[id] = s, content, count
	r.link(id, s)
	key := rowKey(content, s)
	r.byRow.insert(key, key, 0, id)
	r.sum[s] += count
	if count < 0 && !r.moving {
		r.negative++
	}
}

func (p *rowsPayload) bytes() int64 {
	r := (*Rows)(p)
	n := int64(cap(r.head)+cap(r.number)+cap(r.root)+cap(r.freeIDs)+cap(r.next)+cap(r.prev)+cap(r.owner)) * 4
	n += int64(cap(r.sum)+cap(r.counts)+cap(r.content)+cap(r.notes)) * 8
	for _, c := range r.cols {
		n += c.bytes()
	}
	if r.opt.Indexed {
		n += r.byRow.bytes()
	}
	if r.sorted != nil {
		n += r.sorted.bytes()
	}
	return n
}

func resize[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n, n+n/4)
}
