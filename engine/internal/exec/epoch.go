package exec

import (
	"context"
	"sync/atomic"
)

// Epoch is the word of the coordinator to all readers: they read as long as it
// lasts, then send its mark and go on with the next. All readers see the same
// epochs, each at its own pace.
type Epoch struct {
	Number uint64

	ctx    context.Context // ends with the epoch
	cancel context.CancelFunc
	limit  int64        // rows after which full is called; 0: none
	rows   atomic.Int64 // read by all readers
	full   func()

	// With single set the epoch has one row at most, that of the owner, or of the
	// reader that is first when there is none.
	single bool
	owner  int
	taken  atomic.Bool
	more   atomic.Bool // a reader has rows at hand that the epoch did not take

	// The following are set before ctx ends and read after.
	mark  Mark
	drain bool
	next  *Epoch
}

// NoOwner says that any reader may give the row of a single-row epoch.
const NoOwner = -1

// NewEpoch returns an epoch that lasts until End, or until ctx ends. After limit
// rows full is called, once or more often, on a reader's goroutine.
func NewEpoch(ctx context.Context, number uint64, limit int64, full func()) *Epoch {
	e := &Epoch{Number: number, limit: limit, full: full, owner: NoOwner}
	e.ctx, e.cancel = context.WithCancel(ctx)
	return e
}

// Single makes it an epoch of at most one row. That row is the owner's, who is a
// reader's index, or anybody's for NoOwner. The epoch's limit must be 1.
func (e *Epoch) Single(owner int) *Epoch {
	e.single, e.owner = true, owner
	return e
}

// End ends the epoch. Readers send m with what they know of event time. With
// drain they first read what is at hand. next is nil after the last epoch.
func (e *Epoch) End(m Mark, drain bool, next *Epoch) {
	m.Epoch = e.Number
	e.mark, e.drain, e.next = m, drain, next
	e.cancel()
}

// Rows is the number of rows that readers have given so far.
func (e *Epoch) Rows() int64 { return e.rows.Load() }

// Drained reports whether the readers were told to read what is at hand.
func (e *Epoch) Drained() bool { return e.drain }

// More reports whether a reader had rows at hand that the epoch, which was ended
// with drain, did not take, as it has but one row. It is known when all readers
// have sent the mark.
func (e *Epoch) More() bool { return e.more.Load() }

func (e *Epoch) over() bool {
	select {
	case <-e.ctx.Done():
		return true
	default:
		return false
	}
}

// claim reports whether a reader may give rows now.
func (e *Epoch) claim(reader int) bool {
	if !e.single {
		return true
	}
	if e.owner != NoOwner {
		return e.owner == reader && !e.taken.Swap(true)
	}
	return !e.taken.Swap(true)
}

// add counts rows given.
func (e *Epoch) add(n int64) {
	if rows := e.rows.Add(n); e.limit > 0 && rows >= e.limit {
		e.full()
	}
}
