package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// WindowRankSpec says which rows of a window a WindowRank passes on.
type WindowRankSpec struct {
	Types     []sqltype.Type // of the input
	Window    WindowSpec     // of rows that have windows
	Partition []int          // input columns, the bounds of the window among them
	Order     []SortKey
	Function  RankFunction
	From, To  int64 // the numbers that are passed on
	ToColumn  int   // column of the partition that has To, or -1
	KeepsLast bool  // of rows that are equal in the order the last one is first
	Number    bool  // the number is the last column
	Output    []int // input columns, before it
	Updating  bool  // the input may take rows away
	Spread    []int // columns that rows are spread by, of Partition; nil: one shard has all
}

// WindowRank numbers the rows of each partition of a window in an order, when the window
// is over, and emits those with certain numbers: window Top-N and deduplication. While
// the window is open it keeps no more than the rows that can still be among them, if rows
// are only added.
type WindowRank struct {
	spec WindowRankSpec
	in   windowInput

	layout rowkey.Layout
	enc    *rowkey.Encoder
	next   *state.Values // by partition: number of rows that came
	rows   *state.Rows   // the order in which it came, unless the input is updating, and the row
	dues   *state.Times

	slots  []state.Slot
	counts []state.Slot
	keep   []int32
	ids    []state.RowID
	number []int64
}

// NewWindowRank returns a WindowRank.
func NewWindowRank(spec WindowRankSpec) *WindowRank {
	r := &WindowRank{spec: spec, in: newWindowInput(spec.Window, spec.Types)}
	r.layout = keyLayout(spec.Types, spec.Partition, spec.Spread)
	r.enc = rowkey.NewEncoder(r.layout)
	return r
}

// Open finds the tables.
func (r *WindowRank) Open(_ context.Context, rt *exec.Runtime) error {
	r.in.rt = rt
	order := &state.SortSpec{}
	for _, k := range r.spec.Order {
		order.Cols, order.Desc, order.NullsLast = append(order.Cols, k.Column+r.first()), append(order.Desc, k.Desc), append(order.NullsLast, k.NullsLast)
	}
	var cols []vector.Kind
	if !r.spec.Updating {
		cols = append(cols, vector.Int64)
		order.Cols, order.Desc, order.NullsLast = append(order.Cols, 0), append(order.Desc, r.spec.KeepsLast), append(order.NullsLast, false)
	} else { // rows that are equal in the order come in that of their values
		for c := range r.spec.Types {
			order.Cols, order.Desc, order.NullsLast = append(order.Cols, c), append(order.Desc, false), append(order.NullsLast, false)
		}
	}
	for _, t := range r.spec.Types {
		cols = append(cols, t.Kind())
	}
	r.rows = rt.State.Rows("rows", r.layout, state.RowsOptions{Cols: cols, Sort: order, Indexed: true})
	r.next = rt.State.Values("next", r.layout, []vector.Kind{vector.Int64})
	r.dues = rt.State.Times("dues", r.layout)
	return nil
}

// first is the place of the input's columns in a stored row.
func (r *WindowRank) first() int {
	if r.spec.Updating {
		return 0
	}
	return 1
}

// Process keeps the rows of b that are not late.
func (r *WindowRank) Process(_ int, b *vector.Batch, _ exec.Output) error {
	p := r.in.rt.Pool
	if _, some := b.Sel(); some {
		b = b.Dense(p)
		defer b.Release()
	}
	start, end := vector.Values[int64](b.Col(r.in.Start)), vector.Values[int64](b.Col(r.in.End))
	column, floor := r.in.before(b)
	r.keep = r.keep[:0]
	for i := range b.Len() {
		at := floor
		if column != nil {
			at = max(at, column[i])
		}
		if r.in.over(end[i], exec.Watermark(at)) {
			r.in.refused.add(i, window.Span{Start: start[i], End: end[i]})
			continue
		}
		r.keep = append(r.keep, int32(i))
	}
	if err := r.in.refuse(b); err != nil {
		return err
	}
	if len(r.keep) == 0 {
		return nil
	}
	kept := b.Take(p, r.keep)
	defer kept.Release()
	return r.add(kept)
}

// add stores rows.
func (r *WindowRank) add(b *vector.Batch) error {
	p := r.in.rt.Pool
	keys := r.enc.Encode(b, r.spec.Partition)
	r.slots = resize(r.slots, b.Len())
	if err := r.rows.Resolve(keys, true, r.slots); err != nil {
		return err
	}
	for i, e := range vector.Values[int64](b.Col(r.in.End)) {
		if err := r.dues.Add(r.in.instant(e)-1, keys, i); err != nil {
			return err
		}
	}
	if r.spec.Updating {
		stored := r.in.alike(b)
		defer stored.Release()
		return r.rows.Add(r.slots, stored)
	}
	r.counts = resize(r.counts, b.Len())
	if err := r.next.Resolve(keys, true, r.counts); err != nil {
		return err
	}
	r.next.Dirty(r.counts)
	next, came := state.Col[int64](r.next, 0), p.New(vector.Int64, b.Len())
	for i, s := range r.counts {
		next[s]++
		vector.Values[int64](came)[i] = next[s]
	}
	cols := []*vector.Vector{came}
	for c := range b.Cols() {
		cols = append(cols, b.Col(c).Retain())
	}
	stored := vector.NewBatch(b.Len(), cols, nil)
	defer stored.Release()
	if err := r.rows.Add(r.slots, stored); err != nil {
		return err
	}
	return r.trim()
}

// trim drops rows that cannot be among the first any more, where there are many.
func (r *WindowRank) trim() error {
	if r.spec.Function != RowNumber || r.spec.ToColumn >= 0 || r.spec.To > 1<<20 {
		return nil
	}
	for _, s := range r.slots {
		if r.rows.Count(s) <= 2*r.spec.To+16 {
			continue
		}
		r.ids = r.ids[:0]
		n := int64(0)
		err := r.rows.Range(s, nil, func(id state.RowID, _ int64) bool {
			if n++; n > r.spec.To {
				r.ids = append(r.ids, id)
			}
			return true
		})
		if err != nil {
			return err
		}
		kinds, k := r.in.rt.Pool.NewKinds(len(r.ids))
		slots := make([]state.Slot, len(r.ids))
		for i := range k {
			k[i], slots[i] = vector.Delete, s
		}
		gone := vector.NewBatch(len(r.ids), r.rows.Take(r.in.rt.Pool, r.ids), kinds)
		err = r.rows.Add(slots, gone)
		gone.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Advance emits the rows of windows that are over.
func (r *WindowRank) Advance(_ int, to exec.Watermark, out exec.Output) error {
	if !r.in.Processing {
		if err := r.fire(to, out); err != nil {
			return err
		}
		r.in.late.Advance(to)
	}
	return out.Advance(to)
}

// End makes windows of processing time over.
func (r *WindowRank) End(int, exec.Output) error {
	r.in.ended = true
	return nil
}

// Flush emits the rows of windows of processing time that are over.
func (r *WindowRank) Flush(out exec.Output) error {
	if !r.in.Processing {
		return nil
	}
	return r.fire(r.in.reached(), out)
}

func (r *WindowRank) fire(to exec.Watermark, out exec.Output) error {
	for {
		keys, err := dueKeys(r.in.rt.Pool, r.dues, r.layout, to)
		if err != nil || keys == nil {
			return err
		}
		err = r.rank(keys, out)
		keys.Release()
		if err != nil {
			return err
		}
	}
}

// rank emits the rows of partitions, and drops them.
func (r *WindowRank) rank(keys *vector.Batch, out exec.Output) error {
	cols := make([]int, keys.Cols())
	for i := range cols {
		cols[i] = i
	}
	encoded := r.enc.Encode(keys, cols)
	r.slots, r.counts = resize(r.slots, keys.Len()), resize(r.counts, keys.Len())
	if err := r.rows.Resolve(encoded, false, r.slots); err != nil {
		return err
	}
	r.ids, r.number = r.ids[:0], r.number[:0]
	for k, s := range r.slots {
		if s == state.None {
			continue
		}
		if err := r.partition(keys, k, s); err != nil {
			return err
		}
		if len(r.ids) >= vector.Target {
			if err := r.emit(out); err != nil {
				return err
			}
		}
	}
	if err := r.emit(out); err != nil {
		return err
	}
	r.rows.Drop(r.slots)
	if r.spec.Updating {
		return nil
	}
	if err := r.next.Resolve(encoded, false, r.counts); err != nil {
		return err
	}
	r.next.Drop(r.counts)
	return nil
}

// partition lists the rows of a partition that are wanted, with their numbers.
func (r *WindowRank) partition(keys *vector.Batch, k int, s state.Slot) error {
	to := r.spec.To
	if r.spec.ToColumn >= 0 {
		for i, c := range r.spec.Partition {
			if c == r.spec.ToColumn {
				to = integerAt(keys.Col(i), k)
			}
		}
	}
	var all []state.RowID
	negative := int64(0)
	err := r.rows.Range(s, nil, func(id state.RowID, count int64) bool {
		if count < 0 {
			negative++
		}
		for range count {
			all = append(all, id)
		}
		return r.spec.Function != RowNumber || int64(len(all)) < to
	})
	if err != nil {
		return err
	}
	r.in.rt.Inconsistent(negative)
	stored := r.rows.Take(r.in.rt.Pool, all)
	defer releaseAll(stored)
	number := int64(0)
	for i, id := range all {
		switch {
		case r.spec.Function == RowNumber || i == 0:
			number = int64(i) + 1
		case r.peers(stored, i-1, i):
		case r.spec.Function == DenseRank:
			number++
		default:
			number = int64(i) + 1
		}
		if number > to {
			break
		}
		if number >= r.spec.From {
			r.ids, r.number = append(r.ids, id), append(r.number, number)
		}
	}
	return nil
}

// peers reports whether two rows are equal in the order.
func (r *WindowRank) peers(stored []*vector.Vector, i, j int) bool {
	for _, k := range r.spec.Order {
		v := stored[k.Column+r.first()]
		if a, b := v.IsNull(i), v.IsNull(j); a || b {
			if a != b {
				return false
			}
			continue
		}
		if vector.Compare(v, i, v, j) != 0 {
			return false
		}
	}
	return true
}

// integerAt is value i of a column of integers; NULL is 0.
func integerAt(v *vector.Vector, i int) int64 {
	if v.IsNull(i) {
		return 0
	}
	switch v.Kind() {
	case vector.Int8:
		return int64(vector.Values[int8](v)[i])
	case vector.Int16:
		return int64(vector.Values[int16](v)[i])
	case vector.Int32:
		return int64(vector.Values[int32](v)[i])
	}
	return vector.Values[int64](v)[i]
}

// emit emits the rows that are listed.
func (r *WindowRank) emit(out exec.Output) error {
	if len(r.ids) == 0 {
		return nil
	}
	p := r.in.rt.Pool
	stored := r.rows.Take(p, r.ids)
	defer releaseAll(stored)
	var cols []*vector.Vector
	for _, c := range r.spec.Output {
		cols = append(cols, stored[c+r.first()].Retain())
	}
	if r.spec.Number {
		cols = append(cols, vector.Of(p, r.number...))
	}
	b := vector.NewBatch(len(r.ids), cols, nil)
	defer b.Release()
	r.ids, r.number = r.ids[:0], r.number[:0]
	return out.Emit(b)
}

// Close does nothing: state belongs to the task.
func (r *WindowRank) Close() error { return nil }
