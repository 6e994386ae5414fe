package enginetest_test

import (
	"errors"
	"testing"

	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/internal/exec"
)

// Each of these breaks the engine. What is not caught would be no reference.
func TestTheReferenceCatchesSabotage(t *testing.T) {
	for _, s := range []struct {
		name     string
		faults   enginetest.Faults
		sabotage func(*exec.Graph)
	}{
		{name: "key groups by a seeded hash", faults: enginetest.Faults{Misroute: true}},
		{name: "no alignment of marks", faults: enginetest.Faults{Unaligned: true}},
		{name: "a pin forgotten", sabotage: around("Aggregate", func(o exec.Operator) exec.Operator { return &unpinned{Operator: o} })},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(300) {
				c := newTrial(seed)
				c.faults, c.sabotage = s.faults, s.sabotage
				want, err := c.want(t.Context())
				if err != nil {
					continue
				}
				for _, w := range ways[6:] {
					if err := c.run(t.Context(), w, want); err == nil || errors.Is(err, errSkip) {
						continue
					}
					small := c.shrink(t.Context(), w)
					if err := small.again(t.Context(), w); err == nil {
						t.Fatalf("seed %d: what is smaller does not fail", seed)
					} else {
						t.Logf("seed %d: %.300v\n%s", seed, err, small.conformance(t.Context()))
					}
					return
				}
			}
			t.Error("not caught in 300 seeds")
		})
	}
}
