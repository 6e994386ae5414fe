package enginetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/errs"
)

// A query that reads another one twice gives the same, by every schedule, whether the
// inner one is computed once or twice.
func TestSharedAndUnsharedPlansAgree(t *testing.T) {
	ctx := context.Background()
	ran := 0
	for seed := range uint64(90) {
		c := newTrial(seed)
		if c.query.limit != "" {
			continue
		}
		c.insert = collected
		for _, reuse := range []bool{true, false} {
			for _, w := range []way{{batch: 1, parallel: 1}, {batch: 0, parallel: 2}} {
				switch err := c.runTwice(ctx, w, reuse); {
				case err == nil:
					ran++
				case code(err) == errs.Unsupported || code(err) == errs.Changelog:
				default:
					t.Fatalf("seed %d, %v, shared %v: %v\n%s", seed, w, reuse, err, c.conformance(ctx))
				}
			}
		}
	}
	if ran < 100 {
		t.Errorf("only %d runs", ran)
	}
}

// runTwice runs the query united with itself, and joined.
func (c *trial) runTwice(ctx context.Context, w way, reuse bool) error {
	for _, form := range []string{
		"WITH q AS (%[1]s) SELECT * FROM q UNION ALL SELECT * FROM q",
		"WITH q AS (%[1]s) SELECT a.* FROM q AS a LEFT JOIN q AS b ON a.%[2]s = b.%[2]s",
		"WITH q AS (%[1]s) SELECT * FROM q WHERE %[2]s NOT IN (SELECT MAX(%[2]s) FROM q)",
	} {
		s, err := c.open(ctx, engine.Config{BatchSize: max(w.batch, 1), Parallelism: w.parallel})
		if err != nil {
			return err
		}
		defer s.Close()
		if _, err := s.ExecuteSQL(ctx, fmt.Sprintf("SET 'plan.reuse-sub-plan' = '%v'", reuse)); err != nil {
			return err
		}
		p, err := s.Plan(ctx, s.sql, true)
		if err != nil {
			return err
		}
		sql := fmt.Sprintf(form, s.sql, p.Roots[0].Schema()[0].Name)
		want, err := enginetest.Reference(ctx, s.Engine, sql, c.now(everything))
		if err != nil {
			continue // such as values that cannot be compared
		}
		g, err := s.Graph(ctx, sql, s.sink)
		if err != nil {
			return err
		}
		run := enginetest.Schedule{Graph: g, Seed: c.seed, Parallelism: w.parallel, BatchSize: w.batch}
		if err := run.Run(); err != nil {
			return err
		}
		got, err := s.sink.table(1 << 30)
		if err != nil {
			return err
		}
		if err := compare(got, want); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}
