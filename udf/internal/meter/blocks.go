package meter

import "github.com/weirdb/weir/udf/internal/wasm"

// block is a block of a function's body; the first one is the body itself.
type block struct {
	code     wasm.Code
	open     int32  // operation that begins it, -1 for the body
	els, end int32  // operations; els is -1 without an else
	loop     int32  // innermost loop it is in (a block, -1: none); a loop is not in itself
	depth    int32  // loops it is in
	targeted bool   // something branches to it
	left     bool   // something branches to its end from within a loop in it
	need     uint32 // what a branch to its label must have paid
	other    uint32 // what the else part must have paid for
	label    uint32 // depth of what its label stands for in the rewritten function
	shape    shape  // of a loop in the rewritten function
	since    uint32 // most units since the last check on a way to its end
	before   uint32 // the same at the begin of an if
}

// outline is the structure of a body.
type outline struct {
	blocks []block
	at     []int32 // by operation: the block that it begins, divides or ends
	loops  int
	basic  int // basic blocks
	open   []int32
}

// trace finds the structure of a body.
func (o *outline) trace(b *wasm.Body) {
	o.blocks = append(o.blocks[:0], block{code: wasm.Block, open: -1, els: -1, loop: -1})
	o.open = append(o.open[:0], 0)
	if cap(o.at) < len(b.Ops) {
		o.at = make([]int32, len(b.Ops), 2*len(b.Ops))
	}
	o.at = o.at[:len(b.Ops)]
	o.loops, o.basic = 0, 1
	loop, depth := int32(-1), int32(0) // innermost loop around the operation, loops around it
	for i := range b.Ops {
		op := &b.Ops[i]
		switch op.Code {
		case wasm.Block, wasm.Loop, wasm.If:
			id := int32(len(o.blocks))
			o.blocks = append(o.blocks, block{code: op.Code, open: int32(i), els: -1, loop: loop, depth: depth})
			o.open = append(o.open, id)
			o.at[i] = id
			o.basic++
			if op.Code == wasm.Loop {
				o.loops++
				loop = id
				depth++
			}
		case wasm.Else:
			id := o.open[len(o.open)-1]
			o.blocks[id].els = int32(i)
			o.at[i] = id
			o.basic++
		case wasm.End:
			id := o.open[len(o.open)-1]
			o.open = o.open[:len(o.open)-1]
			o.blocks[id].end = int32(i)
			o.at[i] = id
			if o.blocks[id].code == wasm.Loop {
				loop = o.blocks[id].loop
				depth--
			}
		case wasm.Br, wasm.BrIf:
			o.basic++
			o.target(op.Imm, loop)
		case wasm.BrTable:
			o.basic++
			for _, l := range b.Targets[op.Imm : op.Imm+op.Aux] {
				o.target(l, loop)
			}
		case wasm.Return:
			o.basic++
		}
	}
}

func (o *outline) target(label uint32, loop int32) {
	t := &o.blocks[o.open[len(o.open)-1-int(label)]]
	t.targeted = true
	if t.code != wasm.Loop && t.loop != loop {
		t.left = true
	}
}
