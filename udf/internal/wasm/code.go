package wasm

// Code is an operation: its byte, or its number after the prefix 0xfc or 0xfd.
type Code uint16

const (
	prefixMisc   Code = 0xfc
	prefixVector Code = 0xfd
)

func miscCode(n uint32) Code {
	if n > 0xff {
		return illegal
	}
	return prefixMisc<<8 | Code(n)
}

// vectorCode reads the number after the prefix 0xfd. Some readers take the byte there for
// the whole number, and what a number has beyond two bytes for operations of their own: so
// a number that takes more bytes than it needs is refused.
func (r *reader) vectorCode() Code {
	at := r.pos
	n := r.u32()
	if n > 0xff {
		return illegal
	}
	if need := 1 + int(n>>7); r.err == nil && r.pos-at > need {
		r.fail(at, "number of a vector operation is longer than it needs to be")
	}
	return prefixVector<<8 | Code(n)
}

// Prefix returns the byte before the number of the operation, or 0.
func (c Code) Prefix() byte { return byte(c >> 8) }

// The operations that are told apart by more than the types they take and give.
const (
	Unreachable    Code = 0x00
	Nop            Code = 0x01
	Block          Code = 0x02
	Loop           Code = 0x03
	If             Code = 0x04
	Else           Code = 0x05
	End            Code = 0x0b
	Br             Code = 0x0c
	BrIf           Code = 0x0d
	BrTable        Code = 0x0e
	Return         Code = 0x0f
	Call           Code = 0x10
	CallIndirect   Code = 0x11
	Drop           Code = 0x1a
	Select         Code = 0x1b
	SelectTyped    Code = 0x1c
	LocalGet       Code = 0x20
	LocalSet       Code = 0x21
	LocalTee       Code = 0x22
	GlobalGet      Code = 0x23
	GlobalSet      Code = 0x24
	TableGet       Code = 0x25
	TableSet       Code = 0x26
	I32Load        Code = 0x28
	I32Store       Code = 0x36
	I64Store32     Code = 0x3e
	MemorySize     Code = 0x3f
	MemoryGrow     Code = 0x40
	I32Const       Code = 0x41
	I64Const       Code = 0x42
	F32Const       Code = 0x43
	F64Const       Code = 0x44
	I32LtS         Code = 0x48
	I32GtU         Code = 0x4b
	I64Ne          Code = 0x52
	I64GtU         Code = 0x56
	I32Add         Code = 0x6a
	I32Sub         Code = 0x6b
	I32DivS        Code = 0x6d
	I32RemU        Code = 0x70
	I32Or          Code = 0x72
	I32And         Code = 0x71
	I32ShrU        Code = 0x76
	I64Add         Code = 0x7c
	I64Sub         Code = 0x7d
	I64DivS        Code = 0x7f
	I64RemU        Code = 0x82
	I64And         Code = 0x83
	I64Shl         Code = 0x86
	F32Sqrt        Code = 0x91
	F32Div         Code = 0x95
	F32Min         Code = 0x96
	F32Max         Code = 0x97
	F64Sqrt        Code = 0x9f
	F64Div         Code = 0xa3
	F64Min         Code = 0xa4
	F64Max         Code = 0xa5
	I32Wrap        Code = 0xa7
	I32TruncF32S   Code = 0xa8
	I64ExtendS     Code = 0xac
	I64ExtendU     Code = 0xad
	F64ConvertI64U Code = 0xba
	RefNull        Code = 0xd0
	RefIsNull      Code = 0xd1
	RefFunc        Code = 0xd2

	MemoryInit Code = 0xfc08
	MemoryCopy Code = 0xfc0a
	MemoryFill Code = 0xfc0b
	TableInit  Code = 0xfc0c
	TableCopy  Code = 0xfc0e
	TableGrow  Code = 0xfc0f
	TableSize  Code = 0xfc10
	TableFill  Code = 0xfc11

	V128Const Code = 0xfd0c
	F32x4Sqrt Code = 0xfde3
	F32x4Div  Code = 0xfde7
	F64x2Sqrt Code = 0xfdef
	F64x2Div  Code = 0xfdf3

	illegal Code = 0xffff
)

// Imm says what follows the code of an operation.
type Imm uint8

// The immediates.
const (
	ImmNone         Imm = iota
	ImmBlock            // block type
	ImmLabel            // label
	ImmTargets          // vector of labels, label
	ImmFunc             // function
	ImmCallIndirect     // type, table
	ImmTypes            // vector of value types
	ImmLocal            // local
	ImmGlobal           // global
	ImmTable            // table
	ImmTable2           // table, table
	ImmElem             // element segment
	ImmElemTable        // element segment, table
	ImmData             // data segment
	ImmMemory           // the memory
	ImmMemory2          // the memory, twice
	ImmDataMemory       // data segment, the memory
	ImmMem              // alignment, offset
	ImmMemLane          // alignment, offset, lane
	ImmLane             // lane
	ImmLanes            // 16 lanes of two vectors
	ImmI32
	ImmI64
	ImmF32
	ImmF64
	ImmV128
	ImmRefType
)

// Operation is what the specification says of a code. Those whose types depend on more
// than the code take and give none here.
type Operation struct {
	Name  string
	Takes string // value types, a byte each, the last one on top
	Gives string
	Imm   Imm
	Width uint8 // largest alignment (as a power of two) of an access to memory, or number of lanes
}

// Operation returns the operation of a code, with an empty name when there is none.
func (c Code) Operation() *Operation {
	switch c.Prefix() {
	case 0:
		return &plainOperations[byte(c)]
	case byte(prefixMisc):
		return &miscOperations[byte(c)]
	case byte(prefixVector):
		return &vectorOperations[byte(c)]
	}
	return &plainOperations[0xff]
}

// Types as they stand in Operation.
const (
	none = ""
	i32  = string(rune(I32))
	i64  = string(rune(I64))
	f32  = string(rune(F32))
	f64  = string(rune(F64))
	v128 = string(rune(V128))
)

var plainOperations = [256]Operation{
	0x00: {"unreachable", none, none, ImmNone, 0},
	0x01: {"nop", none, none, ImmNone, 0},
	0x02: {"block", none, none, ImmBlock, 0},
	0x03: {"loop", none, none, ImmBlock, 0},
	0x04: {"if", i32, none, ImmBlock, 0},
	0x05: {"else", none, none, ImmNone, 0},
	0x0b: {"end", none, none, ImmNone, 0},
	0x0c: {"br", none, none, ImmLabel, 0},
	0x0d: {"br_if", i32, none, ImmLabel, 0},
	0x0e: {"br_table", i32, none, ImmTargets, 0},
	0x0f: {"return", none, none, ImmNone, 0},
	0x10: {"call", none, none, ImmFunc, 0},
	0x11: {"call_indirect", i32, none, ImmCallIndirect, 0},
	0x1a: {"drop", none, none, ImmNone, 0},
	0x1b: {"select", none, none, ImmNone, 0},
	0x1c: {"select_t", none, none, ImmTypes, 0},
	0x20: {"local.get", none, none, ImmLocal, 0},
	0x21: {"local.set", none, none, ImmLocal, 0},
	0x22: {"local.tee", none, none, ImmLocal, 0},
	0x23: {"global.get", none, none, ImmGlobal, 0},
	0x24: {"global.set", none, none, ImmGlobal, 0},
	0x25: {"table.get", none, none, ImmTable, 0},
	0x26: {"table.set", none, none, ImmTable, 0},
	0x28: {"i32.load", i32, i32, ImmMem, 2},
	0x29: {"i64.load", i32, i64, ImmMem, 3},
	0x2a: {"f32.load", i32, f32, ImmMem, 2},
	0x2b: {"f64.load", i32, f64, ImmMem, 3},
	0x2c: {"i32.load8_s", i32, i32, ImmMem, 0},
	0x2d: {"i32.load8_u", i32, i32, ImmMem, 0},
	0x2e: {"i32.load16_s", i32, i32, ImmMem, 1},
	0x2f: {"i32.load16_u", i32, i32, ImmMem, 1},
	0x30: {"i64.load8_s", i32, i64, ImmMem, 0},
	0x31: {"i64.load8_u", i32, i64, ImmMem, 0},
	0x32: {"i64.load16_s", i32, i64, ImmMem, 1},
	0x33: {"i64.load16_u", i32, i64, ImmMem, 1},
	0x34: {"i64.load32_s", i32, i64, ImmMem, 2},
	0x35: {"i64.load32_u", i32, i64, ImmMem, 2},
	0x36: {"i32.store", i32 + i32, none, ImmMem, 2},
	0x37: {"i64.store", i32 + i64, none, ImmMem, 3},
	0x38: {"f32.store", i32 + f32, none, ImmMem, 2},
	0x39: {"f64.store", i32 + f64, none, ImmMem, 3},
	0x3a: {"i32.store8", i32 + i32, none, ImmMem, 0},
	0x3b: {"i32.store16", i32 + i32, none, ImmMem, 1},
	0x3c: {"i64.store8", i32 + i64, none, ImmMem, 0},
	0x3d: {"i64.store16", i32 + i64, none, ImmMem, 1},
	0x3e: {"i64.store32", i32 + i64, none, ImmMem, 2},
	0x3f: {"memory.size", none, i32, ImmMemory, 0},
	0x40: {"memory.grow", i32, i32, ImmMemory, 0},
	0x41: {"i32.const", none, i32, ImmI32, 0},
	0x42: {"i64.const", none, i64, ImmI64, 0},
	0x43: {"f32.const", none, f32, ImmF32, 0},
	0x44: {"f64.const", none, f64, ImmF64, 0},
	0x45: {"i32.eqz", i32, i32, ImmNone, 0},
	0x46: {"i32.eq", i32 + i32, i32, ImmNone, 0},
	0x47: {"i32.ne", i32 + i32, i32, ImmNone, 0},
	0x48: {"i32.lt_s", i32 + i32, i32, ImmNone, 0},
	0x49: {"i32.lt_u", i32 + i32, i32, ImmNone, 0},
	0x4a: {"i32.gt_s", i32 + i32, i32, ImmNone, 0},
	0x4b: {"i32.gt_u", i32 + i32, i32, ImmNone, 0},
	0x4c: {"i32.le_s", i32 + i32, i32, ImmNone, 0},
	0x4d: {"i32.le_u", i32 + i32, i32, ImmNone, 0},
	0x4e: {"i32.ge_s", i32 + i32, i32, ImmNone, 0},
	0x4f: {"i32.ge_u", i32 + i32, i32, ImmNone, 0},
	0x50: {"i64.eqz", i64, i32, ImmNone, 0},
	0x51: {"i64.eq", i64 + i64, i32, ImmNone, 0},
	0x52: {"i64.ne", i64 + i64, i32, ImmNone, 0},
	0x53: {"i64.lt_s", i64 + i64, i32, ImmNone, 0},
	0x54: {"i64.lt_u", i64 + i64, i32, ImmNone, 0},
	0x55: {"i64.gt_s", i64 + i64, i32, ImmNone, 0},
	0x56: {"i64.gt_u", i64 + i64, i32, ImmNone, 0},
	0x57: {"i64.le_s", i64 + i64, i32, ImmNone, 0},
	0x58: {"i64.le_u", i64 + i64, i32, ImmNone, 0},
	0x59: {"i64.ge_s", i64 + i64, i32, ImmNone, 0},
	0x5a: {"i64.ge_u", i64 + i64, i32, ImmNone, 0},
	0x5b: {"f32.eq", f32 + f32, i32, ImmNone, 0},
	0x5c: {"f32.ne", f32 + f32, i32, ImmNone, 0},
	0x5d: {"f32.lt", f32 + f32, i32, ImmNone, 0},
	0x5e: {"f32.gt", f32 + f32, i32, ImmNone, 0},
	0x5f: {"f32.le", f32 + f32, i32, ImmNone, 0},
	0x60: {"f32.ge", f32 + f32, i32, ImmNone, 0},
	0x61: {"f64.eq", f64 + f64, i32, ImmNone, 0},
	0x62: {"f64.ne", f64 + f64, i32, ImmNone, 0},
	0x63: {"f64.lt", f64 + f64, i32, ImmNone, 0},
	0x64: {"f64.gt", f64 + f64, i32, ImmNone, 0},
	0x65: {"f64.le", f64 + f64, i32, ImmNone, 0},
	0x66: {"f64.ge", f64 + f64, i32, ImmNone, 0},
	0x67: {"i32.clz", i32, i32, ImmNone, 0},
	0x68: {"i32.ctz", i32, i32, ImmNone, 0},
	0x69: {"i32.popcnt", i32, i32, ImmNone, 0},
	0x6a: {"i32.add", i32 + i32, i32, ImmNone, 0},
	0x6b: {"i32.sub", i32 + i32, i32, ImmNone, 0},
	0x6c: {"i32.mul", i32 + i32, i32, ImmNone, 0},
	0x6d: {"i32.div_s", i32 + i32, i32, ImmNone, 0},
	0x6e: {"i32.div_u", i32 + i32, i32, ImmNone, 0},
	0x6f: {"i32.rem_s", i32 + i32, i32, ImmNone, 0},
	0x70: {"i32.rem_u", i32 + i32, i32, ImmNone, 0},
	0x71: {"i32.and", i32 + i32, i32, ImmNone, 0},
	0x72: {"i32.or", i32 + i32, i32, ImmNone, 0},
	0x73: {"i32.xor", i32 + i32, i32, ImmNone, 0},
	0x74: {"i32.shl", i32 + i32, i32, ImmNone, 0},
	0x75: {"i32.shr_s", i32 + i32, i32, ImmNone, 0},
	0x76: {"i32.shr_u", i32 + i32, i32, ImmNone, 0},
	0x77: {"i32.rotl", i32 + i32, i32, ImmNone, 0},
	0x78: {"i32.rotr", i32 + i32, i32, ImmNone, 0},
	0x79: {"i64.clz", i64, i64, ImmNone, 0},
	0x7a: {"i64.ctz", i64, i64, ImmNone, 0},
	0x7b: {"i64.popcnt", i64, i64, ImmNone, 0},
	0x7c: {"i64.add", i64 + i64, i64, ImmNone, 0},
	0x7d: {"i64.sub", i64 + i64, i64, ImmNone, 0},
	0x7e: {"i64.mul", i64 + i64, i64, ImmNone, 0},
	0x7f: {"i64.div_s", i64 + i64, i64, ImmNone, 0},
	0x80: {"i64.div_u", i64 + i64, i64, ImmNone, 0},
	0x81: {"i64.rem_s", i64 + i64, i64, ImmNone, 0},
	0x82: {"i64.rem_u", i64 + i64, i64, ImmNone, 0},
	0x83: {"i64.and", i64 + i64, i64, ImmNone, 0},
	0x84: {"i64.or", i64 + i64, i64, ImmNone, 0},
	0x85: {"i64.xor", i64 + i64, i64, ImmNone, 0},
	0x86: {"i64.shl", i64 + i64, i64, ImmNone, 0},
	0x87: {"i64.shr_s", i64 + i64, i64, ImmNone, 0},
	0x88: {"i64.shr_u", i64 + i64, i64, ImmNone, 0},
	0x89: {"i64.rotl", i64 + i64, i64, ImmNone, 0},
	0x8a: {"i64.rotr", i64 + i64, i64, ImmNone, 0},
	0x8b: {"f32.abs", f32, f32, ImmNone, 0},
	0x8c: {"f32.neg", f32, f32, ImmNone, 0},
	0x8d: {"f32.ceil", f32, f32, ImmNone, 0},
	0x8e: {"f32.floor", f32, f32, ImmNone, 0},
	0x8f: {"f32.trunc", f32, f32, ImmNone, 0},
	0x90: {"f32.nearest", f32, f32, ImmNone, 0},
	0x91: {"f32.sqrt", f32, f32, ImmNone, 0},
	0x92: {"f32.add", f32 + f32, f32, ImmNone, 0},
	0x93: {"f32.sub", f32 + f32, f32, ImmNone, 0},
	0x94: {"f32.mul", f32 + f32, f32, ImmNone, 0},
	0x95: {"f32.div", f32 + f32, f32, ImmNone, 0},
	0x96: {"f32.min", f32 + f32, f32, ImmNone, 0},
	0x97: {"f32.max", f32 + f32, f32, ImmNone, 0},
	0x98: {"f32.copysign", f32 + f32, f32, ImmNone, 0},
	0x99: {"f64.abs", f64, f64, ImmNone, 0},
	0x9a: {"f64.neg", f64, f64, ImmNone, 0},
	0x9b: {"f64.ceil", f64, f64, ImmNone, 0},
	0x9c: {"f64.floor", f64, f64, ImmNone, 0},
	0x9d: {"f64.trunc", f64, f64, ImmNone, 0},
	0x9e: {"f64.nearest", f64, f64, ImmNone, 0},
	0x9f: {"f64.sqrt", f64, f64, ImmNone, 0},
	0xa0: {"f64.add", f64 + f64, f64, ImmNone, 0},
	0xa1: {"f64.sub", f64 + f64, f64, ImmNone, 0},
	0xa2: {"f64.mul", f64 + f64, f64, ImmNone, 0},
	0xa3: {"f64.div", f64 + f64, f64, ImmNone, 0},
	0xa4: {"f64.min", f64 + f64, f64, ImmNone, 0},
	0xa5: {"f64.max", f64 + f64, f64, ImmNone, 0},
	0xa6: {"f64.copysign", f64 + f64, f64, ImmNone, 0},
	0xa7: {"i32.wrap_i64", i64, i32, ImmNone, 0},
	0xa8: {"i32.trunc_f32_s", f32, i32, ImmNone, 0},
	0xa9: {"i32.trunc_f32_u", f32, i32, ImmNone, 0},
	0xaa: {"i32.trunc_f64_s", f64, i32, ImmNone, 0},
	0xab: {"i32.trunc_f64_u", f64, i32, ImmNone, 0},
	0xac: {"i64.extend_i32_s", i32, i64, ImmNone, 0},
	0xad: {"i64.extend_i32_u", i32, i64, ImmNone, 0},
	0xae: {"i64.trunc_f32_s", f32, i64, ImmNone, 0},
	0xaf: {"i64.trunc_f32_u", f32, i64, ImmNone, 0},
	0xb0: {"i64.trunc_f64_s", f64, i64, ImmNone, 0},
	0xb1: {"i64.trunc_f64_u", f64, i64, ImmNone, 0},
	0xb2: {"f32.convert_i32_s", i32, f32, ImmNone, 0},
	0xb3: {"f32.convert_i32_u", i32, f32, ImmNone, 0},
	0xb4: {"f32.convert_i64_s", i64, f32, ImmNone, 0},
	0xb5: {"f32.convert_i64_u", i64, f32, ImmNone, 0},
	0xb6: {"f32.demote_f64", f64, f32, ImmNone, 0},
	0xb7: {"f64.convert_i32_s", i32, f64, ImmNone, 0},
	0xb8: {"f64.convert_i32_u", i32, f64, ImmNone, 0},
	0xb9: {"f64.convert_i64_s", i64, f64, ImmNone, 0},
	0xba: {"f64.convert_i64_u", i64, f64, ImmNone, 0},
	0xbb: {"f64.promote_f32", f32, f64, ImmNone, 0},
	0xbc: {"i32.reinterpret_f32", f32, i32, ImmNone, 0},
	0xbd: {"i64.reinterpret_f64", f64, i64, ImmNone, 0},
	0xbe: {"f32.reinterpret_i32", i32, f32, ImmNone, 0},
	0xbf: {"f64.reinterpret_i64", i64, f64, ImmNone, 0},
	0xc0: {"i32.extend8_s", i32, i32, ImmNone, 0},
	0xc1: {"i32.extend16_s", i32, i32, ImmNone, 0},
	0xc2: {"i64.extend8_s", i64, i64, ImmNone, 0},
	0xc3: {"i64.extend16_s", i64, i64, ImmNone, 0},
	0xc4: {"i64.extend32_s", i64, i64, ImmNone, 0},
	0xd0: {"ref.null", none, none, ImmRefType, 0},
	0xd1: {"ref.is_null", none, none, ImmNone, 0},
	0xd2: {"ref.func", none, none, ImmFunc, 0},
}

var miscOperations = [256]Operation{
	0x00: {"i32.trunc_sat_f32_s", f32, i32, ImmNone, 0},
	0x01: {"i32.trunc_sat_f32_u", f32, i32, ImmNone, 0},
	0x02: {"i32.trunc_sat_f64_s", f64, i32, ImmNone, 0},
	0x03: {"i32.trunc_sat_f64_u", f64, i32, ImmNone, 0},
	0x04: {"i64.trunc_sat_f32_s", f32, i64, ImmNone, 0},
	0x05: {"i64.trunc_sat_f32_u", f32, i64, ImmNone, 0},
	0x06: {"i64.trunc_sat_f64_s", f64, i64, ImmNone, 0},
	0x07: {"i64.trunc_sat_f64_u", f64, i64, ImmNone, 0},
	0x08: {"memory.init", i32 + i32 + i32, none, ImmDataMemory, 0},
	0x09: {"data.drop", none, none, ImmData, 0},
	0x0a: {"memory.copy", i32 + i32 + i32, none, ImmMemory2, 0},
	0x0b: {"memory.fill", i32 + i32 + i32, none, ImmMemory, 0},
	0x0c: {"table.init", i32 + i32 + i32, none, ImmElemTable, 0},
	0x0d: {"elem.drop", none, none, ImmElem, 0},
	0x0e: {"table.copy", i32 + i32 + i32, none, ImmTable2, 0},
	0x0f: {"table.grow", none, none, ImmTable, 0},
	0x10: {"table.size", none, i32, ImmTable, 0},
	0x11: {"table.fill", none, none, ImmTable, 0},
}
