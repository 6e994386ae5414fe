package state

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// testRow is a row of the tables under test: a nullable number, a text and a float.
type testRow struct {
	n    int64
	null bool
	s    string
	f    float64
}

// testRowCols has a nested column besides those of testRow, that repeats n and s.
var testRowCols = []vector.Kind{vector.Int64, vector.String, vector.Float64, vector.MapOf(vector.Int64, vector.ListOf(vector.String))}

func randomRow(r *rand.Rand) testRow {
	row := testRow{n: int64(r.IntN(60)), null: r.IntN(10) == 0, s: strings.Repeat("t", r.IntN(5))}
	if row.null {
		row.n = 0
	}
	if r.IntN(2) == 0 {
		row.f = float64(r.IntN(3))
	}
	return row
}

func (x testRow) append(b *vector.Builder, kind vector.RowKind) {
	if x.null {
		b.Col(0).AppendNull()
	} else {
		vector.Append(b.Col(0), x.n)
	}
	b.Col(1).AppendString(x.s)
	vector.Append(b.Col(2), x.f)
	if x.null {
		b.Col(3).AppendNull()
	} else {
		vector.Append(b.Col(3).Child(0), x.n)
		for range x.s {
			b.Col(3).Child(1).Child(0).AppendString(x.s)
		}
		b.Col(3).Child(1).EndValue()
		b.Col(3).EndValue()
	}
	b.EndRow(kind)
}

func rowsOf(p *vector.Pool, r *Rows, ids []RowID) []testRow {
	cols := r.Take(p, ids)
	out := make([]testRow, len(ids))
	again := vector.NewBuilder(p, testRowCols)
	for i := range ids {
		out[i] = testRow{null: cols[0].IsNull(i), s: string(cols[1].Bytes(i)), f: vector.Values[float64](cols[2])[i]}
		if !out[i].null {
			out[i].n = vector.Values[int64](cols[0])[i]
		}
		out[i].append(again, vector.Insert)
	}
	b := again.Finish()
	defer b.Release()
	for i := range ids {
		if vector.Compare(cols[3], i, b.Col(3), i) != 0 {
			panic(fmt.Sprintf("a row of %v came back with another nested value", out[i]))
		}
	}
	for _, c := range cols {
		c.Release()
	}
	return out
}

// compareTestRows is the order of sortSpec: the number descending with NULL last,
// then the text.
func compareTestRows(a, b testRow) int {
	if a.null != b.null {
		if a.null {
			return 1
		}
		return -1
	}
	return cmp.Or(-cmp.Compare(a.n, b.n), cmp.Compare(a.s, b.s))
}

var sortSpec = &SortSpec{Cols: []int{0, 1}, Desc: []bool{true, false}, NullsLast: []bool{true, false}}

type rowsWalk struct {
	t     *testing.T
	r     *rand.Rand
	k     keyCase
	opt   Options
	db    *testDB
	rows  RowsOptions
	store *Store
	table *Rows
	want  map[string]map[testRow]int64
	notes map[string]int64 // by key and row, of those that are not 0
	pool  *vector.Pool
	keys  int // how many keys there are
}

// identity leaves of a row what tells it apart in a replacing table.
func (w *rowsWalk) identity(row testRow) (is testRow) {
	for _, c := range w.rows.Identity {
		switch c {
		case 0:
			is.n, is.null = row.n, row.null
		case 1:
			is.s = row.s
		case 2:
			is.f = row.f
		}
	}
	return is
}

// count adds a change of a row to a model.
func (w *rowsWalk) count(rows map[testRow]int64, row testRow, sign int64) {
	if w.rows.Replacing {
		maps.DeleteFunc(rows, func(other testRow, _ int64) bool { return w.identity(other) == w.identity(row) })
		if sign < 0 {
			return
		}
	}
	if rows[row] += sign; rows[row] == 0 {
		delete(rows, row)
	}
}

func noteName(key string, row testRow) string { return fmt.Sprint(key, "/", row) }

// note checks the notes of rows that were added, and changes some.
func (w *rowsWalk) note(slots []Slot, names []string, before map[string]map[testRow]int64) {
	if !w.rows.Noted {
		return
	}
	added := w.table.Added()
	var ids []RowID // those that are not gone
	var of []string
	for at, s := range slots {
		if s == None {
			continue
		}
		if id := added[0]; w.table.owner[id] != None {
			ids, of = append(ids, id), append(of, names[at])
		}
		added = added[1:]
	}
	for i, row := range rowsOf(w.pool, w.table, ids) {
		id, key := ids[i], of[i]
		name := noteName(key, row)
		if before[key][row] == 0 {
			w.notes[name] = 0
		}
		before[key][row] = 1 // so much for new ones
		if got := w.table.Notes()[id]; got != w.notes[name] {
			w.t.Fatalf("row %v of key %x has note %d, want %d", row, key, got, w.notes[name])
		}
		w.notes[name] = w.r.Int64N(1000) - 500
		w.table.Notes()[id] = w.notes[name]
	}
	w.table.Dirty(slots)
}

func cloneRows(m map[string]map[testRow]int64) map[string]map[testRow]int64 {
	out := map[string]map[testRow]int64{}
	for k, rows := range m {
		out[k] = maps.Clone(rows)
	}
	return out
}

func (w *rowsWalk) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *rowsWalk) open() {
	w.store = NewStore(w.opt)
	w.table = w.store.Rows("t", w.k.layout, w.rows)
}

func (w *rowsWalk) resolve(n int, create bool) (slots []Slot, names []string) {
	ns := make([]int, n)
	for i := range ns {
		ns[i] = w.r.IntN(w.keys)
	}
	keys, names := w.k.keysOf(w.pool, ns)
	slots = make([]Slot, n)
	w.ok(w.table.Resolve(keys, create, slots))
	for i, s := range slots {
		if there := len(w.want[names[i]]) > 0; s == None == (there || create) {
			w.t.Fatalf("key %x: slot %d, create %v, expected %v", names[i], s, create, there)
		}
	}
	return slots, names
}

// add adds and takes away random rows; n of them.
func (w *rowsWalk) add(n int) {
	slots, names := w.resolve(n, true)
	before := cloneRows(w.want)
	b := vector.NewBuilder(w.pool, testRowCols)
	for i := range slots {
		row, kind := randomRow(w.r), vector.Insert
		if w.rows.Indexed && w.r.IntN(2) == 0 {
			kind = vector.Delete
			for there := range w.want[names[i]] { // more often one that exists
				if w.r.IntN(3) > 0 {
					row = there
				}
				break
			}
		}
		if w.r.IntN(20) == 0 {
			slots[i] = None
		} else {
			if w.want[names[i]] == nil {
				w.want[names[i]] = map[testRow]int64{}
			}
			if before[names[i]] == nil {
				before[names[i]] = map[testRow]int64{}
			}
			w.count(w.want[names[i]], row, kind.Sign())
		}
		row.append(b, kind)
	}
	batch := b.Finish()
	live := batch
	if w.r.IntN(2) == 0 { // a selection that happens to select all
		sel := w.pool.New(vector.Int32, n)
		for i := range n {
			vector.Values[int32](sel)[i] = int32(i)
		}
		live = batch.Select(sel)
		batch.Release()
	}
	w.ok(w.table.Add(slots, live))
	live.Release()
	w.note(slots, names, before)
	w.ok(w.store.EndCall())
	maps.DeleteFunc(w.want, func(_ string, rows map[testRow]int64) bool { return len(rows) == 0 })
	negative := int64(0)
	for _, rows := range w.want {
		for _, c := range rows {
			if c < 0 {
				negative++
			}
		}
	}
	if w.db == nil && w.table.Negative() != negative || w.table.Len() != len(w.want) {
		w.t.Fatalf("%d negative rows of %d keys, want %d of %d", w.table.Negative(), w.table.Len(), negative, len(w.want))
	}
}

// match compares what is under some keys.
func (w *rowsWalk) match() {
	slots, names := w.resolve(8, false)
	got := make([]map[testRow]int64, len(slots))
	var c Cursor
	var m Matches
	limit := w.r.IntN(50) + 1
	for done := false; !done; {
		m.Reset()
		done = w.table.Match(slots, &c, limit, &m)
		if len(m.Row) > limit {
			w.t.Fatalf("%d matches, limit %d", len(m.Row), limit)
		}
		for i, row := range rowsOf(w.pool, w.table, m.Row) {
			probe := m.Probe[i]
			if got[probe] == nil {
				got[probe] = map[testRow]int64{}
			}
			if w.rows.Indexed && got[probe][row] != 0 {
				w.t.Fatalf("row %v matches twice", row)
			}
			if note := noteName(names[probe], row); w.rows.Noted && w.table.Notes()[m.Row[i]] != w.notes[note] {
				w.t.Fatalf("row %v of key %x has note %d, want %d", row, names[probe], w.table.Notes()[m.Row[i]], w.notes[note])
			}
			got[probe][row] += m.Count[i]
		}
	}
	for i, s := range slots {
		if !maps.Equal(got[i], w.want[names[i]]) {
			w.t.Fatalf("key %x has %v, want %v", names[i], got[i], w.want[names[i]])
		}
		sum := int64(0)
		for _, c := range got[i] {
			sum += c
		}
		if w.table.Count(s) != sum {
			w.t.Fatalf("key %x counts %d, want %d", names[i], w.table.Count(s), sum)
		}
		if w.rows.Sort != nil {
			w.order(s, w.want[names[i]])
		}
	}
	w.ok(w.store.EndCall())
}

// order compares First, Last and Range.
func (w *rowsWalk) order(s Slot, want map[testRow]int64) {
	sorted := slices.SortedFunc(maps.Keys(want), compareTestRows)
	var positive []testRow
	for _, row := range sorted {
		if want[row] > 0 {
			positive = append(positive, row)
		}
	}
	first, fc, ok := w.table.First(s)
	last, lc, ok2 := w.table.Last(s)
	if ok != (len(positive) > 0) || ok2 != ok {
		w.t.Fatalf("First %v, Last %v of %v", ok, ok2, want)
	}
	if ok {
		ends := rowsOf(w.pool, w.table, []RowID{first, last})
		if compareTestRows(ends[0], positive[0]) != 0 || compareTestRows(ends[1], positive[len(positive)-1]) != 0 ||
			fc != want[ends[0]] && w.rows.Indexed || lc != want[ends[1]] && w.rows.Indexed {
			w.t.Fatalf("First and Last are %v, %v of %v", ends, []int64{fc, lc}, want)
		}
	}
	from, skip := []byte(nil), 0
	if w.r.IntN(3) > 0 {
		probe := randomRow(w.r)
		b := vector.NewBuilder(w.pool, testRowCols)
		probe.append(b, vector.Insert)
		batch := b.Finish()
		from = slices.Clone(rowkey.NewEncoder(w.table.SortLayout()).Encode(batch, []int{0, 1}).Bytes(0))
		batch.Release()
		for skip < len(sorted) && compareTestRows(sorted[skip], probe) < 0 {
			skip++
		}
	}
	var ids []RowID
	n := 0
	stop := w.r.IntN(len(sorted)+1) + 1
	w.ok(w.table.Range(s, from, func(id RowID, count int64) bool {
		ids = append(ids, id)
		n++
		return n < stop
	}))
	if !w.rows.Indexed {
		return // equal rows come several times
	}
	sorted = sorted[skip:]
	sorted = sorted[:min(stop, len(sorted))]
	for i, row := range rowsOf(w.pool, w.table, ids) {
		if i >= len(sorted) || compareTestRows(row, sorted[i]) != 0 {
			w.t.Fatalf("Range gives %v at %d, want %v", row, i, sorted)
		}
	}
	if len(ids) != len(sorted) {
		w.t.Fatalf("Range gives %d rows, want %d", len(ids), len(sorted))
	}
}

func (w *rowsWalk) drop() {
	slots, names := w.resolve(3, false)
	w.table.Drop(slots)
	for _, n := range names {
		delete(w.want, n)
	}
	w.ok(w.store.EndCall())
}

func (w *rowsWalk) restart() {
	w.ok(w.store.EndEpoch())
	if w.db != nil {
		w.crash()
	}
}

// crash continues on what was last committed.
func (w *rowsWalk) crash() {
	w.db.checkpoint(w.store)
	want, notes := cloneRows(w.want), maps.Clone(w.notes)
	for range w.r.IntN(3) {
		w.add(w.r.IntN(30))
		w.drop()
		w.ok(w.store.EndEpoch())
	}
	w.db.crash(w.r)
	w.opt, w.want, w.notes = w.db.opt, want, notes
	w.open()
	if w.table.Len() != len(want) {
		w.t.Fatalf("%d keys restored, want %d", w.table.Len(), len(want))
	}
}

func TestRowsAgainstMap(t *testing.T) {
	options := map[string]RowsOptions{
		"append":        {Cols: testRowCols},
		"appendsorted":  {Cols: testRowCols, Sort: sortSpec},
		"indexed":       {Cols: testRowCols, Indexed: true},
		"indexedsorted": {Cols: testRowCols, Indexed: true, Sort: sortSpec},
		"noted":         {Cols: testRowCols, Indexed: true, Noted: true},
		"replacing":     {Cols: testRowCols, Indexed: true, Replacing: true, Identity: []int{0}},
		// Rows that are replaced move in the order.
		"replacingsorted": {Cols: testRowCols, Indexed: true, Replacing: true, Identity: []int{1, 2}, Sort: sortSpec},
	}
	for name, rows := range options {
		for _, keys := range []int{3, 300} { // few large groups, many small ones
			t.Run(fmt.Sprintf("%s/%d", name, keys), func(t *testing.T) {
				forEachCase(t, func(t *testing.T, opt Options, k keyCase, db *testDB) {
					const seed = 17
					w := &rowsWalk{
						t: t, r: rand.New(rand.NewPCG(seed, 0)), k: k, opt: opt, db: db, rows: rows,
						want: map[string]map[testRow]int64{}, notes: map[string]int64{}, pool: vector.NewCheckedPool(), keys: keys,
					}
					w.open()
					for i := range 40 {
						w.add(w.r.IntN(80))
						w.match()
						if db != nil && i%2 == 0 {
							w.ok(w.store.EndEpoch())
							db.step(w.r, w.store)
						}
						switch w.r.IntN(12) {
						case 0:
							w.drop()
						case 1:
							w.restart()
						case 2:
							if i%3 == 0 {
								w.ok(w.table.DropAll())
								clear(w.want)
								w.ok(w.store.EndCall())
							}
						}
					}
					w.ok(w.pool.Leaks())
				})
			})
		}
	}
}

// A group that needs a tree of several levels.
func TestRowsSortedLargeGroup(t *testing.T) {
	const n, seed = 20_000, 23
	p := vector.NewPool()
	s := NewStore(Options{})
	r := s.Rows("t", rowkey.Layout{}, RowsOptions{Cols: []vector.Kind{vector.Int64}, Indexed: true, Sort: &SortSpec{Cols: []int{0}}})
	rnd := rand.New(rand.NewPCG(seed, 0))
	all := rnd.Perm(n)
	slots := make([]Slot, 1000)
	add := func(vals []int, kind vector.RowKind) Slot {
		keys, _ := keyCases["none"].keysOf(p, make([]int, len(vals)))
		if err := r.Resolve(keys, true, slots); err != nil {
			t.Fatal(err)
		}
		b := vector.NewBuilder(p, r.opt.Cols)
		for _, v := range vals {
			vector.Append(b.Col(0), int64(v))
			b.EndRow(kind)
		}
		if err := r.Add(slots, b.Finish()); err != nil {
			t.Fatal(err)
		}
		return slots[0]
	}
	check := func(slot Slot, want []int) {
		t.Helper()
		want = slices.Sorted(slices.Values(want))
		var ids []RowID
		r.Range(slot, nil, func(id RowID, _ int64) bool { ids = append(ids, id); return true })
		got := r.Take(p, ids)[0]
		for i, v := range vector.Values[int64](got) {
			if i >= len(want) || v != int64(want[i]) {
				t.Fatalf("row %d is %d", i, v)
			}
		}
		if got.Len() != len(want) {
			t.Fatalf("%d rows, want %d", got.Len(), len(want))
		}
		if len(want) > 0 {
			first, _, _ := r.First(slot)
			last, _, _ := r.Last(slot)
			if ends := vector.Values[int64](r.Take(p, []RowID{first, last})[0]); ends[0] != int64(want[0]) || ends[1] != int64(want[len(want)-1]) {
				t.Fatalf("ends %v of %d..%d", ends, want[0], want[len(want)-1])
			}
		}
	}
	for at := 0; at < n; at += len(slots) {
		check(add(all[at:at+len(slots)], vector.Insert), all[:at+len(slots)])
	}
	full := r.sorted.size
	rnd.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	for at := 0; at < n; at += len(slots) {
		check(add(all[at:at+len(slots)], vector.Delete), all[at+len(slots):])
	}
	if err := s.EndCall(); err != nil {
		t.Fatal(err)
	}
	if free := int32(len(r.sorted.unused)); full < n/fanOut || free != r.sorted.size-1 || r.Len() != 0 {
		t.Errorf("%d nodes made, %d free, %d keys left", r.sorted.size-1, free, r.Len())
	}
}

// Rows that only have the same hash are kept apart.
func TestRowsOfOneHash(t *testing.T) {
	p := vector.NewPool()
	s := NewStore(Options{})
	r := s.Rows("t", rowkey.Layout{}, RowsOptions{Cols: testRowCols, Indexed: true, Sort: sortSpec})
	k := keyCases["none"]
	want := map[testRow]int64{}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		keys, _ := k.keysOf(p, []int{1, 1, 1, 1})
		slots := make([]Slot, 4)
		if err := r.Resolve(keys, true, slots); err != nil {
			t.Fatal(err)
		}
		b := vector.NewBuilder(p, testRowCols)
		a := &r.add
		a.row, a.slot, a.sign, a.hash = nil, slots, nil, nil
		for i := range slots {
			row, kind := testRow{n: int64(rnd.IntN(12))}, vector.RowKind(rnd.IntN(2))
			row.append(b, kind)
			a.row, a.sign, a.hash = append(a.row, int32(i)), append(a.sign, kind.Sign()), append(a.hash, uint64(row.n%2))
			if want[row] += kind.Sign(); want[row] == 0 {
				delete(want, row)
			}
		}
		r.foldHashed(b.Finish())
		var c Cursor
		var m Matches
		r.Match(slots[:1], &c, math.MaxInt, &m)
		got := map[testRow]int64{}
		for i, row := range rowsOf(p, r, m.Row) {
			got[row] = m.Count[i]
		}
		if !maps.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if err := s.EndCall(); err != nil {
			t.Fatal(err)
		}
	}
}

// Equal as in GROUP BY is equal here.
func TestRowsFoldByValue(t *testing.T) {
	p := vector.NewPool()
	s := NewStore(Options{})
	r := s.Rows("t", rowkey.Layout{}, RowsOptions{Cols: testRowCols, Indexed: true})
	b := vector.NewBuilder(p, testRowCols)
	testRow{f: math.NaN()}.append(b, vector.Insert)
	testRow{f: -math.NaN()}.append(b, vector.Delete)
	testRow{f: 0}.append(b, vector.Insert)
	testRow{f: math.Copysign(0, -1)}.append(b, vector.UpdateBefore)
	testRow{null: true}.append(b, vector.UpdateAfter)
	testRow{null: true, n: 0}.append(b, vector.UpdateBefore)
	testRow{n: 7}.append(b, vector.Insert)
	batch := b.Finish()
	slots := make([]Slot, 7)
	keys, _ := keyCases["none"].keysOf(p, make([]int, 7))
	if err := r.Resolve(keys, true, slots); err != nil {
		t.Fatal(err)
	}
	if err := r.Add(slots, batch); err != nil {
		t.Fatal(err)
	}
	var c Cursor
	var m Matches
	r.Match(slots[:1], &c, 10, &m)
	if got := fmt.Sprint(rowsOf(p, r, m.Row)); got != "[{7 false  0}]" || r.Negative() != 0 {
		t.Errorf("left are %s", got)
	}
}

func TestAppendTableRefusesRemovals(t *testing.T) {
	p := vector.NewPool()
	r := NewStore(Options{}).Rows("t", rowkey.Layout{}, RowsOptions{Cols: testRowCols})
	b := vector.NewBuilder(p, testRowCols)
	testRow{}.append(b, vector.Delete)
	keys, _ := keyCases["none"].keysOf(p, []int{0})
	slots := make([]Slot, 1)
	r.Resolve(keys, true, slots)
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "not indexed") {
			t.Error(got)
		}
	}()
	r.Add(slots, b.Finish())
}

func TestEvictAllFindsMisuseOfRows(t *testing.T) {
	misuses := map[string]func(r *Rows, s Slot){
		"match": func(r *Rows, s Slot) { r.Match([]Slot{s}, &Cursor{}, 1, &Matches{}) },
		"count": func(r *Rows, s Slot) { r.Count(s) },
		"first": func(r *Rows, s Slot) { r.First(s) },
		"range": func(r *Rows, s Slot) { r.Range(s, nil, func(RowID, int64) bool { return true }) },
	}
	for name, misuse := range misuses {
		p := vector.NewPool()
		s := NewStore(Options{EvictAll: true, Seed: 1})
		r := s.Rows("t", rowkey.Layout{}, RowsOptions{Cols: testRowCols, Sort: sortSpec})
		b := vector.NewBuilder(p, testRowCols)
		testRow{n: 5}.append(b, vector.Insert)
		keys, _ := keyCases["none"].keysOf(p, []int{0})
		slots := make([]Slot, 1)
		r.Resolve(keys, true, slots)
		if err := r.Add(slots, b.Finish()); err != nil {
			t.Fatal(err)
		}
		misuse(r, slots[0])
		if err := s.EndCall(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		misuse(r, slots[0])
		if err := s.EndCall(); err == nil || !strings.Contains(err.Error(), "neither resolved") {
			t.Errorf("%s with a slot of the call before: %v", name, err)
		}
	}
}
