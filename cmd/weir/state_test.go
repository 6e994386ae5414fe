package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// watched is output that closes seen when a text has been written.
type watched struct {
	buffer
	want string
	seen chan struct{}
	once sync.Once
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.buffer.Write(p)
	if strings.Contains(w.String(), w.want) {
		w.once.Do(func() { close(w.seen) })
	}
	return n, err
}

// A job that a signal stops goes on later, and its directory can be looked at.
func TestStateOfQueries(t *testing.T) {
	dir := t.TempDir()
	state, save := filepath.Join(dir, "state"), filepath.Join(dir, "save")
	script := `CREATE TEMPORARY TABLE lines (word STRING) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '-');
		CREATE TEMPORARY TABLE counts (word STRING, n BIGINT) WITH ('connector' = 'print');
		SET 'pipeline.name' = 'words';
		INSERT INTO counts SELECT word, COUNT(*) FROM lines GROUP BY word;`
	stopped := func(input string, want string, args ...string) string {
		t.Helper()
		in, feed := io.Pipe()
		defer feed.Close()
		var errs buffer
		out := &watched{want: want, seen: make(chan struct{})}
		signals := make(chan os.Signal, 1)
		go func() { _, _ = io.WriteString(feed, "word\n"+input) }()
		code := make(chan int, 1)
		go func() {
			args := append([]string{"sql", "-e", script, "--parallel", "2"}, args...)
			code <- run(t.Context(), args, streams{in: in, out: out, err: &errs}, signals)
		}()
		<-out.seen
		signals <- syscall.SIGINT
		if c := <-code; c != exitOK {
			t.Fatalf("exit code %d, %s", c, errs.String())
		}
		return errs.String()
	}
	said := stopped("a\nb\na\n", "+I[b, 1]", "--state", state)
	if !strings.Contains(said, "job words goes on from here when it is started again") {
		t.Errorf("said %q", said)
	}
	said = stopped("a\n", "+U[a, 3]", "--state", state, "--stop-savepoint", save)
	if !strings.Contains(said, "job words goes on from its checkpoint") || !strings.Contains(said, "cannot be read again") || !strings.Contains(said, "savepoint of job words is in "+save) {
		t.Errorf("said %q", said)
	}
	said = stopped("a\n", "+U[a, 4]", "--state", filepath.Join(dir, "other"), "--from-savepoint", save)
	if !strings.Contains(said, "goes on from a savepoint") {
		t.Errorf("said %q", said)
	}

	for _, dir := range []string{state, filepath.Join(state, "jobs", "words"), save} {
		code, stdout, stderr := weir(t, "", "state", "inspect", dir)
		if code != exitOK || stderr != "" {
			t.Fatalf("%s: exit code %d, %s", dir, code, stderr)
		}
		for _, want := range []string{"words\n", "INSERT INTO counts", "epoch", "Scan[1]", "Aggregate[", "groups", "version 1"} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: %q is missing in\n%s", dir, want, stdout)
			}
		}
		code, stdout, _ = weir(t, "", "state", "inspect", "--json", dir)
		var jobs []map[string]any
		if err := json.Unmarshal([]byte(stdout), &jobs); err != nil || code != exitOK || len(jobs) != 1 || jobs[0]["job"] != "words" {
			t.Errorf("%s: %v, %s", dir, err, stdout)
		}
	}
	half := filepath.Join(dir, "half")
	if err := os.CopyFS(filepath.Join(half, "state"), os.DirFS(filepath.Join(save, "state"))); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"state inspect " + dir:                      "there is no state",
		"state inspect " + half:                     "it is not complete: it has no file savepoint.json",
		"state inspect":                             "name one directory",
		"sql -e x --from-savepoint " + save:         "need --state",
		"sql -e x --checkpoint-interval -1s":        "must not be negative",
		"state inspect " + filepath.Join(dir, "no"): "there is no state",
	} {
		if code, _, stderr := weir(t, "", strings.Fields(args)...); code == exitOK || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, want %q", args, code, stderr, want)
		}
	}
}
