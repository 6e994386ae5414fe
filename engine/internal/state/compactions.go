package state

import (
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// compactions says when Pebble may compact. While a database is opened nothing may be:
// Pebble flushes what it found in its log, and then would wait for the compaction which
// that gave rise to, however long it takes. After that as many run at once as Pebble
// wants.
type compactions struct {
	db pebble.DBForCompaction

	// Pebble's locks are taken before mu.
	mu      sync.Mutex
	allowed bool
	running int

	poked chan struct{}
	stop  chan struct{}
	done  sync.WaitGroup
}

// compactionCheck is the time between two looks at whether more compactions may run
// than at the last event; Pebble does not tell of each.
const compactionCheck = 100 * time.Millisecond

func newCompactions() *compactions {
	return &compactions{poked: make(chan struct{}, 1), stop: make(chan struct{})}
}

// begin lets compactions run.
func (c *compactions) begin() {
	c.mu.Lock()
	c.allowed = true
	c.mu.Unlock()
	c.done.Add(1)
	go func() {
		defer c.done.Done()
		check := time.NewTicker(compactionCheck)
		defer check.Stop()
		for {
			c.grant()
			select {
			case <-c.poked:
			case <-check.C:
			case <-c.stop:
				return
			}
		}
	}()
}

// grant starts the compactions that wait, as many as may run.
func (c *compactions) grant() {
	for c.take() {
		if waiting, _ := c.db.GetWaitingCompaction(); !waiting || !c.db.Schedule(c) {
			c.give()
			return
		}
	}
}

// take reports whether another may run, which then counts as running.
func (c *compactions) take() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.allowed || c.running >= c.db.GetAllowedWithoutPermission() {
		return false
	}
	c.running++
	return true
}

func (c *compactions) give() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
}

func (c *compactions) poke() {
	select {
	case c.poked <- struct{}{}:
	default:
	}
}

// Register is called while the database is opened.
func (c *compactions) Register(_ int, db pebble.DBForCompaction) { c.db = db }

// Unregister is called when the database is closed.
func (c *compactions) Unregister() {
	c.mu.Lock()
	c.allowed = false
	c.mu.Unlock()
	close(c.stop)
	c.done.Wait()
}

// TrySchedule is called with Pebble's locks held.
func (c *compactions) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	if !c.take() {
		return false, nil
	}
	return true, c
}

// UpdateGetAllowedWithoutPermission is called with Pebble's locks held.
func (c *compactions) UpdateGetAllowedWithoutPermission() { c.poke() }

// Started, MeasureCPU, CumulativeStats and Done are those of every compaction that may run.
func (c *compactions) Started() {}

// MeasureCPU has nothing to measure.
func (c *compactions) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats slows nothing down.
func (c *compactions) CumulativeStats(pebble.CompactionGrantHandleStats) {}

// Done ends a compaction.
func (c *compactions) Done() {
	c.give()
	c.poke()
}
