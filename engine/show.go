package engine

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// list is a query that is done and whose rows are text.
func list(statement string, columns []string, rows [][]string) *Query {
	schema := make(sqltype.Schema, len(columns))
	for i, c := range columns {
		schema[i] = sqltype.Column{Name: c, Type: sqltype.StringType.Required()}
	}
	q := &Query{statement: statement, schema: schema, mode: sqltype.AppendMode}
	from := &listing{}
	if len(rows) > 0 {
		b := vector.NewBuilder(vector.NewPool(), schema.Kinds())
		for _, row := range rows {
			for i, text := range row {
				b.Col(i).AppendString(text)
			}
			b.EndRow(vector.Insert)
		}
		from.rest = []*vector.Batch{b.Finish()}
	}
	q.log = &Changelog{from: from, query: q}
	return q
}

// show executes SHOW.
func (e *Engine) show(stmt *parse.Show) (*Query, error) {
	s := e.session
	in := parse.Name{}
	in = append(in, stmt.Name...)
	cat, db := s.CurrentCatalog(), s.CurrentDatabase()
	if n := len(in); n > 0 {
		db = in[n-1].Value
		if n > 1 {
			cat = in[n-2].Value
		}
	}
	var names []string
	var column string
	switch stmt.Kind {
	case parse.ShowCatalogs:
		column, names = "catalog name", s.Catalog().Catalogs()
	case parse.ShowColumns:
		return e.showColumns(stmt)
	case parse.ShowDatabases:
		if len(in) == 1 {
			cat = in[0].Value
		}
		if err := s.Catalog().Has(catalog.Identifier{Catalog: cat}, in.Pos()); err != nil {
			return nil, err
		}
		column, names = "database name", s.Catalog().Databases(cat)
	case parse.ShowTables, parse.ShowViews:
		column = "table name"
		if err := s.Catalog().Has(catalog.Identifier{Catalog: cat, Database: db}, in.Pos()); err != nil {
			return nil, err
		}
		for _, o := range s.Objects(cat, db) {
			if _, view := o.(*catalog.View); view || stmt.Kind == parse.ShowTables {
				names = append(names, o.Identifier().Object)
			}
		}
	case parse.ShowFunctions:
		column, names = "function name", s.Functions(!stmt.User)
		if len(in) > 0 {
			if err := s.Catalog().Has(catalog.Identifier{Catalog: cat, Database: db}, in.Pos()); err != nil {
				return nil, err
			}
			names = s.In(cat, db).Functions(!stmt.User)
		}
	case parse.ShowJobs:
		return e.showJobs(), nil
	case parse.ShowCurrentCatalog:
		column, names = "current catalog name", []string{cat}
	case parse.ShowCurrentDatabase:
		column, names = "current database name", []string{db}
	case parse.ShowCreateTable, parse.ShowCreateView:
		return e.showCreate(stmt)
	case parse.ShowCreateFunction:
		return e.showCreateFunction(stmt)
	default:
		return nil, errs.New(errs.Unsupported, stmt.At, "SHOW %s is not supported yet", stmt.Kind)
	}
	if stmt.HasLike {
		like := likePattern(stmt.Like, stmt.ILike)
		names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return like.MatchString(n) == stmt.NotLike })
	}
	rows := make([][]string, len(names))
	for i, n := range names {
		rows[i] = []string{n}
	}
	return list("SHOW", []string{column}, rows), nil
}

// likePattern is a LIKE pattern as a regular expression.
func likePattern(like string, fold bool) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("(?s")
	if fold {
		b.WriteByte('i')
	}
	b.WriteString(")^")
	for _, r := range like {
		switch r {
		case '%':
			b.WriteString(".*")
		case '_':
			b.WriteByte('.')
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteByte('$')
	return regexp.MustCompile(b.String())
}

// showOptions executes SET without a key.
func (e *Engine) showOptions() *Query {
	var rows [][]string
	for _, o := range e.session.Options.List() {
		rows = append(rows, []string{o.Name, o.Value, o.Doc})
	}
	return list("SET", []string{"key", "value", "meaning"}, rows)
}

// describe executes DESCRIBE of a table, view or function.
func (e *Engine) describe(stmt *parse.Describe) (*Query, error) {
	if stmt.Kind == parse.FunctionObject {
		return e.describeFunction(stmt)
	}
	if stmt.Kind != parse.TableObject {
		return nil, errs.New(errs.Unsupported, stmt.At, "DESCRIBE %s is not supported yet", stmt.Kind)
	}
	o, err := e.session.Lookup(stmt.Name)
	if err != nil {
		return nil, err
	}
	return list("DESCRIBE", describedBy(), describe(o)), nil
}

// showColumns executes SHOW COLUMNS, which is DESCRIBE of some.
func (e *Engine) showColumns(stmt *parse.Show) (*Query, error) {
	o, err := e.session.Lookup(stmt.Name)
	if err != nil {
		return nil, err
	}
	rows := describe(o)
	if stmt.HasLike {
		like := likePattern(stmt.Like, stmt.ILike)
		rows = slices.DeleteFunc(rows, func(r []string) bool { return like.MatchString(r[0]) == stmt.NotLike })
	}
	return list("SHOW", describedBy(), rows), nil
}

func describedBy() []string { return []string{"name", "type", "null", "key", "extras"} }

// describe has a row for each column of a table or view, of what describedBy names.
func describe(o catalog.Object) [][]string {
	var rows [][]string
	row := func(c sqltype.Column, key, extras string) {
		rows = append(rows, []string{c.Name, typeText(c.Type), yes(!c.Type.NotNull), key, extras})
	}
	switch o := o.(type) {
	case *catalog.Table:
		for i, c := range o.Columns {
			var key, extras string
			if slices.Contains(o.PrimaryKey, i) {
				key = "PRI(" + strings.Join(primaryKey(o), ", ") + ")"
			}
			if c.Computed != nil {
				extras = "AS " + c.Computed.String()
			} else if c.Metadata != "" {
				extras = "METADATA FROM '" + c.Metadata + "'"
			}
			col := sqltype.Column{Name: c.Name, Type: c.Type}
			if col.Type.Attr = o.TimeAttribute(i); col.Type.Attr == sqltype.Rowtime {
				extras = strings.TrimSpace(extras + " WATERMARK AS " + o.Watermark.Text())
			}
			row(col, key, extras)
		}
	case *catalog.View:
		for _, c := range o.Schema {
			row(c, "", "")
		}
	}
	return rows
}

// typeText is a type with the mark of a time attribute.
func typeText(t sqltype.Type) string {
	if t.Attr == sqltype.NoTime {
		return t.Optional().String()
	}
	return t.Optional().String() + " *" + t.Attr.String() + "*"
}

func primaryKey(t *catalog.Table) []string {
	names := make([]string, len(t.PrimaryKey))
	for i, c := range t.PrimaryKey {
		names[i] = t.Columns[c].Name
	}
	return names
}

func yes(b bool) string {
	if b {
		return "TRUE"
	}
	return "FALSE"
}

// ExplainFormat is how Explain shows a plan.
type ExplainFormat uint8

// The formats.
const (
	ExplainText ExplainFormat = iota // a tree with its traits, for people
	ExplainJSON                      // for programs
)

// Explain returns the plans of a script's queries and INSERTs without running them.
// Statements that define something (CREATE, SET, USE, ..) are executed. Several
// plans are separated by an empty line.
func (e *Engine) Explain(ctx context.Context, sql string, f ExplainFormat) (string, error) {
	stmts, err := parse.Parse(sql)
	if err != nil {
		return "", err
	}
	var plans []string
	for _, stmt := range stmts {
		if x, ok := stmt.(*parse.Explain); ok && x.Stmt != nil {
			stmt = x.Stmt
		}
		switch stmt.(type) {
		case *parse.Query, *parse.Insert, *parse.StatementSet:
			e.mu.Lock()
			text, err := e.planText(ctx, stmt.(sqlText), f)
			e.mu.Unlock()
			if err != nil {
				return "", err
			}
			plans = append(plans, text)
		default:
			if _, err := e.execute(ctx, stmt); err != nil {
				return "", err
			}
		}
	}
	if len(plans) == 0 {
		return "", errs.New(errs.Invalid, errs.At(sql, 0), "there is no query to explain").
			WithHint("EXPLAIN shows the plan of a SELECT or INSERT")
	}
	return strings.Join(plans, "\n"), nil
}

func (e *Engine) planText(ctx context.Context, stmt sqlText, f ExplainFormat) (string, error) {
	p, err := plan.Build(ctx, stmt, e.session, plan.Options{Kept: e.kept})
	if err != nil {
		return "", err
	}
	about, err := e.explainJob(ctx, p, stmt)
	if err != nil {
		return "", err
	}
	if f == ExplainJSON {
		return about.addTo(p.JSON()), nil
	}
	return p.Text() + about.text(), nil
}

// explain executes EXPLAIN.
func (e *Engine) explain(ctx context.Context, stmt *parse.Explain) (*Query, error) {
	f := ExplainText
	if stmt.Mode&parse.ExplainJSON != 0 {
		f = ExplainJSON
	}
	of, ok := stmt.Stmt.(sqlText)
	if !ok {
		return nil, errs.New(errs.Unsupported, stmt.At, "EXPLAIN shows the plan of a query or INSERT")
	}
	text, err := e.planText(ctx, of, f)
	if err != nil {
		return nil, err
	}
	return explanation(text), nil
}
