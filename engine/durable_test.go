package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/errs"
)

// reopen runs a script in an engine on a state directory, and returns what a statement
// shows.
func reopen(t *testing.T, dir, script, show string) string {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.ExecuteScript(t.Context(), script, func(q *engine.Query) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if show == "" {
		return ""
	}
	rows, err := e.ExecuteSQL(t.Context(), show)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for {
		b, err := rows.Changelog().Next(t.Context())
		if err != nil {
			return strings.Join(lines, "\n")
		}
		for i := range b.Len() {
			lines = append(lines, b.Col(0).Text(b.Row(i)))
		}
		b.Release()
	}
}

func TestDurableCatalog(t *testing.T) {
	dir := t.TempDir()
	csv := filepath.Join(dir, "prices.csv")
	if err := os.WriteFile(csv, []byte("item,price\nnut,3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(dir, "state")
	reopen(t, state, `
		CREATE TABLE prices WITH ('connector' = 'filesystem', 'path' = '`+csv+`');
		CREATE TABLE sink (item STRING NOT NULL, n BIGINT, twice AS n * 2, PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'blackhole');
		CREATE TEMPORARY TABLE passing (a INT) WITH ('connector' = 'blackhole');
		CREATE TABLE likewise LIKE passing;
		CREATE TABLE copied WITH ('connector' = 'blackhole') AS SELECT item AS what FROM prices;
		CREATE TABLE gone (a INT) WITH ('connector' = 'blackhole');
		CREATE TABLE old (a INT) WITH ('connector' = 'blackhole');
		CREATE DATABASE sales; USE sales;
		CREATE TABLE orders (id INT, n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
		CREATE VIEW many AS SELECT id FROM orders WHERE n > 3;
		CREATE DATABASE other; CREATE TABLE other.t (a INT) WITH ('connector' = 'blackhole');
		CREATE CATALOG mine WITH ('type' = 'generic_in_memory');
		USE CATALOG mine; CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');`, "")
	// Nothing is asked of files again.
	if err := os.Remove(csv); err != nil {
		t.Fatal(err)
	}
	reopen(t, state, `
		ALTER TABLE sink SET ('connector' = 'print');
		ALTER TABLE old RENAME TO young;
		DROP TABLE gone;
		DROP DATABASE other CASCADE;
		CREATE OR REPLACE VIEW sales.many AS SELECT n AS m FROM sales.orders;
		DROP TABLE mine.`+"`default`"+`.t; DROP CATALOG mine;`, "")
	for show, want := range map[string]string{
		"SHOW CATALOGS":                            "default_catalog",
		"SHOW DATABASES":                           "default_database\nsales",
		"SHOW TABLES":                              "copied\nlikewise\nprices\nsink\nyoung",
		"SHOW TABLES LIKE '%i%'":                   "copied\nlikewise\nprices\nsink",
		"SHOW TABLES FROM sales":                   "many\norders",
		"SHOW COLUMNS FROM sink LIKE 't%'":         "twice",
		"SHOW TABLES FROM sale":                    `line 1:18: database "sale" not found; did you mean "sales"?`,
		"SHOW DATABASES IN mine":                   `line 1:19: catalog "mine" not found; there is only default_catalog`,
		"SHOW VIEWS FROM sales":                    "many",
		"DESCRIBE prices":                          "item\nprice",
		"DESCRIBE copied":                          "what",
		"SHOW CURRENT DATABASE":                    "default_database",
		"SELECT 'row' FROM sales.many WHERE m = m": "row\nrow\nrow\nrow\nrow",
		"SHOW CREATE TABLE sink": "CREATE TABLE default_catalog.default_database.sink (\n  item STRING NOT NULL,\n  n BIGINT,\n  twice AS n * 2,\n" +
			"  PRIMARY KEY (item) NOT ENFORCED\n) WITH (\n  'connector' = 'print'\n)",
	} {
		got := reopen(t, state, "", show)
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", show, got, want)
		}
	}
}

func TestStateDirectoryErrors(t *testing.T) {
	dir := t.TempDir()
	cfg := engine.Config{StateDir: dir}
	e, err := engine.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Open(t.Context(), cfg); errs.CodeOf(err) != errs.State || !strings.Contains(err.Error(), "in use by another engine") {
		t.Errorf("opened twice: %v", err)
	}
	run := func(sql string) error {
		return e.ExecuteScript(t.Context(), sql, func(*engine.Query) error { return nil })
	}
	if err := run("CREATE TEMPORARY TABLE tmp (a INT) WITH ('connector' = 'datagen'); CREATE TEMPORARY VIEW w AS SELECT a FROM tmp"); err != nil {
		t.Fatal(err)
	}
	err = run("CREATE VIEW v AS SELECT a FROM w")
	if want := `line 1:13: view "v" is kept in the state directory, but reads a temporary table or view, or calls a temporary function; CREATE TEMPORARY VIEW, or create permanently what it reads`; err == nil || err.Error() != want {
		t.Errorf("a view over a temporary table: %v", err)
	}
	for _, c := range []struct{ sql, want string }{
		{"DROP DATABASE default_database", "is in use; USE another one first"},
		{"CREATE DATABASE d; CREATE TABLE d.t (a INT) WITH ('connector' = 'print'); DROP DATABASE d", "is not empty; DROP DATABASE .. CASCADE"},
		{"DROP DATABASE dd", `database "dd" not found; did you mean "d"?`},
		{"DROP CATALOG default_catalog", "is in use; USE CATALOG another one first"},
		{"CREATE CATALOG c WITH ('type' = 'hive')", "there is no catalog type 'hive'"},
		{"CREATE CATALOG c WITH ('type' = 'generic_in_memory', 'default-database' = 'first')", ""},
		{"CREATE CATALOG c", `a catalog "c" exists already`},
		{"USE CATALOG c; CREATE TABLE t (a INT) WITH ('connector' = 'print'); USE CATALOG default_catalog; DROP CATALOG c", `its database "first" has tables, views or functions`},
		{"DROP DATABASE c.first CASCADE", "is the default one of its catalog"},
		{"CREATE TABLE d.u (a INT) WITH ('connector' = 'print'); ALTER TABLE d.u RENAME TO t", "exists already"},
	} {
		switch err := run(c.sql); {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", c.sql, err, c.want)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	// A torn tail is dropped, and a newer version refused.
	path := filepath.Join(dir, "catalog.log")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-3], 0o644); err != nil {
		t.Fatal(err)
	}
	if e, err = engine.Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	e.Close()
	if err := os.WriteFile(path, bytes.Replace(text, []byte("catalog 1"), []byte("catalog 9"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err = engine.Open(t.Context(), cfg); errs.CodeOf(err) != errs.State || !strings.Contains(err.Error(), "use the newer program") {
		t.Errorf("a newer version: %v", err)
	}
}
