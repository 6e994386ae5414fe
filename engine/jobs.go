package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/parse"
)

// controlJob executes STOP JOB and SAVEPOINT. Other statements go on meanwhile.
func (e *Engine) controlJob(ctx context.Context, stmt *parse.JobControl) (*Query, error) {
	if len(stmt.Options) > 0 {
		return nil, errs.New(errs.Unsupported, stmt.Options[0].At, "%s takes no options", stmt.Action)
	}
	if stmt.Action == parse.StartJob {
		path := cmp.Or(stmt.Path, "folder")
		return nil, errs.New(errs.Unsupported, stmt.At, "START JOB is not supported: a job is started by its statement").
			WithHint("SET 'pipeline.name' = '%s' and execute its INSERT again: it goes on from its last checkpoint; to begin with a savepoint, SET 'execution.savepoint.path' = '%s' before", stmt.Job, path)
	}
	q, err := e.findJob(stmt.Job, stmt.JobAt)
	if err != nil {
		return nil, err
	}
	if stmt.Action == parse.StopJob && !stmt.Savepoint {
		if stmt.Drain {
			return done("STOP JOB", q.Drain(ctx))
		}
		return done("STOP JOB", q.Stop(ctx))
	}
	if stmt.Drain {
		return nil, errs.New(errs.Unsupported, stmt.At, "a savepoint of a job that is drained is of no use: nothing is left to go on with").
			WithHint("leave out one of WITH SAVEPOINT and WITH DRAIN")
	}
	dir := stmt.Path
	if dir == "" {
		if dir, err = e.savepointFolder(stmt.Job); err != nil {
			return nil, err
		}
	}
	statement := "SAVEPOINT"
	if stmt.Action == parse.StopJob {
		statement, err = "STOP JOB", q.StopWithSavepoint(ctx, dir)
	} else {
		err = q.Savepoint(ctx, dir)
	}
	if err != nil {
		return nil, err
	}
	return list(statement, []string{"savepoint path"}, [][]string{{dir}}), nil
}

// findJob finds a running query by its job's name.
func (e *Engine) findJob(name string, at errs.Position) (*Query, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var names []string
	for q := range e.queries {
		if q.name == name {
			return q, nil
		}
		names = append(names, q.name)
	}
	err := errs.New(errs.NotFound, at, "no job %q is running", name)
	if hint := errs.DidYouMean(name, names); hint != "" {
		return nil, err.WithHint("%s", hint)
	}
	return nil, err.WithHint("SHOW JOBS lists those that are")
}

// showJobs executes SHOW JOBS.
func (e *Engine) showJobs() *Query {
	var rows [][]string
	for q := range e.queries {
		rows = append(rows, []string{q.name, q.statement, yes(q.durable)})
	}
	slices.SortFunc(rows, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return list("SHOW", []string{"job name", "statement", "keeps its state"}, rows)
}
