package exec

import (
	"sync/atomic"
	"time"

	"github.com/weirdb/weir/engine/internal/function"
)

// Metrics is what one operator of one shard has done so far. It is brought up to
// date at every mark.
type Metrics struct {
	ID, Name              string
	Shard                 int
	Source, Sink          bool // reads a source, writes a sink
	RowsIn, RowsOut       int64
	BatchesIn, BatchesOut int64
	// Busy is the time spent in the operator itself, without those it calls. It is
	// extrapolated from a sample of the batches.
	Busy      time.Duration
	Watermark Watermark
	// Inconsistent counts what the input took away and had never added.
	Inconsistent int64
	// Expired counts entries of the state that were forgotten because nothing touched
	// them for a time.
	Expired int64
	// Late counts rows that were refused because event time had passed them, and
	// LateRetractions those among them that took something back.
	Late, LateRetractions int64
	StateKeys             int64
	StateBytes            int64
	// Functions are the figures of the instances that the operator calls.
	Functions []function.Metrics
}

// counters are the figures of an operator: plain ones for its task, a published
// copy for everybody else, so that no batch pays for being counted.
type counters struct {
	rowsIn, batchesIn   int64
	rowsOut, batchesOut int64
	busy                time.Duration
	inconsistent        int64
	expired             int64
	late, lateRemoved   int64

	public struct {
		rowsIn, batchesIn, rowsOut, batchesOut atomic.Int64
		busy, watermark, inconsistent, expired atomic.Int64
		late, lateRemoved                      atomic.Int64
		keys, bytes                            atomic.Int64
	}
}

func (c *counters) publish(w Watermark, keys, bytes int64) {
	p := &c.public
	p.rowsIn.Store(c.rowsIn)
	p.batchesIn.Store(c.batchesIn)
	p.rowsOut.Store(c.rowsOut)
	p.batchesOut.Store(c.batchesOut)
	p.busy.Store(int64(c.busy))
	p.watermark.Store(int64(w))
	p.inconsistent.Store(c.inconsistent)
	p.expired.Store(c.expired)
	p.late.Store(c.late)
	p.lateRemoved.Store(c.lateRemoved)
	p.keys.Store(keys)
	p.bytes.Store(bytes)
}

func (c *counters) metrics(m *Metrics) {
	p := &c.public
	m.RowsIn, m.BatchesIn = p.rowsIn.Load(), p.batchesIn.Load()
	m.RowsOut, m.BatchesOut = p.rowsOut.Load(), p.batchesOut.Load()
	m.Busy = time.Duration(p.busy.Load())
	m.Watermark = Watermark(p.watermark.Load())
	m.Inconsistent = p.inconsistent.Load()
	m.Expired = p.expired.Load()
	m.Late, m.LateRetractions = p.late.Load(), p.lateRemoved.Load()
	m.StateKeys, m.StateBytes = p.keys.Load(), p.bytes.Load()
}
