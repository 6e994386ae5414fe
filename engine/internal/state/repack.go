package state

import "github.com/weirdb/weir/vector"

// Tables use the places of what has ended again, and memory stays as large as it once had
// to be. So a table in which few places were in use for some epochs is packed when one
// ends: what is left goes to new places. Slots and row ids mean nothing between epochs.
const (
	sparseFrom  = 1 << 14 // places; smaller tables are left alone
	sparseShare = 8       // and those in which more than one of so many was in use
	packEpochs  = 64      // many tables are filled and emptied in every epoch
)

// packing knows how many places of a table are needed.
type packing struct {
	from   int // sparseFrom, or less in tests, which look at the end of each epoch
	peak   int // places in use at once, since the last look
	epochs int // since then
}

// use notes that so many places are in use.
func (p *packing) use(n int) { p.peak = max(p.peak, n) }

// due reports at the end of an epoch, when so many places are in use of those that ever
// were, whether the table is to be packed.
func (p *packing) due(used, ever int) bool {
	if p.epochs++; p.epochs < packEpochs && p.from == sparseFrom {
		return false
	}
	peak := max(p.peak, used)
	p.peak, p.epochs = used, 0
	return ever >= p.from && peak < ever/sparseShare
}

// repack makes a table small that has become so.
func (v *Values) repack() {
	if v.evict != nil || !v.pack.due(v.index.n, v.size) {
		return
	}
	fresh := &Values{keyTable: v.emptyCopy(), kinds: v.kinds, places: v.places}
	for _, c := range v.cols {
		fresh.cols = append(fresh.cols, c.empty())
	}
	fresh.payload = (*valuesPayload)(fresh)
	v.move(&fresh.keyTable, func(_, _ Slot) {})
	*v = *fresh
	v.payload = (*valuesPayload)(v)
}

// repack makes a table small that has become so.
func (r *Rows) repack() {
	used := r.rows - len(r.freeIDs) - 1
	if slots, rows := r.pack.due(r.index.n, r.size), r.packRows.due(used, r.rows); r.evict != nil || !slots && !rows {
		return
	}
	fresh := newRows(r.name, r.layout, r.opt, Options{miss: r.miss})
	fresh.keyTable, fresh.packRows, fresh.negative = r.emptyCopy(), r.packRows, r.negative
	fresh.payload = (*rowsPayload)(fresh)
	if r.onDisk != nil {
		fresh.onDisk = &rowsOnDisk{}
	}
	fresh.roomForRows(used)
	r.move(&fresh.keyTable, func(from, to Slot) { r.moveOnDisk(fresh, from, to) })
	*r = *fresh
	r.payload = (*rowsPayload)(r)
	if r.sorted != nil {
		r.sorted.rows = r
	}
}

// moveOnDisk hands on what is known of the rows of an entry in the database.
func (r *Rows) moveOnDisk(fresh *Rows, from, to Slot) {
	d, e := r.onDisk, fresh.onDisk
	if d == nil {
		return
	}
	e.kept[to] = d.kept[from]
	if d.whole.Get(int(from)) {
		e.whole.Set(int(to))
	}
	at := fresh.head[to]
	for id := r.head[from]; id != 0; id, at = r.next[id], fresh.next[at] {
		if d.here.Get(int(id)) {
			e.here.Set(int(at))
		}
		if d.dirty.Get(int(id)) {
			e.dirty.Set(int(at))
		}
		if n, ok := d.ordinals[id]; ok {
			e.ordinal(at, n)
		}
	}
}

// emptyCopy is a table like t, without entries, that more of them can be moved to.
func (t *keyTable) emptyCopy() keyTable {
	fresh := keyTable{
		name: t.name, layout: t.layout, index: newIndex(t.packed), packed: t.packed, miss: t.miss, pack: t.pack,
		count: t.count, noteCreated: t.noteCreated, budget: t.budget, err: t.err,
	}
	if t.disk != nil {
		d := *t.disk
		d.here, d.flying, d.used, d.hand = nil, nil, nil, 0
		fresh.disk = &d
	}
	return fresh
}

// move moves all entries to a table that has none.
func (t *keyTable) move(to *keyTable, moved func(from, to Slot)) {
	var buf []byte
	to.grow(t.index.n)
	to.moving = true
	t.index.each(func(s Slot) {
		n := to.newSlot()
		if t.packed {
			to.setPacked(n, t.hashOf(s), t.words[s], uint32(t.maskOf(s)))
		} else {
			to.setBytes(n, t.hashes[s], t.keys.get(t.refs[s]))
		}
		buf = t.payload.save(buf[:0], s)
		if err := to.payload.load(buf, n); err != nil {
			panic("state: table " + t.name + ": an entry cannot be moved: " + err.Error())
		}
		if t.dirty.Get(int(s)) {
			to.setDirty(n)
		}
		if d := t.disk; d != nil {
			moveBit(d.here, to.disk.here, s, n)
			moveBit(d.flying, to.disk.flying, s, n)
			moveBit(d.used, to.disk.used, s, n)
		}
		moved(s, n)
	})
	to.moving = false
}

func moveBit(from, to vector.Bitmap, s, n Slot) {
	if from.Get(int(s)) {
		to.Set(int(n))
	}
}

// repack makes a set small that has become so.
func (t *Times) repack() {
	if t.evictAll || !t.pack.due(int(t.count), len(t.hash)) {
		return
	}
	fresh := newTimes(t.name, t.layout, Options{})
	fresh.disk, fresh.pack, fresh.err = t.disk, t.pack, t.err
	fresh.count = t.count
	for _, m := range t.ordered() {
		for p := t.moments[m].first; p != 0; p = t.next[p] {
			n := fresh.link(t.moments[m].at, t.hash[p], t.keys.get(t.refs[p]))
			if t.disk != nil {
				fresh.due[n] = t.moments[m].at
				moveBit(t.here, fresh.here, p, n)
				moveBit(t.dirty, fresh.dirty, p, n)
			}
		}
	}
	*t = *fresh
}
