package state

import (
	"archive/zip"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// A database of each version that there was is in testdata, made with
//
//	go test ./engine/internal/state -run Golden -make-golden
//
// by that version, and never again: this one must read them all.
var makeGolden = flag.Bool("make-golden", false, "make the database of this version, if there is none")

// goldenKinds are a column of each kind.
var goldenKinds = []vector.Kind{
	vector.Bool, vector.Int8, vector.Int16, vector.Int32, vector.Int64, vector.Float32, vector.Float64, vector.Decimal,
	vector.String, vector.Bytes, vector.ListOf(vector.Int64), vector.MapOf(vector.String, vector.Int32),
	vector.StructOf(vector.Int64, vector.String),
}

// goldenRow appends the n-th row; the values of some are NULL.
func goldenRow(b *vector.Builder, n int, null bool) {
	for i := range goldenKinds {
		c := b.Col(i)
		if null && (n+i)%3 == 0 {
			c.AppendNull()
			continue
		}
		switch i {
		case 0:
			vector.Append(c, n%2 == 0)
		case 1:
			vector.Append(c, int8(-n))
		case 2:
			vector.Append(c, int16(300*n))
		case 3:
			vector.Append(c, int32(-70_000*n))
		case 4:
			vector.Append(c, int64(n)<<40)
		case 5:
			vector.Append(c, float32(n)/3)
		case 6:
			vector.Append(c, -float64(n)/7)
		case 7:
			vector.Append(c, vector.DecFromInt64(int64(n)-5))
		case 8:
			c.AppendString(fmt.Sprint("text ", n))
		case 9:
			c.AppendBytes([]byte{0, byte(n), 0xFF})
		case 10:
			for range n % 3 {
				vector.Append(c.Child(0), int64(n))
			}
			c.EndValue()
		case 11:
			c.Child(0).AppendString("key")
			vector.Append(c.Child(1), int32(n))
			c.EndValue()
		case 12:
			vector.Append(c.Child(0), int64(n))
			c.Child(1).AppendString("field")
			c.EndValue()
		}
	}
	b.EndRow(vector.Insert)
}

func goldenRows(p *vector.Pool, from, n int, null bool) *vector.Batch {
	b := vector.NewBuilder(p, goldenKinds)
	for i := range n {
		goldenRow(b, from+i, null)
	}
	return b.Finish()
}

// goldenTables are a table of each sort.
type goldenTables struct {
	values, packed                       *Values
	appended, indexed, replacing, sorted *Rows
	slices                               *Slices
	times                                *Times
}

// goldenLayout is a key of all kinds that are not nested.
var goldenLayout = rowkey.Layout{
	Kinds: goldenKinds[:10], Desc: []bool{9: false, 4: true, 8: true}, NullsLast: []bool{9: true, 3: true},
}

func goldenStore(db *DB) (*Store, goldenTables) {
	s := NewStore(Options{DB: db, Operator: "operator", Name: "Operator[1]"})
	packed := rowkey.Layout{Kinds: []vector.Kind{vector.Int32, vector.Int16}}
	return s, goldenTables{
		values: s.Values("values", goldenLayout, []vector.Kind{
			vector.Bool, vector.Int8, vector.Int16, vector.Int32, vector.Int64, vector.Float32, vector.Float64, vector.Decimal,
			vector.String, vector.Bytes,
		}),
		packed:    s.Values("packed", packed, []vector.Kind{vector.Int64}),
		appended:  s.Rows("appended", goldenLayout, RowsOptions{Cols: goldenKinds, Noted: true}),
		indexed:   s.Rows("indexed", goldenLayout, RowsOptions{Cols: goldenKinds, Indexed: true}),
		replacing: s.Rows("replacing", packed, RowsOptions{Cols: goldenKinds, Indexed: true, Replacing: true, Identity: []int{3}, Noted: true}),
		sorted:    s.Rows("sorted", packed, RowsOptions{Cols: goldenKinds, Indexed: true, Sort: &SortSpec{Cols: []int{8}}}),
		slices:    s.Slices("slices", packed, []vector.Kind{vector.Float64, vector.String}),
		times:     s.Times("times", goldenLayout),
	}
}

const goldenEntries = 20

// visit writes the state, or checks it.
func (g goldenTables) visit(t *testing.T, write bool) {
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p := vector.NewPool()
	batch := goldenRows(p, 0, goldenEntries, true)
	cols := make([]int, len(goldenLayout.Kinds))
	for i := range cols {
		cols[i] = i
	}
	long := rowkey.NewEncoder(goldenLayout).Encode(batch, cols)
	full := goldenRows(p, 0, goldenEntries, false)
	short := rowkey.NewEncoder(g.packed.layout).Encode(full, []int{3, 2})
	slots := make([]Slot, goldenEntries)
	resolve := func(err error) {
		t.Helper()
		ok(err)
		for i, s := range slots {
			if s == None {
				t.Fatalf("there is no entry %d", i)
			}
		}
	}
	resolve(g.values.Resolve(long, write, slots))
	if write {
		for i, c := range g.values.cols {
			c.store(full.Col(i), nil, slots)
		}
	} else {
		for i, c := range g.values.cols {
			same(t, fmt.Sprint("values column ", i), c.take(p, slots), full.Col(i))
		}
	}
	resolve(g.packed.Resolve(short, write, slots))
	for i, s := range slots {
		if at := &Col[int64](g.packed, 0)[s]; write {
			*at = int64(i)
		} else if *at != int64(i) {
			t.Errorf("packed: entry %d is %d", i, *at)
		}
	}
	for i, r := range []*Rows{g.appended, g.indexed, g.replacing, g.sorted} {
		keys := long
		if r.layout.Packed() {
			keys = short
		}
		resolve(r.Resolve(keys, write, slots))
		if write {
			ok(r.Add(slots, batch))
			for n := range r.Notes() {
				r.Notes()[n] = int64(n) - 3
			}
			if r.opt.Noted {
				r.Dirty(slots)
			}
			continue
		}
		var m Matches
		r.Match(slots, &Cursor{}, 1000, &m)
		if len(m.Row) != goldenEntries {
			t.Fatalf("%s: %d rows", r.name, len(m.Row))
		}
		for c, col := range r.Take(p, m.Row) {
			same(t, fmt.Sprint(r.name, " column ", c), col, batch.Col(c))
		}
		for at, id := range m.Row {
			if m.Count[at] != 1 || r.opt.Noted && r.Notes()[id] != int64(at+1)-3 {
				t.Errorf("table %d: row %d has count %d", i, at, m.Count[at])
			}
		}
	}
	for _, at := range []int64{-5, 0, 1 << 40} {
		v, err := g.slices.Slice(at, write)
		ok(err)
		if v == nil {
			t.Fatalf("there is no slice of %d", at)
		}
		resolve(v.Resolve(short, write, slots))
		for i, s := range slots {
			if write {
				Col[float64](v, 0)[s] = float64(i) + float64(at)
				v.SetBytes(1, s, fmt.Append(nil, at))
			} else if Col[float64](v, 0)[s] != float64(i)+float64(at) || string(v.Bytes(1, s)) != fmt.Sprint(at) {
				t.Errorf("slice %d: entry %d is %v", at, i, Col[float64](v, 0)[s])
			}
		}
	}
	if write {
		for i := range goldenEntries {
			ok(g.times.Add(int64(i-3), long, i))
		}
		return
	}
	n := 0
	ok(g.times.Due(1000, func(at int64, key []byte) bool {
		if at != int64(n-3) || !bytes.Equal(key, long.Bytes(n)) {
			t.Errorf("timer %d is at %d for %x", n, at, key)
		}
		n++
		return true
	}))
	if n != goldenEntries {
		t.Errorf("%d timers", n)
	}
}

func same(t *testing.T, what string, got, want *vector.Vector) {
	t.Helper()
	for i := range want.Len() {
		if got.IsNull(i) != want.IsNull(i) || !want.IsNull(i) && vector.Compare(got, i, want, i) != 0 {
			t.Errorf("%s: row %d is another", what, i)
		}
	}
}

func goldenName(version int) string {
	return filepath.Join("testdata", fmt.Sprintf("version%d.zip", version))
}

func TestGolden(t *testing.T) {
	if _, err := os.Stat(goldenName(FormatVersion)); errors.Is(err, os.ErrNotExist) && *makeGolden {
		writeGolden(t)
	}
	for version := 1; version <= FormatVersion; version++ {
		mem := vfs.NewMem()
		unzip(t, goldenName(version), mem)
		in, err := Inspect("state", mem)
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		if in.Version != version || in.Checkpoint.Now != 1234 || string(in.Checkpoint.Meta) != "meta" {
			t.Errorf("version %d: %+v", version, in.Checkpoint)
		}
		db, err := OpenDB("state", DBOptions{FS: mem})
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		s, tables := goldenStore(db)
		if want := int64(goldenEntries * 10); s.Keys() != want {
			t.Errorf("version %d: %d keys, want %d", version, s.Keys(), want)
		}
		tables.visit(t, false)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func writeGolden(t *testing.T) {
	mem := vfs.NewMem()
	db, err := OpenDB("state", DBOptions{FS: mem, ingestFrom: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, tables := goldenStore(db)
	tables.visit(t, true)
	if err := s.EndEpoch(); err != nil {
		t.Fatal(err)
	}
	p, err := s.Copy(7)
	if err == nil {
		err = db.Commit(Checkpoint{Epoch: 7, Now: 1234, Meta: []byte("meta")}, []*Part{p})
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	names, err := mem.List("state")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if info, err := mem.Stat("state/" + n); err != nil || info.IsDir() || n == "LOCK" {
			continue
		}
		from, err := mem.Open("state/" + n)
		if err != nil {
			t.Fatal(err)
		}
		to, err := z.Create(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(to, from); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), os.WriteFile(goldenName(FormatVersion), b.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
}

func unzip(t *testing.T, name string, mem FS) {
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := mem.MkdirAll("state", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		to, err := mem.Create("state/"+f.Name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(to, from); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(from.Close(), to.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
