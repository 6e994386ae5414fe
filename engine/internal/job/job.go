// Package job runs a graph of operators as a job: it numbers the epochs, starts
// checkpoints, drives sinks' committers, and ends everything when one part fails.
package job

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
)

// Job is a running graph. It ends when all its sources have ended, when it is
// stopped or canceled, or when a part of it fails. All methods may be called from
// any goroutine.
type Job struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc // the first cause is the job's error
	program *exec.Program
	sinks   committers
	coord   *coordinator
	points  *checkpoints
	past    *recovery
	running sync.WaitGroup

	done chan struct{}
	err  error // set before done is closed
}

// Start runs a graph, from where it was if its state was kept: see Recovery. It returns
// an error when an input or a target cannot be opened, or its state; no row has flowed
// then. The job is canceled when ctx ends.
func Start(ctx context.Context, g *exec.Graph, cfg Config) (*Job, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	j := &Job{done: make(chan struct{}), program: &exec.Program{}, sinks: committers{clock: cfg.Clock, hooks: cfg.Hooks}}
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	j.coord = newCoordinator(j, cfg)
	if err := j.open(g, cfg); err != nil {
		j.cancel(err)
		return nil, ended(err)
	}
	if j.past.Complete {
		j.cancel(nil)
		close(j.done)
		return j, nil
	}
	j.coord.begin()
	for _, t := range j.program.Tasks {
		j.spawn(func() error { return runThenClose(j.ctx, t) })
	}
	for _, r := range j.program.Readers {
		j.spawn(func() error { return runThenClose(j.ctx, r) })
	}
	j.spawn(j.coord.run)
	go j.finish()
	return j, nil
}

func (j *Job) open(g *exec.Graph, cfg Config) (err error) {
	defer func() {
		if err != nil || j.past.Complete {
			// The first error is the one that counts. What is prepared is to be committed when
			// the state is kept: nothing is discarded then.
			_ = j.program.Close()
			if j.past.db == nil {
				_ = j.sinks.abort()
			} else {
				_ = j.sinks.close()
			}
			_ = j.past.close()
		}
	}()
	if j.past, err = recoverState(j.ctx, g, cfg.Durable, func(err error) { j.cancel(err) }); err != nil {
		return err
	}
	j.points = newCheckpoints(j, cfg, j.past)
	j.coord.points = j.points
	j.coord.resume(j.past.last)
	if j.past.Complete {
		return j.sinks.open(j.ctx, g, j.past)
	}
	if j.past.db != nil {
		if err := j.points.describe(j.ctx, g); err != nil {
			return err
		}
		cfg.State.DB, cfg.State.Memory = j.past.db, cfg.Durable.Memory
	}
	program, err := exec.Build(j.ctx, g, exec.Options{
		Parallelism: cfg.Parallelism,
		BatchSize:   cfg.BatchSize,
		ChannelSize: cfg.ChannelSize,
		NewPool:     cfg.NewPool,
		Now:         j.coord.now,
		Hooks:       cfg.Hooks,
		Restored:    j.past.record.restored(!cfg.Durable.ForgetWatermarks),
		Ended:       j.coord.readerEnded,
		Read:        j.coord.readerRead,
		Passed:      j.coord.taskPassed,
	})
	if err != nil {
		return err
	}
	j.program = program
	if err := j.sinks.open(j.ctx, g, j.past); err != nil {
		return err
	}
	return j.program.Open(j.ctx, cfg.State)
}

// runThenClose runs a task or reader and closes it on every path. An error from
// running hides one from closing, which often follows from it.
func runThenClose(ctx context.Context, r interface {
	Run(context.Context) error
	Close() error
},
) error {
	err := r.Run(ctx)
	if closed := r.Close(); err == nil {
		err = closed
	}
	return err
}

// spawn runs f on a goroutine of the job. The first error ends the job.
func (j *Job) spawn(f func() error) {
	j.running.Add(1)
	go func() {
		defer j.running.Done()
		defer func() {
			if r := recover(); r != nil {
				j.cancel(&errs.Error{Code: errs.Internal, Msg: fmt.Sprintf("panic: %v\n%s", r, debug.Stack())})
			}
		}()
		if err := f(); err != nil {
			j.cancel(err)
		}
	}()
}

// finish waits for all goroutines, then commits or aborts.
func (j *Job) finish() {
	j.running.Wait()
	err := context.Cause(j.ctx)
	if closed := j.program.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = j.points.complete(j.coord.mark)
	}
	if err == nil || j.past.db != nil {
		if closed := j.sinks.close(); err == nil {
			err = closed
		}
	} else {
		_ = j.sinks.abort()
	}
	if closed := j.past.close(); err == nil {
		err = closed
	}
	j.cancel(err)
	j.err = ended(err)
	close(j.done)
}

// ended makes the end of a context an error for users.
func ended(err error) error {
	var e *errs.Error
	if !errors.As(err, &e) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return errs.New(errs.Canceled, errs.Position{}, "the query was canceled: %w", err)
	}
	return err
}

// Wait returns when the job has ended and everything is closed: nil after its
// inputs ended or it was stopped, an error of code errs.Canceled after Cancel,
// else what went wrong first.
func (j *Job) Wait() error {
	<-j.done
	return j.err
}

// Done is closed when Wait returns.
func (j *Job) Done() <-chan struct{} { return j.done }

// Ended reports whether Done is closed.
func (j *Job) Ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// Now is the time by the job's clock.
func (j *Job) Now() time.Time { return time.UnixMilli(j.sinks.clock.Now()) }

// Cancel ends the job at once. Sinks discard what they have not committed. It
// does not wait.
func (j *Job) Cancel() {
	j.cancel(errs.New(errs.Canceled, errs.Position{}, "the query was canceled"))
}

// Stop ends the job in good order and waits for it: sources stop, everything that
// was read or is at hand is processed, sinks commit. No time passes: no window
// fires because of it. A job whose state is kept goes on from there when it is started
// again; to its sinks this is a checkpoint like any other. When ctx ends first, the job
// goes on stopping.
func (j *Job) Stop(ctx context.Context) error {
	j.coord.stop(false)
	return j.wait(ctx)
}

// Drain is Stop for good: it is as if all inputs had ended. What waits for time fires,
// and the job is complete.
func (j *Job) Drain(ctx context.Context) error {
	j.coord.stop(true)
	return j.wait(ctx)
}

// Savepoint copies the job's state, as it is at a checkpoint that is taken for that, to
// a new folder. The job goes on.
func (j *Job) Savepoint(ctx context.Context, dir string) error {
	taken, err := j.points.request(dir, false)
	if err != nil {
		return err
	}
	j.coord.note(func() {})
	return j.answer(ctx, taken)
}

// StopWithSavepoint is Stop with a savepoint of what the job ends with. It returns when
// both are done.
func (j *Job) StopWithSavepoint(ctx context.Context, dir string) error {
	taken, err := j.points.request(dir, true)
	if err != nil {
		return err
	}
	if err := j.Stop(ctx); err != nil {
		return err
	}
	return j.answer(ctx, taken)
}

func (j *Job) answer(ctx context.Context, taken <-chan error) error {
	select {
	case err := <-taken:
		return err
	case <-j.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-taken: // both happened
		return err
	default:
	}
	if j.err != nil {
		return j.err
	}
	return errs.New(errs.Invalid, errs.Position{}, "the query has ended: there was no savepoint taken")
}

// Recovery says what the job went on from.
func (j *Job) Recovery() Recovery { return j.past.Recovery }

func (j *Job) wait(ctx context.Context) error {
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Sync returns when everything that sources had at hand when it was called is
// visible at the sinks, or when the job has ended, with its error.
func (j *Job) Sync(ctx context.Context) error {
	visible := j.coord.sync()
	select {
	case <-visible:
		return nil
	case <-j.done:
		return j.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Metrics are figures of a job.
type Metrics struct {
	// Epoch is the last one that every task has passed.
	Epoch       uint64
	Checkpoints CheckpointMetrics
	Operators   []exec.Metrics
}

// Metrics returns the figures as they are, while the job runs or after.
func (j *Job) Metrics() Metrics {
	m := j.coord.metrics()
	m.Operators = j.program.Metrics()
	return m
}
