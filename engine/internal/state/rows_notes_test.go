package state

import (
	"fmt"
	"testing"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Notes stay with their rows when rows are evicted, restored, taken away and added
// again; a new row has none.
func TestRowsNotes(t *testing.T) {
	for _, evict := range []bool{false, true} {
		for _, indexed := range []bool{false, true} {
			t.Run(fmt.Sprintf("evict=%t/indexed=%t", evict, indexed), func(t *testing.T) { testRowsNotes(t, evict, indexed) })
		}
	}
}

func testRowsNotes(t *testing.T, evict, indexed bool) {
	pool := vector.NewCheckedPool()
	layout := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
	opt := RowsOptions{Cols: []vector.Kind{vector.Int64}, Indexed: indexed, Noted: true}
	db := newTestDB(t, Options{EvictAll: evict})
	s := NewStore(db.opt)
	rows := s.Rows("rows", layout, opt)
	enc := rowkey.NewEncoder(layout)
	// add adds values of the keys and returns the notes that their rows have.
	add := func(kind vector.RowKind, pairs ...int64) []int64 {
		b := vector.NewBuilder(pool, []vector.Kind{vector.Int64, vector.Int64})
		for i := 0; i < len(pairs); i += 2 {
			vector.Append(b.Col(0), pairs[i])
			vector.Append(b.Col(1), pairs[i+1])
			b.EndRow(kind)
		}
		batch := b.Finish()
		defer batch.Release()
		slots := make([]Slot, batch.Len())
		if err := rows.Resolve(enc.Encode(batch, []int{0}), true, slots); err != nil {
			t.Fatal(err)
		}
		values := batch.Project([]int{1})
		defer values.Release()
		if err := rows.Add(slots, values); err != nil {
			t.Fatal(err)
		}
		var out []int64
		for i, id := range rows.Added() {
			out = append(out, rows.Notes()[id])
			rows.Notes()[id] = pairs[2*i]*100 + pairs[2*i+1]
		}
		if err := s.EndCall(); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := func(got []int64, want ...int64) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("notes %v, want %v", got, want)
		}
	}
	want(add(vector.Insert, 1, 5, 2, 5, 1, 6), 0, 0, 0)
	if indexed {
		want(add(vector.Insert, 1, 6, 2, 5, 2, 7), 106, 205, 0)
		want(add(vector.Delete, 2, 7), 207)
		want(add(vector.Insert, 2, 7), 0)
	}
	if err := s.EndEpoch(); err != nil {
		t.Fatal(err)
	}
	db.checkpoint(s)
	s = NewStore(db.opt)
	rows = s.Rows("rows", layout, opt)
	if indexed {
		want(add(vector.Delete, 1, 5, 1, 6), 105, 106)
		want(add(vector.Insert, 1, 5, 1, 6), 0, 106)
	}
	if err := pool.Leaks(); err != nil {
		t.Error(err)
	}
}
