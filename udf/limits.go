package udf

import (
	"errors"
	"fmt"
	"time"

	"github.com/weirdb/weir/abi"
)

// Limits bound what a module may cost. A zero field stands for the next word on the
// matter: what CREATE FUNCTION does not say, the manifest may; what neither says, the
// host's Config; then DefaultLimits.
type Limits struct {
	Memory     int64         // bytes of memory of an instance
	Fuel       int64         // units a batch may spend, about one an instruction,
	FuelPerRow int64         // and more for each of its rows
	Timeout    time.Duration // time a batch may take: the backstop behind fuel
	Module     int64         // bytes of the module
	Stack      int64         // bytes of call stack, estimated as 64 + 8 for each local and operand a frame
	Log        int64         // bytes of log lines a batch; more are dropped
	RowsOut    int64         // rows a table function may make of a batch
	StateBytes int64         // bytes of one state of variable size
}

// DefaultLimits are the limits where nobody says anything.
func DefaultLimits() Limits {
	d := abi.DefaultLimits()
	return Limits{
		Memory: d.Memory, Fuel: int64(d.Fuel), FuelPerRow: int64(d.FuelPerRow), Timeout: d.Timeout, Module: abi.MaxModuleBytes,
		Stack: d.Stack, Log: d.Log, RowsOut: d.RowsOut, StateBytes: d.StateBytes,
	}
}

const (
	pageSize = 64 << 10
	// maxMemory keeps the size of a memory a 32-bit number.
	maxMemory = 4<<30 - pageSize
	// maxStack is well below the ceiling of the runtime, which grows stacks by copying.
	maxStack = 32 << 20
	// mostFuel, of a row, keeps the budget of a batch within an int64.
	mostFuel = 1 << 31
)

// Validate joins what is wrong with l.
func (l Limits) Validate() error {
	var problems []error
	check := func(name string, v, most int64) {
		if v < 0 || most > 0 && v > most {
			problems = append(problems, fmt.Errorf("limit %s is %d: it must be from 1 to %d, or 0 for the default", name, v, most))
		}
	}
	const far = 1 << 60
	check("memory", l.Memory, maxMemory)
	check("fuel", l.Fuel, far)
	check("fuel-per-row", l.FuelPerRow, mostFuel)
	check("timeout", int64(l.Timeout), far)
	check("module", l.Module, 1<<30)
	check("stack", l.Stack, maxStack)
	check("log", l.Log, 1<<30)
	check("rows-out", l.RowsOut, far)
	check("state-bytes", l.StateBytes, maxMemory)
	return errors.Join(problems...)
}

// or fills the zero fields of l from d.
func (l Limits) or(d Limits) Limits {
	return Limits{
		Memory: either(l.Memory, d.Memory), Fuel: either(l.Fuel, d.Fuel), FuelPerRow: either(l.FuelPerRow, d.FuelPerRow),
		Timeout: either(l.Timeout, d.Timeout), Module: either(l.Module, d.Module), Stack: either(l.Stack, d.Stack),
		Log: either(l.Log, d.Log), RowsOut: either(l.RowsOut, d.RowsOut), StateBytes: either(l.StateBytes, d.StateBytes),
	}
}

// limitsOf are the limits that a manifest asks for, as far as the host goes along.
func limitsOf(m abi.Limits, c Config) Limits {
	return Limits{
		Memory: min(m.Memory, c.MaxMemory), Fuel: int64(min(m.Fuel, 1<<60)), FuelPerRow: int64(min(m.FuelPerRow, mostFuel)), Timeout: min(m.Timeout, c.MaxTimeout),
		Stack: min(m.Stack, maxStack), Log: m.Log, RowsOut: m.RowsOut, StateBytes: m.StateBytes,
	}
}

func either[T int64 | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}
