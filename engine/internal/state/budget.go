package state

import "math/bits"

// budgeted is what a table does for Options.Memory.
type budgeted interface {
	live() int64          // about the bytes of what is in memory
	unsaved() int64       // about those of entries that a checkpoint would make evictable
	shrink(share float64) // evicts about this share of the entries, if it can
}

// makeRoom evicts some entries when there are too many: at least an eighth of them, so
// that it is not done in every epoch.
func (s *Store) makeRoom() {
	used := int64(0)
	for _, t := range s.tables {
		used += t.live()
	}
	s.pressed = false
	if used <= s.opt.Memory {
		return
	}
	share := max(1.0/8, 1-float64(s.opt.Memory)/float64(used))
	left, unsaved := int64(0), int64(0)
	for _, t := range s.tables {
		t.shrink(share)
		left += t.live()
		unsaved += t.unsaved()
	}
	s.pressed = left > s.opt.Memory && unsaved > s.opt.Memory/8
}

// Pressed reports whether the store has more in memory than it may, and cannot evict
// enough because it was not committed yet: a checkpoint would help.
func (s *Store) Pressed() bool { return s.pressed && s.copied == 0 }

// touch notes that entries are in use.
func (d *disk) touch(slots []Slot) {
	for _, s := range slots {
		if s >= 0 {
			d.used.Set(int(s))
		}
	}
}

// victims takes up to n entries that can leave memory: the database has them, and
// nobody asked for them since the last time round.
func (d *disk) victims(t *keyTable, n int) []Slot {
	var out []Slot
	words := (t.size + 63) / 64
	for range 2 * words {
		if len(out) >= n {
			break
		}
		if d.hand >= words {
			d.hand = 0
		}
		w := d.hand
		d.hand++
		can := d.here[w] &^ d.flying[w] &^ t.dirty[w]
		word := can &^ d.used[w]
		d.used[w] &^= can
		for ; word != 0; word &= word - 1 {
			s := Slot(w<<6 + bits.TrailingZeros64(word))
			if !t.isHeld(s) {
				d.here.Clear(int(s))
				out = append(out, s)
			}
		}
	}
	return out
}

func (t *keyTable) shrink(share float64) {
	if t.evict != nil {
		return
	}
	t.budget = true
	out := t.disk.victims(t, int(share*float64(t.index.n))+1)
	if len(out) == 0 {
		return
	}
	t.disk.complete = false
	t.moving = true
	for _, s := range out {
		t.unlink(s)
	}
	at := len(t.free)
	t.free = append(t.free, out...)
	t.recycle(t.free[at:])
	t.moving = false
}

// live leaves out slots that are free: they will be used before the table grows.
func (t *keyTable) live() int64 {
	if t.size == 0 {
		return 0
	}
	n, used := int64(len(t.ordinal)), int64(t.size-len(t.free))
	own := t.index.bytes() + (t.bytes()-t.index.bytes()-t.keys.size-t.payload.bytes())*used/n
	return own + t.keys.size + t.payload.live(used, n)
}

func (t *keyTable) unsaved() int64 {
	if t.index.n == 0 {
		return 0
	}
	return t.live() / int64(t.index.n) * t.changed
}

// live is that of so many used slots among n.
func (v *valuesPayload) live(used, n int64) int64 {
	size := int64(0)
	for _, c := range v.cols {
		size += liveBytes(c, used, n)
	}
	return size
}

func (p *rowsPayload) live(used, n int64) int64 {
	r := (*Rows)(p)
	size := int64(cap(r.head)+cap(r.number)+cap(r.root)+2*cap(r.sum)) * 4 * used / n
	if len(r.next) == 0 {
		return size
	}
	rows, all := int64(r.rows-len(r.freeIDs)), int64(len(r.next))
	columns := int64(0)
	for _, c := range r.cols {
		size += liveBytes(c, rows, all)
		columns += c.bytes()
	}
	return size + (p.bytes()-columns)*rows/all
}

// liveBytes is the memory that used positions among n take in a column.
func liveBytes(c column, used, n int64) int64 {
	text := int64(0)
	switch c := c.(type) {
	case *texts:
		text = c.arena.size
	case *nested:
		text = c.arena.size
	}
	return text + (c.bytes()-text)*used/n
}

func (t *Times) live() int64 { return t.bytes() }

func (t *Times) unsaved() int64 { return 0 }

// shrink does nothing: all pairs are in memory.
func (t *Times) shrink(float64) {}
