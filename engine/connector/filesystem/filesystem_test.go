package filesystem_test

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
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/connector/filesystem"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/format/csv"
	"github.com/weirdb/weir/engine/format/json"
	"github.com/weirdb/weir/engine/format/parquet"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var fruit = sqltype.Schema{{Name: "id", Type: sqltype.BigIntType}, {Name: "name", Type: sqltype.StringType}}

func files() filesystem.Connector {
	return filesystem.New(csv.Format{}, json.Format{}, parquet.Format{})
}

func source(t testing.TB, c filesystem.Connector, options ...string) (connector.Source, error) {
	t.Helper()
	table := connectortest.Table(fruit, options...)
	opt, err := connector.ParseOptions(table, c.Options())
	if err != nil {
		return nil, err
	}
	return c.Source(table, opt)
}

func readAll(t testing.TB, c filesystem.Connector, options ...string) ([]string, error) {
	t.Helper()
	s, err := source(t, c, options...)
	if err != nil {
		return nil, err
	}
	splits, err := s.Splits(context.Background())
	if err != nil {
		return nil, err
	}
	var rows []string
	for _, split := range splits {
		r, err := s.Open(context.Background(), split, connector.Scan{}, nil)
		if err != nil {
			return nil, err
		}
		more, err := connectortest.ReadAll(t, r, fruit, 100)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func write(t testing.TB, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSource(t *testing.T) {
	dir := t.TempDir()
	a := write(t, filepath.Join(dir, "in/a.csv"), "id,name\n1,a\n")
	write(t, filepath.Join(dir, "in/b.csv"), "id,name\n2,b\n")
	write(t, filepath.Join(dir, "in/sub/c.csv"), "id,name\n3,c\n")
	write(t, filepath.Join(dir, "in/.hidden.csv"), "id,name\n4,d\n")
	write(t, filepath.Join(dir, "in/_notes"), "5,e\n")
	write(t, filepath.Join(dir, "f.jsonl"), `{"id":6}`)
	if err := os.Mkdir(filepath.Join(dir, "none"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		options []string
		want    string
	}{
		{[]string{"path", a}, "+I[1, a]"},
		{[]string{"path", "file://" + a}, "+I[1, a]"},
		{[]string{"path", filepath.Join(dir, "in"), "format", "csv"}, "+I[1, a];+I[2, b];+I[3, c]"},
		{[]string{"path", filepath.Join(dir, "in/*.csv"), "format", "csv"}, "+I[1, a];+I[2, b]"},
		{[]string{"path", filepath.Join(dir, "in/*"), "format", "csv"}, "+I[1, a];+I[2, b]"},
		{[]string{"path", filepath.Join(dir, "f.jsonl")}, "+I[6, NULL]"},
		{[]string{"path", filepath.Join(dir, "none"), "format", "csv"}, ""},
	} {
		rows, err := readAll(t, files(), tt.options...)
		if got := strings.Join(rows, ";"); got != tt.want || err != nil {
			t.Errorf("%v: got %q, %v", tt.options, got, err)
		}
	}
}

func TestSourceErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "flights.csv"), "1,a\n")
	for _, tt := range []struct {
		options []string
		want    string
		code    errs.Code
	}{
		{[]string{"path", "D/fligts.csv"}, `line 2:3: the file "D/fligts.csv" does not exist; did you mean "D/flights.csv"?`, errs.NotFound},
		{[]string{"path", "D/x/f.csv"}, `line 2:3: the file "D/x/f.csv" does not exist; there is no folder "D/x" either`, errs.NotFound},
		{[]string{"path", "D/*.json", "format", "json"}, `line 2:3: no file matches 'D/*.json'`, errs.NotFound},
		{[]string{"path", "D/[", "format", "json"}, `line 2:3: 'D/[' is not a valid pattern`, errs.Option},
		{[]string{"path", "s3://b/f.csv"}, `line 2:3: there is no file system "s3"; paths are local: '/folder/file' or 'file:///folder/file'`, errs.Option},
		{[]string{"path", ""}, `line 2:3: the option 'path' is empty`, errs.Option},
		{[]string{"path", "D/flights"}, `line 2:3: the option 'format' is missing; choose one of 'csv', 'json', 'parquet'`, errs.Option},
		{[]string{"path", "D/flights.csv", "json.changelog", "true"}, `line 2:3: the option 'json.changelog' is for format json, not csv`, errs.Option},
		{[]string{"path", "D/flights.csv", "csv.headr", "true"}, `line 2:3: unknown option 'csv.headr' for table "t"; did you mean "csv.header"?`, errs.Option},
		{[]string{"format", "csv"}, `line 1:14: table "t" needs the option 'path': a file, a folder, a pattern such as 'logs/*.csv', or '-' for standard input or output; what does not exist yet is made a file when the name has an extension, else a folder`, errs.Option},
	} {
		options := slices.Clone(tt.options)
		for i := range options {
			options[i] = strings.Replace(options[i], "D/", dir+"/", 1)
		}
		_, err := readAll(t, files(), options...)
		if got := strings.ReplaceAll(fmt.Sprint(err), dir+"/", "D/"); got != tt.want || errs.CodeOf(err) != tt.code {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestStandardInput(t *testing.T) {
	c := files()
	r, w := io.Pipe()
	c.Stdin = r
	s, err := source(t, c, "path", "-", "format", "csv")
	if err != nil {
		t.Fatal(err)
	}
	if s.Replayable() {
		t.Error("a stream can be read again")
	}
	splits, err := s.Splits(context.Background())
	if err != nil || len(splits) != 1 {
		t.Fatal(splits, err)
	}
	reader, err := s.Open(context.Background(), splits[0], connector.Scan{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := vector.NewCheckedPool()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if b, err := reader.Read(ended, p, 10); b != nil || err != nil {
		t.Errorf("nothing was written, but read %v, %v", b, err)
	}
	// A row can be read before the next is written.
	for _, line := range []string{"1,a\n", "2,b\n"} {
		if _, err := io.WriteString(w, line); err != nil {
			t.Fatal(err)
		}
		b, err := reader.Read(context.Background(), p, 10)
		if err != nil || b.Len() != 1 {
			t.Fatal(b, err)
		}
		b.Release()
	}
	w.Close()
	if _, err := reader.Read(context.Background(), p, 10); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if err := errors.Join(reader.Close(), p.Leaks()); err != nil {
		t.Error(err)
	}
}

// run writes batches of rows as a query of some shards and checkpoints does.
type run struct {
	sink    connector.Sink
	writers []connector.Writer
	commit  connector.Committer
	p       *vector.Pool
}

func begin(t testing.TB, c filesystem.Connector, shards int, options ...string) (*run, error) {
	t.Helper()
	table := connectortest.Table(fruit, options...)
	opt, err := connector.ParseOptions(table, c.Options())
	if err != nil {
		return nil, err
	}
	r := &run{p: vector.NewCheckedPool()}
	if r.sink, err = c.Sink(table, opt); err != nil {
		return nil, err
	}
	if r.commit, err = r.sink.Committer(context.Background()); err != nil {
		return nil, err
	}
	if err := r.commit.Abort(nil); err != nil {
		return nil, err
	}
	for i := range shards {
		w, err := r.sink.Writer(context.Background(), i, shards)
		if err != nil {
			return nil, err
		}
		r.writers = append(r.writers, w)
	}
	return r, nil
}

func (r *run) write(t testing.TB, shard int, rows ...[]string) {
	t.Helper()
	b := connectortest.Batch(t, r.p, fruit, rows...)
	defer b.Release()
	if err := r.writers[shard].Write(b); err != nil {
		t.Fatal(err)
	}
	if err := r.writers[shard].EndEpoch(); err != nil {
		t.Fatal(err)
	}
}

func (r *run) prepare(t testing.TB, checkpoint uint64) (handles [][]byte) {
	t.Helper()
	for _, w := range r.writers {
		h, err := w.Prepare(checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		handles = append(handles, h)
	}
	return handles
}

func (r *run) close(t testing.TB) {
	t.Helper()
	for _, w := range r.writers {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(r.commit.Close(), r.p.Leaks()); err != nil {
		t.Error(err)
	}
}

func list(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestSingleFile(t *testing.T) {
	reading := map[string][]string{"csv": {"csv.null-literal", ""}} // options for reading back
	for _, format := range []string{"csv", "json", "parquet"} {
		t.Run(format, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out."+format)
			r, err := begin(t, files(), 1, "path", path)
			if err != nil {
				t.Fatal(err)
			}
			if r.sink.MaxWriters() != 1 || r.sink.Guarantee() != connector.ExactlyOnce {
				t.Error("one file has one writer, exactly once")
			}
			r.write(t, 0, []string{"1", "a"}, []string{"2", "NULL"})
			if err := r.commit.Commit(r.prepare(t, 1)); err != nil {
				t.Fatal(err)
			}
			r.write(t, 0, []string{"3", "c"})
			if err := r.commit.Commit(r.prepare(t, 2)); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("the file is shown before it is complete")
			}
			if rows, err := readAll(t, files(), "path", dir, "format", format); len(rows) != 0 || err != nil {
				t.Errorf("the folder shows %q, %v", rows, err)
			}
			r.write(t, 0, []string{"4", "d"})
			handles := r.prepare(t, connector.Final)
			for range 2 { // a commit can be done again
				if err := r.commit.Commit(handles); err != nil {
					t.Fatal(err)
				}
				rows, err := readAll(t, files(), append([]string{"path", path}, reading[format]...)...)
				if got := strings.Join(rows, ";"); got != "+I[1, a];+I[2, NULL];+I[3, c];+I[4, d]" || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
			}
			r.close(t)
			if got := list(t, dir); got != "out."+format {
				t.Errorf("files: %s", got)
			}

			// Another query adds to the file, or replaces it.
			for _, tt := range []struct{ exists, want string }{
				{"append", "+I[1, a];+I[2, NULL];+I[3, c];+I[4, d];+I[5, e]"},
				{"replace", "+I[5, e]"},
			} {
				options := []string{"path", path, "sink.exists", tt.exists}
				if r, err = begin(t, files(), 1, options...); err != nil {
					t.Fatal(err)
				}
				r.write(t, 0, []string{"5", "e"})
				if err := r.commit.Commit(r.prepare(t, connector.Final)); err != nil {
					t.Fatal(err)
				}
				r.close(t)
				rows, err := readAll(t, files(), append([]string{"path", path}, reading[format]...)...)
				if got := strings.Join(rows, ";"); got != tt.want || err != nil {
					t.Errorf("%s: got %q, %v", tt.exists, got, err)
				}
			}
			if _, err = begin(t, files(), 1, "path", path, "sink.exists", "error"); errs.CodeOf(err) != errs.Exists {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A query without rows leaves a file without rows, not none.
func TestEmptyResult(t *testing.T) {
	dir := t.TempDir()
	for _, format := range []string{"csv", "json", "parquet"} {
		path := filepath.Join(dir, "out."+format)
		r, err := begin(t, files(), 1, "path", path)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.commit.Commit(r.prepare(t, connector.Final)); err != nil {
			t.Fatal(err)
		}
		r.close(t)
		rows, err := readAll(t, files(), "path", path)
		if len(rows) != 0 || err != nil {
			t.Errorf("%s: got %q, %v", format, rows, err)
		}
	}
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "out")
	r, err := begin(t, files(), 2, "path", dir, "format", "json")
	if err != nil {
		t.Fatal(err)
	}
	if r.sink.MaxWriters() != 0 {
		t.Error("a folder takes any number of writers")
	}
	r.write(t, 0, []string{"1", "a"})
	r.write(t, 1, []string{"2", "b"})
	handles := r.prepare(t, 1)
	if rows, err := readAll(t, files(), "path", dir, "format", "json"); len(rows) != 0 || err != nil {
		t.Errorf("rows are shown before the commit: %q, %v", rows, err)
	}
	for range 2 {
		if err := r.commit.Commit(handles); err != nil {
			t.Fatal(err)
		}
	}
	r.write(t, 1, []string{"3", "c"})
	r.write(t, 0, []string{"4", "never prepared"})
	rows, err := readAll(t, files(), "path", dir, "format", "json")
	slices.Sort(rows)
	if got := strings.Join(rows, ";"); got != "+I[1, a];+I[2, b]" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	r.close(t) // the query fails here
	if err := r.commit.Abort(nil); err != nil {
		t.Fatal(err)
	}
	if names := list(t, dir); strings.Contains(names, "inprogress") || strings.Count(names, "part-") != 2 {
		t.Errorf("files: %s", names)
	}
}

// After a crash the handles of the last checkpoint are committed again, and what
// was written since is thrown away.
func TestRecovery(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	r, err := begin(t, files(), 1, "path", path)
	if err != nil {
		t.Fatal(err)
	}
	r.write(t, 0, []string{"1", "a"})
	handles := r.prepare(t, 1)
	r.write(t, 0, []string{"2", "lost"}) // the process dies: nothing is closed

	table := connectortest.Table(fruit, "path", path)
	opt := connectortest.Options(t, table, files().Options())
	sink, err := files().Sink(table, opt)
	if err != nil {
		t.Fatal(err)
	}
	again := &run{sink: sink, p: r.p}
	if again.commit, err = sink.Committer(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(again.commit.Abort(handles), again.commit.Commit(handles)); err != nil {
		t.Fatal(err)
	}
	w, err := sink.Writer(context.Background(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	again.writers = []connector.Writer{w}
	again.write(t, 0, []string{"3", "c"})
	if err := again.commit.Commit(again.prepare(t, connector.Final)); err != nil {
		t.Fatal(err)
	}
	again.close(t)
	rows, err := readAll(t, files(), "path", path)
	if got := strings.Join(rows, ";"); got != "+I[1, a];+I[3, c]" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got := list(t, dir); got != "out.csv" {
		t.Errorf("files: %s", got)
	}
}

func TestSinkErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	write(t, filepath.Join(dir, "other.csv"), "key,label\n1,a\n")
	write(t, filepath.Join(dir, "array.json"), "[]")
	write(t, filepath.Join(dir, "text.parquet"), "text")
	for _, tt := range []struct {
		options []string
		want    string
	}{
		{[]string{"path", dir + "/*.csv", "format", "csv"}, `line 2:3: a pattern cannot be written to; name a file or a folder`},
		{[]string{"path", dir + "/file/out.csv"}, `line 2:3: "D/file/out.csv" cannot be written: D/file: not a directory`},
		{[]string{"path", dir + "/other.csv"}, `line 2:3: rows cannot be added to the file "D/other.csv": it does not begin with the header "id,name"; name another file, or set 'sink.exists' = 'replace'`},
		{[]string{"path", dir + "/array.json"}, `line 2:3: rows cannot be added to the file "D/array.json": it is a JSON array, not JSON lines; name another file, or set 'sink.exists' = 'replace'`},
		{[]string{"path", dir + "/out.csv", "csv.header", "skip"}, `line 2:3: 'csv.header' = 'skip' is for reading only; use 'true' or 'false'`},
	} {
		_, err := begin(t, files(), 1, tt.options...)
		if got := strings.ReplaceAll(fmt.Sprint(err), dir, "D"); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	if _, err := begin(t, files(), 1, "path", filepath.Join(dir, "text.parquet")); errs.CodeOf(err) != errs.Output {
		t.Errorf("got %v", err)
	}
}

// Rows are added behind a last line without an end.
func TestAppendToOpenLine(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "out.csv"), "id,name\n1,a")
	r, err := begin(t, files(), 1, "path", path)
	if err != nil {
		t.Fatal(err)
	}
	r.write(t, 0, []string{"2", "b"})
	if err := r.commit.Commit(r.prepare(t, connector.Final)); err != nil {
		t.Fatal(err)
	}
	r.close(t)
	if got, err := os.ReadFile(path); err != nil || string(got) != "id,name\n1,a\n2,b\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestStandardOutput(t *testing.T) {
	c := files()
	var out bytes.Buffer
	c.Stdout = &out
	r, err := begin(t, c, 1, "path", "-", "format", "csv")
	if err != nil {
		t.Fatal(err)
	}
	r.write(t, 0, []string{"1", "a"})
	if got := out.String(); got != "id,name\n1,a\n" {
		t.Errorf("after an epoch: %q", got)
	}
	r.prepare(t, connector.Final)
	r.close(t)
	if got := out.String(); got != "id,name\n1,a\n" {
		t.Errorf("at the end: %q", got)
	}
}

func TestInfer(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "a.csv"), "id,name\n1,a\n")
	c := files()
	table := connectortest.Table(nil, "path", path)
	got, err := c.Infer(context.Background(), table, connectortest.Options(t, table, c.Options()))
	if err != nil || got.String() != "(id BIGINT, name STRING)" {
		t.Errorf("got %v, %v", got, err)
	}
	table = connectortest.Table(nil, "path", "-", "format", "csv")
	if _, err := c.Infer(context.Background(), table, connectortest.Options(t, table, c.Options())); err == nil {
		t.Error("the columns of a stream were inferred")
	}
}

func ExampleNew() {
	files := filesystem.New(csv.Format{}, json.Format{})
	for _, o := range files.Options()[:2] {
		fmt.Println(o.Name, o.Choices)
	}
	// Output:
	// path []
	// format [csv json]
}
