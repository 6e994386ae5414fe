package exectest

import (
	"sync"
	"time"
)

// Clock is a clock that stands still until Advance.
type Clock struct {
	mu      sync.Mutex
	now     int64
	tickers []*ticker
}

type ticker struct {
	every, next int64
	ch          chan time.Time
	stopped     bool
}

// NewClock returns a clock that shows a time in milliseconds since 1970.
func NewClock(now int64) *Clock { return &Clock{now: now} }

// Now is the time in milliseconds since 1970.
func (c *Clock) Now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Ticker sends when Advance passes a multiple of d from now.
func (c *Clock) Ticker(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &ticker{every: d.Milliseconds(), next: c.now + d.Milliseconds(), ch: make(chan time.Time, 1)}
	c.tickers = append(c.tickers, t)
	return t.ch, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		t.stopped = true
	}
}

// Advance moves the clock. Tickers that are not listened to miss ticks.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += d.Milliseconds()
	for _, t := range c.tickers {
		if t.stopped || t.next > c.now {
			continue
		}
		for t.next <= c.now {
			t.next += max(t.every, 1)
		}
		select {
		case t.ch <- time.UnixMilli(c.now):
		default:
		}
	}
}
