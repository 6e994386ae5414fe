package op

import (
	"math"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// WindowSpec says which windows the rows of an input are in.
type WindowSpec struct {
	Assigner window.Assigner
	// Processing says that windows are of processing time: they are over when the clock
	// says so, and no row is late.
	Processing bool
	// Instant says that the time is TIMESTAMP_LTZ. Bounds are what the clock of Zone shows.
	Instant bool
	Zone    window.Zone
	// Time is the column by which rows are given windows, or -1 when they have some: then
	// Start and End are the columns of the bounds.
	Time       int
	Start, End int
	Watermark  int // column with the watermark before the row, or -1
}

// windowInput reads from batches which windows their rows are in, and which of these are
// over already.
type windowInput struct {
	WindowSpec
	types []sqltype.Type
	unit  int64 // of the time column, in nanoseconds of a millisecond: how many make one
	late  exec.Lateness
	rt    *exec.Runtime
	ended bool
	// lateSide is the side output for late rows.
	lateSide string

	times   []int64
	refused lateRows
}

func newWindowInput(spec WindowSpec, types []sqltype.Type) windowInput {
	in := windowInput{WindowSpec: spec, types: types, unit: 1, late: exec.NewLateness(spec.Watermark), lateSide: exec.Late}
	if spec.Time >= 0 {
		for d := types[spec.Time].UnitDigits(); d > 3; d-- {
			in.unit *= 10
		}
	}
	return in
}

// instant is when the clock shows the bound of a window.
func (w *windowInput) instant(bound int64) int64 {
	if !w.Instant || w.Zone.UTC() {
		return bound
	}
	return w.Zone.Instant(bound)
}

// over reports whether a window that ends at a bound is over when event time is at w.
func (w *windowInput) over(end int64, at exec.Watermark) bool { return at.Fired(w.instant(end)) }

// reached is how far the time is by which windows are over: event time, or the clock.
func (w *windowInput) reached() exec.Watermark {
	switch {
	case !w.Processing:
		return w.late.Advanced()
	case w.ended:
		return exec.EndWatermark
	}
	return exec.Watermark(w.rt.Now() - 1) // rows of this moment may still come
}

// local are the times of a dense batch in milliseconds, as the clock shows them.
func (w *windowInput) local(b *vector.Batch) []int64 {
	col := vector.Values[int64](b.Col(w.Time))[:b.Rows()]
	if w.unit == 1 && (!w.Instant || w.Zone.UTC()) {
		return col
	}
	w.times = resize(w.times, len(col))
	for i, t := range col {
		if w.unit > 1 {
			t = window.Floor(t, w.unit, 0) / w.unit
		}
		if w.Instant {
			t = w.Zone.Local(t)
		}
		w.times[i] = t
	}
	return w.times
}

// before is how far event time was before rows: max(floor, column[r]), or floor without
// a column.
func (w *windowInput) before(b *vector.Batch) (column []int64, floor int64) {
	if w.Processing {
		return nil, math.MinInt64
	}
	return w.late.Rows(b)
}

// lateRows collects the rows that windows refuse, with the window.
type lateRows struct {
	rows       []int32
	start, end []int64
}

func (l *lateRows) add(r int, s window.Span) {
	l.rows, l.start, l.end = append(l.rows, int32(r)), append(l.start, s.Start), append(l.end, s.End)
}

// refuse counts the late rows of b and hands them on: the columns of b but for the hidden
// one, then the bounds of the window.
func (w *windowInput) refuse(b *vector.Batch) error {
	l := &w.refused
	if len(l.rows) == 0 {
		return nil
	}
	defer func() { l.rows, l.start, l.end = l.rows[:0], l.start[:0], l.end[:0] }()
	return refuseLate(w.rt, w.lateSide, b, w.Watermark, l.rows, l.start, l.end)
}

// windowColumns are the columns of a window, n times: its bounds, and its last
// millisecond.
func (w *windowInput) columns(p *vector.Pool, start, end []int64) []*vector.Vector {
	times := vector.Of(p, end...)
	for i, e := range vector.Values[int64](times) {
		vector.Values[int64](times)[i] = w.instant(e) - 1
	}
	return []*vector.Vector{vector.Of(p, start...), vector.Of(p, end...), times}
}
