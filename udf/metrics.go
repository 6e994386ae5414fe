package udf

import (
	"sync"
	"time"
)

// Metrics count what a function did.
type Metrics struct {
	Calls     int64 // into the guest
	Rows      int64 // that went in
	RowsOut   int64 // that came back, of kinds that make tables
	Fuel      int64
	Time      time.Duration // in the guest; of short batches some are measured and the others taken to be alike
	Errors    int64
	Instances int64 // made
	BytesIn   int64
	BytesOut  int64
	LogLines  int64         // with those dropped
	Gap       time.Duration // longest time that a guest ran without the host having control
}

// counts are the metrics while they grow.
type counts struct {
	sync.Mutex
	Metrics
}

// add adds what happened in a batch: all at once, since that is cheaper than counting each
// thing apart.
func (c *counts) add(m *Metrics) {
	c.Lock()
	c.Calls += m.Calls
	c.Rows += m.Rows
	c.RowsOut += m.RowsOut
	c.Fuel += m.Fuel
	c.Time += m.Time
	c.Errors += m.Errors
	c.Instances += m.Instances
	c.BytesIn += m.BytesIn
	c.BytesOut += m.BytesOut
	c.LogLines += m.LogLines
	c.Gap = max(c.Gap, m.Gap)
	c.Unlock()
}

// Metrics are the counts of all batches of f that ended, so far.
func (f *Function) Metrics() Metrics {
	f.count.Lock()
	defer f.count.Unlock()
	return f.count.Metrics
}
