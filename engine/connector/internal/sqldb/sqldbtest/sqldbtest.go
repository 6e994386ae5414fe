// Package sqldbtest starts database servers for tests, and tests connectors with them.
package sqldbtest

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Program finds a program by its name, in PATH or in one of the folders, or skips the
// test.
func Program(t *testing.T, name string, folders ...string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, f := range folders {
		found, err := filepath.Glob(filepath.Join(f, name))
		if err == nil && len(found) > 0 {
			return found[len(found)-1]
		}
	}
	t.Skipf("%s is not installed here", name)
	return ""
}

// Folder makes an empty folder for a server's data. Servers refuse to run as root: then
// it belongs to the user that their package made, whose credentials it returns.
func Folder(t *testing.T, account string) (string, *syscall.SysProcAttr) {
	t.Helper()
	dir, err := os.MkdirTemp("", "weir-db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Getuid() != 0 {
		return dir, nil
	}
	u, err := user.Lookup(account)
	if err != nil {
		t.Skipf("there is no user %s to run the server as", account)
	}
	uid, _ := strconv.Atoi(u.Uid) // numbers, on systems that have them
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Skip("the server's folder cannot be given to its user:", err)
	}
	return dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

// Run runs a program to its end.
func Run(t *testing.T, as *syscall.SysProcAttr, dir, name string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.SysProcAttr, c.Dir = as, dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("%s: %v\n%s", name, err, out)
	}
}

// Serve runs a server until the test ends.
func Serve(t *testing.T, as *syscall.SysProcAttr, dir, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.SysProcAttr, c.Dir = as, dir
	c.Stdout, c.Stderr = io.Discard, io.Discard
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait() // it was told to end
	})
}

// Port finds a free port of this machine.
func Port(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// Connect waits until the server answers.
func Connect(t *testing.T, db *sql.DB) {
	t.Helper()
	t.Cleanup(func() { _ = db.Close() })
	deadline := time.Now().Add(time.Minute)
	for {
		err := db.PingContext(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not answer:", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Exec executes statements.
func Exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Target is a database to be tested with.
type Target struct {
	Connector connector.Lookups
	URL       string
	User      string
	Password  string
}

// Bind declares a table.
func (g Target) Bind(t *testing.T, schema sqltype.Schema, key []int, options ...string) (*connector.Table, connector.Options) {
	t.Helper()
	decl := &connector.Table{Name: "t", Schema: schema, PrimaryKey: key, Options: map[string]string{
		"connector": g.Connector.Name(), "url": g.URL, "username": g.User, "password": g.Password,
	}}
	for i := 0; i < len(options); i += 2 {
		decl.Options[options[i]] = options[i+1]
	}
	_, opt, err := connector.NewRegistry(g.Connector).Bind(decl)
	if err != nil {
		t.Fatal(err)
	}
	return decl, opt
}

// All is the schema of the table all_types that Test expects, with rows of which the first
// has values and the second NULLs.
var All = sqltype.Schema{
	{Name: "id", Type: sqltype.IntType.Required()},
	{Name: "flag", Type: sqltype.BoolType},
	{Name: "small", Type: sqltype.SmallType},
	{Name: "big", Type: sqltype.BigIntType},
	{Name: "f", Type: sqltype.FloatType},
	{Name: "d", Type: sqltype.DoubleType},
	{Name: "amount", Type: sqltype.DecimalOf(12, 3)},
	{Name: "name", Type: sqltype.StringType},
	{Name: "raw", Type: sqltype.BytesType},
	{Name: "day", Type: sqltype.DateType},
	{Name: "clock", Type: sqltype.Type{ID: sqltype.Time, Precision: 0}},
	{Name: "at", Type: sqltype.TimestampOf(6)},
	{Name: "moment", Type: sqltype.TimestampLTZOf(3)},
}

// Rows are what all_types holds.
var Rows = []string{
	"1 TRUE 7 9000000000 1.5 2.25 12.345 it's x'00ff' 2020-02-29 10:20:30 2020-02-29 10:20:30.123456 2020-02-29 10:20:30.123Z",
	"2 NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL",
}

// Test reads and asks the tables that the caller made: all_types, and pairs (a INT, b
// VARCHAR, n INT, PRIMARY KEY (a, b)) with the rows (i, 'x' or 'y', i) for i from 0 to 999.
func Test(t *testing.T, g Target) {
	t.Run("types", func(t *testing.T) { g.types(t) })
	t.Run("infer", func(t *testing.T) { g.infer(t) })
	t.Run("resume", func(t *testing.T) { g.resume(t) })
	t.Run("lookup", func(t *testing.T) { g.lookup(t) })
	t.Run("errors", func(t *testing.T) { g.errors(t) })
}

func (g Target) types(t *testing.T) {
	decl, opt := g.Bind(t, All, []int{0}, "table-name", "all_types")
	src, err := g.Connector.Source(decl, opt)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := scan(t, src, All, nil), strings.Join(Rows, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := scan(t, src, All, []int{7, 0}); got != "it's 1\nNULL 2" {
		t.Errorf("projection: %s", got)
	}
}

func (g Target) infer(t *testing.T) {
	decl, opt := g.Bind(t, nil, nil, "table-name", "pairs")
	got, err := g.Connector.Infer(t.Context(), decl, opt)
	if err != nil {
		t.Fatal(err)
	}
	if want := "a INT NOT NULL, b STRING NOT NULL, n INT"; got.String() != want && got.String() != "("+want+")" {
		// Not every driver knows what can be NULL.
		if loose := strings.ReplaceAll(got.String(), " NOT NULL", ""); strings.Trim(loose, "()") != "a INT, b STRING, n INT" {
			t.Errorf("got %s", got)
		}
	}
}

var pairs = sqltype.Schema{
	{Name: "a", Type: sqltype.IntType.Required()}, {Name: "b", Type: sqltype.StringType.Required()}, {Name: "n", Type: sqltype.IntType},
}

func scan(t *testing.T, src connector.Source, schema sqltype.Schema, cols []int) string {
	t.Helper()
	p := vector.NewCheckedPool()
	var out []string
	splits, err := src.Splits(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range splits {
		r, err := src.Open(t.Context(), s, connector.Scan{Columns: cols}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for {
			b, err := r.Read(t.Context(), p, 100)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, text(b, schema.Project(connector.Scan{Columns: cols}.Of(len(schema))))...)
			b.Release()
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
	return strings.Join(out, "\n")
}

func text(b *vector.Batch, schema sqltype.Schema) []string {
	var out []string
	for i := range b.Len() {
		parts := make([]string, len(schema))
		for c, col := range schema {
			if parts[c] = "NULL"; !b.Col(c).IsNull(i) {
				parts[c] = string(sqltype.AppendText(nil, col.Type, b.Col(c), i))
			}
		}
		out = append(out, strings.Join(parts, " "))
	}
	return out
}

// resume reads a part, and goes on from there.
func (g Target) resume(t *testing.T) {
	decl, opt := g.Bind(t, pairs, []int{0, 1}, "table-name", "pairs")
	src, err := g.Connector.Source(decl, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !src.Replayable() || !src.Bounded() {
		t.Error("a table with a key is read to its end, and again")
	}
	p := vector.NewPool()
	var position []byte
	seen := map[int64]bool{}
	for range 10 {
		r, err := src.Open(t.Context(), connector.Split{}, connector.Scan{Columns: []int{2}}, position)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Read(t.Context(), p, 100)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			seen[sqltype.Int(b.Col(0), i)] = true
		}
		b.Release()
		position = r.Position()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d of 1000 rows were read", len(seen))
	}
}

func (g Target) lookup(t *testing.T) {
	decl, opt := g.Bind(t, pairs, nil, "table-name", "pairs", "lookup.batch-size", "64", "lookup.parallelism", "3")
	src, err := g.Connector.Lookup(decl, opt)
	if err != nil {
		t.Fatal(err)
	}
	p := vector.NewCheckedPool()
	filter := connector.Filter{Column: 2, Op: connector.Less, Values: []any{int64(500)}}
	if !src.Takes(filter) {
		t.Error("a comparison of integers is not taken")
	}
	ask := connector.Ask{Keys: []int{0, 1}, Columns: []int{2, 0, 1}, Filters: []connector.Filter{filter}}
	l, err := src.Open(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	b := vector.NewBuilder(p, []vector.Kind{vector.Int32, vector.String})
	for i := range 700 {
		vector.Append(b.Col(0), int32(i))
		b.Col(1).AppendString([]string{"x", "y", "z"}[i%3]) // the table has x for even, y for odd
		b.EndRow(vector.Insert)
	}
	keys := b.Finish()
	for range 2 { // the second time with statements that are prepared
		got, err := l.Lookup(t.Context(), p, keys)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for i := range 500 {
			if i%3 == i%2 && i%3 < 2 {
				want++
			}
		}
		found := map[int64]bool{}
		for i := range got.Len() {
			n := sqltype.Int(got.Col(0), i)
			found[n] = true
			if n != sqltype.Int(got.Col(1), i) || got.Col(2).Text(i) != []string{"x", "y"}[n%2] {
				t.Errorf("row %d is mixed up", n)
			}
		}
		if len(found) != want {
			t.Errorf("%d rows were found, not %d", len(found), want)
		}
		got.Release()
	}
	keys.Release()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func (g Target) errors(t *testing.T) {
	find := func(g Target, schema sqltype.Schema, options ...string) error {
		decl, opt := g.Bind(t, schema, nil, options...)
		src, err := g.Connector.Lookup(decl, opt)
		if err != nil {
			return err
		}
		l, err := src.Open(t.Context(), connector.Ask{Keys: []int{0}, Columns: []int{0}})
		if err != nil {
			return err
		}
		return l.Close()
	}
	away := g
	away.URL = strings.Split(g.URL, "://")[0] + "://127.0.0.1:1/nowhere"
	for name, tt := range map[string]struct {
		err  error
		code errs.Code
		text string
	}{
		"no table":  {find(g, pairs, "table-name", "nothing"), errs.NotFound, "nothing"},
		"no column": {find(g, sqltype.Schema{{Name: "q", Type: sqltype.IntType}}, "table-name", "pairs"), errs.NotFound, "q"},
		"no server": {find(away, pairs, "table-name", "pairs"), errs.Input, "is the server running"},
	} {
		if errs.CodeOf(tt.err) != tt.code || !strings.Contains(fmt.Sprint(tt.err), tt.text) {
			t.Errorf("%s: %v", name, tt.err)
		}
	}
}
