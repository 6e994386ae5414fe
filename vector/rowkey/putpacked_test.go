package rowkey

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/vector"
)

func TestPutPackedIsAppendPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, l := range []Layout{
		{},
		{Kinds: []vector.Kind{vector.Int64}},
		{Kinds: []vector.Kind{vector.Float64}, Desc: []bool{true}},
		{Kinds: []vector.Kind{vector.Bool, vector.Int16, vector.Float32}, Desc: []bool{false, true, true}, NullsLast: []bool{true, false, true}},
		{Kinds: []vector.Kind{vector.Int32, vector.Int8, vector.Int8}, NullsLast: []bool{false, true, false}},
	} {
		for _, withNulls := range []bool{false, true} {
			const n = 100
			words, pos, nulls := make([]uint64, n), make([]int, n), []uint8(nil)
			if withNulls {
				nulls = make([]uint8, n)
			}
			var want []byte
			for i := range words {
				words[i] = r.Uint64() >> r.IntN(64)
				mask := uint8(0)
				if withNulls {
					mask = uint8(r.IntN(1 << len(l.Kinds)))
					nulls[i] = mask
				}
				pos[i] = len(want)
				want = AppendPacked(want, l, words[i], mask)
			}
			got := make([]byte, len(want))
			PutPacked(got, pos, l, words, nulls)
			if !bytes.Equal(got, want) || pos[n-1] != len(want) {
				t.Errorf("%v: %x, want %x", l, got, want)
			}
		}
	}
}
