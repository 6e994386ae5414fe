package op_test

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"

	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
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

// Where no watermark comes until a file has been read, one ends all windows. That takes no
// more memory than what they were counted in.
func TestManyWindowsEndAtOnce(t *testing.T) {
	const times, step = 20_000, 10_000
	for _, a := range []window.Assigner{
		{Kind: window.Tumble, Size: step},
		{Kind: window.Hop, Size: 6 * step, Step: step},
		{Kind: window.Hop, Size: 300 * step, Step: step},
		{Kind: window.Cumulate, Size: 6 * step, Step: step},
	} {
		t.Run(a.String(), func(t *testing.T) {
			o, err := op.NewWindowAggregate(windowSpec(a, []int{0}, aggregate("COUNT", false, nil)))
			d := newDriver(t, o, err)
			for from := 0; from < times; from += vector.Target {
				cols := make([]*vector.Vector, 4)
				for c := range cols {
					cols[c] = d.pool.New(vector.Int64, vector.Target)
					clear(vector.Values[int64](cols[c]))
				}
				for i := range vector.Target {
					vector.Values[int64](cols[0])[i], vector.Values[int64](cols[2])[i] = int64(i%3), int64(from+i)*step
				}
				b := vector.NewBatch(vector.Target, cols, nil)
				err := d.process(0, b)
				if b.Release(); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.flush(); err != nil {
				t.Fatal(err)
			}
			before, windows, most := heap(), 0, uint64(0)
			d.emitted = func(b *vector.Batch) {
				windows, most = windows+b.Len(), max(most, heap())
			}
			if err := d.advance(math.MaxInt64); err != nil {
				t.Fatal(err)
			}
			if windows < times {
				t.Errorf("%d windows, want %d or more", windows, times)
			}
			t.Logf("%d MiB before, up to %d while %d windows end", before>>20, most>>20, windows)
			if most > before+before/8+4<<20 {
				t.Errorf("up to %d MiB, want about the %d before", most>>20, before>>20)
			}
		})
	}
}

// heap is the memory that is in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
