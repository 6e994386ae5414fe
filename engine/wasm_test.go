package engine_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/function"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
)

const lab = "testdata/lab.wasm"

// oneRow executes a query whose columns are one row, as text.
func oneRow(t *testing.T, e *engine.Engine, sql string) string {
	t.Helper()
	rows, err := texts(t, e, sql)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(rows, "\n")
}

// texts executes a query and shows its rows, of a batch each line.
func texts(t *testing.T, e *engine.Engine, sql string) ([]string, error) {
	t.Helper()
	q, err := e.ExecuteSQL(t.Context(), sql)
	if err != nil {
		return nil, err
	}
	var rows []string
	for {
		b, err := q.Changelog().Next(t.Context())
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		for i := range b.Len() {
			var cells []string
			for c := range b.Cols() {
				cells = append(cells, string(sqltype.AppendText(nil, q.Schema()[c].Type, b.Col(c), b.Row(i))))
			}
			rows = append(rows, strings.Join(cells, " "))
		}
		b.Release()
	}
}

// copied is a copy of a module in a folder of its own, with a custom section more for
// every version: another content that does the same.
func copied(t *testing.T, path string, version int) {
	t.Helper()
	wasm, err := os.ReadFile(lab)
	if err != nil {
		t.Fatal(err)
	}
	for range version {
		wasm = append(wasm, 0, 2, 1, 'v')
	}
	if err := os.WriteFile(path, wasm, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The content of a module is pinned: another one under its name is not called unless
// that is said.
func TestAFunctionKeepsItsModule(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "lab.wasm")
	copied(t, file, 0)
	cfg := engine.Config{StateDir: filepath.Join(dir, "state"), UDF: udf.Config{CacheDir: filepath.Join(dir, "cache")}}
	var e *engine.Engine
	reopened := func() {
		t.Helper()
		var err error
		if e != nil {
			if err = e.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if e, err = engine.Open(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(sql string, code errs.Code, parts ...string) {
		t.Helper()
		_, err := texts(t, e, sql)
		if errs.CodeOf(err) != code {
			t.Errorf("%s: %v, want %s", sql, err, code)
			return
		}
		for _, p := range parts {
			if !strings.Contains(err.Error(), p) {
				t.Errorf("%s: %v, want %s", sql, err, p)
			}
		}
	}
	create := "FUNCTION root AS 'root' LANGUAGE WASM USING FILE '" + file + "'"

	reopened()
	exec(t, e, "CREATE "+create)
	exec(t, e, "CREATE FUNCTION draw (x BIGINT) RETURNS BIGINT AS 'draw' LANGUAGE WASM USING FILE '"+file+"' WITH ('memory' = '1MiB')")
	exec(t, e, "CREATE TEMPORARY FUNCTION mine AS 'root' LANGUAGE WASM USING FILE '"+file+"'")
	exec(t, e, "CREATE VIEW roots AS SELECT root(a) AS r FROM (VALUES (4), (9)) AS t(a)")
	if _, err := e.ExecuteSQL(t.Context(), "CREATE VIEW v AS SELECT mine(1) AS a"); err == nil || !strings.Contains(err.Error(), "calls a temporary function") {
		t.Errorf("a view over a temporary function: %v", err)
	}
	made := oneRow(t, e, "SHOW CREATE FUNCTION root")
	exec(t, e, "DROP FUNCTION root")
	exec(t, e, made)

	reopened()
	if got := oneRow(t, e, "SELECT r FROM roots"); got != "2\n3" {
		t.Errorf("after a restart the view has %s", got)
	}
	if again := oneRow(t, e, "SHOW CREATE FUNCTION root"); again != made {
		t.Errorf("SHOW CREATE FUNCTION: %s, it was %s", again, made)
	}
	refused("SELECT mine(4)", errs.NotFound)

	copied(t, file, 1)
	if got := oneRow(t, e, "SELECT root(16)"); got != "4" {
		t.Errorf("the module that was loaded gives %s", got)
	}
	refused("CREATE "+create, errs.Exists, "was created from", "CREATE OR REPLACE FUNCTION takes the new file")
	refused("CREATE FUNCTION IF NOT EXISTS root AS 'root' LANGUAGE WASM USING FILE '"+file+"'", errs.Exists, "was created from")
	reopened()
	refused("SELECT r FROM roots", errs.Invalid, "the function root cannot be called", "another content", "CREATE OR REPLACE FUNCTION")
	if got := oneRow(t, e, "DESCRIBE FUNCTION root"); !strings.Contains(got, "error ") {
		t.Errorf("DESCRIBE FUNCTION: %s", got)
	}
	exec(t, e, "CREATE OR REPLACE "+create)
	if got := oneRow(t, e, "SELECT r FROM roots"); got != "2\n3" {
		t.Errorf("after REPLACE the view has %s", got)
	}
	reopened()
	if got := oneRow(t, e, "SELECT r FROM roots"); got != "2\n3" {
		t.Errorf("after REPLACE and a restart the view has %s", got)
	}
	refused("SELECT draw(1)", errs.Invalid, "the function draw cannot be called")
	exec(t, e, "DROP FUNCTION draw")

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	reopened()
	refused("SELECT draw(1)", errs.NotFound, "function draw not found")
	refused("SELECT root(1)", errs.NotFound, "the function root cannot be called", "cannot be read")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFunctionIsDescribed(t *testing.T) {
	e, _ := open(t, engine.Config{})
	exec(t, e, "CREATE FUNCTION root (n BIGINT) RETURNS BIGINT AS 'root' LANGUAGE WASM USING FILE '"+lab+"' WITH ('fuel' = '5000', 'log' = '1KiB')")
	exec(t, e, "CREATE TEMPORARY SYSTEM FUNCTION draw AS 'draw' LANGUAGE WASM USING FILE '"+lab+"'")
	for sql, want := range map[string]string{
		"SHOW USER FUNCTIONS":            "draw\nroot",
		"SHOW USER FUNCTIONS LIKE 'r%'":  "root",
		"SHOW FUNCTIONS LIKE 'ABS'":      "ABS",
		"DESCRIBE FUNCTION UPPER":        "is system function TRUE\nis temporary FALSE\nkind SCALAR\nis deterministic TRUE\nsignature UPPER(STRING)",
		"DESCRIBE FUNCTION EXTENDED sum": "is system function TRUE\nis temporary FALSE\nkind AGGREGATE\nsignature SUM(",
		"DESCRIBE FUNCTION Root": "is system function FALSE\nis temporary FALSE\nkind SCALAR\nsignature root(n BIGINT) RETURNS BIGINT NOT NULL\nis deterministic TRUE\n" +
			"is called on NULL FALSE\nfile testdata/lab.wasm\nsymbol root\nsha256 ",
		"DESCRIBE FUNCTION draw":    "is system function TRUE\nis temporary TRUE\nkind SCALAR\nsignature draw(x BIGINT) RETURNS BIGINT\nis deterministic FALSE\n",
		"SHOW CREATE FUNCTION root": "CREATE FUNCTION default_catalog.default_database.root (n BIGINT) RETURNS BIGINT NOT NULL\n  AS 'root' LANGUAGE WASM USING FILE 'testdata/lab.wasm'\n  WITH ('fuel' = '5000', 'log' = '1KiB')",
		"SHOW CREATE FUNCTION draw": "CREATE TEMPORARY SYSTEM FUNCTION draw (x BIGINT) RETURNS BIGINT\n  AS 'draw' LANGUAGE WASM USING FILE 'testdata/lab.wasm'",
	} {
		if got := oneRow(t, e, sql); !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", sql, got, want)
		}
	}
	for sql, want := range map[string]string{
		"SHOW CREATE FUNCTION upper": "is built in",
		"SHOW CREATE FUNCTION roo":   `did you mean "root"?`,
		"DESCRIBE FUNCTION roo":      `did you mean "root"?`,
		"DROP FUNCTION draw":         "write DROP TEMPORARY SYSTEM FUNCTION draw",
	} {
		if _, err := e.ExecuteSQL(t.Context(), sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	plan, err := e.Explain(t.Context(), "SELECT root(a), draw(b) FROM (VALUES (1, 2)) AS t(a, b)", engine.ExplainText)
	if want := "function draw(BIGINT): testdata/lab.wasm draw, not deterministic\nfunction root(BIGINT): testdata/lab.wasm root\n"; err != nil || !strings.Contains(plan, want) {
		t.Errorf("EXPLAIN: %s, %v, want %s", plan, err, want)
	}
}

// A call that does not end is ended by its budget, its deadline or a cancellation, and
// others do not wait for it.
func TestALongCallEnds(t *testing.T) {
	e, _ := open(t, engine.Config{Parallelism: 1})
	exec(t, e, "CREATE FUNCTION forever AS 'spin' LANGUAGE WASM USING FILE '"+lab+"' WITH ('fuel' = '1000000000000000', 'timeout' = '1h')")
	exec(t, e, "CREATE FUNCTION late AS 'spin' LANGUAGE WASM USING FILE '"+lab+"' WITH ('fuel' = '1000000000000000', 'timeout' = '20ms')")
	exec(t, e, "CREATE FUNCTION dear AS 'spin' LANGUAGE WASM USING FILE '"+lab+"' WITH ('fuel' = '1000', 'fuel-per-row' = '1')")
	const rows = " FROM (VALUES (1000000000000), (2)) AS t(n)"
	running := exec(t, e, "SELECT forever(n)"+rows)
	for sql, want := range map[string]string{"SELECT late(n)" + rows: "late", "SELECT dear(n)" + rows: "fuel"} {
		if _, err := texts(t, e, sql); errs.CodeOf(err) != errs.Function && errs.CodeOf(err) != errs.Limit {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	if got := oneRow(t, e, "SELECT forever(3)"); got != "3" {
		t.Errorf("beside a call that goes on: %s", got)
	}
	running.Cancel()
	if err := running.Wait(t.Context()); errs.CodeOf(err) != errs.Canceled {
		t.Errorf("canceled: %v", err)
	}
}

func TestMetricsOfFunctions(t *testing.T) {
	e, _ := open(t, engine.Config{Parallelism: 2})
	exec(t, e, "CREATE FUNCTION root AS 'root' LANGUAGE WASM USING FILE '"+lab+"'")
	q := exec(t, e, "SELECT root(n), root(n) + 1, root(n + 1) FROM (VALUES (4), (9), (16)) AS t(n) WHERE root(n) > 2")
	got, err := drain(t.Context(), q)
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	m := q.Metrics().Functions
	if len(m) != 1 || m[0].Name != "root" || m[0].Rows != 3+2 || m[0].Errors != 0 || m[0].Calls < 2 || m[0].Busy <= 0 {
		t.Errorf("metrics %+v", m)
	}
	q = exec(t, e, "SELECT root(n) FROM (VALUES (-4)) AS t(n)")
	_, err = drain(t.Context(), q)
	if m := q.Metrics().Functions; err == nil || len(m) != 1 || m[0].Errors != 1 {
		t.Errorf("metrics %+v of a failed call, %v", m, err)
	}
	if want := "root"; !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "called with (-4)") || !strings.Contains(err.Error(), "line 1:8") {
		t.Errorf("the error is %v", err)
	}
}

// What a function draws follows from the query and the clock.
func TestChanceIsReplayed(t *testing.T) {
	results := map[string]bool{}
	for _, now := range []int64{1000, 1000, 2000} {
		e, _ := open(t, engine.Config{Parallelism: 1, Clock: exectest.NewClock(now)})
		exec(t, e, "CREATE FUNCTION draw AS 'draw' LANGUAGE WASM USING FILE '"+lab+"'")
		exec(t, e, "CREATE FUNCTION instant AS 'instant' LANGUAGE WASM USING FILE '"+lab+"'")
		rows := strings.Split(oneRow(t, e, "SELECT draw(n), draw(n), instant(n) FROM (VALUES (1), (2)) AS t(n)"), "\n")
		cells := strings.Fields(rows[0])
		if len(cells) != 3 || cells[0] == cells[1] || cells[2] != fmt.Sprint(now) {
			t.Errorf("at %d: %v", now, rows)
		}
		results[rows[0]] = true
	}
	if len(results) != 2 {
		t.Errorf("runs at 1000, 1000 and 2000 drew %v", results)
	}
}

func TestModulesAreRegistered(t *testing.T) {
	wasm, err := os.ReadFile(lab)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := os.ReadFile("../sdk/c/testdata/kinds.wasm")
	if err != nil {
		t.Fatal(err)
	}
	e, _ := open(t, engine.Config{})
	text := &function.ScalarFunction{
		Name: "Add", Args: []sqltype.Type{sqltype.StringType, sqltype.StringType}, Returns: sqltype.StringType,
		Eval: function.EachRow(func(r function.Row) (any, error) { return string(r.Text(0)) + string(r.Text(1)), nil }),
	}
	if err := errors.Join(e.RegisterFunction(text), e.RegisterModule(t.Context(), "lab", wasm, udf.Limits{}), e.RegisterModule(t.Context(), "kinds", kinds, udf.Limits{})); err != nil {
		t.Fatal(err)
	}
	if err := e.RegisterModule(t.Context(), "lab", wasm, udf.Limits{}); errs.CodeOf(err) != errs.Exists {
		t.Errorf("registered twice: %v", err)
	}
	if err := e.RegisterModule(t.Context(), "none", []byte("none"), udf.Limits{}); err == nil {
		t.Error("what is no module was registered")
	}
	if got, want := oneRow(t, e, "SELECT add(1, 2), ADD(1.5, 2), add('a', 'b'), root(9), or_else(NULL, 7), or_else(NULL)"), "3 3.5 ab 3 7 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := e.ExecuteSQL(t.Context(), "DROP FUNCTION root"); err == nil || !strings.Contains(err.Error(), "was registered by the program") {
		t.Errorf("DROP FUNCTION: %v", err)
	}
	if got := oneRow(t, e, "DESCRIBE FUNCTION add"); strings.Count(got, "signature") != 3 {
		t.Errorf("DESCRIBE FUNCTION: %s", got)
	}
}

func TestLimitsOfFunctions(t *testing.T) {
	e, _ := open(t, engine.Config{MaxLimits: udf.Limits{Memory: 1 << 20, Timeout: time.Second}})
	for with, want := range map[string]string{
		"'memory' = '2MiB'":   "the most is 1048576",
		"'timeout' = '1min'":  "the most is 1s",
		"'memory' = '64KiB'":  "",
		"'timeout' = '200ms'": "",
	} {
		_, err := e.ExecuteSQL(t.Context(), "CREATE OR REPLACE FUNCTION root AS 'root' LANGUAGE WASM USING FILE '"+lab+"' WITH ("+with+")")
		if want != "" && (errs.CodeOf(err) != errs.Limit || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", with, err, want)
		}
	}
	if err := (engine.Config{UDF: udf.Config{Limits: udf.Limits{Stack: -1}}}).Validate(); err == nil {
		t.Error("a negative limit is no error")
	}
}

// A database with functions is not empty, and takes them with it.
func TestFunctionsBelongToDatabases(t *testing.T) {
	e, _ := open(t, engine.Config{})
	exec(t, e, "CREATE DATABASE d")
	exec(t, e, "CREATE FUNCTION d.root AS 'root' LANGUAGE WASM USING FILE '"+lab+"'")
	if got := oneRow(t, e, "SELECT d.root(4)"); got != "2" {
		t.Errorf("d.root(4) is %s", got)
	}
	if got := oneRow(t, e, "SHOW USER FUNCTIONS FROM d"); got != "root" {
		t.Errorf("SHOW USER FUNCTIONS FROM d: %s", got)
	}
	if _, err := texts(t, e, "SHOW FUNCTIONS FROM none"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("SHOW FUNCTIONS FROM none: %v", err)
	}
	if _, err := texts(t, e, "SELECT root(4)"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("root(4): %v", err)
	}
	if _, err := e.ExecuteSQL(t.Context(), "DROP DATABASE d"); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("DROP DATABASE: %v", err)
	}
	exec(t, e, "DROP DATABASE d CASCADE")
	exec(t, e, "CREATE DATABASE d")
	exec(t, e, "USE d")
	if got, err := texts(t, e, "SHOW USER FUNCTIONS"); err != nil || slices.Contains(got, "root") {
		t.Errorf("after DROP DATABASE there are %v, %v", got, err)
	}
}
