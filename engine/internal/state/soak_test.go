package state

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Slices that are written and dropped must not make the database grow: two seconds here,
// with WEIR_SOAK eight minutes, or as long as it says. They are so large there that the
// log, which may have 16 MiB however little lives, is a small part.
func TestSlicesStaySmall(t *testing.T) {
	length, perSlice := 2*time.Second, int64(4000)
	if s := os.Getenv("WEIR_SOAK"); s != "" {
		perSlice = 50_000
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			length = 8 * time.Minute
		}
	}
	const slices = 20
	dir := t.TempDir()
	j := openBenchJob(t, dir, 0)
	layout := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
	table := j.store.Slices("slices", layout, []vector.Kind{vector.Int64, vector.Float64, vector.Int64, vector.Float64})
	r := rand.New(rand.NewPCG(1, 1))
	worst, live := 0.0, int64(0)
	end := time.Now().Add(length)
	for at := int64(0); time.Now().Before(end); at++ {
		v, err := table.Slice(at, true)
		j.ok(err)
		j.keys(r.Int64N(1e12), perSlice, func(_ *vector.Batch, k *rowkey.Keys, slots []Slot) {
			j.ok(v.Resolve(k, true, slots))
			for c := range 4 {
				for _, s := range slots {
					if c%2 == 0 {
						Col[int64](v, c)[s] = r.Int64()
					} else {
						Col[float64](v, c)[s] = r.Float64()
					}
				}
			}
			v.Dirty(slots)
		})
		table.Drop(at - slices)
		j.ok(j.store.EndEpoch())
		if at%2 == 1 {
			p := j.copy()
			if live == 0 && at > 2 {
				live = p.Bytes() / 2 * slices
			}
			j.commit(p)
		}
		if at > 3*slices && at%slices == 0 {
			worst = max(worst, float64(diskSize(t, dir))/float64(live))
		}
	}
	j.settle()
	last := float64(diskSize(t, dir)) / float64(live)
	t.Logf("%d MB are live; on disk %.2f times that at worst, %.2f in the end", live>>20, worst, last)
	if length >= time.Minute && last > 2.5 {
		t.Errorf("%.2f times the live bytes are on disk", last)
	}
	j.ok(j.db.Close())
}
