// Package mysql is the connector of tables in MySQL and MariaDB.
package mysql

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/internal/sqldb"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// Connector is the connector "mysql": tables are read as they are when a query starts, or
// asked for rows by key while it runs.
type Connector struct{ sqldb.Connector[dialect] }

var _ connector.Lookups = Connector{}

type dialect struct{}

func (dialect) Name() string             { return "mysql" }
func (dialect) Product() string          { return "MySQL or MariaDB" }
func (dialect) Schemes() []string        { return []string{"mysql", "mariadb"} }
func (dialect) Port() string             { return "3306" }
func (dialect) Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
func (dialect) Parameter(int) string     { return "?" }

// Open makes connections on which times are in UTC.
func (d dialect) Open(a sqldb.Address) (*sql.DB, error) {
	cfg := driver.NewConfig()
	cfg.User, cfg.Passwd, cfg.DBName = a.User, a.Password, strings.TrimPrefix(a.URL.Path, "/")
	cfg.Net, cfg.Addr = "tcp", a.URL.Host
	if a.URL.Port() == "" {
		cfg.Addr = net.JoinHostPort(a.URL.Hostname(), d.Port())
	}
	cfg.ParseTime, cfg.Loc, cfg.Timeout = true, time.UTC, 10*time.Second
	cfg.Params = map[string]string{"time_zone": "'+00:00'"}
	cfg.Logger = &driver.NopLogger{} // errors are returned
	for key, values := range a.URL.Query() {
		switch key {
		case "tls":
			cfg.TLSConfig = values[0]
		case "socket":
			cfg.Net, cfg.Addr = "unix", values[0]
		default:
			return nil, errs.New(errs.Option, errs.Position{}, "the address has %q, which is not known", key).WithHint("'tls' and 'socket' are")
		}
	}
	c, err := driver.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// Type is the type of a column by its name in the database.
func (dialect) Type(c *sql.ColumnType) (sqltype.Type, bool) {
	name, unsigned := strings.CutPrefix(c.DatabaseTypeName(), "UNSIGNED ")
	digits := func(def int) int {
		if p, _, ok := c.DecimalSize(); ok && p >= 0 && p <= 6 {
			return int(p)
		}
		return def
	}
	switch name {
	case "TINYINT":
		if unsigned {
			return sqltype.SmallType, true
		}
		return sqltype.TinyType, true
	case "SMALLINT", "YEAR":
		if unsigned {
			return sqltype.IntType, true
		}
		return sqltype.SmallType, true
	case "MEDIUMINT":
		return sqltype.IntType, true
	case "INT":
		if unsigned {
			return sqltype.BigIntType, true
		}
		return sqltype.IntType, true
	case "BIGINT":
		if unsigned {
			return sqltype.DecimalOf(20, 0), true
		}
		return sqltype.BigIntType, true
	case "FLOAT":
		return sqltype.FloatType, true
	case "DOUBLE":
		return sqltype.DoubleType, true
	case "DECIMAL":
		p, s, ok := c.DecimalSize()
		if !ok || p > 38 || p < 1 {
			p, s = 38, min(max(s, 0), 18)
		}
		return sqltype.DecimalOf(int(p), int(s)), true
	case "DATE":
		return sqltype.DateType, true
	case "TIME":
		return sqltype.Type{ID: sqltype.Time, Precision: digits(0)}, true
	case "DATETIME":
		return sqltype.TimestampOf(digits(6)), true
	case "TIMESTAMP":
		return sqltype.TimestampLTZOf(digits(6)), true
	case "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "BINARY", "VARBINARY", "BIT", "GEOMETRY":
		return sqltype.BytesType, true
	case "CHAR", "VARCHAR", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT", "JSON", "ENUM", "SET":
		return sqltype.StringType, true
	}
	return sqltype.Type{}, false
}

// Problem tells what will not pass from what may.
func (dialect) Problem(err error) (errs.Code, string) {
	var e *driver.MySQLError
	if !errors.As(err, &e) {
		return errs.Input, ""
	}
	switch e.Number {
	case 1044, 1045, 1142, 1143:
		return errs.Option, "check 'username' and 'password', and what the user may read"
	case 1049:
		return errs.NotFound, "'url' ends in the name of the database"
	case 1146:
		return errs.NotFound, "check 'table-name'"
	case 1054:
		return errs.NotFound, "declare the columns by their names in the database, or none: then all are found"
	case 1064, 1105:
		return errs.Invalid, fmt.Sprintf("the server did not understand (error %d)", e.Number)
	}
	return errs.Input, fmt.Sprintf("see the server's error %d", e.Number)
}
