package job

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
)

// Durable says where a job keeps its state, and what it goes on from. Without a
// directory its state ends with it.
type Durable struct {
	// Dir is the job's own directory. If it has a checkpoint, the job goes on from it.
	Dir string
	// FS is where directories are; nil: the disk.
	FS state.FS
	// Name and Statement say what the job is, to people.
	Name, Statement string
	// Memory is about the number of bytes that state may take in memory; 0: no limit.
	Memory int64
	// Savepoint is the directory of the savepoint to begin with, "" for none. A job
	// that has begun with it goes on from its own checkpoints.
	Savepoint string
	// ForgetWatermarks lets event time begin anew.
	ForgetWatermarks bool
	// AcceptLoss accepts that operators begin without state, or that state is dropped,
	// because the query is another than that which wrote the state.
	AcceptLoss bool
}

// Recovery says what a job went on from when it was started.
type Recovery struct {
	// Epoch is that of the checkpoint, or 0: the job has begun anew.
	Epoch uint64
	// Taken is when the checkpoint was, by the clock of the machine that took it.
	Taken time.Time
	// Savepoint says that it is a savepoint.
	Savepoint bool
	// Complete says that the job had ended before. It has not been run again.
	Complete bool
	// Changes are the operators, sources and sinks of the checkpoint and those of the
	// query, if these differ.
	Changes Changes
	// Lost names the sources that cannot be read again: what they gave since the
	// checkpoint is lost.
	Lost []string
}

// recovery is a job's database with what is known of the past.
type recovery struct {
	Recovery
	db     *state.DB
	last   state.Checkpoint
	record *record
	// identity tells the job apart from all others, and is the same in all its runs.
	identity string
}

// recoverState opens the job's directory, if it is to have one.
func recoverState(ctx context.Context, g *exec.Graph, d Durable, failed func(error)) (r *recovery, err error) {
	r = &recovery{record: &record{}}
	if d.Dir == "" {
		return r, nil
	}
	if d.FS == nil {
		d.FS = state.DiskFS()
	}
	r.identity = identity(d)
	if d.Savepoint != "" {
		if err := beginWith(d); err != nil {
			return r, err
		}
	}
	if err := makeDir(d.FS, d.Dir); err != nil {
		return r, errs.New(errs.State, errs.Position{}, "the directory of the job's state cannot be made: %w", err).
			WithHint("checkpoints are written there; make it writable, or give another state directory")
	}
	if r.db, err = state.OpenDB(d.Dir, state.DBOptions{FS: d.FS, Failed: failed}); err != nil {
		return r, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	some := false
	if r.last, some = r.db.Last(); !some {
		return r, nil
	}
	if r.record, err = decodeRecord(r.last.Meta); err != nil {
		return r, err
	}
	r.Epoch, r.Taken, r.Complete = r.last.Epoch, time.UnixMilli(r.record.Taken), r.record.Final
	if r.Complete {
		return r, r.same(g, d)
	}
	r.Savepoint = d.Savepoint != ""
	changes, err := compare(ctx, g, r.record, r.db.Operators(), d.AcceptLoss)
	if err != nil {
		return r, err
	}
	r.Changes = changes
	if err := changes.refused(d.Name); err != nil {
		return r, err
	}
	for _, c := range changes {
		if c.Verdict == Rebuilt || c.Verdict == Dropped {
			r.db.Discard(c.ID)
		}
	}
	r.Lost = lost(g, r.record)
	return r, nil
}

// same is an error unless the query is the one that is complete: its sinks are, and its
// state is gone.
func (r *recovery) same(g *exec.Graph, d Durable) error {
	for _, n := range g.Nodes {
		known := n.Sink == nil || slices.ContainsFunc(r.record.Sinks, func(s sinkRecord) bool { return s.ID == n.ID })
		if n.Source != nil {
			known = slices.ContainsFunc(r.record.Sources, func(s sourceRecord) bool { return s.ID == n.ID && s.What == n.What })
		}
		if !known {
			return errs.New(errs.State, errs.Position{}, "job %s was another query, and has ended: %s is new", d.Name, n.Name).
				WithHint("give the query another 'pipeline.name', or remove %s", d.Dir)
		}
	}
	return nil
}

// makeDir makes a directory that lasts, and the one that it is in.
func makeDir(fsys state.FS, dir string) error {
	if err := fsys.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for range 2 {
		dir = fsys.PathDir(dir)
		if err := syncFolder(fsys, dir); err != nil {
			return err
		}
	}
	return nil
}

// lost names the sources of which rows since a checkpoint cannot be read again.
func lost(g *exec.Graph, r *record) []string {
	var names []string
	for _, n := range g.Nodes {
		if n.Source != nil && !n.Source.Replayable() && r.begun(n.ID) {
			names = append(names, n.Name)
		}
	}
	return names
}

// identity is the job's name, and where it is.
func identity(d Durable) string {
	dir, err := filepath.Abs(d.Dir)
	if err != nil {
		dir = d.Dir
	}
	h := fnv.New32a()
	_, _ = io.WriteString(h, dir) // a hash takes everything
	return fmt.Sprintf("%s-%08x", d.Name, h.Sum32())
}

// begun reports whether a part of a source was read and not finished.
func (r *record) begun(source string) bool {
	for _, s := range r.Sources {
		for _, p := range s.Splits {
			if s.ID == source && !p.Finished {
				return true
			}
		}
	}
	return false
}

func (r *recovery) close() error {
	if r.db == nil {
		return nil
	}
	db := r.db
	r.db = nil
	return db.Close()
}

// Verdict says what becomes of a part of a query that goes on from a checkpoint of
// another.
type Verdict string

// The verdicts.
const (
	Kept    Verdict = "kept"    // its state, or position, stays
	New     Verdict = "new"     // it begins, with all that it reads
	Rebuilt Verdict = "rebuilt" // it begins without state, although its input goes on
	Dropped Verdict = "dropped" // its state is deleted
	Refused Verdict = "refused" // one of the latter, which has not been accepted
)

// Change is what becomes of an operator, source or sink.
type Change struct {
	ID, Name string
	Verdict  Verdict
	Why      string // "" when it is kept as it is
}

func (c Change) String() string {
	if c.Why == "" {
		return fmt.Sprintf("%s: %s", c.Name, c.Verdict)
	}
	return fmt.Sprintf("%s: %s, %s", c.Name, c.Verdict, c.Why)
}
