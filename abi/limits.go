//go:build !wasip1

package abi

import "time"

// Limits bound what a module may use. In a manifest they are a wish: they lower
// what the host grants, or ask for more, and the host's own maximum rules. A zero
// field is not said.
type Limits struct {
	Memory     int64         // bytes of the guest's memory
	Fuel       uint64        // units a batch
	FuelPerRow uint64        // further units for each row of it
	Timeout    time.Duration // of the wall clock, a batch
	Stack      int64         // estimated bytes: 64 + 8 x (locals + operands) a frame
	Log        int64         // bytes of log a batch
	RowsOut    int64         // rows a table kind may return for a batch
	StateBytes int64         // bytes of one view state
}

// DefaultLimits are what a module gets that says nothing.
func DefaultLimits() Limits {
	return Limits{
		Memory:     16 << 20,
		Fuel:       1_000_000,
		FuelPerRow: 10_000,
		Timeout:    10 * time.Second,
		Stack:      4 << 20,
		Log:        64 << 10,
		RowsOut:    10_000_000,
		StateBytes: 1 << 20,
	}
}

// GoMemory is the default memory of a guest written in Go, whose runtime needs more.
const GoMemory = 32 << 20

// Sizes that hold for every module and batch.
const (
	MaxRows          = 65_536 // of a batch
	MaxColumns       = 256    // in and out, children not counted
	MaxModuleBytes   = 8 << 20
	MaxManifestBytes = 64 << 10
	MaxLogLine       = 1 << 10
	MaxStateSize     = 4096 // of a fixed state; a multiple of StateAlign
	StateAlign       = 8
)
