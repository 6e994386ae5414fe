package state

import (
	"slices"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// First is the smallest row under s whose count is positive. It takes O(log n),
// plus the number of rows of negative count before it.
func (r *Rows) First(s Slot) (id RowID, count int64, ok bool) {
	return r.end(s, false)
}

// Last is the greatest row under s whose count is positive.
func (r *Rows) Last(s Slot) (id RowID, count int64, ok bool) {
	return r.end(s, true)
}

func (r *Rows) end(s Slot, last bool) (id RowID, count int64, ok bool) {
	r.checkSorted(s)
	if s == None {
		return 0, 0, false
	}
	if root := r.root[s]; root != 0 {
		r.sorted.walk(root, last, func(e RowID) bool {
			id = e
			return r.countOf(e) <= 0
		})
		if count = r.countOf(id); count <= 0 {
			return 0, 0, false
		}
		return id, count, true
	}
	for e := r.head[s]; e != 0; e = r.next[e] {
		if c := r.countOf(e); c > 0 && (!ok || r.sorted.less(e, id) != last) {
			id, count, ok = e, c, true
		}
	}
	return id, count, ok
}

// Range yields the rows under s in order, from the first that is not before from,
// the canonical bytes of a sort key (see SortLayout); nil is the beginning. The
// table must not change meanwhile. The error is that of a malformed from.
func (r *Rows) Range(s Slot, from []byte, yield func(id RowID, count int64) bool) error {
	r.checkSorted(s)
	if s == None {
		return nil
	}
	probe := RowID(0)
	if from != nil {
		if err := r.sorted.setProbe(from); err != nil {
			return err
		}
		probe = probeRow
	}
	if root := r.root[s]; root != 0 {
		each := func(id RowID) bool { return yield(id, r.countOf(id)) }
		if from == nil {
			r.sorted.walk(root, false, each)
		} else {
			r.sorted.walkFrom(root, r.sorted.entry(probe), each)
		}
		return nil
	}
	var few []RowID
	for id := r.head[s]; id != 0; id = r.next[id] {
		if from == nil || !r.sorted.less(id, probe) {
			few = append(few, id)
		}
	}
	slices.SortFunc(few, r.sorted.compareRows)
	for _, id := range few {
		if !yield(id, r.countOf(id)) {
			break
		}
	}
	return nil
}

// SortLayout is the layout of the sort keys that Range takes.
func (r *Rows) SortLayout() rowkey.Layout { return r.sorted.layout }

func (r *Rows) checkSorted(s Slot) {
	if r.sorted == nil {
		panic("state: table " + r.name + " has no order")
	}
	if r.evict != nil {
		r.check([]Slot{s})
	}
}

// sortedRows keeps the rows of each large group in a B-tree. A small group has
// none: its chain is short.
//
// Every row has a prefix, a word that sorts as the row does but may be equal for
// different rows. Nodes hold prefixes beside the row ids, so that a search rarely
// looks at the rows themselves. Ties in all sort columns are broken by row id.
type sortedRows struct {
	rows   *Rows
	cols   []int
	orders []order
	layout rowkey.Layout
	exact  bool     // prefixes other than the extreme ones are never equal for different rows
	prefix []uint64 // by row id
	nodes  [][]sortedNode
	unused []int32
	size   int32 // nodes ever made; 0 is no node
	pool   *vector.Pool
	at     [1]RowID
}

type sortedEntry struct {
	prefix uint64
	id     RowID
}

// sortedNode is a leaf, or has a child for each entry, which is the child's first.
type sortedNode struct {
	n      int32
	inner  bool
	prefix [fanOut]uint64
	id     [fanOut]RowID
	child  [fanOut]int32
}

const (
	fanOut     = 32
	smallGroup = 8 // a greater one gets a tree, which it keeps until half as many are left
	nodeSlab   = 64
	probeRow   = RowID(0) // the row id that is never used holds what Range looks for
)

func newSortedRows(r *Rows, opt RowsOptions) *sortedRows {
	spec := opt.Sort
	t := &sortedRows{rows: r, cols: spec.Cols, size: 1, pool: vector.NewPool()}
	t.layout = rowkey.Layout{Desc: spec.Desc, NullsLast: spec.NullsLast}
	for i, c := range spec.Cols {
		t.layout.Kinds = append(t.layout.Kinds, opt.Cols[c])
		t.orders = append(t.orders, order{
			desc:      spec.Desc != nil && spec.Desc[i],
			nullsLast: spec.NullsLast != nil && spec.NullsLast[i],
		})
	}
	t.exact = len(spec.Cols) == 1 && opt.Cols[spec.Cols[0]].Width() > 0
	return t
}

func (t *sortedRows) grow(n int) { t.prefix = extend(t.prefix, n) }

func (t *sortedRows) bytes() int64 {
	const node = 8 + fanOut*(8+4+4)
	return int64(cap(t.prefix))*8 + int64(len(t.nodes))*nodeSlab*node
}

// add takes in rows whose columns are stored and that are in their chains.
func (t *sortedRows) add(slots []Slot, ids []RowID) {
	words := make([]uint64, len(ids))
	if len(t.cols) > 0 {
		t.rows.cols[t.cols[0]].prefix(ids, t.orders[0], words)
	}
	for i, id := range ids {
		t.prefix[id] = words[i]
	}
	root, number := t.rows.root, t.rows.number
	for i, s := range slots {
		if root[s] != 0 {
			root[s] = t.insert(root[s], t.entry(ids[i]))
		}
	}
	// A group that has become large gets a tree of its whole chain, which has all
	// the rows of this call.
	for _, s := range slots {
		if root[s] == 0 && number[s] > smallGroup {
			t.plant(s)
		}
	}
}

func (t *sortedRows) plant(s Slot) {
	root := t.newNode(false)
	for id := t.rows.head[s]; id != 0; id = t.rows.next[id] {
		root = t.insert(root, t.entry(id))
	}
	t.rows.root[s] = root
}

// remove takes out a row that is still in its chain.
func (t *sortedRows) remove(s Slot, id RowID) {
	root := t.rows.root[s]
	if root == 0 {
		return
	}
	if t.rows.number[s] <= smallGroup/2 {
		t.drop(s)
		return
	}
	t.delete(root, t.entry(id))
	for n := t.node(root); n.inner && n.n == 1; n = t.node(root) {
		t.unused = append(t.unused, root)
		root = n.child[0]
	}
	t.rows.root[s] = root
}

// drop frees the tree of s.
func (t *sortedRows) drop(s Slot) {
	if root := t.rows.root[s]; root != 0 {
		t.free(root)
		t.rows.root[s] = 0
	}
}

func (t *sortedRows) free(node int32) {
	if n := t.node(node); n.inner {
		for _, c := range n.child[:n.n] {
			t.free(c)
		}
	}
	t.unused = append(t.unused, node)
}

func (t *sortedRows) node(i int32) *sortedNode { return &t.nodes[i/nodeSlab][i%nodeSlab] }

func (t *sortedRows) newNode(inner bool) int32 {
	var i int32
	if last := len(t.unused) - 1; last >= 0 {
		i, t.unused = t.unused[last], t.unused[:last]
	} else {
		i = t.size
		t.size++
		if int(i/nodeSlab) == len(t.nodes) {
			t.nodes = append(t.nodes, make([]sortedNode, nodeSlab))
		}
	}
	n := t.node(i)
	n.n, n.inner = 0, inner
	return i
}

func (t *sortedRows) entry(id RowID) sortedEntry { return sortedEntry{t.prefix[id], id} }

// setProbe makes the probe row one with the given sort key.
func (t *sortedRows) setProbe(key []byte) error {
	d := newKeyDecoder(t.pool, t.layout)
	if err := d.add(key); err != nil {
		d.discard()
		return err
	}
	t.at[0] = probeRow
	for i, v := range d.finish() {
		c := t.rows.cols[t.cols[i]]
		c.zero(t.at[:])
		c.store(v, nil, t.at[:])
		v.Release()
	}
	if len(t.cols) > 0 {
		t.rows.cols[t.cols[0]].prefix(t.at[:], t.orders[0], t.prefix[:1])
	}
	return nil
}

func (t *sortedRows) less(a, b RowID) bool { return t.before(t.entry(a), t.entry(b)) }

func (t *sortedRows) compareRows(a, b RowID) int {
	switch {
	case a == b:
		return 0
	case t.less(a, b):
		return -1
	}
	return 1
}

func (t *sortedRows) before(a, b sortedEntry) bool {
	if a.prefix != b.prefix {
		return a.prefix < b.prefix
	}
	if !t.exact || a.prefix == 0 || a.prefix == 1<<64-1 {
		for i, c := range t.cols {
			if d := t.rows.cols[c].compare(a.id, b.id, t.orders[i]); d != 0 {
				return d < 0
			}
		}
	}
	return a.id < b.id
}
