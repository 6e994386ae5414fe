package udf

import (
	"fmt"
	"strings"
)

// Cause says what ended a guest.
type Cause uint8

// The causes of faults.
const (
	Refused  Cause = iota // the function said so: a bad value
	Trapped               // division by zero, access out of bounds, unreachable code
	Exited                // the guest ended itself
	Fuel                  // more computed than a batch may
	Timeout               // more time taken than a batch may
	Stack                 // calls nested too deep
	Memory                // no memory for the rows
	Broken                // the guest did not keep to the ABI
	Canceled              // the caller's context ended
)

func (c Cause) String() string {
	return [...]string{"refused", "trap", "exit", "fuel", "timeout", "stack", "memory", "contract", "canceled"}[c]
}

// Fault is what went wrong in a guest, or against the contract with it.
type Fault struct {
	Module   string // as Load was told
	Function string // the export that was called
	Cause    Cause
	Row      int      // row of the call that the guest named, or -1
	Reason   string   // one line
	Trace    []string // functions of the guest, innermost first; empty outside of a guest
	Err      error    // what is behind it, or nil
}

// Error is one line with the innermost functions of the trace.
func (f *Fault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "function %s of %s", f.Function, f.Module)
	if f.Row >= 0 {
		fmt.Fprintf(&b, ", row %d", f.Row)
	}
	b.WriteString(": ")
	b.WriteString(f.Reason)
	if n := len(f.Trace); n > 0 {
		const most = 6
		b.WriteString(" (in ")
		b.WriteString(strings.Join(f.Trace[:min(n, most)], " < "))
		if n > most {
			fmt.Fprintf(&b, " < %d more", n-most)
		}
		b.WriteString(")")
	}
	return b.String()
}

func (f *Fault) Unwrap() error { return f.Err }
