// Package sqldb is what the connectors of SQL databases share: tables that are read as
// they are, and asked for rows by key.
package sqldb

import (
	"database/sql"
	"net/url"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// Dialect is what databases differ in. Its zero value is ready.
type Dialect interface {
	// Name is the connector's, Product what people call the databases.
	Name() string
	Product() string
	// Schemes are the beginnings of 'url', as "mysql": what stands before "://", with or
	// without "jdbc:" before that.
	Schemes() []string
	// Port is where a server usually listens.
	Port() string
	// Open returns the pool of connections to the database of an address. It does not
	// connect yet.
	Open(a Address) (*sql.DB, error)
	// Quote makes an identifier of a name.
	Quote(name string) string
	// Parameter is the place of argument number i, from 1, of a statement.
	Parameter(i int) string
	// Type is the type of a column that was not declared; false: there is none that fits.
	Type(c *sql.ColumnType) (sqltype.Type, bool)
	// Problem says what an error of the database means: whether it may pass, and the way
	// out.
	Problem(err error) (code errs.Code, hint string)
}

// Address is where a database is.
type Address struct {
	URL            *url.URL
	User, Password string
}
