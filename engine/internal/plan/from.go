package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// from binds a FROM clause to a node and the names of its columns.
func (b *binder) from(t parse.TableExpr) (Node, *scope, error) {
	switch t := t.(type) {
	case nil:
		// SELECT without FROM is over one row without columns.
		return newValues(nil, [][]expr.Expr{{}}, errs.Position{}), &scope{}, nil
	case *parse.TableName:
		return b.tableName(t)
	case *parse.DerivedTable:
		if t.Lateral {
			return nil, nil, unsupported(t.At, "LATERAL is")
		}
		n, err := b.query(t.Query)
		if err != nil {
			return nil, nil, err
		}
		return b.named(n, tableRef{pos: t.At}, t.Alias)
	case *parse.TableFunction:
		if call, f := b.temporalCall(t); f != nil {
			return b.versionsAt(call, f)
		}
		name := strings.ToUpper(t.Call.Name.String())
		if kind, ok := windowKind(name); ok {
			return b.windowFunction(t, kind)
		}
		switch name {
		case snapshotName:
			return nil, nil, errs.New(errs.Invalid, t.At, "SNAPSHOT is for the rows of a left side, which there is none of").WithHint("write FROM t JOIN LATERAL TABLE(SNAPSHOT(..)) AS s ON ..")
		case "TO_CHANGELOG", "FROM_CHANGELOG":
			return b.changelogTable(t, name)
		}
		return nil, nil, b.tableFunction(t)
	case *parse.Unnest:
		return b.unnest(newValues(nil, [][]expr.Expr{{}}, t.At), &scope{}, t, false)
	case *parse.Join:
		return b.join(t)
	}
	panic(fmt.Sprintf("plan: table expression %T", t))
}

// tableFunction refuses table functions by name.
func (b *binder) tableFunction(t *parse.TableFunction) error {
	err := unsupported(t.At, "the table function %s is", t.Call.Name)
	known := []string{"TUMBLE", "HOP", "CUMULATE", "SESSION", "UNNEST", "SNAPSHOT", "TO_CHANGELOG", "FROM_CHANGELOG"}
	if hint := errs.DidYouMean(strings.ToUpper(t.Call.Name.String()), known); hint != "" {
		return err.WithHint("%s", hint)
	}
	return err
}

// named gives a node in FROM its alias and column names.
func (b *binder) named(n Node, ref tableRef, alias *parse.Alias) (Node, *scope, error) {
	if alias == nil {
		return n, scopeOf(ref, n.Schema()), nil
	}
	if !alias.Name.IsZero() {
		ref.name, ref.pos, ref.alias = alias.Name.Value, alias.Name.At, true
	}
	schema, err := rename(n.Schema(), alias.Columns, "alias "+ref.name)
	if err != nil {
		return nil, nil, err
	}
	return n, scopeOf(ref, schema), nil
}

// rename is the schema with new column names, when there are any.
func rename(schema sqltype.Schema, names []parse.Ident, what string) (sqltype.Schema, error) {
	if len(names) == 0 {
		return schema, nil
	}
	if len(names) != len(schema) {
		return nil, errs.New(errs.Invalid, names[0].At, "%s has %s for %s", what, count(len(names), "column name"), count(len(schema), "column")).
			WithHint("name all columns or none: %s", list(schema.Names()))
	}
	out := make(sqltype.Schema, len(schema))
	for i, c := range schema {
		out[i] = sqltype.Column{Name: names[i].Value, Type: c.Type}
	}
	return out, nil
}

func (b *binder) tableName(t *parse.TableName) (Node, *scope, error) {
	if t.AsOf != nil {
		return nil, nil, errs.New(errs.Invalid, t.AsOf.Pos(), "FOR SYSTEM_TIME AS OF says as of when a left row sees the right table of a join, and %s stands alone", t.Name).
			WithHint("write FROM o JOIN %s FOR SYSTEM_TIME AS OF o.rowtime AS r ON .., or, for one moment, make a temporal table function f and read FROM f(TIMESTAMP '..')", t.Name)
	}
	ref := tableRef{name: t.Name.Last().Value, pos: t.At}
	if len(t.Name) == 1 {
		for c := b.ctes; c != nil; c = c.outer {
			if c.cte.Name.Value == ref.name {
				n, err := b.cte(c)
				if err != nil {
					return nil, nil, err
				}
				return b.named(n, ref, t.Alias)
			}
		}
	}
	o, err := b.session.Lookup(t.Name)
	if err != nil {
		return nil, nil, b.cteHint(err, t.Name)
	}
	id := o.Identifier()
	ref.path = []string{id.Catalog, id.Database, id.Object}
	var n Node
	switch o := o.(type) {
	case *catalog.Table:
		n, err = b.scan(o, t)
	case *catalog.View:
		n, err = b.view(o, t)
	}
	if err != nil {
		return nil, nil, err
	}
	return b.named(n, ref, t.Alias)
}

// cteHint names a common table expression that is near an unknown table.
func (b *binder) cteHint(err error, name parse.Name) error {
	var names []string
	for c := b.ctes; c != nil; c = c.outer {
		names = append(names, c.cte.Name.Value)
	}
	var e *errs.Error
	if hint := errs.DidYouMean(name.Last().Value, names); hint != "" && errors.As(err, &e) {
		return e.WithHint("%s", hint)
	}
	return err
}

// cte binds the query of a common table expression, once for each mention.
func (b *binder) cte(c *cteScope) (Node, error) {
	inner := *b
	inner.ctes = c.outer
	n, err := inner.query(c.cte.Query)
	if err != nil {
		return nil, err
	}
	return renamed(n, c.cte.Columns, "WITH "+c.cte.Name.String())
}

// renamed is n with new column names, when there are any.
func renamed(n Node, names []parse.Ident, what string) (Node, error) {
	schema, err := rename(n.Schema(), names, what)
	if err != nil || len(names) == 0 {
		return n, err
	}
	return newCalc(n, nil, columns(n), schema.Names(), n.Pos()), nil
}

// view binds the query of a view, with the names of where it was created.
func (b *binder) view(v *catalog.View, t *parse.TableName) (Node, error) {
	if len(t.Hints) > 0 {
		return nil, errs.New(errs.Invalid, t.Hints[0].At, "%s is a view, which has no options", v.ID.Object)
	}
	for _, id := range b.views {
		if id == v.ID {
			return nil, errs.New(errs.Invalid, t.At, "the view %q reads itself", v.ID.Object)
		}
	}
	inner := binder{ctx: b.ctx, session: b.session.In(v.Catalog, v.Database), views: append(b.views[:len(b.views):len(b.views)], v.ID)}
	n, err := inner.query(v.Query)
	if err != nil {
		// Positions are those of the view's statement.
		var e *errs.Error
		if errors.As(err, &e) && e.Source == "" {
			return nil, e.In("view " + v.ID.Object)
		}
		return nil, err
	}
	names := v.Schema.Names()
	if len(names) != len(n.Schema()) {
		return nil, errs.New(errs.Invalid, t.At, "the view %q had %s when it was created, and has %d now", v.ID.Object, count(len(names), "column"), len(n.Schema())).
			WithHint("create it again")
	}
	return newCalc(n, nil, columns(n), names, n.Pos()), nil
}

// scan binds a table with a connector. Computed columns come from a Calc above.
func (b *binder) scan(t *catalog.Table, ref *parse.TableName) (Node, error) {
	pos := ref.At
	for _, h := range ref.Hints {
		if h.Name != "OPTIONS" {
			continue // hints that say how to execute are advice
		}
		var err error
		if t, err = b.session.WithOptions(b.ctx, t, h.Options); err != nil {
			return nil, err
		}
	}
	src, err := t.Source()
	if err != nil {
		return nil, placed(err, pos)
	}
	physical := len(t.Declaration.Schema)
	var n Node = newScan(t, src, upTo(physical), pos)
	upserts, what := src.Mode().Has(updateAfter) && !src.Mode().Has(updateBefore), "updates without the rows that they replace"
	if !upserts {
		what = "deletions that have only a key"
	}
	if upserts || src.Mode().DeletesByKey() {
		if len(t.Declaration.PrimaryKey) == 0 {
			return nil, errs.New(errs.Changelog, pos, "table %q has %s, and no key", t.ID.Object, what).
				WithHint("declare a PRIMARY KEY (..) NOT ENFORCED")
		}
		if n, err = b.withWatermark(n, t, false, pos); err != nil {
			return nil, err
		}
		n = newNormalize(n, t.Declaration.PrimaryKey)
	}
	if width := len(n.Schema()); len(t.Columns) > physical || width > physical {
		exprs, names := declared(t, n.Schema(), pos)
		if width > physical { // event time is there already
			exprs[t.Watermark.Column] = expr.NewColumn(n.Schema(), physical, pos)
		}
		n = newCalc(n, nil, exprs, names, pos)
	}
	if upserts || src.Mode().DeletesByKey() {
		return n, nil // below, on what was read
	}
	return b.withWatermark(n, t, true, pos)
}

// placed gives an error a position where it has none.
func placed(err error, pos errs.Position) error {
	var e *errs.Error
	if errors.As(err, &e) && !e.Pos.IsValid() && e.Source == "" {
		c := *e
		c.Pos = pos
		return &c
	}
	return err
}

// join binds a join or a comma. The condition is all residual: finding the keys is
// the business of the pass filters.
func (b *binder) join(j *parse.Join) (Node, *scope, error) {
	if t := asOf(j.Right); t != nil {
		return b.temporalJoin(j, t)
	}
	left, ls, err := b.from(j.Left)
	if err != nil {
		return nil, nil, err
	}
	return b.joinRight(left, ls, j)
}

// joinRight binds the right side of a join and its condition. left is the node of the
// left side, whose columns ls names.
func (b *binder) joinRight(left Node, ls *scope, j *parse.Join) (Node, *scope, error) {
	if call, f := b.temporalCall(j.Right); f != nil {
		return b.functionJoin(left, ls, j, call, f)
	}
	if t, ok := isSnapshot(j.Right); ok {
		return b.snapshotJoin(left, ls, j, t)
	}
	if dependent(j.Right, ls.domain != nil) {
		return b.lateralJoin(left, ls, j)
	}
	right, rs, err := b.from(j.Right)
	if err != nil {
		return nil, nil, err
	}
	if len(subqueries(j.On)) > 0 {
		return b.joinWithSubqueries(left, right, ls, rs, j)
	}
	return b.pair(left, right, ls, rs, j)
}

// pair is the join of two nodes.
func (b *binder) pair(left, right Node, ls, rs *scope, j *parse.Join) (Node, *scope, error) {
	both, err := ls.join(rs)
	if err != nil {
		return nil, nil, err
	}
	kind := InnerJoin
	switch j.Kind {
	case parse.LeftJoin:
		kind = LeftJoin
	case parse.RightJoin:
		kind = RightJoin
	case parse.FullJoin:
		kind = FullJoin
	}
	names := j.Using
	if j.Natural {
		names = common(ls, rs, j.At)
	}
	var cond expr.Expr
	if j.On != nil {
		x := &exprBinder{b: b, scope: both, clause: "ON"}
		if cond, err = x.condition(j.On); err != nil {
			return nil, nil, err
		}
		if kind != InnerJoin && !expr.Deterministic(cond) {
			return nil, nil, unsupported(j.On.Pos(), "a condition that gives another result each time, in %s, is", j.Kind).
				WithHint("compute it as a column of a subquery")
		}
	}
	if len(names) > 0 {
		if cond, err = using(names, ls, rs, both); err != nil {
			return nil, nil, err
		}
	}
	n := newJoin(kind, left, right, cond, j.At)
	b.hintJoin(n, j)
	findIntervalJoins(n, nil)
	for i := range both.fields {
		both.fields[i].typ = n.schema[i].Type
	}
	if len(names) > 0 {
		return b.merged(n, names, ls, both)
	}
	return n, both, nil
}

// common are the columns that both sides of a NATURAL JOIN have.
func common(ls, rs *scope, at errs.Position) []parse.Ident {
	var out []parse.Ident
	for _, f := range ls.fields {
		if !f.hidden && slices.ContainsFunc(rs.fields, func(r field) bool { return r.name == f.name && !r.hidden }) {
			out = append(out, parse.Ident{Place: parse.Place{At: at}, Value: f.name})
		}
	}
	return out
}

// using is the condition of JOIN ... USING.
func using(names []parse.Ident, ls, rs, both *scope) (expr.Expr, error) {
	var conds []expr.Expr
	for _, name := range names {
		l, err := ls.unqualified(name)
		if err != nil {
			return nil, err
		}
		r, err := rs.unqualified(name)
		if err != nil {
			return nil, err
		}
		eq, err := expr.Apply("=", name.At, both.column(l.Index, name.At), both.column(len(ls.fields)+r.Index, name.At))
		if err != nil {
			return nil, err
		}
		conds = append(conds, eq)
	}
	return expr.And(conds...), nil
}

// merged hides, of the columns of USING, those of the side that may be padded. In a
// full join the two become a third column.
func (b *binder) merged(n *Join, names []parse.Ident, ls, both *scope) (Node, *scope, error) {
	exprs, labels := columns(n), n.schema.Names()
	width := len(both.fields)
	for _, name := range names {
		var l, r int
		for i, f := range both.fields[:width] {
			switch {
			case f.name != name.Value || f.hidden:
			case i < len(ls.fields):
				l = i
			default:
				r = i
			}
		}
		both.fields[l].hidden = n.Kind.PadsLeft()
		both.fields[r].hidden = n.Kind != RightJoin
		switch n.Kind {
		case FullJoin:
			e, err := expr.Apply("COALESCE", name.At, both.column(l, name.At), both.column(r, name.At))
			if err != nil {
				return nil, nil, err
			}
			both.using = append(both.using, len(exprs))
			both.fields = append(both.fields, field{table: len(both.tables), name: name.Value, typ: e.Type()})
			exprs, labels = append(exprs, e), append(labels, name.Value)
		case RightJoin:
			both.using = append(both.using, r)
		default:
			both.using = append(both.using, l)
		}
	}
	if len(exprs) == width {
		return n, both, nil
	}
	both.tables = append(both.tables, tableRef{pos: n.at})
	return newCalc(n, nil, exprs, labels, n.at), both, nil
}
