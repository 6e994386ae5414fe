package plan

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// CreateTable executes CREATE TABLE: it resolves the declaration and puts the
// table into the session's catalog. When the columns are not declared the
// connector is asked for them, within ctx. With IF NOT EXISTS and a taken name it
// does nothing.
func CreateTable(ctx context.Context, stmt *parse.CreateTable, s *catalog.Session) error {
	if id, err := s.Qualify(stmt.Name); err == nil && stmt.IfNotExists && s.Exists(id) {
		return nil
	}
	t, err := DefineTable(ctx, stmt, s)
	if err != nil {
		return err
	}
	return s.Create(t, stmt.Name, onExisting(stmt.IfNotExists, stmt.OrReplace))
}

// CreateView executes CREATE VIEW, and checks its query.
func CreateView(ctx context.Context, stmt *parse.CreateView, s *catalog.Session) error {
	if id, err := s.Qualify(stmt.Name); err == nil && stmt.IfNotExists && s.Exists(id) {
		return nil
	}
	v, err := DefineView(ctx, stmt, s)
	if err != nil {
		return err
	}
	return s.Create(v, stmt.Name, onExisting(stmt.IfNotExists, stmt.OrReplace))
}

func onExisting(keep, replace bool) catalog.OnExisting {
	switch {
	case keep:
		return catalog.Keep
	case replace:
		return catalog.Replace
	}
	return catalog.Fail
}

// DefineTable resolves the declaration of a table without creating it.
func DefineTable(ctx context.Context, stmt *parse.CreateTable, s *catalog.Session) (*catalog.Table, error) {
	stmt, err := written(ctx, stmt, s)
	if err != nil {
		return nil, err
	}
	switch {
	case len(stmt.PartitionBy) > 0:
		return nil, unsupported(stmt.PartitionBy[0].At, "PARTITIONED BY is")
	case len(stmt.Watermarks) > 1:
		return nil, errs.New(errs.Invalid, stmt.Watermarks[1].At, "a table has one WATERMARK at most")
	}
	id, err := s.Qualify(stmt.Name)
	if err != nil {
		return nil, err
	}
	d := &tableDefinition{
		b:    &binder{ctx: ctx, session: s},
		stmt: stmt,
		table: &catalog.Table{
			ID: id, Temporary: stmt.Temporary, Comment: stmt.Comment, Statement: stmt,
			Watermark: catalog.Watermark{Column: -1},
		},
	}
	for _, step := range []func() error{d.physical, d.connect, d.computed, d.watermark} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return d.table, nil
}

// tableDefinition is a CREATE TABLE on its way to a catalog.Table.
type tableDefinition struct {
	b     *binder
	stmt  *parse.CreateTable
	table *catalog.Table
	// metadata are the columns METADATA of a table that declares no physical ones.
	metadata sqltype.Schema
}

// physical collects names, types and the primary key, and declares to the
// connector what concerns it.
func (d *tableDefinition) physical() error {
	decl := &connector.Table{Name: d.table.ID.Object, Options: map[string]string{}, Pos: d.stmt.Name.Pos()}
	d.table.Declaration = decl
	seen := map[string]bool{}
	for _, c := range d.stmt.Columns {
		if seen[c.Name.Value] {
			return errs.New(errs.Exists, c.Name.At, "the table has two columns named %q", c.Name.Value)
		}
		seen[c.Name.Value] = true
		switch c.Kind {
		case parse.MetadataColumn, parse.PhysicalColumn:
			t, err := typeOf(c.Type)
			if err != nil {
				return err
			}
			if c.Kind == parse.MetadataColumn {
				decl.Metadata = append(decl.Metadata, connector.MetadataColumn{
					Column: len(decl.Schema), Key: cmp.Or(c.MetadataKey, c.Name.Value), Virtual: c.Virtual, Pos: c.At,
				})
			}
			decl.Schema = append(decl.Schema, sqltype.Column{Name: c.Name.Value, Type: t})
		}
	}
	if len(decl.Metadata) == len(decl.Schema) { // the others are those that the connector finds
		d.metadata, decl.Schema = decl.Schema, nil
	}
	pos := map[string]errs.Position{}
	for _, o := range d.stmt.Options {
		if _, ok := decl.Options[o.Key]; ok {
			return errs.New(errs.Option, o.At, "option '%s' is given twice", o.Key)
		}
		decl.Options[o.Key], pos[o.Key] = o.Value, o.At
	}
	decl.OptionPos = func(key string) errs.Position { return pos[key] }
	return nil
}

// connect finds the connector, infers columns that are not declared, and places
// the primary key.
func (d *tableDefinition) connect() error {
	decl := d.table.Declaration
	// Key columns are NOT NULL, also for the connector.
	if err := d.primaryKey(decl.Schema); err != nil {
		return err
	}
	c, opt, schema, err := d.b.session.Bind(d.b.ctx, decl)
	if err != nil {
		return placed(err, d.stmt.Name.Pos())
	}
	if len(decl.Schema) == 0 {
		decl.Schema = append(slices.Clone(schema), d.metadata...)
		for i := range decl.Metadata {
			decl.Metadata[i].Column += len(schema)
		}
		if err := d.primaryKey(decl.Schema); err != nil {
			return err
		}
	}
	if len(decl.Schema) == 0 {
		return errs.New(errs.Invalid, d.stmt.Name.Pos(), "table %q has no columns", d.table.ID.Object).WithHint("declare them: CREATE TABLE t (a BIGINT, ..) WITH (..)")
	}
	d.table.Connector, d.table.Options = c, opt
	return connector.CheckMetadata(c, decl, opt)
}

func (d *tableDefinition) primaryKey(schema sqltype.Schema) error {
	pk := d.stmt.PrimaryKey
	if pk == nil || len(schema) == 0 {
		return nil
	}
	var keys []int
	for _, name := range pk.Columns {
		i := schema.Index(name.Value)
		if i < 0 {
			if slices.ContainsFunc(d.stmt.Columns, func(c *parse.ColumnDef) bool { return c.Name.Value == name.Value }) {
				return errs.New(errs.Invalid, name.At, "the primary key column %q is computed", name.Value).WithHint("a key has physical columns only")
			}
			return hintNames(errs.New(errs.NotFound, name.At, "primary key column %q not found", name.Value), name.Value, schema.Names(), "the columns are")
		}
		if slices.Contains(keys, i) {
			return errs.New(errs.Invalid, name.At, "the primary key has column %q twice", name.Value)
		}
		keys = append(keys, i)
		schema[i].Type.NotNull = true
	}
	d.table.Declaration.PrimaryKey = keys
	return nil
}

// computed lines up all columns and binds the computed ones over the physical.
func (d *tableDefinition) computed() error {
	schema := d.table.Declaration.Schema
	sc := scopeOf(tableRef{}, schema)
	if len(d.stmt.Columns) == 0 {
		for _, c := range schema {
			d.table.Columns = append(d.table.Columns, catalog.Column{Name: c.Name, Type: c.Type})
		}
	}
	physical := 0
	if len(d.metadata) > 0 {
		physical = len(schema) - len(d.metadata)
		for _, c := range schema[:physical] {
			d.table.Columns = append(d.table.Columns, catalog.Column{Name: c.Name, Type: c.Type})
		}
	}
	for _, c := range d.stmt.Columns {
		col := catalog.Column{Name: c.Name.Value, Comment: c.Comment}
		if c.Kind == parse.ComputedColumn {
			x := &exprBinder{b: d.b, scope: sc, clause: "a computed column"}
			e, err := x.bind(c.Expr)
			if err != nil {
				return err
			}
			col.Computed, col.Type = expr.Fold(e), e.Type()
		} else {
			// With all columns computed, the connector's own stay unnamed.
			if physical >= len(schema) {
				return errs.New(errs.Invalid, c.At, "column %q is not in the connector's schema", c.Name.Value)
			}
			col.Type = schema[physical].Type
			if c.Kind == parse.MetadataColumn {
				col.Metadata = cmp.Or(c.MetadataKey, c.Name.Value)
			}
			physical++
		}
		d.table.Columns = append(d.table.Columns, col)
	}
	if physical == 0 && len(d.stmt.Columns) > 0 {
		// Only computed columns were declared: those that the connector infers come first.
		var inferred []catalog.Column
		for _, c := range schema {
			inferred = append(inferred, catalog.Column{Name: c.Name, Type: c.Type})
		}
		d.table.Columns = append(inferred, d.table.Columns...)
	}
	for _, k := range d.table.Declaration.PrimaryKey {
		name := schema[k].Name
		d.table.PrimaryKey = append(d.table.PrimaryKey, slices.IndexFunc(d.table.Columns, func(c catalog.Column) bool { return c.Name == name }))
	}
	return nil
}

// watermark binds WATERMARK FOR over all columns.
func (d *tableDefinition) watermark() error {
	if len(d.stmt.Watermarks) == 0 {
		return nil
	}
	w := d.stmt.Watermarks[0]
	sc := scopeOf(tableRef{}, d.table.Schema())
	col, err := sc.resolve(w.Column)
	if err != nil {
		return err
	}
	if !col.T.IsTimestamp() {
		return errs.New(errs.Type, w.At, "WATERMARK FOR %s: the column is %s", col.Name, col.T.Optional()).WithHint("event time is a TIMESTAMP(3) or TIMESTAMP_LTZ(3)")
	}
	if p := col.T.Precision; p > 3 {
		return errs.New(errs.Type, w.At, "WATERMARK FOR %s: the column is %s, and event time goes by milliseconds", col.Name, col.T.Optional()).
			WithHint("add a column such as %s3 AS CAST(%s AS %s(3))", col.Name, col.Name, col.T.ID)
	}
	d.table.Watermark = catalog.Watermark{Column: col.Index, Pos: w.At}
	if call, ok := w.Expr.(*parse.Call); ok && len(call.Args) == 0 && strings.EqualFold(call.Name.String(), "SOURCE_WATERMARK") {
		return d.sourceWatermark(call)
	}
	x := &exprBinder{b: d.b, scope: sc, clause: "WATERMARK"}
	e, err := x.bind(w.Expr)
	if err != nil {
		return err
	}
	if e.Type().ID != col.T.ID {
		return errs.New(errs.Type, w.Expr.Pos(), "the watermark of %s is %s, not %s", col.Name, e.Type().Optional(), col.T.Optional()).
			WithHint("write it as %s - INTERVAL '5' SECOND", col.Name)
	}
	if e.Type().UnitDigits() > 3 {
		e = castTo(e, sqltype.Type{ID: e.Type().ID, Precision: 3})
	}
	d.table.Watermark.Expr = expr.Fold(e)
	return nil
}

// sourceWatermark leaves event time to the source, if it knows.
func (d *tableDefinition) sourceWatermark(call *parse.Call) error {
	src, err := d.table.Source()
	if err != nil {
		return placed(err, call.At)
	}
	if t, ok := src.(connector.Timed); !ok || !t.Timed() {
		return errs.New(errs.Unsupported, call.At, "the connector %q knows no watermarks of its own", d.table.Connector.Name()).
			WithHint("write WATERMARK FOR %s AS %[1]s - INTERVAL '5' SECOND", d.table.Columns[d.table.Watermark.Column].Name)
	}
	return nil
}

// DefineView resolves a view without creating it.
func DefineView(ctx context.Context, stmt *parse.CreateView, s *catalog.Session) (*catalog.View, error) {
	if stmt.Materialized {
		return nil, unsupported(stmt.At, "CREATE MATERIALIZED VIEW is").WithHint("create a VIEW, or INSERT INTO a table")
	}
	id, err := s.Qualify(stmt.Name)
	if err != nil {
		return nil, err
	}
	b := &binder{ctx: ctx, session: s, views: []catalog.Identifier{id}}
	n, err := b.query(stmt.Query)
	if err != nil {
		return nil, err
	}
	schema, err := rename(n.Schema(), stmt.Columns, "view "+id.Object)
	if err != nil {
		return nil, err
	}
	for i, c := range schema {
		if schema[:i].Index(c.Name) >= 0 {
			return nil, errs.New(errs.Exists, stmt.Query.Pos(), "the view has two columns named %q", c.Name).WithHint("give one of them an alias")
		}
	}
	return &catalog.View{
		ID: id, Temporary: stmt.Temporary, Comment: stmt.Comment, Query: stmt.Query, Schema: withTimes(n, schema), SQL: stmt.Text,
		Catalog: s.CurrentCatalog(), Database: s.CurrentDatabase(),
	}, nil
}
