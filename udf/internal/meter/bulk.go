package meter

import "github.com/weirdb/weir/udf/internal/wasm"

// chunk is how many bytes a bulk operation on memory may work on at a time: fresh pages
// take many times as long as the bytes in them. Longer ones are done by a helper that
// refuels between chunks.
const chunk = 64 << 10

// tableMask covers the number of entries that an operation on tables can work on; one
// that is asked for more fails at once.
const tableMask = 1<<17 - 1

// helper is a function the pass adds.
type helper struct {
	name    string
	code    wasm.Code
	segment uint32 // of memory.init
	typ     uint32
	body    code
}

func (p *pass) helperIndex(i int) uint32 { return p.imports + 1 + uint32(len(p.funcs)+i) }

// helper returns the index of the helper for an operation.
func (p *pass) helper(op *wasm.Op) uint32 {
	segment := uint32(0)
	if op.Code == wasm.MemoryInit {
		segment = op.Imm
	}
	for i := range p.helpers {
		if h := &p.helpers[i]; h.code == op.Code && h.segment == segment {
			return p.helperIndex(i)
		}
	}
	h := helper{code: op.Code, segment: segment, name: ReservedPrefix + op.Code.Operation().Name}
	h.typ = p.addType("\x60\x03\x7f\x7f\x7f\x00")
	h.write(p)
	p.helpers = append(p.helpers, h)
	return p.helperIndex(len(p.helpers) - 1)
}

// bulk writes an operation that is charged by the number on top of the stack, and a check
// after it.
func (w *writer) bulk(i int, op *wasm.Op) {
	n, second, first := w.temps, w.temps+1, w.temps+2
	length, known := uint32(0), i > 0 && w.b.Ops[i-1].Code == wasm.I32Const && !op.Dead
	if known {
		length = w.b.Ops[i-1].Imm
	}
	c := &w.c
	switch op.Code {
	case wasm.TableInit, wasm.TableCopy, wasm.TableFill, wasm.TableGrow:
		c.index(wasm.LocalTee, n)
		w.raw(op)
		w.load()
		c.index(wasm.LocalGet, n)
		c.i32(tableMask)
		c.op(wasm.I32And)
		c.op(wasm.I64ExtendU)
		c.op(wasm.I64Sub)
		w.stored(true)
		return
	case wasm.MemoryInit:
		if d := w.p.m.Data; int(op.Imm) < len(d) && len(d[op.Imm].Bytes) <= chunk {
			c.index(wasm.LocalTee, n)
			w.raw(op) // no more than a chunk, or it fails
			w.chargeBytes(n)
			return
		}
	}
	if known && length <= chunk {
		w.raw(op)
		w.pay(length>>bulkShift, true)
		return
	}
	if known {
		w.spill()
		c.index(wasm.Call, w.p.helper(op))
		w.fill()
		return
	}
	c.index(wasm.LocalSet, n)
	c.index(wasm.LocalSet, second)
	c.index(wasm.LocalSet, first)
	operands := func() {
		c.index(wasm.LocalGet, first)
		c.index(wasm.LocalGet, second)
		c.index(wasm.LocalGet, n)
	}
	c.index(wasm.LocalGet, n)
	c.i32(chunk)
	c.op(wasm.I32GtU)
	c.open(wasm.If, emptyBlock)
	w.spill()
	operands()
	c.index(wasm.Call, w.p.helper(op))
	w.fill()
	c.op(wasm.Else)
	operands()
	w.raw(op)
	w.chargeBytes(n)
	c.op(wasm.End)
	w.basic += 3
}

// chargeBytes charges for as many bytes, a chunk at most, as the local has.
func (w *writer) chargeBytes(n uint32) {
	w.load()
	w.c.index(wasm.LocalGet, n)
	w.c.i32(bulkShift)
	w.c.op(wasm.I32ShrU)
	w.c.op(wasm.I64ExtendU)
	w.c.op(wasm.I64Sub)
	w.stored(true)
}

// write writes the body of the helper: of three parameters, where to, where from or what,
// and how many bytes, more than a chunk. Operations that are out of bounds fail as a
// whole, before they change anything; only then may it work in pieces.
func (h *helper) write(p *pass) {
	const to, from, n, word, size = 0, 1, 2, 3, 4
	w := writer{p: p, word: word}
	c := &w.c
	c.locals([]wasm.ValueType{wasm.I64, wasm.I64})
	whole := func() {
		c.index(wasm.LocalGet, to)
		c.index(wasm.LocalGet, from)
		c.index(wasm.LocalGet, n)
		h.operation(c)
	}
	beyond := func(at uint32) { // whether the bytes from there on end outside of memory
		c.index(wasm.LocalGet, at)
		c.op(wasm.I64ExtendU)
		c.index(wasm.LocalGet, n)
		c.op(wasm.I64ExtendU)
		c.op(wasm.I64Add)
		c.index(wasm.LocalGet, size)
		c.op(wasm.I64GtU)
	}
	c.index(wasm.MemorySize, 0)
	c.op(wasm.I64ExtendU)
	c.i64(16)
	c.op(wasm.I64Shl)
	c.index(wasm.LocalSet, size)
	beyond(to)
	if h.code == wasm.MemoryCopy {
		beyond(from)
		c.op(wasm.I32Or)
	}
	c.open(wasm.If, emptyBlock)
	whole()
	c.op(wasm.Return) // never reached
	c.op(wasm.End)
	pay := func() { w.pay(chunk>>bulkShift+costBulk, true) }
	advance := func(local uint32, o wasm.Code) {
		c.index(wasm.LocalGet, local)
		c.i32(chunk)
		c.op(o)
		c.index(wasm.LocalSet, local)
	}
	again := func() {
		c.index(wasm.LocalGet, n)
		c.i32(chunk)
		c.op(wasm.I32GtU)
		c.index(wasm.BrIf, 0)
		c.op(wasm.End)
	}
	if h.code == wasm.MemoryCopy { // upwards in memory: begin at the end
		c.index(wasm.LocalGet, to)
		c.index(wasm.LocalGet, from)
		c.op(wasm.I32GtU)
		c.open(wasm.If, emptyBlock)
		c.open(wasm.Loop, emptyBlock)
		pay()
		advance(n, wasm.I32Sub)
		for _, at := range []uint32{to, from} {
			c.index(wasm.LocalGet, at)
			c.index(wasm.LocalGet, n)
			c.op(wasm.I32Add)
		}
		c.i32(chunk)
		h.operation(c)
		again()
		whole()
		w.chargeBytes(n)
		c.op(wasm.Return)
		c.op(wasm.End)
	}
	c.open(wasm.Loop, emptyBlock)
	pay()
	c.index(wasm.LocalGet, to)
	c.index(wasm.LocalGet, from)
	c.i32(chunk)
	h.operation(c)
	advance(to, wasm.I32Add)
	if h.code != wasm.MemoryFill {
		advance(from, wasm.I32Add)
	}
	advance(n, wasm.I32Sub)
	again()
	whole()
	w.chargeBytes(n)
	c.op(wasm.End)
	h.body = w.c
}

// operation writes the operation itself.
func (h *helper) operation(c *code) {
	switch h.code {
	case wasm.MemoryFill:
		c.index(h.code, 0)
	case wasm.MemoryCopy:
		c.index(h.code, 0)
		c.u32(0)
	case wasm.MemoryInit:
		c.index(h.code, h.segment)
		c.u32(0)
	default:
		panic("meter: no helper for " + h.code.Operation().Name)
	}
}
