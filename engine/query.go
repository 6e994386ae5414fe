package engine

import (
	"context"

	"github.com/weirdb/weir/engine/internal/job"
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
	job       *running
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
// sinks commit. No time passes, so no window fires. When ctx ends first the query
// goes on stopping. The Changelog has to be read meanwhile.
func (q *Query) Stop(ctx context.Context) error {
	if q.job == nil {
		return nil
	}
	return q.job.Stop(ctx)
}

// Cancel ends the query at once; sinks discard what they have not committed. It
// does not wait.
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
