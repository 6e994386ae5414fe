package udf

import (
	"context"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/udf/internal/meter"
)

const (
	// quantumTime is how long a guest should run before the host has control again.
	// Until then the garbage collector cannot stop its goroutine.
	quantumTime = 250 * time.Microsecond
	// firstQuantum is what is handed out first, maxQuantum the most. That keeps a guest
	// that goes on from its fastest to its slowest instructions, loads that miss every
	// cache, from running longer than 2 ms.
	firstQuantum = 16 << 10
	maxQuantum   = 48 << 10

	// callCost is charged for a call into the guest, hostCost for a call of the guest's
	// into the host.
	callCost = 500
	hostCost = 300

	// initFuel is what instantiation may spend: the start section and _initialize.
	initFuel = 300_000_000
)

// fuel is what the batch at hand may still spend, and how it is handed out. Units cost
// from 0.03 ns to 100 ns of time, so that the amount follows the clock.
type fuel struct {
	left     int64 // not handed out
	spent    int64 // since the instance was made, with what is handed out
	quantum  int64
	stack    int32                // bytes that the guest may use, in the meter
	epoch    time.Time            // times below count from here,
	clock    func() time.Duration // or from where this does, in tests
	last     time.Duration        // when the guest got control last, or the host
	time     time.Duration        // spent in the guest since it was last counted
	gap      time.Duration        // longest time that it had control
	deadline time.Duration
	timeout  time.Duration
	from     time.Duration   // when the call at hand began
	timed    bool            // last and deadline are those of this batch
	cost     time.Duration   // of the last call that was timed
	untimed  int             // batches since then
	rows     int             // of the last batch that was timed
	cancel   <-chan struct{} // of the caller's context
	ctx      context.Context // the caller's
}

func (f *fuel) now() time.Duration {
	if f.clock != nil {
		return f.clock()
	}
	return time.Since(f.epoch)
}

// begin gives the instance what a batch of n rows may spend.
func (i *Instance) begin(ctx context.Context, n int) {
	l := &i.fn.module.limits
	f := &i.fuel
	f.left = l.Fuel + int64(n)*l.FuelPerRow
	i.log.left = l.Log
	if i.fn.Kind == abi.Scalar && f.cost < littleTime && f.untimed < mostUntimed && f.alike(n) {
		f.timed, f.timeout, f.ctx, f.cancel = false, l.Timeout, ctx, ctx.Done()
		f.untimed++
		return
	}
	f.rows = n
	i.start(ctx, l.Timeout)
}

// To look at the clock is a large part of what a short call takes. Of batches whose calls
// took little time lately, and had enough with what fuel they got at first, not all are
// timed: the others, of about as many rows, count as much as the last that was, and their
// deadline begins when they ask for more fuel.
const (
	fewRows     = 64
	littleTime  = 20 * time.Microsecond
	mostUntimed = 15 // in a row
)

// alike reports whether a batch of n rows takes about as long as the last that was timed.
func (f *fuel) alike(n int) bool {
	return max(n, f.rows) <= max(fewRows, 2*min(n, f.rows))
}

func (i *Instance) start(ctx context.Context, timeout time.Duration) {
	f := &i.fuel
	if f.quantum == 0 {
		f.quantum = firstQuantum
	}
	f.last = f.now()
	f.timeout = timeout
	f.deadline = f.last + timeout
	f.ctx, f.cancel = ctx, ctx.Done()
	f.timed, f.untimed = true, 0
}

// resume goes on after the caller had control, whose time is not the guest's.
func (f *fuel) resume() {
	now := f.now()
	f.deadline += now - f.last
	f.last = now
}

// start gives the guest fuel for a call, and says whether there was any. Between calls none
// is in the meter: what counts the stack is as it always is then.
func (f *fuel) start(global api.MutableGlobal) bool {
	if f.left < meter.MinFuel {
		return false
	}
	q := min(f.quantum, f.left)
	f.left -= q
	f.spent += q
	global.Set(meter.Pack(int32(q), f.stack))
	return true
}

// hand returns the meter with fuel, after it took what is left from before (less than
// nothing when overdrawn), and says whether there was any.
func (f *fuel) hand(word uint64) (uint64, bool) {
	rest := meter.Fuel(word)
	f.left += rest
	f.spent -= rest
	if f.left < meter.MinFuel {
		return word, false
	}
	q := min(f.quantum, f.left)
	f.left -= q
	f.spent += q
	return meter.Refuel(word, int32(q)), true
}

// take ends a call: what the guest did not use is there for the next.
func (f *fuel) take(global api.MutableGlobal) {
	rest := meter.Fuel(global.Get())
	f.left += rest
	f.spent -= rest
}

// lap notes how long the guest had control and steers the quantum by it.
func (f *fuel) lap() {
	now := f.now()
	f.untimed = mostUntimed // the next batch is timed
	if !f.timed {
		f.from, f.last, f.deadline, f.timed = now, now, now+f.timeout, true
		return
	}
	d := now - f.last
	f.last = now
	f.gap = max(f.gap, d)
	switch {
	case d > 2*quantumTime:
		f.quantum = max(f.quantum*int64(quantumTime)/int64(d), meter.MinFuel)
	case d < quantumTime/2:
		f.quantum = min(2*f.quantum, maxQuantum)
	}
}

// over reports why the guest must end now, if it must.
func (f *fuel) over() (Cause, bool) {
	if f.timed && f.last >= f.deadline {
		return Timeout, true
	}
	if f.cancel != nil {
		select {
		case <-f.cancel:
			return Canceled, true
		default:
		}
	}
	return 0, false
}

// stop is what host functions panic with to end a guest.
type stop struct {
	cause Cause
	exit  uint32 // code of Exited
}

func (s stop) Error() string { return s.cause.String() }

func exit(code uint32) stop { return stop{cause: Exited, exit: code} }

// refuel is called by the guest when it has no fuel left, or no stack.
func (i *Instance) refuel(m api.Module) {
	if i.global == nil { // the start section runs: the instance is not made yet
		i.global = m.ExportedGlobal(meter.MeterGlobal).(api.MutableGlobal)
	}
	i.more()
}

// more hands the guest fuel, or ends it.
func (i *Instance) more() {
	word := i.global.Get()
	if meter.Stack(word) < 0 {
		panic(stop{cause: Stack})
	}
	f := &i.fuel
	f.lap()
	if cause, ends := f.over(); ends {
		panic(stop{cause: cause})
	}
	word, ok := f.hand(word)
	if !ok {
		panic(stop{cause: Fuel})
	}
	i.global.Set(word)
}

// charge takes fuel for what the host did for the guest. Calls of host functions in a row
// have no check between them, so that this is one.
func (i *Instance) charge(units int64) {
	if i.global == nil {
		return
	}
	i.global.Set(i.global.Get() - uint64(units)) // the fuel is the low part
	if meter.Fuel(i.global.Get()) < 0 {
		i.more()
	}
}
