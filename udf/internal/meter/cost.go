package meter

import "github.com/weirdb/weir/udf/internal/wasm"

// Units of fuel. One is about what an addition takes; the rest keeps slow operations from
// being cheaper by the time they take.
const (
	costLoad      = 4 // most are fast, but one that misses every cache is not
	costStore     = 2
	costDivide    = 8
	costVector    = 2
	costCall      = 4
	costIndirect  = 10
	costImport    = 64 // the host charges for what it does beyond
	costBulk      = 24 // and a unit for 8 bytes, or an entry of a table
	costTable     = 4
	costReference = 128 // ref.func leaves compiled code
	costGrow      = 1024
	costBranch    = 1
	costSwitch    = 4
)

// bulkShift is how many bytes of a bulk operation a unit pays for, as a power of two.
const bulkShift = 3

// cost returns the units that an operation takes, without what a callee does.
func cost(c wasm.Code) uint32 {
	switch c.Prefix() {
	case 0xfc:
		switch c {
		case wasm.MemoryInit, wasm.MemoryCopy, wasm.MemoryFill, wasm.TableInit, wasm.TableCopy, wasm.TableFill:
			return costBulk
		case wasm.TableGrow:
			return costGrow
		case wasm.TableSize:
			return 1
		}
		return 4 // saturating conversions, drops of segments
	case 0xfd:
		if o := c.Operation(); o.Imm == wasm.ImmMem || o.Imm == wasm.ImmMemLane {
			return costLoad
		}
		return vectorCost(c)
	}
	switch {
	case c >= wasm.I32Load && c < wasm.I32Store:
		return costLoad
	case c >= wasm.I32Store && c <= wasm.I64Store32:
		return costStore
	case c >= wasm.I32DivS && c <= wasm.I32RemU, c >= wasm.I64DivS && c <= wasm.I64RemU:
		return costDivide
	case c >= wasm.I32TruncF32S && c <= wasm.F64ConvertI64U && c != wasm.I64ExtendS && c != wasm.I64ExtendU:
		return costVector
	}
	switch c {
	case wasm.Nop, wasm.Block, wasm.Loop, wasm.Else, wasm.End, wasm.Drop:
		return 0
	case wasm.F32Sqrt, wasm.F32Div, wasm.F64Sqrt, wasm.F64Div:
		return costDivide
	case wasm.F32Min, wasm.F32Max, wasm.F64Min, wasm.F64Max:
		return costVector
	case wasm.BrTable:
		return costSwitch
	case wasm.Call:
		return costCall
	case wasm.CallIndirect:
		return costIndirect
	case wasm.TableGet, wasm.TableSet:
		return costTable
	case wasm.MemoryGrow:
		return costGrow
	case wasm.RefFunc:
		return costReference
	}
	return 1
}

// vectorCost returns the units for an operation on vectors.
func vectorCost(c wasm.Code) uint32 {
	switch c {
	case wasm.V128Const:
		return 1
	case wasm.F32x4Sqrt, wasm.F32x4Div, wasm.F64x2Sqrt, wasm.F64x2Div:
		return costDivide
	}
	return costVector
}

// bulk returns whether an operation takes time by the number on top of the stack.
func bulk(c wasm.Code) bool {
	switch c {
	case wasm.MemoryInit, wasm.MemoryCopy, wasm.MemoryFill, wasm.TableInit, wasm.TableCopy, wasm.TableFill, wasm.TableGrow:
		return true
	}
	return false
}
