package exec

import (
	"math"
	"time"
)

// Watermark is a time in milliseconds since 1970 that event time has reached.
type Watermark int64

// The ends of event time.
const (
	NoWatermark  Watermark = math.MinInt64 // nothing is known yet
	EndWatermark Watermark = math.MaxInt64 // a bounded input ended
)

func (w Watermark) String() string {
	switch w {
	case NoWatermark:
		return "none"
	case EndWatermark:
		return "end"
	}
	return time.UnixMilli(int64(w)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// MinWatermark combines the watermarks of an operator's ports: the operator's
// event time is that of the port which is furthest behind.
//
// Idle inputs need no care: the task lets the watermark of an idle port follow
// those of the others.
type MinWatermark struct {
	ports []Watermark
	low   Watermark
}

// NewMinWatermark returns the combination for a number of ports, none of which
// has a watermark yet.
func NewMinWatermark(ports int) *MinWatermark {
	m := &MinWatermark{ports: make([]Watermark, ports), low: NoWatermark}
	for i := range m.ports {
		m.ports[i] = NoWatermark
	}
	return m
}

// Advance notes the watermark of a port. It returns the operator's watermark and
// whether that rose.
func (m *MinWatermark) Advance(port int, w Watermark) (Watermark, bool) {
	if w <= m.ports[port] {
		return m.low, false
	}
	m.ports[port] = w
	low := w
	for _, p := range m.ports {
		low = min(low, p)
	}
	rose := low > m.low
	m.low = low
	return low, rose
}

// Value is the operator's watermark.
func (m *MinWatermark) Value() Watermark { return m.low }

// Port is the watermark of one port.
func (m *MinWatermark) Port(port int) Watermark { return m.ports[port] }
