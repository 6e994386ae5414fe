package state

import (
	"testing"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Memory and disk are given back when most entries have ended.
func TestSpaceIsFreed(t *testing.T) {
	const n, left = 60_000, 500
	dir := t.TempDir()
	j := openBenchJob(t, dir, 0)
	layout := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
	texts := j.store.Values("texts", layout, []vector.Kind{vector.String, vector.Int64})
	times := j.store.Times("times", layout)
	sorted := j.store.Rows("sorted", layout, RowsOptions{Cols: []vector.Kind{vector.Int64}, Indexed: true, Noted: true, Sort: &SortSpec{Cols: []int{0}}})
	addRow := func(t *Rows, slots []Slot, cols ...*vector.Vector) {
		b := vector.NewBatch(len(slots), cols, nil)
		j.ok(t.Add(slots, b))
		b.Release()
	}
	next := int64(0)
	j.keys(0, n, func(b *vector.Batch, k *rowkey.Keys, slots []Slot) {
		j.ok(j.v.Resolve(k, true, slots))
		for _, s := range slots {
			Col[int64](j.v, 0)[s] = next
			next++
		}
		j.ok(texts.Resolve(k, true, slots))
		for _, s := range slots {
			texts.SetBytes(0, s, []byte("some text that has a length"))
		}
		j.ok(sorted.Resolve(k, true, slots))
		addRow(sorted, slots, b.Col(0).Retain())
		for i := range slots {
			j.ok(times.Add(int64(i), k, i))
		}
	})
	j.ok(j.store.EndEpoch())
	j.commit(j.copy())
	full := j.store.Bytes()
	j.keys(left, n-left, func(_ *vector.Batch, k *rowkey.Keys, slots []Slot) {
		j.ok(j.v.Resolve(k, false, slots))
		j.v.Drop(slots)
		j.ok(texts.Resolve(k, false, slots))
		texts.Drop(slots)
		j.ok(sorted.Resolve(k, false, slots))
		sorted.Drop(slots)
		j.ok(j.store.EndCall())
	})
	j.ok(times.Due(vector.Target-1, func(int64, []byte) bool { return times.Len() > left }))
	for range 2 * packEpochs {
		j.ok(j.store.EndEpoch())
	}
	if got := j.store.Bytes(); got > full/16 {
		t.Errorf("%d bytes of memory are left of %d", got, full)
	}
	before := diskSize(t, dir)
	for diskSize(t, dir) > before/2 { // Pebble takes its time to find out what is garbage, and to remove files
		j.commit(j.copy())
		j.db.tidied.Wait()
	}
	check := func() {
		t.Helper()
		if j.v.Len() != left || texts.Len() != left || sorted.Len() != left || times.Len() != left {
			t.Fatalf("%d, %d, %d and %d entries are left", j.v.Len(), texts.Len(), sorted.Len(), times.Len())
		}
		j.keys(0, left, func(_ *vector.Batch, k *rowkey.Keys, slots []Slot) {
			j.ok(j.v.Resolve(k, false, slots))
			for i, s := range slots {
				if Col[int64](j.v, 0)[s] != int64(i) {
					t.Fatalf("key %d has %d", i, Col[int64](j.v, 0)[s])
				}
			}
			j.ok(sorted.Resolve(k, false, slots))
			for i, s := range slots {
				if id, count, ok := sorted.First(s); !ok || count != 1 || vector.Values[int64](sorted.Take(j.pool, []RowID{id})[0])[0] != int64(i) {
					t.Fatalf("key %d has row %d", i, id)
				}
			}
		})
		j.ok(j.store.EndEpoch())
	}
	check()
	j.ok(j.db.Close())
	t.Logf("%d bytes of memory are left of %d, %d on disk of %d", j.store.Bytes(), full, diskSize(t, dir), before)
	j = openBenchJob(t, dir, 0)
	texts = j.store.Values("texts", layout, []vector.Kind{vector.String, vector.Int64})
	times = j.store.Times("times", layout)
	sorted = j.store.Rows("sorted", layout, RowsOptions{Cols: []vector.Kind{vector.Int64}, Indexed: true, Noted: true, Sort: &SortSpec{Cols: []int{0}}})
	check()
	j.ok(j.db.Close())
}
