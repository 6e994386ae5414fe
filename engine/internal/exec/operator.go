// Package exec runs graphs of operators: it defines what an operator is, calls
// operators as trees on task goroutines, moves batches between tasks, and aligns
// the marks that end epochs.
package exec

import (
	"context"

	"github.com/weirdb/weir/vector"
)

// Operator turns changelog batches into changelog batches.
//
// One task goroutine makes every call: Open, then Process, Advance, End and Flush
// in any mix, then Close. After an error only Close follows. Close is called once
// for every Open, also for one that failed.
//
// At the end of an epoch the task calls, operator after operator from the inputs
// to the outputs: Advance for each port whose watermark rose, End for each port
// whose input ended, then Flush. So an operator sees all rows that the operators
// before it flush in an epoch before it sees that epoch's watermark.
type Operator interface {
	// Open prepares the operator. Its state is already restored.
	Open(ctx context.Context, rt *Runtime) error
	// Process takes a batch of input number port. The batch is borrowed until
	// Process returns: Keep what outlives the call. It has at least one live row.
	Process(port int, b *vector.Batch, out Output) error
	// Advance says that the event time of a port reached w, which is more than
	// before: no row at or before w follows on it that is not late. An operator
	// with several ports combines them with MinWatermark. It emits what became due,
	// then passes its own watermark to out.Advance.
	Advance(port int, w Watermark, out Output) error
	// End says that no row follows on the port. Watermarks do not rise after it.
	End(port int, out Output) error
	// Flush publishes what this epoch decided and leaves all memory in state. It
	// never fires what waits for time.
	Flush(out Output) error
	// Close frees what the operator holds. It never emits.
	Close() error
}

// Output is where an operator sends its results.
type Output interface {
	// Emit hands on a batch, which is borrowed by the receiver until Emit returns
	// and stays the caller's to release. Empty batches are dropped.
	Emit(b *vector.Batch) error
	// Advance says that no row at or before w follows that is not late. What the
	// operator emits until the epoch's end still goes before it.
	Advance(w Watermark) error
}

// Stateless is embedded by operators of one input that keep nothing between two
// batches.
type Stateless struct{}

// Open does nothing.
func (Stateless) Open(context.Context, *Runtime) error { return nil }

// Advance passes the watermark on.
func (Stateless) Advance(_ int, w Watermark, out Output) error { return out.Advance(w) }

// End does nothing.
func (Stateless) End(int, Output) error { return nil }

// Flush does nothing.
func (Stateless) Flush(Output) error { return nil }

// Close does nothing.
func (Stateless) Close() error { return nil }

// stateless tells the task that no checkpoint has to look at the operator.
func (Stateless) stateless() {}
