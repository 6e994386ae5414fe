package udf

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/weirdb/weir/engine/errs"
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
	Overflow              // more rows made of a batch, or larger states, than there may be
	Broken                // the guest did not keep to the ABI
	Canceled              // the caller's context ended
)

func (c Cause) String() string {
	return [...]string{"refused", "trap", "exit", "fuel", "timeout", "stack", "memory", "overflow", "contract", "canceled"}[c]
}

// code is what users see a fault of the cause under.
func (c Cause) code() errs.Code {
	switch c {
	case Fuel, Timeout, Stack, Memory, Overflow:
		return errs.Limit
	case Canceled:
		return errs.Canceled
	}
	return errs.Function
}

// Fault is what went wrong in a guest, or against the contract with it.
type Fault struct {
	Module   string // as Load was told
	Function string // the export that was called
	Cause    Cause
	Row      int      // row of the call (or group) that the guest named, or -1
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

// fault ends the instance with what a call into it returned.
func (i *Instance) fault(name string, err error) error {
	var bug runtime.Error
	if errors.As(err, &bug) {
		panic(fmt.Sprintf("udf: a host function panicked in a call of %s: %v", name, err))
	}
	f := &Fault{Module: i.module.name, Function: name, Cause: Trapped, Row: -1}
	head, trace, _ := strings.Cut(err.Error(), "\nwasm stack trace:\n")
	f.Trace = frames(trace)
	f.Reason = strings.TrimPrefix(head, "wasm error: ")
	var s stop
	switch {
	case errors.As(err, &s):
		f.Cause = s.cause
		f.Reason = i.stopped(s)
		if s.cause == Canceled {
			f.Err = i.fuel.ctx.Err()
		}
	case f.Reason == "stack overflow": // the runtime's own ceiling
		f.Cause, f.Reason = Stack, i.stopped(stop{cause: Stack})
	case i.mem.refused && f.Cause == Trapped:
		f.Cause = Memory
		f.Reason += fmt.Sprintf(", after it was refused more than %d bytes of memory", i.module.limits.Memory)
	case f.Cause == Trapped && i.mem.size > uint64(i.module.limits.Memory/2): // the runtime tells nobody that it refused some
		f.Reason += fmt.Sprintf("; of %d bytes of memory it had %d", i.module.limits.Memory, i.mem.size)
	}
	return i.end(f)
}

// stopped says why the host stopped a guest.
func (i *Instance) stopped(s stop) string {
	l := &i.module.limits
	switch s.cause {
	case Exited:
		return fmt.Sprintf("it ended itself with code %d", s.exit)
	case Fuel:
		return "it computed more than a batch may: its fuel is spent"
	case Timeout:
		return fmt.Sprintf("it took more than the %v that a batch may", i.fuel.timeout)
	case Stack:
		return fmt.Sprintf("its calls are nested deeper than %d bytes of stack allow", l.Stack)
	case Canceled:
		return "the query was canceled"
	}
	return "it gave the host an address outside of its memory"
}

// fail ends the instance for a reason of the host's.
func (i *Instance) fail(name string, cause Cause, reason string) error {
	return i.end(&Fault{Module: i.module.name, Function: name, Cause: cause, Row: -1, Reason: reason})
}

// end marks the instance dead and makes the error that users see.
func (i *Instance) end(f *Fault) error {
	i.dead = true
	i.count.Errors++
	i.settle()
	e := errs.New(f.Cause.code(), errs.Position{}, "%w", f)
	switch f.Cause {
	case Fuel:
		e.WithHint("if the function needs it, raise its limits 'fuel' and 'fuel-per-row'")
	case Timeout:
		e.WithHint("if the function needs it, raise its limit 'timeout'")
	case Stack:
		e.WithHint("if the function needs it, raise its limit 'stack'")
	case Memory:
		e.WithHint("if the function needs it, raise its limit 'memory'")
	case Broken:
		e.WithHint("the module does not keep to the ABI: check it with weir udf check")
	}
	return e
}

// atRow sets the row that an error is about.
func atRow(err error, row int) error {
	var f *Fault
	if errors.As(err, &f) {
		f.Row = row
		var e *errs.Error
		if errors.As(err, &e) {
			e.Msg = f.Error()
		}
	}
	return err
}

// shifted turns the row of the call that a fault names into one of the caller's: row from
// on, or those listed.
func shifted(err error, from int, rows []int32) error {
	var f *Fault
	if !errors.As(err, &f) || f.Row < 0 {
		return err
	}
	if rows != nil {
		return atRow(err, int(rows[from+f.Row]))
	}
	if from == 0 {
		return err
	}
	return atRow(err, from+f.Row)
}

// frames are the functions of a stack trace of the runtime, without their types.
func frames(trace string) []string {
	var out []string
	for line := range strings.Lines(trace) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "...") {
			continue
		}
		if end := signatureAt(line); end > 0 {
			line = line[:end]
		}
		out = append(out, strings.TrimPrefix(line, "."))
	}
	return out
}

// signatureAt is where the parameters begin in name(i32,i64) i32: at the first parenthesis
// after which there is nothing but types.
func signatureAt(line string) int {
	for k := range len(line) {
		if line[k] == '(' && strings.Trim(line[k:], "(), 123468cefinrtuvx") == "" {
			return k
		}
	}
	return -1
}
