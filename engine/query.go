package engine

import (
	"context"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/job"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

// Query is a statement that was executed: for a SELECT or INSERT a running job,
// else something that is done. Its methods may be called from any goroutine.
type Query struct {
	statement string
	schema    sqltype.Schema
	mode      sqltype.ChangelogMode
	log       *Changelog
	targets   []string
	name      string // of the job
	durable   bool   // its state is kept
	notices   []string
	job       *running
	plan      *plan.Plan
	bounded   bool // its inputs end
}

// running is a query's job, or a nil pointer for a statement without one.
type running struct{ *job.Job }

// end waits for the job.
func (r *running) end() error {
	if r == nil {
		return nil
	}
	return r.Job.Wait()
}

// Statement is the statement's kind: "SELECT", "INSERT", "CREATE TABLE", ...
func (q *Query) Statement() string { return q.statement }

// Schema has the columns of the Changelog, or is nil without one.
func (q *Query) Schema() sqltype.Schema { return q.schema }

// Mode is the set of row kinds that the Changelog may carry.
func (q *Query) Mode() sqltype.ChangelogMode { return q.mode }

// Changelog has the rows of SELECT, SHOW, DESCRIBE and EXPLAIN. It is nil for
// statements without rows. There is one: every call returns the same.
func (q *Query) Changelog() *Changelog { return q.log }

// Targets says where an INSERT writes, one entry for each: the table's name, and the
// path when it is a file.
func (q *Query) Targets() []string { return q.targets }

// Job is the name of the query's job, or "" when there is none: 'pipeline.name', or one
// that is made from the statement. Under this name its state is kept, and STOP JOB and
// SAVEPOINT know it.
func (q *Query) Job() string { return q.name }

// Durable reports whether the query's state outlives it, in the state directory.
func (q *Query) Durable() bool { return q.durable }

// Complete reports whether the query had ended before, in a run whose state was kept: it
// was not run again.
func (q *Query) Complete() bool { return q.job != nil && q.job.Recovery().Complete }

// Notices say what one should know of how the query was started: from which checkpoint
// it goes on, and what is lost by that.
func (q *Query) Notices() []string { return q.notices }

// Wait returns when the query has ended: nil after its inputs ended or it was
// stopped, else the error that ended it. It returns ctx's error when that ends
// first; the query goes on.
func (q *Query) Wait(ctx context.Context) error {
	if q.job == nil {
		return nil
	}
	select {
	case <-q.job.Done():
		return q.job.end()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Stop ends the query in good order: sources stop, what was read is processed,
// sinks commit. No time passes, so no window fires. A query whose state is kept goes on
// from there when it is started again; to its sinks this is a checkpoint like any other,
// so what is shown only in the end, as a single file, is not shown: see Drain. When ctx
// ends first the query goes on stopping. The Changelog has to be read meanwhile.
func (q *Query) Stop(ctx context.Context) error {
	if q.job == nil {
		return nil
	}
	return q.job.Stop(ctx)
}

// Drain is Stop for good, as if all inputs had ended: what waits for time fires, sinks
// complete what they show, and there is nothing to go on with.
func (q *Query) Drain(ctx context.Context) error {
	if q.job == nil {
		return nil
	}
	return q.job.Drain(ctx)
}

// Savepoint copies the query's state to a new folder, as it is when all that was read
// so far is visible, and the query goes on. A query begins with a savepoint when
// 'execution.savepoint.path' is set to the folder, at any parallelism.
func (q *Query) Savepoint(ctx context.Context, dir string) error {
	if q.job == nil {
		return errs.New(errs.Invalid, errs.Position{}, "%s is no query that runs: there is nothing to save", q.statement)
	}
	return q.job.Savepoint(ctx, dir)
}

// StopWithSavepoint is Stop, with a savepoint of what the query ends with.
func (q *Query) StopWithSavepoint(ctx context.Context, dir string) error {
	if q.job == nil {
		return errs.New(errs.Invalid, errs.Position{}, "%s is no query that runs: there is nothing to save", q.statement)
	}
	return q.job.StopWithSavepoint(ctx, dir)
}

// Cancel ends the query at once; sinks discard what they have not committed. It
// does not wait. If its state is kept it goes on from the last checkpoint when it is
// started again.
func (q *Query) Cancel() {
	if q.job != nil {
		q.job.Cancel()
	}
}

// Sync returns when the rows that sources had at hand when it was called are
// visible at the query's sinks or in what the Changelog has handed out. The
// Changelog has to be read meanwhile.
func (q *Query) Sync(ctx context.Context) error {
	if q.job == nil {
		return nil
	}
	return q.job.Sync(ctx)
}
