package engine_test

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/errs"
)

// shown is the one text that a statement gives.
func shown(t *testing.T, e *engine.Engine, sql string) string {
	t.Helper()
	b, err := exec(t, e, sql).Changelog().Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	return b.Col(0).Text(0)
}

// TestShowCreateMakesTheSame executes what SHOW CREATE shows, and shows that again.
func TestShowCreateMakesTheSame(t *testing.T) {
	e, _ := open(t, engine.Config{})
	for name, sql := range map[string]string{
		"TABLE whole": `CREATE TABLE whole (a INT NOT NULL, b DECIMAL(10, 2) COMMENT 'it''s', ` + "`order`" + ` STRING, c AS a + 1, ts TIMESTAMP(3),
			WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (a) NOT ENFORCED) COMMENT 'all there is'
			WITH ('connector' = 'filesystem', 'path' = 'a''b.csv', 'format' = 'csv')`,
		"TABLE bids2": "CREATE TEMPORARY TABLE bids2 WITH ('connector' = 'blackhole') LIKE bids",
		"VIEW v":      "CREATE VIEW v (x, n) AS SELECT auction, COUNT(*) FROM bids WHERE price > 3 GROUP BY auction",
		"VIEW w":      "CREATE TEMPORARY VIEW w COMMENT 'all' AS WITH q AS (SELECT * FROM bids) SELECT price FROM q EXCEPT ALL SELECT 1",
	} {
		exec(t, e, sql)
		text := shown(t, e, "SHOW CREATE "+name)
		if temporary := strings.Contains(sql, "TEMPORARY"); strings.Contains(text, "TEMPORARY") != temporary {
			t.Errorf("temporary is %t: %s", temporary, text)
		}
		kind, _, _ := strings.Cut(name, " ")
		if strings.Contains(text, "TEMPORARY") {
			kind = "TEMPORARY " + kind
		}
		exec(t, e, "DROP "+kind+" "+strings.Fields(name)[1])
		exec(t, e, text)
		if again := shown(t, e, "SHOW CREATE "+name); again != text {
			t.Errorf("%s became\n%s", text, again)
		}
	}
	_, err := e.ExecuteSQL(t.Context(), "SHOW CREATE TABLE v")
	if errs.CodeOf(err) != errs.Invalid {
		t.Error(err)
	}
}

// TestCreateTableAs fills the table that it makes; when the table is there it does
// nothing.
func TestCreateTableAs(t *testing.T) {
	e, _ := open(t, engine.Config{})
	create := "CREATE TABLE IF NOT EXISTS t WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '" + filepath.Join(t.TempDir(), "t.csv") +
		"') AS SELECT a, UPPER(b) AS c FROM (VALUES (2, 'y'), (1, 'x')) AS v(a, b) ORDER BY a"
	for range 2 {
		if err := exec(t, e, create).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	q := exec(t, e, "SELECT * FROM t ORDER BY a DESC")
	var got []string
	for {
		b, err := q.Changelog().Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			got = append(got, b.Col(1).Text(b.Row(i)))
		}
		b.Release()
	}
	if strings.Join(got, " ") != "Y X" {
		t.Errorf("the table has %q", got)
	}
}
