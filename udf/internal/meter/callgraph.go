package meter

import "github.com/weirdb/weir/udf/internal/wasm"

// function is what callers need to know of a defined function.
type function struct {
	calls    []uint32 // defined functions it calls, by their place among the defined
	pinned   bool     // called by others too: exported, in a table, or the start function
	plain    bool     // no loops, no bulk operations, calls only defined functions by name
	indirect bool     // calls through a table
	path     uint32   // units of its longest way when plain, without callees
	frame    int      // estimated bytes of stack

	free  bool // not metered: its callers pay path, with callees
	below int  // bytes of stack that its callers count for it, if uncounted
	own   int  // bytes of stack it counts for itself and its callees that do not; 0: uncounted
	state visit
}

type visit uint8

const (
	unseen visit = iota
	open
	done
)

// frameBase and frameSlot estimate a frame: what any takes, and what a local or an
// operand does.
const (
	frameBase = 64
	frameSlot = 8
)

// sharedIndirect is the most bytes of stack that a function called through a table may
// leave uncounted. Every function that calls through tables counts them.
const sharedIndirect = 256

// resolve decides, callees first, which functions are not metered and which do not count
// their stack. Functions that call each other in a circle are metered and counted.
func resolve(fs []function, o *options) {
	if o.bare {
		for i := range fs {
			fs[i].free = true
		}
		return
	}
	type step struct{ f, next int }
	var way []step
	for root := range fs {
		if fs[root].state != unseen {
			continue
		}
		fs[root].state = open
		way = append(way[:0], step{root, 0})
		for len(way) > 0 {
			s := &way[len(way)-1]
			f := &fs[s.f]
			if s.next == len(f.calls) {
				f.decide(fs, o)
				f.state = done
				way = way[:len(way)-1]
				continue
			}
			callee := int(f.calls[s.next])
			s.next++
			if fs[callee].state == unseen {
				fs[callee].state = open
				way = append(way, step{callee, 0})
			}
		}
	}
}

func (f *function) decide(fs []function, o *options) {
	f.free = f.plain && !f.pinned
	counted, below := f.indirect, 0
	if f.indirect {
		below = sharedIndirect
	}
	for _, i := range f.calls {
		callee := &fs[i]
		if callee.free && callee.state == done {
			f.path += callee.path // bounded: a path over the limit ends the sum
		} else {
			f.free = false
		}
		if callee.state != done || callee.own > 0 {
			counted = true
		} else {
			below = max(below, callee.below)
		}
		if f.path > o.free {
			f.free = false
			f.path = o.free + 1
		}
	}
	f.free = f.free && f.path <= o.free
	f.below = f.frame + below
	limit := o.shared
	if f.pinned {
		limit = sharedIndirect
	}
	if counted || f.below > limit {
		f.own = f.below
		f.free = false
	}
}

// frame estimates the bytes of stack that a call of the function takes.
func frame(b *wasm.Body) int {
	slots, wide := len(b.Locals)+b.MaxHeight, false
	for _, t := range b.Locals {
		if t == wasm.V128 {
			slots++
			wide = true
		}
	}
	if wide {
		slots += b.MaxHeight
	}
	return frameBase + frameSlot*slots
}
