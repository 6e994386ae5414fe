package engine

import (
	"context"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/internal/plan"
)

// Table is a table or view of an engine, from which a program makes other things.
type Table struct {
	engine *Engine
	name   parse.Name
}

// Table finds a table or view by its name, written as in SQL: t, db.t or catalog.db.t.
func (e *Engine) Table(name string) (*Table, error) {
	stmts, err := parse.Parse("DESCRIBE " + name)
	if err != nil {
		return nil, errs.New(errs.Invalid, errs.Position{}, "%q is no name of a table: %w", name, err)
	}
	d, ok := stmts[0].(*parse.Describe)
	if !ok || len(stmts) > 1 {
		return nil, errs.New(errs.Invalid, errs.Position{}, "%q is no name of a table", name)
	}
	for i := range d.Name {
		d.Name[i].At = errs.Position{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := e.session.Lookup(d.Name); err != nil {
		return nil, err
	}
	return &Table{engine: e, name: d.Name}, nil
}

// TemporalTableFunction gives the rows that a table had at a time: of the rows with one
// key the last up to then.
type TemporalTableFunction struct {
	engine   *Engine
	temporal *catalog.TemporalFunction
}

// CreateTemporalTableFunction makes a function of a history: a table whose rows are only
// added, each of which holds from time on until the next one with its key does. time is a
// column that is event time or processing time, and key are the columns that the versions
// of one thing have in common. Engine.RegisterTemporalTableFunction gives it a name.
func (t *Table) CreateTemporalTableFunction(time string, key ...string) (*TemporalTableFunction, error) {
	stmt := &parse.CreateTemporalFunction{
		Temporary: true, Name: parse.Name{{Value: "f"}}, Table: t.name, Time: parse.Ident{Value: time},
	}
	for _, k := range key {
		stmt.Key = append(stmt.Key, parse.Ident{Value: k})
	}
	if len(key) == 0 {
		return nil, errs.New(errs.Invalid, errs.Position{}, "a temporal table function needs key columns").
			WithHint("name the columns that the versions of one thing have in common")
	}
	e := t.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	f, err := plan.DefineTemporalFunction(context.Background(), stmt, e.session)
	if err != nil {
		return nil, err
	}
	return &TemporalTableFunction{engine: e, temporal: f.Temporal}, nil
}

// RegisterTemporalTableFunction makes f callable from SQL by a name, in the statements
// that are planned from now on: LATERAL TABLE(name(o.rowtime)), or name(TIMESTAMP '..').
// The name must not be registered yet.
func (e *Engine) RegisterTemporalTableFunction(name string, f *TemporalTableFunction) error {
	if f.engine != e {
		return errs.New(errs.Invalid, errs.Position{}, "the temporal table function %s reads a table of another engine", name)
	}
	return e.session.Catalog().RegisterAs(&catalog.Function{ID: catalog.Identifier{Object: name}, Temporal: f.temporal})
}
