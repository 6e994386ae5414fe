package op

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// rowExpiry forgets the rows of a side of a join, each by itself. It knows of every row
// how often it is there and when it is forgotten. Equal rows are forgotten together, and
// each one that comes keeps all of them.
type rowExpiry struct {
	*expiry
	side *joinSide
	id   []int // columns of the input that tell rows apart, those of the key first
	rows *state.Values
	at   []state.Slot
	held []int32
	gone []state.Slot
	keep []state.Slot
	many []int32
}

// The columns of an entry of rowExpiry.rows.
const (
	colTimes    = 0 // how often the row is there
	colDeadline = 1
)

func newRowExpiry(s *joinSide) *rowExpiry {
	more := s.stored
	if s.Replacing {
		more = s.Identity
	}
	kinds := make([]vector.Kind, len(more))
	for i, c := range more {
		kinds[i] = s.Types[c].Kind()
	}
	e := &rowExpiry{id: append(slices.Clone(s.Keys), more...)}
	e.expiry = newExpiry(s.Retention, s.layout.With(kinds...), colDeadline)
	return e
}

func (e *rowExpiry) open(rt *exec.Runtime, s *joinSide, name string) {
	e.side = s
	e.expiry.open(rt, name+"/expiry")
	e.rows = rt.State.Values(name+"/ages", e.layout, []vector.Kind{vector.Int64, vector.Int64})
}

func (e *rowExpiry) late() bool { return e != nil && e.expiry.late() }

// count counts the rows of b, which are to be stored under slots. What takes away a row
// that is not there is not stored.
func (e *rowExpiry) count(b *vector.Batch, slots []state.Slot) error {
	e.at = resize(e.at, b.Len())
	if err := e.rows.Resolve(e.enc.Encode(b, e.id), true, e.at); err != nil {
		return err
	}
	e.held = e.rows.Hold(e.at, e.held[:0])
	e.rows.Dirty(e.at)
	count, kinds := state.Col[int64](e.rows, colTimes), b.Kinds()
	switch {
	case e.side.Replacing:
		for i, s := range e.at {
			add := kinds == nil || kinds[b.Row(i)].Adds()
			if !add && count[s] == 0 {
				slots[i] = state.None
			}
			if count[s] = 0; add {
				count[s] = 1
			}
		}
	case kinds == nil:
		countRows(count, e.at, nil)
	default:
		for _, i := range unknown(count, e.at, func(i int) vector.RowKind { return kinds[b.Row(i)] }, nil) {
			slots[i] = state.None
		}
	}
	return nil
}

// expire moves the deadlines of the rows that this epoch touched, and forgets those that
// are past theirs.
func (e *rowExpiry) expire() error {
	if err := e.touched(); err != nil {
		return err
	}
	return e.expiry.expire(e.rows, func(keys *vector.Batch, slots []state.Slot) error {
		if err := e.forget(keys, slots); err != nil {
			return err
		}
		e.rows.Drop(slots)
		e.rt.Expired(int64(len(slots)))
		return nil
	})
}

func (e *rowExpiry) touched() error {
	held := e.rows.Held()
	if len(held) == 0 {
		return nil
	}
	cols, err := e.rows.Keys(e.rt.Pool, held)
	if err != nil {
		return err
	}
	defer releaseAll(cols)
	count := state.Col[int64](e.rows, colTimes)
	e.keep, e.gone = append(e.keep[:0], held...), e.gone[:0]
	for i, s := range held {
		if count[s] == 0 {
			e.keep[i] = state.None
			e.gone = append(e.gone, s)
		}
	}
	if err := e.touch(e.rows, e.keep, cols); err != nil {
		return err
	}
	e.rows.Drop(e.gone)
	return nil
}

// forget takes rows away from those of the side, as often as they are there.
func (e *rowExpiry) forget(keys *vector.Batch, slots []state.Slot) error {
	s, p := e.side, e.rt.Pool
	count := state.Col[int64](e.rows, colTimes)
	e.many = e.many[:0]
	for i, slot := range slots {
		for range count[slot] {
			e.many = append(e.many, int32(i))
		}
	}
	for at := 0; at < len(e.many); at += vector.Target {
		part := keys.Take(p, e.many[at:min(at+vector.Target, len(e.many))])
		err := e.remove(part, s)
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *rowExpiry) remove(rows *vector.Batch, s *joinSide) error {
	n := rows.Len()
	own := make([]state.Slot, n)
	if err := s.rows.Resolve(s.enc.Encode(rows, e.all[:len(s.Keys)]), false, own); err != nil {
		return err
	}
	cols := make([]*vector.Vector, len(s.stored))
	for i, c := range e.id[len(s.Keys):] {
		if at := s.place[c]; cols[at] == nil {
			cols[at] = rows.Col(len(s.Keys) + i).Retain()
		}
	}
	for at, c := range s.stored {
		if cols[at] == nil { // of a row that is known without it
			cols[at] = nullColumn(e.rt.Pool, s.Types[c].Kind(), n)
		}
	}
	kinds, k := e.rt.Pool.NewKinds(n)
	for i := range k {
		k[i] = vector.Delete
	}
	b := vector.NewBatch(n, cols, kinds)
	defer b.Release()
	return s.rows.Add(own, b)
}
