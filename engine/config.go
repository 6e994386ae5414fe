package engine

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/function"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/job"
	"github.com/weirdb/weir/udf"
)

// Config says how an Engine works. The zero value is ready to use. What a session
// SETs in SQL goes before it.
type Config struct {
	// Parallelism is the number of shards of a job, at most 256; 0 means one for
	// each processor.
	Parallelism int
	// BatchSize is the number of rows that batches aim for; 0 means 8192. At 1 every
	// source row is an epoch of its own, and a changelog is Flink's without
	// mini-batches, row by row.
	BatchSize int
	// FlushInterval is the longest time until results of rows that were read become
	// visible; 0 means 20 ms.
	FlushInterval time.Duration
	// FlushRows is the largest number of source rows between two marks; 0 means 65536.
	FlushRows int
	// StateDir is a directory, made if it is not there, in which permanent catalogs,
	// databases, tables and views outlive the engine, and the state of queries. One engine
	// at a time can have it. Without one they end with the engine. Open restores them with
	// the connectors and functions of this Config. Temporary objects and what a session
	// SETs always end.
	//
	// An INSERT or statement set that is executed again goes on from its last checkpoint,
	// a SELECT only if 'pipeline.name' names it: see Query.Job.
	StateDir string
	// CheckpointInterval is the time between two checkpoints of a query that keeps its
	// state; 0 means 10 s, and more when they are expensive.
	CheckpointInterval time.Duration
	// StateMemory is about the number of bytes that the state of a query may take in
	// memory when it is kept in the state directory; 0 means no limit.
	StateMemory int64
	// Savepoint is a folder with a savepoint, with which queries begin that have no state
	// yet; "" means none.
	Savepoint string
	// Clock is where processing time comes from; nil means the system's clock.
	Clock Clock
	// Connectors are known besides the built-in ones: filesystem, mysql, postgres,
	// datagen, print and blackhole. Those of package channel carry rows of this program. One of the same name replaces the built-in.
	Connectors []connector.Connector
	// Functions are known besides the built-in ones, and go before those. See
	// Engine.RegisterFunction.
	Functions []function.Function
	// UDF says how functions in WebAssembly run: limits of those that do not set their
	// own, where compiled modules are kept, who gets what they log.
	UDF udf.Config
	// MaxLimits is the most that CREATE FUNCTION may ask for in WITH; zero fields are no
	// bound.
	MaxLimits udf.Limits
	// Stdin and Stdout are what the path '-' and the print connector use; nil means
	// the process's own.
	Stdin  io.Reader
	Stdout io.Writer
	// Hooks are told what happens in running queries.
	Hooks Hooks
}

// Clock tells processing time and wakes the coordinator. Tests give their own.
type Clock = job.Clock

// Hooks are functions that are called when something happens in a running query;
// any of them may be nil. They are called from the query's goroutines, must be
// quick, and must not call back into the query.
type Hooks = exec.Hooks

// Mark ends an epoch: Hooks are told of it.
type Mark = exec.Mark

// Node is an operator, source or sink of a running query: Hooks are told its ID and
// Name.
type Node = exec.Node

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("engine: Config."+format, args...))
		}
	}
	check(c.Parallelism >= 0 && c.Parallelism <= 256, "Parallelism is %d, want 0 to 256", c.Parallelism)
	check(c.BatchSize >= 0 && c.BatchSize <= 1<<20, "BatchSize is %d, want 0 to 1048576", c.BatchSize)
	check(c.FlushInterval >= 0, "FlushInterval is %v, want no negative time", c.FlushInterval)
	check(c.CheckpointInterval >= 0, "CheckpointInterval is %v, want no negative time", c.CheckpointInterval)
	check(c.StateMemory >= 0, "StateMemory is %d, want 0 or more", c.StateMemory)
	check(c.FlushRows >= 0, "FlushRows is %d, want 0 or more", c.FlushRows)
	problems = append(problems, c.UDF.Limits.Validate(), c.MaxLimits.Validate())
	for i, n := range c.Connectors {
		check(n != nil, "Connectors[%d] is nil", i)
	}
	for i, f := range c.Functions {
		check(f != nil, "Functions[%d] is nil", i)
	}
	return errors.Join(problems...)
}
