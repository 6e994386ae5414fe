// Package enginetest is the test door to the engine: it runs a query on one
// goroutine in an order that a seed decides, on stores that keep nothing in memory
// between two calls and with pools that find leaks and reads of freed memory. And
// it computes queries by the textbook.
package enginetest

import (
	"context"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/internal/ref"
)

// Schedule says in which order the parts of a query go on. Its Graph is set by Run.
type Schedule = exectest.Schedule

// Faults are bugs to be put in on purpose.
type Faults = exec.Faults

// Row is a row of plain Go values, as package ref describes it.
type Row = ref.Row

// Input is what the reference computes a query from.
type Input = ref.Input

// Result is what a query comes to by the textbook. Its Rule says whether it is the only
// right one, and otherwise how to tell one.
type Result = ref.Result

// Reference computes a query or INSERT in e by the textbook, from the rows that its
// tables have after all their changes and the time that the clock shows. It shares the
// parser and the binder with the engine, and the functions that users wrote, nothing
// else. An error of code errs.Unsupported says that it cannot.
func Reference(ctx context.Context, e *engine.Engine, sql string, in Input) (Result, error) {
	p, err := e.Plan(ctx, sql, true)
	if err != nil {
		return Result{}, err
	}
	return evaluate(p, in)
}

// Optimized is Reference of what the planner has made of the query. When it differs
// from Reference, the planner is wrong; when it does not, an operator is.
func Optimized(ctx context.Context, e *engine.Engine, sql string, in Input) (Result, error) {
	p, err := e.Plan(ctx, sql, false)
	if err != nil {
		return Result{}, err
	}
	return evaluate(p, in)
}

func evaluate(p *plan.Plan, in Input) (Result, error) {
	all, err := ref.Evaluate(p, in)
	if err != nil {
		return Result{}, err
	}
	return all[0], nil
}

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
