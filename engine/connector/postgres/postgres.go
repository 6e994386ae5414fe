// Package postgres is the connector of tables in PostgreSQL.
package postgres

import (
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/internal/sqldb"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// Connector is the connector "postgres": tables are read as they are when a query starts,
// or asked for rows by key while it runs.
type Connector struct{ sqldb.Connector[dialect] }

var _ connector.Lookups = Connector{}

type dialect struct{}

func (dialect) Name() string             { return "postgres" }
func (dialect) Product() string          { return "PostgreSQL" }
func (dialect) Schemes() []string        { return []string{"postgres", "postgresql"} }
func (dialect) Port() string             { return "5432" }
func (dialect) Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Open makes connections; the address may have all that the client knows, as sslmode.
func (dialect) Open(a sqldb.Address) (*sql.DB, error) {
	u := *a.URL
	u.Scheme = "postgres"
	cfg, err := pgx.ParseConfig(u.String())
	if err != nil {
		return nil, errs.New(errs.Option, errs.Position{}, "the address of the database cannot be read").WithHint("write 'postgres://host:5432/database'")
	}
	if a.User != "" {
		cfg.User = a.User
	}
	if a.Password != "" {
		cfg.Password = a.Password
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 10 * time.Second
	}
	return stdlib.OpenDB(*cfg), nil
}

// Type is the type of a column by its name in the database.
func (dialect) Type(c *sql.ColumnType) (sqltype.Type, bool) {
	digits := func() int {
		if p, _, ok := c.DecimalSize(); ok && p >= 0 && p <= 6 {
			return int(p)
		}
		return 6
	}
	switch c.DatabaseTypeName() {
	case "BOOL":
		return sqltype.BoolType, true
	case "INT2":
		return sqltype.SmallType, true
	case "INT4":
		return sqltype.IntType, true
	case "INT8":
		return sqltype.BigIntType, true
	case "FLOAT4":
		return sqltype.FloatType, true
	case "FLOAT8":
		return sqltype.DoubleType, true
	case "NUMERIC":
		p, s, ok := c.DecimalSize()
		if !ok || p > 38 || p < 1 || s < 0 || s > p {
			p, s = 38, 18
		}
		return sqltype.DecimalOf(int(p), int(s)), true
	case "DATE":
		return sqltype.DateType, true
	case "TIME":
		return sqltype.Type{ID: sqltype.Time, Precision: digits()}, true
	case "TIMESTAMP":
		return sqltype.TimestampOf(digits()), true
	case "TIMESTAMPTZ":
		return sqltype.TimestampLTZOf(digits()), true
	case "BYTEA":
		return sqltype.BytesType, true
	case "TEXT", "VARCHAR", "BPCHAR", "NAME", "UUID", "JSON", "JSONB":
		return sqltype.StringType, true
	}
	return sqltype.Type{}, false
}

// Problem tells what will not pass from what may.
func (dialect) Problem(err error) (errs.Code, string) {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return errs.Input, ""
	}
	switch e.Code {
	case "28000", "28P01", "42501":
		return errs.Option, "check 'username' and 'password', and what the user may read"
	case "3D000":
		return errs.NotFound, "'url' ends in the name of the database"
	case "42P01", "3F000":
		return errs.NotFound, "check 'table-name': a table of another schema is 'schema.table'"
	case "42703":
		return errs.NotFound, "declare the columns by their names in the database, or none: then all are found"
	case "42883", "42804", "22P02", "22003":
		return errs.Type, "declare the column with the type that it has in the database"
	}
	return errs.Input, "see the server's error " + e.Code
}

func (dialect) Parameter(i int) string { return "$" + strconv.Itoa(i) }
