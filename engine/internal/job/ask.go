package job

import (
	"context"
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
)

// asking is a question that waits for the end of an epoch.
type asking struct {
	exec.Question
	epoch uint64 // 0: not ended yet
	done  chan struct{}
}

// Ask ends the epoch, and asks the operators of a node what they know at its end: see
// exec.Question. It returns when all of them were asked. When the job ends first that is an
// error; when ctx does, they may be asked later still.
func (j *Job) Ask(ctx context.Context, q exec.Question) error {
	a := &asking{Question: q, done: make(chan struct{})}
	j.coord.note(func() { j.coord.asks = append(j.coord.asks, a) })
	select {
	case <-a.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-j.done:
	}
	select {
	case <-a.done: // both happened
		return nil
	default:
		return errs.New(errs.Canceled, errs.Position{}, "the query that was asked has ended")
	}
}

// asked reports whether a question waits for the end of the current epoch.
func (c *coordinator) asked() bool {
	return slices.ContainsFunc(c.asks, func(a *asking) bool { return a.epoch == 0 })
}

// ask gives the questions that wait to the mark of the epoch that ends.
func (c *coordinator) ask(m *exec.Mark) {
	for _, a := range c.asks {
		if a.epoch == 0 {
			a.epoch = m.Epoch
			m.Questions = append(m.Questions, &a.Question)
		}
	}
}

// answered releases those whose questions were asked at the mark of a complete epoch.
func (c *coordinator) answered(m exec.Mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks = slices.DeleteFunc(c.asks, func(a *asking) bool {
		if a.epoch == m.Epoch {
			close(a.done)
		}
		return a.epoch == m.Epoch
	})
}
