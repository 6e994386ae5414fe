package job

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/internal/exec"
)

// A commit that fails is tried again: after a pause, then one twice as long, and so on.
const (
	commitTries = 6
	firstPause  = 100 * time.Millisecond
)

// committers are the committers of a job's sinks, in the order of the graph.
type committers struct {
	all   []committer
	clock Clock
	hooks exec.Hooks
}

type committer struct {
	sink *exec.Node
	to   connector.Committer
}

// open opens the committers, lets them commit what the checkpoint has that the job goes
// on from, and clear what else earlier runs left behind.
func (cs *committers) open(ctx context.Context, g *exec.Graph, r *recovery) error {
	for _, n := range g.Nodes {
		if n.Sink == nil {
			continue
		}
		if s, ok := n.Sink.(connector.Resumable); ok && r.db != nil {
			s.Resume(r.identity + "/" + n.ID)
		}
		to, err := n.Sink.Committer(ctx)
		if err != nil {
			return opError(n, err)
		}
		c := committer{n, to}
		cs.all = append(cs.all, c)
		handles := r.record.handles(n)
		if len(handles) > 0 {
			if err := cs.retry(ctx, func() error { return to.Commit(handles) }); err != nil {
				return opError(n, err)
			}
		}
		if err := to.Abort(handles); err != nil {
			return opError(n, err)
		}
	}
	return nil
}

// commit shows what the writers prepared at a checkpoint.
func (cs *committers) commit(ctx context.Context, checkpoint uint64, prepared []exec.Prepared) error {
	for _, c := range cs.all {
		handles := handlesOf(c.sink, prepared)
		if err := cs.retry(ctx, func() error { return c.to.Commit(handles) }); err != nil {
			return opError(c.sink, err)
		}
		if cs.hooks.Commit != nil {
			cs.hooks.Commit(c.sink, checkpoint)
		}
	}
	return nil
}

// handlesOf are the handles of a sink, shard by shard, the older first.
func handlesOf(sink *exec.Node, prepared []exec.Prepared) [][]byte {
	own := slices.DeleteFunc(slices.Clone(prepared), func(p exec.Prepared) bool { return p.Sink != sink || p.Handle == nil })
	slices.SortStableFunc(own, func(a, b exec.Prepared) int { return cmp.Compare(a.Shard, b.Shard) })
	var handles [][]byte
	for _, p := range own {
		handles = append(handles, p.Handle)
	}
	return handles
}

// retry calls commit until it succeeds, a number of times at most.
func (cs *committers) retry(ctx context.Context, commit func() error) error {
	pause := firstPause
	for try := 1; ; try++ {
		err := commit()
		if err == nil || try == commitTries || !wait(ctx, cs.clock, pause) {
			return err
		}
		pause *= 2
	}
}

// wait reports whether time has passed, rather than that ctx ended.
func wait(ctx context.Context, clock Clock, d time.Duration) bool {
	ticks, stop := clock.Ticker(d)
	defer stop()
	select {
	case <-ticks:
		return true
	case <-ctx.Done():
		return false
	}
}

func (cs *committers) close() error {
	var all []error
	for _, c := range cs.all {
		if err := c.to.Close(); err != nil {
			all = append(all, opError(c.sink, err))
		}
	}
	return errors.Join(all...)
}

// abort discards what was not committed, and closes.
func (cs *committers) abort() error {
	var all []error
	for _, c := range cs.all {
		all = append(all, c.to.Abort(nil))
	}
	return errors.Join(append(all, cs.close())...)
}

func opError(n *exec.Node, err error) error { return &exec.OpError{Op: n.Name, Err: err} }
