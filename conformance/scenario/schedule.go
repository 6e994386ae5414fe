package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/sqltype"
)

// Event is a row or a watermark that arrives at a table, see Feed; without a table it is
// processing time that passes, such as "5s".
type Event struct{ Table, Row string }

// Take feeds the event, or lets time pass.
func (s *Session) Take(ctx context.Context, e Event) error {
	if e.Table != "" {
		return s.Feed(ctx, e.Table, e.Row)
	}
	d, err := time.ParseDuration(e.Row)
	if err != nil {
		return err
	}
	return s.Pass(ctx, d)
}

// RunScheduled runs a query over the events on one goroutine, in an order that the
// schedule's seed decides, with state that is never kept in memory and with checks
// for leaks. schema has the columns of a SELECT's rows.
func (s *Session) RunScheduled(ctx context.Context, sql string, schema sqltype.Schema, events []Event, sched enginetest.Schedule) (*Result, error) {
	// Planning tells the tables their columns, which rows are read by.
	if _, err := s.eng.Explain(ctx, sql, engine.ExplainText); err != nil {
		return nil, err
	}
	for _, e := range events {
		if err := s.Feed(ctx, e.Table, e.Row); err != nil {
			return nil, err
		}
	}
	for _, t := range s.tables {
		t.update(func() { t.ended = true })
	}
	out := newTable(Table{Name: "result"})
	out.schema = schema
	if name := sinkOf(sql); name != "" {
		out = s.tables[name]
	} else {
		out.Mode = sqltype.RetractMode
	}
	if err := enginetest.Run(ctx, s.eng, sql, &sink{t: out}, sched); err != nil {
		return nil, fmt.Errorf("seed %d: %w", sched.Seed, err)
	}
	return out.result(out.out), nil
}
