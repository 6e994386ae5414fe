package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// buffer is a bytes.Buffer that several goroutines may write and read.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// weir runs the program.
func weir(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err buffer
	code = run(t.Context(), args, streams{in: strings.NewReader(stdin), out: &out, err: &err}, nil)
	return code, out.String(), err.String()
}

// TestDelays runs a join with one group for each state. The rows expected were computed
// without the engine, with decimal numbers and rounding half away from zero.
func TestDelays(t *testing.T) {
	expected, err := os.ReadFile("testdata/delays.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join("..", ".."))
	code, stdout, stderr := weir(t, "", "run", "conformance/testdata/flights/delays.sql")
	if code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var got []string
	for _, line := range lines[2:] {
		cells := strings.Split(line, "|")
		for i, c := range cells {
			cells[i] = strings.TrimSpace(c)
		}
		got = append(got, strings.Join(cells, "|"))
	}
	slices.Sort(got)
	want := strings.Split(strings.TrimSpace(string(expected)), "\n")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := "49 rows\n"; stderr != want {
		t.Errorf("standard error is %q, want %q", stderr, want)
	}
}

const values = "SELECT * FROM (VALUES (1, 'a'), (2, NULL)) AS t(n, s);"

func TestOutputs(t *testing.T) {
	for format, want := range map[string]string{
		"table":     " n | s\n---+------\n 1 | a\n 2 | NULL\n",
		"changelog": " op |      n | s\n----+--------+--------\n +I |      1 | a\n +I |      2 | NULL\n",
		"json":      `{"op":"+I","n":1,"s":"a"}` + "\n" + `{"op":"+I","n":2,"s":null}` + "\n",
		"csv":       "n,s\n1,a\n2,\n",
	} {
		code, stdout, stderr := weir(t, "", "sql", "-e", values, "-o", format)
		if code != exitOK || stdout != want {
			t.Errorf("%s: exit code %d, %s\ngot\n%s\nwant\n%s", format, code, stderr, stdout, want)
		}
	}
}

func TestScriptFromStandardInput(t *testing.T) {
	code, stdout, stderr := weir(t, "CREATE VIEW v AS SELECT 1 AS one;\nSELECT one + 1 AS two FROM v;\n", "run", "-", "-o", "csv")
	if code != exitOK || stdout != "two\n2\n" {
		t.Errorf("exit code %d, %q, %s", code, stdout, stderr)
	}
}

func TestSeveralStatements(t *testing.T) {
	code, stdout, stderr := weir(t, "", "sql", "-e", "CREATE VIEW v AS SELECT 1 AS n", "-e", "SELECT n FROM v; SELECT n + 1 AS m FROM v", "-o", "csv")
	if code != exitOK || stdout != "n\n1\nm\n2\n" {
		t.Errorf("exit code %d, %q, %s", code, stdout, stderr)
	}
}

func TestErrorsHaveAPlace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "q.sql")
	if err := os.WriteFile(file, []byte("CREATE VIEW bid AS SELECT 1 AS price;\n\nSELECT prise FROM bid;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := weir(t, "", "run", file)
	want := fmt.Sprintf("weir: %s: line 3:8: column \"prise\" not found; did you mean \"price\"?\n  SELECT prise FROM bid;\n         ^\n", file)
	if code != exitFailed || stdout != "" || stderr != want {
		t.Errorf("exit code %d, output %q\ngot\n%s\nwant\n%s", code, stdout, stderr, want)
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"run"}, "name one file of SQL"},
		{[]string{"run", "a.sql", "b.sql"}, "name one file of SQL"},
		{[]string{"run", "no-such-file.sql"}, "no such file"},
		{[]string{"sql"}, "execute"},
		{[]string{"sql", "-e", "SELECT 1", "-o", "xml"}, "choose one of table"},
		{[]string{"sql", "-e", "SELECT 1", "--parallel", "-1"}, "must not be negative"},
		{[]string{"sql", "-e", "SELECT 1", "--what"}, "unknown flag"},
		{[]string{"explain"}, "give one file"},
		{[]string{"explain", "-e", "SELECT 1", "--format", "xml"}, "text or json"},
		{[]string{"frobnicate"}, "unknown command"},
	} {
		code, stdout, stderr := weir(t, "", tt.args...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%q: exit code %d, output %q, error %q, want %q", tt.args, code, stdout, stderr, tt.want)
		}
	}
}

func TestNoStatements(t *testing.T) {
	code, stdout, stderr := weir(t, "-- nothing\n", "run", "-")
	if code != exitOK || stdout != "" || !strings.Contains(stderr, "no statements") {
		t.Errorf("exit code %d, output %q, error %q", code, stdout, stderr)
	}
}

func TestExplain(t *testing.T) {
	code, stdout, stderr := weir(t, "", "explain", "-e", "SELECT n FROM (VALUES (1)) AS t(n) WHERE n > 0")
	if code != exitOK || stdout == "" {
		t.Errorf("exit code %d, output %q, error %q", code, stdout, stderr)
	}
}

func TestVersion(t *testing.T) {
	code, stdout, _ := weir(t, "", "version")
	if code != exitOK || !strings.HasPrefix(stdout, "weir ") {
		t.Errorf("exit code %d, output %q", code, stdout)
	}
}

// unbounded is a query that ends only when it is ended.
const unbounded = `CREATE TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000');
SELECT n FROM g;`

// TestReaderGoesAway: "| head" ends the program quietly.
func TestReaderGoesAway(t *testing.T) {
	var stderr buffer
	out := &closing{after: 3}
	code := run(t.Context(), []string{"sql", "-e", unbounded, "-o", "csv"}, streams{in: strings.NewReader(""), out: out, err: &stderr}, nil)
	if code != exitOK || stderr.String() != "" {
		t.Errorf("exit code %d, error %q", code, stderr.String())
	}
}

// closing is a pipe whose reader goes away after some writes.
type closing struct{ after int }

func (c *closing) Write(p []byte) (int, error) {
	if c.after--; c.after < 0 {
		return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
	}
	return len(p), nil
}

// TestSignals: the first one stops the query and says what was done.
func TestSignals(t *testing.T) {
	r, w := io.Pipe()
	signals := make(chan os.Signal, 2)
	var stderr buffer
	code := make(chan int, 1)
	go func() {
		code <- run(context.Background(), []string{"sql", "-e", unbounded, "-o", "csv"},
			streams{in: strings.NewReader(""), out: w, err: &stderr}, signals)
		w.Close()
	}()
	first := make([]byte, 16)
	if _, err := io.ReadFull(r, first); err != nil {
		t.Fatal(err)
	}
	signals <- os.Interrupt
	if _, err := io.Copy(io.Discard, r); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Fatal(err)
	}
	select {
	case c := <-code:
		if c != exitOK || !strings.Contains(stderr.String(), "weir: stopped:") {
			t.Errorf("exit code %d, error %q", c, stderr.String())
		}
	case <-time.After(time.Minute):
		t.Fatal("the query goes on")
	}
}

// TestSecondSignal: a query that does not stop is canceled.
func TestSecondSignal(t *testing.T) {
	r, w := io.Pipe()
	signals := make(chan os.Signal, 2)
	var stderr buffer
	code := make(chan int, 1)
	go func() {
		code <- run(context.Background(), []string{"sql", "-e", unbounded, "-o", "csv"},
			streams{in: strings.NewReader(""), out: w, err: &stderr}, signals)
	}()
	first := make([]byte, 16)
	if _, err := io.ReadFull(r, first); err != nil {
		t.Fatal(err)
	}
	// Nobody reads on, so the graceful stop cannot end.
	signals <- os.Interrupt
	signals <- os.Interrupt
	select {
	case c := <-code:
		if c != exitFailed || !strings.Contains(stderr.String(), "canceled") {
			t.Errorf("exit code %d, error %q", c, stderr.String())
		}
	case <-time.After(time.Minute):
		t.Fatal("the query goes on")
	}
}

// TestState keeps tables from one run to the next.
func TestState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if code, _, stderr := weir(t, "", "sql", "--state", dir, "-e", "CREATE VIEW v AS SELECT 7 AS n"); code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	if code, stdout, stderr := weir(t, "SELECT n FROM v", "run", "--state", dir, "-o", "csv", "-"); code != exitOK || !strings.Contains(stdout, "7") {
		t.Errorf("exit code %d, %s, %s", code, stdout, stderr)
	}
	if code, _, stderr := weir(t, "", "sql", "--state", filepath.Join(dir, "catalog.log"), "-e", "SELECT 1"); code != exitFailed || !strings.Contains(stderr, "state directory cannot be made") {
		t.Errorf("a file for a directory: exit code %d, %s", code, stderr)
	}
}
