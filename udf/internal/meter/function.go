package meter

import "github.com/weirdb/weir/udf/internal/wasm"

// shape is how a loop is rewritten.
type shape uint8

const (
	// bareLoop is a loop that nothing branches to: a block.
	bareLoop shape = iota
	// outlinedLoop keeps the refuel call out of the hot loop:
	//
	//	block
	//	  loop $again
	//	    block $empty
	//	      loop            ;; the original
	//	        br_if $empty  ;; without fuel
	//	        charge
	//	        ...
	//	      end
	//	      br (to the end)
	//	    end
	//	    refuel
	//	    br $again
	//	  end
	//	end
	outlinedLoop
	// nestedLoop has the refuel call in a loop around, which takes the same operands as
	// the original and so can be branched to where they are on the stack.
	nestedLoop
)

// writer rewrites one function. The meter is in the global throughout, or in a local while
// the function runs and in the global around calls, whatever takes less.
type writer struct {
	p       *pass
	b       *wasm.Body
	f       *function
	c       code
	local   bool
	wrapped bool   // the body is in a block whose end writes back what is counted
	word    uint32 // i64 local: the meter, or what was just stored in it
	temps   uint32 // i32 locals of bulk operations: n, and the operands below
	depth   uint32 // of blocks, in the rewritten function
	since   uint32 // most units since the last check on a way to here
	basic   int    // basic blocks that are added
	open    []int32
}

// function rewrites defined function i into p.body.
func (p *pass) function(i int) error {
	b, err := p.v.Body(i)
	if err != nil {
		return err
	}
	f := &p.funcs[i]
	c := &p.charges
	c.trace(b)
	w := writer{p: p, b: b, f: f, c: p.body[:0], open: c.open[:0]}
	if f.free {
		p.stats.Unmetered++
		w.copy()
	} else {
		c.plan(b, p.units, &p.opt)
		w.meter()
	}
	if f.own == 0 {
		p.stats.Uncounted++
	}
	p.body = w.c
	basic := c.basic + w.basic
	p.stats.Loops += c.loops
	if basic > p.limits.Blocks {
		return p.errorf(i, "%d basic blocks, the limit is %d", basic, p.limits.Blocks)
	}
	p.stats.MaxBlocks = max(p.stats.MaxBlocks, basic)
	if p.stats.Work += basic * basic; p.stats.Work+4*basic*len(b.Locals) > p.limits.Work {
		return p.errorf(i, "the module is too costly to compile: the squared numbers of basic blocks have a sum over %d", p.limits.Work)
	}
	return nil
}

// units implements unitsOf for the second look at a function.
func (p *pass) units(op *wasm.Op) (units uint32, calls bool) {
	u := cost(op.Code)
	switch op.Code {
	case wasm.CallIndirect:
		return u, true
	case wasm.Call:
		if op.Imm < p.imports {
			return u + costImport, true
		}
		if callee := &p.funcs[op.Imm-p.imports]; callee.free {
			return u + callee.path, false
		}
		return u, true
	}
	return u, false
}

// copy writes a function that is not metered.
func (w *writer) copy() {
	w.c.locals(w.b.Locals[len(w.b.Type.Params):])
	for i := range w.b.Ops {
		w.raw(&w.b.Ops[i])
	}
}

// raw writes an operation as it is, but for the indices of functions and for prefixed
// codes, which the format lets be longer than they need.
func (w *writer) raw(op *wasm.Op) {
	if op.Code == wasm.Call || op.Code == wasm.RefFunc {
		w.c.index(op.Code, w.p.shift(op.Imm))
		return
	}
	w.c = append(w.c, w.p.in[op.Offset:op.End]...)
}

// prefersLocal weighs loads and stores of the meter, what is in loops higher.
func (w *writer) prefersLocal() bool {
	c := &w.p.charges
	inLocal, inGlobal, weight := 2, 3, 1
	for i := range w.b.Ops {
		op := &w.b.Ops[i]
		if c.before[i] > 0 {
			inLocal += weight
			inGlobal += 3 * weight
		}
		switch op.Code {
		case wasm.Loop:
			if weight < 1<<12 {
				weight *= 8
			}
		case wasm.End:
			if k := &c.blocks[c.at[i]]; k.code == wasm.Loop {
				weight = 1 << (3 * min(k.depth, 4))
			}
		default:
			if _, calls := w.p.units(op); calls {
				inLocal += 2 * weight
			}
		}
	}
	return inLocal < inGlobal
}

func (w *writer) meter() {
	b, c := w.b, &w.p.charges
	calls, bulks := false, false
	for i := range b.Ops {
		op := &b.Ops[i]
		if _, called := w.p.units(op); called {
			calls = true
		}
		bulks = bulks || bulk(op.Code)
	}
	w.local = w.prefersLocal()
	w.wrapped = w.local || w.f.own > 0
	w.word = uint32(len(b.Locals))
	w.temps = w.word + 1
	added := []wasm.ValueType{wasm.I64, wasm.I32, wasm.I32, wasm.I32}
	if !bulks {
		added = added[:1]
	}
	w.c.locals(append(append(make([]wasm.ValueType, 0, len(b.Locals)+4), b.Locals[len(b.Type.Params):]...), added...))
	w.enter(calls)
	if w.wrapped {
		w.c.open(wasm.Block, w.p.blockType(b.Type.Results)...)
		w.depth = 1
		w.basic++
	}
	c.blocks[0].label = w.depth
	w.open = append(w.open, 0)
	called := false
	for i := range b.Ops {
		op := &b.Ops[i]
		if u := c.before[i]; u > 0 && !(i > 0 && b.Ops[i-1].Code == wasm.Loop && c.blocks[c.at[i-1]].shape != bareLoop) {
			w.since += u
			w.pay(u, called || w.since > w.p.opt.long)
		}
		called = w.op(i, op)
	}
}

// enter writes the begin of a function: it pays for what every way needs and counts its
// frame.
func (w *writer) enter(calls bool) {
	start := w.p.charges.start
	counted := w.f.own > 0
	check := calls || counted || start > w.p.opt.leaf
	w.since = start
	if check {
		w.since = 0
	}
	amount := int64(w.f.own)<<32 + int64(start)
	if amount == 0 && !check && !w.local {
		return
	}
	w.c.index(wasm.GlobalGet, w.p.meter)
	if amount > 0 {
		w.c.i64(amount)
		w.c.op(wasm.I64Sub)
	}
	switch {
	case w.local:
		w.c.index(wasm.LocalSet, w.word)
	case check:
		w.c.index(wasm.LocalTee, w.word)
		w.c.index(wasm.GlobalSet, w.p.meter)
	default:
		w.c.index(wasm.GlobalSet, w.p.meter)
	}
	if !check {
		return
	}
	w.c.index(wasm.LocalGet, w.word)
	if counted {
		w.c.i64(-1<<63 | 1<<31) // the signs of both
		w.c.op(wasm.I64And)
		w.c.i64(0)
		w.c.op(wasm.I64Ne)
	} else {
		w.overdrawn()
	}
	w.refuelIf()
}

// overdrawn turns the meter on the stack into whether there is less fuel than none.
func (w *writer) overdrawn() {
	w.c.op(wasm.I32Wrap)
	w.c.i32(0)
	w.c.op(wasm.I32LtS)
}

// refuelIf refuels if the stack says so.
func (w *writer) refuelIf() {
	w.c.open(wasm.If, emptyBlock)
	w.refuel()
	w.c.op(wasm.End)
	w.basic += 2
}

func (w *writer) refuel() {
	w.spill()
	w.c.index(wasm.Call, w.p.refuel())
	w.fill()
}

// spill writes the meter back to the global before others use it.
func (w *writer) spill() {
	if w.local {
		w.c.index(wasm.LocalGet, w.word)
		w.c.index(wasm.GlobalSet, w.p.meter)
	}
}

// fill takes the meter from the global again.
func (w *writer) fill() {
	if w.local {
		w.c.index(wasm.GlobalGet, w.p.meter)
		w.c.index(wasm.LocalSet, w.word)
	}
}

// load puts the meter on the stack.
func (w *writer) load() {
	if w.local {
		w.c.index(wasm.LocalGet, w.word)
	} else {
		w.c.index(wasm.GlobalGet, w.p.meter)
	}
}

// pay takes units from the meter, and refuels if it wants.
func (w *writer) pay(units uint32, check bool) {
	w.load()
	w.c.i64(int64(units))
	w.c.op(wasm.I64Sub)
	w.stored(check)
}

// stored stores the meter that is on the stack, and refuels if it wants.
func (w *writer) stored(check bool) {
	switch {
	case w.local && check:
		w.c.index(wasm.LocalTee, w.word)
	case w.local:
		w.c.index(wasm.LocalSet, w.word)
	case check:
		w.c.index(wasm.LocalTee, w.word)
		w.c.index(wasm.GlobalSet, w.p.meter)
		w.c.index(wasm.LocalGet, w.word)
	default:
		w.c.index(wasm.GlobalSet, w.p.meter)
	}
	if check {
		w.overdrawn()
		w.refuelIf()
		w.since = 0
	}
}

// op writes operation i, and says whether it called metered code.
func (w *writer) op(i int, op *wasm.Op) bool {
	c := &w.p.charges
	switch op.Code {
	case wasm.Block, wasm.If:
		k := &c.blocks[c.at[i]]
		k.since, k.before = 0, w.since
		w.open = append(w.open, c.at[i])
		w.raw(op)
		w.depth++
		k.label = w.depth
	case wasm.Loop:
		w.open = append(w.open, c.at[i])
		w.loop(i, op)
	case wasm.Else:
		k := &c.blocks[c.at[i]]
		k.since = max(k.since, w.since)
		w.since = k.before
		w.raw(op)
	case wasm.End:
		w.end(&c.blocks[c.at[i]])
	case wasm.Br, wasm.BrIf:
		w.c.index(op.Code, w.label(op.Imm))
	case wasm.BrTable:
		t := w.b.Targets[op.Imm : op.Imm+op.Aux]
		w.c.op(wasm.BrTable)
		w.c.u32(uint32(len(t) - 1))
		for _, l := range t {
			w.c.u32(w.label(l))
		}
	case wasm.Return:
		if w.wrapped {
			w.c.index(wasm.Br, w.depth-c.blocks[0].label)
		} else {
			w.raw(op)
		}
	case wasm.Call, wasm.CallIndirect:
		_, calls := w.p.units(op)
		if calls {
			w.spill()
		}
		w.raw(op)
		if calls {
			w.fill()
			w.since += w.p.opt.leaf
		}
		return calls
	default:
		if bulk(op.Code) {
			w.bulk(i, op)
		} else {
			w.raw(op)
		}
	}
	return false
}

// label translates a label and notes that there is a way to it from here.
func (w *writer) label(l uint32) uint32 {
	k := &w.p.charges.blocks[w.open[len(w.open)-1-int(l)]]
	k.since = max(k.since, w.since)
	return w.depth - k.label
}

func (w *writer) loop(i int, op *wasm.Op) {
	c := &w.p.charges
	k := &c.blocks[c.at[i]]
	if !k.targeted {
		k.shape = bareLoop
		w.raw(op)
		w.depth++
		k.label = w.depth
		return
	}
	w.since = 0
	if len(w.p.v.BlockType(op).Params) == 0 {
		k.shape = outlinedLoop
		w.c.open(wasm.Block, w.p.in[op.Offset+1:op.End]...)
		w.c.open(wasm.Loop, emptyBlock)
		w.c.open(wasm.Block, emptyBlock)
		w.depth += 3
		w.basic += 5
	} else {
		k.shape = nestedLoop
		w.raw(op)
		w.load()
		w.overdrawn()
		w.refuelIf()
		w.depth++
		w.basic += 2
	}
	w.raw(op)
	w.depth++
	k.label = w.depth
	w.load()
	w.overdrawn()
	w.c.index(wasm.BrIf, 1)
	w.pay(c.before[i+1], false)
}

func (w *writer) end(k *block) {
	w.open = w.open[:len(w.open)-1]
	if k.code != wasm.Loop {
		w.since = max(w.since, k.since)
		if k.code == wasm.If && k.els < 0 {
			w.since = max(w.since, k.before)
		}
	}
	w.c.op(wasm.End)
	if w.depth == 0 {
		return
	}
	w.depth--
	switch {
	case k.open < 0:
		w.leave()
		w.c.op(wasm.End)
	case k.code != wasm.Loop:
	case k.shape == nestedLoop:
		w.c.op(wasm.End)
		w.depth--
	case k.shape == outlinedLoop:
		w.c.index(wasm.Br, 2)
		w.c.op(wasm.End)
		w.refuel()
		w.c.index(wasm.Br, 0)
		w.c.op(wasm.End)
		w.c.op(wasm.Unreachable)
		w.c.op(wasm.End)
		w.depth -= 3
	}
}

// leave writes the end of a function: what it counted goes back.
func (w *writer) leave() {
	w.load()
	if w.f.own > 0 {
		w.c.i64(int64(w.f.own) << 32)
		w.c.op(wasm.I64Add)
	}
	w.c.index(wasm.GlobalSet, w.p.meter)
}
