package weir

import (
	"strings"
	"testing"
	"time"
)

func TestColumns(t *testing.T) {
	c := NewColumn([]int32{1, 2, 3}, 1)
	if c.Len() != 3 || c.At(2) != 3 || !c.IsNull(1) || c.IsNull(2) || c.Get(0) != Some[int32](1) || c.Get(1).Valid || !c.HasNulls() || c.Constant() {
		t.Errorf("%+v", c)
	}
	if !c.AnyNull(0, 2) || c.AnyNull(2, 3) {
		t.Error("NULLs are found in the wrong range")
	}
	s := NewStrings("a", "", "ccc").WithNulls(1)
	if s.Len() != 3 || s.At(2) != "ccc" || string(s.Bytes(0)) != "a" || !s.IsNull(1) || s.IsNull(0) || len(s.Data()) != 4 || s.Offsets()[3] != 4 {
		t.Errorf("%+v", s)
	}
	b := NewBools(true, false, true)
	if !b.At(0) || b.At(1) || !b.At(2) || b.IsNull(0) || b.Len() != 3 {
		t.Errorf("%+v", b)
	}
}

// TestBuilders adds more rows than there is room for, NULLs among them.
func TestBuilders(t *testing.T) {
	const n = 1000
	v, s, f := NewBuilder[int64](), NewStringBuilder(), NewBoolBuilder()
	for i := range n {
		if i%7 == 3 {
			v.AppendNull()
			s.AppendNull()
			f.AppendNull()
			continue
		}
		v.Append(int64(i))
		if i%2 == 0 {
			s.Append(string(rune('a' + i%26)))
		} else {
			s.AppendTail(append(s.Tail(), byte('a'+i%26)))
		}
		f.Append(i%3 == 0)
	}
	for i := range n {
		null := i%7 == 3
		if v.IsNull(i) != null || s.IsNull(i) != null || f.IsNull(i) != null {
			t.Fatalf("row %d: NULL is %v %v %v", i, v.IsNull(i), s.IsNull(i), f.IsNull(i))
		}
		if !null && (v.Values()[i] != int64(i) || s.At(i) != string(rune('a'+i%26)) || f.At(i) != (i%3 == 0)) {
			t.Fatalf("row %d: %d %q %v", i, v.Values()[i], s.At(i), f.At(i))
		}
	}
	if v.Len() != n || s.Len() != n || f.Len() != n {
		t.Error(v.Len(), s.Len(), f.Len())
	}
	v.AppendSlice(make([]int64, 3*n))
	if v.Len() != 4*n || v.IsNull(4*n-1) {
		t.Error(v.Len())
	}
}

// TestExtend fills rows in place, more than there is room for.
func TestExtend(t *testing.T) {
	b := NewStringBuilder()
	for n := range 200 {
		for i, row := 0, b.Extend(n); i < len(row); i++ {
			row[i] = byte(n)
		}
	}
	for n := range 200 {
		if want := strings.Repeat(string([]byte{byte(n)}), n); b.At(n) != want {
			t.Fatalf("row %d is %q", n, b.At(n))
		}
	}
}

// TestAppendTail hands over what is not the tail, or longer than the room.
func TestAppendTail(t *testing.T) {
	b := NewStringBuilder()
	other := []byte("other")
	long := make([]byte, 5000)
	for i := range long {
		long[i] = 'x'
	}
	b.AppendTail(other)
	b.AppendTail(append(b.Tail(), long...))
	b.AppendTail(nil)
	b.AppendTail(b.Tail())
	b.AppendTail(append(b.Tail(), 'y'))
	other[0] = '!'
	if b.At(0) != "other" || b.At(1) != string(long) || b.At(2) != "" || b.At(3) != "" || b.At(4) != "y" {
		t.Errorf("%q %q %q", b.At(0), b.At(3), b.At(4))
	}
}

func TestSlab(t *testing.T) {
	var s Slab[int]
	for range 3 {
		s.Reset()
		var lent [][]int
		for i := range 50 {
			v := s.Take(i)
			for j := range v {
				v[j] = i
			}
			lent = append(lent, v)
		}
		for i, v := range lent {
			for _, x := range v {
				if x != i || len(v) != i {
					t.Fatalf("slice %d holds %v", i, v)
				}
			}
		}
	}
	allocs := testing.AllocsPerRun(10, func() {
		s.Reset()
		for i := range 50 {
			s.Take(i)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for rows that fit", allocs)
	}
}

func TestTimes(t *testing.T) {
	for _, text := range []string{"1970-01-01T00:00:00Z", "2024-02-29T23:59:59.999999999Z", "1969-12-31T23:59:59.5Z", "1700-03-01T12:00:00.000001Z", "2261-01-01T00:00:00Z"} {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
			v := TimestampOf(at, unit)
			want := at.Add(-time.Duration(at.Nanosecond()) % unit)
			if got := TimeOf(v, unit); !got.Equal(want) {
				t.Errorf("%s in %s: %d is %s", text, unit, v, got)
			}
		}
		d := DateOf(at)
		if y, m, day := at.Date(); d.Time() != time.Date(y, m, day, 0, 0, 0, 0, time.UTC) {
			t.Errorf("%s is day %d: %s", text, d, d.Time())
		}
	}
	zone := time.FixedZone("", 9*60*60)
	if d := DateOf(time.Date(2024, 5, 1, 3, 0, 0, 0, zone)); d.Time().Day() != 1 {
		t.Errorf("the date in its own zone is %s", d.Time())
	}
}

func TestNull(t *testing.T) {
	if Some(3).Or(4) != 3 || None[int]().Or(4) != 4 {
		t.Error("Or")
	}
}
