package state

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// smallSnapshot has a table of each sort.
func smallSnapshot(t testing.TB) []byte {
	t.Helper()
	p := vector.NewPool()
	s := NewStore(Options{})
	k := keyCases["pair"]
	keys, _ := k.keysOf(p, []int{1, 2, 3, 4, 5})
	slots := make([]Slot, 5)
	if err := s.Values("values", k.layout, modelCols).Resolve(keys, true, slots); err != nil {
		t.Fatal(err)
	}
	rows := s.Rows("rows", k.layout, RowsOptions{Cols: testRowCols, Indexed: true})
	if err := rows.Resolve(keys, true, slots); err != nil {
		t.Fatal(err)
	}
	b := vector.NewBuilder(p, testRowCols)
	for i := range slots {
		testRow{n: int64(i), s: "text"}.append(b, vector.Insert)
	}
	if err := rows.Add(slots, b.Finish()); err != nil {
		t.Fatal(err)
	}
	times := s.Times("times", k.layout)
	for i := range slots {
		if err := times.Add(int64(i), keys, i); err != nil {
			t.Fatal(err)
		}
	}
	var buf bytes.Buffer
	if err := s.Snapshot(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func restoreSmall(data []byte) (*Store, error) {
	s, k := NewStore(Options{}), keyCases["pair"]
	s.Values("values", k.layout, modelCols)
	s.Rows("rows", k.layout, RowsOptions{Cols: testRowCols, Indexed: true})
	s.Times("times", k.layout)
	return s, s.Restore(bytes.NewReader(data), 0, rowkey.Groups)
}

func TestRestoreRefusesDamage(t *testing.T) {
	data := smallSnapshot(t)
	if s, err := restoreSmall(data); err != nil || s.Keys() != 15 || s.Bytes() == 0 {
		t.Fatalf("%v", err)
	}
	for i := range data {
		if _, err := restoreSmall(data[:i]); errs.CodeOf(err) != errs.State {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
		bad := slices.Clone(data)
		bad[i] ^= 0x10
		if _, err := restoreSmall(bad); err == nil {
			t.Fatalf("byte %d changed, and nobody noticed", i)
		}
	}
}

func TestRestoreTwice(t *testing.T) {
	data := smallSnapshot(t)
	s, err := restoreSmall(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Restore(bytes.NewReader(data), 0, rowkey.Groups); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Error(err)
	}
}

func TestRestoreOtherShape(t *testing.T) {
	data := smallSnapshot(t)
	s := NewStore(Options{})
	if err := s.Restore(bytes.NewReader(data), 0, rowkey.Groups); err != nil {
		t.Fatal(err)
	}
	if got := s.Unclaimed(); !slices.Equal(got, []string{"rows", "times", "values"}) {
		t.Error(got)
	}
	k := keyCases["pair"]
	v := s.Values("values", k.layout, []vector.Kind{vector.Int64})
	keys, _ := k.keysOf(vector.NewPool(), []int{1})
	err := v.Resolve(keys, true, make([]Slot, 1))
	const want = `state of table "values" cannot be restored: ` +
		`it was values key(int64, string) columns(int64, bool, string), the query now needs values key(int64, string) columns(int64)`
	if err == nil || err.Error() != want || errs.CodeOf(err) != errs.State {
		t.Error(err)
	}
	if got := s.Unclaimed(); !slices.Equal(got, []string{"rows", "times"}) {
		t.Error(got)
	}
}

func FuzzRestore(f *testing.F) {
	f.Add(smallSnapshot(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		restoreSmall(data) // no panic, no endless memory
	})
}
