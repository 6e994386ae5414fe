package exec

import (
	"sync/atomic"

	"github.com/weirdb/weir/engine/connector"
)

// readerTime is what a reader knows of event time.
type readerTime struct {
	split *Split // of the rows given last; nil: there was none yet
	// said is what the source said last, before what it had said when the last rows were
	// read.
	said, before Watermark
	// fed says that rows were given since the last mark, held that the reader waited
	// for slower ones, and active is processing time when it was not idle for the last
	// time.
	fed, held bool
	begun     bool
	active    int64
}

// low is the event time of the split that is furthest behind among those that nobody
// has opened. A split that is not begun yet may hold rows of any time: until it is,
// event time stands still.
func (s *splits) low() Watermark {
	s.mu.Lock()
	defer s.mu.Unlock()
	low := EndWatermark
	for _, l := range s.left {
		low = min(low, l.watermark)
	}
	return low
}

// unread is the event time up to which splits that are not begun let a mark say that
// rows are complete.
func (r *Reader) unread() Watermark {
	if w := r.splits.low(); w < EndWatermark || r.time.split != nil {
		return w
	}
	return NoWatermark // the reader is about to find that nothing is left
}

// begin turns to another split, or to none for the zero value.
func (r *Reader) begin(s splitToRead) {
	r.time.split, r.time.said, r.time.before = nil, NoWatermark, NoWatermark
	if s.ID != "" || r.open != nil {
		r.time.split = NewSplit(s.ID, s.watermark)
	}
	r.pace.set(r, r.time.split)
}

// ask lets a source that keeps event time itself say how far it is.
func (r *Reader) ask() {
	if !r.node.Time.Own {
		return
	}
	r.time.before = r.time.said
	if t, ok := r.open.(connector.TimedReader); ok {
		if w, ok := t.Watermark(); ok {
			r.time.said = max(r.time.said, Watermark(w))
		}
	}
}

// sourceSaid is what the source said of the rows that were given.
func (r *Reader) sourceSaid() Watermark {
	if r.held != nil {
		return r.time.before
	}
	return r.time.said
}

// openSplit is the split that a mark speaks of: none once the reader has ended.
func (r *Reader) openSplit(m Mark) *Split {
	if m.Ended {
		return nil
	}
	return r.time.split
}

// idle reports whether the reader has had nothing to read for so long that it holds
// back nobody. A reader that waits for others is not idle.
func (r *Reader) idle(m Mark) bool {
	t := &r.time
	if t.fed || t.held || r.held != nil || !t.begun {
		t.active = m.Now
	}
	t.fed, t.held, t.begun = false, false, true
	limit := r.node.Time.IdleTimeout.Milliseconds()
	idle := limit > 0 && !m.Ended && !r.node.Source.Bounded() && m.Now-t.active >= limit
	if idle {
		r.pace.set(r, nil)
	} else if !m.Ended {
		r.pace.set(r, t.split)
	}
	return idle
}

// tooFast reports whether the reader is so far ahead of another of its source that it
// waits, until the next epoch at least.
func (r *Reader) tooFast() bool {
	limit := r.node.Time.MaxDrift.Milliseconds()
	if limit <= 0 || r.time.split == nil || r.node.Source.Bounded() {
		return false
	}
	own := r.time.split.Watermark()
	if own == NoWatermark {
		return false
	}
	low := r.pace.low()
	r.time.held = low == NoWatermark || own-low > Watermark(limit)
	return r.time.held
}

// pace knows how far the readers of a source are. A reader that is idle or has ended
// does not count.
type pace struct {
	of []*atomic.Pointer[Split]
}

// join makes room for a reader, before any of them reads.
func (p *pace) join(r *Reader) {
	r.place = len(p.of)
	p.of = append(p.of, &atomic.Pointer[Split]{})
}

func (p *pace) set(r *Reader, s *Split) { p.of[r.place].Store(s) }

// low is the event time of the slowest.
func (p *pace) low() Watermark {
	low := EndWatermark
	for _, at := range p.of {
		if s := at.Load(); s != nil {
			low = min(low, s.Watermark())
		}
	}
	return low
}
