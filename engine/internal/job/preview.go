package job

import (
	"context"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
)

// Preview says what a graph would go on from if it was started, and changes nothing. The
// verdicts of what would be an error are Refused.
func Preview(ctx context.Context, g *exec.Graph, d Durable) (Recovery, error) {
	if d.FS == nil {
		d.FS = state.DiskFS()
	}
	in, err := state.Inspect(d.Dir, d.FS)
	if errs.CodeOf(err) == errs.NotFound {
		in, err = state.Inspection{}, nil
	}
	if err != nil {
		return Recovery{}, err
	}
	r := Recovery{}
	if d.Savepoint != "" && !in.Some {
		if _, err := readSavepoint(d.FS, d.Savepoint); err != nil {
			return r, err
		}
		if in, err = state.Inspect(d.FS.PathJoin(d.Savepoint, savepointState), d.FS); err != nil {
			return r, err
		}
		r.Savepoint = true
	}
	if !in.Some {
		return r, nil
	}
	past, err := decodeRecord(in.Checkpoint.Meta)
	if err != nil {
		return r, err
	}
	r.Epoch, r.Taken = in.Checkpoint.Epoch, time.UnixMilli(past.Taken).UTC()
	if r.Changes, err = compare(ctx, g, past, in.Operators, d.AcceptLoss); err != nil {
		return r, err
	}
	r.Complete = past.Final
	r.Lost = lost(g, past)
	return r, nil
}

// InspectSavepoint is Inspect for a savepoint. An error of code errs.NotFound says that
// there is none in the folder.
func InspectSavepoint(dir string, fs state.FS) (Status, error) {
	if fs == nil {
		fs = state.DiskFS()
	}
	_, err := fs.Stat(fs.PathJoin(dir, savepointFile))
	copied, _ := fs.List(fs.PathJoin(dir, savepointState))
	if err != nil && !isDatabase(copied) {
		return Status{}, errs.New(errs.NotFound, errs.Position{}, "there is no savepoint %s", dir)
	}
	if _, err := readSavepoint(fs, dir); err != nil {
		return Status{}, err
	}
	return Inspect(fs.PathJoin(dir, savepointState), fs)
}
