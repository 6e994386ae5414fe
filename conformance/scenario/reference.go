package scenario

import (
	"context"
	"time"

	"github.com/weirdb/weir/conformance/rows"
	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/enginetest"
)

// Reference computes a query by the textbook, of the events one after the other, or with of
// what that table gets of its late rows. It returns nil when more than one result is right.
func (s *Session) Reference(ctx context.Context, sql, of string, events []Event) (*Result, error) {
	// Planning tells the tables their columns, which rows are read by.
	if _, err := s.eng.Explain(ctx, sql, engine.ExplainText); err != nil {
		return nil, err
	}
	var all []enginetest.Arrival
	for _, e := range events {
		t := s.tables[e.Table]
		before := len(t.in)
		if err := s.Feed(ctx, e.Table, e.Row); err != nil {
			return nil, err
		}
		for _, in := range t.in[before:] {
			all = append(all, enginetest.Arrival{Table: e.Table, Row: in.row, Watermark: in.watermark})
		}
	}
	b, exact, err := enginetest.Replay(ctx, s.eng, sql, of, all, time.UnixMilli(s.clock.Now()))
	if err != nil || !exact {
		return nil, err
	}
	defer b.Release()
	p, err := s.eng.Plan(ctx, sql, true)
	if err != nil {
		return nil, err
	}
	out := &Result{Schema: p.Roots[0].Schema()}
	if of == "" {
		of = sinkOf(sql)
	}
	if of != "" {
		out = s.tables[of].result(nil)
	}
	out.Rows = rows.FromBatch(nil, out.Schema, b)
	seen := map[string]bool{}
	for _, r := range out.Rows {
		if out.Key != nil && seen[r.Key(out.Key)] {
			return nil, nil // which of them stays is open
		}
		seen[r.Key(out.Key)] = true
	}
	return out, nil
}
