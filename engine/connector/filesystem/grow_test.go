package filesystem

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/format/csv"
	"github.com/weirdb/weir/engine/format/json"
	"github.com/weirdb/weir/engine/format/parquet"
	"github.com/weirdb/weir/vector"
)

// tail reads a monitored table. Whenever the source has nothing and would wait, the next
// step of a script is done instead; after the last one the context ends.
type tail struct {
	t      *testing.T
	path   string
	source connector.Source
	split  connector.Split
	reader connector.Reader
	script []func()
	cancel context.CancelFunc
}

func newTail(t *testing.T, path string, options ...string) *tail {
	t.Helper()
	f := &tail{t: t, path: path}
	c := New(csv.Format{}, json.Format{}, parquet.Format{})
	c.after = func(d time.Duration) <-chan time.Time {
		if d != time.Second {
			t.Errorf("waits %v", d)
		}
		now := make(chan time.Time, 1)
		now <- time.Time{}
		if len(f.script) == 0 {
			f.cancel()
			return now
		}
		f.script[0]()
		f.script = f.script[1:]
		return now
	}
	table := connectortest.Table(idName, append([]string{"path", path, "source.monitor-interval", "1 s"}, options...)...)
	var err error
	if f.source, err = c.Source(table, connectortest.Options(t, table, c.Options())); err != nil {
		t.Fatal(err)
	}
	if f.source.Bounded() || !f.source.Replayable() {
		t.Error("what grows has no end, and can be read again")
	}
	splits, err := f.source.Splits(context.Background())
	if err != nil || len(splits) != 1 {
		t.Fatal(splits, err)
	}
	f.split = splits[0]
	return f
}

// open begins a life at a position.
func (f *tail) open(position []byte) error {
	r, err := f.source.Open(context.Background(), f.split, connector.Scan{}, position)
	f.reader = r
	return err
}

// rows does the steps of a script and reads until there is nothing more, or so many rows.
func (f *tail) rows(limit, most int, script ...func()) (rows []string, err error) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f.cancel, f.script = cancel, script
	p := vector.NewCheckedPool()
	for len(rows) < most && (ctx.Err() == nil || len(f.script) > 0) {
		b, err := f.reader.Read(ctx, p, limit)
		if err != nil {
			return rows, err
		}
		if b == nil {
			continue
		}
		for i := range b.Len() {
			rows = append(rows, strings.Trim(connectortest.Row(idName, b, i)[2:], "[]"))
		}
		b.Release()
	}
	if err := p.Leaks(); err != nil {
		f.t.Error(err)
	}
	return rows, nil
}

func (f *tail) want(want string, script ...func()) {
	f.t.Helper()
	got, err := f.rows(100, 1<<30, script...)
	if err != nil || strings.Join(got, ";") != want {
		f.t.Fatalf("got %q, %v, not %q", got, err, want)
	}
}

// restart closes the reader and opens one at its position.
func (f *tail) restart() {
	f.t.Helper()
	position := f.reader.Position()
	if err := f.reader.Close(); err != nil {
		f.t.Fatal(err)
	}
	if err := f.open(position); err != nil {
		f.t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func add(t *testing.T, path, text string) func() {
	return func() {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		must(t, err)
		_, err = f.WriteString(text)
		must(t, errors.Join(err, f.Close()))
	}
}

func rename(t *testing.T, from, to string) func() {
	return func() { t.Helper(); must(t, os.Rename(from, to)) }
}

func TestFollow(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "log.csv")
		add(t, path, "id,na")()
		f := newTail(t, path)
		must(t, f.open(nil))
		again := func() {
			if restarts {
				f.restart()
			}
		}
		f.want("")
		again()
		f.want("1, a", add(t, path, "me\n1,"), add(t, path, "a\n2,\"b"))
		again()
		f.want("2, b\nc", add(t, path, "\nc\""), add(t, path, "\n3,no end"))
		again()
		f.want("")
		again()
		// A log is renamed; who writes it goes on for a moment.
		f.want("3, no end;4, d", rename(t, path, path+".1"), add(t, path+".1", "\n4,d\n"), func() {})
		again()
		// The rest of the first line of the new file's predecessor was a row with its line end.
		f.want("5, e;6, f", add(t, path+".1", "5,e"), add(t, path, "id,name\n6,f\n7"), func() {}, func() {})
		again()
		f.want("7, g", add(t, path, ",g\n"))
		must(t, f.reader.Close())
	}
}

// Rows of the last line without an end count once no one can end it any more.
func TestFollowRotations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "log.json")
	add(t, path, `{"id":1}`+"\n"+`{"id":2}`)()
	f := newTail(t, path)
	must(t, f.open(nil))
	f.want("1, NULL")
	position := f.reader.Position()
	must(t, f.reader.Close())
	// Nobody reads while the log is rotated three times.
	rename(t, path, path+".1")()
	for i := 3; i <= 5; i++ {
		add(t, path, fmt.Sprintf(`{"id":%d}`+"\n", i))()
		at := time.Now().Add(time.Duration(i) * time.Minute)
		must(t, os.Chtimes(path, at, at))
		if i < 5 {
			rename(t, path, fmt.Sprintf("%s.%d", path, i))()
		}
	}
	add(t, path+"x.json", `{"id":100}`)() // another file
	must(t, f.open(position))
	nothing := func() {}
	f.want("2, NULL;3, NULL;4, NULL;5, NULL", slices.Repeat([]func(){nothing}, 8)...)
	f.restart()
	f.want("6, NULL", add(t, path, `{"id":6}`+"\n"))
	must(t, f.reader.Close())
}

func TestFollowTruncated(t *testing.T) {
	t.Parallel()
	const running = "the file was truncated or written anew: it does not have the 12 bytes any more that were read; when a log is rotated, rename the file and begin a new one"
	for name, test := range map[string]struct {
		change  func(path string) error
		running string
	}{
		"shorter": {func(path string) error { return os.Truncate(path, 4) }, running},
		"copied":  {func(path string) error { return os.WriteFile(path, []byte("8,x\n9,y\n10,z\n11,a\n"), 0o666) }, running},
	} {
		for _, stopped := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "log.csv")
			add(t, path, "1,a\n2,b\n3,c\n")()
			f := newTail(t, path)
			must(t, f.open(nil))
			f.want("1, a;2, b;3, c")
			want := path + ": " + test.running
			var err error
			if stopped {
				position := f.reader.Position()
				must(t, f.reader.Close())
				must(t, test.change(path))
				err = f.open(position)
				want = fmt.Sprintf("line 2:3: the file %q does not have the 12 bytes any more that were read: it was truncated or written anew, and no file beside it has them; "+
					"put the file back that was read, or start the query without its state to read this one from its beginning", path)
			} else {
				_, err = f.rows(10, 1, func() { must(t, test.change(path)) })
				must(t, f.reader.Close())
			}
			if fmt.Sprint(err) != want {
				t.Errorf("%s, stopped=%t:\ngot  %v\nwant %s", name, stopped, err, want)
			}
		}
	}
}

// TestFollowPositions writes and rotates a log at random while a reader reads, dies and
// goes on.
func TestFollowPositions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		format := []string{"csv", "json"}[r.IntN(2)]
		path := filepath.Join(t.TempDir(), "log."+format)
		id, pending, rotations, started := 0, "", 0, time.Now()
		var want []string
		begin := func() {
			if pending = ""; format == "csv" {
				pending = "id,name\n"
			}
		}
		begin()
		write := func() {
			for range r.IntN(5) {
				if format == "csv" {
					pending += fmt.Sprintf("%d,\"%s\"\n", id, "x")
				} else {
					pending += fmt.Sprintf("{\"id\":%d,\"name\":\"x\"}\n", id)
				}
				want = append(want, fmt.Sprintf("%d, x", id))
				id++
			}
			n := r.IntN(len(pending) + 1)
			add(t, path, pending[:n])()
			pending = pending[n:]
		}
		rotate := func() {
			add(t, path, pending)()
			rotations++
			at := started.Add(time.Duration(rotations) * time.Second) // clocks of file systems are coarse
			must(t, os.Chtimes(path, at, at))
			rename(t, path, fmt.Sprintf("%s.%d", path, rotations))()
			begin()
			write()
		}
		write()
		f := newTail(t, path)
		must(t, f.open(nil))
		var got []string
		for range 12 {
			var script []func()
			for range r.IntN(4) {
				if r.IntN(3) == 0 {
					script = append(script, rotate, func() {}, func() {})
				} else {
					script = append(script, write)
				}
			}
			rows, err := f.rows(1+r.IntN(5), r.IntN(20), script...)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			got = append(got, rows...)
			for _, step := range f.script { // nobody reads
				step()
			}
			f.script = nil
			if r.IntN(2) == 0 {
				f.restart()
			}
		}
		pending0 := pending
		rows, err := f.rows(100, 1<<30, func() { add(t, path, pending0)() }, func() {}, func() {}, func() {}, func() {})
		got = append(got, rows...)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v: got %q\nwant %q", seed, err, got, want)
		}
		must(t, f.reader.Close())
	}
}

func TestMonitor(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		dir := t.TempDir()
		in := func(name string) string { return filepath.Join(dir, name) }
		for _, pattern := range []string{dir, in("*")} {
			f := newTail(t, pattern, "format", "csv")
			must(t, f.open(nil))
			again := func() {
				if restarts {
					f.restart()
				}
			}
			f.want("")
			again()
			f.want("1, a;2, b", add(t, in("a.csv"), "id,name\n1,a\n2,b"), add(t, in("_c.csv"), "9,hidden\n"))
			again()
			f.want("3, c", add(t, in("a.csv"), "\n8,nobody reads it again\n"), rename(t, in("_c.csv"), in(".c")), add(t, in("b.csv"), "id,name\n3,c\n"))
			again()
			// A file that was taken away comes again.
			f.want("7, g", func() { must(t, os.Remove(in("a.csv"))) }, add(t, in("a.csv"), "7,g\n"))
			again()
			f.want("")
			must(t, f.reader.Close())
			for _, name := range []string{"a.csv", "b.csv", ".c"} {
				must(t, os.Remove(in(name)))
			}
		}
	}
}

// TestMonitorPositions dies within files and between them, while files come.
func TestMonitorPositions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 4))
		dir := t.TempDir()
		n, id := 0, 0
		var want, got []string
		file := func() {
			text := "id,name\n"
			for range r.IntN(10) {
				text += fmt.Sprintf("%d,x\n", id)
				want = append(want, fmt.Sprintf("%d, x", id))
				id++
			}
			hidden := filepath.Join(dir, "_new")
			add(t, hidden, text)()
			rename(t, hidden, filepath.Join(dir, fmt.Sprintf("part-%03d.csv", n)))()
			n++
		}
		f := newTail(t, dir, "format", "csv")
		must(t, f.open(nil))
		for range 15 {
			var script []func()
			for range r.IntN(3) {
				script = append(script, file)
			}
			rows, err := f.rows(1+r.IntN(4), r.IntN(12), script...)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			got = append(got, rows...)
			f.restart()
		}
		rows, err := f.rows(100, 1<<30, func() {})
		got = append(got, rows...)
		slices.Sort(want)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v: got %q\nwant %q", seed, err, got, want)
		}
		// What is remembered of the files is small.
		if size := len(f.reader.Position()); size > 30+len(dir)+15+8*n {
			t.Errorf("seed %d: the position of %d files has %d bytes", seed, n, size)
		}
		must(t, f.reader.Close())
	}
}

func TestMonitorRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	add(t, filepath.Join(dir, "f.parquet"), "x")()
	add(t, filepath.Join(dir, "log.csv"), "1,a\n")()
	c := New(csv.Format{}, parquet.Format{})
	for _, test := range []struct{ path, format, interval, want string }{
		{"-", "csv", "1 s", "line 2:3: standard input is read until it ends: it cannot be monitored; remove 'source.monitor-interval'"},
		{"D/log.csv", "csv", "0 s", "line 2:3: option 'source.monitor-interval': '0 s' is not longer than 0"},
		{"D/f.parquet", "parquet", "1 s", `line 2:3: "D/f.parquet" cannot be read while it grows: files of this format are complete; name a folder or a pattern, which get new files, or remove 'source.monitor-interval'`},
		{"D/lag.csv", "csv", "1 s", `line 2:3: the file "D/lag.csv" does not exist; did you mean "D/log.csv"?`},
		{"D/none/*.csv", "csv", "1 s", "<nil>"},
	} {
		table := connectortest.Table(idName, "path", strings.Replace(test.path, "D", dir, 1), "format", test.format, "source.monitor-interval", test.interval)
		s, err := c.Source(table, connectortest.Options(t, table, c.Options()))
		if err == nil {
			var splits []connector.Split
			if splits, err = s.Splits(context.Background()); err == nil {
				var r connector.Reader
				if r, err = s.Open(context.Background(), splits[0], connector.Scan{}, nil); err == nil {
					must(t, r.Close())
				}
			}
		}
		if got := strings.ReplaceAll(fmt.Sprint(err), dir, "D"); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.path, got, test.want)
		}
	}
	// A position of a file is none of a folder.
	f := newTail(t, dir, "format", "csv")
	if err := f.open([]byte{followedPlace, 0}); !strings.Contains(fmt.Sprint(err), "cannot be read; was 'source.monitor-interval' set or removed") {
		t.Error(err)
	}
}
