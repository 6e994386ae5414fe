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

	slots  []state.Slot
	due    []state.Slot // of keys that are looked at, each once
	seen   map[state.Slot]bool
	found  []session
	ids    []state.RowID
	counts []int64
	until  []int // by key: where its rows end among ids
	keep   []int32
	over   sessionRows
}

// sessionRows are rows of sessions, with their keys and bounds.
type sessionRows struct {
	ids        []state.RowID
	slots      []state.Slot
	start, end []int64
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
	slot   state.Slot
	closed bool
	rows   []state.RowID
	counts []int64
	times  []int64
}

// NewSessionTable returns a SessionTable.
func NewSessionTable(spec SessionTableSpec) *SessionTable {
	s := &SessionTable{spec: spec, in: newWindowInput(spec.Window, spec.Types), gap: spec.Window.Assigner.Size, seen: map[state.Slot]bool{}}
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
	late = s.in.over(own.End, at)
	var over []session
	for _, f := range found {
		if f.closed || f.End < own.Start || f.Start > own.End {
			continue
		}
		if !s.in.over(f.End, at) {
			late = gone && s.splits(f, t, at)
			break
		}
		over = append(over, f)
	}
	return late, s.close(over)
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

// sessions are those of some keys, one after the other, of each in the order of their times.
// They are valid until the next call.
func (s *SessionTable) sessions(slots ...state.Slot) ([]session, error) {
	s.found, s.ids, s.counts, s.until = s.found[:0], s.ids[:0], s.counts[:0], s.until[:0]
	for _, slot := range slots {
		err := s.rows.Range(slot, nil, func(id state.RowID, count int64) bool {
			s.ids, s.counts = append(s.ids, id), append(s.counts, count)
			return true
		})
		if err != nil {
			return nil, err
		}
		s.until = append(s.until, len(s.ids))
	}
	var cols [sessionRow]*vector.Vector
	for c := range cols {
		cols[c] = s.rows.TakeColumn(s.in.rt.Pool, s.ids, c)
	}
	defer releaseAll(cols[:])
	times, closed, ends := vector.Values[int64](cols[sessionTime]), vector.Values[int64](cols[sessionClosed]), vector.Values[int64](cols[sessionEnd])
	i := 0
	for k, until := range s.until {
		first, open := len(s.found), -1
		for ; i < until; i++ {
			if s.counts[i] <= 0 && s.spec.Updating {
				continue // taken away before it came
			}
			at := -1
			switch {
			case closed[i] != 0:
				for f := first; f < len(s.found); f++ {
					if s.found[f].closed && s.found[f].Start == closed[i]-1 && s.found[f].End == ends[i] {
						at = f
					}
				}
				if at < 0 {
					at = s.open(slots[k], window.Span{Start: closed[i] - 1, End: ends[i]}, true)
				}
			case open >= 0 && times[i] <= s.found[open].End:
				at = open
				s.found[at].End = times[i] + s.gap
			default:
				at = s.open(slots[k], window.Span{Start: times[i], End: times[i] + s.gap}, false)
				open = at
			}
			f := &s.found[at]
			f.rows, f.counts, f.times = append(f.rows, s.ids[i]), append(f.counts, s.counts[i]), append(f.times, times[i])
		}
	}
	return s.found, nil
}

// open adds a session without rows to those that were found.
func (s *SessionTable) open(slot state.Slot, w window.Span, closed bool) int {
	n := len(s.found)
	if n < cap(s.found) { // with the slices of an earlier one
		s.found = s.found[:n+1]
	} else {
		s.found = append(s.found, session{})
	}
	f := &s.found[n]
	*f = session{Span: w, slot: slot, closed: closed, rows: f.rows[:0], counts: f.counts[:0], times: f.times[:0]}
	return n
}

// close marks the rows of sessions, which then take no others.
func (s *SessionTable) close(found []session) error {
	if len(found) == 0 {
		return nil
	}
	p, o := s.in.rt.Pool, &s.over
	o.reset()
	for i := range found {
		o.add(&found[i])
	}
	cols := s.rows.Take(p, o.ids)
	for i, start := range o.start {
		vector.Values[int64](cols[sessionClosed])[i] = start + 1
	}
	copy(vector.Values[int64](cols[sessionEnd]), o.end)
	again := vector.NewBatch(len(o.ids), cols, nil)
	defer again.Release()
	if err := s.forget(); err != nil {
		return err
	}
	return s.rows.Add(o.slots, again)
}

// forget takes the rows of over away.
func (s *SessionTable) forget() error {
	o := &s.over
	gone := deletions(s.in.rt.Pool, vector.NewBatch(len(o.ids), s.rows.Take(s.in.rt.Pool, o.ids), nil))
	defer gone.Release()
	return s.rows.Add(o.slots, gone)
}

// deletions are the rows of b as such that are taken away, in place of b.
func deletions(p *vector.Pool, b *vector.Batch) *vector.Batch {
	kinds, k := p.NewKinds(b.Len())
	for i := range k {
		k[i] = vector.Delete
	}
	gone := b.WithKinds(kinds)
	b.Release()
	return gone
}

func (o *sessionRows) reset() {
	o.ids, o.slots, o.start, o.end = o.ids[:0], o.slots[:0], o.start[:0], o.end[:0]
}

// add adds the rows of a session, each as often as it is there.
func (o *sessionRows) add(f *session) {
	for i, id := range f.rows {
		for range f.counts[i] {
			o.ids, o.slots, o.start, o.end = append(o.ids, id), append(o.slots, f.slot), append(o.start, f.Start), append(o.end, f.End)
		}
	}
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
			return nil
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
	s.slots = resize(s.slots, keys.Len())
	if err := s.rows.Resolve(s.enc.Encode(keys, upTo(keys.Cols())), false, s.slots); err != nil {
		return err
	}
	s.due = s.due[:0]
	clear(s.seen)
	for _, slot := range s.slots {
		if slot != state.None && !s.seen[slot] {
			s.seen[slot] = true
			s.due = append(s.due, slot)
		}
	}
	found, err := s.sessions(s.due...)
	if err != nil {
		return err
	}
	o := &s.over
	o.reset()
	for i := range found {
		if s.in.over(found[i].End, to) {
			o.add(&found[i])
		}
	}
	if len(o.ids) == 0 {
		return nil
	}
	for from := 0; from < len(o.ids); from += vector.Target {
		if err := s.emit(from, min(from+vector.Target, len(o.ids)), out); err != nil {
			return err
		}
	}
	return s.forget()
}

// emit emits some of the rows of sessions that are over.
func (s *SessionTable) emit(from, to int, out exec.Output) error {
	p, o := s.in.rt.Pool, &s.over
	cols := make([]*vector.Vector, 0, len(s.spec.Forward)+3)
	for c := range s.spec.Forward {
		cols = append(cols, s.rows.TakeColumn(p, o.ids[from:to], sessionRow+c))
	}
	cols = append(cols, s.in.columns(p, o.start[from:to], o.end[from:to])...)
	b := vector.NewBatch(to-from, cols, nil)
	defer b.Release()
	return out.Emit(b)
}

// Close does nothing: state belongs to the task.
func (s *SessionTable) Close() error { return nil }
