package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/job"
)

// Metrics are figures of a query, brought up to date at every mark.
type Metrics struct {
	// Epoch is the last one whose results are visible everywhere.
	Epoch uint64
	// SourceRows and SinkRows were read from all sources and written to all sinks.
	SourceRows, SinkRows int64
	// Loading has an entry for each table that is read before the rows that are joined with
	// it are let go, until it is there.
	Loading []LoadMetrics
	// Checkpoints are figures of the query's checkpoints.
	Checkpoints CheckpointMetrics
	// Operators has an entry for each operator and shard, sources first.
	Operators []OperatorMetrics
	// Functions has an entry for each function in WebAssembly that the query calls, in
	// the order of their names.
	Functions []FunctionMetrics
}

// LoadMetrics are figures of a table that is being read.
type LoadMetrics struct {
	// Table names it, and Until says when it is there.
	Table, Until string
	// RowsRead are its rows so far, and RowsWaiting those that wait to be joined with it.
	RowsRead, RowsWaiting int64
}

// CheckpointMetrics are figures of the checkpoints of a query that keeps its state.
type CheckpointMetrics = job.CheckpointMetrics

// CheckpointProgress says how far a checkpoint is that is being taken.
type CheckpointProgress = job.CheckpointProgress

// FunctionMetrics are figures of a function over all operators and shards of a query.
type FunctionMetrics struct {
	Name string
	// Calls take a batch each, which have Rows in all. Errors is the number of calls that
	// failed, and of rows that gave NULL instead.
	Calls, Rows, Errors int64
	// Busy is the time that was spent in calls, with that for handing rows over.
	Busy time.Duration
}

// OperatorMetrics are figures of one operator in one shard.
type OperatorMetrics struct {
	ID, Name              string
	Shard                 int
	RowsIn, RowsOut       int64
	BatchesIn, BatchesOut int64
	// Busy is the time spent in the operator, without those that it feeds.
	Busy time.Duration
	// Watermark is the event time reached, in milliseconds since 1970.
	Watermark int64
	// HeldBy is the input or, for a source, the split that is furthest behind in event time,
	// and HeldSince when the operator's event time rose for the last time, by the query's
	// clock. They are empty while there is none, and at the end.
	HeldBy    string
	HeldSince time.Time
	// Late counts rows that were refused because event time had passed them, and
	// LateRetractions those among them that took something back.
	Late, LateRetractions int64
	// Inconsistent counts rows or keys that the input took away and had not added.
	Inconsistent int64
	// Expired counts entries of the state that were forgotten after 'table.exec.state.ttl'.
	Expired int64
	// StateKeys and StateBytes are what the operator keeps.
	StateKeys, StateBytes int64
	// Figures are further ones, which operators of some kinds have: hits and misses of the
	// cache of a lookup join, rows that wait for a table to load.
	Figures []OperatorFigure
}

// OperatorFigure is one of the figures that operators of some kinds have.
type OperatorFigure = exec.Figure

// Metrics returns the figures as they are, while the query runs or after.
func (q *Query) Metrics() Metrics {
	if q.job == nil {
		return Metrics{}
	}
	from := q.job.Metrics()
	m := Metrics{Epoch: from.Epoch, Loading: q.analyzed(from).loading(q.plan.Roots), Checkpoints: from.Checkpoints}
	functions := map[string]FunctionMetrics{}
	for _, o := range from.Operators {
		m.Operators = append(m.Operators, operatorMetrics(o))
		switch {
		case o.Source:
			m.SourceRows += o.RowsOut
		case o.Sink:
			m.SinkRows += o.RowsIn
		}
		for _, f := range o.Functions {
			sum := functions[f.Name]
			functions[f.Name] = FunctionMetrics{f.Name, sum.Calls + f.Calls, sum.Rows + f.Rows, sum.Errors + f.Errors, sum.Busy + f.Busy}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		m.Functions = append(m.Functions, functions[name])
	}
	return m
}

func operatorMetrics(o exec.Metrics) OperatorMetrics {
	since := time.Time{}
	if o.HeldBy != "" {
		since = time.UnixMilli(o.HeldSince).UTC()
	}
	return OperatorMetrics{
		ID: o.ID, Name: o.Name, Shard: o.Shard,
		RowsIn: o.RowsIn, RowsOut: o.RowsOut, BatchesIn: o.BatchesIn, BatchesOut: o.BatchesOut,
		Busy: o.Busy, Watermark: int64(o.Watermark), HeldBy: o.HeldBy, HeldSince: since,
		Late: o.Late, LateRetractions: o.LateRetractions, Inconsistent: o.Inconsistent, Expired: o.Expired,
		StateKeys: o.StateKeys, StateBytes: o.StateBytes, Figures: o.Figures,
	}
}
