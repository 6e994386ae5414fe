package op

import (
	"math"
	"slices"
	"sort"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// timeQueue keeps rows until event time comes to when they are due, and gives them out in
// the order of that time, and as they came. Those of the epoch are kept in the batches in
// which they came; what is not due when it ends goes to tables, under key and time.
type timeQueue struct {
	kinds    []vector.Kind
	keys     []int
	updating bool // rows have kinds
	rt       *exec.Runtime

	layout rowkey.Layout // of the keys, with the time behind for rows
	key    *rowkey.Encoder
	timed  *rowkey.Encoder
	rows   *state.Rows
	dues   *state.Times

	fresh    []dueRows // in memory
	unsorted bool

	slots   []state.Slot
	matches state.Matches
	order   timeOrder
}

// dueRows are rows in the order in which they were added, of which those before pos are
// gone, with the time at which each is due.
type dueRows struct {
	b   *vector.Batch
	at  []int64
	pos int
}

func (d *dueRows) first() int64 { return d.at[d.pos] }
func (d *dueRows) last() int64  { return d.at[len(d.at)-1] }

func newTimeQueue(types []sqltype.Type, keys, spread []int, updating bool) *timeQueue {
	q := &timeQueue{keys: keys, updating: updating, layout: keyLayout(types, keys, spread)}
	for _, t := range types {
		q.kinds = append(q.kinds, t.Kind())
	}
	q.key, q.timed = rowkey.NewEncoder(q.layout), rowkey.NewEncoder(q.layout.With(vector.Int64))
	return q
}

// open finds the tables.
func (q *timeQueue) open(rt *exec.Runtime, name string) {
	q.rt = rt
	opt := state.RowsOptions{Cols: slices.Clone(q.kinds)}
	if q.updating {
		opt.Cols = append(opt.Cols, vector.Int8)
	}
	q.rows = rt.State.Rows(name, q.layout.With(vector.Int64), opt)
	q.dues = rt.State.Times(name+" due", q.layout)
}

// add adds the rows of a dense batch, due at the given times. It takes over both.
func (q *timeQueue) add(b *vector.Batch, at []int64) {
	if n := len(q.fresh); n > 0 && q.fresh[n-1].last() > at[0] || !slices.IsSorted(at) {
		q.unsorted = true
	}
	q.fresh = append(q.fresh, dueRows{b: b, at: at})
}

// next is when the next row is due that take gives out.
func (q *timeQueue) next() (int64, bool) {
	q.sort()
	at, ok := q.dues.Next()
	if len(q.fresh) > 0 && (!ok || q.fresh[0].first() < at) {
		return q.fresh[0].first(), true
	}
	return at, ok
}

// take gives out rows that are due up to a time, a batch of them at most, with their
// times. The batch, or nil when there is none, is the caller's.
func (q *timeQueue) take(to int64) (*vector.Batch, []int64, error) {
	for {
		at, stored := q.dues.Next()
		q.sort()
		if len(q.fresh) > 0 && q.fresh[0].first() <= to && (!stored || q.fresh[0].first() < at) {
			if stored && at <= to {
				to = at - 1
			}
			return q.head(to)
		}
		if !stored || at > to {
			return nil, nil, nil
		}
		b, times, err := q.load(to)
		if err != nil {
			return nil, nil, err
		}
		if len(q.fresh) > 0 && times[len(times)-1] > q.fresh[0].first() {
			q.unsorted = true
		}
		q.fresh = slices.Insert(q.fresh, 0, dueRows{b: b, at: times})
	}
}

// head takes rows from the first batch in memory.
func (q *timeQueue) head(to int64) (*vector.Batch, []int64, error) {
	d := &q.fresh[0]
	from := d.pos
	end := len(d.at)
	if d.last() > to {
		end = from + sort.Search(end-from, func(i int) bool { return d.at[from+i] > to })
	}
	end = min(end, from+vector.Target)
	at := d.at[from:end]
	if from == 0 && end == len(d.at) {
		b := d.b
		q.drop()
		return b, at, nil
	}
	b := d.b.Slice(q.rt.Pool, from, end)
	if d.pos = end; end == len(d.at) {
		d.b.Release()
		q.drop()
	}
	return b, at, nil
}

func (q *timeQueue) drop() {
	q.fresh[0] = dueRows{}
	if q.fresh = q.fresh[1:]; len(q.fresh) == 0 {
		q.fresh = nil
	}
}

// sort brings the rows in memory into the order of time.
func (q *timeQueue) sort() {
	if !q.unsorted {
		return
	}
	q.unsorted = false
	p := q.rt.Pool
	all := vector.NewBuilder(p, q.kinds)
	var at []int64
	for _, d := range q.fresh {
		rows := make([]int32, 0, len(d.at)-d.pos)
		for i := d.pos; i < len(d.at); i++ {
			rows = append(rows, int32(i))
		}
		all.AppendTake(d.b, rows)
		at = append(at, d.at[d.pos:]...)
		d.b.Release()
	}
	b := all.Finish()
	defer b.Release()
	perm := q.order.sorted(at)
	q.fresh = q.fresh[:0]
	for from := 0; from < len(perm); from += vector.Target {
		part := perm[from:min(from+vector.Target, len(perm))]
		q.fresh = append(q.fresh, dueRows{b: b.Take(p, part), at: gather(nil, at, part)})
	}
}

// load takes rows out of the tables that are due up to a time.
func (q *timeQueue) load(to int64) (*vector.Batch, []int64, error) {
	d := q.duePairs()
	err := q.dues.Due(to, func(at int64, key []byte) bool {
		d.add(at, key)
		return d.err == nil && len(d.due) < vector.Target
	})
	if found := q.resolve(d); err == nil {
		err = found
	}
	if err != nil {
		return nil, nil, err
	}
	b, at := q.collect(d.due)
	q.rows.Drop(q.slots)
	return b, at, nil
}

// each visits all rows as take would give them out, and leaves them where they are. It is
// called after flush, between epochs.
func (q *timeQueue) each(visit func(b *vector.Batch) error) error {
	d := q.duePairs()
	part := func() error {
		if err := q.resolve(d); err != nil {
			return err
		}
		b, _ := q.collect(d.due)
		defer b.Release()
		return visit(b)
	}
	err := q.dues.Each(func(at int64, key []byte) error {
		if d.add(at, key); d.err == nil && len(d.due) < vector.Target {
			return nil
		}
		err := part()
		d = q.duePairs()
		return err
	})
	if last := part(); err == nil {
		err = last
	}
	return err
}

// duePairs are keys of rows, as columns, with the time at which each is due.
type duePairs struct {
	layout rowkey.Layout
	cols   []*vector.ColumnBuilder
	due    []int64
	err    error
}

func (q *timeQueue) duePairs() *duePairs {
	d := &duePairs{layout: q.layout, cols: make([]*vector.ColumnBuilder, len(q.layout.Kinds))}
	for i, k := range q.layout.Kinds {
		d.cols[i] = vector.NewColumnBuilder(q.rt.Pool, k)
	}
	return d
}

func (d *duePairs) add(at int64, key []byte) {
	d.due = append(d.due, at)
	d.err = rowkey.Decode(d.layout, key, d.cols)
}

// resolve finds where the rows of keys are, in q.slots. It takes over the columns.
func (q *timeQueue) resolve(d *duePairs) error {
	vecs := make([]*vector.Vector, len(d.cols)+1)
	for i, c := range d.cols {
		vecs[i] = c.Finish()
	}
	vecs[len(d.cols)] = vector.Of(q.rt.Pool, d.due...)
	keys := vector.NewBatch(len(d.due), vecs, nil)
	defer keys.Release()
	if d.err != nil {
		return d.err
	}
	q.slots = resize(q.slots, len(d.due))
	return q.rows.Resolve(q.timed.Encode(keys, upTo(len(vecs))), false, q.slots)
}

// collect has the rows under q.slots, which are due at the given times.
func (q *timeQueue) collect(due []int64) (*vector.Batch, []int64) {
	var cursor state.Cursor
	q.matches.Reset()
	q.rows.Match(q.slots, &cursor, math.MaxInt, &q.matches)
	ids, probes := q.matches.Row, q.matches.Probe
	at := gather(nil, due, probes)
	for from := 0; from < len(ids); { // of one key and time the newest comes first
		end := from + 1
		for end < len(ids) && probes[end] == probes[from] {
			end++
		}
		slices.Reverse(ids[from:end])
		from = end
	}
	cols := q.rows.Take(q.rt.Pool, ids)
	var kinds *vector.Vector
	if n := len(q.kinds); q.updating {
		cols, kinds = cols[:n], cols[n]
	}
	return vector.NewBatch(len(ids), cols, kinds), at
}

// flush brings what is in memory into the tables.
func (q *timeQueue) flush() error {
	for len(q.fresh) > 0 {
		d := q.fresh[0]
		b := d.b
		if d.pos > 0 {
			b = b.Slice(q.rt.Pool, d.pos, len(d.at))
			d.b.Release()
		}
		q.drop()
		err := q.store(b, d.at[d.pos:])
		b.Release()
		if err != nil {
			return err
		}
	}
	q.unsorted = false
	return nil
}

func (q *timeQueue) store(b *vector.Batch, at []int64) error {
	p := q.rt.Pool
	cols := make([]*vector.Vector, 0, len(q.keys)+1)
	for _, k := range q.keys {
		cols = append(cols, b.Col(k).Retain())
	}
	keys := vector.NewBatch(b.Len(), append(cols, vector.Of(p, at...)), nil)
	defer keys.Release()
	q.slots = resize(q.slots, b.Len())
	if err := q.rows.Resolve(q.timed.Encode(keys, upTo(len(q.keys)+1)), true, q.slots); err != nil {
		return err
	}
	cols = make([]*vector.Vector, 0, len(q.kinds)+1)
	for c := range q.kinds {
		cols = append(cols, b.Col(c).Retain())
	}
	if q.updating {
		cols = append(cols, kindColumn(p, b))
	}
	rows := vector.NewBatch(b.Len(), cols, nil)
	defer rows.Release()
	if err := q.rows.Add(q.slots, rows); err != nil {
		return err
	}
	encoded := q.key.Encode(b, q.keys)
	for i, t := range at {
		if err := q.dues.Add(t, encoded, i); err != nil {
			return err
		}
	}
	return nil
}

// kindColumn has the kinds of the rows of a dense batch.
func kindColumn(p *vector.Pool, b *vector.Batch) *vector.Vector {
	if v := b.KindVector(); v != nil {
		return v.Retain()
	}
	v, kinds := p.NewKinds(b.Len())
	clear(kinds)
	return v
}

// close frees what is in memory.
func (q *timeQueue) close() {
	for _, d := range q.fresh {
		d.b.Release()
	}
	q.fresh = nil
}

// timeOrder sorts by time.
type timeOrder struct{ perm, other []int32 }

const radixBits = 11

// sorted are the positions of times in ascending order, and of equal ones as they are.
func (o *timeOrder) sorted(at []int64) []int32 {
	o.perm, o.other = resize(o.perm, len(at)), resize(o.other, len(at))
	least, most := at[0], at[0]
	for i, t := range at {
		o.perm[i] = int32(i)
		least, most = min(least, t), max(most, t)
	}
	from, to := o.perm, o.other
	for span, shift := uint64(most)-uint64(least), 0; span>>shift > 0 && shift < 64; shift += radixBits {
		var count [1<<radixBits + 1]int32
		for _, t := range at {
			count[(uint64(t)-uint64(least))>>shift&(1<<radixBits-1)+1]++
		}
		for d := range 1 << radixBits {
			count[d+1] += count[d]
		}
		for _, i := range from {
			d := (uint64(at[i]) - uint64(least)) >> shift & (1<<radixBits - 1)
			to[count[d]] = i
			count[d]++
		}
		from, to = to, from
	}
	return from
}
