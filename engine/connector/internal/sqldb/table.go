package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

const (
	optURL         = "url"
	optTable       = "table-name"
	optUser        = "username"
	optPassword    = "password"
	optBatch       = "lookup.batch-size"
	optParallelism = "lookup.parallelism"
)

// options are the options of tables in databases.
func options(example string) []connector.Option {
	return []connector.Option{
		{Name: optURL, Required: true, Doc: "where the database is, as '" + example + "'; 'jdbc:' may stand before it"},
		{Name: optTable, Required: true, Doc: "the table or view in the database, as 'customers' or 'shop.customers'"},
		{Name: optUser, Doc: "the user's name; by default that in 'url'"},
		{Name: optPassword, Doc: "the user's password"},
		{Name: optBatch, Type: connector.IntOption, Default: "512", Doc: "the largest number of keys that one statement of a lookup join asks for"},
		{Name: optParallelism, Type: connector.IntOption, Default: "4", Doc: "how many statements a lookup join has at work at a time, in each shard"},
	}
}

// table is a table in a database.
type table struct {
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

// newTable checks the declaration of a table.
func newTable(d Dialect, t *connector.Table, opt connector.Options) (*table, error) {
	text := strings.TrimPrefix(opt.Text(optURL), "jdbc:")
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil, opt.Errorf(optURL, "'%s' is not the address of a database", opt.Text(optURL)).
			WithHint("write '%s://host/database'", d.Schemes()[0])
	}
	if !slices.Contains(d.Schemes(), u.Scheme) {
		return nil, opt.Errorf(optURL, "'%s' is the address of another kind of database", opt.Text(optURL)).
			WithHint("write '%s://host/database'", d.Schemes()[0])
	}
	out := &table{
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
func (t *table) open() (*sql.DB, error) {
	db, err := t.dialect.Open(t.address)
	if err != nil {
		return nil, t.failed("cannot be opened", err)
	}
	return db, nil
}

// failed is the error of something that went wrong with the database.
func (t *table) failed(what string, err error) error {
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
func (t *table) where() string {
	return t.address.URL.Scheme + "://" + t.address.URL.Host + t.address.URL.Path
}

// list are columns of the schema as SQL.
func (t *table) list(cols []int) string {
	if len(cols) == 0 {
		return "1" // only the number of rows is wanted
	}
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = t.dialect.Quote(t.schema[c].Name)
	}
	return strings.Join(names, ", ")
}

// infer asks the database for the columns.
func (t *table) infer(ctx context.Context) (sqltype.Schema, error) {
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
		typ, ok := t.dialect.Type(c)
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
func (t *table) check(ctx context.Context, db *sql.DB, cols []int) error {
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
