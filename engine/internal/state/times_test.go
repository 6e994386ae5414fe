package state

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirdb/weir/vector"
)

type timer struct {
	at  int64
	key string
}

func TestTimesAgainstMap(t *testing.T) {
	forEachCase(t, func(t *testing.T, opt Options, k keyCase, db *testDB) {
		const seed = 29
		r := rand.New(rand.NewPCG(seed, 0))
		p := vector.NewPool()
		store := NewStore(opt)
		times := store.Times("t", k.layout)
		want := map[timer]bool{}
		now := int64(-100)
		for range 200 {
			ns := make([]int, r.IntN(30))
			for i := range ns {
				ns[i] = r.IntN(200)
			}
			keys, names := k.keysOf(p, ns)
			for i := range ns {
				at := now + int64(r.IntN(50))
				if err := times.Add(at, keys, i); err != nil {
					t.Fatal(err)
				}
				want[timer{at, names[i]}] = true
			}
			now += int64(r.IntN(20))
			left := r.IntN(100) + 1 // stop after so many
			last := int64(-1000)
			var lent []byte
			err := times.Due(now, func(at int64, key []byte) bool {
				if !want[timer{at, string(key)}] || at > now || at < last {
					t.Fatalf("(%d, %x) came after %d, now is %d", at, key, last, now)
				}
				delete(want, timer{at, string(key)})
				last, lent = at, key
				left--
				return left > 0
			})
			if err != nil {
				t.Fatal(err)
			}
			if opt.EvictAll && slices.ContainsFunc(lent, func(b byte) bool { return b != poisonByte }) {
				t.Fatalf("a lent key is still readable: %x", lent)
			}
			first, due := int64(1<<62), 0
			for w := range want {
				first = min(first, w.at)
				if w.at <= now {
					due++
				}
			}
			if at, ok := times.Next(); ok != (len(want) > 0) || ok && at != first || left > 0 && due > 0 {
				t.Fatalf("next is %d %v, want %d; %d were left out", at, ok, first, due)
			}
			if times.Len() != len(want) {
				t.Fatalf("%d pairs, want %d", times.Len(), len(want))
			}
			if db != nil {
				db.step(r, store)
				if r.IntN(20) == 0 {
					db.checkpoint(store)
					keys, _ := k.keysOf(p, []int{1000})
					if err := times.Add(now, keys, 0); err != nil {
						t.Fatal(err)
					}
					db.crash(r)
					store = NewStore(db.opt)
					times = store.Times("t", k.layout)
				}
			}
		}
	})
}

// What yield adds that is due comes in the same Due.
func TestTimesAddWhileDue(t *testing.T) {
	k := keyCases["bigint"]
	keys, _ := k.keysOf(vector.NewPool(), []int{1, 3})
	times := NewStore(Options{}).Times("t", k.layout)
	times.Add(10, keys, 0)
	times.Add(10, keys, 0)
	var got []int64
	times.Due(25, func(at int64, _ []byte) bool {
		got = append(got, at)
		times.Add(at+10, keys, 1)
		return true
	})
	if !slices.Equal(got, []int64{10, 20}) || times.Len() != 1 {
		t.Errorf("%v, %d left", got, times.Len())
	}
}
