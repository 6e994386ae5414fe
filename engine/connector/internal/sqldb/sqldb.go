// Package sqldb is what the connectors of SQL databases share: tables that are read as
// they are, and asked for rows by key.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// Dialect is what databases differ in.
type Dialect struct {
	// Schemes are the beginnings of 'url', as "mysql": what stands before "://", with or
	// without "jdbc:" before that.
	Schemes []string
	// Open returns the pool of connections to the database of an address. It does not
	// connect yet.
	Open func(a Address) (*sql.DB, error)
	// Quote makes an identifier of a name.
	Quote func(name string) string
	// Parameter is the place of argument number i, from 1, of a statement.
	Parameter func(i int) string
	// Type is the type of a column that was not declared; false: there is none that fits.
	Type func(c *sql.ColumnType) (sqltype.Type, bool)
	// Problem says what an error of the database means: whether it may pass, and the way
	// out.
	Problem func(err error) (code errs.Code, hint string)
}

// Address is where a database is.
type Address struct {
	URL            *url.URL
	User, Password string
}

const (
	optURL         = "url"
	optTable       = "table-name"
	optUser        = "username"
	optPassword    = "password"
	optBatch       = "lookup.batch-size"
	optParallelism = "lookup.parallelism"
)

// Options are the options of tables in databases.
func Options(example string) []connector.Option {
	return []connector.Option{
		{Name: optURL, Required: true, Doc: "where the database is, as '" + example + "'; 'jdbc:' may stand before it"},
		{Name: optTable, Required: true, Doc: "the table or view in the database, as 'customers' or 'shop.customers'"},
		{Name: optUser, Doc: "the user's name; by default that in 'url'"},
		{Name: optPassword, Doc: "the user's password"},
		{Name: optBatch, Type: connector.IntOption, Default: "512", Doc: "the largest number of keys that one statement of a lookup join asks for"},
		{Name: optParallelism, Type: connector.IntOption, Default: "4", Doc: "how many statements a lookup join has at work at a time, in each shard"},
	}
}

// Table is a table in a database.
type Table struct {
	dialect  Dialect
	address  Address
	name     string // as the user wrote it
	from     string // quoted
	schema   sqltype.Schema
	key      []int // the primary key that was declared, or nil
	pos      errs.Position
	batch    int
	parallel int
}

// New checks the declaration of a table.
func New(d Dialect, t *connector.Table, opt connector.Options) (*Table, error) {
	text := strings.TrimPrefix(opt.Text(optURL), "jdbc:")
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil, opt.Errorf(optURL, "'%s' is not the address of a database", opt.Text(optURL)).
			WithHint("write '%s://host/database'", d.Schemes[0])
	}
	known := false
	for _, s := range d.Schemes {
		known = known || s == u.Scheme
	}
	if !known {
		return nil, opt.Errorf(optURL, "'%s' is the address of another kind of database", opt.Text(optURL)).
			WithHint("write '%s://host/database'", d.Schemes[0])
	}
	out := &Table{
		dialect: d, address: Address{URL: u, User: opt.Text(optUser), Password: opt.Text(optPassword)},
		name: opt.Text(optTable), schema: t.Schema, key: t.PrimaryKey, pos: t.Pos,
		batch: int(opt.Int(optBatch)), parallel: int(opt.Int(optParallelism)),
	}
	if u.User != nil {
		if out.address.User == "" {
			out.address.User = u.User.Username()
		}
		if password, ok := u.User.Password(); ok && out.address.Password == "" {
			out.address.Password = password
		}
	}
	for key, n := range map[string]int{optBatch: out.batch, optParallelism: out.parallel} {
		if n < 1 || n > 1<<14 {
			return nil, opt.Errorf(key, "option '%s': %d is not from 1 to %d", key, n, 1<<14)
		}
	}
	parts := strings.Split(out.name, ".")
	for i, p := range parts {
		if p == "" {
			return nil, opt.Errorf(optTable, "'%s' is not the name of a table", out.name)
		}
		parts[i] = d.Quote(p)
	}
	out.from = strings.Join(parts, ".")
	for i, c := range t.Schema {
		if !readable(c.Type) {
			return nil, errs.New(errs.Type, t.Pos, "column %q is %v, which databases do not have", t.Schema[i].Name, c.Type.Optional()).
				WithHint("declare it as STRING, and take it apart in a view")
		}
	}
	return out, nil
}

// open returns the connections, which the caller closes.
func (t *Table) open() (*sql.DB, error) {
	db, err := t.dialect.Open(t.address)
	if err != nil {
		return nil, t.failed("cannot be opened", err)
	}
	return db, nil
}

// failed is the error of something that went wrong with the database.
func (t *Table) failed(what string, err error) error {
	var e *errs.Error
	if errors.As(err, &e) {
		return err
	}
	code, hint := t.dialect.Problem(err)
	out := errs.New(code, t.pos, "the table %s of %s %s: %w", t.name, t.where(), what, err)
	if hint == "" && code == errs.Input {
		hint = "is the server running, and can it be reached at " + t.address.URL.Host + "?"
	}
	if hint != "" {
		return out.WithHint("%s", hint)
	}
	return out
}

// where is the address without a password.
func (t *Table) where() string {
	return t.address.URL.Scheme + "://" + t.address.URL.Host + t.address.URL.Path
}

// list are columns of the schema as SQL.
func (t *Table) list(cols []int) string {
	if len(cols) == 0 {
		return "1" // only the number of rows is wanted
	}
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = t.dialect.Quote(t.schema[c].Name)
	}
	return strings.Join(names, ", ")
}

// Infer asks the database for the columns of a table.
func Infer(ctx context.Context, d Dialect, decl *connector.Table, opt connector.Options) (sqltype.Schema, error) {
	t, err := New(d, decl, opt)
	if err != nil {
		return nil, err
	}
	db, err := t.open()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+t.from+" WHERE 1 = 0")
	if err != nil {
		return nil, t.failed("cannot be read", err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, t.failed("cannot be read", err)
	}
	var out sqltype.Schema
	for _, c := range types {
		typ, ok := d.Type(c)
		if !ok {
			return nil, errs.New(errs.Type, t.pos, "column %q of table %s is of type %s, which is none here", c.Name(), t.name, c.DatabaseTypeName()).
				WithHint("declare the columns that are wanted")
		}
		if nullable, ok := c.Nullable(); ok && !nullable {
			typ = typ.Required()
		}
		out = append(out, sqltype.Column{Name: c.Name(), Type: typ})
	}
	if err := rows.Err(); err != nil {
		return nil, t.failed("cannot be read", err)
	}
	return out, nil
}

// check finds out whether the table has the columns.
func (t *Table) check(ctx context.Context, db *sql.DB, cols []int) error {
	rows, err := db.QueryContext(ctx, "SELECT "+t.list(cols)+" FROM "+t.from+" WHERE 1 = 0")
	if err == nil {
		err = rows.Err()
		_ = rows.Close() // it has no rows
	}
	if err != nil {
		return t.failed("cannot be read", err)
	}
	return nil
}
