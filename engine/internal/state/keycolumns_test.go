package state

import (
	"slices"
	"testing"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// The keys of several tables, collected together, are those of each.
func TestKeyColumns(t *testing.T) {
	for name, k := range keyCases {
		for _, evict := range []bool{false, true} {
			p := vector.NewCheckedPool()
			s := NewStore(Options{EvictAll: evict, Seed: 1})
			table := s.Slices("t", k.layout, nil)
			together := NewKeyColumns(p, k.layout)
			for range 2 {
				var want [][]byte
				for at := range int64(5) {
					v, err := table.Slice(at, true)
					if err != nil {
						t.Fatal(err)
					}
					ns := make([]int, 90)
					for i := range ns {
						ns[i] = int(at)*7 + i + 1
						if at < 2 {
							ns[i] = 7*i + 1 // none is NULL
						}
					}
					keys, _ := k.keysOf(p, ns)
					slots := make([]Slot, len(ns))
					if err := v.Resolve(keys, true, slots); err != nil {
						t.Fatal(err)
					}
					for i := range ns {
						want = append(want, slices.Clone(keys.Bytes(i)))
					}
					if err := together.Add(v, slots); err != nil {
						t.Fatal(err)
					}
				}
				if together.Len() != len(want) {
					t.Fatalf("%s: %d keys, want %d", name, together.Len(), len(want))
				}
				b := vector.NewBatch(len(want), together.Finish(), nil)
				cols := make([]int, len(k.layout.Kinds))
				for i := range cols {
					cols[i] = i
				}
				got := rowkey.NewEncoder(k.layout).Encode(b, cols)
				for i, w := range want {
					if !slices.Equal(got.Bytes(i), w) {
						t.Fatalf("%s: key %d is %x, want %x", name, i, got.Bytes(i), w)
					}
				}
				b.Release()
				if err := s.EndEpoch(); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Leaks(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
