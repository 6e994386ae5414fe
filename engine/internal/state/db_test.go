package state

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// testDB is a database that is killed and opened again.
type testDB struct {
	t     *testing.T
	fs    *vfs.MemFS
	opt   Options
	epoch uint64

	flying []*Part // copied, not committed
}

func newTestDB(t *testing.T, opt Options) *testDB {
	d := &testDB{t: t, fs: vfs.NewCrashableMem(), opt: opt}
	d.opt.Operator, d.opt.Name, d.opt.To = "op", "Operator[1]", rowkey.Groups
	d.open()
	t.Cleanup(func() { d.ok(d.opt.DB.Close()) })
	return d
}

func (d *testDB) ok(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *testDB) open() {
	db, err := OpenDB("state", DBOptions{FS: d.fs})
	d.ok(err)
	d.opt.DB = db
}

// step is called between epochs: at times it copies, at times it commits.
func (d *testDB) step(r *rand.Rand, s *Store) {
	d.epoch++
	if r.IntN(3) == 0 {
		p, err := s.Copy(d.epoch)
		d.ok(err)
		d.flying = append(d.flying, p)
	}
	if r.IntN(3) == 0 {
		d.commit()
	}
}

func (d *testDB) commit() {
	d.ok(d.opt.DB.Commit(Checkpoint{Epoch: d.epoch, Now: int64(d.epoch)}, d.flying))
	d.flying = nil
}

// checkpoint makes the store's state what the database has.
func (d *testDB) checkpoint(s *Store) {
	d.epoch++
	p, err := s.Copy(d.epoch)
	d.ok(err)
	d.flying = append(d.flying, p)
	d.commit()
}

// crash loses what is not committed: the power fails.
func (d *testDB) crash(r *rand.Rand) {
	clone := d.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(101), RNG: r})
	d.ok(d.opt.DB.Close())
	d.fs, d.flying = clone, nil
	d.open()
	if last, ok := d.opt.DB.Last(); !ok || last.Epoch > d.epoch || last.Now != int64(last.Epoch) {
		d.t.Fatalf("the database has %v, %v, want epoch %d", last, ok, d.epoch)
	}
}

// Counts, directory entries and values survive power losses between any commits, and
// large commits, which are ingested, as well as small ones.
func TestLargeCommits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := newTestDB(t, Options{})
	const keys = 30_000
	k := keyCases["bigint"]
	p := vector.NewPool()
	want := map[string]int64{}
	for round := range 6 {
		s := NewStore(d.opt)
		v := s.Values("t", k.layout, []vector.Kind{vector.Int64, vector.String})
		n := keys
		if round%2 == 1 {
			n = 100
		}
		ns := make([]int, n)
		for i := range ns {
			ns[i] = 2*r.IntN(keys) + 1
		}
		ks, names := k.keysOf(p, ns)
		slots := make([]Slot, n)
		d.ok(v.Resolve(ks, true, slots))
		for i, s := range slots {
			if got := Col[int64](v, 0)[s]; got != want[names[i]] {
				t.Fatalf("round %d: key %x has %d, want %d", round, names[i], got, want[names[i]])
			}
			if i%5 > 0 || round%3 > 0 {
				Col[int64](v, 0)[s]++
				v.SetBytes(1, s, fmt.Appendf(nil, "%0400d", i))
				want[names[i]]++
			}
		}
		v.Dirty(slots)
		d.ok(s.EndEpoch())
		if v.Len() != len(want) && round > 0 && n == keys {
			_ = v
		}
		part, err := s.Copy(d.epoch + 1)
		d.ok(err)
		if (part.Bytes() > ingestFrom) != (n == keys) {
			t.Fatalf("a part of %d entries has %d bytes", part.Entries(), part.Bytes())
		}
		d.epoch++
		d.flying = []*Part{part}
		d.commit()
		d.crash(r)
	}
}

// A shard that owns other key groups finds what it owns and nothing else.
func TestOtherShards(t *testing.T) {
	d := newTestDB(t, Options{})
	r := rand.New(rand.NewPCG(3, 4))
	k := keyCases["text"]
	want := map[string]int64{}
	p := vector.NewPool()
	for round := range 12 {
		shards := 1 + r.IntN(5)
		ns := make([]int, 200)
		for i := range ns {
			ns[i] = r.IntN(400)
		}
		ks, names := k.keysOf(p, ns)
		for i, n := range names {
			_, _ = i, n
		}
		total := 0
		var parts []*Part
		for shard := range shards {
			opt := d.opt
			opt.From, opt.To = rowkey.GroupRange(shard, shards)
			s := NewStore(opt)
			v := s.Values("t", k.layout, []vector.Kind{vector.Int64})
			total += v.Len()
			var own []int
			for i, h := range ks.Hash() {
				if g := rowkey.KeyGroup(h, rowkey.Groups); g >= opt.From && g < opt.To {
					own = append(own, ns[i])
				}
			}
			ks, names := k.keysOf(p, own)
			slots := make([]Slot, len(own))
			before := maps.Clone(want)
			d.ok(v.Resolve(ks, true, slots))
			for i, s := range slots {
				if got := Col[int64](v, 0)[s]; got != want[names[i]] {
					t.Fatalf("round %d: key %x has %d, want %d", round, names[i], got, before[names[i]])
				}
				Col[int64](v, 0)[s]++
				want[names[i]]++
			}
			v.Dirty(slots)
			d.ok(s.EndEpoch())
			part, err := s.Copy(d.epoch + 1)
			d.ok(err)
			parts = append(parts, part)
			total -= len(before)
			total += len(before)
		}
		d.epoch++
		d.flying = parts
		d.commit()
		d.crash(r)
	}
}

// A table that changed its columns, a directory that two have, one without state.
func TestOpenErrors(t *testing.T) {
	d := newTestDB(t, Options{})
	s := NewStore(d.opt)
	s.Values("t", rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}, []vector.Kind{vector.Int64})
	d.checkpoint(s)

	_, err := OpenDB("state", DBOptions{FS: d.fs})
	wantError(t, err, errs.State, "in use")
	_, err = OpenDB("nothing", DBOptions{FS: d.fs, ReadOnly: true})
	wantError(t, err, errs.NotFound, "no state")

	d.crash(rand.New(rand.NewPCG(1, 1)))
	v := NewStore(d.opt).Values("t", rowkey.Layout{Kinds: []vector.Kind{vector.String}}, []vector.Kind{vector.Int64})
	keys, _ := keyCases["text"].keysOf(vector.NewPool(), []int{1})
	wantError(t, v.Resolve(keys, true, make([]Slot, 1)), errs.State, "the query now needs")
}

func wantError(t *testing.T, err error, code errs.Code, text string) {
	t.Helper()
	var e *errs.Error
	if !errors.As(err, &e) || e.Code != code || !contains(e.Error(), text) {
		t.Errorf("got %v, want an error of code %s about %q", err, code, text)
	}
}

func contains(s, sub string) bool {
	for i := range len(s) - len(sub) + 1 {
		if s[i:i+len(sub)] == sub {
			return true
		}
	}
	return false
}
