package exec

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
)

// inbox merges the channels into a task. It keeps the order of every channel and
// aligns marks: a channel that has brought its mark is not read until all others
// have brought theirs.
type inbox struct {
	channels []*channel
	marks    []Mark // the last mark of every channel
	aligned  []bool // the channel has brought the mark of the current epoch
	missing  int    // channels that have not
	next     int
	rand     *rand.Rand // chooses the channel; nil: round robin

	parked atomic.Bool   // the task waits for an event
	ready  chan struct{} // holds a token for it

	// unaligned is a fault for tests: channels that have their mark are read on,
	// up to their next one.
	unaligned bool
}

func newInbox(r *rand.Rand) *inbox {
	return &inbox{rand: r, ready: make(chan struct{}, 1)}
}

// add makes c a channel into the inbox. All are added before the first is used.
func (in *inbox) add(c *channel) int {
	c.inbox, c.index = in, len(in.channels)
	in.channels = append(in.channels, c)
	in.marks = append(in.marks, Mark{Watermark: NoWatermark})
	in.aligned = append(in.aligned, false)
	in.missing++
	return c.index
}

// wake is called by senders after a put.
func (in *inbox) wake() {
	if in.parked.Load() && in.parked.CompareAndSwap(true, false) {
		select {
		case in.ready <- struct{}{}:
		default:
		}
	}
}

// poll returns the next batch, or reports that a mark is complete, or neither
// when nothing can be read.
func (in *inbox) poll() (from int, ev event, ok bool) {
	n := len(in.channels)
	first := in.next
	if in.rand != nil {
		first = in.rand.IntN(n)
	}
	for i := range n {
		c := first + i
		if c >= n {
			c -= n
		}
		if in.aligned[c] && !in.over(c) {
			continue
		}
		if ev, ok := in.channels[c].take(); ok {
			if in.next = c + 1; in.next == n {
				in.next = 0
			}
			return c, ev, true
		}
	}
	return 0, event{}, false
}

// readable reports whether poll would return something.
func (in *inbox) readable() bool {
	for i, c := range in.channels {
		if !in.aligned[i] && !c.empty() || in.over(i) {
			return true
		}
	}
	return false
}

// wait returns when poll may find something.
func (in *inbox) wait(ctx context.Context) error {
	in.parked.Store(true)
	if in.readable() {
		in.parked.Store(false)
		return nil
	}
	select {
	case <-in.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// over reports whether the fault lets a row overtake the mark of its channel.
func (in *inbox) over(c int) bool { return in.unaligned && in.channels[c].batchNext() }

// arrive notes the mark of a channel and reports whether it was the last one.
func (in *inbox) arrive(c int, m Mark) bool {
	in.marks[c] = m
	in.aligned[c] = true
	in.missing--
	return in.missing == 0
}

// combine is the state of several channels together: the event time of the one
// that is furthest behind, idle ones left out.
func (in *inbox) combine(channels []int) (w Watermark, idle, ended bool) {
	low, high := EndWatermark, NoWatermark
	active, idling := false, false
	for _, c := range channels {
		m := &in.marks[c]
		switch {
		case m.Ended:
		case m.Idle:
			idling = true
			high = max(high, m.Watermark)
		default:
			active = true
			low = min(low, m.Watermark)
		}
	}
	switch {
	case active:
		return low, false, false
	case idling:
		return high, true, false
	}
	return EndWatermark, false, true
}

// release lets all channels be read again.
func (in *inbox) release() {
	in.missing = len(in.channels)
	clear(in.aligned)
}

func (in *inbox) drain() {
	for _, c := range in.channels {
		c.drain()
	}
}
