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
	// HeldBy is the input that is furthest behind, or of a source the split, and HeldSince
	// processing time when the watermark rose for the last time: both are empty before it
	// did for the first time, and at the end.
	HeldBy    string
	HeldSince int64
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
	// Figures are further ones, by which operators of some kinds say what they do.
	Figures []Figure
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
	held                heldBack
	figures             figures

	public struct {
		rowsIn, batchesIn, rowsOut, batchesOut atomic.Int64
		busy, watermark, inconsistent, expired atomic.Int64
		late, lateRemoved                      atomic.Int64
		keys, bytes                            atomic.Int64
	}
}

// heldBack is what keeps the watermark where it is.
type heldBack struct {
	watermark Watermark // the last one
	port      atomic.Int32
	split     atomic.Pointer[Split]
	since     atomic.Int64
}

// hold notes which of the ports, or which split, is furthest behind.
func (in *instance) hold(low Watermark) {
	h := &in.held
	if low > h.watermark {
		h.watermark = low
		h.since.Store(in.task.now)
	}
	for i := range in.ports {
		if p := &in.ports[i]; p.watermark == low && !p.ended {
			h.port.Store(int32(i))
			break
		}
	}
	if in.node.Source == nil {
		return
	}
	var slowest *Split
	for _, c := range in.ports[0].channels {
		if s := in.task.reading[c]; s != nil && !in.task.inbox.marks[c].Idle && (slowest == nil || s.Watermark() < slowest.Watermark()) {
			slowest = s
		}
	}
	h.split.Store(slowest)
}

// heldBy names what is furthest behind.
func (in *instance) heldBy(m *Metrics) {
	if m.Watermark == NoWatermark || m.Watermark == EndWatermark {
		return
	}
	m.HeldSince = in.held.since.Load()
	if in.node.Source == nil {
		m.HeldBy = in.node.Inputs[in.held.port.Load()].From.Name
	} else if s := in.held.split.Load(); s != nil {
		m.HeldBy = s.ID()
	}
}

func (c *counters) publish(w Watermark, keys, bytes int64) {
	c.figures.publish()
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
	m.Figures = c.figures.shown()
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
