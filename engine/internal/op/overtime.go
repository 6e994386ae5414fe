package op

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// OverTimeSpec is an OverSpec whose order begins with time, ascending.
type OverTimeSpec struct {
	OverSpec
	Event     bool // of the input's watermarks, not of the clock
	Watermark int  // the hidden column, or -1
	// Strict says that a row is late whenever the watermark had passed it before it came.
	Strict bool
}

// OverTime computes calls with OVER for rows that are only added, in the order of time.
// Each row is emitted once, with values that do not change any more.
//
// In event time a row waits until the watermark has passed it, and all that its frames
// look at. It is late if the watermark had passed it before it came; if all frames are
// so many ROWS, which are kept anyway, then only if the watermark had passed a row of its
// partition that is not before it, unless the spec is Strict. A row without a time is late,
// unless the order has it last.
//
// In processing time rows are in the order in which they come, and none has peers.
//
// It keeps the rows that wait, of those that were emitted what frames still look at, and
// of frames that only grow what was found in them.
type OverTime struct {
	spec      OverTimeSpec
	rt        *exec.Runtime
	time      int // column
	reads, at []int
	layout    rowkey.Layout
	enc       *rowkey.Encoder
	order     *rowkey.Encoder // of several columns of the order
	calls     overCalls
	late      overLate

	parts    *state.Values // by partition: see the columns below
	waiting  *state.Rows   // by partition: number and row, in order
	history  *state.Rows   // by partition: place and columns that are read, in order; nil: nothing looks back
	due      *state.Times  // when to look at partitions
	held     *state.Times  // rows that are in order and wait for what is behind them; nil: none does
	distinct []*state.Values

	expiry  *expiry // nil: partitions are kept for ever
	touched []int32
	pending []*vector.Batch // rows of this epoch that wait
	overdue bool            // a row waits that the watermark has passed
	ended   bool
	run     overRun
}

// The columns of an entry of OverTime.parts; behind them is what calls have found.
const (
	colOverPlace  = iota // rows that were emitted
	colOverNumber        // number of the next row that waits
	colOverAny           // a row was emitted
	colOverLast          // the time of the last one
	colOverHolds         // a row waits for what is behind it
	colOverHeld          // the time of the first one
	colOverTimer         // when to look whether the partition is old; 0: never
	colOverDeadline
	colOverFound
)

// NewOverTime returns an OverTime. It fails for calls that it does not know.
func NewOverTime(spec OverTimeSpec) (*OverTime, error) {
	o := &OverTime{spec: spec, time: spec.Order[0].Column}
	o.reads, o.at = spec.reads()
	o.layout = keyLayout(spec.Types, spec.Partition, spec.Spread)
	o.enc = rowkey.NewEncoder(o.layout)
	if len(spec.Order) > 1 {
		o.order = rowkey.NewEncoder(orderLayout(spec.Types, spec.Order))
	}
	if err := o.calls.init(&o.spec.OverSpec, o.at, true); err != nil {
		return nil, err
	}
	o.run.walk.keys, o.run.walk.arrival = spec.Order, !spec.Event
	for _, k := range spec.Order {
		o.run.walk.order = append(o.run.walk.order, o.at[k.Column])
	}
	if spec.Retention.Set() && len(o.calls.distincts) == 0 {
		o.expiry = newExpiry(spec.Retention, o.layout, colOverDeadline)
	}
	o.late = overLate{Lateness: exec.NewLateness(spec.Watermark), byRow: o.calls.byRows && !spec.Strict}
	return o, nil
}

// orderLayout is the layout of the columns of an order.
func orderLayout(types []sqltype.Type, order []SortKey) (l rowkey.Layout) {
	for _, k := range order {
		l.Kinds = append(l.Kinds, types[k.Column].Kind())
		l.Desc, l.NullsLast = append(l.Desc, k.Desc), append(l.NullsLast, k.NullsLast)
	}
	return l
}

// Open finds the tables.
func (o *OverTime) Open(_ context.Context, rt *exec.Runtime) error {
	o.rt, o.run.walk.pool = rt, rt.Pool
	kinds := []vector.Kind{vector.Int64, vector.Int64, vector.Bool, vector.Int64, vector.Bool, vector.Int64, vector.Int64, vector.Int64}
	for range o.calls.carries {
		kinds = append(kinds, vector.Int64, vector.Bytes)
	}
	o.parts = rt.State.Values("partitions", o.layout, kinds)
	order := &state.SortSpec{}
	if o.spec.Event {
		for _, k := range o.spec.Order {
			order.Cols, order.Desc, order.NullsLast = append(order.Cols, k.Column+1), append(order.Desc, k.Desc), append(order.NullsLast, k.NullsLast)
		}
	}
	order.Cols, order.Desc, order.NullsLast = append(order.Cols, 0), append(order.Desc, false), append(order.NullsLast, false)
	cols := []vector.Kind{vector.Int64}
	for _, t := range o.spec.Types {
		cols = append(cols, t.Kind())
	}
	o.waiting = rt.State.Rows("waiting", o.layout, state.RowsOptions{Cols: cols, Sort: order, Indexed: true})
	if o.calls.looksBack {
		cols = []vector.Kind{vector.Int64}
		for _, c := range o.reads {
			cols = append(cols, o.spec.Types[c].Kind())
		}
		o.history = rt.State.Rows("history", o.layout, state.RowsOptions{Cols: cols, Sort: &state.SortSpec{Cols: []int{0}}, Indexed: true})
	}
	o.due = rt.State.Times("due", o.layout)
	if o.expiry != nil {
		o.expiry.open(rt, "expiry")
	}
	if o.calls.waits {
		o.held = rt.State.Times("held", o.layout)
	}
	o.distinct = o.distinct[:0]
	for i, d := range o.calls.distincts {
		o.distinct = append(o.distinct, rt.State.Values("distinct"+strconv.Itoa(i), d.layout, []vector.Kind{vector.Bool}))
	}
	return nil
}

// Process keeps the rows of b that are not late, or emits them at once.
func (o *OverTime) Process(_ int, b *vector.Batch, out exec.Output) error {
	p := o.rt.Pool
	if o.expiry.late() {
		if err := o.expire(); err != nil {
			return err
		}
	}
	if _, some := b.Sel(); some {
		b = b.Dense(p)
		defer b.Release()
	}
	plain := b.Project(upTo(len(o.spec.Types)))
	defer plain.Release()
	if !o.spec.Event {
		o.pending = append(o.pending, plain.Keep(p))
		return o.fire(math.MaxInt64, math.MinInt64, far(o.rt.Now(), -1), false, out)
	}
	kept, lost, err := o.late.choose(o, b)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		o.rt.Late(int64(len(lost)), 0)
		if err := o.refuse(plain, lost); err != nil {
			return err
		}
	}
	if len(kept) > 0 {
		o.pending = append(o.pending, plain.Take(p, kept))
	}
	return nil
}

// refuse gives out late rows, which no window refuses.
func (o *OverTime) refuse(b *vector.Batch, rows []int32) error {
	p := o.rt.Pool
	late := b.Take(p, rows)
	defer late.Release()
	cols := make([]*vector.Vector, 0, late.Cols()+2)
	for c := range late.Cols() {
		cols = append(cols, late.Col(c).Retain())
	}
	for range 2 {
		none := vector.NewColumnBuilder(p, vector.Int64)
		for range rows {
			none.AppendNull()
		}
		cols = append(cols, none.Finish())
	}
	bounded := vector.NewBatch(late.Len(), cols, nil)
	defer bounded.Release()
	return o.rt.Side(exec.Late).Emit(bounded)
}

// times are the times of rows: NULL is before all time, or after it, as the order has
// it.
func (o *OverTime) times(v *vector.Vector, n int, out []int64) []int64 {
	out = append(out, vector.Values[int64](v)[:n]...)
	if v.Valid() == nil {
		return out
	}
	none := int64(math.MinInt64)
	if o.spec.Order[0].NullsLast {
		none = math.MaxInt64
	}
	for i, t := 0, out[len(out)-n:]; i < n; i++ {
		if v.IsNull(i) {
			t[i] = none
		}
	}
	return out
}

// Advance emits the rows that w has passed, then the watermark, unless rows before it
// still wait for what is behind them.
func (o *OverTime) Advance(_ int, w exec.Watermark, out exec.Output) error {
	o.late.Advance(w)
	if !o.spec.Event {
		return out.Advance(w)
	}
	o.overdue = false
	if err := o.fire(int64(w), int64(w), int64(w), w == exec.EndWatermark, out); err != nil {
		return err
	}
	if o.held != nil {
		first, waits, err := o.firstHeld()
		if err != nil {
			return err
		}
		if waits && first <= int64(w) {
			w = exec.Watermark(far(first, -1))
		}
	}
	return out.Advance(w)
}

// firstHeld is the time of the first row that is in order and waits.
func (o *OverTime) firstHeld() (at int64, some bool, err error) {
	for {
		at, some = o.held.Next()
		if !some {
			return 0, false, nil
		}
		keys, times, err := o.dueKeys(o.held, at, 1)
		if err != nil {
			return 0, false, err
		}
		encoded := o.enc.Encode(keys, upTo(keys.Cols()))
		var slot [1]state.Slot
		err = o.parts.Resolve(encoded, false, slot[:])
		s := slot[0]
		stands := err == nil && s != state.None && state.Col[bool](o.parts, colOverHolds)[s] && state.Col[int64](o.parts, colOverHeld)[s] == at
		if stands {
			err = o.held.Add(times[0], encoded, 0)
		}
		keys.Release()
		if stands || err != nil {
			return at, true, err
		}
	}
}

// dueKeys takes keys out of t that are due, no more than most of them. Without any it
// returns a batch without rows.
func (o *OverTime) dueKeys(t *state.Times, to int64, most int) (*vector.Batch, []int64, error) {
	cols := make([]*vector.ColumnBuilder, len(o.layout.Kinds))
	for i, k := range o.layout.Kinds {
		cols[i] = vector.NewColumnBuilder(o.rt.Pool, k)
	}
	var times []int64
	err := t.Due(to, func(at int64, key []byte) bool {
		if err := rowkey.Decode(o.layout, key, cols); err != nil {
			panic(fmt.Sprintf("op: a stored key cannot be read: %v", err))
		}
		times = append(times, at)
		return len(times) < most
	})
	keys := make([]*vector.Vector, len(cols))
	for i, c := range cols {
		keys[i] = c.Finish()
	}
	b := vector.NewBatch(len(times), keys, nil)
	if err != nil {
		b.Release()
		return nil, nil, err
	}
	return b, times, nil
}

// End lets the next Flush emit all rows of processing time.
func (o *OverTime) End(int, exec.Output) error {
	o.ended = true
	return nil
}

// Flush emits rows that came after the watermark, and puts those that wait into state.
func (o *OverTime) Flush(out exec.Output) error {
	switch {
	case o.spec.Event && o.overdue:
		o.overdue = false
		w := int64(o.late.Advanced())
		if err := o.fire(w, w, w, w == math.MaxInt64, out); err != nil {
			return err
		}
	case !o.spec.Event:
		passed := far(o.rt.Now(), -1)
		due := passed
		if o.ended {
			due = math.MaxInt64
		}
		if err := o.fire(math.MaxInt64, due, passed, o.ended, out); err != nil {
			return err
		}
	}
	o.late.forget()
	if err := o.store(); err != nil || o.expiry == nil {
		return err
	}
	return o.keep()
}

// touch notes that the epoch has used partitions.
func (o *OverTime) touch(slots []state.Slot) {
	o.parts.Dirty(slots)
	if o.expiry != nil {
		o.touched = o.parts.Hold(slots, o.touched[:0])
	}
}

// store puts the rows that wait into state.
func (o *OverTime) store() error {
	defer o.release()
	for _, b := range o.pending {
		keys := o.enc.Encode(b, o.spec.Partition)
		slots := make([]state.Slot, b.Len())
		if err := o.parts.Resolve(keys, true, slots); err != nil {
			return err
		}
		o.touch(slots)
		number, next := o.rt.Pool.New(vector.Int64, b.Len()), state.Col[int64](o.parts, colOverNumber)
		for i, s := range slots {
			vector.Values[int64](number)[i] = next[s]
			next[s]++
		}
		passed := int64(o.late.Advanced())
		if !o.spec.Event {
			passed = math.MaxInt64
		}
		for i, t := range o.times(b.Col(o.time), b.Len(), nil) {
			if t <= passed && passed > math.MinInt64 {
				continue // it is looked at with what is behind it
			}
			if err := o.due.Add(t, keys, i); err != nil {
				number.Release()
				return err
			}
		}
		err := o.waiting.Resolve(keys, true, slots)
		cols := []*vector.Vector{number}
		for c := range b.Cols() {
			cols = append(cols, b.Col(c).Retain())
		}
		numbered := vector.NewBatch(b.Len(), cols, nil)
		if err == nil {
			err = o.waiting.Add(slots, numbered)
		}
		numbered.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *OverTime) release() {
	for _, b := range o.pending {
		b.Release()
	}
	o.pending = slices.Delete(o.pending, 0, len(o.pending))
}

// Close drops what an epoch that did not end has left.
func (o *OverTime) Close() error {
	o.expiry.close()
	o.release()
	return nil
}
