package op

import (
	"context"
	"math"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// SessionTableSpec says what a SessionTable passes on. The watermark of the input is not.
type SessionTableSpec struct {
	WindowTableSpec
	Partition []int // input columns
	Updating  bool  // the input may take rows away
	Spread    []int // columns that rows are spread by, of Partition; nil: one shard has all
}

// SessionTable is SESSION: the rows of a key that follow each other within a gap are in
// one window, from the first time to the last and the gap. It passes them on when the
// window is over, until when the rows are kept by their times.
//
// A row that is late by itself is in the session that it falls into, or touches, if that
// is not over. A session that was over before a row came takes none, also while it waits
// for the mark to be emitted: it is closed then. A row is not taken away any more when
// what is left of its session would have been over.
type SessionTable struct {
	spec SessionTableSpec
	in   windowInput
	gap  int64

	layout rowkey.Layout
	enc    *rowkey.Encoder
	rows   *state.Rows  // time, end of the session that is closed or 0, forwarded columns
	dues   *state.Times // when a key is to be looked at

	slots []state.Slot
	found []session
	out   *vector.Builder // rows of sessions that are to be emitted,
	start []int64         // with their bounds
	end   []int64
	ids   []state.RowID
	keep  []int32
}

// The first columns of a stored row.
const (
	sessionTime   = 0
	sessionClosed = 1 // the start of the session plus one; 0 while it is open
	sessionEnd    = 2 // of a session that is closed
	sessionRow    = 3
)

// session is a window with the rows in it.
type session struct {
	window.Span
	closed bool
	rows   []state.RowID
	counts []int64
	times  []int64
}

// NewSessionTable returns a SessionTable.
func NewSessionTable(spec SessionTableSpec) *SessionTable {
	s := &SessionTable{spec: spec, in: newWindowInput(spec.Window, spec.Types), gap: spec.Window.Assigner.Size}
	s.layout = keyLayout(spec.Types, spec.Partition, spec.Spread)
	s.enc = rowkey.NewEncoder(s.layout)
	return s
}

// Open finds the tables.
func (s *SessionTable) Open(_ context.Context, rt *exec.Runtime) error {
	s.in.rt = rt
	cols := []vector.Kind{vector.Int64, vector.Int64, vector.Int64}
	for _, c := range s.spec.Forward {
		cols = append(cols, s.spec.Types[c].Kind())
	}
	s.rows = rt.State.Rows("rows", s.layout, state.RowsOptions{Cols: cols, Sort: &state.SortSpec{Cols: []int{sessionTime}}, Indexed: true})
	s.dues = rt.State.Times("dues", s.layout)
	s.out = vector.NewBuilder(rt.Pool, cols[sessionRow:])
	return nil
}

// Process keeps the rows of b that are not late.
func (s *SessionTable) Process(_ int, b *vector.Batch, _ exec.Output) error {
	if _, some := b.Sel(); some {
		b = b.Dense(s.in.rt.Pool)
		defer b.Release()
	}
	n := b.Len()
	s.slots = resize(s.slots, n)
	keys := s.enc.Encode(b, s.spec.Partition)
	if err := s.rows.Resolve(keys, true, s.slots); err != nil {
		return err
	}
	times, null := s.in.local(b), b.Col(s.spec.Window.Time)
	column, floor := s.in.before(b)
	// Rows that are not behind the watermark are added together; of each other it
	// matters what came before it.
	s.keep = s.keep[:0]
	for i, t := range times {
		at := floor
		if column != nil {
			at = max(at, column[i])
		}
		if null.IsNull(i) {
			continue
		}
		if !s.in.over(t, exec.Watermark(at)) { // no session that it touches is over
			s.keep = append(s.keep, int32(i))
			continue
		}
		if err := s.add(b, times, keys); err != nil {
			return err
		}
		late, err := s.behind(i, t, exec.Watermark(at), s.spec.Updating && !b.Kind(i).Adds())
		if err != nil {
			return err
		}
		if late {
			s.in.refused.add(i, window.Span{Start: t, End: t + s.gap})
			continue
		}
		s.keep = append(s.keep, int32(i))
	}
	if err := s.add(b, times, keys); err != nil {
		return err
	}
	return s.in.refuse(b)
}

// behind reports whether a row, which is one that is taken away if gone, is late whose time
// the watermark has passed. Sessions that it touches and that were over are closed.
func (s *SessionTable) behind(i int, t int64, at exec.Watermark, gone bool) (late bool, err error) {
	found, err := s.sessions(s.slots[i])
	if err != nil {
		return false, err
	}
	own := window.Span{Start: t, End: t + s.gap}
	for _, f := range found {
		if f.closed || f.End < own.Start || f.Start > own.End {
			continue
		}
		if s.in.over(f.End, at) {
			if err := s.close(s.slots[i], f); err != nil {
				return false, err
			}
			continue
		}
		return gone && s.splits(f, t, at), nil
	}
	return s.in.over(own.End, at), nil
}

// splits reports whether a part of a session is over without one of the rows of time t.
func (s *SessionTable) splits(f session, t int64, at exec.Watermark) bool {
	end, without := int64(math.MinInt64), false
	for k, time := range f.times {
		if time == t && !without {
			if without = true; f.counts[k] == 1 {
				continue
			}
		}
		if end != math.MinInt64 && time > end {
			return s.in.over(end, at) // the first part is over first
		}
		end = time + s.gap
	}
	return end != math.MinInt64 && s.in.over(end, at)
}

// add stores the rows of s.keep, and empties it.
func (s *SessionTable) add(b *vector.Batch, times []int64, keys *rowkey.Keys) error {
	if len(s.keep) == 0 {
		return nil
	}
	p := s.in.rt.Pool
	cols := []*vector.Vector{vector.Of(p, gather(nil, times, s.keep)...), zeros(p, len(s.keep)), zeros(p, len(s.keep))}
	for _, c := range s.spec.Forward {
		cols = append(cols, b.Col(c).Take(p, s.keep))
	}
	kinds := b.KindVector()
	if kinds != nil {
		kinds = kinds.Take(p, s.keep)
	}
	rows := vector.NewBatch(len(s.keep), cols, kinds)
	defer rows.Release()
	if err := s.rows.Add(gather(nil, s.slots, s.keep), rows); err != nil {
		return err
	}
	for _, i := range s.keep {
		if err := s.dues.Add(s.in.instant(times[i]+s.gap)-1, keys, int(i)); err != nil {
			return err
		}
	}
	s.keep = s.keep[:0]
	return nil
}

func zeros(p *vector.Pool, n int) *vector.Vector {
	v := p.New(vector.Int64, n)
	clear(vector.Values[int64](v))
	return v
}

// sessions are those of a key, in the order of their times.
func (s *SessionTable) sessions(slot state.Slot) ([]session, error) {
	s.found, s.ids = s.found[:0], s.ids[:0]
	var counts []int64
	err := s.rows.Range(slot, nil, func(id state.RowID, count int64) bool {
		s.ids, counts = append(s.ids, id), append(counts, count)
		return true
	})
	if err != nil {
		return nil, err
	}
	stored := s.rows.Take(s.in.rt.Pool, s.ids)
	defer releaseAll(stored)
	times, closed, ends := vector.Values[int64](stored[sessionTime]), vector.Values[int64](stored[sessionClosed]), vector.Values[int64](stored[sessionEnd])
	open := -1
	for i, id := range s.ids {
		if counts[i] <= 0 && s.spec.Updating {
			continue // taken away before it came
		}
		at := -1
		switch {
		case closed[i] != 0:
			for f := range s.found {
				if s.found[f].closed && s.found[f].Start == closed[i]-1 && s.found[f].End == ends[i] {
					at = f
				}
			}
			if at < 0 {
				at = len(s.found)
				s.found = append(s.found, session{Span: window.Span{Start: closed[i] - 1, End: ends[i]}, closed: true})
			}
		case open >= 0 && times[i] <= s.found[open].End:
			at = open
			s.found[at].End = times[i] + s.gap
		default:
			at, open = len(s.found), len(s.found)
			s.found = append(s.found, session{Span: window.Span{Start: times[i], End: times[i] + s.gap}})
		}
		f := &s.found[at]
		f.rows, f.counts, f.times = append(f.rows, id), append(f.counts, counts[i]), append(f.times, times[i])
	}
	return s.found, nil
}

// close marks the rows of a session, which then takes no others.
func (s *SessionTable) close(slot state.Slot, f session) error {
	return s.rewrite(slot, f, func(cols []*vector.Vector) {
		fill(vector.Values[int64](cols[sessionClosed]), f.Start+1)
		fill(vector.Values[int64](cols[sessionEnd]), f.End)
	})
}

// rewrite takes the rows of a session away and, with change, puts them back changed.
func (s *SessionTable) rewrite(slot state.Slot, f session, change func(cols []*vector.Vector)) error {
	p := s.in.rt.Pool
	ids := repeated(f)
	slots := make([]state.Slot, len(ids))
	for i := range slots {
		slots[i] = slot
	}
	kinds, k := p.NewKinds(len(ids))
	for i := range k {
		k[i] = vector.Delete
	}
	gone := vector.NewBatch(len(ids), s.rows.Take(p, ids), kinds)
	var again *vector.Batch
	if change != nil {
		cols := s.rows.Take(p, ids)
		change(cols)
		again = vector.NewBatch(len(ids), cols, nil)
		defer again.Release()
	}
	err := s.rows.Add(slots, gone)
	gone.Release()
	if err == nil && again != nil {
		err = s.rows.Add(slots, again)
	}
	return err
}

// repeated are the rows of a session, each as often as it is there.
func repeated(f session) []state.RowID {
	var ids []state.RowID
	for i, id := range f.rows {
		for range f.counts[i] {
			ids = append(ids, id)
		}
	}
	return ids
}

// Advance emits the sessions that are over.
func (s *SessionTable) Advance(_ int, to exec.Watermark, out exec.Output) error {
	if !s.in.Processing {
		if err := s.fire(to, out); err != nil {
			return err
		}
		s.in.late.Advance(to)
	}
	return out.Advance(to)
}

// End makes sessions of processing time over.
func (s *SessionTable) End(int, exec.Output) error {
	s.in.ended = true
	return nil
}

// Flush emits sessions of processing time that are over.
func (s *SessionTable) Flush(out exec.Output) error {
	if !s.in.Processing {
		return nil
	}
	return s.fire(s.in.reached(), out)
}

func (s *SessionTable) fire(to exec.Watermark, out exec.Output) error {
	for {
		keys, err := dueKeys(s.in.rt.Pool, s.dues, s.layout, to)
		if err != nil {
			return err
		}
		if keys == nil {
			return s.pass(out)
		}
		err = s.fireKeys(keys, to, out)
		keys.Release()
		if err != nil {
			return err
		}
	}
}

// fireKeys emits the sessions of keys that are over.
func (s *SessionTable) fireKeys(keys *vector.Batch, to exec.Watermark, out exec.Output) error {
	cols := make([]int, keys.Cols())
	for i := range cols {
		cols[i] = i
	}
	slots := make([]state.Slot, keys.Len())
	if err := s.rows.Resolve(s.enc.Encode(keys, cols), false, slots); err != nil {
		return err
	}
	for _, slot := range slots {
		if slot == state.None {
			continue
		}
		found, err := s.sessions(slot)
		if err != nil {
			return err
		}
		for _, f := range found {
			if !s.in.over(f.End, to) {
				continue
			}
			if err := s.emit(f, out); err != nil {
				return err
			}
			if err := s.rewrite(slot, f, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// emit takes the rows of a session to the batch that is emitted next.
func (s *SessionTable) emit(f session, out exec.Output) error {
	ids := repeated(f)
	for at := 0; at < len(ids); {
		part := ids[at:min(at+vector.Target-len(s.start), len(ids))]
		at += len(part)
		stored := s.rows.Take(s.in.rt.Pool, part)
		rows := vector.NewBatch(len(part), stored[sessionRow:], nil)
		s.keep = s.keep[:0]
		for i := range part {
			s.keep = append(s.keep, int32(i))
		}
		s.out.AppendTake(rows, s.keep)
		releaseAll(stored)
		for range part {
			s.start, s.end = append(s.start, f.Start), append(s.end, f.End)
		}
		if len(s.start) == vector.Target {
			if err := s.pass(out); err != nil {
				return err
			}
		}
	}
	return nil
}

// pass emits the rows that were taken.
func (s *SessionTable) pass(out exec.Output) error {
	s.keep = s.keep[:0]
	if len(s.start) == 0 {
		return nil
	}
	b := s.out.Finish()
	defer b.Release()
	cols := make([]*vector.Vector, 0, b.Cols()+3)
	for c := range b.Cols() {
		cols = append(cols, b.Col(c).Retain())
	}
	cols = append(cols, s.in.columns(s.in.rt.Pool, s.start, s.end)...)
	s.start, s.end = s.start[:0], s.end[:0]
	wide := vector.NewBatch(b.Len(), cols, nil)
	defer wide.Release()
	return out.Emit(wide)
}

// Close drops what was not emitted: state belongs to the task.
func (s *SessionTable) Close() error {
	if s.out != nil {
		s.out.Discard()
	}
	return nil
}
