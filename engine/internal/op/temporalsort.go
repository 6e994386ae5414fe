package op

import (
	"context"
	"math"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// TemporalSortSpec says what a TemporalSort orders.
type TemporalSortSpec struct {
	Types     []sqltype.Type // of the first columns of the input; what is behind is not read
	Order     []SortKey      // the first is time, ascending
	Event     bool           // of the input's watermarks, not of the clock
	Watermark int            // the hidden column, or -1
}

// TemporalSort passes on rows that are only added in an order that begins with time, in
// one shard: those of event time when the watermark has passed them, those of processing
// time when the clock has. Of equal rows the one that came first is first. A row that
// is not after one which the watermark had passed before it came is late and refused; a
// row that the watermark has passed, but no other row, is still in order. It keeps the
// rows that wait.
type TemporalSort struct {
	spec TemporalSortSpec
	late exec.Lateness
	rt   *exec.Runtime
	none *rowkey.Encoder // of the key without columns, under which everything is
	all  []int

	next *state.Values // see the columns below
	rows *state.Rows   // number and row, in order

	ended   bool
	overdue bool // a row waits that the watermark has passed
	slot    [1]state.Slot
	slots   []state.Slot
	kept    []int32
	lost    []int32
	ids     []state.RowID
	times   sortedTimes
}

// The columns of the one entry of TemporalSort.next: the number of the next row, whether
// rows were passed on, and the time of the last of them.
const (
	colSortNext   = 0
	colSortPassed = 1
	colSortTime   = 2
)

// NewTemporalSort returns a TemporalSort.
func NewTemporalSort(spec TemporalSortSpec) *TemporalSort {
	s := &TemporalSort{spec: spec, late: exec.NewLateness(spec.Watermark), none: rowkey.NewEncoder(rowkey.Layout{})}
	for c := range spec.Types {
		s.all = append(s.all, c)
	}
	return s
}

// Open finds the tables.
func (s *TemporalSort) Open(_ context.Context, rt *exec.Runtime) error {
	s.rt = rt
	s.next = rt.State.Values("next", rowkey.Layout{}, []vector.Kind{vector.Int64, vector.Bool, vector.Int64})
	order := &state.SortSpec{}
	for _, k := range append(s.spec.Order[:len(s.spec.Order):len(s.spec.Order)], SortKey{Column: -1}) {
		order.Cols, order.Desc, order.NullsLast = append(order.Cols, k.Column+1), append(order.Desc, k.Desc), append(order.NullsLast, k.NullsLast)
	}
	cols := []vector.Kind{vector.Int64}
	for _, t := range s.spec.Types {
		cols = append(cols, t.Kind())
	}
	s.rows = rt.State.Rows("rows", rowkey.Layout{}, state.RowsOptions{Cols: cols, Sort: order, Indexed: true})
	return nil
}

// Process keeps the rows of b that are not late.
func (s *TemporalSort) Process(_ int, b *vector.Batch, _ exec.Output) error {
	if _, some := b.Sel(); some {
		b = b.Dense(s.rt.Pool)
		defer b.Release()
	}
	if err := s.choose(b); err != nil {
		return err
	}
	plain := b.Project(s.all)
	defer plain.Release()
	if len(s.lost) > 0 {
		if err := refuseLate(s.rt, exec.Late, plain, -1, s.lost, nil, nil); err != nil {
			return err
		}
	}
	if len(s.kept) == 0 {
		return nil
	}
	if err := s.resolve(s.next.Resolve); err != nil {
		return err
	}
	next := &state.Col[int64](s.next, colSortNext)[s.slot[0]]
	s.next.Dirty(s.slot[:])
	number := s.rt.Pool.New(vector.Int64, len(s.kept))
	for i := range s.kept {
		vector.Values[int64](number)[i] = *next
		*next++
	}
	cols := []*vector.Vector{number}
	for _, c := range s.all {
		cols = append(cols, b.Col(c).Take(s.rt.Pool, s.kept))
	}
	return s.add(vector.NewBatch(len(s.kept), cols, nil))
}

// choose parts the rows of b that are late from those that are not.
func (s *TemporalSort) choose(b *vector.Batch) error {
	s.kept, s.lost = s.kept[:0], s.lost[:0]
	time := b.Col(s.spec.Order[0].Column)
	times := vector.Values[int64](time)[:b.Len()]
	marks, floor := s.late.Rows(b)
	passed, last := false, floor // the watermark has passed a row; how far it comes
	for i, t := range times {
		at := floor
		if marks != nil {
			at = max(at, marks[i])
		}
		last = max(last, at)
		passed = passed || t <= at
		s.kept = append(s.kept, int32(i))
	}
	if !passed || !s.spec.Event {
		return nil
	}
	s.overdue = true
	fired, err := s.waiting(last)
	if err != nil {
		return err
	}
	s.kept = s.kept[:0]
	for i, t := range times {
		at := floor
		if marks != nil {
			at = max(at, marks[i])
		}
		switch {
		case time.IsNull(i):
			s.kept = append(s.kept, int32(i))
		case t <= fired || s.times.passed(t, at):
			s.lost = append(s.lost, int32(i))
		default:
			s.kept = append(s.kept, int32(i))
			if t <= last {
				s.times.add(t)
			}
		}
	}
	return nil
}

// waiting sets times to those of the rows that wait, up to a time, and returns the time
// of the last row that was passed on.
func (s *TemporalSort) waiting(to int64) (int64, error) {
	fired := int64(math.MinInt64)
	if err := s.resolve(s.next.Resolve); err != nil {
		return 0, err
	}
	if state.Col[bool](s.next, colSortPassed)[s.slot[0]] {
		fired = state.Col[int64](s.next, colSortTime)[s.slot[0]]
	}
	if err := s.resolve(s.rows.Resolve); err != nil {
		return 0, err
	}
	s.ids = s.ids[:0]
	s.times = s.times[:0]
	err := s.rows.Range(s.slot[0], nil, func(id state.RowID, _ int64) bool {
		s.ids = append(s.ids, id)
		return true
	})
	if err != nil {
		return 0, err
	}
	col := s.rows.TakeColumn(s.rt.Pool, s.ids, s.spec.Order[0].Column+1)
	defer col.Release()
	for i, t := range vector.Values[int64](col)[:len(s.ids)] {
		if t <= to && !col.IsNull(i) {
			s.times.add(t)
		}
	}
	return fired, nil
}

// resolve finds the one entry of a table.
func (s *TemporalSort) resolve(in func(keys *rowkey.Keys, create bool, slots []state.Slot) error) error {
	one := vector.NewBatch(1, nil, nil)
	defer one.Release()
	return in(s.none.Encode(one, nil), true, s.slot[:])
}

// add adds numbered rows to those that wait, or takes them away. It releases them.
func (s *TemporalSort) add(numbered *vector.Batch) error {
	defer numbered.Release()
	if err := s.resolve(s.rows.Resolve); err != nil {
		return err
	}
	s.slots = resize(s.slots, numbered.Len())
	for i := range s.slots {
		s.slots[i] = s.slot[0]
	}
	return s.rows.Add(s.slots, numbered)
}

// Advance passes on the rows that w has passed, then the watermark.
func (s *TemporalSort) Advance(_ int, w exec.Watermark, out exec.Output) error {
	s.late.Advance(w)
	if s.spec.Event {
		if err := s.fire(int64(w), out); err != nil {
			return err
		}
	}
	return out.Advance(w)
}

// End lets the next Flush pass on all rows of processing time.
func (s *TemporalSort) End(int, exec.Output) error {
	s.ended = true
	return nil
}

// Flush passes on the rows that the clock has passed, and those that came after the
// watermark.
func (s *TemporalSort) Flush(out exec.Output) error {
	switch {
	case s.spec.Event && !s.overdue:
		return nil
	case s.spec.Event:
		return s.fire(int64(s.late.Advanced()), out)
	case s.ended:
		return s.fire(math.MaxInt64, out)
	}
	return s.fire(s.rt.Now()-1, out)
}

// fire passes on the rows up to a time, in order.
func (s *TemporalSort) fire(to int64, out exec.Output) error {
	s.overdue = false
	for {
		if err := s.resolve(s.rows.Resolve); err != nil {
			return err
		}
		s.ids = s.ids[:0]
		err := s.rows.Range(s.slot[0], nil, func(id state.RowID, _ int64) bool {
			s.ids = append(s.ids, id)
			return len(s.ids) < vector.Target
		})
		if err != nil {
			return err
		}
		n := s.passed(to)
		if n == 0 {
			return nil
		}
		more := n == vector.Target
		cols := s.rows.Take(s.rt.Pool, s.ids[:n])
		if err := s.note(cols[s.spec.Order[0].Column+1]); err != nil {
			releaseAll(cols)
			return err
		}
		numbered := vector.NewBatch(n, cols, nil)
		b := numbered.Project(shifted(s.all))
		err = out.Emit(b)
		b.Release()
		kinds, k := s.rt.Pool.NewKinds(n)
		for i := range k {
			k[i] = vector.Delete
		}
		gone := numbered.WithKinds(kinds)
		numbered.Release()
		if err != nil {
			gone.Release()
			return err
		}
		if err := s.add(gone); err != nil || !more {
			return err
		}
	}
}

// note notes the time of the last of rows that are passed on.
func (s *TemporalSort) note(times *vector.Vector) error {
	if err := s.resolve(s.next.Resolve); err != nil {
		return err
	}
	for i := times.Len() - 1; i >= 0; i-- {
		if !times.IsNull(i) {
			state.Col[bool](s.next, colSortPassed)[s.slot[0]] = true
			state.Col[int64](s.next, colSortTime)[s.slot[0]] = vector.Values[int64](times)[i]
			s.next.Dirty(s.slot[:])
			break
		}
	}
	return nil
}

// passed is how many of the rows ids, which are in order, have a time up to the given
// one. A NULL that is first has, one that is last has not before the end.
func (s *TemporalSort) passed(to int64) int {
	time := s.rows.TakeColumn(s.rt.Pool, s.ids, s.spec.Order[0].Column+1)
	defer time.Release()
	for i, t := range vector.Values[int64](time)[:len(s.ids)] {
		null := time.IsNull(i)
		if !null && t > to || null && s.spec.Order[0].NullsLast && to < math.MaxInt64 {
			return i
		}
	}
	return len(s.ids)
}

// shifted are the columns of a row behind its number.
func shifted(cols []int) []int {
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = c + 1
	}
	return out
}

// Close does nothing: state belongs to the task.
func (s *TemporalSort) Close() error { return nil }

// sortedTimes are times in order.
type sortedTimes []int64

func (s *sortedTimes) add(t int64) {
	at := len(*s)
	if at > 0 && (*s)[at-1] > t {
		at, _ = slices.BinarySearch(*s, t)
	}
	*s = slices.Insert(*s, at, t)
}

// passed reports whether a watermark has passed a time that is not before t.
func (s sortedTimes) passed(t, watermark int64) bool {
	at, _ := slices.BinarySearch(s, t)
	return at < len(s) && s[at] <= watermark
}
