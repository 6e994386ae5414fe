package catalog

import (
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// Table is a table with a connector behind it.
type Table struct {
	ID        Identifier
	Temporary bool
	Comment   string

	// Columns are all columns as declared. The physical ones, those without an
	// expression, are the connector's, in the same order.
	Columns []Column
	// PrimaryKey are positions in Columns, or nil.
	PrimaryKey []int
	// Watermark is the declared event time; Watermark.Column is -1 without one.
	Watermark Watermark

	Connector   connector.Connector
	Declaration *connector.Table
	Options     connector.Options
	// Statement is the declaration, without LIKE and AS: what ALTER TABLE changes and
	// LIKE takes over.
	Statement *parse.CreateTable
}

// Column is a column of a table.
type Column struct {
	Name    string
	Type    sqltype.Type
	Comment string
	// Computed is an expression over the table's physical columns, in their
	// order, or nil for a physical column.
	Computed expr.Expr
	// Metadata is the key of what a column METADATA tells, or "".
	Metadata string
}

// Watermark is WATERMARK FOR a column: Expr gives the time up to which the input
// is complete, over all columns of the table. It is nil for SOURCE_WATERMARK(): then the
// source knows.
type Watermark struct {
	Column int
	Expr   expr.Expr
	Pos    errs.Position
}

// Identifier is the table's full name.
func (t *Table) Identifier() Identifier { return t.ID }

// IsTemporary reports whether the table belongs to one session.
func (t *Table) IsTemporary() bool { return t.Temporary }

// What is "table".
func (t *Table) What() string { return "table" }

// Schema is the schema of all columns.
func (t *Table) Schema() sqltype.Schema {
	out := make(sqltype.Schema, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = sqltype.Column{Name: c.Name, Type: c.Type}
	}
	return out
}

// Physical lists the positions of the columns that the connector reads and
// writes.
func (t *Table) Physical() []int {
	var out []int
	for i, c := range t.Columns {
		if c.Computed == nil {
			out = append(out, i)
		}
	}
	return out
}

// Source returns the side that is read.
func (t *Table) Source() (connector.Source, error) {
	return t.Connector.Source(t.Declaration, t.Options)
}

// Sink returns the side that is written.
func (t *Table) Sink() (connector.Sink, error) {
	return t.Connector.Sink(t.Declaration, t.Options)
}

// UpsertMaterialize is the table's option 'upsert-materialize', or "" when it
// was not given.
func (t *Table) UpsertMaterialize() string { return t.Declaration.Options[UpsertMaterialize] }

// UpsertMaterialize names the option that every table understands: what an
// INSERT does when the table's primary key is no key of the query.
const UpsertMaterialize = "upsert-materialize"

func commonOptions() []connector.Option {
	return append(append(timeOptions(), connector.LookupOptions()...), connector.Option{
		Name:    UpsertMaterialize,
		Choices: materializeChoices(),
		Doc:     "how rows of one primary key from different rows of a query are kept apart",
	})
}

func materializeChoices() []string { return []string{"none", "auto", "force"} }

// View is a named query.
type View struct {
	ID        Identifier
	Temporary bool
	Comment   string
	Query     *parse.Query
	// Schema has the columns as the view names them.
	Schema sqltype.Schema
	// SQL is the statement that made the view, for SHOW CREATE VIEW.
	SQL string
	// Catalog and Database are where the query's unqualified names are looked up.
	Catalog, Database string
}

// Identifier is the view's full name.
func (v *View) Identifier() Identifier { return v.ID }

// IsTemporary reports whether the view belongs to one session.
func (v *View) IsTemporary() bool { return v.Temporary }

// What is "view".
func (v *View) What() string { return "view" }
