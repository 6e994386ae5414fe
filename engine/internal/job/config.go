package job

import (
	"errors"
	"runtime"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// Config says how a job runs. The zero value is ready to use.
type Config struct {
	// Parallelism is the number of shards; default GOMAXPROCS.
	Parallelism int
	// BatchSize is the number of rows that sources read at a time; default
	// vector.Target. At 1 every row of an input is an epoch of its own; bounded
	// sources take turns then, so that the order of rows is always the same.
	BatchSize int
	// FlushInterval is the longest duration of an epoch; default 20 ms.
	FlushInterval time.Duration
	// FlushRows is the number of rows that end an epoch; default 65536.
	FlushRows int
	// CheckpointInterval is the time between checkpoints. At 0 it is ten seconds if the
	// job keeps its state, and longer when they are expensive; else there is but one, at
	// the end.
	CheckpointInterval time.Duration
	// Durable says where the job keeps its state; the zero value: nowhere.
	Durable Durable
	// ChannelSize is the number of batches between two tasks; default 8.
	ChannelSize int

	Clock Clock // default SystemClock
	Hooks exec.Hooks
	// NewPool makes the pool of every task and reader; default vector.NewPool.
	NewPool func() *vector.Pool
	State   state.Options
}

// Validate reports all values that make no sense.
func (c Config) Validate() error {
	var all []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, errs.New(errs.Option, errs.Position{}, format, args...))
		}
	}
	check(c.Parallelism >= 0 && c.Parallelism <= exec.MaxParallelism, "parallelism %d is not between 1 and %d", c.Parallelism, exec.MaxParallelism)
	check(c.BatchSize >= 0, "batch size %d is negative", c.BatchSize)
	check(c.FlushInterval >= 0, "flush interval %v is negative", c.FlushInterval)
	check(c.FlushRows >= 0, "flush rows %d is negative", c.FlushRows)
	check(c.CheckpointInterval >= 0, "checkpoint interval %v is negative", c.CheckpointInterval)
	check(c.ChannelSize >= 0, "channel size %d is negative", c.ChannelSize)
	return errors.Join(all...)
}

func (c Config) withDefaults() Config {
	if c.Parallelism == 0 {
		c.Parallelism = min(runtime.GOMAXPROCS(0), exec.MaxParallelism)
	}
	if c.BatchSize == 0 {
		c.BatchSize = vector.Target
	}
	if c.FlushInterval == 0 {
		c.FlushInterval = 20 * time.Millisecond
	}
	if c.FlushRows == 0 {
		c.FlushRows = 65536
	}
	if c.Clock == nil {
		c.Clock = SystemClock{}
	}
	return c
}
