package state

import (
	"fmt"
	"math"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// RowID is the place in memory of a row of a Rows table. It is valid until the
// next Add, Resolve or Drop of its table or the end of the call.
type RowID = int32

// SortSpec orders the rows under each key by some of their columns, the most
// significant first. Desc and NullsLast are nil or have one element per column;
// NULL comes first by default. Rows that are equal in all of them come in no
// particular order.
type SortSpec struct {
	Cols      []int
	Desc      []bool
	NullsLast []bool
}

// RowsOptions says what a Rows table stores and can do.
type RowsOptions struct {
	Cols []vector.Kind
	Sort *SortSpec // First, Last and Range work; nil: they do not
	// Indexed makes a row findable by its content in constant time, so that rows
	// can be taken away. Without it only inserts can be added.
	Indexed bool
	// Replacing makes the Identity columns tell the rows under a key apart, for an
	// Indexed table: a row that is added replaces the one that has the same values in
	// them, and a row that is taken away needs no others. Without columns a key has
	// one row.
	Replacing bool
	Identity  []int
	// Noted gives each row a number that the operator keeps.
	Noted bool
}

// Rows keeps a multiset of rows for each key. A key with no row left loses its
// entry when the call ends, without a Drop.
//
// In an Indexed table equal rows are one row with a count, as equal as in GROUP
// BY: NULL equals NULL, -0 equals 0, NaN equals NaN (the first that came is kept).
// A count may be negative while an epoch lasts, when a row was taken away before
// it was added; a row whose count is 0 is gone. In a Replacing table the rows of one
// identity are one row, whose count is 1.
type Rows struct {
	keyTable
	opt  RowsOptions
	cols []column

	// By slot. Row ids count from 1, so that 0 ends a chain.
	head   []RowID // the newest row
	number []int32 // rows in the chain
	sum    []int64 // Indexed: of the counts
	root   []int32 // Sort: the tree of a large group

	// By row id.
	rows     int // row ids ever used, the unused 0 included
	freeIDs  []RowID
	packRows packing
	next     []RowID
	notes    []int64  // Noted
	prev     []RowID  // Indexed
	counts   []int64  // Indexed
	content  []uint64 // Indexed: hash of the columns
	owner    []Slot   // Indexed: None for a free row

	enc      *rowkey.Encoder // Indexed: for content
	compared []int           // Indexed: the columns by which rows are told apart
	byRow    index           // Indexed: from content and slot to row id
	sorted   *sortedRows
	onDisk   *rowsOnDisk // with a database and without EvictAll
	negative int64
	emptied  []Slot // entries that lost their last row in this call

	add addScratch
}

type addScratch struct {
	row  []int32 // positions in the batch
	slot []Slot
	id   []RowID
	sign []int64
	diff []bool
	hash []uint64
	dead []RowID
	pick []int32 // positions of rows that were made

	pickRow  []int32
	pickID   []RowID
	pickSlot []Slot
	found    []int32
}

func newRows(name string, key rowkey.Layout, opt RowsOptions, store Options) *Rows {
	r := &Rows{keyTable: newKeyTable(name, key, store), opt: opt, rows: 1, packRows: packing{from: store.sparseFrom()}}
	for i, k := range opt.Cols {
		r.cols = append(r.cols, newColumn(k, store))
		r.compared = append(r.compared, i)
	}
	if opt.Replacing {
		r.compared = opt.Identity
	}
	if opt.Indexed {
		r.enc = rowkey.NewEncoder(rowkey.Layout{Kinds: pick(opt.Cols, r.compared)})
		r.byRow = newIndex(false)
	}
	if opt.Sort != nil {
		r.sorted = newSortedRows(r, opt)
	}
	r.payload = (*rowsPayload)(r)
	r.noteCreated = true
	return r
}

func pick[T any](from []T, at []int) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = from[k]
	}
	return out
}

// Resolve finds the entry of each key, as Values.Resolve does: slots are pinned
// until the call ends, and an Add needs them created.
func (r *Rows) Resolve(keys *rowkey.Keys, create bool, slots []Slot) error {
	return r.resolve(keys, create, slots)
}

// Add puts live row i of b under slots[i], once more or once less as its row kind
// says; rows whose slot is None are left out. The values are copied. The entries
// become dirty. The columns of b are those of the table, in their order.
func (r *Rows) Add(slots []Slot, b *vector.Batch) error {
	r.check(slots)
	r.fits(b)
	a := &r.add
	a.row, a.slot, a.sign = a.row[:0], a.slot[:0], a.sign[:0]
	kinds := b.Kinds()
	for i, s := range slots[:b.Len()] {
		if s == None {
			continue
		}
		row := b.Row(i)
		a.row, a.slot = append(a.row, int32(row)), append(a.slot, s)
		if kinds == nil {
			continue
		}
		if !r.opt.Indexed && !kinds[row].Adds() {
			panic(fmt.Sprintf("state: table %q: a %v row for a table that is not indexed", r.name, kinds[row]))
		}
		a.sign = append(a.sign, kinds[row].Sign())
	}
	r.markDirty(a.slot)
	if r.opt.Indexed {
		r.fold(b, slots)
	} else {
		r.appendRows(b)
	}
	return nil
}

func (r *Rows) fits(b *vector.Batch) {
	if b.Cols() != len(r.cols) {
		panic(fmt.Sprintf("state: table %q: %d columns for %d", r.name, b.Cols(), len(r.cols)))
	}
	for i, k := range r.opt.Cols {
		if b.Col(i).Kind() != k {
			panic(fmt.Sprintf("state: table %q: column %d is %v, not %v", r.name, i, b.Col(i).Kind(), k))
		}
	}
}

// appendRows adds the rows of r.add as they are.
func (r *Rows) appendRows(b *vector.Batch) {
	a := &r.add
	a.id = a.id[:0]
	r.roomForRows(len(a.row))
	next, head, number := r.next, r.head, r.number
	for _, s := range a.slot {
		id := r.newRow()
		a.id = append(a.id, id)
		next[id] = head[s]
		head[s] = id
		number[s]++
	}
	for i, c := range r.cols {
		c.store(b.Col(i), a.row, a.id)
	}
	if r.sorted != nil {
		r.sorted.add(a.slot, a.id)
	}
}

// roomForRows makes sure that n row ids can be taken.
func (r *Rows) roomForRows(n int) {
	need, have := r.rows+n-len(r.freeIDs), len(r.next)
	r.packRows.use(need)
	if need <= have {
		return
	}
	size := max(need, grown(have, r.budget))
	if size > math.MaxInt32 {
		if size = math.MaxInt32; need > size {
			panic(fmt.Sprintf("state: table %q: more than %d rows in one shard", r.name, size))
		}
	}
	r.next = extend(r.next, size)
	if r.opt.Noted {
		r.notes = extend(r.notes, size)
	}
	if r.opt.Indexed {
		r.prev = extend(r.prev, size)
		r.counts = extend(r.counts, size)
		r.content = extend(r.content, size)
		r.owner = extend(r.owner, size)
	}
	if r.onDisk != nil {
		words := vector.BitmapWords(size)
		r.onDisk.here, r.onDisk.dirty = extend(r.onDisk.here, words), extend(r.onDisk.dirty, words)
	}
	for _, c := range r.cols {
		c.grow(size)
	}
	if r.sorted != nil {
		r.sorted.grow(size)
	}
	if r.evict != nil {
		for id := max(have, 1); id < size; id++ {
			r.freeIDs = append(r.freeIDs, RowID(id))
		}
		r.poisonRows(r.freeIDs[len(r.freeIDs)-(size-max(have, 1)):])
		r.rows = size
	}
}

// newRow takes a row id for which there is room.
func (r *Rows) newRow() RowID {
	n := len(r.freeIDs) - 1
	if n < 0 {
		r.rows++
		return RowID(r.rows - 1)
	}
	i := n
	if r.evict != nil {
		i = r.evict.rand.IntN(n + 1)
	}
	id := r.freeIDs[i]
	r.freeIDs[i] = r.freeIDs[n]
	r.freeIDs = r.freeIDs[:n]
	if r.notes != nil {
		r.notes[id] = 0
	}
	if r.evict != nil {
		for _, c := range r.cols {
			c.zero([]int32{id})
		}
	}
	return id
}

// freeRows gives up rows that are in no chain.
func (r *Rows) freeRows(ids []RowID) {
	for _, c := range r.cols {
		c.zero(ids)
	}
	if r.evict != nil {
		r.poisonRows(ids)
	}
	r.freeIDs = append(r.freeIDs, ids...)
}

func (r *Rows) poisonRows(ids []RowID) {
	for _, c := range r.cols {
		c.poison(ids)
	}
}

// Cursor is how far a Match came. The zero Cursor is the beginning.
type Cursor struct {
	Pos int   // index in slots
	row RowID // where to go on in the chain of slots[Pos]; 0: at its head
}

// Matches are pairs of a probe (an index in the slots given to Match) and a stored
// row with its count. The caller may reuse them.
type Matches struct {
	Probe []int32
	Row   []RowID
	Count []int64
}

// Reset empties m and keeps its memory.
func (m *Matches) Reset() { m.Probe, m.Row, m.Count = m.Probe[:0], m.Row[:0], m.Count[:0] }

// Match appends to m every row under slots[i], for each i from c.Pos, until m has
// limit pairs. If there may be more it returns false and is to be called again with
// the same cursor; the table must not change in between. The rows of one key come
// in no particular order.
func (r *Rows) Match(slots []Slot, c *Cursor, limit int, m *Matches) (done bool) {
	r.check(slots)
	for ; c.Pos < len(slots); c.Pos++ {
		s := slots[c.Pos]
		if s == None {
			continue
		}
		id := c.row
		if id == 0 {
			id = r.head[s]
		}
		for ; id != 0; id = r.next[id] {
			if len(m.Row) >= limit {
				c.row = id
				return false
			}
			m.Probe = append(m.Probe, int32(c.Pos))
			m.Row = append(m.Row, id)
			m.Count = append(m.Count, r.countOf(id))
		}
		c.row = 0
	}
	return true
}

func (r *Rows) countOf(id RowID) int64 {
	if r.counts == nil {
		return 1
	}
	return r.counts[id]
}

// Take gathers stored rows into vectors of p, one for each column of the table,
// that the caller releases.
func (r *Rows) Take(p *vector.Pool, ids []RowID) []*vector.Vector {
	out := make([]*vector.Vector, len(r.cols))
	for i, c := range r.cols {
		out[i] = c.take(p, ids)
	}
	return out
}

// Count is the sum of the counts of the rows under s.
func (r *Rows) Count(s Slot) int64 {
	if r.evict != nil {
		r.check([]Slot{s})
	}
	switch {
	case s == None:
		return 0
	case r.sum == nil:
		return int64(r.number[s])
	}
	return r.sum[s]
}

// Negative is the number of rows whose count is negative now. At a mark each is an
// inconsistency of the input.
func (r *Rows) Negative() int64 { return r.negative }

// Len is the number of keys with an entry, in memory or not.
func (r *Rows) Len() int { return int(r.count) }

// Drop removes the entries and all their rows. The rows stay until the call ends.
func (r *Rows) Drop(slots []Slot) { r.drop(slots) }

// DropAll removes every entry and frees the table's memory. No slot and no row id
// is valid after.
func (r *Rows) DropAll() error {
	if r.disk != nil {
		r.disk.droppedAll()
	}
	var all []Slot
	r.index.each(func(s Slot) { all = append(all, s) })
	r.count, r.negative = 0, 0
	r.created, r.emptied = nil, nil
	if r.evict != nil {
		r.moving = true
		for _, s := range all {
			r.unlink(s)
		}
		n := len(r.free)
		r.free = append(r.free, all...)
		r.recycle(r.free[n:])
		r.moving = false
		r.evict.changed = nil
		clear(r.evict.copied)
		return r.evict.deleteAll(&r.keyTable)
	}
	fresh := newRows(r.name, r.layout, r.opt, Options{miss: r.miss})
	fresh.disk, fresh.budget, fresh.pack, fresh.packRows = r.disk, r.budget, r.pack, r.packRows
	if r.onDisk != nil {
		fresh.onDisk = &rowsOnDisk{}
	}
	*r = *fresh
	r.payload = (*rowsPayload)(r)
	if r.sorted != nil {
		r.sorted.rows = r
	}
	return nil
}

// endCall ends the entries that have no row.
func (r *Rows) endCall() error {
	without := r.created[:0]
	for _, s := range append(r.created, r.emptied...) {
		if r.number[s] == 0 {
			without = append(without, s)
		}
	}
	r.drop(without)
	r.created, r.emptied = r.created[:0], r.emptied[:0]
	return r.keyTable.endCall()
}

func (r *Rows) endEpoch() error { return r.endCall() }

// rowsPayload is the payload of Rows, apart so as not to show in its methods.
type rowsPayload Rows

func (r *rowsPayload) grow(n int) {
	r.head = extend(r.head, n)
	r.number = extend(r.number, n)
	if r.opt.Indexed {
		r.sum = extend(r.sum, n)
	}
	if d := r.onDisk; d != nil {
		d.kept, d.whole = extend(d.kept, n), extend(d.whole, vector.BitmapWords(n))
	}
	if r.sorted != nil {
		r.root = extend(r.root, n)
	}
}

// release frees the rows of entries that end, or that move to the tier.
func (p *rowsPayload) release(slots []Slot) {
	r := (*Rows)(p)
	for _, s := range slots {
		if r.onDisk != nil {
			r.forgetRows(s)
		}
		first := len(r.add.dead)
		for id := r.head[s]; id != 0; id = r.next[id] {
			r.add.dead = append(r.add.dead, id)
		}
		ids := r.add.dead[first:]
		if r.opt.Indexed {
			r.forget(s, ids)
		}
		if r.sorted != nil {
			r.sorted.drop(s)
		}
		r.freeRows(ids)
		r.add.dead = r.add.dead[:first]
		r.head[s], r.number[s] = 0, 0
	}
}

func (r *rowsPayload) prepare(Slot) {}

func (r *rowsPayload) poison([]Slot) {}

func (r *rowsPayload) move() {}

func (r *rowsPayload) intact([]Slot) bool { return true }
