package enginetest_test

import (
	"errors"
	"flag"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
)

var (
	onlySeed  = flag.Uint64("seed", 0, "run the random query of this seed alone")
	firstSeed = flag.Uint64("from", 1, "run random queries from this seed on")
)

// A seed stands for tables, their histories, a query and the order of schedules. A
// case that fails is printed as small as it could be made, for a file below
// conformance/testdata/cases.
func TestRandomQueriesAgreeWithTheReference(t *testing.T) { compareTrials(t, newTrial, 500, 20_000) }

// The same of windows, OVER, ranking and joins in time, over rows in disorder.
func TestRandomQueriesInTimeAgreeWithTheReference(t *testing.T) {
	compareTrials(t, newTimedTrial, 200, 10_000)
}

// The same of joins with versions, and subqueries, over changelogs on both sides.
func TestRandomJoinsWithVersionsAgreeWithTheReference(t *testing.T) {
	compareTrials(t, newVersionedTrial, 300, 10_000)
}

// The same of joins whose rows are joined once, with what the other side is when they come.
func TestRandomJoinsByArrivalAgreeWithTheReference(t *testing.T) {
	compareTrials(t, newArrivalTrial, 250, 10_000)
}

// compareTrials runs n trials, or those of a soak.
func compareTrials(t *testing.T, draw func(seed uint64) *trial, n, soak uint64) {
	var next, skipped, full, marks, several atomic.Int64
	switch {
	case *onlySeed > 0:
		n, *firstSeed = 1, *onlySeed
	case os.Getenv("WEIR_SOAK") != "":
		n = soak
	case testing.Short():
		n /= 8
	}
	next.Store(int64(*firstSeed) - 1)
	last := *firstSeed - 1 + n
	for range runtime.GOMAXPROCS(0) {
		t.Run("worker", func(t *testing.T) {
			t.Parallel()
			for !t.Failed() {
				seed := uint64(next.Add(1))
				if seed > last {
					return
				}
				c := draw(seed)
				w, err := c.check(t.Context())
				full.Add(min(c.rows.Load(), 1))
				marks.Add(c.marks.Load())
				several.Add(min(c.several.Load(), 1))
				switch {
				case errors.Is(err, errSkip):
					skipped.Add(1)
					t.Logf("seed %d: %v\n%s", seed, err, c.query)
				case err != nil:
					small := c.shrink(t.Context(), w)
					t.Errorf("seed %d, %v: %v\n\nThe smallest that fails: %v\n(%s)\n\n%s", seed, w, err, small.again(t.Context(), w), small.blame(t.Context()), small.conformance(t.Context()))
				}
			}
		})
	}
	t.Cleanup(func() {
		t.Logf("%d queries, %d of them skipped, %d with rows, %d with one of several results, compared at %d marks", n, skipped.Load(), full.Load(), several.Load(), marks.Load())
		if !t.Failed() && *onlySeed == 0 && full.Load() < int64(n)*2/5 {
			t.Error("too few queries have a result that says something")
		}
	})
}
