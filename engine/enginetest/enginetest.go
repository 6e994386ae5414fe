// Package enginetest is the test door to the engine: it runs a query on one
// goroutine in an order that a seed decides, on stores that keep nothing in memory
// between two calls and with pools that find leaks and reads of freed memory.
package enginetest

import (
	"context"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
)

// Schedule says in which order the parts of a query go on. Its Graph is set by Run.
type Schedule = exectest.Schedule

// Faults are bugs to be put in on purpose.
type Faults = exec.Faults

// Run plans a query or INSERT in e and runs it until its sources have ended. The
// rows of a query go to collect, which may be nil for an INSERT.
func Run(ctx context.Context, e *engine.Engine, sql string, collect connector.Sink, s Schedule) error {
	g, err := e.Graph(ctx, sql, collect)
	if err != nil {
		return err
	}
	s.Graph = g
	return s.Run()
}
