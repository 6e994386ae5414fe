package weir

import (
	"math/rand/v2"
	"strconv"
	"time"
	"unsafe"

	"github.com/weirdb/weir/abi"
)

// Call is the batch that a function is being called for. A function that takes
// a *Call as its first parameter may ask it for the time, for random numbers and
// for the row, and may write to the log.
type Call struct{ raw abi.Call }

// Glue1 is the generation of the interface between this package and the code that
// `weir udf build` writes. A build with a package of another one does not compile.
const Glue1 = 1

// guest is what a module keeps between calls. A module runs one call at a time.
var guest struct {
	arenas [][]byte // blocks given to the host, reachable so that they stay
	kept   []any    // what the results of the last call point at
	failed []byte   // the message of the last failure
	pcg    rand.PCG
	rand   *rand.Rand
	seeded bool
}

// Begin is the call at an address that an export was given.
func Begin(address uint32) *Call {
	clear(guest.kept)
	guest.kept = guest.kept[:0]
	guest.seeded = false
	return (*Call)(at(abi.Ptr(address)))
}

// Rows is the number of rows of the batch.
func (c *Call) Rows() int { return int(c.raw.Rows) }

// Row is the row that is being computed.
func (c *Call) Row() int { return int(c.raw.ErrRow) }

// At says which row is being computed: an error or a panic is of this row.
func (c *Call) At(row int) { c.raw.ErrRow = uint32(row) }

// NowMillis is the time of the batch, in milliseconds since 1970 UTC. All rows of
// a batch see the same time, and again the same one when it is computed again.
func (c *Call) NowMillis() int64 { return c.raw.Now }

// Now is the time of the batch.
func (c *Call) Now() time.Time { return time.UnixMilli(c.raw.Now).UTC() }

// Seed is a number that differs from batch to batch and is the same when a batch
// is computed again.
func (c *Call) Seed() uint64 { return c.raw.Seed }

// Rand is a source of random numbers made from the seed. It starts anew with every
// call.
func (c *Call) Rand() *rand.Rand {
	if !guest.seeded {
		guest.pcg.Seed(c.raw.Seed, c.raw.Cursor[0])
		guest.seeded = true
		if guest.rand == nil {
			guest.rand = rand.New(&guest.pcg)
		}
	}
	return guest.rand
}

// Level says how important a line of the log is.
type Level uint32

// The levels.
const (
	Debug = Level(abi.Debug)
	Info  = Level(abi.Info)
	Warn  = Level(abi.Warn)
	Error = Level(abi.Error)
)

// Log writes a line to the host's log. The host cuts lines at 1 KiB, and a batch's
// lines at 64 KiB in all unless the function has another limit.
func (c *Call) Log(level Level, line string) { Log(level, line) }

// Log is [Call.Log] for code that has no Call.
func Log(level Level, line string) {
	hostLog(uint32(level), unsafe.Pointer(unsafe.StringData(line)), uint32(len(line)))
}

// RowError is an error of one row of a batch, for functions over slices.
type RowError struct {
	Row int
	Err error
}

func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap is the error without the row.
func (e *RowError) Unwrap() error { return e.Err }

// Fail ends the call with an error: of its row if it is a *RowError, of the row
// last said with At otherwise.
func (c *Call) Fail(err error) uint32 {
	if r, ok := err.(*RowError); ok {
		c.raw.ErrRow = uint32(r.Row)
	}
	return c.fail(err.Error())
}

// FailNull ends the call with the error that an argument holds a NULL inside which
// the function's parameter cannot hold.
func (c *Call) FailNull(argument string) uint32 {
	return c.fail("argument " + argument + " holds a NULL inside: the function's parameter has no weir.Null there")
}

// FailRows ends the call with the error that the function added another number of
// rows to its result than the batch has.
func (c *Call) FailRows(rows int) uint32 {
	return c.fail("the function added " + strconv.Itoa(rows) + " rows to its result, not " + strconv.Itoa(c.Rows()))
}

func (c *Call) fail(message string) uint32 {
	guest.failed = append(guest.failed[:0], message[:min(len(message), abi.MaxErrorBytes)]...)
	c.raw.Err, c.raw.ErrLen = address(guest.failed), uint32(len(guest.failed))
	return uint32(abi.Fail)
}

// Recover turns a panic of the function into an error of the row it happened in.
// It is deferred.
func (c *Call) Recover(status *uint32) {
	switch p := recover().(type) {
	case nil:
	case error:
		*status = c.fail("panic: " + p.Error())
	case string:
		*status = c.fail("panic: " + p)
	default:
		*status = c.fail("panic")
	}
}

// Ins is the number of arguments.
func (c *Call) Ins() int { return int(c.raw.NIn) }

// In is argument i.
func (c *Call) In(i int) *Vector {
	return (*Vector)(unsafe.Add(at(c.raw.In), i*abi.ColumnBytes))
}

// Out is result column i.
func (c *Call) Out(i int) *Vector {
	return (*Vector)(unsafe.Add(at(c.raw.Out), i*abi.ColumnBytes))
}

// HasNulls reports whether an argument has a NULL.
func (c *Call) HasNulls() bool {
	for i := range int(c.raw.NIn) {
		if c.In(i).raw.NullCount != 0 {
			return true
		}
	}
	return false
}

// Live are the rows without a NULL argument, of a scalar function that is not
// called for the others; nil when there is no NULL.
func (c *Call) Live() Bitmap {
	if !c.HasNulls() {
		return nil
	}
	return slice[byte](c.Out(0).raw.Validity, (c.Rows()+7)/8)
}

// slice is the n values at an address.
func slice[T any](p abi.Ptr, n int) []T {
	if n == 0 || p == 0 {
		return nil
	}
	return unsafe.Slice((*T)(at(p)), n)
}

// address is where the values of s begin.
func address[T any](s []T) abi.Ptr { return addressOf(unsafe.Pointer(unsafe.SliceData(s))) }

// keep holds on to memory that a result points at until the next call.
func keep[T any](s []T) { guest.kept = append(guest.kept, unsafe.SliceData(s)) }
