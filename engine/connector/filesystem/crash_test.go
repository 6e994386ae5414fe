package filesystem

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/format/csv"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var idName = sqltype.Schema{{Name: "id", Type: sqltype.BigIntType}, {Name: "name", Type: sqltype.StringType}}

// sinkJob is a query that writes rows 0 .. rows-1 with a checkpoint every few rows. What
// it stores of a checkpoint outlives a kill, as a state directory does.
type sinkJob struct {
	t      *testing.T
	disk   *memDisk
	path   string
	name   string // "": it cannot be gone on with
	exists string
	rows   int
	every  int
	// fails says which checkpoints are not stored after they were prepared.
	fails func(checkpoint uint64) bool

	// Stored at the last checkpoint.
	at         int
	checkpoint uint64
	handles    [][]byte
	ended      bool
}

// run is one life of the query with a number of writers. It returns errKilled when the
// disk killed it.
func (j *sinkJob) run(shards int) error {
	c := New(csv.Format{})
	c.disk = j.disk
	table := connectortest.Table(idName, "path", j.path, "format", "csv", "sink.exists", j.exists)
	s, err := c.Sink(table, connectortest.Options(j.t, table, c.Options()))
	if err != nil {
		return err
	}
	if j.name != "" {
		s.(connector.Resumable).Resume(j.name)
	}
	ctx := context.Background()
	committer, err := s.Committer(ctx)
	if err != nil {
		return err
	}
	if len(j.handles) > 0 {
		if err := committer.Commit(j.handles); err != nil {
			return err
		}
	}
	if err := committer.Abort(j.handles); err != nil || j.ended {
		return err
	}
	if most := s.MaxWriters(); most > 0 {
		shards = min(shards, most)
	}
	writers := make([]connector.Writer, shards)
	for i := range writers {
		if writers[i], err = s.Writer(ctx, i, shards); err != nil {
			return err
		}
	}
	p := vector.NewPool()
	at, checkpoint := j.at, j.checkpoint
	var failed [][]byte
	for !j.ended {
		for range min(j.every, j.rows-at) {
			b := connectortest.Batch(j.t, p, idName, []string{fmt.Sprint(at), "x"})
			err := writers[at%shards].Write(b)
			b.Release()
			if err != nil {
				return err
			}
			at++
		}
		if checkpoint++; at == j.rows {
			checkpoint = connector.Final
		}
		handles := failed
		for _, w := range writers {
			h, err := w.Prepare(checkpoint)
			if err != nil {
				return err
			}
			if h != nil {
				handles = append(handles, h)
			}
		}
		if checkpoint != connector.Final && j.fails != nil && j.fails(checkpoint) {
			failed = handles
			continue
		}
		if err := j.disk.step(); err != nil { // the state directory
			return err
		}
		j.at, j.checkpoint, j.handles, j.ended = at, checkpoint, handles, at == j.rows
		failed = nil
		if err := committer.Commit(handles); err != nil {
			return err
		}
	}
	for _, w := range writers {
		if err := w.Close(); err != nil {
			return err
		}
	}
	return committer.Close()
}

// TestKilledBetweenSteps kills a query before each step that it does to the disk, with
// and without the loss of power, and goes on with it.
func TestKilledBetweenSteps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, path, exists string
		before             string // what the file has when the query begins
		every              int
	}{
		{"parts", "out", "append", "", 3},
		{"one part", "out", "append", "", 100},
		{"file", "out/f.csv", "append", "", 3},
		{"file at once", "out/f.csv", "append", "", 100},
		{"added to", "out/f.csv", "append", "id,name\n100,y", 3},
		{"replaced", "out/f.csv", "replace", "id,name\n100,y\n", 3},
	} {
		for _, power := range []bool{false, true} {
			for _, failing := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/power=%t/failing=%t", test.name, power, failing), func(t *testing.T) {
					t.Parallel()
					for seed := range uint64(2) {
						for killAt := 1; ; killAt++ {
							r := rand.New(rand.NewPCG(seed, uint64(killAt)))
							j := &sinkJob{t: t, disk: newMemDisk(), path: test.path, name: "job", exists: test.exists, rows: 10, every: test.every}
							if failing {
								j.fails = func(n uint64) bool { return n%2 == 1 }
							}
							if test.before != "" {
								j.disk.folder["out"] = true
								j.disk.files[test.path] = &memFile{disk: j.disk, data: []byte(test.before), synced: len(test.before)}
								j.disk.stored[test.path] = j.disk.files[test.path]
							}
							if !j.live(r, killAt, power) {
								break
							}
							j.check(test.before, fmt.Sprintf("seed %d, killed before step %d", seed, killAt))
						}
						if !power {
							break
						}
					}
				})
			}
		}
	}
}

// live runs the query until it ends: it is killed once before a step, then a few times
// more. It reports false when there is no such step.
func (j *sinkJob) live(r *rand.Rand, killAt int, power bool) bool {
	j.t.Helper()
	for life := 0; ; life++ {
		j.disk.restart()
		switch {
		case life == 0:
			j.disk.killAt = killAt
		case life < 4:
			j.disk.killAt = 1 + r.IntN(30)
		}
		err := j.run(1 + r.IntN(3))
		if err == nil {
			return life > 0
		}
		if !errors.Is(err, errKilled) {
			j.t.Fatalf("killed before step %d, life %d: %v\n%s", killAt, life, err, j.disk)
		}
		if power {
			j.disk.powerLoss(r)
		}
	}
}

// check compares what is shown with all rows.
func (j *sinkJob) check(before, what string) {
	j.t.Helper()
	var want []string
	for i := range j.rows {
		want = append(want, fmt.Sprintf("%d,x", i))
	}
	if strings.Contains(before, "100") && j.exists == "append" {
		want = append(want, "100,y")
	}
	slices.Sort(want)
	got, hidden := j.disk.shown()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		j.t.Fatalf("%s: the rows are %q\n%s", what, got, j.disk)
	}
	if len(hidden) > 0 {
		j.t.Fatalf("%s: hidden files are left: %q", what, hidden)
	}
}

// TestKilledAmongOthers kills a query while others write to the same folder.
func TestKilledAmongOthers(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"out", "out/f.csv"} {
		disk := newMemDisk()
		other := &sinkJob{t: t, disk: disk, path: path, name: "other", exists: "append", rows: 10, every: 3}
		disk.killAt = 25
		if err := other.run(2); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		disk.restart()
		nameless := &sinkJob{t: t, disk: disk, path: "out", exists: "append", rows: 10, every: 3}
		disk.killAt = 25
		if err := nameless.run(2); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		disk.restart()
		_, hidden := disk.shown()
		before := len(hidden)

		// One query is killed, goes on and ends; nothing of the others is touched.
		j := &sinkJob{t: t, disk: disk, path: path, name: "job", exists: "append", rows: 10, every: 3}
		for _, killAt := range []int{7, 20, 0} {
			disk.restart()
			disk.killAt = killAt
			if err := j.run(2); err != nil && !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
		}
		if _, hidden := disk.shown(); len(hidden) != before {
			t.Errorf("%s: hidden files: %q, there were %d", path, hidden, before)
		}
		disk.restart()
		if err := other.run(3); err != nil {
			t.Fatal(err)
		}
		lines, _ := disk.shown()
		count := map[string]int{}
		for _, l := range lines {
			count[l]++
		}
		for i := range 10 {
			if n := count[fmt.Sprintf("%d,x", i)]; n < 2 || n > 3 {
				t.Errorf("%s: row %d is shown %d times\n%s", path, i, n, disk)
			}
		}
	}
}

// A writer that failed goes on failing: a second try may seem to succeed.
func TestFailedPrepareStays(t *testing.T) {
	disk := newMemDisk()
	c := New(csv.Format{})
	c.disk = disk
	table := connectortest.Table(idName, "path", "out", "format", "csv")
	s, err := c.Sink(table, connectortest.Options(t, table, c.Options()))
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Writer(context.Background(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := connectortest.Batch(t, vector.NewPool(), idName, []string{"1", "x"})
	defer b.Release()
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	disk.dead = true
	if _, err := w.Prepare(1); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	disk.restart()
	if _, err := w.Prepare(2); !errors.Is(err, errKilled) {
		t.Errorf("the next Prepare: %v", err)
	}
	if err := w.Write(b); !errors.Is(err, errKilled) {
		t.Errorf("the next Write: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, hidden := disk.shown(); len(hidden) > 0 {
		t.Errorf("left: %q", hidden)
	}
}
