package op_test

import (
	"testing"

	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/window"
)

// A HOP keeps each key once for each slice that an open window still needs, however many
// windows a row is in.
func TestHopKeepsOpenSlices(t *testing.T) {
	const keys, step = 1000, 1000
	for _, windows := range []int64{5, 60, 3600} {
		o, err := op.NewWindowAggregate(windowSpec(window.Assigner{Kind: window.Hop, Size: windows * step, Step: step}, []int{0}, aggregate("COUNT", false, nil)))
		d := newDriver(t, o, err)
		in := newTimedBatches(d.pool, keys)
		most := int64(0)
		for range 20 {
			runTimed(t, d, in, rowsPerSecond)
			most = max(most, d.store.Keys())
		}
		open := min(windows, 20)
		if bound := (open+1)*keys + 256; most > bound || most < open*keys/2 {
			t.Errorf("%d windows: up to %d entries, want up to %d", windows, most, bound)
		}
	}
}
