package udf

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/udf/internal/meter"
	"github.com/weirdb/weir/vector"
)

// Instance is a running copy of a module, opened for one function. One goroutine at a
// time may use it; it panics when two do.
type Instance struct {
	module *Module
	fn     *Function // what it is opened for
	pool   *Pool
	busy   atomic.Bool
	dead   bool

	ctx    *guestContext
	mod    api.Module
	mem    *memory
	global api.MutableGlobal // fuel
	alloc  api.Function
	free   api.Function                      // nil: not exported
	called map[string]api.Function           // parts of every function that the instance was opened for
	parts  [abi.PartUpgrade + 1]api.Function // those of fn, as far as they were called
	stack  [2]uint64

	fuel   fuel
	count  Metrics // since they were last added to the function's
	log    log
	now    int64
	seed   uint64
	random *rand.ChaCha8 // made at the first use in a batch

	arenaAt   uint32
	arenaSize int
	tooLarge  int // bytes that the guest had no arena for; 0: none
	layouts   map[layoutKey]*layout
	lastKey   layoutKey
	last      *layout // of lastKey
	x         exchange
	scratch   scratch
}

type layoutKey struct {
	fn   *Function
	part abi.Part
	args int
}

// scratch is memory that calls use again.
type scratch struct {
	rows, sel   []int32  // of a call without those that have a NULL
	group       []uint32 // and of their groups
	sign        []int8
	used, local []int32 // groups of a piece, and their places among them
	renamed     []uint32
}

// instantiate makes an instance for fn and runs the module's initialization.
func (f *Function) instantiate(ctx context.Context) (*Instance, error) {
	m := f.module
	if m.limits.Memory < pageSize {
		return nil, &Fault{Module: m.name, Function: f.Export, Cause: Memory, Row: -1, Reason: "the memory limit is below one page of 64 KiB"}
	}
	mem, err := newMemory(m.limits.Memory)
	if err != nil {
		return nil, fmt.Errorf("make an instance of %s: %w", m.name, err)
	}
	i := &Instance{
		module: m, fn: f, mem: mem, now: 1, called: map[string]api.Function{}, layouts: map[layoutKey]*layout{},
		fuel: fuel{epoch: time.Now(), left: initFuel},
		log:  log{left: m.limits.Log},
	}
	i.ctx = &guestContext{Context: experimental.WithMemoryAllocator(context.Background(), mem), i: i}
	i.start(ctx, m.limits.Timeout)
	i.count.Instances++
	i.mod, err = m.runtime.InstantiateModule(i.ctx, m.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		mem.Free()
		return nil, i.fault("start", err)
	}
	i.ctx.Context = context.Background() // calls need nothing else
	i.global = i.mod.ExportedGlobal(meter.MeterGlobal).(api.MutableGlobal)
	i.fuel.take(i.global)
	i.fuel.stack = int32(meter.Stack(i.global.Get()))
	i.alloc = i.mod.ExportedFunction(abi.ExportAlloc)
	i.free = i.mod.ExportedFunction(abi.ExportFree)
	if start := i.mod.ExportedFunction(abi.ExportInitialize); start != nil {
		if _, err := i.invoke(abi.ExportInitialize, start); err != nil {
			i.drop()
			return nil, err
		}
	}
	i.settle()
	i.fuel.untimed = mostUntimed // what it took to start says nothing of calls
	return i, nil
}

// Close gives the instance back to its pool, or frees it when there was an error.
func (i *Instance) Close() {
	i.enter()
	defer i.busy.Store(false)
	if i.mod == nil {
		return
	}
	i.pool.put(i)
}

// destroy ends the instance, which is no user of its module any more.
func (i *Instance) destroy() {
	if i.mod != nil {
		i.drop()
		i.module.host.release(i.module)
	}
}

// drop frees the guest's memory.
func (i *Instance) drop() {
	i.dead = true
	i.mod.Close(context.Background()) // never fails without an exit code
	i.mod = nil
	i.mem.Free()
}

// Dead reports whether an error ended the instance. Calls fail then: open another one.
func (i *Instance) Dead() bool { return i.dead }

// Function is what the instance was opened for.
func (i *Instance) Function() *Function { return i.fn }

// enter claims the instance for the calling goroutine.
func (i *Instance) enter() {
	if !i.busy.CompareAndSwap(false, true) {
		panic("udf: two goroutines use one instance")
	}
}

// invoke calls an exported function with up to one parameter within what is left of the
// batch's budget.
func (i *Instance) invoke(name string, f api.Function, params ...uint32) (uint32, error) {
	if i.dead {
		return 0, i.fail(name, Broken, "the instance ended with an earlier error")
	}
	fl := &i.fuel
	fl.from = fl.last // the host had control until now, for little time
	if cause, ends := fl.over(); ends {
		return 0, i.fault(name, stop{cause: cause})
	}
	fl.left -= callCost
	fl.spent += callCost
	if !fl.start(i.global) {
		return 0, i.fault(name, stop{cause: Fuel})
	}
	for k, p := range params {
		i.stack[k] = uint64(p)
	}
	err := f.CallWithStack(i.ctx, i.stack[:])
	if fl.timed {
		now := fl.now()
		fl.gap = max(fl.gap, now-fl.last)
		fl.last = now
		fl.cost = now - fl.from
	}
	fl.time += fl.cost
	fl.take(i.global)
	if err != nil {
		return 0, i.fault(name, err)
	}
	return uint32(i.stack[0]), nil
}

// settle adds what the instance did since the last time to the counts of its function.
func (i *Instance) settle() {
	c, f := &i.count, &i.fuel
	c.Fuel, c.Time, c.Gap = f.spent, f.time, f.gap
	f.spent, f.time, f.gap = 0, 0, 0
	i.fn.count.add(c)
	*c = Metrics{}
}

// fits makes the arena large enough for n bytes and reports whether it can be: it may take
// half of the memory, if the guest has it.
func (i *Instance) fits(n int) (bool, error) {
	if n <= i.arenaSize {
		return true, nil
	}
	most := int(i.module.limits.Memory / 2)
	if n > most || i.tooLarge > 0 && n >= i.tooLarge {
		return false, nil
	}
	size := min(max(n+n/4, 2*i.arenaSize, most/8)+pageSize-1, most) &^ (pageSize - 1)
	size = max(size, pad(n))
	at, err := i.invoke(abi.ExportAlloc, i.alloc, uint32(size))
	switch {
	case err != nil:
		return false, err
	case at == 0 && i.arenaSize > 0:
		i.tooLarge = n
		return false, nil
	case at == 0:
		return false, i.fail(i.fn.Export, Memory, fmt.Sprintf("its module has no %d bytes for a batch", size))
	case at%abi.Align != 0:
		return false, i.fail(i.fn.Export, Broken, fmt.Sprintf("%s returned %#x, which is no multiple of %d", abi.ExportAlloc, at, abi.Align))
	case uint64(at)+uint64(size) > i.mem.size:
		return false, i.fail(i.fn.Export, Broken, fmt.Sprintf("%s returned [%#x, +%d), outside of the %d bytes of memory", abi.ExportAlloc, at, size, i.mem.size))
	}
	old, oldSize := i.arenaAt, i.arenaSize
	i.arenaAt, i.arenaSize = at, size
	if old != 0 && i.free != nil {
		if _, err := i.invoke(abi.ExportFree, i.free, old, uint32(oldSize)); err != nil {
			return false, err
		}
	}
	return true, nil
}

// cut finds how many rows, at most n, a call can take: what measures a call of so many
// rows. One row too large ends the instance.
func (i *Instance) cut(n int, what string, measure func(n int, small bool) int) (int, error) {
	for {
		ok, err := i.fits(measure(n, false))
		if ok || err != nil {
			return n, err
		}
		if n <= 1 {
			break
		}
		n = (n + 1) / 2
	}
	ok, err := i.fits(measure(n, true))
	if err == nil && !ok {
		err = atRow(i.fail(i.fn.names[i.x.part], Memory, "one "+what+" takes more memory than the function has for a batch"), 0)
	}
	return n, err
}

// part is the exported function of a part of the function, nil when there is none.
func (i *Instance) part(p abi.Part) (string, api.Function) {
	name := i.fn.names[p]
	f := i.parts[p]
	if f == nil {
		if f = i.called[name]; f == nil {
			f = i.mod.ExportedFunction(name)
			i.called[name] = f
		}
		i.parts[p] = f
	}
	return name, f
}

// call lays the exchange out and calls the guest.
func (i *Instance) call() (abi.Status, error) {
	x := &i.x
	x.lay(arena{mem: i.mem.bytes()[i.arenaAt:][:i.arenaSize], base: i.arenaAt}, i.now, i.seed)
	i.count.BytesIn += int64(x.outFrom)
	return i.again()
}

// again calls the guest with what is laid out.
func (i *Instance) again() (abi.Status, error) {
	x := &i.x
	name, f := i.part(x.part)
	i.count.Calls++
	status, err := i.invoke(name, f, i.arenaAt)
	if err != nil {
		return 0, err
	}
	// The guest may have got more memory, but not at another place.
	x.arena.mem = i.mem.bytes()[i.arenaAt:][:i.arenaSize]
	switch s := abi.Status(status); s {
	case abi.OK:
		return s, nil
	case abi.More:
		if x.parents {
			return s, nil
		}
	case abi.Fail:
		return 0, i.refused(name)
	}
	return 0, i.fail(name, Broken, fmt.Sprintf("it returned the status %d", status))
}

// refused is the error of a function that returned FAIL.
func (i *Instance) refused(name string) error {
	h := i.x.call()
	text, ok := i.guest(uint64(h.Err), uint64(min(h.ErrLen, abi.MaxErrorBytes)))
	if !ok {
		return i.fail(name, Broken, "it failed with a message outside of its memory")
	}
	row := -1
	if bound := i.x.bound(); h.ErrRow < uint32(bound) {
		row = int(h.ErrRow)
	}
	reason := clean(text)
	if reason == "" {
		reason = "it failed without a message"
	}
	f := &Fault{Module: i.module.name, Function: name, Cause: Refused, Row: row, Reason: reason}
	return i.end(f)
}

// bound is the number of rows, or of groups when the call is about those.
func (x *exchange) bound() int {
	switch x.part {
	case abi.PartFinish, abi.PartEmit, abi.PartInit:
		return x.states.len()
	}
	return x.count
}

// broken ends the instance for what a column of the result breaks.
func (i *Instance) broken(column int, err error) error {
	what := "the result"
	if len(i.x.layout.out) > 1 {
		what = fmt.Sprintf("column %d of the result", column)
	}
	return i.fail(i.fn.names[i.x.part], Broken, fmt.Sprintf("%s: %v", what, err))
}

// result checks the result columns and copies them out.
func (i *Instance) result(p *vector.Pool, rows int) ([]*vector.Vector, error) {
	x := &i.x
	t := i.taker(p, 0)
	out := make([]*vector.Vector, 0, len(x.layout.out))
	for k := range x.layout.out {
		v, err := t.column(&x.layout.out[k], rows, x.counts())
		if err != nil {
			for _, v := range out {
				v.Release()
			}
			return nil, i.broken(k, err)
		}
		out = append(out, v)
	}
	i.count.BytesOut += t.took
	return out, nil
}
