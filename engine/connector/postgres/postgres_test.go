package postgres_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/weirdb/weir/engine/connector/internal/sqldb/sqldbtest"
	"github.com/weirdb/weir/engine/connector/postgres"
)

// server starts PostgreSQL, if it is installed here.
func server(t *testing.T) (sqldbtest.Target, *sql.DB) {
	folders := []string{"/usr/lib/postgresql/*/bin", "/usr/local/bin", "/usr/pgsql-*/bin"}
	initdb := sqldbtest.Program(t, "initdb", folders...)
	program := sqldbtest.Program(t, "postgres", folders...)
	dir, as := sqldbtest.Folder(t, "postgres")
	data := filepath.Join(dir, "data")
	sqldbtest.Run(t, as, dir, initdb, "-D", data, "-U", "root", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
	port := sqldbtest.Port(t)
	sqldbtest.Serve(t, as, dir, program, "-D", data, "-p", fmt.Sprint(port), "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off")
	url := fmt.Sprintf("postgres://127.0.0.1:%d/postgres?sslmode=disable", port)
	db, err := sql.Open("pgx", strings.Replace(url, "//", "//root@", 1))
	if err != nil {
		t.Fatal(err)
	}
	sqldbtest.Connect(t, db)
	return sqldbtest.Target{Connector: postgres.Connector{}, URL: url, User: "root"}, db
}

func TestServer(t *testing.T) {
	target, db := server(t)
	rows := make([]string, 1000)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, '%s', %d)", i, []string{"x", "y"}[i%2], i)
	}
	sqldbtest.Exec(t, db,
		`CREATE TABLE all_types (id INT PRIMARY KEY, flag BOOLEAN, small SMALLINT, big BIGINT, f REAL, d DOUBLE PRECISION, amount DECIMAL(12, 3), name VARCHAR(20),
			raw BYTEA, day DATE, clock TIME, at TIMESTAMP(6), moment TIMESTAMPTZ(3))`,
		`INSERT INTO all_types VALUES (1, TRUE, 7, 9000000000, 1.5, 2.25, 12.345, 'it''s', '\x00ff', '2020-02-29', '10:20:30',
			'2020-02-29 10:20:30.123456', '2020-02-29 10:20:30.123Z'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
		"CREATE TABLE pairs (a INT, b VARCHAR(5), n INT, PRIMARY KEY (a, b))",
		"INSERT INTO pairs VALUES "+strings.Join(rows, ", "),
	)
	sqldbtest.Test(t, target)
}
