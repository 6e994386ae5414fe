package mysql_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"github.com/weirdb/weir/engine/connector/internal/sqldb/sqldbtest"
	"github.com/weirdb/weir/engine/connector/mysql"
)

// server starts MariaDB, if it is installed here. The one that is always there is that of
// the module conformance/oracle.
func server(t *testing.T) (sqldbtest.Target, *sql.DB) {
	install := sqldbtest.Program(t, "mariadb-install-db", "/usr/bin", "/usr/local/bin")
	mariadbd := sqldbtest.Program(t, "mariadbd", "/usr/sbin", "/usr/libexec", "/usr/local/bin")
	dir, as := sqldbtest.Folder(t, "mysql")
	data := filepath.Join(dir, "data")
	sqldbtest.Run(t, as, dir, install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	port := sqldbtest.Port(t)
	sqldbtest.Serve(t, as, dir, mariadbd, "--no-defaults", "--datadir="+data, "--bind-address=127.0.0.1",
		fmt.Sprintf("--port=%d", port), "--socket="+filepath.Join(dir, "s"), "--innodb-buffer-pool-size=16M", "--pid-file="+filepath.Join(dir, "pid"))
	cfg := driver.NewConfig()
	cfg.User, cfg.Net, cfg.Addr = "root", "tcp", fmt.Sprintf("127.0.0.1:%d", port)
	cfg.Logger = &driver.NopLogger{}
	c, err := driver.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	sqldbtest.Connect(t, db)
	return sqldbtest.Target{Connector: mysql.Connector{}, URL: fmt.Sprintf("jdbc:mysql://127.0.0.1:%d/shop", port), User: "root"}, db
}

func TestServer(t *testing.T) {
	target, db := server(t)
	rows := make([]string, 1000)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, '%s', %d)", i, []string{"x", "y"}[i%2], i)
	}
	sqldbtest.Exec(t, db,
		"CREATE DATABASE shop",
		`CREATE TABLE shop.all_types (id INT PRIMARY KEY, flag BOOLEAN, small SMALLINT, big BIGINT, f FLOAT, d DOUBLE, amount DECIMAL(12, 3), name VARCHAR(20),
			raw VARBINARY(10), day DATE, clock TIME, at DATETIME(6), moment TIMESTAMP(3) NULL)`,
		"SET time_zone = '+00:00'",
		`INSERT INTO shop.all_types VALUES (1, TRUE, 7, 9000000000, 1.5, 2.25, 12.345, 'it''s', X'00ff', '2020-02-29', '10:20:30',
			'2020-02-29 10:20:30.123456', '2020-02-29 10:20:30.123'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
		"CREATE TABLE shop.pairs (a INT, b VARCHAR(5), n INT, PRIMARY KEY (a, b))",
		"INSERT INTO shop.pairs VALUES "+strings.Join(rows, ", "),
	)
	sqldbtest.Test(t, target)
}
