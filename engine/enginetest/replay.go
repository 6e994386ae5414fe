package enginetest

import (
	"context"
	"slices"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/internal/ref"
	"github.com/weirdb/weir/vector"
)

// Arrival is a row that comes to a table, which Row has alone, or without one how far its
// event time is, in milliseconds.
type Arrival struct {
	Table     string
	Row       *vector.Batch
	Watermark int64
}

// Replay computes a query or INSERT by the textbook, of what came to tables one after the
// other: what it gives or, with of, what it writes to that table for late rows. exact says
// that there is no other result: rows, which are the caller's, are it.
func Replay(ctx context.Context, e *engine.Engine, sql, of string, all []Arrival, now time.Time) (rows *vector.Batch, exact bool, err error) {
	in := Input{Now: now}
	in.Changes = func(n *plan.Scan) (out []ref.Change, err error) {
		types := n.Table.Declaration.Schema.Types()
		for i, a := range all {
			if a.Row != nil && a.Table == n.Table.ID.Object {
				out = append(out, ref.Change{Row: ref.RowOf(types, a.Row, 0), Kind: a.Row.Kind(0), Came: i + 1})
			}
		}
		return out, nil
	}
	in.Tables = func(n *plan.Scan) ([]ref.Row, error) {
		changes, err := in.Changes(n)
		return content(n, changes), err
	}
	in.Told = func(n *plan.WatermarkAssigner) (out []ref.Told) {
		after := 0
		for _, a := range all {
			switch {
			case a.Table != n.Table.ID.Object:
			case a.Row != nil:
				after++
			default:
				out = append(out, ref.Told{After: after, Time: a.Watermark})
			}
		}
		return out
	}
	p, err := e.Plan(ctx, sql, of == "") // late rows go out when it is known what refuses them
	if err != nil {
		return nil, false, err
	}
	results, err := ref.Evaluate(p, in)
	if err != nil {
		return nil, false, err
	}
	if of != "" {
		results = written(p, of, results)
	}
	types := results[0].Schema.Types()
	b := vector.NewBuilder(vector.NewPool(), results[0].Schema.Kinds())
	exact = true
	for _, r := range results {
		exact = exact && r.Rule == ref.Exactly
		for _, row := range r.Rows {
			for i, v := range row {
				ref.Append(b.Col(i), types[i], v)
			}
			b.EndRow(vector.Insert)
		}
	}
	return b.Finish(), exact, nil
}

// written are the results that go to a table: rows can be late for several operators.
func written(p *plan.Plan, table string, results []ref.Result) (out []ref.Result) {
	for i, root := range p.Roots {
		if sink, ok := root.(*plan.Sink); ok && sink.Table.ID.Object == table {
			out = append(out, results[i])
		}
	}
	return out
}

// content is what changes of a table come to: by its key, if it has one.
func content(n *plan.Scan, changes []ref.Change) []ref.Row {
	types, cols := n.Table.Declaration.Schema.Types(), n.Table.Declaration.PrimaryKey
	insertOnly := n.Source != nil && n.Source.Mode().InsertOnly()
	key := func(r ref.Row) string {
		if len(cols) == 0 {
			return ref.Key(types, r)
		}
		var part ref.Row
		for _, c := range cols {
			part = append(part, r[c])
		}
		return ref.Key(n.Table.Declaration.Schema.Project(cols).Types(), part)
	}
	var rows []ref.Row
	for _, c := range changes {
		if !insertOnly && (len(cols) > 0 || !c.Kind.Adds()) {
			k := key(c.Row)
			if at := slices.IndexFunc(rows, func(r ref.Row) bool { return key(r) == k }); at >= 0 {
				rows = slices.Delete(rows, at, at+1)
			}
		}
		if c.Kind.Adds() {
			rows = append(rows, c.Row)
		}
	}
	return rows
}
