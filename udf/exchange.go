package udf

import (
	"unsafe"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/vector"
)

// exchange is one call into the guest, or several with MORE: what goes in, where it was
// laid out, and what comes back. An instance has one and uses it again.
type exchange struct {
	part   abi.Part
	layout *layout

	// What goes in.
	args    []input
	rows    span // of the inputs
	count   int  // Call.Rows
	outRows int  // rows of the results there is room for
	strict  bool // results are NULL where an argument is
	states  *stateSet
	other   *stateSet
	version int // of other
	group   []uint32
	sign    []int8
	parents bool // the guest fills Call.Parent
	kinds   bool // and Call.Kind

	// Where it lies.
	arena    arena
	outFrom  int // where the results' buffers begin
	parentAt int
	kindAt   int
	header   abi.Call

	and  []uint64 // rows that have all arguments, when some do not
	some bool     // and is in use
}

// begin starts a batch of calls of a part, with nothing of the last one.
func (x *exchange) begin(part abi.Part, l *layout) {
	x.part, x.layout, x.args = part, l, x.args[:0]
	x.rows, x.count, x.outRows = span{}, 0, 0
	x.strict, x.parents, x.kinds, x.some = false, false, false, false
	x.states, x.other, x.version = nil, nil, 0
	x.group, x.sign = nil, nil
}

// input is an argument as it is laid out.
type input struct {
	v        *vector.Vector
	constant bool
	owned    bool // gathered or expanded for the call
	dense    bool // has the live rows only: the selection is applied
}

func (x *exchange) span(a *input) span {
	switch {
	case a.constant:
		return span{from: 0, to: 1}
	case a.dense:
		return span{from: x.rows.from, to: x.rows.to}
	}
	return x.rows
}

// measure notes how large the arena must be.
func (x *exchange) measure(small bool) int {
	l := x.layout
	size := pad(l.head)
	l.textIn, l.lists = 0, 0
	for k := range l.in {
		c, a := &l.in[k], &x.args[k]
		size += c.measure(a.v, x.span(a))
		c.sum(l)
	}
	size += pad(len(x.group)*4) + pad(len(x.sign))
	if x.states != nil {
		n := x.states.measure()
		size += n
		l.textIn += n
	}
	if x.other != nil {
		size += x.other.measure()
	}
	if small {
		for k := range l.out {
			l.out[k].forget()
		}
		l.textIn, l.lists = 0, 0
	}
	for k := range l.out {
		size += l.out[k].room(x.outRows, l.textIn, l.lists)
	}
	if x.parents {
		size += pad(x.outRows * 4)
	}
	if x.kinds {
		size += pad(x.outRows)
	}
	return size
}

// sum adds the texts and elements of an input to what the results are given at least.
func (c *column) sum(l *layout) {
	l.textIn += c.bytes
	for k := range c.children {
		if c.form == formList {
			l.lists = max(l.lists, c.children[k].rows)
		}
		c.children[k].sum(l)
	}
}

// forget drops what earlier calls taught about the room of a result.
func (c *column) forget() {
	c.perRow = 0
	for k := range c.children {
		c.children[k].forget()
	}
}

// lay writes everything into the arena.
func (x *exchange) lay(a arena, now int64, seed uint64) {
	l := x.layout
	x.arena = a
	x.arena.phase = phaseIn
	x.arena.used = pad(l.head)
	h := abi.Call{
		Version: abi.Version, Size: abi.CallBytes, Rows: uint32(x.count),
		NIn: uint32(len(l.in)), In: a.address(l.inAt), NOut: uint32(len(l.out)), Out: a.address(l.outAt),
		Now: now, Seed: seed, ErrRow: abi.NoRow,
	}
	for k := range l.in {
		arg := &x.args[k]
		l.in[k].put(&x.arena, arg.v, x.span(arg), x.rows.len())
	}
	if len(x.group) > 0 {
		buf, at := x.arena.cut(len(x.group) * 4)
		copy(view[uint32](buf, len(x.group)), x.group)
		h.Group = at
	}
	if len(x.sign) > 0 {
		buf, at := x.arena.cut(len(x.sign))
		copy(view[int8](buf, len(x.sign)), x.sign)
		h.Sign = at
	}
	if x.states != nil {
		h.Groups, h.StateSize = uint32(x.states.len()), uint32(x.states.size)
		h.State = x.states.put(&x.arena)
	}
	if x.other != nil {
		h.OtherSize, h.OtherVersion = uint32(x.other.size), uint32(x.version)
		h.Other = x.other.put(&x.arena)
	}
	x.some = false
	if x.strict {
		for k := range l.in {
			x.some = x.some || l.in[k].nulls > 0
		}
		if x.some {
			if need := vector.BitmapWords(x.count); need > cap(x.and) {
				x.and = make([]uint64, need)
			}
			liveRows(x.and[:vector.BitmapWords(x.count)], &x.arena, l.in, x.count)
		}
	}
	x.outFrom = x.arena.used
	x.header = h
	x.prepare([2]uint64{})
	x.remember()
}

// prepare lays out the results and the call itself, for the first call and again after each
// MORE: inputs stay as they are.
func (x *exchange) prepare(cursor [2]uint64) {
	l, a := x.layout, &x.arena
	a.used, a.phase = x.outFrom, phaseOut
	h := &x.header
	h.Cursor = cursor
	for k := range l.out {
		l.out[k].prepare(a)
	}
	if x.parents {
		h.MaxRows = uint32(x.outRows)
		x.parentAt = a.used
		_, h.Parent = a.cut(x.outRows * 4)
	}
	if x.kinds {
		x.kindAt = a.used
		_, h.Kind = a.cut(x.outRows)
	}
	if x.some {
		for k := range l.out {
			at := int(a.column(l.out[k].at).Validity - abi.Ptr(a.base))
			copy(view[uint64](a.mem[at:], vector.BitmapWords(x.count)), x.and)
		}
	}
	*(*abi.Call)(unsafe.Pointer(&a.mem[:abi.CallBytes][0])) = *h
}

// call is the call as the guest left it. Only what it may write is read.
func (x *exchange) call() *abi.Call {
	return (*abi.Call)(unsafe.Pointer(&x.arena.mem[:abi.CallBytes][0]))
}

// counts are the rows whose result matters, nil for all.
func (x *exchange) counts() vector.Bitmap {
	if !x.some {
		return nil
	}
	return vector.Bitmap(x.and[:vector.BitmapWords(x.count)])
}
