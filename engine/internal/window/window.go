// Package window says which windows of time a time is in.
package window

import (
	"fmt"
	"time"
)

// Kind is the kind of an Assigner.
type Kind uint8

// The kinds of windows, as in SQL.
const (
	Tumble   Kind = iota // one after the other
	Hop                  // of one size, one beginning every Step
	Cumulate             // growing by Step up to Size, then from the start
	Session              // from the first time to the last, with no gap of Size between
)

// String is the name in SQL.
func (k Kind) String() string { return [...]string{"TUMBLE", "HOP", "CUMULATE", "SESSION"}[k] }

// Assigner assigns times to windows. All its numbers are milliseconds, those of times
// and spans since 1970. Windows begin at Offset and multiples of their size from there.
type Assigner struct {
	Kind   Kind
	Size   int64 // of a window; the greatest of CUMULATE; the gap of SESSION
	Step   int64 // HOP: from one start to the next; CUMULATE: from one end to the next
	Offset int64
}

// Span is a window: times from Start up to End, without End.
type Span struct{ Start, End int64 }

// String shows the assigner as EXPLAIN does.
func (a Assigner) String() string {
	text := a.Kind.String() + "("
	if a.Kind == Hop || a.Kind == Cumulate {
		text += Length(a.Step) + ", "
	}
	text += Length(a.Size)
	if a.Offset != 0 {
		text += ", offset " + Length(a.Offset)
	}
	return text + ")"
}

// Length is a number of milliseconds in the largest unit that measures it.
func Length(ms int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"d", 86400_000}, {"h", 3600_000}, {"min", 60_000}, {"s", 1000}} {
		if ms%u.size == 0 && ms != 0 {
			return fmt.Sprintf("%d %s", ms/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d ms", ms)
}

// Floor is the last multiple of size, counted from offset, that is not after t.
func Floor(t, size, offset int64) int64 {
	d := (t - offset) % size
	if d < 0 {
		d += size
	}
	return t - d
}

// First is the earliest window that t is in; ok is false when t is in none, as between
// the windows of a HOP that leaves some time out. The window of a SESSION is that of t
// alone.
func (a Assigner) First(t int64) (s Span, ok bool) {
	switch a.Kind {
	case Tumble:
		start := Floor(t, a.Size, a.Offset)
		return Span{start, start + a.Size}, true
	case Hop:
		// The first start after t - size.
		start := Floor(t-a.Size, a.Step, a.Offset) + a.Step
		return Span{start, start + a.Size}, start <= t
	case Cumulate:
		start := Floor(t, a.Size, a.Offset)
		return Span{start, Floor(t, a.Step, start) + a.Step}, true
	}
	return Span{t, t + a.Size}, true
}

// Next is the window after s among those that t is in.
func (a Assigner) Next(s Span, t int64) (Span, bool) {
	switch a.Kind {
	case Hop:
		s.Start, s.End = s.Start+a.Step, s.End+a.Step
		return s, s.Start <= t
	case Cumulate:
		s.End += a.Step
		return s, s.End <= s.Start+a.Size
	}
	return s, false
}

// OfEnd is the window that ends at a time, of assigners whose windows have one size.
func (a Assigner) OfEnd(end int64) Span { return Span{end - a.Size, end} }

// Slice is the length of the parts of which all windows are made up.
func (a Assigner) Slice() int64 {
	if a.Kind != Hop {
		return a.Size
	}
	x, y := a.Size, a.Step
	for y != 0 {
		x, y = y, x%y
	}
	return x
}

// Zone is the time zone whose clock windows follow: those of instants begin and end when
// it shows their bounds. The zero Zone is UTC.
type Zone struct{ location *time.Location }

// NewZone returns the zone of a location; nil is UTC.
func NewZone(l *time.Location) Zone {
	if l == nil || l == time.UTC || l.String() == "UTC" {
		return Zone{}
	}
	return Zone{l}
}

// UTC reports whether the clock shows instants as they are.
func (z Zone) UTC() bool { return z.location == nil }

// Local is what the clock shows at an instant.
func (z Zone) Local(instant int64) int64 {
	if z.location == nil {
		return instant
	}
	_, offset := time.UnixMilli(instant).In(z.location).Zone()
	return instant + int64(offset)*1000
}

// Instant is when the clock shows a time: the first instant, if there are two.
func (z Zone) Instant(local int64) int64 {
	if z.location == nil {
		return local
	}
	t := time.UnixMilli(local).UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), z.location).UnixMilli()
}
