package exec

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/weirdb/weir/vector"
)

// Senders and the inbox go at their own pace; nothing is lost, and every channel
// keeps its order.
func TestChannels(t *testing.T) {
	for _, size := range []int{1, 2, 8} {
		const senders, events = 3, 5000
		in := newInbox(nil)
		var sending sync.WaitGroup
		for range senders {
			c := newChannel(size, false)
			in.add(c)
			sending.Go(func() {
				for e := range events {
					if err := c.put(t.Context(), event{mark: Mark{Epoch: uint64(e)}}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		next := make([]uint64, senders)
		for got := 0; got < senders*events; {
			c, ev, ok := in.poll()
			if !ok {
				if err := in.wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if ev.mark.Epoch != next[c] {
				t.Fatalf("size %d: channel %d gave event %d, want %d", size, c, ev.mark.Epoch, next[c])
			}
			next[c]++
			got++
		}
		sending.Wait()
	}
}

func TestFullChannelBlocksUntilCanceled(t *testing.T) {
	p := vector.NewCheckedPool()
	in := newInbox(nil)
	c := newChannel(2, false)
	in.add(c)
	batch := func() event { return event{batch: vector.NewBatch(1, []*vector.Vector{vector.Of(p, int64(1))}, nil)} }
	ctx, cancel := context.WithCancelCause(t.Context())
	for range 2 {
		if err := c.put(ctx, batch()); err != nil {
			t.Fatal(err)
		}
	}
	why := errors.New("enough")
	failed := make(chan error)
	go func() { failed <- c.put(ctx, batch()) }()
	cancel(why)
	if err := <-failed; !errors.Is(err, why) {
		t.Errorf("put ended with %v", err)
	}
	if err := in.wait(ctx); err != nil {
		t.Errorf("wait with events ended with %v", err)
	}
	in.drain()
	if err := in.wait(ctx); !errors.Is(err, why) {
		t.Errorf("wait ended with %v", err)
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

// A channel that has brought its mark is not read until the others have theirs.
func TestInboxAligns(t *testing.T) {
	in := newInbox(nil)
	var cs []*channel
	for range 2 {
		c := newChannel(8, true)
		in.add(c)
		cs = append(cs, c)
	}
	put := func(c int, epoch uint64) { cs[c].put(t.Context(), event{mark: Mark{Epoch: epoch}}) }
	take := func(want int, complete bool) {
		t.Helper()
		c, ev, ok := in.poll()
		if !ok && want < 0 {
			return
		}
		if !ok || c != want {
			t.Fatalf("took from channel %d, %t; want %d", c, ok, want)
		}
		if got := in.arrive(c, ev.mark); got != complete {
			t.Fatalf("mark complete: %t", got)
		}
	}
	put(0, 1)
	put(0, 2)
	take(0, false)
	take(-1, false)
	if in.readable() {
		t.Error("an aligned channel is readable")
	}
	put(1, 1)
	take(1, true)
	in.release()
	take(0, false)
	take(-1, false)
}

func TestInboxCombines(t *testing.T) {
	active := func(w Watermark) Mark { return Mark{Watermark: w} }
	idle := func(w Watermark) Mark { return Mark{Watermark: w, Idle: true} }
	ended := Mark{Watermark: EndWatermark, Ended: true}
	for _, c := range []struct {
		name      string
		marks     []Mark
		w         Watermark
		idle, end bool
	}{
		{"the furthest behind", []Mark{active(5), active(3)}, 3, false, false},
		{"nothing known", []Mark{active(5), active(NoWatermark)}, NoWatermark, false, false},
		{"idle ones are left out", []Mark{active(5), idle(3)}, 5, false, false},
		{"ended ones too", []Mark{active(5), ended}, 5, false, false},
		{"all idle", []Mark{idle(5), idle(3)}, 5, true, false},
		{"idle or ended", []Mark{ended, idle(3)}, 3, true, false},
		{"all ended", []Mark{ended, ended}, EndWatermark, false, true},
	} {
		in := newInbox(nil)
		var all []int
		for i, m := range c.marks {
			in.add(newChannel(1, true))
			in.marks[i] = m
			all = append(all, i)
		}
		if w, idle, end := in.combine(all); w != c.w || idle != c.idle || end != c.end {
			t.Errorf("%s: %v, idle %t, ended %t", c.name, w, idle, end)
		}
	}
}

func TestMinWatermark(t *testing.T) {
	m := NewMinWatermark(2)
	for i, step := range []struct {
		port int
		w    Watermark
		low  Watermark
		rose bool
	}{
		{0, 5, NoWatermark, false},
		{1, 3, 3, true},
		{1, 2, 3, false},
		{1, 9, 5, true},
		{0, 6, 6, true},
		{0, EndWatermark, 9, true},
		{1, EndWatermark, EndWatermark, true},
	} {
		if low, rose := m.Advance(step.port, step.w); low != step.low || rose != step.rose {
			t.Errorf("step %d: %v, %t", i, low, rose)
		}
	}
	if m.Value() != EndWatermark || m.Port(0) != EndWatermark {
		t.Errorf("in the end %v, port 0 %v", m.Value(), m.Port(0))
	}
}
