package state

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSortByWord(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 199, 200, 3000} {
		for _, mask := range []uint64{0, 0xff, 0xff00ff00, 1<<63 | 1, ^uint64(0)} {
			entries := make([]partEntry, n)
			for i := range entries {
				entries[i] = partEntry{word: r.Uint64() & mask, at: int32(i)}
			}
			compare := func(a, b partEntry) int { return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.at, b.at)) }
			want := slices.SortedFunc(slices.Values(entries), compare)
			got := sortByWord(entries)
			if n < 200 { // in any order where words are the same
				slices.SortStableFunc(got, compare)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d words under %x are not in order", n, mask)
			}
		}
	}
}
