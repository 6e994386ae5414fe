package exec

import (
	"context"

	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// Runtime is what a task lends to one operator from Open to Close. It belongs to
// the task's goroutine.
type Runtime struct {
	Name, ID      string
	Shard, Shards int
	// Pool is the task's. All batches that the operator makes come from it.
	Pool *vector.Pool
	// State is the operator's own store. The task ends calls and epochs on it.
	State *state.Store
	// Functions are the instances that the operator's expressions call. The task closes
	// them after the operator.
	Functions *function.Instances
	// Now is processing time in milliseconds since 1970. It changes only between
	// epochs and is the same on all shards.
	Now func() int64

	side         func(name string) Output
	inconsistent func(n int64)
	expired      func(n int64)
	late         func(rows, retractions int64)
	setIdle      func(idle bool)
	split        func() *Split
	figures      *figures
}

// Late is the name of the side output that takes rows which are late.
const Late = "late"

// Late counts rows that the operator refused because they were late, and those among
// them that take back what may have been counted.
func (rt *Runtime) Late(rows, retractions int64) {
	if rows > 0 && rt.late != nil {
		rt.late(rows, retractions)
	}
}

// Split is where the batch that is being processed was read. Only an operator between a
// source and the first exchange may ask; for others it is nil.
func (rt *Runtime) Split() *Split {
	if rt.split == nil {
		return nil
	}
	return rt.split()
}

// Reading makes the runtime of an operator under test say that batches come from a
// split.
func (rt *Runtime) Reading(s *Split) *Runtime {
	rt.split = func() *Split { return s }
	return rt
}

// Side returns the output of a name beside the results, as for late rows. Its
// rows are dropped when the graph does not read it. Its watermark is that of the
// results.
func (rt *Runtime) Side(name string) Output {
	if rt.side == nil {
		return discard{}
	}
	return rt.side(name)
}

// Inconsistent reports n rows or keys for which the input took away what it had
// never added, found at a mark.
func (rt *Runtime) Inconsistent(n int64) {
	if n > 0 && rt.inconsistent != nil {
		rt.inconsistent(n)
	}
}

// Expired reports n entries that were forgotten because nothing touched them for a
// time.
func (rt *Runtime) Expired(n int64) {
	if n > 0 && rt.expired != nil {
		rt.expired(n)
	}
}

// SetIdle says whether the operator has nothing to say about event time for now.
// It is for those that make watermarks; others are idle when all their inputs are.
func (rt *Runtime) SetIdle(idle bool) {
	if rt.setIdle != nil {
		rt.setIdle(idle)
	}
}

// NewRuntime returns the runtime of an operator that no task calls: one under
// test.
func NewRuntime(pool *vector.Pool, store *state.Store, now func() int64, side func(name string) Output, inconsistent func(n int64)) *Runtime {
	return &Runtime{
		Name: "test", ID: "test", Shards: 1, Pool: pool, State: store, Functions: function.NewInstances(context.Background(), 1),
		Now: now, side: side, inconsistent: inconsistent, figures: &figures{},
	}
}

// discard is the output that nobody reads.
type discard struct{}

func (discard) Emit(*vector.Batch) error { return nil }

func (discard) Advance(Watermark) error { return nil }
