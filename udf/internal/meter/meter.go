// Package meter rewrites a WebAssembly module so that it counts what it spends: nothing
// runs but what this pass wrote.
package meter

import (
	"fmt"

	"github.com/weirdb/weir/udf/internal/wasm"
)

// Names that the pass adds to every module. A module that imports the refuel function,
// or exports a name with ReservedPrefix, is refused.
const (
	// RefuelModule and RefuelName name the imported function, of type () -> (), that
	// metered code calls when the fuel or the stack in the meter is below zero. It must
	// panic if the stack is; else hand out MinFuel to MaxFuel units (Refuel), or panic.
	RefuelModule, RefuelName = "weir", "__refuel"
	// MeterGlobal is the export of the meter, a mutable i64. The host sets it before a
	// call (Pack) and reads it after (Fuel). It is exact whenever a function of the host
	// runs or no call does.
	MeterGlobal = "weir.meter"

	ReservedPrefix = "weir."
)

// Version tells what the pass refuses and makes of modules: a result of Rewrite may be kept
// and used where it is the same. It is raised with each change of either.
const Version = 1

const (
	// MinFuel is the least amount of fuel that may be handed out at a time.
	MinFuel = 4096
	// MaxFuel is the largest. No code the pass lets through takes more than 2 ms for it.
	MaxFuel = 1 << 16
)

// The meter is one word so that entering a function charges fuel and stack by one
// subtraction: the low 32 bits are the fuel that is left, signed, the high ones the
// bytes of stack. Fuel below zero borrows one byte of stack until it is refuelled.

// Pack returns a meter with that much left.
func Pack(fuel int32, stack int32) uint64 { return uint64(int64(stack)<<32 + int64(fuel)) }

// Fuel returns the units of fuel that are left; below zero: what was overdrawn.
func Fuel(meter uint64) int64 { return int64(int32(meter)) }

// Stack returns the bytes of stack that are left; below zero: there is no more.
func Stack(meter uint64) int64 { return (int64(meter) - Fuel(meter)) >> 32 }

// Refuel returns the meter with that much fuel instead of what was left.
func Refuel(meter uint64, fuel int32) uint64 { return Pack(fuel, int32(Stack(meter))) }

// Limits bound what a module may declare and what its compilation may cost. A zero field
// stands for its default.
type Limits struct {
	wasm.Limits
	Blocks        int // basic blocks of one function, as rewritten; default 4096
	Work          int // sum of the squared numbers of blocks, which compile time follows; default 1e8
	ModuleTargets int // targets of all br_table operations; default 131072
	Stack         int // bytes that frames may take by estimate, what the meter begins with; default 4 MiB
}

// WithDefaults returns the limits with every zero field replaced by its default.
func (l Limits) WithDefaults() Limits {
	l.Limits = l.Limits.WithDefaults()
	if l.Blocks == 0 {
		l.Blocks = 4096
	}
	if l.Work == 0 {
		l.Work = 1e8
	}
	if l.ModuleTargets == 0 {
		l.ModuleTargets = 1 << 17
	}
	if l.Stack == 0 {
		l.Stack = 4 << 20
	}
	return l
}

// Stats describe a module as the pass leaves it; sizes of the largest function each.
type Stats struct {
	Functions   int // defined in the original
	Unmetered   int // of them, those whose cost their callers pay
	Uncounted   int // of them, those whose stack their callers count
	MaxBody     int // bytes, in the original
	MaxLocals   int
	MaxNesting  int
	MaxHeight   int // operands
	MaxBlocks   int // basic blocks
	MaxFrame    int // estimated bytes
	Loops       int // in the original
	Targets     int // of all br_table operations
	Work        int // sum of the squared numbers of blocks
	BytesBefore int
	BytesAfter  int
}

// Result is a rewritten module.
type Result struct {
	// Wasm is the module to compile. It has one more import than the original (the
	// refuel function, the last one), one more global and one more export.
	Wasm []byte
	// Module is the original, decoded and validated. It borrows from the input.
	Module *wasm.Module
	Stats  Stats
}

// Rewrite validates the module, refuses what is over the limits or not understood, and
// returns it metered. Errors are *wasm.Error. Time and memory are linear in the input,
// the output depends on nothing else.
func Rewrite(mod []byte, l Limits) (*Result, error) {
	return rewrite(mod, l.WithDefaults(), defaults())
}

// Bare is Rewrite without counting, to measure by what counting costs. What it returns
// can run without end.
func Bare(mod []byte, l Limits) (*Result, error) {
	o := defaults()
	o.bare = true
	return rewrite(mod, l.WithDefaults(), o)
}

// errorf returns an error in the module as a whole.
func errorf(section, format string, args ...any) error {
	return &wasm.Error{Section: section, Func: -1, Reason: fmt.Sprintf(format, args...)}
}
