package plan

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// insert binds INSERT INTO. The query's columns are matched by position.
func (b *binder) insert(ins *parse.Insert) (Node, error) {
	switch {
	case ins.Overwrite:
		return nil, unsupported(ins.At, "INSERT OVERWRITE is")
	case len(ins.Partition) > 0:
		return nil, unsupported(ins.Partition[0].At, "INSERT .. PARTITION is").WithHint("select the value as a column")
	}
	table, err := b.target(ins)
	if err != nil {
		return nil, err
	}
	if m := table.Declaration.Metadata; len(m) > 0 {
		return nil, unsupported(ins.Table.Pos(), "writing a table with METADATA columns (%s) is", table.Declaration.Schema[m[0].Column].Name).
			WithHint("declare another table for it without them")
	}
	target, err := table.Sink()
	if err != nil {
		return nil, placed(err, ins.Table.Pos())
	}
	in, err := b.complete(ins.Query, true)
	if err != nil {
		return nil, err
	}
	cols, err := insertColumns(ins, table)
	if err != nil {
		return nil, err
	}
	if in, err = b.fit(ins, table, in, cols); err != nil {
		return nil, err
	}
	n := &Sink{Table: table, Target: target, Keys: table.Declaration.PrimaryKey}
	n.Input, n.schema, n.at = in, table.Declaration.Schema, ins.Table.Pos()
	n.conflict = ins.OnConflict
	if n.conflict != parse.ConflictDefault && len(n.Keys) == 0 {
		return nil, errs.New(errs.Invalid, ins.ConflictAt, "ON CONFLICT needs a key, and table %q has none", table.ID.Object).WithHint("declare PRIMARY KEY (..) NOT ENFORCED in the table")
	}
	for i, c := range n.schema {
		if c.Type.NotNull && !in.Schema()[i].Type.NotNull {
			n.NotNull = append(n.NotNull, i)
		}
	}
	b.options(n)
	return n, nil
}

// options are those of the session that say how a sink writes.
func (b *binder) options(n *Sink) {
	n.DropNull, n.StrictLength = b.session.Options.NotNullEnforcer == "drop", b.session.Options.LengthEnforcer == "error"
	n.Collections = b.session.Options.NestedEnforcer == "rows_and_collections"
	for i, c := range n.schema {
		if b.session.Options.NestedEnforcer != "ignore" && (c.Type.ID == sqltype.Row || c.Type.ID == sqltype.Array || c.Type.ID == sqltype.Map) {
			n.Nested = append(n.Nested, i)
		}
		if lengthMatters(c.Type) && b.session.Options.LengthEnforcer != "ignore" {
			n.Lengths = append(n.Lengths, i)
		}
	}
}

func (b *binder) target(ins *parse.Insert) (*catalog.Table, error) {
	o, err := b.session.Lookup(ins.Table)
	if err != nil {
		return nil, err
	}
	t, ok := o.(*catalog.Table)
	if !ok {
		return nil, errs.New(errs.Invalid, ins.Table.Pos(), "%q is a view, and cannot be written", o.Identifier().Object).
			WithHint("insert into a table")
	}
	for _, h := range ins.Hints {
		if h.Name == "OPTIONS" {
			if t, err = b.session.WithOptions(b.ctx, t, h.Options); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// insertColumns are the physical columns that the query's columns go to, in the
// query's order.
func insertColumns(ins *parse.Insert, t *catalog.Table) ([]int, error) {
	schema := t.Declaration.Schema
	if len(ins.Columns) == 0 {
		return upTo(len(schema)), nil
	}
	var cols []int
	for _, name := range ins.Columns {
		i := schema.Index(name.Value)
		if i < 0 {
			for _, c := range t.Columns {
				if c.Name == name.Value {
					return nil, errs.New(errs.Invalid, name.At, "column %q of %s is computed, and cannot be written", name.Value, t.ID.Object).WithHint("leave it out")
				}
			}
			return nil, hintNames(errs.New(errs.NotFound, name.At, "column %q not found in %s", name.Value, t.ID.Object), name.Value, schema.Names(), "the columns are")
		}
		if slices.Contains(cols, i) {
			return nil, errs.New(errs.Invalid, name.At, "column %q is listed twice", name.Value)
		}
		cols = append(cols, i)
	}
	return cols, nil
}

// fit casts the query's columns to those of the table and fills the rest with NULL.
func (b *binder) fit(ins *parse.Insert, t *catalog.Table, in Node, cols []int) (Node, error) {
	schema := t.Declaration.Schema
	if have := len(in.Schema()); have != len(cols) {
		e := errs.New(errs.Type, ins.Query.Pos(), "the query has %s, INSERT INTO %s takes %d", count(have, "column"), t.ID.Object, len(cols))
		if len(ins.Columns) == 0 && have < len(cols) {
			return nil, e.WithHint("it takes %s; list the columns to fill some of them: INSERT INTO %s (%s, ..)",
				schema.Project(cols), t.ID.Object, parse.QuoteIdent(schema[0].Name))
		}
		return nil, e.WithHint("it takes %s", schema.Project(cols))
	}
	exprs, names := make([]expr.Expr, len(schema)), schema.Names()
	forwarded := len(cols) == len(schema)
	for i, c := range cols {
		col := expr.NewColumn(in.Schema(), i, origin(in, i, ins.Query.Pos()))
		e, err := assign(col, schema[c], t.ID.Object)
		if err != nil {
			return nil, err
		}
		exprs[c] = e
		forwarded = forwarded && i == c && e == expr.Expr(col)
	}
	var missing []string
	for i, e := range exprs {
		if e != nil {
			continue
		}
		if schema[i].Type.NotNull {
			missing = append(missing, names[i])
		}
		exprs[i] = expr.Null(schema[i].Type, ins.At)
	}
	if len(missing) > 0 {
		verb := "is"
		if len(missing) > 1 {
			verb = "are"
		}
		return nil, errs.New(errs.Invalid, ins.Columns[0].At, "the columns left out of INSERT INTO %s would be NULL, but %s %s NOT NULL", t.ID.Object, strings.Join(missing, ", "), verb).
			WithHint("list them too")
	}
	if forwarded {
		return in, nil
	}
	return newCalc(in, nil, exprs, names, ins.At), nil
}

// lengthMatters reports whether a table's column has a length. Its query's values are
// held to it even when they have the same type, which no source enforces.
func lengthMatters(to sqltype.Type) bool {
	return (to.IsString() || to.IsBinary()) && to.Precision < sqltype.MaxLength
}

// origin is where the statement makes column i of n.
func origin(n Node, i int, otherwise errs.Position) errs.Position {
	var e expr.Expr
	switch n := n.(type) {
	case *Calc:
		e = n.Exprs[i]
	case *Values:
		e = n.Rows[0][i]
	case *Aggregate:
		if i < len(n.Keys) {
			return origin(n.Input, n.Keys[i], otherwise)
		}
	}
	if e == nil || !e.Pos().IsValid() {
		return otherwise
	}
	return e.Pos()
}

// assign casts a column of a query to a column of a table.
func assign(col *expr.Column, to sqltype.Column, table string) (expr.Expr, error) {
	from := col.T
	if from.Equal(to.Type) || from.IsString() && to.Type.IsString() || from.IsBinary() && to.Type.IsBinary() {
		return col, nil // lengths are the business of the sink
	}
	if !function.CanCast(from, to.Type, true) {
		e := errs.New(errs.Type, col.At, "column %d of the query (%s) is %s, but %s.%s is %s",
			col.Index+1, col.Name, from.Optional(), table, to.Name, to.Type.Optional())
		if function.CanCast(from, to.Type, false) {
			return nil, e.WithHint("cast it where values may be lost: CAST(%s AS %s)", parse.QuoteIdent(col.Name), to.Type.Optional())
		}
		return nil, e.WithHint("check the order of the columns: INSERT matches them by position")
	}
	return castTo(col, to.Type), nil
}
