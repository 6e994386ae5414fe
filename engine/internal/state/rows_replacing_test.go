package state

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// A replacing table against a map, with removals that know nothing but the key and the
// identity, on stores that keep everything and nothing.
func TestRowsReplace(t *testing.T) {
	for _, evict := range []bool{false, true} {
		for _, identity := range [][]int{{}, {1}, {1, 0}} {
			t.Run(fmt.Sprintf("evict=%t/identity=%v", evict, identity), func(t *testing.T) {
				const seed = 7
				r := rand.New(rand.NewPCG(seed, uint64(len(identity))))
				layout := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
				store := NewStore(Options{EvictAll: evict})
				table := store.Rows("rows", layout, RowsOptions{Cols: testRowCols, Indexed: true, Replacing: true, Identity: identity})
				type name struct {
					key int64
					id  string
				}
				want := map[name]testRow{}
				enc := rowkey.NewEncoder(layout)
				p := vector.NewCheckedPool()
				for range 200 {
					keys := vector.NewBuilder(p, layout.Kinds)
					rows := vector.NewBuilder(p, testRowCols)
					n := 1 + r.IntN(9)
					for range n {
						key, row := int64(r.IntN(4)), randomRow(r)
						row.n, row.null = int64(r.IntN(3)), false
						is := name{key: key}
						for _, c := range identity {
							is.id += []string{fmt.Sprint(row.n, " "), row.s + " "}[c]
						}
						vector.Append(keys.Col(0), key)
						keys.EndRow(vector.Insert)
						switch r.IntN(3) {
						case 0:
							delete(want, is)
							if len(identity) < 2 {
								row.null, row.n = true, 0
							}
							row.append(rows, vector.Delete)
						default:
							want[is] = row
							row.append(rows, []vector.RowKind{vector.Insert, vector.UpdateAfter}[r.IntN(2)])
						}
					}
					kb, rb := keys.Finish(), rows.Finish()
					slots := make([]Slot, n)
					if err := table.Resolve(enc.Encode(kb, []int{0}), true, slots); err != nil {
						t.Fatal(err)
					}
					if err := table.Add(slots, rb); err != nil {
						t.Fatal(err)
					}
					kb.Release()
					rb.Release()
					if err := store.EndCall(); err != nil {
						t.Fatal(err)
					}
					all := vector.NewBatch(4, []*vector.Vector{vector.Of[int64](p, 0, 1, 2, 3)}, nil)
					slots = make([]Slot, 4)
					if err := table.Resolve(enc.Encode(all, []int{0}), false, slots); err != nil {
						t.Fatal(err)
					}
					all.Release()
					got := map[testRow]int{}
					var m Matches
					table.Match(slots, &Cursor{}, 1000, &m)
					rowsGot := rowsOf(p, table, m.Row)
					for i, row := range rowsGot {
						got[row]++
						if m.Count[i] != 1 {
							t.Fatalf("seed %d: count %d", seed, m.Count[i])
						}
					}
					total := int64(0)
					for _, s := range slots {
						total += table.Count(s)
					}
					if len(rowsGot) != len(want) || total != int64(len(want)) || table.Negative() != 0 {
						t.Fatalf("seed %d: %d rows, %d counted, want %d", seed, len(rowsGot), total, len(want))
					}
					for _, row := range want {
						if got[row]--; got[row] < 0 {
							t.Fatalf("seed %d: row %v is missing", seed, row)
						}
					}
					if err := store.EndEpoch(); err != nil {
						t.Fatal(err)
					}
				}
				if err := p.Leaks(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
