package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
)

const (
	// defaultInterval is the time between two checkpoints of a job that keeps its state.
	defaultInterval = 10 * time.Second
	// pause is how many times as long as the work for a checkpoint took no other is
	// begun, unless the user has set an interval.
	pause = 4
	// maxFailures is the number of checkpoints in a row that may fail before the job does:
	// what they copied stays in memory.
	maxFailures = 10
)

// checkpoints takes the checkpoints of a job.
//
// A mark asks for one. As it passes, readers say where they are and tasks hand over
// copies of their stores and what their sinks have prepared. When it has passed
// everywhere, that is written in the background, then sinks commit. There is one at a
// time: a slow one delays the next, a failed one leaves what it has to the next.
type checkpoints struct {
	job     *Job
	durable Durable
	clock   Clock
	every   time.Duration // 0: only at the end
	paced   bool          // by their cost
	db      *state.DB     // nil: nothing is kept
	unknown bool          // what the job begins with is not that of a checkpoint

	// Of the coordinator's goroutine.
	due    int64 // when the next is
	missed bool  // it was due while another was under way

	// Of the goroutine that completes a checkpoint, of which there is one at a time, and
	// of finish after all.
	record   record
	splits   map[string]map[string]exec.SplitState // by source
	prepared []exec.Prepared                       // by checkpoints that failed
	failures int                                   // in a row

	mu       sync.Mutex
	gathered map[uint64]*gathered
	busy     bool // one is under way
	pressed  bool // a store wants one
	finished int64
	cost     time.Duration
	requests []*savepointRequest // that wait for the next one
	metrics  CheckpointMetrics
	began    time.Time // what is under way
}

// gathered is what readers and tasks have for one checkpoint.
type gathered struct {
	splits    map[*exec.Node][]exec.SplitState
	tasks     []*exec.TaskCheckpoint
	savepoint []*savepointRequest
}

// savepointRequest is a caller that waits for a savepoint.
type savepointRequest struct {
	dir  string
	last bool // of the job's last checkpoint
	done chan error
}

// CheckpointMetrics are figures of a job's checkpoints.
type CheckpointMetrics struct {
	// Epoch is that of the last, or 0: with what it was restored from, if anything.
	Epoch uint64
	Taken time.Time // by the clock of the machine
	// Count were taken, Failed were not, in this run. Overruns were due while the one
	// before was under way, or the database behind.
	Count, Failed, Overruns int64
	// Duration of the last from the end of its epoch until sinks had committed; Stall is
	// the longest time for which a task processed nothing because of it.
	Duration, Stall time.Duration
	// Entries and Bytes were written by the last.
	Entries, Bytes int64
	// LastError is why the last that failed did; nil: none failed.
	LastError error
	// UnderWay is the one that is being taken now.
	UnderWay CheckpointProgress
}

// CheckpointProgress says how far a checkpoint is.
type CheckpointProgress struct {
	Epoch uint64        // 0: none is being taken
	For   time.Duration // since its epoch ended
	// Passed of the query's Tasks have copied what has changed. When all have, it is
	// written, and sinks commit.
	Passed, Tasks int
}

func newCheckpoints(j *Job, cfg Config, r *recovery) *checkpoints {
	c := &checkpoints{
		job: j, durable: cfg.Durable, clock: cfg.Clock, every: cfg.CheckpointInterval, db: r.db,
		unknown:  r.Epoch == 0 || r.Changes.Differ(),
		gathered: map[uint64]*gathered{}, splits: r.record.restored(!cfg.Durable.ForgetWatermarks).Splits,
	}
	if c.durable.FS == nil {
		c.durable.FS = state.DiskFS()
	}
	if c.db != nil && c.every == 0 {
		c.every, c.paced = defaultInterval, true
	}
	c.record = record{Version: recordVersion, Job: cfg.Durable.Name, Statement: cfg.Durable.Statement, Savepoint: r.record.Savepoint}
	if r.Epoch > 0 {
		c.metrics.Epoch, c.metrics.Taken = r.Epoch, r.Taken
	}
	return c
}

// describe notes which operators, sources and sinks there are.
func (c *checkpoints) describe(ctx context.Context, g *exec.Graph) error {
	for _, n := range g.Nodes {
		switch {
		case n.Source != nil:
			c.record.Sources = append(c.record.Sources, sourceRecord{ID: n.ID, Name: n.Name, What: n.What})
		case n.Sink != nil:
			c.record.Sinks = append(c.record.Sinks, sinkRecord{ID: n.ID, Name: n.Name})
		default:
			tables, err := n.Describe(ctx)
			if err != nil {
				return err
			}
			if len(tables) > 0 {
				c.record.Operators = append(c.record.Operators, operatorRecord{ID: n.ID, Name: n.Name, What: n.What})
			}
		}
	}
	return nil
}

// begin sets when the first is due, and reports whether that is now, before a row is
// read: that of a job whose inputs, or some of them, no checkpoint knows.
func (c *checkpoints) begin(now int64) (atOnce bool) {
	if c.db != nil && c.unknown {
		c.due = now
		return true
	}
	c.due = now + c.every.Milliseconds()
	return false
}

// at decides whether the mark that is being made asks for a checkpoint. The
// coordinator calls it.
func (c *checkpoints) at(m *exec.Mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Last {
		m.Checkpoint = true
		c.started(m)
		c.gathered[m.Epoch] = &gathered{savepoint: c.requests}
		c.requests = nil
		return
	}
	wanted := c.pressed || c.wanted()
	due := c.every > 0 && m.Now >= c.due
	if due && c.paced && !c.busy {
		due = m.Now >= c.finished+pause*c.cost.Milliseconds()
	}
	switch {
	case !due && !wanted:
		return
	case c.busy || c.db != nil && c.db.Behind():
		if due && !c.missed {
			c.metrics.Overruns++
			c.missed = true
		}
		return
	}
	m.Checkpoint, c.busy, c.pressed, c.missed = true, true, false, false
	c.started(m)
	c.due = m.Now + c.every.Milliseconds()
	g := &gathered{}
	later := c.requests[:0]
	for _, r := range c.requests {
		if r.last {
			later = append(later, r)
		} else {
			g.savepoint = append(g.savepoint, r)
		}
	}
	c.requests = later
	c.gathered[m.Epoch] = g
}

// started notes that a checkpoint is under way.
func (c *checkpoints) started(m *exec.Mark) {
	c.began, c.metrics.UnderWay = time.Now(), CheckpointProgress{Epoch: m.Epoch}
}

func (c *checkpoints) ended(m exec.Mark) {
	if c.metrics.UnderWay.Epoch == m.Epoch { // else the last one is under way by now
		c.metrics.UnderWay = CheckpointProgress{}
	}
}

// asked reports whether somebody waits for a checkpoint that can be taken now.
func (c *checkpoints) asked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.busy && c.wanted() && !c.db.Behind()
}

// wanted reports whether a savepoint is to be taken while the job runs.
func (c *checkpoints) wanted() bool {
	return slices.ContainsFunc(c.requests, func(r *savepointRequest) bool { return !r.last })
}

// read takes what a reader says at a mark.
func (c *checkpoints) read(n *exec.Node, m exec.Mark, splits []exec.SplitState) {
	if len(splits) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.gathered[m.Epoch]
	if g.splits == nil {
		g.splits = map[*exec.Node][]exec.SplitState{}
	}
	g.splits[n] = append(g.splits[n], splits...)
}

// passed takes what a task says at a mark.
func (c *checkpoints) passed(m exec.Mark, t *exec.TaskCheckpoint, pressed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pressed = c.pressed || pressed
	if c.metrics.UnderWay.Epoch == m.Epoch {
		c.metrics.UnderWay.Passed++
	}
	if t != nil {
		g := c.gathered[m.Epoch]
		g.tasks = append(g.tasks, t)
	}
}

// request has a savepoint taken, and returns what answers when it is there.
func (c *checkpoints) request(dir string, last bool) (<-chan error, error) {
	if c.db == nil {
		return nil, errs.New(errs.Invalid, errs.Position{}, "the query has no state directory, so there can be no savepoint").
			WithHint("run it with a state directory")
	}
	if err := checkSavepointTarget(c.durable.FS, dir); err != nil {
		return nil, err
	}
	r := &savepointRequest{dir: dir, last: last, done: make(chan error, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r)
	return r.done, nil
}

// complete writes the checkpoint of a mark that has passed everywhere, and lets sinks
// commit. It returns an error when the job cannot go on.
func (c *checkpoints) complete(m exec.Mark) (err error) {
	start := time.Now()
	c.mu.Lock()
	g := c.gathered[m.Epoch]
	delete(c.gathered, m.Epoch)
	c.mu.Unlock()
	var parts []*state.Part
	var entries, bytes int64
	var stall time.Duration
	for _, t := range g.tasks {
		parts = append(parts, t.Parts...)
		c.prepared = append(c.prepared, t.Prepared...)
		stall = max(stall, t.Stall)
		if err == nil {
			err = t.Err
		}
	}
	for _, p := range parts {
		entries, bytes = entries+p.Entries(), bytes+p.Bytes()
	}
	if c.db != nil {
		c.note(m, g)
		if c.record.Final { // the state is of no use any more
			for _, o := range c.db.Operators() {
				c.db.Discard(o.ID)
			}
		}
		if err == nil {
			err = c.db.Commit(state.Checkpoint{Epoch: m.Epoch, Now: m.Now, Meta: c.record.encode()}, parts)
		} else {
			c.db.Keep(parts)
		}
	}
	if err != nil {
		return c.failed(m, g, err)
	}
	c.failures = 0
	number := m.Epoch
	if m.Last && !m.Suspended {
		number = connector.Final
	}
	if err := c.job.sinks.commit(c.job.ctx, number, c.prepared); err != nil {
		return err
	}
	c.prepared = nil
	for _, r := range g.savepoint {
		r.done <- writeSavepoint(c.durable.FS, r.dir, c.db, &c.record)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy, c.finished, c.cost = false, c.clock.Now(), time.Since(start)
	c.metrics.Epoch, c.metrics.Taken = m.Epoch, time.UnixMilli(c.record.Taken)
	c.metrics.Count++
	c.metrics.Duration, c.metrics.Stall, c.metrics.Entries, c.metrics.Bytes = c.cost, stall, entries, bytes
	c.ended(m)
	return nil
}

// note brings the record up to date.
func (c *checkpoints) note(m exec.Mark, g *gathered) {
	r := &c.record
	r.Taken, r.Final = time.Now().UnixMilli(), m.Last && !m.Suspended
	for n, splits := range g.splits {
		own := c.splits[n.ID]
		if own == nil {
			own = map[string]exec.SplitState{}
			c.splits[n.ID] = own
		}
		for _, s := range splits {
			own[s.Split] = s
		}
	}
	for _, t := range g.tasks {
		for _, w := range t.Splits {
			own := c.splits[w.Node.ID]
			if s, ok := own[w.Split]; ok && !s.Finished {
				s.Watermark = w.Watermark
				own[w.Split] = s
			}
		}
	}
	for i := range r.Sources {
		s := &r.Sources[i]
		s.Splits = s.Splits[:0]
		for _, p := range c.splits[s.ID] {
			s.Splits = append(s.Splits, splitRecord(p))
		}
		slices.SortFunc(s.Splits, func(a, b splitRecord) int { return cmp.Compare(a.Split, b.Split) })
	}
	r.Watermarks = map[string][]exec.Watermark{}
	for _, t := range g.tasks {
		for _, w := range t.Watermarks {
			ports := r.Watermarks[w.Node.ID]
			if ports == nil {
				ports = make([]exec.Watermark, len(w.Node.Inputs))
				for i := range ports {
					ports[i] = exec.EndWatermark
				}
				r.Watermarks[w.Node.ID] = ports
			}
			ports[w.Port] = min(ports[w.Port], w.Watermark)
		}
	}
	for _, committer := range c.job.sinks.all {
		i := slices.IndexFunc(r.Sinks, func(s sinkRecord) bool { return s.ID == committer.sink.ID })
		r.Sinks[i].Handles = handlesOf(committer.sink, c.prepared)
	}
}

// failed counts a checkpoint that did not come about.
func (c *checkpoints) failed(m exec.Mark, g *gathered, err error) error {
	c.failures++
	for _, r := range g.savepoint {
		r.done <- errs.New(errs.State, errs.Position{}, "the savepoint %s was not taken: %w", r.dir, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy, c.finished = false, c.clock.Now()
	c.metrics.Failed++
	c.metrics.LastError = err
	c.ended(m)
	if m.Last {
		return err
	}
	if c.failures >= maxFailures {
		return fmt.Errorf("%d checkpoints in a row have failed, the last because: %w", c.failures, err)
	}
	return nil
}

// figures are the metrics as they are.
func (c *checkpoints) figures() CheckpointMetrics {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.metrics
	if m.UnderWay.Epoch > 0 {
		m.UnderWay.For, m.UnderWay.Tasks = time.Since(c.began), len(c.job.program.Tasks)
	}
	return m
}
