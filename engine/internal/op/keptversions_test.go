package op_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// TestVersionsAt asks for the versions that hold at times from the watermark on, and before,
// as versions come out of order.
func TestVersionsAt(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		for _, evict := range []bool{false, true} {
			t.Run(fmt.Sprintf("seed=%d/evict=%t", seed, evict), func(t *testing.T) { testVersionsAt(t, seed, evict) })
		}
	}
}

func testVersionsAt(t *testing.T, seed uint64, evict bool) {
	spec := temporalSpec(false, false, false)
	spec.Right.Updating = false
	o, err := op.NewTemporalJoin(spec)
	d := newDriver(t, o, err)
	d.pool, d.store = vector.NewCheckedPool(), state.NewStore(state.Options{EvictAll: evict})
	if err := o.Open(context.Background(), exec.NewRuntime(d.pool, d.store, func() int64 { return 0 }, nil, nil)); err != nil {
		t.Fatal(err)
	}
	r, low, now := rand.New(rand.NewPCG(seed, 5)), int64(-1), int64(0)
	last := map[string]map[int64]string{} // by key, by time
	for range 20 {
		var rows []string
		for range r.IntN(12) {
			now += r.Int64N(4)
			key, at := string(rune('a'+r.IntN(4))), max(now-r.Int64N(10), low+1)
			v := fmt.Sprint(r.IntN(9))
			rows = append(rows, fmt.Sprintf("+I %s %s %d %d", key, v, at, low))
			if last[key] == nil {
				last[key] = map[int64]string{}
			}
			last[key][at] = v
		}
		if len(rows) > 0 {
			b := exectest.NewBatch(d.pool, versionInput.Kinds(), rows...)
			if err := d.process(1, b); err != nil {
				t.Fatal(err)
			}
			b.Release()
		}
		low = max(low, now-10)
		for port := range 2 {
			if err := o.Advance(port, exec.Watermark(low), d); err != nil {
				t.Fatal(err)
			}
			if err := d.store.EndCall(); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.flush(); err != nil {
			t.Fatal(err)
		}
		for _, at := range []int64{low, low + 3, low + 8, low + 100} {
			var want []string
			for key, times := range last {
				found := int64(-1)
				for have := range times {
					if have <= at {
						found = max(found, have)
					}
				}
				if found >= 0 {
					want = append(want, fmt.Sprintf("+I %d %s %s", found, key, times[found]))
				}
			}
			got, since := versionsAt(t, d, o, at)
			slices.Sort(want)
			if !slices.Equal(got, want) || since != low {
				t.Fatalf("at %d, since %d of %d: got %q, want %q", at, since, low, got, want)
			}
		}
		if got, since := versionsAt(t, d, o, low-1); len(got) > 0 || since != low {
			t.Fatalf("before %d: %q, since %d", low, got, since)
		}
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.pool.Leaks(); err != nil {
		t.Error(err)
	}
}

func versionsAt(t *testing.T, d *driver, o *op.TemporalJoin, at int64) (rows []string, since int64) {
	t.Helper()
	batches, since, err := o.VersionsAt(d.pool, at, []int{2, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		rows = append(rows, exectest.Text(b)...)
		b.Release()
	}
	if err := d.store.EndCall(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(rows)
	return rows, since
}
