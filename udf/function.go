package udf

import (
	"context"
	"time"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/sqltype"
)

// Argument is an argument of a function.
type Argument struct {
	Name    string
	Type    sqltype.Type
	Default string // SQL text; "" when the argument must be given
}

// Function is a function of a module, as its manifest declares it. Read only; it may be
// used by several goroutines.
type Function struct {
	Name          string // in SQL; overloads share it
	Export        string // in the module
	Kind          abi.Kind
	Args          []Argument
	Variadic      bool         // the last argument may be repeated
	Returns       sqltype.Type // a ROW of the result columns for the kinds that make tables
	Strict        bool         // a NULL argument gives NULL, or no row
	Deterministic bool
	Constant      bool // constant arguments may be passed as one row

	// Of aggregates and table aggregates.
	StateSize    int // bytes of a state; 0: states are of variable size
	StateVersion int
	Retract      bool // update can take rows away
	Merge        bool // states can be merged
	EmitRetract  bool // emit writes changes, not the whole result

	// Of temporal functions, whose arguments are: keys, as-of time, floor time, the
	// columns of the floor version, ceil time, the columns of the ceil version, then Args.
	Keys       []sqltype.Type
	Time       sqltype.Type
	VersionRow sqltype.Type
	CeilFinal  bool // a row waits until its ceil version is final
}

// Module is the module that the function belongs to.
func (f *Function) Module() *Module { panic("soon") }

// Inputs are the types of the columns that a call takes when n values are given for Args:
// len(Args), or more when the function is variadic.
func (f *Function) Inputs(n int) []sqltype.Type { panic("soon") }

// Open returns an instance to call f with, from the pool of the caller's query if that
// has an idle one. A nil pool keeps none. The instance belongs to one goroutine; Close it.
func (f *Function) Open(ctx context.Context, p *Pool) (*Instance, error) { panic("soon") }

// Metrics are the counts of all calls of f so far.
func (f *Function) Metrics() Metrics { panic("soon") }

// Metrics count what a function did.
type Metrics struct {
	Calls     int64 // into the guest
	Rows      int64 // that went in
	RowsOut   int64 // that came back, of kinds that make tables
	Fuel      int64
	Time      time.Duration // in the guest
	Errors    int64
	Instances int64 // made
	BytesIn   int64
	BytesOut  int64
	LogLines  int64         // with those dropped
	Gap       time.Duration // longest time that a guest ran without the host having control
}
