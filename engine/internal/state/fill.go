package state

import "slices"

// The memory of slices that are dropped is kept for those that are filled: of so many, with
// so many places.
const (
	mostSpare  = 8
	largeSpare = 1 << 13
)

// Fill makes a slice of t that has no entries one that has those of from, a table of the
// same layout and columns, and reports whether it did: columns have to be of fixed width,
// and all entries in memory. They count as dirty. That costs a fraction of resolving their
// keys.
func (t *Slices) Fill(v, from *Values) bool {
	whole := from.size == int(from.count) && from.size == from.index.n
	if !whole || v.size > 0 || v.count > 0 || !v.fills() || v.noteCreated || v.disk != nil && !v.disk.complete {
		return false
	}
	for i := len(t.spare) - 1; i >= 0; i-- { // the last may still be in a cache
		if s := t.spare[i]; len(s.ordinal) >= from.size && len(s.ordinal)/2 <= len(from.ordinal) {
			t.spare = slices.Delete(t.spare, i, i+1)
			v.inherit(s, from.size)
			break
		}
	}
	v.fill(from)
	return true
}

// keep keeps the memory of a slice that was dropped for one that is filled.
func (t *Slices) keep(v *Values) {
	if !v.fills() || len(v.ordinal) > largeSpare {
		return
	}
	if len(t.spare) == mostSpare {
		t.spare = slices.Delete(t.spare, 0, 1)
	}
	v.disk = nil
	t.spare = append(t.spare, v)
}

// fills reports whether the table is of those that Fill is for.
func (v *Values) fills() bool {
	return v.evict == nil && !slices.ContainsFunc(v.cols, func(c column) bool { _, ok := c.(filler); return !ok })
}

// filler is a column that can be copied as a whole.
type filler interface {
	fill(from column, n int) // the first n of a column of the same kind
	clearFrom(n int)
}

func (c *fixed[T]) fill(from column, n int) { copy(c.data, from.(*fixed[T]).data[:n]) }

func (c *fixed[T]) clearFrom(n int) { clear(c.data[n:]) }

// inherit takes the memory of a table that has ended, for n entries.
func (v *Values) inherit(s *Values, n int) {
	clear(s.dirty)
	clear(s.gone)
	v.ordinal, v.dirty, v.gone, v.words, v.index = s.ordinal, s.dirty, s.gone, s.words, s.index
	v.hashes, v.refs, v.keys = s.hashes, s.refs, s.keys
	v.base = s.base + int32(len(s.held))
	for i, c := range s.cols {
		c.(filler).clearFrom(n)
		v.cols[i] = c
	}
}

// fill copies all entries of a table.
func (v *Values) fill(from *Values) {
	n := from.size
	v.pack.use(n)
	v.grow(max(len(v.ordinal), len(from.ordinal)))
	v.size, v.count, v.changed = n, int64(n), int64(n)
	v.dirty.Fill(n)
	if v.packed {
		copy(v.words, from.words[:n])
	} else {
		copy(v.hashes, from.hashes[:n])
		copy(v.refs, from.refs[:n])
		clear(v.refs[n:])
		v.keys.fill(&from.keys)
	}
	if from.masks != nil {
		v.masks = make([]uint8, len(v.words))
		copy(v.masks, from.masks[:n])
	}
	v.index.fill(&from.index)
	for i, c := range v.cols {
		c.(filler).fill(from.cols[i], n)
	}
	if v.disk != nil {
		v.disk.filled(from.disk, n)
	}
}

// fill makes x a copy of another index, in its memory if that is as large.
func (x *index) fill(from *index) {
	own := x.dir[0]
	alike := len(x.dir) == 1 && len(from.dir) == 1 && len(own.entries) == len(from.dir[0].entries)
	x.dir, x.shift, x.n = slices.Clone(from.dir), from.shift, from.n
	for i, s := range x.dir {
		switch {
		case i > 0 && s == from.dir[i-1]:
			x.dir[i] = x.dir[i-1]
		case alike:
			copy(own.entries, s.entries)
			own.n = s.n
			x.dir[i] = own
		default:
			x.dir[i] = &segment{entries: slices.Clone(s.entries), n: s.n, depth: s.depth}
		}
	}
}

// fill makes a a copy of another arena, in its chunks as far as they are as large.
func (a *arena) fill(from *arena) {
	own := a.chunks
	a.chunks, a.current, a.size = slices.Clone(from.chunks), from.current, from.size
	a.unused, a.sparse = slices.Clone(from.unused), slices.Clone(from.sparse)
	for i := range a.chunks {
		c := &a.chunks[i]
		data := c.data
		if i < len(own) && len(own[i].data) == len(data) {
			c.data = own[i].data
		} else {
			c.data = make([]byte, len(data))
		}
		copy(c.data, data[:c.used])
	}
}

// filled notes that a table has been given the n entries of another one.
func (d *disk) filled(from *disk, n int) {
	d.counts = from.counts.part(d.from, d.to)
	for g := range d.counts.each(d.from, d.to) {
		d.touched.add(g)
	}
	d.moved = true
	d.used.Fill(n)
}
