package job

import (
	"context"
	"sync"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

// Versions are what a join with versions keeps of its right side.
type Versions struct {
	// Rows are those that hold at the time that was asked for. They are the caller's.
	Rows []*vector.Batch
	// Since is the first time of which all that holds is kept: for an earlier one there are
	// no rows.
	Since int64
}

// VersionsAt asks a join by event time, of which node is the ID, for the versions that hold
// at a time, as of the end of an epoch: columns of the right side that it keeps. See
// op.TemporalJoin.VersionsAt.
func (j *Job) VersionsAt(ctx context.Context, node string, at int64, columns []int) (Versions, error) {
	pool := vector.NewPool() // not a task's, which may end before the rows are released
	var mu sync.Mutex
	var out Versions
	var failed error
	some, over := false, false
	err := j.Ask(ctx, exec.Question{Node: node, Ask: func(_ int, o exec.Operator) {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return // nobody waits any more
		}
		rows, since, err := o.(*op.TemporalJoin).VersionsAt(pool, at, columns)
		out.Rows = append(out.Rows, rows...)
		if !some {
			out.Since = since
		}
		some = true
		out.Since = max(out.Since, since)
		if failed == nil {
			failed = err
		}
	}})
	mu.Lock()
	defer mu.Unlock()
	if over = true; err == nil {
		err = failed
	}
	if err == nil && !some {
		err = errs.New(errs.Internal, errs.Position{}, "no operator was asked for versions")
	}
	if err != nil || at < out.Since {
		for _, b := range out.Rows {
			b.Release()
		}
		out.Rows = nil
	}
	return out, err
}
