// Package meter rewrites a WebAssembly module so that it counts what it spends: nothing
// runs but what this pass wrote.
package meter

import "github.com/weirdb/weir/udf/internal/wasm"

// Names that the pass adds to every module. A module that imports or exports one of
// them, or any export beginning with ReservedPrefix, is refused.
const (
	// RefuelModule and RefuelName name the import () that metered code calls: with
	// ReasonFuel when the fuel global is below zero, with ReasonStack when the stack
	// global is. Its type is (i32) -> ().
	RefuelModule, RefuelName = "weir", "__refuel"
	// FuelGlobal is the export of the mutable i64 with the fuel that is left. The host
	// sets it before a call; refuelling with ReasonFuel must leave it at MinFuel or
	// more, or panic. It is exact whenever the host has control.
	FuelGlobal = "weir.fuel"
	// StackGlobal is the export of the mutable i32 with the bytes of stack that are left.
	// It is Limits.Stack in a fresh instance and whenever no call is running, unless
	// one trapped. Refuelling with ReasonStack must panic.
	StackGlobal = "weir.stack"

	ReservedPrefix = "weir."
)

// What the argument of the refuel import may be.
const (
	ReasonFuel  = 0
	ReasonStack = 1
)

// MinFuel is the least amount of fuel that may be handed out at a time.
const MinFuel = 4096

// Limits bound what a module may declare and what its compilation may cost. A zero field
// stands for its default.
type Limits struct {
	wasm.Limits
	Blocks int // basic blocks of one function, as rewritten; default 4096
	Work   int // sum of the squared numbers of blocks, which compile time follows; default 1e8
	Stack  int // bytes of stack that frames may take by estimate; default 4 MiB
}

// Stats describe a module as it is after the pass.
type Stats struct {
	Functions   int // defined functions
	MaxBody     int // bytes of the largest original body
	MaxLocals   int
	MaxNesting  int
	MaxHeight   int // operands
	MaxBlocks   int // basic blocks of a function
	MaxFrame    int // estimated bytes of a frame
	Loops       int
	Targets     int // branch table targets
	Work        int // sum of squared blocks
	Unmetered   int // functions whose cost their callers pay
	BytesBefore int
	BytesAfter  int
}

// Result is a rewritten module.
type Result struct {
	// Wasm is the module to compile. It has one more imported function (the refuel
	// import, the last one) and two more globals and exports than the original.
	Wasm []byte
	// Module is the original, decoded and validated. It borrows from the input.
	Module *wasm.Module
	Stats  Stats
}

// Rewrite validates the module, refuses what is over the limits or not understood, and
// returns it metered. Errors are *wasm.Error. Time and memory are linear in the input.
func Rewrite(mod []byte, l Limits) (*Result, error) { panic("soon") }
