package exec

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// Task runs connected operators of one shard on one goroutine: a batch that
// arrives goes through all of them by direct calls before the next is taken.
//
// Run does everything. Tests that choose the order themselves call Step instead.
// Open comes before either, Close after.
type Task struct {
	inbox     *inbox
	entries   []direct    // by channel of the inbox
	instances []*instance // each after those it reads from
	exchanges []*exchange
	pool      *vector.Pool
	hooks     *Hooks
	passed    func(t *Task, m Mark, c *TaskCheckpoint)
	now       int64
	begun     bool
	done      bool // the last mark went through

	batch *vector.Batch // being processed
	split *Split        // where it was read; nil: it comes from another task
	// reading are the splits that readers had open at their last mark, by channel.
	reading map[int]*Split
	at      *instance // whose operator is running

	// Time is taken for one batch in sampling, and at every mark. While it is,
	// weight is what a measured duration stands for, and inner the time that the
	// running operator spent in those it called.
	made   time.Time
	taken  uint64
	weight time.Duration
	inner  time.Duration
}

// sampling is the number of batches of which one is timed. The first of a task
// is.
const sampling = 32

// Now is processing time: that of the last mark.
func (t *Task) Now() int64 { return t.now }

// Name lists the operators of the task.
func (t *Task) Name() string {
	names := make([]string, len(t.instances))
	for i, in := range t.instances {
		names[i] = in.node.Name
	}
	return strings.Join(names, ", ")
}

// Shard is the shard whose rows the task has.
func (t *Task) Shard() int { return t.instances[0].shard }

// Open makes and opens the operators. ctx lives until the task is closed. After
// an error the task must be closed as well.
func (t *Task) Open(ctx context.Context, opt state.Options) (err error) {
	defer t.recover(&err)
	for _, x := range t.exchanges {
		x.ctx = ctx
	}
	for _, in := range t.instances {
		t.at = in
		if err := in.start(ctx, opt); err != nil {
			return err
		}
	}
	t.at = nil
	return nil
}

// restore tells the operators how far event time was at the checkpoint that they go on
// from. They have fired what was due then.
func (t *Task) restore() error {
	for _, in := range t.instances {
		if err := in.restore(); err != nil {
			return err
		}
	}
	return nil
}

// Pressed reports whether a store has more in memory than it may and cannot help it
// until the next checkpoint. It is asked on the task's goroutine, as in Options.Passed.
func (t *Task) Pressed() bool {
	return slices.ContainsFunc(t.instances, func(in *instance) bool { return in.store.Pressed() })
}

// Close closes the operators, the last first.
func (t *Task) Close() error {
	var all []error
	for i := len(t.instances) - 1; i >= 0; i-- {
		all = append(all, t.close(t.instances[i]))
	}
	for _, x := range t.exchanges {
		x.close()
	}
	return errors.Join(all...)
}

func (t *Task) close(in *instance) (err error) {
	defer t.recover(&err)
	return in.close()
}

// Run processes everything until the last mark.
func (t *Task) Run(ctx context.Context) (err error) {
	defer t.recover(&err)
	for !t.done {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
		}
		more, err := t.step()
		if err != nil {
			return err
		}
		if !more {
			if err := t.inbox.wait(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// Step processes one batch or mark that has arrived. It reports whether there was
// one, and never waits when the task's channels are soft.
func (t *Task) Step() (more bool, err error) {
	defer t.recover(&err)
	return t.step()
}

// Done reports whether the last mark went through.
func (t *Task) Done() bool { return t.done }

// Blocked reports whether a channel from the task is full. Only soft channels
// tell.
func (t *Task) Blocked() bool {
	for _, x := range t.exchanges {
		if x.full() {
			return true
		}
	}
	return false
}

func (t *Task) step() (bool, error) {
	if !t.begun {
		t.begun = true
		if err := t.restore(); err != nil {
			return false, err
		}
	}
	c, ev, ok := t.inbox.poll()
	if !ok {
		return false, nil
	}
	if ev.batch == nil {
		if s := ev.split; s != nil {
			s.Advance(ev.said)
			ev.mark.Watermark = min(ev.mark.Watermark, s.Watermark())
			t.reading[c] = s
		} else {
			delete(t.reading, c)
		}
		if !t.inbox.arrive(c, ev.mark) {
			return true, nil
		}
		return true, t.mark(ev.mark)
	}
	t.weight = 0
	if t.taken%sampling == 0 {
		t.weight = sampling
		t.inner = 0
	}
	t.taken++
	if t.batch, t.split = ev.batch, ev.split; t.split != nil {
		t.split.Advance(ev.said)
	}
	e := &t.entries[c]
	err := e.to.process(e.port, ev.batch)
	t.batch, t.split = nil, nil
	ev.batch.Release()
	return true, err
}

// mark ends an epoch: all channels have brought its mark.
func (t *Task) mark(m Mark) error {
	t.now = m.Now
	t.weight = 1
	var c *TaskCheckpoint
	if m.Checkpoint || m.Last {
		c = &TaskCheckpoint{Splits: t.splits()}
	}
	for _, in := range t.instances {
		if err := in.mark(m); err != nil {
			return err
		}
		if c != nil {
			if err := in.checkpoint(m, c); err != nil {
				return err
			}
		}
	}
	if err := t.answer(m.Questions); err != nil {
		return err
	}
	for _, x := range t.exchanges {
		if err := x.mark(m); err != nil {
			return err
		}
	}
	if t.hooks.Mark != nil {
		for _, in := range t.instances {
			if in.node.Source == nil {
				own := m
				own.Watermark, own.Idle, own.Ended = in.out.watermark, in.out.idle, in.out.ended
				t.hooks.Mark(in.node, in.shard, own)
			}
		}
	}
	t.inbox.release()
	t.done = m.Last
	if t.passed != nil {
		t.passed(t, m, c)
	}
	return nil
}

// recover turns a panic into an error of the operator that was running.
func (t *Task) recover(err *error) {
	r := recover()
	if r == nil {
		return
	}
	*err = panicError(r, debug.Stack())
	if t.at != nil {
		*err = t.at.fail(*err)
	}
	if t.batch != nil {
		t.batch.Release()
		t.batch = nil
	}
	t.at = nil
}
