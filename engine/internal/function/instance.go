package function

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirdb/weir/vector"
)

// Instance is a function as one operator calls it, with what it keeps from one call
// to the next, such as the memory of a guest. One goroutine uses it.
type Instance interface {
	// Call is what a Kernel is.
	Call(c *Call) (*vector.Vector, error)
	// Close gives back what the instance keeps.
	Close()
}

// Instances are those of one operator in one shard: a function that keeps something
// has one here, however often the operator's expressions call it. One goroutine opens,
// calls and closes them; Metrics may be called from any.
type Instances struct {
	ctx   context.Context
	seed  uint64
	now   int64  // of the last call
	calls uint64 // since now changed

	mu   sync.Mutex // guards open, for Metrics
	open []*running
}

// running is an open instance with its figures.
type running struct {
	of                        *Scalar
	instance                  Instance
	calls, rows, errors, busy atomic.Int64
}

// NewInstances returns the instances of an operator, none of them open yet. A call
// that runs when ctx ends is broken off. The seed is the operator's own, and the same
// when the query runs again.
func NewInstances(ctx context.Context, seed uint64) *Instances {
	return &Instances{ctx: ctx, seed: seed}
}

// Open is the kernel of a call of s, which has an Open. It opens the instance of s
// unless there is one: the types of a call follow from the function.
func (in *Instances) Open(s *Scalar, b Binding) (Kernel, error) {
	if i := slices.IndexFunc(in.open, func(r *running) bool { return r.of == s }); i >= 0 {
		return in.kernel(in.open[i]), nil
	}
	instance, err := s.Open(in.ctx, b)
	if err != nil {
		return nil, err
	}
	r := &running{of: s, instance: instance}
	in.mu.Lock()
	in.open = append(in.open, r)
	in.mu.Unlock()
	return in.kernel(r), nil
}

func (in *Instances) kernel(r *running) Kernel {
	return func(c *Call) (*vector.Vector, error) {
		c.Seed = in.next(c.Now)
		start := time.Now()
		out, err := r.instance.Call(c)
		r.busy.Add(int64(time.Since(start)))
		r.calls.Add(1)
		r.rows.Add(int64(c.N))
		r.errors.Add(c.Failed)
		if err != nil {
			r.errors.Add(1)
		}
		return out, err
	}
}

// next is the seed of a call: it follows from the operator, the clock of the epoch and
// the number of calls in it, so a replay of the epoch has the same.
func (in *Instances) next(now int64) uint64 {
	if now != in.now {
		in.now, in.calls = now, 0
	}
	in.calls++
	return mix(mix(in.seed^uint64(now)) + in.calls)
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Close closes all instances.
func (in *Instances) Close() {
	for _, r := range in.open {
		r.instance.Close()
	}
}

// Metrics are figures of a function.
type Metrics struct {
	Name                string
	Calls, Rows, Errors int64
	Busy                time.Duration
}

// Metrics lists the figures of the functions that have been opened, in that order.
func (in *Instances) Metrics() []Metrics {
	in.mu.Lock()
	defer in.mu.Unlock()
	var out []Metrics
	for _, r := range in.open {
		out = append(out, Metrics{Name: r.of.Name, Calls: r.calls.Load(), Rows: r.rows.Load(), Errors: r.errors.Load(), Busy: time.Duration(r.busy.Load())})
	}
	return out
}
