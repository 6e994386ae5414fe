package wasmtest

import "github.com/weirdb/weir/udf/internal/wasm"

// Immediate returns bytes that may follow the code of an operation in a module with one
// of everything: indices are 0, numbers small.
func Immediate(imm wasm.Imm) []byte {
	switch imm {
	case wasm.ImmNone:
		return nil
	case wasm.ImmBlock:
		return []byte{0x40}
	case wasm.ImmTypes:
		return []byte{1, byte(wasm.I32)}
	case wasm.ImmRefType:
		return []byte{byte(wasm.FuncRef)}
	case wasm.ImmTargets, wasm.ImmCallIndirect, wasm.ImmTable2, wasm.ImmElemTable, wasm.ImmMemory2, wasm.ImmDataMemory, wasm.ImmMem:
		return make([]byte, 2)
	case wasm.ImmMemLane:
		return make([]byte, 3)
	case wasm.ImmF32:
		return make([]byte, 4)
	case wasm.ImmF64:
		return make([]byte, 8)
	case wasm.ImmLanes, wasm.ImmV128:
		return []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	}
	return make([]byte, 1)
}

// Everything is a module with one of everything that indices can name.
const Everything = `
memory 1 2
table 2 4 funcref
global $g mut i32 0
elem 0 $f
elem passive $f
data 0 "active"
data passive "passive"
func $f export "f" ()
end
`
