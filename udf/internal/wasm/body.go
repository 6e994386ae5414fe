package wasm

import "fmt"

// Op is an operation of a function's body.
type Op struct {
	Offset, End int32 // its bytes in the module
	Imm, Aux    uint32
	Code        Code
	Dead        bool // cannot be reached from the operation before it
}

// shortBlock marks the Imm of a block, loop or if whose type is not the index of one but
// the byte in its low bits.
const shortBlock = 1 << 31

// emptyBlock is the byte of a block type without parameters and results.
const emptyBlock = 0x40

// Body is a validated function body. The Imm of its operations is the label, index or
// type they name; that of br_table is where its labels begin in Targets, with their
// number as Aux, the default last. The Aux of call_indirect and of table.copy is the
// table (the source). Body lives in its Validator until the next call of Body.
type Body struct {
	Index     uint32 // of the function, imports counted
	Type      *FuncType
	Locals    []ValueType // parameters and locals
	Ops       []Op        // the last one is the end
	Targets   []uint32
	MaxHeight int // operands
	Nesting   int // nested blocks
	Bytes     int // of the body
}

// Validator decodes and validates function bodies.
type Validator struct {
	m      *Module
	r      reader
	b      Body
	stack  []ValueType
	frames []frame
	short  [256]FuncType // block types of one byte
}

// frame is a block that is open.
type frame struct {
	code   Code
	t      *FuncType
	height int
	dead   bool // the rest of the block cannot be reached
	lost   bool // the whole block cannot be reached; it is validated as if it could
}

func (f *frame) gone() bool { return f.dead || f.lost }

// label returns the types of the operands a branch to the block carries.
func (f *frame) label() []ValueType {
	if f.code == Loop {
		return f.t.Params
	}
	return f.t.Results
}

// NewValidator returns a validator of the module's functions.
func NewValidator(m *Module) *Validator {
	v := &Validator{m: m}
	for _, t := range []ValueType{I32, I64, F32, F64, V128, FuncRef, ExternRef} {
		v.short[t].Results = []ValueType{t}
	}
	return v
}

// BlockType returns the type of a block, loop or if.
func (v *Validator) BlockType(op *Op) *FuncType {
	if op.Imm&shortBlock != 0 {
		return &v.short[byte(op.Imm)]
	}
	return &v.m.Types[op.Imm]
}

// Body decodes and validates defined function i. Errors are *Error.
func (v *Validator) Body(i int) (*Body, error) {
	at := v.m.bodies[i]
	index := uint32(len(v.m.Imports) + i)
	v.r = reader{b: v.m.bytes[:at.end], pos: at.start, section: sectionNames[secCode], fn: int(index)}
	b := &v.b
	*b = Body{
		Index: index, Type: v.m.Func(index), Bytes: at.end - at.start,
		Locals: b.Locals[:0], Ops: b.Ops[:0], Targets: b.Targets[:0],
	}
	v.locals()
	v.code()
	if v.r.err != nil {
		v.r.err.Name = v.m.FuncName(index)
		return nil, v.r.err
	}
	return b, nil
}

func (v *Validator) failf(at int, format string, args ...any) {
	v.r.fail(at, fmt.Sprintf(format, args...))
}

// locals reads the declarations of locals. Their number is checked before any is stored:
// six bytes can declare four billion.
func (v *Validator) locals() {
	r, b := &v.r, &v.b
	b.Locals = append(b.Locals, b.Type.Params...)
	for range r.count(2) {
		at := r.pos
		n, t := r.u32(), r.valueType()
		if total := uint64(len(b.Locals)) + uint64(n); total > uint64(v.m.limits.Locals) {
			v.failf(at, "%d locals, the limit is %d", total, v.m.limits.Locals)
		}
		if r.err != nil {
			return
		}
		for range n {
			b.Locals = append(b.Locals, t)
		}
	}
}

func (v *Validator) code() {
	r, b := &v.r, &v.b
	v.stack = v.stack[:0]
	v.frames = append(v.frames[:0], frame{code: Block, t: b.Type})
	for len(v.frames) > 0 && r.err == nil {
		at := r.pos
		op := Op{Offset: int32(at), Dead: v.frames[len(v.frames)-1].gone()}
		op.Code = Code(r.byte())
		switch op.Code {
		case prefixMisc:
			op.Code = miscCode(r.u32())
		case prefixVector:
			op.Code = r.vectorCode()
		}
		o := op.Code.Operation()
		if o.Name == "" {
			v.unsupported(at, op.Code)
			return
		}
		v.immediate(&op, o.Imm, o.Width)
		op.End = int32(r.pos)
		for i := len(o.Takes) - 1; i >= 0; i-- {
			v.pop(at, ValueType(o.Takes[i]))
		}
		v.effect(at, &op)
		for i := range len(o.Gives) {
			v.push(ValueType(o.Gives[i]))
		}
		if len(v.stack) > b.MaxHeight {
			b.MaxHeight = len(v.stack)
		}
		if len(v.stack) > v.m.limits.Operands {
			v.failf(at, "%d operands on the stack, the limit is %d", len(v.stack), v.m.limits.Operands)
		}
		b.Ops = append(b.Ops, op)
	}
	if r.err == nil && r.left() > 0 {
		r.fail(r.pos, "code after the end of the function")
	}
}

func (v *Validator) unsupported(at int, c Code) {
	if v.r.err != nil {
		return
	}
	what := "unknown operation"
	switch c {
	case 0x06, 0x07, 0x08, 0x09, 0x0a, 0x18, 0x19, 0x1f:
		what = "exceptions are not supported"
	case 0x12, 0x13, 0x15:
		what = "tail calls are not supported"
	case 0x14, 0xd3, 0xd4, 0xd5, 0xd6, 0xfb:
		what = "typed references are not supported"
	case 0xfe:
		what = "threads are not supported"
	case illegal:
		if v.r.b[at] == byte(prefixVector) {
			what = "relaxed SIMD is not supported: its results differ between machines"
		}
	}
	v.failf(at, "%s (%#x)", what, v.r.b[at:v.r.pos])
}

// immediate reads what follows the code, checked against the module.
func (v *Validator) immediate(op *Op, imm Imm, width uint8) {
	r := &v.r
	switch imm {
	case ImmNone:
	case ImmBlock:
		op.Imm = v.blockType()
	case ImmLabel:
		op.Imm = v.labelIndex()
	case ImmTargets:
		op.Imm = uint32(len(v.b.Targets))
		n := r.count(1) + 1
		if len(v.b.Targets)+n > v.m.limits.Targets {
			v.failf(r.pos, "%d branch targets, the limit is %d", len(v.b.Targets)+n, v.m.limits.Targets)
			return
		}
		for range n {
			if v.b.Targets = append(v.b.Targets, v.labelIndex()); r.err != nil {
				return
			}
		}
		op.Aux = uint32(len(v.b.Targets)) - op.Imm
	case ImmFunc:
		op.Imm = v.index("function", v.m.FuncCount())
	case ImmCallIndirect:
		op.Imm = v.index("type", len(v.m.Types))
		op.Aux = v.index("table", len(v.m.Tables))
	case ImmTypes:
		if at := r.pos; r.count(1) != 1 {
			r.fail(at, "select of other than one type")
		}
		op.Imm = uint32(r.valueType())
	case ImmLocal:
		op.Imm = v.index("local", len(v.b.Locals))
	case ImmGlobal:
		op.Imm = v.index("global", len(v.m.Globals))
	case ImmTable:
		op.Imm = v.index("table", len(v.m.Tables))
	case ImmTable2:
		op.Imm, op.Aux = v.index("table", len(v.m.Tables)), v.index("table", len(v.m.Tables))
	case ImmElem:
		op.Imm = v.index("element segment", len(v.m.Elements))
	case ImmElemTable:
		op.Imm, op.Aux = v.index("element segment", len(v.m.Elements)), v.index("table", len(v.m.Tables))
	case ImmData:
		op.Imm = v.dataIndex()
	case ImmMemory:
		v.memory()
	case ImmMemory2:
		v.memory()
		v.memory()
	case ImmDataMemory:
		op.Imm = v.dataIndex()
		v.memory()
	case ImmMem:
		v.access(width)
	case ImmMemLane:
		v.access(width)
		v.lane(16 >> width)
	case ImmLane:
		v.lane(width)
	case ImmLanes:
		for range 16 {
			v.lane(32)
		}
	case ImmI32:
		op.Imm = uint32(r.leb(32, true))
	case ImmI64:
		r.leb(64, true)
	case ImmF32:
		r.take(4)
	case ImmF64:
		r.take(8)
	case ImmV128:
		r.take(16)
	case ImmRefType:
		op.Imm = uint32(r.refType())
	default:
		panic(fmt.Sprintf("wasm: immediate %d is not decoded", imm))
	}
}

// index reads an index into a space of n items.
func (v *Validator) index(what string, n int) uint32 {
	at := v.r.pos
	i := v.r.u32()
	if v.r.err == nil && uint64(i) >= uint64(n) {
		v.failf(at, "%s %d does not exist", what, i)
	}
	if v.r.err != nil {
		return 0
	}
	return i
}

func (v *Validator) dataIndex() uint32 {
	if v.m.dataCount < 0 {
		v.r.fail(v.r.pos, "data segment used without a data count section")
	}
	return v.index("data segment", v.m.dataCount)
}

func (v *Validator) labelIndex() uint32 {
	return v.index("label", len(v.frames))
}

func (v *Validator) blockType() uint32 {
	r := &v.r
	at := r.pos
	if r.left() > 0 {
		if c := r.b[at]; c == emptyBlock || ValueType(c).valid() {
			r.pos++
			return shortBlock | uint32(c)
		}
	}
	i := r.leb(33, true)
	if r.err == nil && (i < 0 || i >= int64(len(v.m.Types))) {
		v.failf(at, "block type %d does not exist", i)
	}
	if r.err != nil {
		return shortBlock | emptyBlock
	}
	return uint32(i)
}

func (v *Validator) memory() {
	at := v.r.pos
	if v.m.Memory == nil {
		v.r.fail(at, "there is no memory")
	}
	if v.r.byte() != 0 {
		v.r.fail(at, "there is only one memory")
	}
}

func (v *Validator) access(width uint8) {
	at := v.r.pos
	if v.m.Memory == nil {
		v.r.fail(at, "there is no memory")
	}
	if align := v.r.u32(); align > uint32(width) {
		v.failf(at, "alignment 2^%d is more than the access has bytes", align)
	}
	v.r.u32()
}

func (v *Validator) lane(n uint8) {
	at := v.r.pos
	if i := v.r.byte(); i >= n {
		v.failf(at, "lane %d does not exist", i)
	}
}
