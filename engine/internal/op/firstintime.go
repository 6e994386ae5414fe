package op

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// FirstInTime passes on the row of each key that is first in event time, or first in an
// order that begins with event time, when the watermark has passed it: no row of the key
// that is not late can be before it then. Nothing is ever taken back, and of a key whose
// row was passed on only that is remembered.
//
// A row that the watermark had passed before it came is the first of its key if it is the
// first to come, unless the spec is Strict. It is late, and refused, when it is before the row
// that was passed on. One without a time is late always, unless the order has it last.
type FirstInTime struct {
	spec   FirstInTimeSpec
	time   int // column
	late   exec.Lateness
	rt     *exec.Runtime
	layout rowkey.Layout
	enc    *rowkey.Encoder
	order  rowOrder
	row    storedRow // the columns that are not in the key
	place  []int     // of each column of the output among those of the key and of row
	table  *state.Values
	due    *state.Times

	overdue bool // a row was kept that the watermark has passed
	slots   []state.Slot
	first   []state.Slot
	better  []int32
	lost    []int32
	times   []int64
	images  images
	fresh   []int32
	expiry  *expiry // nil: keys whose row was passed on are kept for ever
}

// FirstInTimeSpec says what a FirstInTime keeps.
type FirstInTimeSpec struct {
	DeduplicateSpec     // whose order begins with event time, ascending
	Watermark       int // the hidden column of the input, or -1
	// Strict says that a row is late whenever the watermark had passed it before it came.
	Strict bool
}

// The columns of an entry of FirstInTime.table.
const (
	colStatus    = 0 // none, waits, passed
	colTime      = 1
	colTimeOrder = 2
)

// What is known of a key.
const (
	rowNone int8 = iota
	rowWaits
	rowPassed
)

// NewFirstInTime returns a FirstInTime.
func NewFirstInTime(spec FirstInTimeSpec) *FirstInTime {
	f := &FirstInTime{spec: spec, time: spec.Order[0].Column, late: exec.NewLateness(spec.Watermark), order: newRowOrder(spec.Types, spec.Order)}
	f.layout = keyLayout(spec.Types, spec.Key, spec.Spread)
	f.enc = rowkey.NewEncoder(f.layout)
	isKey := make([]int, len(spec.Types))
	for i, k := range spec.Key {
		isKey[k] = i + 1
	}
	for c, t := range spec.Types {
		if isKey[c] > 0 {
			f.place = append(f.place, isKey[c]-1)
			continue
		}
		f.place = append(f.place, len(spec.Key)+len(f.row.from))
		f.row.add(c, t)
	}
	f.row.layOut(colTimeOrder + 1)
	f.images = newImages(f.kinds())
	if spec.Retention.Set() {
		f.expiry = newExpiry(spec.Retention, f.layout, len(f.kinds()))
	}
	return f
}

func (f *FirstInTime) kinds() []vector.Kind {
	return append([]vector.Kind{vector.Int8, vector.Int64, f.order.kind()}, f.row.kinds()...)
}

// Open finds the tables.
func (f *FirstInTime) Open(_ context.Context, rt *exec.Runtime) error {
	f.rt = rt
	cols := f.kinds()
	if f.expiry != nil {
		cols = append(cols, vector.Int64)
		f.expiry.open(rt, "expiry")
	}
	f.table = rt.State.Values("rows", f.layout, cols)
	f.due = rt.State.Times("due", f.layout)
	return nil
}

// Process keeps the rows of b that may be the first of their keys.
func (f *FirstInTime) Process(_ int, b *vector.Batch, _ exec.Output) error {
	if f.expiry.late() {
		if err := f.expiry.drop(f.table); err != nil {
			return err
		}
	}
	if _, some := b.Sel(); some {
		b = b.Dense(f.rt.Pool)
		defer b.Release()
	}
	f.slots = resize(f.slots, b.Len())
	keys := f.enc.Encode(b, f.spec.Key)
	if err := f.table.Resolve(keys, true, f.slots); err != nil {
		return err
	}
	f.readTimes(b.Col(f.time), b.Len())
	f.choose(b)
	if len(f.lost) > 0 {
		if err := refuseLate(f.rt, exec.Late, b, f.spec.Watermark, f.lost, nil, nil); err != nil {
			return err
		}
		f.forgetUnused()
	}
	if len(f.better) == 0 {
		return nil
	}
	for _, i := range f.better {
		if err := f.due.Add(f.times[i], keys, int(i)); err != nil {
			return err
		}
	}
	f.first = gather(f.first, f.slots, f.better)
	f.table.Dirty(f.first)
	f.row.store(f.table, f.first, b, f.better)
	return nil
}

// readTimes reads the time of each row: NULL is before all time, or after it, as the
// order has it.
func (f *FirstInTime) readTimes(v *vector.Vector, n int) {
	f.times = append(f.times[:0], vector.Values[int64](v)[:n]...)
	if v.Valid() == nil {
		return
	}
	none := int64(math.MinInt64)
	if f.spec.Order[0].NullsLast {
		none = math.MaxInt64
	}
	for i := range f.times {
		if v.IsNull(i) {
			f.times[i] = none
		}
	}
}

// choose lists the rows of b that are before those of their keys, and notes their places,
// and those that would be, but come too late.
func (f *FirstInTime) choose(b *vector.Batch) {
	f.better, f.lost = f.better[:0], f.lost[:0]
	time := b.Col(f.time)
	untimed := time.Nulls() > 0 && !f.spec.Order[0].NullsLast
	status, times := state.Col[int8](f.table, colStatus), state.Col[int64](f.table, colTime)
	marks, floor := f.late.Rows(b)
	var places *rowkey.Keys
	if !f.order.word {
		places = f.order.enc.Encode(b, f.order.by)
	}
	for i, s := range f.slots {
		at, t := floor, f.times[i]
		if marks != nil {
			at = max(at, marks[i])
		}
		switch {
		case untimed && time.IsNull(i) || f.spec.Strict && t <= at && at > math.MinInt64:
			f.lost = append(f.lost, int32(i))
			continue
		case status[s] != rowNone && t > times[s]:
			continue
		case status[s] == rowPassed || status[s] == rowWaits && times[s] <= at:
			if t < times[s] {
				f.lost = append(f.lost, int32(i))
			}
			continue
		case status[s] == rowWaits && t == times[s] && (places == nil || bytes.Compare(places.Bytes(i), f.table.Bytes(colTimeOrder, s)) >= 0):
			continue
		}
		status[s], times[s] = rowWaits, t
		if places != nil {
			f.table.SetBytes(colTimeOrder, s, places.Bytes(i))
		}
		f.overdue = f.overdue || t <= floor
		f.better = append(f.better, int32(i))
	}
}

// forgetUnused drops keys of which only late rows have come.
func (f *FirstInTime) forgetUnused() {
	status := state.Col[int8](f.table, colStatus)
	f.first = f.first[:0]
	for _, i := range f.lost {
		if s := f.slots[i]; status[s] == rowNone {
			f.first = append(f.first, s)
		}
	}
	slices.Sort(f.first)
	f.first = slices.Compact(f.first)
	f.table.Drop(f.first)
}

// Advance passes on the rows that w has passed, then the watermark.
func (f *FirstInTime) Advance(_ int, w exec.Watermark, out exec.Output) error {
	f.late.Advance(w)
	if err := f.fire(out); err != nil {
		return err
	}
	return out.Advance(w)
}

// End does nothing: the watermark of an input that ends says that it did.
func (f *FirstInTime) End(int, exec.Output) error { return nil }

// Flush passes on rows that were late, and are the first. It forgets keys whose row was
// passed on long ago.
func (f *FirstInTime) Flush(out exec.Output) error {
	if f.overdue {
		if err := f.fire(out); err != nil {
			return err
		}
	}
	return f.expiry.settle(f.table)
}

// fire passes on the rows that the watermark has passed, in the order of time.
func (f *FirstInTime) fire(out exec.Output) error {
	f.overdue = false
	p := f.rt.Pool
	for done := false; !done; {
		keys := make([]*vector.ColumnBuilder, len(f.layout.Kinds))
		for i, k := range f.layout.Kinds {
			keys[i] = vector.NewColumnBuilder(p, k)
		}
		times, n := []int64(nil), 0
		done = true
		err := f.due.Due(int64(f.late.Advanced()), func(at int64, key []byte) bool {
			if err := rowkey.Decode(f.layout, key, keys); err != nil {
				panic(fmt.Sprintf("op: a stored key cannot be read: %v", err))
			}
			times = append(times, at)
			n++
			done = n < vector.Target
			return done
		})
		cols := make([]*vector.Vector, len(keys))
		for i, k := range keys {
			cols[i] = k.Finish()
		}
		b := vector.NewBatch(n, cols, nil)
		if err == nil && n > 0 {
			err = f.emit(b, times, out)
		}
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// emit passes on the rows of keys that wait for these times, and forgets them.
func (f *FirstInTime) emit(keys *vector.Batch, times []int64, out exec.Output) error {
	f.slots = resize(f.slots, keys.Len())
	if err := f.table.Resolve(f.enc.Encode(keys, upTo(len(f.spec.Key))), false, f.slots); err != nil {
		return err
	}
	status, at := state.Col[int8](f.table, colStatus), state.Col[int64](f.table, colTime)
	f.first, f.better = f.first[:0], f.better[:0]
	for i, s := range f.slots {
		if s != state.None && status[s] == rowWaits && at[s] == times[i] {
			status[s] = rowPassed
			f.first, f.better = append(f.first, s), append(f.better, int32(i))
		}
	}
	if len(f.first) == 0 {
		return nil
	}
	p := f.rt.Pool
	f.images.save(f.table, f.first)
	cols := make([]*vector.Vector, 0, keys.Cols())
	for c := range keys.Cols() {
		cols = append(cols, keys.Col(c).Take(p, f.better))
	}
	cols = append(cols, f.row.columns(p, &f.images)...)
	f.images.reset()
	b := vector.NewBatch(len(f.first), pickVectors(cols, f.place), nil)
	defer b.Release()
	f.table.Dirty(f.first)
	if f.expiry != nil {
		f.fresh = f.table.Hold(f.first, f.fresh[:0])
	}
	for c, kind := range f.kinds() {
		if kind.Width() == 0 {
			for _, s := range f.first {
				f.table.SetBytes(c, s, nil)
			}
		}
	}
	return out.Emit(b)
}

// pickVectors are vectors in another order.
func pickVectors(from []*vector.Vector, at []int) []*vector.Vector {
	out := make([]*vector.Vector, len(at))
	for i, a := range at {
		out[i] = from[a]
	}
	return out
}

// upTo lists 0 to n-1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Close does nothing but for what was not looked at: state belongs to the task.
func (f *FirstInTime) Close() error {
	f.expiry.close()
	return nil
}
