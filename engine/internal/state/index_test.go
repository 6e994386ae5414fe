package state

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirdb/weir/vector/rowkey"
)

func TestIndexAgainstMap(t *testing.T) {
	const seed = 31
	for _, packed := range []bool{false, true} {
		// The last case has hashes that differ in few bits: long probes, deep splits.
		for _, spread := range []uint64{1 << 20, 300_000, 1 << 8} {
			r := rand.New(rand.NewPCG(seed, spread))
			x := newIndex(packed)
			type key struct {
				word uint64
				mask uint32
			}
			hash := func(k key) uint64 {
				if packed {
					return rowkey.HashPacked(k.word, uint8(k.mask))
				}
				return k.word
			}
			want := map[key]Slot{}
			var keys []key
			for i := range 250_000 {
				k := key{word: r.Uint64N(spread)}
				if packed {
					k.mask = uint32(r.IntN(2))
				} else {
					k.word *= 0x9E3779B97F4A7C15
				}
				s, there := want[k]
				switch {
				case there && r.IntN(3) == 0:
					x.remove(hash(k), s)
					delete(want, k)
				case !there:
					x.insert(hash(k), k.word, k.mask, Slot(i))
					want[k] = Slot(i)
					keys = append(keys, k)
				}
			}
			for _, k := range keys {
				s, there := want[k]
				if !there {
					s = None
				}
				if got := x.findPacked(hash(k), k.word, k.mask); got != s {
					t.Fatalf("packed %v, spread %d: key %v has slot %d, want %d", packed, spread, k, got, s)
				}
			}
			n := 0
			x.each(func(Slot) { n++ })
			if n != len(want) || x.n != n {
				t.Fatalf("%d entries, each visits %d, want %d", x.n, n, len(want))
			}
		}
	}
}

func TestArenaAgainstMap(t *testing.T) {
	const seed, n = 37, 500
	for _, poison := range []bool{false, true} {
		r := rand.New(rand.NewPCG(seed, 0))
		a := arena{poisons: poison}
		refs := make([]uint32, n)
		want := make([]string, n)
		live := 0
		for i := range 60_000 {
			o := r.IntN(n)
			size := r.IntN(200)
			switch r.IntN(2000) {
			case 0:
				size = 1<<chunkBits + r.IntN(100)
			case 1:
				size = 1<<chunkBits - recordHead
			}
			if r.IntN(4) == 0 {
				size = 0
			}
			s := strings.Repeat(fmt.Sprint(i, " "), size)[:size]
			live += len(s) - len(want[o])
			if size == 0 {
				a.drop(refs[o])
				refs[o] = 0
				a.compact(refs)
			} else {
				a.set(refs, int32(o), []byte(s))
			}
			want[o] = s
		}
		for o, s := range want {
			if got := string(a.get(refs[o])); got != s {
				t.Fatalf("string %d is %.20q, want %.20q", o, got, s)
			}
		}
		if a.size > 3*int64(live)+4<<chunkBits {
			t.Errorf("%d bytes for %d", a.size, live)
		}
		for o := range refs {
			a.drop(refs[o])
			refs[o] = 0
		}
		if a.size > 1<<chunkBits {
			t.Errorf("%d bytes for nothing", a.size)
		}
	}
}
