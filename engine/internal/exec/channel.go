package exec

import (
	"context"
	"sync/atomic"

	"github.com/weirdb/weir/vector"
)

// event is what travels on a channel: a batch, which the event owns, or a mark.
type event struct {
	batch *vector.Batch // nil: the event is the mark
	mark  Mark
	split *Split    // of a reader: where it reads
	said  Watermark // with split: what the source said of event time, before the batch
}

// channel is a bounded ring between one sender and one inbox. A full ring blocks
// its sender: that is the back-pressure.
//
// Both sides go without a lock. A side that finds nothing to do announces that it
// waits, looks again, then sleeps; the other side looks for the announcement
// after every change.
type channel struct {
	ring  []event // a power of two
	inbox *inbox
	index int // in the inbox

	_    [64]byte
	head atomic.Uint64 // events taken; written by the inbox's goroutine
	_    [56]byte
	tail atomic.Uint64 // events put; written by the sender
	_    [56]byte

	waiting atomic.Bool   // the sender waits for space
	space   chan struct{} // holds a token for it

	// A soft channel never blocks: its sender may go over the limit and is not
	// called again until full is false. Both sides are on one goroutine.
	soft  bool
	queue []event
}

func newChannel(size int, soft bool) *channel {
	n := 1
	for n < size {
		n *= 2
	}
	c := &channel{ring: make([]event, n), soft: soft}
	if !soft {
		c.space = make(chan struct{}, 1)
	}
	return c
}

// put hands over an event, also when it fails because ctx ended: then the batch
// is released.
func (c *channel) put(ctx context.Context, ev event) error {
	if c.soft {
		c.queue = append(c.queue, ev)
		return nil
	}
	for {
		t := c.tail.Load()
		if t-c.head.Load() < uint64(len(c.ring)) {
			c.ring[t&uint64(len(c.ring)-1)] = ev
			c.tail.Store(t + 1)
			c.inbox.wake()
			return nil
		}
		c.waiting.Store(true)
		if t-c.head.Load() < uint64(len(c.ring)) {
			c.waiting.Store(false)
			continue
		}
		select {
		case <-c.space:
		case <-ctx.Done():
			ev.release()
			return context.Cause(ctx)
		}
	}
}

// take returns the oldest event, if there is one.
func (c *channel) take() (event, bool) {
	if c.soft {
		if len(c.queue) == 0 {
			return event{}, false
		}
		ev := c.queue[0]
		c.queue = c.queue[1:]
		return ev, true
	}
	h := c.head.Load()
	left := c.tail.Load() - h
	if left == 0 {
		return event{}, false
	}
	at := &c.ring[h&uint64(len(c.ring)-1)]
	ev := *at
	at.batch, at.split = nil, nil
	c.head.Store(h + 1)
	// The sender is woken when half of the ring is free, not for every event.
	if left-1 <= uint64(len(c.ring)/2) && c.waiting.Load() {
		c.waiting.Store(false)
		select {
		case c.space <- struct{}{}:
		default:
		}
	}
	return ev, true
}

// empty reports whether there is no event. Only the inbox's goroutine asks.
func (c *channel) empty() bool {
	if c.soft {
		return len(c.queue) == 0
	}
	return c.head.Load() == c.tail.Load()
}

// batchNext reports whether the next event is a batch.
func (c *channel) batchNext() bool {
	if c.soft {
		return len(c.queue) > 0 && c.queue[0].batch != nil
	}
	h := c.head.Load()
	return h != c.tail.Load() && c.ring[h&uint64(len(c.ring)-1)].batch != nil
}

// full reports whether the sender of a soft channel should wait.
func (c *channel) full() bool { return len(c.queue) >= len(c.ring) }

// drain releases what is left, when both sides have stopped.
func (c *channel) drain() {
	for {
		ev, ok := c.take()
		if !ok {
			return
		}
		ev.release()
	}
}

func (ev event) release() {
	if ev.batch != nil {
		ev.batch.Release()
	}
}
