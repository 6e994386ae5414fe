package udf

import (
	"unsafe"

	"github.com/weirdb/weir/abi"
)

// relay lays a call out as the last one was, if it has as many rows and what makes layouts
// differ in neither. It reports whether it did.
func (i *Instance) relay(c *Call) bool {
	x := &i.x
	l := x.layout
	last := &l.last
	if last.rows != c.Rows || last.rows == 0 || last.base != i.arenaAt {
		return false
	}
	mem := i.mem.bytes()[i.arenaAt:][:i.arenaSize]
	x.rows.from, x.rows.to, x.rows.sel, x.count = 0, c.Rows, c.Sel, c.Rows
	for k, v := range c.Args {
		if c.Constant != nil && c.Constant[k] || v.Valid() != nil && nullsIn(v, x.rows) > 0 {
			return false
		}
		putFixed(mem[last.in[k].data:], v, l.in[k].width, &x.rows)
	}
	x.arena.mem, x.arena.base, x.arena.used = mem, i.arenaAt, last.outFrom
	x.outRows, x.outFrom, x.some = c.Rows, last.outFrom, false
	copy(mem, last.head)
	h := (*abi.Call)(unsafe.Pointer(&mem[:abi.CallBytes][0]))
	h.Now, h.Seed = i.now, i.seed
	for k := range l.out {
		fill(mem[last.out[k].valid:][:bitmapBytes(c.Rows)])
	}
	i.count.BytesIn += int64(x.outFrom)
	return true
}

// remember notes how a call is laid out, if the next can be alike.
func (x *exchange) remember() {
	l := x.layout
	again := x.count == l.seen // counts that change are not worth it
	l.seen, l.last.rows = x.count, 0
	if !again || !l.flat || x.count == 0 || x.part != abi.PartBody || x.parents || x.states != nil {
		return
	}
	for k := range l.in {
		if a := &x.args[k]; a.constant || a.dense || l.in[k].nulls > 0 {
			return
		}
	}
	at := func(cols []column, list []laidColumn) []laidColumn {
		list = list[:0]
		for k := range cols {
			d := x.arena.column(cols[k].at)
			list = append(list, laidColumn{valid: int(d.Validity) - int(x.arena.base), data: int(d.Data) - int(x.arena.base)})
		}
		return list
	}
	l.last = laid{
		head: append(l.last.head[:0], x.arena.mem[:l.head]...), base: x.arena.base, rows: x.count, outFrom: x.outFrom,
		in: at(l.in, l.last.in), out: at(l.out, l.last.out),
	}
}

// fill sets all bits.
func fill(b []byte) {
	words := view[uint64](b, len(b)/8)
	for k := range words {
		words[k] = ^uint64(0)
	}
}
