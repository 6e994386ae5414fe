package wasm

// The validation algorithm of the specification: a stack of operand types and a stack of
// open blocks. In code that cannot be reached operands are of an unknown type, as many
// as are asked for.

func (v *Validator) push(t ValueType) { v.stack = append(v.stack, t) }

func (v *Validator) pushAll(types []ValueType) { v.stack = append(v.stack, types...) }

// pop takes an operand of type t from the stack; unknown stands for any type.
func (v *Validator) pop(at int, t ValueType) ValueType {
	f := &v.frames[len(v.frames)-1]
	if len(v.stack) == f.height {
		if !f.dead {
			v.r.fail(at, "operand missing")
		}
		return t
	}
	got := v.stack[len(v.stack)-1]
	v.stack = v.stack[:len(v.stack)-1]
	if got == unknown {
		return t
	}
	if t != unknown && got != t {
		v.failf(at, "operand is %s, not %s", got, t)
	}
	return got
}

func (v *Validator) popAll(at int, types []ValueType) {
	for i := len(types) - 1; i >= 0; i-- {
		v.pop(at, types[i])
	}
}

// peekAll checks operands and leaves them as they are.
func (v *Validator) peekAll(at int, types []ValueType) {
	f := &v.frames[len(v.frames)-1]
	top := len(v.stack)
	for i := len(types) - 1; i >= 0; i-- {
		if top == f.height {
			if !f.dead {
				v.r.fail(at, "operand missing")
			}
			return
		}
		top--
		if got := v.stack[top]; got != unknown && got != types[i] {
			v.failf(at, "operand is %s, not %s", got, types[i])
		}
	}
}

// die marks the rest of the block as not reached.
func (v *Validator) die() {
	f := &v.frames[len(v.frames)-1]
	f.dead = true
	v.stack = v.stack[:f.height]
}

// open begins a block whose parameters are on the stack.
func (v *Validator) open(at int, c Code, t *FuncType) {
	v.popAll(at, t.Params)
	v.frames = append(v.frames, frame{code: c, t: t, height: len(v.stack), lost: v.frames[len(v.frames)-1].gone()})
	v.pushAll(t.Params)
	if n := len(v.frames) - 1; n > v.b.Nesting {
		v.b.Nesting = n
		if n > v.m.limits.Nesting {
			v.failf(at, "%d nested blocks, the limit is %d", n, v.m.limits.Nesting)
		}
	}
}

// close ends the innermost block and leaves its results to the caller to push.
func (v *Validator) close(at int) frame {
	f := v.frames[len(v.frames)-1]
	v.popAll(at, f.t.Results)
	if len(v.stack) != f.height {
		v.r.fail(at, "operands left at the end of a block")
		v.stack = v.stack[:min(len(v.stack), f.height)]
	}
	v.frames = v.frames[:len(v.frames)-1]
	return f
}

// target returns the types that a branch to the label carries.
func (v *Validator) target(label uint32) []ValueType {
	return v.frames[len(v.frames)-1-int(label)].label()
}

// effect applies what an operation does to the stacks beyond the types its code takes
// and gives.
func (v *Validator) effect(at int, op *Op) {
	if v.r.err != nil {
		return
	}
	switch op.Code {
	case Unreachable:
		v.die()
	case Block, Loop, If:
		v.open(at, op.Code, v.BlockType(op))
	case Else:
		f := v.close(at)
		if f.code != If {
			v.r.fail(at, "else without if")
			return
		}
		v.frames = append(v.frames, frame{code: Else, t: f.t, height: f.height, lost: f.lost})
		v.pushAll(f.t.Params)
	case End:
		f := v.close(at)
		if f.code == If && !equalTypes(f.t.Params, f.t.Results) {
			v.r.fail(at, "if without else changes the stack")
		}
		if len(v.frames) > 0 {
			v.pushAll(f.t.Results)
		}
	case Br:
		v.popAll(at, v.target(op.Imm))
		v.die()
	case BrIf:
		t := v.target(op.Imm)
		v.popAll(at, t)
		v.pushAll(t)
	case BrTable:
		v.branchTable(at, v.b.Targets[op.Imm:op.Imm+op.Aux])
	case Return:
		v.popAll(at, v.b.Type.Results)
		v.die()
	case Call:
		v.call(at, v.m.Func(op.Imm))
	case CallIndirect:
		if v.m.Tables[op.Aux].Type != FuncRef {
			v.failf(at, "table %d does not hold functions", op.Aux)
		}
		v.call(at, &v.m.Types[op.Imm])
	case Drop:
		v.pop(at, unknown)
	case Select:
		v.pop(at, I32)
		a := v.pop(at, unknown)
		b := v.pop(at, a)
		if a == unknown {
			a = b
		}
		if a.IsRef() || b.IsRef() {
			v.r.fail(at, "select of references needs their type")
		}
		v.push(a)
	case SelectTyped:
		t := ValueType(op.Imm)
		v.pop(at, I32)
		v.pop(at, t)
		v.pop(at, t)
		v.push(t)
	case LocalGet:
		v.push(v.b.Locals[op.Imm])
	case LocalSet:
		v.pop(at, v.b.Locals[op.Imm])
	case LocalTee:
		v.pop(at, v.b.Locals[op.Imm])
		v.push(v.b.Locals[op.Imm])
	case GlobalGet:
		v.push(v.m.Globals[op.Imm].Type)
	case GlobalSet:
		if g := &v.m.Globals[op.Imm]; g.Mutable {
			v.pop(at, g.Type)
		} else {
			v.failf(at, "global %d is constant", op.Imm)
		}
	case RefNull:
		v.push(ValueType(op.Imm))
	case RefIsNull:
		if t := v.pop(at, unknown); t != unknown && !t.IsRef() {
			v.failf(at, "operand is %s, not a reference", t)
		}
		v.push(I32)
	case RefFunc:
		if !v.m.declared[op.Imm] {
			v.failf(at, "reference to function %d, which nothing outside of the bodies names", op.Imm)
		}
		v.push(FuncRef)
	default:
		v.tableEffect(at, op)
	}
}

// tableEffect is effect for operations on tables.
func (v *Validator) tableEffect(at int, op *Op) {
	switch op.Code {
	case TableGet:
		v.pop(at, I32)
		v.push(v.m.Tables[op.Imm].Type)
	case TableSet:
		v.pop(at, v.m.Tables[op.Imm].Type)
		v.pop(at, I32)
	case TableGrow:
		v.pop(at, I32)
		v.pop(at, v.m.Tables[op.Imm].Type)
		v.push(I32)
	case TableFill:
		v.pop(at, I32)
		v.pop(at, v.m.Tables[op.Imm].Type)
		v.pop(at, I32)
	case TableInit:
		if a, b := v.m.Elements[op.Imm].Type, v.m.Tables[op.Aux].Type; a != b {
			v.failf(at, "elements of type %s for a table of %s", a, b)
		}
	case TableCopy:
		if a, b := v.m.Tables[op.Imm].Type, v.m.Tables[op.Aux].Type; a != b {
			v.failf(at, "copy from a table of %s to one of %s", b, a)
		}
	}
}

func (v *Validator) branchTable(at int, labels []uint32) {
	last := v.target(labels[len(labels)-1])
	for _, l := range labels {
		t := v.target(l)
		if len(t) != len(last) {
			v.r.fail(at, "labels of br_table carry different numbers of operands")
			return
		}
		v.peekAll(at, t)
	}
	v.popAll(at, last)
	v.die()
}

func (v *Validator) call(at int, t *FuncType) {
	v.popAll(at, t.Params)
	v.pushAll(t.Results)
}

func equalTypes(a, b []ValueType) bool {
	return (&FuncType{Params: a}).Equal(&FuncType{Params: b})
}
