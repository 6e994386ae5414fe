package exec

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"sync"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/vector"
)

// Reader reads splits of a source, one after the other, into a task. It has a
// goroutine of its own, so that a slow input holds up neither the task nor marks.
//
// Run does everything. Tests that choose the order themselves call Step instead.
type Reader struct {
	node   *Node
	shard  int
	index  int // among all readers of the job
	splits *splits
	to     *channel
	pool   *vector.Pool
	limit  int
	epoch  *Epoch
	hooks  *Hooks
	ended  func(r *Reader)
	told   func(r *Reader, m Mark, splits []SplitState)

	split  splitToRead      // the current one
	open   connector.Reader // of it, or nil
	held   *vector.Batch    // read, but the epoch did not take it
	before []byte           // the position before what is held, where a mark may find that
	closed []SplitState     // splits that have ended since the last checkpoint
	eof    bool
	done   bool

	pace  *pace
	place int // in pace
	time  readerTime
}

// splits are parts of a source that are still to be read, by one reader or by
// several that share the work.
type splits struct {
	mu   sync.Mutex
	left []splitToRead
}

// splitToRead is a split and where to begin.
type splitToRead struct {
	connector.Split
	position  []byte
	watermark Watermark
}

func (s *splits) take() (splitToRead, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) == 0 {
		return splitToRead{}, false
	}
	first := s.left[0]
	s.left = s.left[1:]
	return first, true
}

// drainRows is the number of rows that a reader takes at most at the end of an
// epoch that is to have all that is at hand: some inputs are endless.
const drainRows = 1 << 20

// Node is the source.
func (r *Reader) Node() *Node { return r.node }

// Index is the reader's number among all readers of the job.
func (r *Reader) Index() int { return r.index }

// Ended reports whether all splits have been read.
func (r *Reader) Ended() bool { return r.eof && r.held == nil }

// Done reports whether the last mark was sent.
func (r *Reader) Done() bool { return r.done }

// Blocked reports whether the channel into the task is full. Only a soft channel
// tells.
func (r *Reader) Blocked() bool { return r.to.full() }

// Start is called before the first Step or Run, with the first epoch.
func (r *Reader) Start(first *Epoch) { r.epoch = first }

// Run reads until the last mark.
func (r *Reader) Run(ctx context.Context) (err error) {
	defer r.recover(&err)
	for !r.done {
		e := r.epoch
		for !e.over() {
			more, err := r.read(ctx, e)
			if err != nil {
				return err
			}
			if !more {
				<-e.ctx.Done()
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.mark(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Step reads one batch, or sends the mark when the epoch has ended. It reports
// whether there was something to do.
func (r *Reader) Step(ctx context.Context) (more bool, err error) {
	defer r.recover(&err)
	if r.done {
		return false, nil
	}
	if r.epoch.over() {
		return true, r.mark(ctx)
	}
	return r.read(ctx, r.epoch)
}

// read gives one batch to the epoch. It reports false when the reader has nothing
// to do until the epoch ends.
func (r *Reader) read(ctx context.Context, e *Epoch) (more bool, err error) {
	if r.held == nil {
		if more, err := r.next(ctx, e); err != nil || r.held == nil {
			return more, err
		}
	}
	if r.tooFast() || !e.claim(r.index) {
		return false, nil
	}
	return true, r.give(ctx, e)
}

// next reads one batch into held. It reports false when there is none for now or
// no more at all; true without a batch means to try again.
func (r *Reader) next(ctx context.Context, e *Epoch) (more bool, err error) {
	if r.eof {
		return false, nil
	}
	if r.open == nil {
		if err := r.openNext(ctx); err != nil || r.eof {
			return false, err
		}
	}
	if e.single || r.node.Time.MaxDrift > 0 {
		r.before = r.open.Position()
	}
	b, err := r.open.Read(e.ctx, r.pool, r.limit)
	r.ask()
	switch {
	case err == nil && b == nil:
		return !e.over(), nil
	case err == nil && b.Len() == 0:
		b.Release()
		return true, nil
	case err == nil:
		r.held = b
		return true, nil
	case b != nil:
		b.Release()
		return false, r.fail(bug("a reader returned rows together with an error: %w", err))
	case errors.Is(err, io.EOF):
		r.closed = append(r.closed, SplitState{Split: r.split.ID, Position: r.open.Position(), Watermark: EndWatermark, Finished: true})
		open := r.open
		r.open = nil
		r.begin(splitToRead{})
		return true, r.fail(open.Close())
	case e.over() && errors.Is(err, context.Cause(e.ctx)):
		return false, nil
	}
	return false, r.fail(err)
}

// openNext opens the next split, or ends the reader when there is none.
func (r *Reader) openNext(ctx context.Context) error {
	s, ok := r.splits.take()
	if !ok {
		r.eof = true
		r.ended(r)
		return nil
	}
	open, err := r.node.Source.Open(ctx, s.Split, r.node.Scan, s.position)
	if err != nil {
		return r.fail(err)
	}
	r.open, r.split = open, s
	r.begin(s)
	return nil
}

func (r *Reader) give(ctx context.Context, e *Epoch) error {
	b := r.held
	r.held = nil
	n := int64(b.Len())
	r.time.fed = true
	if err := r.to.put(ctx, event{batch: b, split: r.time.split, said: r.time.before}); err != nil {
		return err
	}
	e.add(n)
	return nil
}

// mark ends the reader's epoch.
func (r *Reader) mark(ctx context.Context) error {
	e := r.epoch
	if e.drain || e.mark.Last {
		if err := r.drain(ctx, e); err != nil {
			return err
		}
	}
	m := e.mark
	if m.Checkpoint && r.open == nil && r.split.ID == "" && !r.eof {
		// A job that begins says of each input which one it is: if a file is renamed from
		// here on, it is found again.
		if err := r.openNext(ctx); err != nil {
			return err
		}
	}
	m.Watermark = r.unread()
	if m.Ended = m.Ended || r.Ended(); m.Ended {
		m.Watermark = EndWatermark
	}
	m.Idle = r.idle(m)
	if m.Checkpoint && r.told != nil {
		r.told(r, m, r.states())
	}
	if err := r.to.put(ctx, event{mark: m, split: r.openSplit(m), said: r.sourceSaid()}); err != nil {
		return err
	}
	if r.hooks.Mark != nil {
		r.hooks.Mark(r.node, r.shard, m)
	}
	r.epoch, r.done = e.next, m.Last
	return nil
}

// states are the splits of which more was read since the last checkpoint.
func (r *Reader) states() []SplitState {
	states := r.closed
	r.closed = nil
	if r.open == nil {
		return states
	}
	s := SplitState{Split: r.split.ID, Watermark: r.split.watermark}
	if r.held != nil {
		s.Position = r.before
	} else {
		s.Position = r.open.Position()
	}
	return append(states, s)
}

// drain gives the rows that are at hand, although the epoch has ended. An epoch
// of one row takes no more than that, unless it is the last; it is told.
func (r *Reader) drain(ctx context.Context, e *Epoch) (err error) {
	for rows := int64(0); rows < drainRows; {
		more := r.held != nil
		if !more && e.drain {
			if more, err = r.next(ctx, e); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
		if r.held == nil {
			continue
		}
		if !e.mark.Last && !e.claim(r.index) {
			e.more.Store(true)
			return nil
		}
		rows += int64(r.held.Len())
		if err := r.give(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// Close ends what is open. Run and Step are not called after.
func (r *Reader) Close() (err error) {
	defer r.recover(&err)
	if r.held != nil {
		r.held.Release()
		r.held = nil
	}
	if r.open == nil {
		return nil
	}
	open := r.open
	r.open = nil
	return r.fail(open.Close())
}

func (r *Reader) fail(err error) error { return opError(r.node.Name, r.shard, err) }

func (r *Reader) recover(err *error) {
	if p := recover(); p != nil {
		*err = r.fail(panicError(p, debug.Stack()))
	}
}
