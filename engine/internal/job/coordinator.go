package job

import (
	"sync"
	"time"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
)

// inFlight is the number of ended epochs that tasks may still be working on. More
// would only make marks wait in channels.
const inFlight = 4

// coordinator numbers a job's epochs and decides when each ends.
//
// Its goroutine owns the current epoch. Everybody else notes what happened under
// the lock, and wakes it.
type coordinator struct {
	job   *Job
	cfg   Config
	clock Clock
	now   int64 // of the last mark

	single bool // every row is an epoch
	turns  bool // and bounded sources take turns
	epoch  *exec.Epoch
	owner  int           // whose turn it is
	marks  []exec.Mark   // of the epochs that are not complete, oldest first
	epochs []*exec.Epoch // of the marks
	mark   exec.Mark     // the last of all, once it is complete
	quiet  bool          // nothing is at hand any more: the job may stop
	last   bool          // the last epoch has been ended
	points *checkpoints

	ticks     <-chan time.Time
	stopTicks func()
	wake      chan struct{}

	mu       sync.Mutex
	full     uint64 // the epoch that has its rows
	ended    []bool // by reader
	reading  int    // readers that have not ended
	passed   map[uint64]int
	complete uint64 // the last epoch that every task has passed
	syncs    []*syncing
	asks     []*asking
	stopping bool
	draining bool // what stops is complete with that
}

// syncing is a caller that waits until what is at hand is visible.
type syncing struct {
	epoch uint64 // 0: not ended yet
	done  chan struct{}
}

func newCoordinator(j *Job, cfg Config) *coordinator {
	c := &coordinator{
		job: j, cfg: cfg, clock: cfg.Clock, owner: exec.NoOwner,
		wake: make(chan struct{}, 1), passed: map[uint64]int{},
	}
	c.now = c.clock.Now()
	c.single = cfg.BatchSize == 1
	c.quiet = !c.single
	return c
}

// resume goes on from a checkpoint: neither time nor epochs go back.
func (c *coordinator) resume(last state.Checkpoint) {
	c.now = max(c.now, last.Now)
	c.complete = last.Epoch
}

// begin starts the clock's ticks and gives the readers their first epoch.
func (c *coordinator) begin() {
	p := c.job.program
	c.turns = c.single && p.Bounded()
	c.reading = len(p.Readers)
	c.ended = make([]bool, c.reading)
	c.ticks, c.stopTicks = c.clock.Ticker(c.cfg.FlushInterval)
	first := c.points.begin(c.now)
	if first {
		c.epoch = exec.NewEpoch(c.job.ctx, c.complete+1, 0, nil)
	} else {
		c.epoch = c.newEpoch(c.complete + 1)
	}
	for _, r := range p.Readers {
		r.Start(c.epoch)
	}
	if first {
		c.end() // without a row
	}
}

func (c *coordinator) newEpoch(number uint64) *exec.Epoch {
	limit := int64(c.cfg.FlushRows)
	if c.single {
		limit = 1
	}
	e := exec.NewEpoch(c.job.ctx, number, limit, func() { c.note(func() { c.full = max(c.full, number) }) })
	if c.single {
		e.Single(c.nextOwner())
	}
	return e
}

// nextOwner is the next reader in turn that has not ended.
func (c *coordinator) nextOwner() int {
	if !c.turns {
		return exec.NoOwner
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.ended {
		if o := (c.owner + 1 + i) % len(c.ended); !c.ended[o] {
			c.owner = o
			break
		}
	}
	return c.owner
}

// note changes what is under the lock and wakes the coordinator.
func (c *coordinator) note(change func()) {
	c.mu.Lock()
	change()
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *coordinator) readerEnded(r *exec.Reader) {
	c.note(func() {
		c.ended[r.Index()] = true
		c.reading--
	})
}

func (c *coordinator) taskPassed(t *exec.Task, m exec.Mark, point *exec.TaskCheckpoint) {
	c.points.passed(m, point, t.Pressed())
	c.mu.Lock()
	c.passed[m.Epoch]++
	all := c.passed[m.Epoch] == len(c.job.program.Tasks)
	if all {
		delete(c.passed, m.Epoch)
	}
	c.mu.Unlock()
	// Tasks pass marks in order, so epochs are complete in order.
	if all {
		c.note(func() { c.complete = m.Epoch })
	}
}

func (c *coordinator) readerRead(r *exec.Reader, m exec.Mark, splits []exec.SplitState) {
	c.points.read(r.Node(), m, splits)
}

// stop ends the job: for good with drain, else so that it can go on if its state is
// kept.
func (c *coordinator) stop(drain bool) {
	c.note(func() { c.stopping, c.draining = true, c.draining || drain })
}

func (c *coordinator) sync() <-chan struct{} {
	s := &syncing{done: make(chan struct{})}
	c.note(func() { c.syncs = append(c.syncs, s) })
	return s.done
}

func (c *coordinator) metrics() Metrics {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Metrics{Epoch: c.complete, Checkpoints: c.points.figures()}
}

// run ends epochs until the last is complete.
func (c *coordinator) run() error {
	defer c.stopTicks()
	due := false
	for {
		select {
		case <-c.job.ctx.Done():
			return nil
		case <-c.ticks:
			due = true
		case <-c.wake:
		}
		c.settle()
		if c.last {
			if len(c.marks) == 0 {
				return nil
			}
			continue
		}
		if len(c.marks) < inFlight && c.over(due) {
			c.end()
			due = false
		}
	}
}

// over reports whether the current epoch has had its time.
func (c *coordinator) over(due bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.reading == 0, c.stopping, c.full >= c.epoch.Number:
		return true
	case c.turns && c.ended[c.owner]:
		return true
	}
	for _, s := range c.syncs {
		if s.epoch == 0 {
			return true
		}
	}
	if c.asked() {
		return true
	}
	// Where sources take turns, time must not change whose turn it is.
	return due && !c.turns || c.points.asked()
}

// end ends the current epoch and begins the next.
func (c *coordinator) end() {
	c.now = max(c.now, c.clock.Now())
	m := exec.Mark{Epoch: c.epoch.Number, Now: c.now}
	c.mu.Lock()
	drain := c.stopping
	for _, s := range c.syncs {
		if s.epoch == 0 {
			s.epoch, drain = m.Epoch, true
		}
	}
	m.Last = c.reading == 0 || c.stopping && c.quiet
	m.Ended = m.Last && c.draining
	m.Suspended = m.Last && c.reading > 0 && !c.draining && c.points.db != nil
	c.ask(&m)
	c.mu.Unlock()
	c.points.at(&m)

	e := c.epoch
	c.marks = append(c.marks, m)
	c.epochs = append(c.epochs, e)
	c.last = m.Last
	if m.Last {
		e.End(m, drain, nil)
		return
	}
	c.epoch = c.newEpoch(m.Epoch + 1)
	e.End(m, drain, c.epoch)
}

// settle does what follows from epochs that have become complete.
func (c *coordinator) settle() {
	c.mu.Lock()
	complete := c.complete
	c.mu.Unlock()
	for len(c.marks) > 0 && c.marks[0].Epoch <= complete {
		m, e := c.marks[0], c.epochs[0]
		c.marks, c.epochs = c.marks[1:], c.epochs[1:]
		switch {
		case m.Last:
			c.mark = m // finish completes it
		case m.Checkpoint:
			c.job.spawn(func() error {
				defer c.note(func() {})
				return c.points.complete(m)
			})
		}
		if h := c.cfg.Hooks.Epoch; h != nil {
			h(m)
		}
		c.visible(m, e)
		c.answered(m)
	}
}

// visible releases callers of Sync, unless a reader has more at hand.
func (c *coordinator) visible(m exec.Mark, e *exec.Epoch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Drained() && !e.More() {
		c.quiet = c.quiet || c.stopping
	}
	waiting := c.syncs[:0]
	for _, s := range c.syncs {
		switch {
		case s.epoch != m.Epoch:
			waiting = append(waiting, s)
		case e.More():
			s.epoch = 0
			waiting = append(waiting, s)
		default:
			close(s.done)
		}
	}
	c.syncs = waiting
}
