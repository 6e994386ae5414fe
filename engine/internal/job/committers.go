package job

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/internal/exec"
)

// committers are the committers of a job's sinks, in the order of the graph.
type committers []committer

type committer struct {
	sink *exec.Node
	to   connector.Committer
}

// openCommitters opens the committers and lets them clear what earlier runs left
// behind. Those that were opened are returned with an error, too.
func openCommitters(ctx context.Context, sinks []*exec.Node) (committers, error) {
	var cs committers
	for _, n := range sinks {
		c, err := n.Sink.Committer(ctx)
		if err != nil {
			return cs, opError(n, err)
		}
		cs = append(cs, committer{n, c})
		if err := c.Abort(nil); err != nil {
			return cs, opError(n, err)
		}
	}
	return cs, nil
}

// commit shows what the writers prepared at a checkpoint.
func (cs committers) commit(checkpoint uint64, prepared []exec.Prepared, hooks exec.Hooks) error {
	slices.SortStableFunc(prepared, func(a, b exec.Prepared) int { return cmp.Compare(a.Shard, b.Shard) })
	for _, c := range cs {
		var handles [][]byte
		for _, p := range prepared {
			if p.Sink == c.sink && p.Handle != nil {
				handles = append(handles, p.Handle)
			}
		}
		if err := c.to.Commit(handles); err != nil {
			return opError(c.sink, err)
		}
		if hooks.Commit != nil {
			hooks.Commit(c.sink, checkpoint)
		}
	}
	return nil
}

func (cs committers) close() error {
	var all []error
	for _, c := range cs {
		if err := c.to.Close(); err != nil {
			all = append(all, opError(c.sink, err))
		}
	}
	return errors.Join(all...)
}

// abort discards what was not committed, and closes.
func (cs committers) abort() error {
	var all []error
	for _, c := range cs {
		all = append(all, c.to.Abort(nil))
	}
	return errors.Join(append(all, cs.close())...)
}

func opError(n *exec.Node, err error) error { return &exec.OpError{Op: n.Name, Err: err} }
