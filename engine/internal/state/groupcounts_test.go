package state

import (
	"math/rand/v2"
	"testing"
)

// Counts by key group are those of an array, whether few groups have some or many.
func TestGroupCountsAgainstArray(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for groups := 1; groups <= keyGroups; groups = groups*3/2 + 1 {
		var counts [2]groupCounts
		var want [2][keyGroups]int64
		for range 4 * groups {
			c, g := r.IntN(2), uint8(r.IntN(groups))
			by := max(r.Int64N(9)-4, -want[c][g])
			counts[c].add(g, by)
			want[c][g] += by
		}
		from := r.IntN(keyGroups)
		to := from + r.IntN(keyGroups-from+1)
		check := func(name string, got groupCounts, want [keyGroups]int64) {
			t.Helper()
			var all [keyGroups]int64
			for g, n := range got.each(0, keyGroups) {
				all[g] += n
			}
			if all != want {
				t.Fatalf("%s of %d groups: %v, want %v", name, groups, all, want)
			}
		}
		check("counts", counts[0], want[0])
		sum, part := int64(0), [keyGroups]int64{}
		for g := from; g < to; g++ {
			sum += want[0][g]
			part[g] = want[0][g]
		}
		if got := counts[0].sum(from, to); got != sum {
			t.Fatalf("%d in groups %d to %d, want %d", got, from, to, sum)
		}
		check("part", counts[0].part(from, to), part)
		var decoded groupCounts
		if err := decoded.decode(counts[0].encode()); err != nil {
			t.Fatal(err)
		}
		check("decoded", decoded, want[0])
		copied := counts[0].part(0, keyGroups)
		copied.replace(from, to, counts[1])
		copy(want[0][from:to], want[1][from:to])
		check("replaced", copied, want[0])
	}
}
