package udf

import (
	"strings"
	"unsafe"

	"github.com/weirdb/weir/abi"
)

// relay lays rows [from, from+n) out where an earlier call of the layout had its own, if
// those were as many at least and nothing makes the layouts differ. It reports whether it
// did.
func (i *Instance) relay(c *Call, from, n int) bool {
	x := &i.x
	l := x.layout
	last := &l.last
	if n > last.room || n == 0 || last.base != i.arenaAt {
		return false
	}
	mem := i.mem.bytes()[i.arenaAt:][:i.arenaSize]
	x.rowsOf(c, from, from+n)
	for k, v := range c.Args {
		if c.Constant != nil && c.Constant[k] || v.Valid() != nil && nullsIn(v, x.rows) > 0 {
			return false
		}
		putFixed(mem[last.in[k].data:], v, l.in[k].width, &x.rows)
	}
	x.arena.mem, x.arena.base, x.arena.used = mem, i.arenaAt, last.outFrom
	x.outRows, x.outFrom, x.some = n, last.outFrom, false
	copy(mem, last.head)
	h := (*abi.Call)(unsafe.Pointer(&mem[:abi.CallBytes][0]))
	h.Rows, h.Now, h.Seed = uint32(n), i.now, i.seed
	for k := range l.out {
		fill(mem[last.out[k].valid:][:bitmapBytes(n)])
	}
	if n < last.room {
		x.shorten(uint32(n))
	}
	i.count.BytesIn += int64(l.head + n*l.widthIn)
	return true
}

// shorten makes columns that were laid out for more rows describe so many.
func (x *exchange) shorten(rows uint32) {
	l, a := x.layout, &x.arena
	for k := range l.in {
		d := a.column(l.in[k].at)
		d.Length, d.DataLen = rows, rows*uint32(l.in[k].width)
	}
	for k := range l.out {
		d := a.column(l.out[k].at)
		d.Length, d.RowCap, d.DataCap = rows, rows, rows*uint32(l.out[k].width)
	}
}

// remember notes how a call is laid out, if others can be alike.
func (x *exchange) remember() {
	l := x.layout
	if !l.flat || x.count == 0 || x.part != abi.PartBody || x.parents || x.states != nil {
		return
	}
	if x.count <= l.last.room && l.last.base == x.arena.base {
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
		head: append(l.last.head[:0], x.arena.mem[:l.head]...), base: x.arena.base, room: x.count, outFrom: x.outFrom,
		in: at(l.in, l.last.in), out: at(l.out, l.last.out),
	}
}

// ones are bytes whose bits are all set.
var ones = strings.Repeat("\xff", 1024)

// fill sets all bits.
func fill(b []byte) {
	for len(b) > 0 {
		b = b[copy(b, ones):]
	}
}
