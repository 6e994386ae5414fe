package plan

import (
	"slices"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
)

// KeptVersions asks for the rows that a temporal table function has at a constant time.
type KeptVersions struct {
	Function *catalog.Function
	At       int64 // in milliseconds, as the event time of the history
	Schema   sqltype.Schema
	tables   []*catalog.Table // that the history reads
}

// keptVersions reads the versions of a function, at a constant time, from a query that runs
// and keeps them, if the history does not end and there is one; else it is nil.
func (b *binder) keptVersions(f *catalog.Function, v versioned, at expr.Expr, pos errs.Position) Node {
	if b.kept == nil || bounded(v.node) {
		return nil
	}
	to := v.node.Schema()[v.time].Type
	if to.Attr, to.NotNull = sqltype.NoTime, false; at.Type().ID != to.ID {
		at = &expr.Cast{Arg: at, T: to, At: pos}
	}
	lit, ok := simplifier{b.session.Options.TimeZone}.expr(at).(*expr.Literal)
	if !ok || lit.Value == nil {
		return nil
	}
	ms := milliseconds(lit)
	schema := slices.Clone(v.node.Schema())
	for i := range schema {
		schema[i].Type.Attr = sqltype.NoTime
	}
	src, job := b.kept(KeptVersions{Function: f, At: ms, Schema: schema, tables: tablesBelow(v.node, nil)})
	if src == nil {
		return nil
	}
	name := catalog.Identifier{Object: f.ID.Object}
	of := &connector.Table{Name: f.ID.Object, Schema: schema, Options: map[string]string{keptBy: job, "at": time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.999")}}
	t := &catalog.Table{ID: name, Temporary: true, Declaration: of}
	t.Watermark.Column = -1
	for _, c := range schema {
		t.Columns = append(t.Columns, catalog.Column{Name: c.Name, Type: c.Type})
	}
	return newScan(t, src, upTo(len(schema)), pos)
}

// keptBy is the option of what is read from a job that keeps versions: its name.
const keptBy = "job"

// keptText says which versions a scan reads, or is empty for a table.
func (n *Scan) keptText() []string {
	job, ok := n.Table.Declaration.Options[keptBy]
	if !ok || n.Table.Connector != nil {
		return nil
	}
	return []string{"versions of " + n.Table.ID.Object + " kept by job " + job + ", at " + n.Table.Declaration.Options["at"]}
}

// tablesBelow are the tables that n reads, in the order in which they stand.
func tablesBelow(n Node, tables []*catalog.Table) []*catalog.Table {
	if s, ok := n.(*Scan); ok {
		return append(tables, s.Table)
	}
	for _, in := range n.Inputs() {
		tables = tablesBelow(in, tables)
	}
	return tables
}

// Keeping is the join of a plan that keeps versions of what is asked for, or nil. Of
// several it is the one that keeps the most columns.
func (p *Plan) Keeping(v KeptVersions) *TemporalJoin {
	var found *TemporalJoin
	var walk func(n Node)
	walk = func(n Node) {
		j, ok := n.(*TemporalJoin)
		if ok && j.Function == v.Function && j.event() && slices.EqualFunc(tablesBelow(j.Right, nil), v.tables, sameTable) &&
			(found == nil || len(j.KeptColumns(v.Schema)) > len(found.KeptColumns(v.Schema))) {
			found = j
		}
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	for _, r := range p.Roots {
		walk(r)
	}
	return found
}

// KeptColumns are those of a schema that the join keeps of versions: by position, the
// columns of the right that they are.
func (n *TemporalJoin) KeptColumns(schema sqltype.Schema) map[int]int {
	at := len(n.Left.Schema())
	kept := append(slices.Clone(n.RightKeys), n.Version)
	reads := n.Output
	if n.Residual != nil {
		reads = union(reads, expr.Columns(n.Residual))
	}
	for _, c := range reads {
		if c >= at {
			kept = append(kept, c-at)
		}
	}
	out := map[int]int{}
	for i, c := range schema {
		if r := n.Right.Schema().Index(c.Name); slices.Contains(kept, r) && n.Right.Schema()[r].Type.Kind() == c.Type.Kind() {
			out[i] = r
		}
	}
	return out
}
