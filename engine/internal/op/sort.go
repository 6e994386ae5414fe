package op

import (
	"context"
	"math"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// SortKey is a column to order by.
type SortKey struct {
	Column    int
	Desc      bool
	NullsLast bool
}

// SortSpec says what a Sort orders and which of the rows it passes on.
type SortSpec struct {
	Types       []sqltype.Type
	Order       []SortKey // none: rows are in the order in which they come
	Skip, Count int64     // rows Skip to Skip+Count are passed on; Count may be math.MaxInt64
	Updating    bool      // the input may take rows away
	// AtEnd says that the input ends, and that the rows are wanted then, in order.
	// Otherwise the rows that are among the first are published as they change.
	AtEnd bool
}

// Sort is ORDER BY with or without LIMIT and OFFSET, in one shard. Of rows that are
// equal in the order the one that came first is first.
//
// It keeps all live rows in order, but of an append-only input no more than can
// still be among those that are passed on.
type Sort struct {
	spec SortSpec
	end  int64 // position after the last row that is passed on
	rt   *exec.Runtime
	none *rowkey.Encoder // of the key without columns, under which everything is

	next *state.Values // number of the next row
	rows *state.Rows   // number and row, in order
	live *liveRows     // nil: the input is append-only

	ended, emitted bool
	old, now       sortWindow
	touched        bool // old is what this epoch found

	slot  [1]state.Slot
	slots []state.Slot
	spare []state.RowID
}

// NewSort returns a Sort.
func NewSort(spec SortSpec) *Sort {
	s := &Sort{spec: spec, none: rowkey.NewEncoder(rowkey.Layout{}), end: math.MaxInt64}
	if spec.Count < math.MaxInt64-spec.Skip {
		s.end = spec.Skip + spec.Count
	}
	if spec.Updating {
		s.live = newLiveRows(spec.Types, nil)
	}
	return s
}

// Open finds the tables.
func (s *Sort) Open(_ context.Context, rt *exec.Runtime) error {
	s.rt = rt
	s.next = rt.State.Values("next", rowkey.Layout{}, []vector.Kind{vector.Int64})
	order := &state.SortSpec{}
	for _, k := range append(s.spec.Order[:len(s.spec.Order):len(s.spec.Order)], SortKey{Column: -1}) {
		order.Cols, order.Desc, order.NullsLast = append(order.Cols, k.Column+1), append(order.Desc, k.Desc), append(order.NullsLast, k.NullsLast)
	}
	cols := []vector.Kind{vector.Int64}
	for _, t := range s.spec.Types {
		cols = append(cols, t.Kind())
	}
	s.rows = rt.State.Rows("rows", rowkey.Layout{}, state.RowsOptions{
		Cols: cols, Sort: order, Indexed: s.spec.Updating || s.end < math.MaxInt64,
	})
	if s.live != nil {
		s.live.open(rt, "live")
	}
	return nil
}

// Process keeps the rows of b.
func (s *Sort) Process(_ int, b *vector.Batch, _ exec.Output) error {
	if _, some := b.Sel(); some {
		b = b.Dense(s.rt.Pool)
		defer b.Release()
	}
	if s.live != nil {
		s.touched = true
		return s.live.count(b)
	}
	if err := s.touch(); err != nil {
		return err
	}
	from, err := s.numbers(int64(b.Len()))
	if err != nil {
		return err
	}
	number := s.rt.Pool.New(vector.Int64, b.Len())
	for i := range vector.Values[int64](number) {
		vector.Values[int64](number)[i] = from + int64(i)
	}
	return s.add(number, b, nil, nil)
}

// numbers takes n numbers and returns the first.
func (s *Sort) numbers(n int64) (int64, error) {
	if err := s.resolve(s.next.Resolve); err != nil {
		return 0, err
	}
	next := &state.Col[int64](s.next, 0)[s.slot[0]]
	s.next.Dirty(s.slot[:])
	*next += n
	return *next - n, nil
}

// resolve finds the one entry of a table.
func (s *Sort) resolve(in func(keys *rowkey.Keys, create bool, slots []state.Slot) error) error {
	one := vector.NewBatch(1, nil, nil)
	defer one.Release()
	return in(s.none.Encode(one, nil), true, s.slot[:])
}

// add puts the given rows of b (nil: all), with their numbers, which it takes over,
// into the table, or takes them away as kinds says, which it takes over too.
func (s *Sort) add(number *vector.Vector, b *vector.Batch, rows []int32, kinds *vector.Vector) error {
	cols := []*vector.Vector{number}
	for c := range b.Cols() {
		if rows == nil {
			cols = append(cols, b.Col(c).Retain())
		} else {
			cols = append(cols, b.Col(c).Take(s.rt.Pool, rows))
		}
	}
	numbered := vector.NewBatch(number.Len(), cols, kinds)
	defer numbered.Release()
	if err := s.resolve(s.rows.Resolve); err != nil {
		return err
	}
	return s.rows.Add(s.same(numbered.Len()), numbered)
}

// same is the resolved slot, n times.
func (s *Sort) same(n int) []state.Slot {
	s.slots = resize(s.slots, n)
	for i := range s.slots {
		s.slots[i] = s.slot[0]
	}
	return s.slots
}

// touch remembers the window as it was before this epoch.
func (s *Sort) touch() error {
	if s.touched {
		return nil
	}
	s.touched = true
	if s.spec.AtEnd {
		return nil
	}
	return s.look(&s.old)
}

// Advance passes the watermark on.
func (s *Sort) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }

// End lets the next Flush emit the rows, if they are wanted at the end.
func (s *Sort) End(int, exec.Output) error {
	s.ended = true
	return nil
}

// Flush publishes what changed in the window, or at the end all of it.
func (s *Sort) Flush(out exec.Output) error {
	if s.touched {
		s.touched = false
		defer s.old.release()
		if err := s.settle(out); err != nil {
			return err
		}
	}
	if !s.spec.AtEnd || !s.ended || s.emitted {
		return nil
	}
	s.emitted = true
	return s.emitAll(out)
}

// settle brings the rows up to date and publishes the changes of the window.
func (s *Sort) settle(out exec.Output) error {
	if s.live != nil {
		if !s.spec.AtEnd {
			if err := s.look(&s.old); err != nil {
				return err
			}
		}
		if err := s.apply(); err != nil {
			return err
		}
	} else if err := s.prune(); err != nil {
		return err
	}
	if s.spec.AtEnd {
		return nil
	}
	defer s.now.release()
	if err := s.look(&s.now); err != nil {
		return err
	}
	if err := s.now.without(&s.old).emit(out, s.rt.Pool, &s.old, vector.Delete); err != nil {
		return err
	}
	return s.old.without(&s.now).emit(out, s.rt.Pool, &s.now, vector.Insert)
}

// apply moves the rows of live that the epoch touched into the table.
func (s *Sort) apply() error {
	born, changed, err := s.live.settle()
	if err != nil {
		return err
	}
	defer changed.release()
	if born > 0 {
		from, err := s.numbers(born)
		if err != nil {
			return err
		}
		s.live.number(changed, from)
	}
	if len(changed.rows) == 0 {
		return nil
	}
	kinds, k := s.rt.Pool.NewKinds(len(changed.rows))
	copy(k, changed.kinds)
	return s.add(vector.Of(s.rt.Pool, changed.numbers...), changed.keys, changed.rows, kinds)
}

// prune drops the rows behind the window, which never get into it: nothing before
// them goes away.
func (s *Sort) prune() error {
	if s.end == math.MaxInt64 {
		return nil
	}
	if err := s.resolve(s.rows.Resolve); err != nil {
		return err
	}
	if s.rows.Count(s.slot[0]) <= s.end {
		return nil
	}
	at := int64(0)
	s.spare = s.spare[:0]
	err := s.rows.Range(s.slot[0], nil, func(id state.RowID, _ int64) bool {
		if at++; at > s.end {
			s.spare = append(s.spare, id)
		}
		return true
	})
	if err != nil {
		return err
	}
	cols := s.rows.Take(s.rt.Pool, s.spare)
	kinds, k := s.rt.Pool.NewKinds(len(s.spare))
	for i := range k {
		k[i] = vector.Delete
	}
	gone := vector.NewBatch(len(s.spare), cols, kinds)
	defer gone.Release()
	return s.rows.Add(s.same(len(s.spare)), gone)
}

// sortWindow is the rows from Skip to Skip+Count at some time.
type sortWindow struct {
	ids   []state.RowID
	times []int64          // how often each is in the window
	cols  []*vector.Vector // numbers and rows
}

// find lists the rows of the window.
func (s *Sort) find(w *sortWindow) error {
	w.ids, w.times = w.ids[:0], w.times[:0]
	if err := s.resolve(s.rows.Resolve); err != nil {
		return err
	}
	at := int64(0)
	return s.rows.Range(s.slot[0], nil, func(id state.RowID, count int64) bool {
		if at >= s.end {
			return false
		}
		if count > 0 {
			if n := min(at+count, s.end) - max(at, s.spec.Skip); n > 0 {
				w.ids, w.times = append(w.ids, id), append(w.times, n)
			}
			at += count
		}
		return true
	})
}

// look is find and a copy of the rows.
func (s *Sort) look(w *sortWindow) error {
	if err := s.find(w); err != nil {
		return err
	}
	w.cols = s.rows.Take(s.rt.Pool, w.ids)
	return nil
}

func (w *sortWindow) release() {
	releaseAll(w.cols)
	w.ids, w.times, w.cols = w.ids[:0], w.times[:0], nil
}

func (w *sortWindow) numbers() []int64 { return vector.Values[int64](w.cols[0]) }

// missing are rows of a window by position, each as often as it is missing.
type missing []int32

// without lists what other has more than w.
func (w *sortWindow) without(other *sortWindow) missing {
	have := make(map[int64]int64, len(w.ids))
	for i, n := range w.numbers() {
		have[n] = w.times[i]
	}
	var out missing
	for i, n := range other.numbers() {
		for range other.times[i] - have[n] {
			out = append(out, int32(i))
		}
	}
	return out
}

// emit emits these rows of w.
func (m missing) emit(out exec.Output, p *vector.Pool, w *sortWindow, kind vector.RowKind) error {
	if len(m) == 0 {
		return nil
	}
	cols := w.cols[1:]
	for _, c := range cols {
		c.Retain()
	}
	b := vector.NewBatch(len(w.ids), append([]*vector.Vector(nil), cols...), nil)
	defer b.Release()
	return emitRows(out, p, b, m, kind)
}

// emitAll emits the window, in order.
func (s *Sort) emitAll(out exec.Output) error {
	if err := s.find(&s.now); err != nil {
		return err
	}
	ids := s.now.ids
	if s.live != nil {
		ids = nil
		for i, id := range s.now.ids {
			for range s.now.times[i] {
				ids = append(ids, id)
			}
		}
	}
	for at := 0; at < len(ids); at += vector.Target {
		part := ids[at:min(at+vector.Target, len(ids))]
		cols := s.rows.Take(s.rt.Pool, part)
		cols[0].Release()
		b := vector.NewBatch(len(part), cols[1:], nil)
		err := out.Emit(b)
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Close drops what an epoch that did not end has left.
func (s *Sort) Close() error {
	s.old.release()
	s.now.release()
	return nil
}
