package exec

import (
	"strconv"

	"github.com/weirdb/weir/vector"
)

// LateSide is the side output for late rows of a port: Late for the first.
func LateSide(port int) string {
	if port == 0 {
		return Late
	}
	return Late + " " + strconv.Itoa(port)
}

// Lateness says of a row how far event time was before it. A row of a source carries
// the watermark of its split in a hidden column; a row that an operator made of others
// comes without, and counts by what this operator was last told. Which of its windows a
// row is too late for follows from that alone, so it depends neither on the size of
// batches nor on where an epoch ended.
//
// An operator has one for each port. It is told of Advance in the operator's own, after
// what became due has been emitted.
type Lateness struct {
	column   int
	advanced Watermark
}

// NewLateness returns the lateness of rows whose hidden column is at a position, or
// that have none: -1.
func NewLateness(column int) Lateness { return Lateness{column: column, advanced: NoWatermark} }

// Column is the position of the hidden column, or -1.
func (l *Lateness) Column() int { return l.column }

// Advance notes the operator's watermark: all that is due by it has been emitted.
func (l *Lateness) Advance(w Watermark) { l.advanced = max(l.advanced, w) }

// Advanced is what the operator was last told.
func (l *Lateness) Advanced() Watermark { return l.advanced }

// Rows is Before for loops: row r of b has the watermark max(floor, column[r]), or floor
// where column is nil. Rows are counted as b's columns count them, also under a
// selection.
func (l *Lateness) Rows(b *vector.Batch) (column []int64, floor int64) {
	if l.column < 0 {
		return nil, int64(l.advanced)
	}
	return vector.Values[int64](b.Col(l.column)), int64(l.advanced)
}

// Before is the watermark before row r of b's columns.
func (l *Lateness) Before(b *vector.Batch, r int) Watermark {
	if l.column < 0 {
		return l.advanced
	}
	return max(l.advanced, Watermark(vector.Values[int64](b.Col(l.column))[r]))
}

// Fired reports whether a window that ends before end, in milliseconds, has fired when
// the watermark is w: then a row for it is late.
func (w Watermark) Fired(end int64) bool { return int64(w) >= end-1 }
