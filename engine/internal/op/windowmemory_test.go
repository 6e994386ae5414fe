package op_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/window"
)

// A HOP keeps each key once for each slice that an open window still needs, however many
// windows a row is in, once for each eight slices of long windows, a few times in their
// cores, in up to seven windows that are begun, and what is being emitted beside: with a
// million keys too, of which a slice has three quarters.
func TestHopKeepsOpenSlices(t *testing.T) {
	for _, c := range []struct{ keys, step, windows, seconds int64 }{
		{1000, 1000, 5, 20},
		{1000, 1000, 60, 20},
		{1000, 1000, 3600, 20},
		{1_000_000, 20_000, 3, 120},
		{1_000_000, 20_000, 6, 200},
	} {
		t.Run(fmt.Sprintf("keys=%d/windows=%d", c.keys, c.windows), func(t *testing.T) {
			if c.keys > 1000 && os.Getenv("WEIR_SOAK") == "" {
				t.Skip("takes a minute; set WEIR_SOAK")
			}
			o, err := op.NewWindowAggregate(windowSpec(window.Assigner{Kind: window.Hop, Size: c.windows * c.step, Step: c.step}, []int{0}, aggregate("COUNT", false, nil)))
			d := newDriver(t, o, err)
			in := newTimedBatches(d.pool, int(c.keys))
			entries, bytes := int64(0), int64(0)
			for range c.seconds {
				runTimed(t, d, in, rowsPerSecond)
				entries, bytes = max(entries, d.store.Keys()), max(bytes, d.store.Bytes())
			}
			cores := int64(0)
			for n := c.windows / 2; n >= 8; n /= 8 {
				cores++
			}
			if cores > 0 {
				cores += 7
			}
			open := min(c.windows, c.seconds*1000/c.step)
			if bound := (open+open/7+1+cores)*c.keys + 512; entries > bound || entries < open*c.keys/2 {
				t.Errorf("up to %d entries, want up to %d", entries, bound)
			}
			t.Logf("up to %d entries, %d MiB, %d bytes each", entries, bytes>>20, bytes/entries)
			if most := entries*100 + 1<<20; bytes > most {
				t.Errorf("up to %d bytes, want up to %d", bytes, most)
			}
		})
	}
}
