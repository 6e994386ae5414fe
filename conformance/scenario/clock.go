package scenario

import (
	"sync/atomic"
	"time"
)

// clock is processing time that stands still until it is told to pass. Real time
// only ends epochs, and not even that where every step counts.
type clock struct {
	now  atomic.Int64
	held bool // epochs do not end by time
}

// newClock returns a clock at noon of the first day of 2020.
func newClock(held bool) *clock {
	c := &clock{held: held}
	c.now.Store(time.Date(2020, 1, 1, 12, 0, 0, 0, time.UTC).UnixMilli())
	return c
}

func (c *clock) Now() int64 { return c.now.Load() }

func (c *clock) Ticker(d time.Duration) (<-chan time.Time, func()) {
	if c.held {
		return nil, func() {}
	}
	t := time.NewTicker(d)
	return t.C, t.Stop
}
