package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/internal/plan"
)

// restore executes the statements that the state directory has, and keeps those that
// follow there.
func (e *Engine) restore(ctx context.Context) error {
	if e.cfg.StateDir == "" {
		return nil
	}
	log, records, err := catalog.OpenLog(e.cfg.StateDir)
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := e.restoreRecord(ctx, r); err != nil {
			return errors.Join(errs.New(errs.CodeOf(err), errs.Position{}, "the catalog of %s cannot be restored: %w", e.cfg.StateDir, err).
				WithHint("the statement was %s; the engine needs the connectors and functions that it had", r.SQL), log.Close())
		}
	}
	e.log = log
	e.session.Catalog().Persist(log, statementOf)
	return nil
}

// restoreRecord executes the statements of a change again.
func (e *Engine) restoreRecord(ctx context.Context, r catalog.Record) error {
	stmts, err := parse.Parse(r.SQL)
	if err != nil {
		return err
	}
	s := e.session
	if r.Database != "" {
		s = s.In(r.Catalog, r.Database)
	}
	for _, stmt := range stmts {
		if f, ok := stmt.(*parse.CreateFunction); ok {
			if err := plan.RestoreFunction(ctx, f, s); err != nil {
				return err
			}
			continue
		}
		if _, known, err := define(ctx, stmt, s); err != nil {
			return err
		} else if !known {
			return errs.New(errs.State, errs.Position{}, "a catalog is not made by such a statement")
		}
	}
	return nil
}

// statementOf is a statement that makes an object.
func statementOf(o catalog.Object) string {
	switch o := o.(type) {
	case *catalog.Table:
		return createTable(o)
	case *catalog.View:
		return createView(o)
	case *catalog.Function:
		return createFunction(o, true)
	}
	panic(fmt.Sprintf("engine: no statement makes a %s", o.What()))
}

// define executes a statement that changes the catalog, and says what it is called;
// known is false for other statements.
func define(ctx context.Context, stmt parse.Statement, s *catalog.Session) (what string, known bool, err error) {
	switch stmt := stmt.(type) {
	case *parse.CreateTable:
		return "CREATE TABLE", true, plan.CreateTable(ctx, stmt, s)
	case *parse.CreateView:
		return "CREATE VIEW", true, createViewOf(ctx, stmt, s)
	case *parse.CreateFunction:
		return "CREATE FUNCTION", true, plan.CreateFunction(ctx, stmt, s)
	case *parse.CreateTemporalFunction:
		return "CREATE TEMPORAL TABLE FUNCTION", true, plan.CreateTemporalFunction(ctx, stmt, s)
	case *parse.CreateDatabase:
		return "CREATE DATABASE", true, s.CreateDatabase(stmt)
	case *parse.CreateCatalog:
		return "CREATE CATALOG", true, s.CreateCatalog(stmt)
	case *parse.Alter:
		return fmt.Sprintf("ALTER %s", stmt.Kind), true, plan.AlterTable(ctx, stmt, s)
	case *parse.Drop:
		return fmt.Sprintf("DROP %s", stmt.Kind), true, s.Drop(stmt)
	}
	return "", false, nil
}

// createViewOf executes CREATE VIEW. A view that outlives the engine reads nothing that
// does not.
func createViewOf(ctx context.Context, stmt *parse.CreateView, s *catalog.Session) error {
	if !stmt.Temporary && s.Catalog().IsDurable() {
		if _, err := plan.DefineView(ctx, stmt, s.Permanent()); err != nil {
			if _, found := plan.DefineView(ctx, stmt, s); found == nil {
				return errs.New(errs.Invalid, stmt.Name.Pos(), "view %q is kept in the state directory, but reads a temporary table or view, or calls a temporary function", stmt.Name.Last().Value).
					WithHint("CREATE TEMPORARY VIEW, or create permanently what it reads")
			}
			return err
		}
	}
	return plan.CreateView(ctx, stmt, s)
}
