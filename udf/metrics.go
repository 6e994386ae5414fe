package udf

import (
	"sync/atomic"
	"time"
)

// Metrics count what a function did.
type Metrics struct {
	Calls     int64 // into the guest
	Rows      int64 // that went in
	RowsOut   int64 // that came back, of kinds that make tables
	Fuel      int64
	Time      time.Duration // in the guest
	Errors    int64
	Instances int64 // made
	BytesIn   int64
	BytesOut  int64
	LogLines  int64         // with those dropped
	Gap       time.Duration // longest time that a guest ran without the host having control
}

// counts are the metrics while they grow.
type counts struct {
	Calls, Rows, RowsOut, Fuel, Time, Errors, Instances, BytesIn, BytesOut, LogLines, Gap atomic.Int64
}

// Metrics are the counts of all calls of f so far.
func (f *Function) Metrics() Metrics {
	c := &f.count
	return Metrics{
		Calls: c.Calls.Load(), Rows: c.Rows.Load(), RowsOut: c.RowsOut.Load(), Fuel: c.Fuel.Load(),
		Time: time.Duration(c.Time.Load()), Errors: c.Errors.Load(), Instances: c.Instances.Load(),
		BytesIn: c.BytesIn.Load(), BytesOut: c.BytesOut.Load(), LogLines: c.LogLines.Load(), Gap: time.Duration(c.Gap.Load()),
	}
}
