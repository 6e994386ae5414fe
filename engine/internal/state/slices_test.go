package state

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// slicesWalk drives a Slices table in some shards, and a map, at random.
type slicesWalk struct {
	t      *testing.T
	r      *rand.Rand
	k      keyCase
	db     *testDB
	opt    Options
	pool   *vector.Pool
	stores []*Store
	tables []*Slices
	want   map[int64]map[string]model
	cols   []vector.Kind
	filled int
}

var sliceTimes = []int64{math.MinInt64, -1000, -1, 0, 1, 255, 256, 1 << 40, math.MaxInt64}

func (w *slicesWalk) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *slicesWalk) open(shards int) {
	w.stores, w.tables = nil, nil
	for shard := range shards {
		opt := w.opt
		opt.From, opt.To = rowkey.GroupRange(shard, shards)
		s := NewStore(opt)
		w.stores, w.tables = append(w.stores, s), append(w.tables, s.Slices("t", w.k.layout, w.cols))
	}
	w.check()
}

// check compares the times and the numbers of entries.
func (w *slicesWalk) check() {
	w.t.Helper()
	var times []int64
	n, want := 0, 0
	for _, t := range w.tables {
		if !slices.IsSorted(t.Times()) {
			w.t.Fatalf("times %v", t.Times())
		}
		n += t.Len()
		var sum figures
		for _, v := range t.slices {
			sum = sum.plus(figures{v.entries(), v.bytes() + sliceBytes, v.live(), v.unsaved()})
		}
		if t.opt.Memory == 0 {
			sum.live, sum.unsaved = 0, 0
		}
		if got := t.figures(); got != sum {
			w.t.Fatalf("counted %+v, want %+v", got, sum)
		}
		for _, at := range t.Times() {
			if v, err := t.Slice(at, false); err != nil || v == nil {
				w.t.Fatalf("no slice of %d: %v", at, err)
			} else if v.Len() > 0 {
				times = append(times, at)
			}
		}
	}
	slices.Sort(times)
	times = slices.Compact(times)
	var wantTimes []int64
	for at, rows := range w.want {
		want += len(rows)
		if len(rows) > 0 {
			wantTimes = append(wantTimes, at)
		}
	}
	slices.Sort(wantTimes)
	if n != want || !slices.Equal(times, wantTimes) {
		w.t.Fatalf("%d entries at %v, want %d at %v", n, times, want, wantTimes)
	}
}

// process reads and updates entries of a slice, and drops some.
func (w *slicesWalk) process() {
	at := sliceTimes[w.r.IntN(len(sliceTimes))]
	ns := make([]int, 1+w.r.IntN(30))
	for i := range ns {
		ns[i] = w.r.IntN(200)
	}
	all, _ := w.k.keysOf(w.pool, ns)
	create, drop := w.r.IntN(3) > 0, w.r.IntN(4) == 0
	if w.want[at] == nil {
		w.want[at] = map[string]model{}
	}
	want := w.want[at]
	for i, t := range w.tables {
		var own []int
		for j, h := range all.Hash() {
			if g := rowkey.KeyGroup(h, rowkey.Groups); g >= t.opt.From && g < t.opt.To {
				own = append(own, ns[j])
			}
		}
		v, err := t.Slice(at, create)
		w.ok(err)
		if v == nil || len(own) == 0 {
			w.ok(w.stores[i].EndCall())
			continue
		}
		keys, names := w.k.keysOf(w.pool, own)
		slots := make([]Slot, len(own))
		w.ok(v.Resolve(keys, create, slots))
		for j, s := range slots {
			m, there := want[names[j]]
			if s == None {
				if there || create {
					w.t.Fatalf("time %d, key %x: no entry", at, names[j])
				}
				continue
			}
			if !there && !create {
				w.t.Fatalf("time %d, key %x: an entry", at, names[j])
			}
			if got := w.get(v, s); got != m {
				w.t.Fatalf("time %d, key %x: %v, want %v", at, names[j], got, m)
			}
			m = model{w.r.Int64N(100), w.r.IntN(2) == 0, ""}
			Col[int64](v, 0)[s], Col[bool](v, 1)[s] = m.sum, m.flag
			if len(w.cols) > 2 {
				m.text = string(make([]byte, w.r.IntN(20)))
				v.SetBytes(2, s, []byte(m.text))
			}
			want[names[j]] = m
		}
		v.Dirty(slots)
		if drop {
			v.Drop(slots)
			for _, n := range names {
				delete(want, n)
			}
		}
		w.ok(w.stores[i].EndCall())
	}
}

func (w *slicesWalk) get(v *Values, s Slot) model {
	m := model{sum: Col[int64](v, 0)[s], flag: Col[bool](v, 1)[s]}
	if len(w.cols) > 2 {
		m.text = string(v.Bytes(2, s))
	}
	return m
}

// fill makes a slice one that has the entries of another.
func (w *slicesWalk) fill() {
	from, to := sliceTimes[w.r.IntN(len(sliceTimes))], sliceTimes[w.r.IntN(len(sliceTimes))]
	if len(w.want[to]) > 0 || from == to {
		return
	}
	for i, t := range w.tables {
		v, all, err := t.All(from, nil)
		w.ok(err)
		into, err := t.Slice(to, true)
		w.ok(err)
		switch {
		case v == nil:
		case t.Fill(into, v):
			w.filled++
		default:
			keys := v.Encode(all, rowkey.NewEncoder(w.k.layout))
			into.Expect(len(all))
			slots := make([]Slot, len(all))
			w.ok(into.Resolve(keys, true, slots))
			for j, s := range slots {
				m := w.get(v, all[j])
				Col[int64](into, 0)[s], Col[bool](into, 1)[s] = m.sum, m.flag
				if len(w.cols) > 2 {
					into.SetBytes(2, s, []byte(m.text))
				}
			}
		}
		w.ok(w.stores[i].EndCall())
	}
	w.want[to] = maps.Clone(w.want[from])
	w.check()
}

func (w *slicesWalk) epoch() {
	for range w.r.IntN(4) {
		w.process()
		if w.r.IntN(3) == 0 {
			w.fill()
		}
	}
	if w.r.IntN(3) == 0 {
		at := sliceTimes[w.r.IntN(len(sliceTimes))]
		for _, t := range w.tables {
			t.Drop(at)
		}
		delete(w.want, at)
		if w.r.IntN(2) == 0 {
			w.process()
		}
	}
	for _, s := range w.stores {
		w.ok(s.EndEpoch())
	}
	w.check()
}

// copy copies all stores.
func (w *slicesWalk) copy() {
	w.db.epoch++
	for _, s := range w.stores {
		p, err := s.Copy(w.db.epoch)
		w.ok(err)
		w.db.flying = append(w.db.flying, p)
	}
}

// crash goes on in other shards with what was last committed.
func (w *slicesWalk) crash() {
	w.copy()
	w.db.commit()
	want := map[int64]map[string]model{}
	for at, rows := range w.want {
		want[at] = map[string]model{}
		for k, m := range rows {
			want[at][k] = m
		}
	}
	for range w.r.IntN(3) {
		w.epoch()
	}
	w.db.crash(w.r)
	w.opt, w.want = w.db.opt, want
	w.open(1 + w.r.IntN(4))
}

func TestSlicesAgainstMap(t *testing.T) {
	t.Run("columns=3", func(t *testing.T) { testSlicesAgainstMap(t, modelCols) })
	t.Run("columns=2", func(t *testing.T) { testSlicesAgainstMap(t, modelCols[:2]) })
}

func testSlicesAgainstMap(t *testing.T, cols []vector.Kind) {
	forEachCase(t, func(t *testing.T, opt Options, k keyCase, db *testDB) {
		const seed = 29
		w := &slicesWalk{
			t: t, r: rand.New(rand.NewPCG(seed, 0)), k: k, opt: opt, db: db, cols: cols,
			want: map[int64]map[string]model{}, pool: vector.NewCheckedPool(),
		}
		w.open(1)
		for range 120 {
			w.epoch()
			switch n := w.r.IntN(10); {
			case db == nil:
			case n == 0:
				w.crash()
			case n < 4:
				w.copy()
			case n < 6:
				w.db.commit()
			}
		}
		w.ok(w.pool.Leaks())
		if fixed := len(cols) == 2; (w.filled > 0) != (fixed && !opt.EvictAll) {
			t.Errorf("%d tables filled at once", w.filled)
		}
	})
}

// A filled table has all that resolving the keys would give, and so have tables that inherit
// its memory: also if there are so many that the index has several segments.
func TestFill(t *testing.T) {
	p := vector.NewPool()
	t.Run("packed", func(t *testing.T) {
		testFill(t, rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}, func(ns []int64) *vector.Vector { return vector.Of(p, ns...) })
	})
	t.Run("text", func(t *testing.T) {
		testFill(t, rowkey.Layout{Kinds: []vector.Kind{vector.String}}, func(ns []int64) *vector.Vector {
			b := vector.NewColumnBuilder(p, vector.String)
			for _, n := range ns {
				b.AppendString(strings.Repeat("k", int(n%40)) + fmt.Sprint(n))
			}
			return b.Finish()
		})
	})
}

func testFill(t *testing.T, layout rowkey.Layout, column func(ns []int64) *vector.Vector) {
	keysOf := func(ns ...int64) *rowkey.Keys {
		return rowkey.NewEncoder(layout).Encode(vector.NewBatch(len(ns), []*vector.Vector{column(ns)}, nil), []int{0})
	}
	s := NewStore(Options{})
	table := s.Slices("t", layout, modelCols[:1])
	at, r := int64(0), rand.New(rand.NewPCG(1, 1))
	for _, n := range []int64{1, 100, 64, 65, 3000, 2990, 5000, 5001, 7000, 200_000, 10} {
		for round := range 12 {
			v, err := table.Slice(at, true)
			if err != nil {
				t.Fatal(err)
			}
			ns := make([]int64, n)
			for i, k := range r.Perm(len(ns)) {
				ns[i] = int64(k)
			}
			keys := keysOf(ns...)
			slots := make([]Slot, n)
			if err := v.Resolve(keys, true, slots); err != nil {
				t.Fatal(err)
			}
			for i, s := range slots {
				Col[int64](v, 0)[s] = ns[i]
			}
			into, err := table.Slice(at+1, true)
			if err != nil || !table.Fill(into, v) {
				t.Fatalf("%d keys are not filled: %v", n, err)
			}
			other := make([]Slot, 3)
			if err := into.Resolve(keysOf(n, n+1, n+2), true, other); err != nil {
				t.Fatal(err)
			}
			for i, s := range other {
				if got := Col[int64](into, 0)[s]; got != 0 {
					t.Fatalf("a new entry has %d", got)
				}
				Col[int64](into, 0)[s] = n + int64(i)
			}
			all := make([]Slot, n)
			if err := into.Resolve(keys, false, all); err != nil {
				t.Fatal(err)
			}
			for i, s := range all {
				if s == None || Col[int64](into, 0)[s] != ns[i] {
					t.Fatalf("%d keys, round %d: key %d is missing or wrong", n, round, ns[i])
				}
			}
			if into.Len() != len(ns)+3 || v.Len() != len(ns) {
				t.Fatalf("%d and %d entries, want %d and %d", into.Len(), v.Len(), n+3, n)
			}
			table.Drop(at)
			table.Drop(at + 1)
			if err := s.EndEpoch(); err != nil {
				t.Fatal(err)
			}
			at += 2
		}
	}
}

// A dropped slice takes its entries along: none is left in the database.
func TestDroppedSlicesLeaveNothing(t *testing.T) {
	d := newTestDB(t, Options{})
	s := NewStore(d.opt)
	table := s.Slices("t", keyCases["bigint"].layout, modelCols)
	for at := range int64(50) {
		v, err := table.Slice(at, true)
		d.ok(err)
		keys, _ := keyCases["bigint"].keysOf(vector.NewPool(), []int{1, 3, 5, 11})
		d.ok(v.Resolve(keys, true, make([]Slot, 4)))
		d.checkpoint(s)
		table.Drop(at - 2)
		d.ok(s.EndEpoch())
	}
	for at := range int64(50) {
		table.Drop(at)
	}
	d.checkpoint(s)
	it, err := d.opt.DB.pebble.NewIter(nil)
	d.ok(err)
	defer it.Close()
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		n++
	}
	if n != 3 || table.Len() != 0 { // version, checkpoint, operator
		t.Errorf("%d entries are left in the database, %d in the table", n, table.Len())
	}
}

// There may be very many slices that have few entries: each takes little memory, whatever
// the database knows of it, and dropped ones none.
func TestSmallSlices(t *testing.T) {
	for _, name := range []string{"bigint", "text"} {
		for _, durable := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/durable=%t", name, durable), func(t *testing.T) {
				opt := Options{}
				var db *testDB
				if durable {
					db = newTestDB(t, opt)
					opt = db.opt
				}
				s := NewStore(opt)
				const n = 20_000
				k, table := keyCases[name], s.Slices("t", keyCases[name].layout, modelCols[:2])
				keys, _ := k.keysOf(vector.NewPool(), []int{1, 3, 5})
				for i := range int64(n) {
					v, err := table.Slice(i*7919%n, true)
					if err == nil {
						err = v.Resolve(keys, true, make([]Slot, 3))
					}
					if err != nil {
						t.Fatal(err)
					}
					if i%1000 < 999 {
						continue
					}
					if err := s.EndEpoch(); err != nil {
						t.Fatal(err)
					}
					if durable {
						db.checkpoint(s)
					}
				}
				if !slices.IsSorted(table.Times()) || len(table.Times()) != n {
					t.Error("times are missing or not in order")
				}
				before, counted := heap(), s.Bytes()/n
				for at := range int64(n) {
					table.Drop(at)
				}
				each, most := (int64(before)-int64(heap()))/n, int64(2200)
				if durable {
					most = 3000 // the memory of the database changes meanwhile
				}
				t.Logf("%d bytes for a slice, of which %d are counted", each, counted)
				if each > most {
					t.Errorf("%d bytes for a slice, want up to %d", each, most)
				}
				if s.Keys() != 0 || len(table.Times()) != 0 || s.Bytes() > 1<<16 {
					t.Errorf("%d entries in %d bytes are left", s.Keys(), s.Bytes())
				}
			})
		}
	}
}

// heap is the memory that is in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
