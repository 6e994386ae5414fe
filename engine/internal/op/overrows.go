package op

import (
	"context"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// OverRowsSpec is an OverSpec of any order.
type OverRowsSpec struct {
	OverSpec
	Updating   bool // the input may take rows away
	OmitBefore bool // the consumer needs no -U
}

// OverRows computes calls with OVER for rows in any order, that may also be taken away.
// It keeps all live rows, in order. When an epoch has changed the rows of a partition the
// values of the others are computed anew, and those that are different are updated. Of
// rows that are equal in the order the one that came first is first.
type OverRows struct {
	spec   OverRowsSpec
	rt     *exec.Runtime
	all    []int // the columns of Types
	layout rowkey.Layout
	enc    *rowkey.Encoder
	calls  overCalls
	reads  []int

	parts *state.Values // by partition: number of the next row that comes
	rows  *state.Rows   // by partition: number and row, in order
	live  *liveRows     // nil: rows are only added

	expiry *expiry // nil: partitions are kept for ever

	pending  []*vector.Batch // rows of this epoch, if they are only added
	updated  []bool          // of the rows of live that this epoch touched: it came as +U
	slots    []state.Slot
	held     []state.Slot // of the partitions of this epoch, in rows
	fresh    []int32
	starts   []int64 // by partition of the epoch: rows from this number on are new
	old, now overView
	changes  overChanges
}

// overView is the rows of several partitions with the values of the calls.
type overView struct {
	ids     []state.RowID
	numbers []int64
	walk    overWalk
	values  []*vector.Vector // of the rows that are wanted
	from    []int32          // by partition: the first of them
}

func (v *overView) release() {
	v.walk.reset()
	releaseAll(v.values)
	v.values = v.values[:0]
}

// value is the place of a row of the walk among the values.
func (v *overView) value(part int, row int32) int32 { return v.from[part] + row - v.walk.first[part] }

// NewOverRows returns an OverRows. It fails for calls that it does not know.
func NewOverRows(spec OverRowsSpec) (*OverRows, error) {
	o := &OverRows{spec: spec, all: upTo(len(spec.Types))}
	o.layout = keyLayout(spec.Types, spec.Partition, spec.Spread)
	o.enc = rowkey.NewEncoder(o.layout)
	var at []int
	o.reads, at = spec.reads()
	if err := o.calls.init(&o.spec.OverSpec, at, false); err != nil {
		return nil, err
	}
	for _, v := range []*overView{&o.old, &o.now} {
		v.walk.keys = spec.Order
		for _, k := range spec.Order {
			v.walk.order = append(v.walk.order, at[k.Column])
		}
	}
	if spec.Updating {
		o.live = newLiveRows(spec.Types, spec.Spread)
		o.live.forgets = spec.Retention.Set()
	}
	if spec.Retention.Set() {
		o.expiry = newExpiry(spec.Retention, o.layout, 1)
	}
	return o, nil
}

// Open finds the tables.
func (o *OverRows) Open(_ context.Context, rt *exec.Runtime) error {
	o.rt, o.old.walk.pool, o.now.walk.pool = rt, rt.Pool, rt.Pool
	kinds := []vector.Kind{vector.Int64}
	if o.expiry != nil {
		kinds = append(kinds, vector.Int64)
		o.expiry.open(rt, "expiry")
	}
	o.parts = rt.State.Values("partitions", o.layout, kinds)
	order := &state.SortSpec{}
	for _, k := range append(o.spec.Order[:len(o.spec.Order):len(o.spec.Order)], SortKey{Column: -1}) {
		order.Cols, order.Desc, order.NullsLast = append(order.Cols, k.Column+1), append(order.Desc, k.Desc), append(order.NullsLast, k.NullsLast)
	}
	opt := state.RowsOptions{Cols: []vector.Kind{vector.Int64}, Sort: order, Indexed: o.spec.Updating}
	for _, t := range o.spec.Types {
		opt.Cols = append(opt.Cols, t.Kind())
	}
	o.rows = rt.State.Rows("rows", o.layout, opt)
	if o.live != nil {
		o.live.open(rt, "live")
	}
	return nil
}

// Process keeps the changes of b until the epoch ends.
func (o *OverRows) Process(_ int, b *vector.Batch, _ exec.Output) error {
	if o.expiry.late() {
		if err := o.expire(); err != nil {
			return err
		}
	}
	if _, some := b.Sel(); some {
		b = b.Dense(o.rt.Pool)
		defer b.Release()
	}
	plain := b.Project(o.all)
	defer plain.Release()
	if o.live == nil {
		o.pending = append(o.pending, plain.Keep(o.rt.Pool))
		return nil
	}
	if err := o.live.count(plain); err != nil {
		return err
	}
	for len(o.updated) < len(o.live.table.Held()) {
		o.updated = append(o.updated, false)
	}
	kinds := b.Kinds()
	for i, s := range o.live.slots {
		if kinds == nil || kinds[i].Adds() {
			o.updated[o.live.table.Ordinal(s)] = kinds != nil && kinds[i] == vector.UpdateAfter
		}
	}
	return nil
}

// Advance passes the watermark on.
func (o *OverRows) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }

// End does nothing.
func (o *OverRows) End(int, exec.Output) error { return nil }

// Flush publishes the rows that came and went, and those whose values have changed, and
// forgets partitions that were not touched for long.
func (o *OverRows) Flush(out exec.Output) error {
	defer o.clear()
	flush := o.flushAppend
	if o.live != nil {
		flush = o.flushUpdating
	}
	if err := flush(out); err != nil || o.expiry == nil {
		return err
	}
	return o.keep()
}

// clear releases what belongs to the epoch.
func (o *OverRows) clear() {
	for _, b := range o.pending {
		b.Release()
	}
	o.pending = slices.Delete(o.pending, 0, len(o.pending))
	o.updated = o.updated[:0]
	o.old.release()
	o.now.release()
}

// hold adds the partitions of rows to those of the epoch. It leaves them in slots.
func (o *OverRows) hold(b *vector.Batch) error {
	o.slots = resize(o.slots, b.Len())
	if err := o.parts.Resolve(o.enc.Encode(b, o.spec.Partition), true, o.slots); err != nil {
		return err
	}
	o.fresh = o.parts.Hold(o.slots, o.fresh[:0])
	o.parts.Dirty(o.slots)
	return nil
}

// touched resolves the partitions of the epoch in rows.
func (o *OverRows) touched() error {
	held := o.parts.Held()
	cols, err := o.parts.Keys(o.rt.Pool, held)
	if err != nil {
		return err
	}
	keys := vector.NewBatch(len(held), cols, nil)
	defer keys.Release()
	o.held = resize(o.held, len(held))
	o.starts = gather(o.starts, state.Col[int64](o.parts, 0), held)
	return o.rows.Resolve(o.enc.Encode(keys, upTo(keys.Cols())), true, o.held)
}

// flushAppend finds what was and what is among rows that are all there: those that
// came in this epoch have numbers from starts on.
func (o *OverRows) flushAppend(out exec.Output) error {
	if len(o.pending) == 0 {
		return nil
	}
	for _, b := range o.pending {
		if err := o.hold(b); err != nil {
			return err
		}
	}
	if err := o.touched(); err != nil {
		return err
	}
	for _, b := range o.pending {
		if err := o.hold(b); err != nil {
			return err
		}
		number := o.rt.Pool.New(vector.Int64, b.Len())
		next := state.Col[int64](o.parts, 0)
		for i, s := range o.slots {
			vector.Values[int64](number)[i] = next[s]
			next[s]++
			o.slots[i] = o.held[o.parts.Ordinal(s)]
		}
		if err := o.add(number, b, nil); err != nil {
			return err
		}
	}
	if err := o.look(&o.now, nil); err != nil {
		return err
	}
	before := func(part int, number int64) bool { return number < o.starts[part] }
	if err := o.look(&o.old, before); err != nil {
		return err
	}
	return o.publish(out, nil, nil)
}

// flushUpdating looks at the rows before and after the changes.
func (o *OverRows) flushUpdating(out exec.Output) error {
	_, changed, err := o.live.settle()
	if err != nil {
		return err
	}
	defer changed.release()
	if len(changed.rows) == 0 {
		return nil
	}
	b := changed.keys.Take(o.rt.Pool, changed.rows)
	defer b.Release()
	if err := o.hold(b); err != nil {
		return err
	}
	if err := o.touched(); err != nil {
		return err
	}
	if err := o.look(&o.old, nil); err != nil {
		return err
	}
	updated := o.numberBorn(changed)
	gone := &overGone{rows: b, at: map[[2]int64]int32{}}
	for i, kind := range changed.kinds {
		if !kind.Adds() {
			gone.at[[2]int64{int64(o.parts.Ordinal(o.slots[i])), changed.numbers[i]}] = int32(i)
		}
	}
	for i, s := range o.slots {
		o.slots[i] = o.held[o.parts.Ordinal(s)]
	}
	kinds, k := o.rt.Pool.NewKinds(len(changed.rows))
	copy(k, changed.kinds)
	if err := o.add(vector.Of(o.rt.Pool, changed.numbers...), b, kinds); err != nil {
		return err
	}
	if err := o.look(&o.now, nil); err != nil {
		return err
	}
	if err := o.publish(out, gone, updated); err != nil {
		return err
	}
	return o.forget()
}

// numberBorn gives rows that are new their numbers in their partitions. It returns the
// numbers of those that came as +U, by partition.
func (o *OverRows) numberBorn(c *rowChanges) map[[2]int64]bool {
	next, given := state.Col[int64](o.parts, 0), state.Col[int64](o.live.table, colNumber)
	held, born, number := o.live.table.Held(), int64(0), int64(0)
	var updated map[[2]int64]bool
	for i, n := range c.numbers {
		if n < 0 {
			if n != born {
				born, number = n, next[o.slots[i]]
				next[o.slots[i]]++
				given[held[c.rows[i]]] = number
			}
			c.numbers[i] = number
		}
		if c.kinds[i].Adds() && o.updated[c.rows[i]] {
			if updated == nil {
				updated = map[[2]int64]bool{}
			}
			updated[[2]int64{int64(o.parts.Ordinal(o.slots[i])), c.numbers[i]}] = true
		}
	}
	return updated
}

// add puts numbered rows into slots of rows or takes them away. It takes number and
// kinds over.
func (o *OverRows) add(number *vector.Vector, b *vector.Batch, kinds *vector.Vector) error {
	cols := []*vector.Vector{number}
	for _, c := range o.all {
		cols = append(cols, b.Col(c).Retain())
	}
	numbered := vector.NewBatch(b.Len(), cols, kinds)
	defer numbered.Release()
	return o.rows.Add(o.slots[:b.Len()], numbered)
}

// look lists the rows of the partitions of the epoch of which only says so, each as
// often as it is there.
func (o *OverRows) look(v *overView, only func(part int, number int64) bool) error {
	v.ids, v.walk.ends = v.ids[:0], v.walk.ends[:0]
	for _, s := range o.held {
		err := o.rows.Range(s, nil, func(id state.RowID, times int64) bool {
			for range times {
				v.ids = append(v.ids, id)
			}
			return true
		})
		if err != nil {
			return err
		}
		v.walk.ends = append(v.walk.ends, len(v.ids))
	}
	column := o.rows.TakeColumn(o.rt.Pool, v.ids, 0)
	v.numbers = append(v.numbers[:0], vector.Values[int64](column)[:len(v.ids)]...)
	column.Release()
	if only != nil {
		v.filter(only)
	}
	for _, c := range o.reads {
		v.walk.cols = append(v.walk.cols, o.rows.TakeColumn(o.rt.Pool, v.ids, c+1))
	}
	return nil
}

func (v *overView) filter(only func(part int, number int64) bool) {
	n, from := 0, 0
	for part, end := range v.walk.ends {
		for ; from < end; from++ {
			if only(part, v.numbers[from]) {
				v.ids[n], v.numbers[n] = v.ids[from], v.numbers[from]
				n++
			}
		}
		v.walk.ends[part] = n
	}
	v.ids, v.numbers = v.ids[:n], v.numbers[:n]
}

// forget drops partitions without rows.
func (o *OverRows) forget() error {
	var gone []state.Slot
	for i, s := range o.parts.Held() {
		if o.rows.Count(o.held[i]) == 0 {
			gone = append(gone, s)
		}
	}
	if len(gone) > 0 {
		o.parts.Drop(gone)
	}
	return nil
}

// Close drops what an epoch that did not end has left.
func (o *OverRows) Close() error {
	o.expiry.close()
	o.clear()
	return nil
}
