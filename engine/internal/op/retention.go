package op

import (
	"math"
	"slices"
	"time"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Retention says when state that nothing touches is forgotten: at Min at the earliest,
// and at Max at the latest, after the mark of the epoch that touched it last. The zero
// value keeps it for ever.
type Retention struct {
	Min, Max time.Duration
}

// Set reports whether anything is ever forgotten.
func (r Retention) Set() bool { return r.Max > 0 }

// deadline is when what is touched now is forgotten. Deadlines are multiples of what
// lies between Min and Max, so that they change no more often than that.
func (r Retention) deadline(now int64) int64 {
	width := max((r.Max - r.Min).Milliseconds(), 1)
	at := now + r.Max.Milliseconds()
	rest := at % width
	if rest < 0 {
		rest += width
	}
	return at - rest
}

// expiry forgets the entries of a table that nothing touched for a time. Each has its
// deadline in a column; the times of the table may have earlier ones too, which mean
// nothing any more.
//
// Deadlines are set and kept at marks alone, by the time of the mark: so it makes no
// difference how rows were cut into batches, and an operator never meets an entry that
// is past its deadline. After a restart it is later than at the last mark: then rows
// wait until expire was called.
type expiry struct {
	keep   Retention
	rt     *exec.Runtime
	layout rowkey.Layout
	enc    *rowkey.Encoder
	all    []int
	col    int // of the deadline
	times  *state.Times
	at     int64 // when expire was called last

	due   *vector.Builder
	slots []state.Slot
	gone  []int32
	moved []int32
}

// newExpiry returns an expiry of entries with keys of a layout whose deadline is in
// column col, of kind Int64.
func newExpiry(keep Retention, layout rowkey.Layout, col int) *expiry {
	e := &expiry{keep: keep, layout: layout, enc: rowkey.NewEncoder(layout), col: col}
	for i := range layout.Kinds {
		e.all = append(e.all, i)
	}
	return e
}

func (e *expiry) open(rt *exec.Runtime, name string) {
	e.rt, e.at = rt, math.MinInt64
	e.times = rt.State.Times(name, e.layout)
	e.due = vector.NewBuilder(rt.Pool, e.layout.Kinds)
}

// late reports whether expire has to be called before the next row.
func (e *expiry) late() bool { return e != nil && e.at < e.rt.Now() }

// touch moves the deadlines of entries that this epoch used. Their keys are given by
// column. Slots that are None are passed over.
func (e *expiry) touch(table *state.Values, slots []state.Slot, keys []*vector.Vector) error {
	at, deadline := e.keep.deadline(e.rt.Now()), state.Col[int64](table, e.col)
	e.moved, e.slots = e.moved[:0], e.slots[:0]
	for i, s := range slots {
		if s != state.None && deadline[s] != at {
			deadline[s] = at
			e.moved, e.slots = append(e.moved, int32(i)), append(e.slots, s)
		}
	}
	if len(e.moved) == 0 {
		return nil
	}
	table.Dirty(e.slots)
	cols := make([]*vector.Vector, len(keys))
	for i, k := range keys {
		cols[i] = k.Take(e.rt.Pool, e.moved)
	}
	b := vector.NewBatch(len(e.moved), cols, nil)
	defer b.Release()
	return e.remind(at, b)
}

// remind asks to look at entries at a time.
func (e *expiry) remind(at int64, keys *vector.Batch) error {
	encoded := e.enc.Encode(keys, e.all)
	for i := range keys.Len() {
		if err := e.times.Add(at, encoded, i); err != nil {
			return err
		}
	}
	return nil
}

// expire calls forget with entries of the table that are past their deadline, and their
// keys. It is called at a mark, after touch, and before a row when late says so.
func (e *expiry) expire(table *state.Values, forget func(keys *vector.Batch, slots []state.Slot) error) error {
	now := e.rt.Now()
	e.at = now
	return e.look(now, func(keys *vector.Batch) error {
		e.slots = resize(e.slots, keys.Len())
		if err := table.Resolve(e.enc.Encode(keys, e.all), false, e.slots); err != nil {
			return err
		}
		deadline := state.Col[int64](table, e.col)
		e.gone = e.gone[:0]
		for i, s := range e.slots {
			if s != state.None && deadline[s] <= now {
				deadline[s] = math.MaxInt64 // the key may be here twice
				e.gone = append(e.gone, int32(i))
			}
		}
		if len(e.gone) == 0 {
			return nil
		}
		gone := keys.Take(e.rt.Pool, e.gone)
		defer gone.Release()
		return forget(gone, gather(e.slots, e.slots, e.gone))
	})
}

// settle moves the deadlines of the entries that are held, and drops those that are past
// theirs: what an operator does at a mark that keeps nothing beside the table.
func (e *expiry) settle(table *state.Values) error { return e.settleLive(table, allLive) }

// allLive is for settleLive: there is no such column.
const allLive = -1

// settleLive is settle for a table whose Bool column live says whether an entry counts:
// those that do not any more are dropped, which may only be done at a mark.
func (e *expiry) settleLive(table *state.Values, live int) error {
	if e == nil {
		return nil
	}
	if held := table.Held(); len(held) > 0 {
		keys, err := table.Keys(e.rt.Pool, held)
		if err != nil {
			return err
		}
		defer releaseAll(keys)
		var gone []state.Slot
		if live != allLive {
			is := state.Col[bool](table, live)
			held = slices.Clone(held)
			for i, s := range held {
				if !is[s] {
					held[i], gone = state.None, append(gone, s)
				}
			}
		}
		if err := e.touch(table, held, keys); err != nil {
			return err
		}
		table.Drop(gone)
	}
	return e.drop(table)
}

// drop is expire for who keeps nothing beside the table.
func (e *expiry) drop(table *state.Values) error {
	return e.expire(table, func(_ *vector.Batch, slots []state.Slot) error {
		table.Drop(slots)
		e.rt.Expired(int64(len(slots)))
		return nil
	})
}

// look calls f with the keys that someone asked to look at until now. f may remind.
func (e *expiry) look(now int64, f func(keys *vector.Batch) error) error {
	cols := make([]*vector.ColumnBuilder, len(e.layout.Kinds))
	for i := range cols {
		cols[i] = e.due.Col(i)
	}
	var failed error
	finish := func() {
		b := e.due.Finish()
		failed = f(b)
		b.Release()
	}
	err := e.times.Due(now, func(_ int64, key []byte) bool {
		if failed = rowkey.Decode(e.layout, key, cols); failed != nil {
			return false
		}
		if e.due.EndRow(vector.Insert); e.due.Len() == vector.Target {
			finish()
		}
		return failed == nil
	})
	if err == nil && failed == nil && e.due.Len() > 0 {
		finish()
	}
	if err != nil {
		return err
	}
	return failed
}

// close drops what was not looked at.
func (e *expiry) close() {
	if e != nil && e.due != nil {
		e.due.Discard()
	}
}

// unknown lists the rows of a batch that would take away what is not there, and counts
// the others: those that add 1 more, those that take away 1 less. kinds are those of the
// live rows. It is what an operator does that forgets: what it forgot must not be
// missing from what comes after.
func unknown(count []int64, slots []state.Slot, kind func(i int) vector.RowKind, rows []int32) []int32 {
	for i, s := range slots {
		switch {
		case kind(i).Adds():
			count[s]++
		case count[s] > 0:
			count[s]--
		default:
			rows = append(rows, int32(i))
		}
	}
	return rows
}
