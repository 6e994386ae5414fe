package job_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/job"
	"github.com/weirdb/weir/engine/internal/state"
)

// damages are what may happen to a file on its way; nil: it is lost.
func damages() map[string]func(b []byte) []byte {
	all := map[string]func(b []byte) []byte{
		"missing":   func([]byte) []byte { return nil },
		"truncated": func(b []byte) []byte { return b[:len(b)/2] },
		"longer":    func(b []byte) []byte { return append(b, 'x') },
	}
	for i := range 6 {
		all[fmt.Sprint("flipped ", i)] = func(b []byte) []byte {
			if len(b) > 0 {
				b[len(b)*i/6] ^= 0x41
			}
			return b
		}
	}
	return all
}

// copyFolder copies a folder. change may return nil to leave a file out.
func copyFolder(t *testing.T, fs state.FS, from, to string, change func(name string, b []byte) []byte) {
	t.Helper()
	names, err := fs.List(from)
	if err == nil {
		err = fs.MkdirAll(to, 0o777)
	}
	for _, n := range names {
		path := fs.PathJoin(from, n)
		info, statErr := fs.Stat(path)
		if err = errors.Join(err, statErr); err != nil {
			break
		}
		if info.IsDir() {
			copyFolder(t, fs, path, fs.PathJoin(to, n), change)
			continue
		}
		in, openErr := fs.Open(path)
		if err = openErr; err != nil {
			break
		}
		text, readErr := io.ReadAll(in)
		if err = errors.Join(readErr, in.Close()); err != nil {
			break
		}
		if text = change(n, text); text == nil {
			continue
		}
		out, createErr := fs.Create(fs.PathJoin(to, n), "")
		if err = createErr; err != nil {
			break
		}
		_, err = io.Copy(out, bytes.NewReader(text))
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// hinted reports whether an error says what can be done.
func hinted(err error) bool {
	for e := (*errs.Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Hint != "" {
			return true
		}
	}
	return false
}

// A savepoint that was not copied as a whole, or was damaged, is an error that says what
// can be done, and no job begins with less than it had. Nothing is in the way of another
// copy then.
func TestDamagedSavepoints(t *testing.T) {
	feed := exectest.NewFeed(twoInts...)
	d := newDurable(t, feed)
	d.cfg.CheckpointInterval = time.Hour
	fs := d.cfg.Durable.FS
	j := d.start()
	for n := range uint64(3) { // several checkpoints, of which a copy may have lost the last
		feed.Put(rows(n, 50)...)
		if err := j.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := j.Savepoint(t.Context(), fmt.Sprint("save/", n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole, err := job.Inspect("save/2/state", fs)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"savepoint.json"}
	names, err := fs.List("save/2/state")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, names...)
	begin := func(savepoint, name string) (*job.Job, error) {
		fork := newDurable(t, exectest.NewFeed(twoInts...))
		fork.cfg.Durable = job.Durable{Dir: "jobs/" + name, FS: fs, Name: name, Savepoint: savepoint}
		return job.Start(t.Context(), fork.graph(), fork.cfg)
	}
	refused := 0
	for _, file := range files {
		for damage, do := range damages() {
			copied, name := strings.ReplaceAll("copied/"+file+" "+damage, " ", "-"), strings.ReplaceAll(file+" "+damage, " ", "-")
			copyFolder(t, fs, "save/2", copied, func(n string, b []byte) []byte {
				if n == file {
					return do(b)
				}
				return b
			})
			j, err := begin(copied, name)
			if err == nil {
				// The damage is where it does no harm, as in options or in a name.
				if at := j.Recovery().Epoch; at != whole.Epoch {
					t.Errorf("%s %s: the job begins at epoch %d, not %d", file, damage, at, whole.Epoch)
				}
				if err := j.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				continue
			}
			refused++
			var known *errs.Error
			if !errors.As(err, &known) || known.Code != errs.State || !strings.Contains(err.Error(), "copied/") || !hinted(err) {
				t.Errorf("%s %s: %v", file, damage, err)
			}
			if j, err = begin("save/2", name); err != nil {
				t.Fatalf("%s %s: with another copy: %v", file, damage, err)
			}
			if err := j.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d damages of %d files: %d refused", len(files)*len(damages()), len(files), refused)
	if refused < 4*len(files) {
		t.Errorf("%d were refused", refused)
	}
}

// Metrics say how far a checkpoint is.
func TestCheckpointProgress(t *testing.T) {
	feed := exectest.NewFeed(twoInts...)
	d := newDurable(t, feed)
	d.cfg.CheckpointInterval = time.Hour
	committing, goOn := make(chan struct{}), make(chan struct{})
	d.out.fail = func(call string) error {
		if call == "commit" {
			committing <- struct{}{}
			<-goOn
		}
		return nil
	}
	j := d.start() // whose first checkpoint is at once
	<-committing
	if p := j.Metrics().Checkpoints.UnderWay; p.Epoch == 0 || p.Tasks == 0 || p.Passed != p.Tasks || p.For <= 0 {
		t.Errorf("while its sinks commit: %+v", p)
	}
	close(goOn)
	go func() {
		for range committing {
		}
	}()
	if err := j.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(committing)
	if p := j.Metrics().Checkpoints.UnderWay; p != (job.CheckpointProgress{}) {
		t.Errorf("after: %+v", p)
	}
}
