package exectest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// Schedule runs a graph on one goroutine in an order that a seed decides: which
// task or reader goes on, from which channel a task reads, how many rows are in a
// batch, when epochs end. So an order that shows a bug can be run again.
//
// It stands in for the job: it ends epochs, but commits nothing.
type Schedule struct {
	Graph       *exec.Graph
	Seed        uint64
	Parallelism int // default 2
	// BatchSize is the number of rows that sources read at a time; 0 means a small
	// one that the seed decides. At 1 every row is an epoch.
	BatchSize int
	// StopAfter, when set, stops the graph at the end of that epoch, before its
	// sources have ended.
	StopAfter uint64
	// Clock is the time in milliseconds since 1970 from the end of an epoch on, and
	// before the first that of epoch 0. Without one it is the number of the epoch.
	Clock  func(epoch uint64) int64
	Hooks  exec.Hooks
	Faults exec.Faults
}

// inFlight is the number of epochs that may be ended and not passed by all tasks.
const inFlight = 3

type schedule struct {
	Schedule
	rand     *rand.Rand
	pools    []*vector.Pool
	program  *exec.Program
	epoch    *exec.Epoch
	full     bool
	passed   map[uint64]int
	complete uint64
	last     uint64 // the number of the last epoch, once it has been ended
	reading  int
	every    int // steps between ends of epochs, on average
}

// Run runs the graph until its sources have ended. It returns the first error; it
// is one as well when memory was leaked or nothing could go on.
func (s Schedule) Run() error {
	r := &schedule{Schedule: s, rand: rand.New(rand.NewPCG(s.Seed, 0)), passed: map[uint64]int{}}
	return r.run()
}

// EverySeed runs what make returns for n seeds from 1 on. make returns a check to
// be called after the run, or nil.
func EverySeed(t *testing.T, n int, make func(seed uint64) (Schedule, func() error)) {
	t.Helper()
	for seed := uint64(1); seed <= uint64(n); seed++ {
		s, check := make(seed)
		s.Seed = seed
		err := s.Run()
		if err == nil && check != nil {
			err = check()
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func (s *schedule) run() error {
	if s.Parallelism == 0 {
		s.Parallelism = 2
	}
	if s.Clock == nil {
		s.Clock = func(epoch uint64) int64 { return int64(epoch) }
	}
	batch := s.BatchSize
	if batch == 0 {
		batch = 1 + s.rand.IntN(5)
	}
	s.every = 2 + s.rand.IntN(40)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	program, err := exec.Build(ctx, s.Graph, exec.Options{
		Parallelism: s.Parallelism, BatchSize: batch, ChannelSize: 1 << s.rand.IntN(3), NewPool: s.newPool,
		Hooks: s.Hooks, Ended: func(*exec.Reader) { s.reading-- }, Passed: s.taskPassed,
		Now: s.Clock(0), Soft: true, Rand: s.rand, Faults: s.Faults,
	})
	if err != nil {
		return err
	}
	s.program, s.reading = program, len(program.Readers)
	err = program.Open(ctx, state.Options{EvictAll: true, Seed: s.Seed})
	if err == nil {
		s.epoch = s.newEpoch(ctx, 1)
		for _, r := range program.Readers {
			r.Start(s.epoch)
		}
		err = s.steps(ctx)
	}
	if closed := program.Close(); err == nil {
		err = closed
	}
	for _, p := range s.pools {
		if leaks := p.Leaks(); err == nil {
			err = leaks
		}
	}
	return err
}

func (s *schedule) newPool() *vector.Pool {
	p := vector.NewCheckedPool()
	s.pools = append(s.pools, p)
	return p
}

func (s *schedule) newEpoch(ctx context.Context, number uint64) *exec.Epoch {
	limit := int64(0)
	if s.BatchSize == 1 {
		limit = 1
	}
	e := exec.NewEpoch(ctx, number, limit, func() { s.full = true })
	if s.BatchSize == 1 {
		e.Single(exec.NoOwner)
	}
	return e
}

func (s *schedule) taskPassed(_ *exec.Task, m exec.Mark, _ *exec.TaskCheckpoint) {
	if s.passed[m.Epoch]++; s.passed[m.Epoch] == len(s.program.Tasks) {
		s.complete = m.Epoch
		if s.Hooks.Epoch != nil {
			s.Hooks.Epoch(m)
		}
	}
}

// steps lets one part after the other go on until the last epoch is complete.
func (s *schedule) steps(ctx context.Context) error {
	parts := make([]part, 0, len(s.program.Tasks)+len(s.program.Readers))
	for _, t := range s.program.Tasks {
		parts = append(parts, t)
	}
	for _, r := range s.program.Readers {
		parts = append(parts, readerPart{r, ctx})
	}
	var order []int
	for s.last == 0 || s.complete < s.last {
		s.endEpoch(ctx)
		order = append(order[:0], s.rand.Perm(len(parts))...)
		i := slices.IndexFunc(order, func(i int) bool { return !parts[i].Done() && !parts[i].Blocked() })
		if i < 0 {
			return fmt.Errorf("exectest: everything is blocked in epoch %d", s.epoch.Number)
		}
		stuck := true
		for _, i := range order {
			if parts[i].Done() || parts[i].Blocked() {
				continue
			}
			more, err := parts[i].Step()
			if err != nil {
				return err
			}
			if more {
				stuck = false
				break
			}
		}
		if stuck && !s.canEnd() && (s.last == 0 || s.complete < s.last) {
			return fmt.Errorf("exectest: nothing can go on in epoch %d", s.epoch.Number)
		}
		if stuck {
			s.full = true
		}
	}
	return nil
}

func (s *schedule) canEnd() bool {
	return s.last == 0 && s.epoch.Number-s.complete <= inFlight
}

// endEpoch ends the epoch when the dice or its rows say so.
func (s *schedule) endEpoch(ctx context.Context) {
	if !s.canEnd() {
		return
	}
	timeUp := s.BatchSize != 1 && s.rand.IntN(s.every) == 0
	if !timeUp && !s.full && s.reading > 0 {
		return
	}
	s.full = false
	number := s.epoch.Number
	m := exec.Mark{Now: s.Clock(number), Last: s.reading == 0 || number == s.StopAfter}
	if m.Last {
		s.last = number
		s.epoch.End(m, false, nil)
		return
	}
	next := s.newEpoch(ctx, number+1)
	s.epoch.End(m, false, next)
	s.epoch = next
}

// part is a task or a reader.
type part interface {
	Step() (more bool, err error)
	Done() bool
	Blocked() bool
}

type readerPart struct {
	*exec.Reader
	ctx context.Context
}

func (r readerPart) Step() (bool, error) { return r.Reader.Step(r.ctx) }
