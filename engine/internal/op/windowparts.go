package op

import (
	"math"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
)

// windowParts gives the rows of a batch to the slices and windows in which they are
// counted. Rows with times in order, as most come, are few runs for one part each.
type windowParts struct {
	in     *windowInput
	shared bool // windows that overlap share what they count
	hops   bool // by slices
	fired  *firedEnd

	parts  []windowPart
	places map[partKey]int
}

// windowPart is the rows of a batch that go to one slice or window.
type windowPart struct {
	partKey
	all  bool // of the batch's rows
	rows []int32
}

// windowRun is times of which all are counted in the same part, until a watermark from
// which on rows are late for some of its windows.
type windowRun struct {
	partKey
	from, to int64
	limit    int64
	part     int
}

// split gives out the rows of a dense batch. The parts are in the order of time, and valid
// until the next split.
func (w *windowParts) split(b *vector.Batch) []windowPart {
	w.parts = w.parts[:0]
	clear(w.places)
	column, floor := w.in.before(b)
	if w.in.Time < 0 {
		w.splitAttached(b, column, floor)
	} else if times := w.in.local(b); !w.whole(b, times, column, floor) {
		w.splitTimes(b, times, column, floor)
	}
	if len(w.parts) > 1 {
		slices.SortFunc(w.parts, func(a, b windowPart) int { return int(min(max(a.at-b.at, -1), 1)) })
	}
	return w.parts
}

// add makes a part, or finds it.
func (w *windowParts) add(key partKey) int {
	if n := len(w.parts); n > 0 && w.parts[n-1].partKey == key {
		return n - 1
	}
	i, ok := w.places[key]
	if !ok {
		if i = len(w.parts); i < cap(w.parts) {
			w.parts = w.parts[:i+1]
			w.parts[i] = windowPart{partKey: key, rows: w.parts[i].rows[:0]}
		} else {
			w.parts = append(w.parts, windowPart{partKey: key})
		}
		w.places[key] = i
	}
	return i
}

func (w *windowParts) to(key partKey, row int) {
	i := w.add(key)
	w.parts[i].rows = append(w.parts[i].rows, int32(row))
}

// run is the run of a time, if there is one.
func (w *windowParts) run(t int64) (r windowRun, ok bool) {
	a := w.in.Assigner
	if !w.shared && a.Kind != window.Tumble {
		return r, false
	}
	s, ok := a.First(t)
	if !ok || w.hops && s.End <= w.fired.end {
		return r, false
	}
	r = windowRun{partKey: partKey{at: s.End}, from: s.Start, to: s.End, limit: w.in.instant(s.End) - 1}
	switch {
	case w.hops:
		size := a.Slice()
		r.from = window.Floor(t, size, a.Offset)
		r.to = r.from + size
		r.partKey = partKey{at: r.to, kind: slicePart}
	case a.Kind == window.Cumulate:
		r.from = window.Floor(t, a.Step, s.Start)
	}
	return r, true
}

// whole gives all rows of b to one part, if they are one run.
func (w *windowParts) whole(b *vector.Batch, times, column []int64, at int64) bool {
	if len(times) == 0 || b.Col(w.in.Time).Valid() != nil {
		return false
	}
	first, last := times[0], times[0]
	for _, t := range times {
		first, last = min(first, t), max(last, t)
	}
	for _, c := range column {
		at = max(at, c)
	}
	r, ok := w.run(first)
	if !ok || last >= r.to || at >= r.limit {
		return false
	}
	w.parts[w.add(r.partKey)].all = true
	return true
}

// splitTimes gives out rows by their times. Those without one are in no window.
func (w *windowParts) splitTimes(b *vector.Batch, times, column []int64, floor int64) {
	null := b.Col(w.in.Time)
	nulls := null.Valid() != nil
	r := windowRun{limit: math.MinInt64}
	for i, t := range times {
		if nulls && null.IsNull(i) {
			continue
		}
		at := floor
		if column != nil {
			at = max(at, column[i])
		}
		if t >= r.from && t < r.to && at < r.limit {
			w.parts[r.part].rows = append(w.parts[r.part].rows, int32(i))
			continue
		}
		next, ok := w.run(t)
		switch {
		case ok && at < next.limit:
			r = next
			r.part = w.add(r.partKey)
			w.parts[r.part].rows = append(w.parts[r.part].rows, int32(i))
		case w.hops:
			w.toSlice(i, t, exec.Watermark(at))
		default:
			w.toWindows(i, t, exec.Watermark(at))
		}
	}
}

// toWindows gives a row to its windows or, where each window is merged into the next, to
// the first of them that takes it.
func (w *windowParts) toWindows(i int, t int64, at exec.Watermark) {
	a := w.in.Assigner
	for s, ok := a.First(t); ok; s, ok = a.Next(s, t) {
		if w.in.over(s.End, at) {
			w.in.refused.add(i, s)
			continue
		}
		w.to(partKey{at: s.End}, i)
		if w.shared {
			break
		}
	}
}

// toSlice gives a row to its slice. A slice counts in all windows that it is in and that
// have not fired, so a row that some of these refuse goes to each of the others for itself.
func (w *windowParts) toSlice(i int, t int64, at exec.Watermark) {
	a, size := w.in.Assigner, w.in.Assigner.Slice()
	s, ok := a.First(t)
	whole := true
	for ; ok && w.in.over(s.End, at); s, ok = a.Next(s, t) {
		w.in.refused.add(i, s)
		whole = whole && s.End <= w.fired.end
	}
	if !ok {
		return
	}
	if whole && s.End > w.fired.end {
		w.to(partKey{at: window.Floor(t, size, a.Offset) + size, kind: slicePart}, i)
		return
	}
	for ; ok; s, ok = a.Next(s, t) {
		w.to(partKey{at: s.End}, i)
	}
}

// splitAttached takes rows that have windows.
func (w *windowParts) splitAttached(b *vector.Batch, column []int64, floor int64) {
	start, end := vector.Values[int64](b.Col(w.in.Start)), vector.Values[int64](b.Col(w.in.End))
	for i := range b.Len() {
		at := floor
		if column != nil {
			at = max(at, column[i])
		}
		if w.in.over(end[i], exec.Watermark(at)) {
			w.in.refused.add(i, window.Span{Start: start[i], End: end[i]})
			continue
		}
		w.to(partKey{at: end[i]}, i)
	}
}
