// Package plan turns statements into operator trees: it binds names, rewrites,
// works out which changes flow on every edge, and explains the result.
//
// Build runs the passes in order, each once, each in a file of its own: bind,
// simplify, filters, late tables, columns, windows, calls, lookups, scans, upserts, late rows, exchanges, changelog, sinks, retention, share, updates,
// determinism, ids.
package plan

import (
	"context"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/parse"
)

// Plan is what a job is built from. Nodes that several others read are shared; there
// are no circles.
type Plan struct {
	// Roots are *Collect for a query, or one *Sink for each INSERT.
	Roots []Node
}

// Options change how Build works.
type Options struct {
	// Trace is called after every pass with the forest so far, or is nil.
	Trace func(pass string, roots []Node)
	// Kept has the versions of a temporal table function at a constant time, where a job
	// that runs keeps them, and the job's name; it returns nil where none does. Without it
	// they are found in the history.
	Kept func(KeptVersions) (src connector.Source, job string)
}

// Build plans a *parse.Query, *parse.Insert or *parse.StatementSet. ctx bounds
// what connectors are asked meanwhile.
func Build(ctx context.Context, stmt parse.Statement, s *catalog.Session, opt Options) (*Plan, error) {
	least, most, err := s.Options.Retention.Between()
	if err != nil {
		return nil, placed(err, stmt.Pos())
	}
	roots, err := bind(ctx, stmt, s, opt)
	if err != nil {
		return nil, err
	}
	trace := func(pass string) {
		if opt.Trace != nil {
			opt.Trace(pass, roots)
		}
	}
	trace("bind")
	for _, pass := range []struct {
		name string
		run  func(roots []Node) error
	}{
		{"simplify", each(simplify(s.Options.TimeZone))},
		{"filters", each(pushFilters)},
		{"late tables", (&binder{ctx: ctx, session: s}).routeLateRows},
		{"columns", each(pushColumns)},
		{"windows", each(fuseWindows)},
		{"calls", each(shareCalls)},
		{"lookups", each(lookups)},
		{"scans", whole(shareScans, s.Options.ReuseSubPlan)},
		{"upserts", passUpserts(s.Options.UpsertMaterialize)},
		{"late rows", func([]Node) error {
			late, err := lateSinks(roots)
			roots = append(roots, late...)
			return err
		}},
		{"exchanges", each(placeExchanges)},
		{"changelog", deriveChangelog},
		{"sinks", each(planSinks(s.Options.UpsertMaterialize))},
		{"retention", each(keepState(Retention{least, most}))},
		{"share", whole(share, s.Options.ReuseSubPlan)},
		{"updates", dropUpdateBefore},
		{"determinism", checkDeterminism},
		{"ids", whole(assignIDs, true)},
	} {
		if err := pass.run(roots); err != nil {
			return nil, err
		}
		trace(pass.name)
	}
	return &Plan{Roots: roots}, nil
}

// each is a pass that takes the trees of a forest one by one.
func each(run func(Node) (Node, error)) func([]Node) error {
	return func(roots []Node) (err error) {
		for i, r := range roots {
			if roots[i], err = run(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// whole is a pass that takes all at once, if it is wanted.
func whole(run func([]Node), wanted bool) func([]Node) error {
	return func(roots []Node) error {
		if wanted {
			run(roots)
		}
		return nil
	}
}

// Bind is the first pass alone: the plan that says what the statement means, before
// anything is done to run it. Its nodes have no traits.
func Bind(ctx context.Context, stmt parse.Statement, s *catalog.Session) (*Plan, error) {
	roots, err := bind(ctx, stmt, s, Options{})
	if err != nil {
		return nil, err
	}
	return &Plan{Roots: roots}, nil
}

// bind is the first pass: names become columns, syntax becomes nodes.
func bind(ctx context.Context, stmt parse.Statement, s *catalog.Session, opt Options) ([]Node, error) {
	roots, err := bindNames(ctx, stmt, s, opt)
	if err != nil {
		return nil, err
	}
	for i, r := range roots {
		roots[i] = settleIntervals(r)
	}
	findWindowJoins(roots)
	return roots, carryWatermarks(roots)
}

func bindNames(ctx context.Context, stmt parse.Statement, s *catalog.Session, opt Options) ([]Node, error) {
	b := &binder{ctx: ctx, session: s}
	switch stmt := stmt.(type) {
	case *parse.Query:
		b.kept = opt.Kept
		n, err := b.result(stmt)
		return []Node{n}, err
	case *parse.Insert:
		n, err := b.insert(stmt)
		return []Node{n}, err
	case *parse.StatementSet:
		var roots []Node
		for _, ins := range stmt.Inserts {
			n, err := b.insert(ins)
			if err != nil {
				return nil, err
			}
			roots = append(roots, n)
		}
		return roots, nil
	}
	return nil, errs.New(errs.Unsupported, stmt.Pos(), "this statement has no plan").
		WithHint("a query, INSERT or STATEMENT SET has one")
}
