package state

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// stores are the kinds of store that every table is tested on.
var stores = map[string]Options{
	"memory":   {packFrom: 4}, // packed whenever few entries are left
	"evictall": {EvictAll: true, Seed: 5},
}

// databases are those with a database.
var databases = map[string]Options{
	"database": {packFrom: 4},
	"evicting": {Memory: 1}, // whatever is committed leaves memory
	"overlaid": {EvictAll: true, Seed: 7},
}

// keyCase is a key layout with a way to make the n-th of its keys.
type keyCase struct {
	layout rowkey.Layout
	add    func(b *vector.Builder, n int)
}

func addInt(c *vector.ColumnBuilder, n int) {
	if n%7 == 0 {
		c.AppendNull()
	} else {
		vector.Append(c, int64(n/2))
	}
}

// The n-th keys are equal for some n, and NULL for some.
var keyCases = map[string]keyCase{
	"bigint": {rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}, func(b *vector.Builder, n int) {
		addInt(b.Col(0), n)
	}},
	"text": {rowkey.Layout{Kinds: []vector.Kind{vector.String}}, func(b *vector.Builder, n int) {
		b.Col(0).AppendString(strings.Repeat("k\x00", n%50) + fmt.Sprint(n/2))
	}},
	"pair": {rowkey.Layout{Kinds: []vector.Kind{vector.Int64, vector.String}}, func(b *vector.Builder, n int) {
		addInt(b.Col(0), n)
		b.Col(1).AppendString(fmt.Sprint("v", n%3))
	}},
	"none": {rowkey.Layout{}, func(b *vector.Builder, n int) {}},
}

// keysOf encodes the given keys; call is for the test's own map.
func (k keyCase) keysOf(p *vector.Pool, ns []int) (keys *rowkey.Keys, names []string) {
	b := vector.NewBuilder(p, k.layout.Kinds)
	for _, n := range ns {
		k.add(b, n)
		b.EndRow(vector.Insert)
	}
	batch := b.Finish()
	defer batch.Release()
	cols := make([]int, batch.Cols())
	for i := range cols {
		cols[i] = i
	}
	keys = rowkey.NewEncoder(k.layout).Encode(batch, cols)
	for i := range ns {
		names = append(names, string(keys.Bytes(i)))
	}
	return keys, names
}

func forEachCase(t *testing.T, f func(t *testing.T, opt Options, k keyCase, db *testDB)) {
	for store, opt := range stores {
		for key, k := range keyCases {
			t.Run(store+"/"+key, func(t *testing.T) { f(t, opt, k, nil) })
		}
	}
	for store, opt := range databases {
		for _, key := range []string{"pair", "bigint"} {
			k := keyCases[key]
			t.Run(store+"/"+key, func(t *testing.T) {
				db := newTestDB(t, opt)
				f(t, db.opt, k, db)
			})
		}
	}
}

type model struct {
	sum  int64
	flag bool
	text string
}

var modelCols = []vector.Kind{vector.Int64, vector.Bool, vector.String}

// valuesWalk drives a Values table and a map at random and compares them.
type valuesWalk struct {
	t     *testing.T
	r     *rand.Rand
	k     keyCase
	opt   Options
	db    *testDB
	store *Store
	v     *Values
	want  map[string]model
	held  map[string]model // before images
	names []string         // by ordinal
	pool  *vector.Pool
	lists bool
}

func (w *valuesWalk) open() {
	w.store = NewStore(w.opt)
	if w.lists {
		w.v = w.store.Lists("t", w.k.layout, modelCols[:1], modelCols[1:], 3)
	} else {
		w.v = w.store.Values("t", w.k.layout, modelCols)
	}
	w.v.base = 1<<30 - 100 // ordinals start anew soon
}

func (w *valuesWalk) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *valuesWalk) read(s Slot) model {
	if !w.lists {
		return model{Col[int64](w.v, 0)[s], Col[bool](w.v, 1)[s], string(w.v.Bytes(2, s))}
	}
	if text := w.v.Bytes(2, 3*s); len(text) > 0 { // the first place of texts stays empty
		w.t.Fatalf("%q in a place that was not written", text)
	}
	return model{Col[int64](w.v, 0)[s], Col[bool](w.v, 1)[3*s], string(w.v.Bytes(2, 3*s+1)) + string(w.v.Bytes(2, 3*s+2))}
}

func (w *valuesWalk) write(s Slot, m model) {
	Col[int64](w.v, 0)[s] = m.sum
	if !w.lists {
		Col[bool](w.v, 1)[s] = m.flag
		w.v.SetBytes(2, s, []byte(m.text))
		return
	}
	copy(Col[bool](w.v, 1)[3*s:3*s+3], []bool{m.flag, true, m.flag})
	half := len(m.text) / 2
	w.v.SetBytes(2, 3*s+1, []byte(m.text[:half]))
	w.v.SetBytes(2, 3*s+2, []byte(m.text[half:]))
}

// process updates the entries of some keys and holds them.
func (w *valuesWalk) process() {
	ns := make([]int, w.r.IntN(40))
	for i := range ns {
		ns[i] = w.r.IntN(300)
	}
	keys, names := w.k.keysOf(w.pool, ns)
	slots := make([]Slot, len(ns))
	create := w.r.IntN(4) > 0
	w.ok(w.v.Resolve(keys, create, slots))
	for i, s := range slots {
		if _, there := w.want[names[i]]; s == None == (there || create) {
			w.t.Fatalf("key %x: slot %d, create %v, expected %v", names[i], s, create, there)
		}
		if s != None && create {
			zero := w.want[names[i]] // of a new entry
			w.want[names[i]] = zero
		}
		if s != None && w.read(s) != w.want[names[i]] {
			w.t.Fatalf("key %x: %v, want %v", names[i], w.read(s), w.want[names[i]])
		}
	}
	if w.r.IntN(2) == 0 {
		fresh := w.v.Hold(slots, nil)
		for _, i := range fresh {
			if _, twice := w.held[names[i]]; twice {
				w.t.Fatalf("key %x is fresh twice", names[i])
			}
			w.held[names[i]] = w.read(slots[i])
			w.names = append(w.names, names[i])
		}
		for i, s := range slots {
			if s != None && w.names[w.v.Ordinal(s)] != names[i] {
				w.t.Fatalf("key %x has another's ordinal", names[i])
			}
		}
	}
	for i, s := range slots {
		if s == None {
			continue
		}
		m := model{int64(w.r.IntN(100)), w.r.IntN(2) == 0, strings.Repeat("x", w.r.IntN(60))}
		w.write(s, m)
		w.want[names[i]] = m
	}
	w.v.Dirty(slots)
	if w.r.IntN(5) == 0 {
		w.gather(slots, names)
	}
	w.ok(w.store.EndCall())
}

// gather checks Keys.
func (w *valuesWalk) gather(slots []Slot, names []string) {
	var some []Slot
	var want []string
	for i, s := range slots {
		if s != None {
			some, want = append(some, s), append(want, names[i])
		}
	}
	cols, err := w.v.Keys(w.pool, some)
	w.ok(err)
	b := vector.NewBatch(len(some), cols, nil)
	all := make([]int, len(cols))
	for i := range all {
		all[i] = i
	}
	got := rowkey.NewEncoder(w.k.layout).Encode(b, all)
	for i := range some {
		if string(got.Bytes(i)) != want[i] {
			w.t.Fatalf("Keys gives %x for %x", got.Bytes(i), want[i])
		}
	}
	b.Release()
}

// flush looks at what is held, drops some of it and ends the epoch.
func (w *valuesWalk) flush() {
	held := w.v.Held()
	if len(held) != len(w.names) {
		w.t.Fatalf("%d entries held, want %d", len(held), len(w.names))
	}
	var drop []Slot
	for i, s := range held {
		if got := w.read(s); got != w.want[w.names[i]] {
			w.t.Fatalf("held key %x: %v, want %v", w.names[i], got, w.want[w.names[i]])
		}
		if w.r.IntN(3) == 0 {
			drop = append(drop, s, s)
			delete(w.want, w.names[i])
		}
	}
	w.v.Drop(drop)
	w.gather(held, w.names)
	w.names, w.held = nil, map[string]model{}
	w.ok(w.store.EndEpoch())
	if w.db != nil {
		w.db.step(w.r, w.store)
	}
	if w.v.Len() != len(w.want) || w.store.Keys() != int64(len(w.want)) {
		w.t.Fatalf("%d entries, want %d", w.v.Len(), len(w.want))
	}
}

// restart continues in a new store, if there is a database.
func (w *valuesWalk) restart() {
	if w.db != nil {
		w.crash()
	}
}

// crash continues on what was last committed.
func (w *valuesWalk) crash() {
	w.db.checkpoint(w.store)
	want := maps.Clone(w.want)
	for range w.r.IntN(3) {
		w.process()
		w.flush2()
	}
	w.db.crash(w.r)
	w.opt, w.want = w.db.opt, want
	w.names, w.held = nil, map[string]model{}
	w.open()
	if w.v.Len() != len(w.want) {
		w.t.Fatalf("%d entries restored, want %d", w.v.Len(), len(w.want))
	}
}

// flush2 is flush without a checkpoint.
func (w *valuesWalk) flush2() {
	db := w.db
	w.db = nil
	w.flush()
	w.db = db
}

func TestValuesAgainstMap(t *testing.T) { valuesAgainstMap(t, false) }

func TestListsAgainstMap(t *testing.T) { valuesAgainstMap(t, true) }

func valuesAgainstMap(t *testing.T, lists bool) {
	forEachCase(t, func(t *testing.T, opt Options, k keyCase, db *testDB) {
		const seed = 11
		w := &valuesWalk{
			t: t, r: rand.New(rand.NewPCG(seed, 0)), k: k, opt: opt, db: db,
			want: map[string]model{}, held: map[string]model{}, pool: vector.NewCheckedPool(), lists: lists,
		}
		w.open()
		for range 150 {
			for range w.r.IntN(4) {
				w.process()
			}
			w.flush()
			if w.r.IntN(10) == 0 {
				w.restart()
			}
		}
		w.ok(w.pool.Leaks())
	})
}

// The work of the benchmark, checked: enough keys for several segments.
func TestValuesManyKeys(t *testing.T) {
	const n = 200_000
	p := vector.NewPool()
	c := newCountSum(Options{}, vector.Int64)
	for range 2 {
		fillInts(p, n)(c)
	}
	if c.values.Len() != n || len(c.values.index.dir) < 4 {
		t.Fatalf("%d keys in %d segments", c.values.Len(), len(c.values.index.dir))
	}
	b := newDrawer(p).uniform(n)
	slots := make([]Slot, b.Len())
	if err := c.values.Resolve(c.enc.Encode(b, []int{0}), false, slots); err != nil {
		t.Fatal(err)
	}
	keys, err := c.values.Keys(p, slots)
	if err != nil || !slices.Equal(vector.Values[int64](keys[0]), vector.Values[int64](b.Col(0))) {
		t.Fatalf("other keys than those resolved: %v", err)
	}
	for i, s := range slots {
		if got := Col[int64](c.values, 0)[s]; got != 2 {
			t.Fatalf("key %d was counted %d times", vector.Values[int64](b.Col(0))[i], got)
		}
	}
	before := c.store.Bytes()
	c.values.Drop(slots)
	if err := c.store.EndCall(); err != nil {
		t.Fatal(err)
	}
	if got := c.values.Len(); got > n-7000 || got != c.values.index.n {
		t.Errorf("%d keys left, %d in the index", got, c.values.index.n)
	}
	if c.store.Bytes() > before*2 || before < n*24 {
		t.Errorf("%d bytes, then %d", before, c.store.Bytes())
	}
}

// What operators do wrong is found.
func TestEvictAllFindsMisuse(t *testing.T) {
	k := keyCases["bigint"]
	p := vector.NewPool()
	two, _ := k.keysOf(p, []int{1, 3})
	three, _ := k.keysOf(p, []int{1, 3, 5})
	cases := map[string]struct {
		misuse func(s *Store, v *Values, slots []Slot) error // after a call that resolved slots
		want   string
	}{
		"a slot kept for the next call is marked dirty": {func(s *Store, v *Values, slots []Slot) error {
			v.Dirty(slots)
			return s.EndCall()
		}, "neither resolved"},
		"a slot kept for the next call is held": {func(s *Store, v *Values, slots []Slot) error {
			v.Hold(slots, nil)
			return s.EndCall()
		}, "neither resolved"},
		"a slot kept for the next call is dropped": {func(s *Store, v *Values, slots []Slot) error {
			v.Drop(slots[:1])
			return s.EndCall()
		}, "neither resolved"},
		"a slot kept for the next call is read": {func(s *Store, v *Values, slots []Slot) error {
			v.Bytes(1, slots[0])
			return s.EndCall()
		}, "neither resolved"},
		"a slot kept for the next call is written": {func(s *Store, v *Values, slots []Slot) error {
			Col[int64](v, 0)[slots[0]]++
			return s.EndCall()
		}, "outside of the slots"},
		"a slice outlives a Resolve": {func(s *Store, v *Values, _ []Slot) error {
			slots := make([]Slot, 2)
			v.Resolve(two, true, slots)
			old := Col[int64](v, 0)
			v.Resolve(two, true, slots)
			old[slots[0]]++
			v.Dirty(slots)
			return s.EndCall()
		}, "taken before the last Resolve"},
		"a change is not marked dirty": {func(s *Store, v *Values, _ []Slot) error {
			slots := make([]Slot, 2)
			v.Resolve(two, false, slots)
			Col[int64](v, 0)[slots[1]]++
			return s.EndCall()
		}, "not marked dirty"},
		"nothing": {func(s *Store, v *Values, _ []Slot) error {
			slots := make([]Slot, 3)
			v.Resolve(three, true, slots)
			v.Hold(slots, nil)
			if err := s.EndCall(); err != nil {
				return err
			}
			v.Resolve(two, true, slots[:2])
			for _, s := range v.Held() {
				Col[int64](v, 0)[s]++
			}
			v.Dirty(v.Held())
			return s.EndEpoch()
		}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := NewStore(Options{EvictAll: true, Seed: 3})
			v := s.Values("t", k.layout, []vector.Kind{vector.Int64, vector.Bytes})
			slots := make([]Slot, 2)
			if err := v.Resolve(two, true, slots); err != nil {
				t.Fatal(err)
			}
			if err := s.EndCall(); err != nil {
				t.Fatal(err)
			}
			err := c.misuse(s, v, slots)
			if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A slot kept across calls reads poison, and entries come back in other slots.
func TestEvictAllShufflesAndPoisons(t *testing.T) {
	k := keyCases["bigint"]
	keys, _ := k.keysOf(vector.NewPool(), []int{1, 3, 5, 9, 11})
	s := NewStore(Options{EvictAll: true, Seed: 4})
	v := s.Values("t", k.layout, []vector.Kind{vector.Int64})
	first, second := make([]Slot, 5), make([]Slot, 5)
	v.Resolve(keys, true, first)
	if err := s.EndCall(); err != nil {
		t.Fatal(err)
	}
	if got := Col[int64](v, 0)[first[0]]; got != poisonOf[int64]() {
		t.Errorf("an evicted slot reads %d", got)
	}
	v.Resolve(keys, false, second)
	if slices.Equal(first, second) || slices.Contains(second, None) {
		t.Errorf("slots %v came back as %v", first, second)
	}
}

func TestColPanicsOnAnotherType(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, `column 0 holds int64, asked for float64`) {
			t.Error(got)
		}
	}()
	Col[float64](NewStore(Options{}).Values("t", rowkey.Layout{}, []vector.Kind{vector.Int64}), 0)
}
