package meter

import "github.com/weirdb/weir/udf/internal/wasm"

// Where a function charges fuel. Every operation is paid for before it is reached, by
// exactly its cost on some paths and by a bounded amount more on others: what comes after
// a branch is paid for before it as far as both ways need it, or need nearly the same.
//
// The analysis goes backward. need is what the operations from here up to the next charges
// cost; whoever comes here must have paid it. A charge takes it over and sets it to what
// is still left to others, mostly zero.

// charges are the charges of a function.
type charges struct {
	outline
	before []uint32 // by operation: what is charged before it; in a loop, after its begin
	start  uint32   // what is charged at entry
	open   []int32
}

// unitsOf tells what an operation costs, with what callees leave to their callers, and
// whether it calls metered code.
type unitsOf func(op *wasm.Op) (units uint32, calls bool)

// options are what the pass can be tuned by.
type options struct {
	slack  uint32 // units that may be charged on a way that does not take them
	exit   uint32 // the same where a loop is left, so that every round would be charged
	after  uint32 // units that may follow a call without another check
	most   uint32 // units charged at a time
	long   uint32 // units on a way without a check
	leaf   uint32 // units of a function that does without a check
	free   uint32 // units of a function that its callers pay for
	shared int    // bytes of stack of a function that its callers count
	bare   bool   // count nothing
}

func defaults() options {
	return options{slack: 16, exit: 2, after: 16, most: 4096, long: 8192, leaf: 256, free: 48, shared: 1024}
}

// plan finds the charges of a body whose structure is traced.
func (c *charges) plan(b *wasm.Body, units unitsOf, o *options) {
	if cap(c.before) < len(b.Ops) {
		c.before = make([]uint32, len(b.Ops), 2*len(b.Ops))
	}
	c.before = c.before[:len(b.Ops)]
	clear(c.before)
	c.open = c.open[:0]
	need := uint32(0)
	for i := len(b.Ops) - 1; i >= 0; i-- {
		op := &b.Ops[i]
		switch op.Code {
		case wasm.End:
			id := c.at[i]
			k := &c.blocks[id]
			c.open = append(c.open, id)
			k.need = 0
			if id == 0 || k.code == wasm.Loop {
				break // a function owes nothing at its end, a loop pays at its begin
			}
			if slack := o.slack; k.targeted || k.code == wasm.If {
				if k.left {
					slack = o.exit
				}
				if need > slack {
					need = c.charge(i+1, need, 0)
				}
			}
			k.need = need
		case wasm.Else:
			k := &c.blocks[c.at[i]]
			k.other, need = need, k.need
		case wasm.If:
			k := c.close()
			other := k.need
			if k.els >= 0 {
				other = k.other
			}
			low := min(need, other)
			if need > low+o.slack {
				need = c.charge(i+1, need, low)
			}
			if other > low+o.slack {
				if k.els < 0 {
					panic("meter: a label needs more than the slack")
				}
				other = c.charge(int(k.els)+1, other, low)
			}
			need = max(need, other)
		case wasm.Block:
			c.close()
		case wasm.Loop:
			if k := c.close(); k.targeted {
				need = c.charge(i+1, need, 0)
			}
		case wasm.Br:
			need = c.label(op.Imm).need
		case wasm.BrIf:
			k := c.label(op.Imm)
			slack := o.slack
			if k.code == wasm.Loop {
				slack = o.exit
			}
			if need > k.need+slack {
				need = c.charge(i+1, need, k.need)
			}
			need = max(need, k.need)
		case wasm.BrTable:
			need = 0
			for _, l := range b.Targets[op.Imm : op.Imm+op.Aux] {
				need = max(need, c.label(l).need)
			}
		case wasm.Return, wasm.Unreachable:
			need = 0
		}
		if op.Dead && op.Code != wasm.End {
			need = 0 // nothing comes here
			continue
		}
		u, calls := units(op)
		if calls && need > o.after {
			need = c.charge(i+1, need, 0)
		}
		if need += u; need > o.most {
			need = c.charge(i, need, 0)
		}
	}
	c.start = need
}

// charge has what is needed beyond rest charged before operation i and returns rest.
func (c *charges) charge(i int, need, rest uint32) uint32 {
	c.before[i] += need - rest
	return rest
}

func (c *charges) close() *block {
	k := &c.blocks[c.open[len(c.open)-1]]
	c.open = c.open[:len(c.open)-1]
	return k
}

func (c *charges) label(l uint32) *block {
	return &c.blocks[c.open[len(c.open)-1-int(l)]]
}
