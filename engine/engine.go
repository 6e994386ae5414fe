// Package engine runs SQL over changing tables: open an Engine, execute
// statements, read the Changelog of a Query.
package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/blackhole"
	"github.com/weirdb/weir/engine/connector/datagen"
	"github.com/weirdb/weir/engine/connector/filesystem"
	"github.com/weirdb/weir/engine/connector/mysql"
	"github.com/weirdb/weir/engine/connector/postgres"
	"github.com/weirdb/weir/engine/connector/print"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/format/csv"
	"github.com/weirdb/weir/engine/format/json"
	"github.com/weirdb/weir/engine/format/parquet"
	"github.com/weirdb/weir/engine/function"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/udf"
)

// Engine holds tables and views and runs statements over them. It is safe for
// concurrent use; statements that change its session (CREATE, SET, USE) take
// effect in the order in which they are executed.
type Engine struct {
	cfg Config

	mu      sync.Mutex // guards what follows
	session *catalog.Session
	log     *catalog.Log // nil without a state directory
	queries map[*Query]struct{}
	closed  bool
}

// Open returns an engine with the built-in connectors and the tables of its state
// directory. Queries end when ctx does, or with Close.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, errs.New(errs.Option, errs.Position{}, "%w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, errs.New(errs.Canceled, errs.Position{}, "the engine was not opened: %w", err)
	}
	files := filesystem.New(csv.Format{}, json.Format{}, parquet.Format{})
	files.Stdin, files.Stdout = cfg.Stdin, cfg.Stdout
	registry := connector.NewRegistry(
		files,
		datagen.Connector{},
		print.Connector{Out: cfg.Stdout},
		blackhole.Connector{},
		mysql.Connector{},
		postgres.Connector{},
	).With(cfg.Connectors...)
	known := catalog.New(registry).WithModules(catalog.NewModules(cfg.UDF, cfg.MaxLimits))
	e := &Engine{cfg: cfg, session: known.NewSession(), queries: make(map[*Query]struct{})}
	e.session.Options.Parallelism = cfg.Parallelism
	if cfg.BatchSize > 0 {
		e.session.Options.BatchSize = cfg.BatchSize
	}
	if cfg.FlushInterval > 0 {
		e.session.Options.FlushInterval = cfg.FlushInterval
	}
	if cfg.FlushRows > 0 {
		e.session.Options.FlushRows = cfg.FlushRows
	}
	e.session.Options.State.CheckpointInterval = cfg.CheckpointInterval
	e.session.Options.State.Memory = cfg.StateMemory
	e.session.Options.State.Savepoint = cfg.Savepoint
	for _, f := range cfg.Functions {
		if err := e.RegisterFunction(f); err != nil {
			return nil, err
		}
	}
	if err := e.restore(ctx); err != nil {
		return nil, errors.Join(err, known.Modules().Close())
	}
	context.AfterFunc(ctx, func() { _ = e.Close() })
	return e, nil
}

// Close cancels the queries that run and waits for them. What they have not
// committed is discarded: Stop those first that shall end in good order. Close may
// be called more than once.
func (e *Engine) Close() error {
	e.mu.Lock()
	log := e.log
	e.log, e.closed = nil, true
	var running []*Query
	for q := range e.queries {
		running = append(running, q)
	}
	e.mu.Unlock()
	for _, q := range running {
		q.Cancel()
	}
	for _, q := range running {
		q.job.end()
	}
	err := e.session.Catalog().Modules().Close()
	if log != nil {
		err = errors.Join(err, log.Close())
	}
	return err
}

// RegisterFunction makes a function that is written in Go callable from SQL, in the
// statements that are planned from now on: a *function.ScalarFunction or
// *function.AggregateFunction. Its name must not be registered yet; a built-in
// function of that name is hidden. Scalar functions of one name that differ in the types
// of their arguments are overloads.
func (e *Engine) RegisterFunction(f function.Function) error {
	return e.session.Catalog().Register(f)
}

// RegisterModule is RegisterFunction for the scalar functions of a WebAssembly module,
// by the names that its manifest gives them. name stands in errors. Limits that are zero
// are the manifest's, or those of Config.UDF.
func (e *Engine) RegisterModule(ctx context.Context, name string, wasm []byte, l udf.Limits) error {
	m, err := e.session.Catalog().Modules().Load(ctx, name, wasm, l)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return plan.RegisterModule(m, e.session)
}

// ExecuteSQL executes one statement, with or without a semicolon. It returns once
// the statement is done, or, when it is a query or an INSERT, once that runs: the
// query goes on until its inputs end, Stop or Cancel. Errors are *errs.Error with
// positions in sql.
func (e *Engine) ExecuteSQL(ctx context.Context, sql string) (*Query, error) {
	stmts, err := parse.Parse(sql)
	if err != nil {
		return nil, err
	}
	if len(stmts) != 1 {
		return nil, errs.New(errs.Syntax, errs.At(sql, 0), "want one statement, got %d", len(stmts)).
			WithHint("run scripts with ExecuteScript")
	}
	return e.execute(ctx, stmts[0])
}

// ExecuteScript executes the statements of a script in order. each is given every
// statement's Query; the next statement is executed when each has returned and the
// query has ended, unless it is still running because each only stopped reading.
// The first error, from a statement or from each, ends the script. The whole
// script is parsed before anything is executed.
func (e *Engine) ExecuteScript(ctx context.Context, sql string, each func(*Query) error) error {
	stmts, err := parse.Parse(sql)
	if err != nil {
		return err
	}
	for _, stmt := range stmts {
		q, err := e.execute(ctx, stmt)
		if err != nil {
			return err
		}
		if err := each(q); err != nil {
			q.Cancel()
			return err
		}
		if err := q.Wait(ctx); err != nil {
			q.Cancel()
			return err
		}
	}
	return nil
}
