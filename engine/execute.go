package engine

import (
	"context"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/job"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/internal/plan"
)

// execute runs one statement. The session is locked while it is planned, not
// while its query runs.
func (e *Engine) execute(ctx context.Context, stmt parse.Statement) (*Query, error) {
	if control, ok := stmt.(*parse.JobControl); ok {
		return e.controlJob(ctx, control)
	}
	if x, ok := stmt.(*parse.Explain); ok && x.Mode&parse.ExplainAnalyze != 0 {
		return e.analyze(ctx, x)
	}
	if create, ok := stmt.(*parse.CreateFunction); ok {
		if m := plan.LoadModule(ctx, create, e.session); m != nil {
			defer func() { _ = m.Close() }() // after the unlocking below
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errs.New(errs.Canceled, errs.Position{}, "the engine is closed")
	}
	s := e.session
	switch stmt := stmt.(type) {
	case *parse.Query:
		return e.start(ctx, "SELECT", stmt)
	case *parse.Insert:
		return e.start(ctx, "INSERT", stmt)
	case *parse.StatementSet:
		return e.start(ctx, "STATEMENT SET", stmt)
	case *parse.CreateTable:
		return e.createTable(ctx, stmt)
	case *parse.Use:
		return done("USE", s.Use(stmt))
	case *parse.Set:
		if stmt.Option.Key == "" {
			return e.showOptions(), nil
		}
		return done("SET", s.Options.Set(stmt.Option))
	case *parse.Reset:
		return done("RESET", s.Options.Reset(stmt.Key, stmt.KeyAt))
	case *parse.Show:
		return e.show(stmt)
	case *parse.Describe:
		return e.describe(stmt)
	case *parse.Explain:
		return e.explain(ctx, stmt)
	}
	if what, known, err := define(ctx, stmt, s); known {
		return done(what, err)
	}
	return nil, errs.New(errs.Unsupported, stmt.Pos(), "this statement is understood but not executed yet").
		WithHint("CREATE, ALTER TABLE, DROP, USE, SET, RESET, SHOW, DESCRIBE, EXPLAIN, INSERT and queries are")
}

// done is a statement that is over when it has been executed.
func done(statement string, err error) (*Query, error) {
	if err != nil {
		return nil, err
	}
	return &Query{statement: statement}, nil
}

// createTable executes CREATE TABLE, and the INSERT that CREATE TABLE .. AS is too.
func (e *Engine) createTable(ctx context.Context, stmt *parse.CreateTable) (*Query, error) {
	id, err := e.session.Qualify(stmt.Name)
	if err != nil {
		return nil, err
	}
	there := stmt.IfNotExists && e.session.Exists(id)
	if err := plan.CreateTable(ctx, stmt, e.session); err != nil || stmt.As == nil || there {
		return done("CREATE TABLE", err)
	}
	return e.start(ctx, "CREATE TABLE AS", &parse.Insert{Source: stmt.Source, Table: stmt.Name, Query: stmt.As})
}

// start plans a statement and runs it.
func (e *Engine) start(ctx context.Context, statement string, stmt sqlText) (*Query, error) {
	p, err := plan.Build(ctx, stmt, e.session, plan.Options{Kept: e.kept})
	if err != nil {
		return nil, err
	}
	q := &Query{statement: statement, name: e.jobName(p, stmt)}
	for _, root := range p.Roots {
		if sink, ok := root.(*plan.Sink); ok {
			q.targets = append(q.targets, target(sink))
		}
	}
	var collect connector.Sink
	if root, ok := p.Roots[0].(*plan.Collect); ok {
		q.schema, q.mode = root.Schema(), root.Traits().Mode
		out := channel.NewOutput(q.schema, q.mode)
		q.log = &Changelog{from: out, query: q}
		collect = out
	}
	graph, err := job.Compile(p, collect)
	if err != nil {
		return nil, err
	}
	o := e.session.Options
	durable := e.durable(p, q.name, stmt)
	q.durable = durable.Dir != ""
	// The query outlives the call that starts it: ctx bounds the planning only.
	j, err := job.Start(context.WithoutCancel(ctx), graph, job.Config{
		Parallelism:   o.Parallelism,
		BatchSize:     o.BatchSize,
		FlushInterval: o.FlushInterval,
		FlushRows:     o.FlushRows,
		Clock:         e.cfg.Clock,
		Hooks:         e.cfg.Hooks,

		CheckpointInterval: o.State.CheckpointInterval,
		Durable:            durable,
	})
	if err != nil {
		return nil, err
	}
	q.job, q.plan, q.bounded = &running{j}, p, p.Bounded()
	past := j.Recovery()
	q.notices = notices(q.name, durable.Dir, past)
	if out, ok := collect.(*channel.Output); ok && past.Complete {
		out.End(nil)
	}
	e.queries[q] = struct{}{}
	go func() {
		_ = j.Wait() // the owner of the query sees the error
		e.mu.Lock()
		delete(e.queries, q)
		e.mu.Unlock()
	}()
	return q, nil
}

func target(s *plan.Sink) string {
	name := s.Table.ID.Object
	if path, ok := s.Table.Declaration.Options["path"]; ok {
		name += " (" + path + ")"
	}
	return name
}

// Graph plans a query or INSERT and returns what would run, for package enginetest.
// The rows of a query go to collect.
func (e *Engine) Graph(ctx context.Context, sql string, collect connector.Sink) (*exec.Graph, error) {
	stmts, err := parse.Parse(sql)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	p, err := plan.Build(ctx, stmts[0], e.session, plan.Options{})
	if err != nil {
		return nil, err
	}
	return job.Compile(p, collect)
}

// Plan binds a query or INSERT, and makes the plan that would run of it unless only
// what it means is wanted, for package enginetest.
func (e *Engine) Plan(ctx context.Context, sql string, bound bool) (*plan.Plan, error) {
	stmts, err := parse.Parse(sql)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if bound {
		return plan.Bind(ctx, stmts[0], e.session)
	}
	return plan.Build(ctx, stmts[0], e.session, plan.Options{})
}
