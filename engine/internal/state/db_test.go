package state

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
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
	// Commits go either way, and end up in several tables.
	opt := DBOptions{FS: d.fs, ingestFrom: []int64{0, 1, 300}[d.epoch%3], stagedTable: 100}
	db, err := OpenDB("state", opt)
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

// Large commits, which are ingested, and small ones survive power losses.
func TestLargeCommits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := newTestDB(t, Options{})
	k := keyCases["bigint"]
	ingestFrom := DBOptions{}.withDefaults().ingestFrom
	want := map[string]int64{}
	for round := range 6 {
		n := 30_000
		if round%2 == 1 {
			n = 100
		}
		ns := make([]int, n)
		for i := range ns {
			ns[i] = 2 * (i + round)
		}
		parts := count(d, k, ns, 1, want)
		if size := parts[0].Bytes(); (size > ingestFrom) != (n > 100) {
			t.Fatalf("a part of %d entries has %d bytes", parts[0].Entries(), size)
		}
		d.flying = parts
		d.commit()
		d.crash(r)
	}
}

// A shard that owns other key groups finds what it owns and nothing else.
func TestOtherShards(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := newTestDB(t, Options{})
	want := map[string]int64{}
	for range 12 {
		ns := make([]int, 200)
		for i := range ns {
			ns[i] = r.IntN(400)
		}
		d.flying = count(d, keyCases["text"], ns, 1+r.IntN(5), want)
		d.commit()
		d.crash(r)
	}
}

// count counts keys in a new store of each shard, and returns what these copied. It
// checks that each count goes on where it was.
func count(d *testDB, k keyCase, ns []int, shards int, want map[string]int64) []*Part {
	d.t.Helper()
	d.epoch++
	p := vector.NewPool()
	all, _ := k.keysOf(p, ns)
	var parts []*Part
	entries, before := 0, len(want)
	for shard := range shards {
		opt := d.opt
		opt.From, opt.To = rowkey.GroupRange(shard, shards)
		store := NewStore(opt)
		v := store.Values("counts", k.layout, []vector.Kind{vector.Int64, vector.String})
		entries += v.Len()
		var own []int
		for i, h := range all.Hash() {
			if g := rowkey.KeyGroup(h, rowkey.Groups); g >= opt.From && g < opt.To {
				own = append(own, ns[i])
			}
		}
		keys, names := k.keysOf(p, own)
		slots := make([]Slot, len(own))
		d.ok(v.Resolve(keys, true, slots))
		for i, s := range slots {
			if got := Col[int64](v, 0)[s]; got != want[names[i]] {
				d.t.Fatalf("key %x has %d, want %d", names[i], got, want[names[i]])
			}
			Col[int64](v, 0)[s]++
			want[names[i]]++
			v.SetBytes(1, s, fmt.Appendf(nil, "%0400d", s))
		}
		v.Dirty(slots)
		d.ok(store.EndEpoch())
		part, err := store.Copy(d.epoch)
		d.ok(err)
		parts = append(parts, part)
	}
	if entries != before {
		d.t.Fatalf("the shards have %d entries, want %d", entries, before)
	}
	return parts
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
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Error(), text) {
		t.Errorf("got %v, want an error of code %s about %q", err, code, text)
	}
}
