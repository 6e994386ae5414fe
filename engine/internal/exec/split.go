package exec

import "sync/atomic"

// Split is a part of a source that is being read, with the event time that it has
// reached. Each split has a watermark of its own, also where one reader reads several:
// how the rows of one are out of order says nothing about another.
//
// The reader makes it and hands it on with every batch. From then on it belongs to the
// task; others may only look at Watermark.
type Split struct {
	id        string
	began     Watermark
	watermark atomic.Int64
}

// NewSplit returns a split that has come as far as w, which is NoWatermark at its
// beginning.
func NewSplit(id string, w Watermark) *Split {
	s := &Split{id: id, began: w}
	s.watermark.Store(int64(w))
	return s
}

// ID is the connector's name of the split.
func (s *Split) ID() string { return s.id }

// Began is the event time that the split had reached before its first row.
func (s *Split) Began() Watermark { return s.began }

// Watermark is the event time that the rows so far have reached.
func (s *Split) Watermark() Watermark { return Watermark(s.watermark.Load()) }

// Advance raises the watermark; it never goes back.
func (s *Split) Advance(w Watermark) {
	if w > s.Watermark() {
		s.watermark.Store(int64(w))
	}
}
