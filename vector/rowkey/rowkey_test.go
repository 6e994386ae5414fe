package rowkey

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/weirdb/weir/vector"
)

var fixedKinds = []vector.Kind{
	vector.Bool, vector.Int8, vector.Int16, vector.Int32, vector.Int64,
	vector.Float32, vector.Float64, vector.Decimal,
}

var nestedKinds = []vector.Kind{
	vector.ListOf(vector.String), vector.ListOf(vector.Float32), vector.StructOf(vector.Int64, vector.Bool),
	vector.ListOf(vector.StructOf(vector.Decimal, vector.ListOf(vector.Int8))), vector.MapOf(vector.Bool, vector.Bytes), vector.StructOf(),
}

var allKinds = append(append(slices.Clone(fixedKinds), vector.String, vector.Bytes), nestedKinds...)

// value is a cell: nil, or a Go value of the column's kind.
type value = any

var interesting = map[vector.Kind][]value{
	vector.Bool:    {false, true},
	vector.Int8:    {int8(0), int8(-1), int8(1), int8(math.MinInt8), int8(math.MaxInt8)},
	vector.Int16:   {int16(0), int16(-1), int16(1), int16(math.MinInt16), int16(math.MaxInt16), int16(256)},
	vector.Int32:   {int32(0), int32(-1), int32(1), int32(math.MinInt32), int32(math.MaxInt32), int32(65536)},
	vector.Int64:   {int64(0), int64(-1), int64(1), int64(math.MinInt64), int64(math.MaxInt64), int64(1) << 40},
	vector.Float32: {float32(0), float32(math.Copysign(0, -1)), float32(1), float32(-1), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.Float32frombits(0xFFC00001), float32(math.SmallestNonzeroFloat32)},
	vector.Float64: {0.0, math.Copysign(0, -1), 1.0, -1.0, math.Inf(1), math.Inf(-1), math.NaN(), math.Float64frombits(0xFFF8000000000001), math.SmallestNonzeroFloat64},
	vector.Decimal: {decimal128.FromI64(0), decimal128.FromI64(-1), decimal128.FromI64(1), decimal128.New(1, 0), decimal128.New(math.MinInt64, 0), decimal128.New(math.MaxInt64, math.MaxUint64), decimal128.New(-1, 0)},
	vector.String:  {"", "a", "\x00", "a\x00", "a\x00b", "ab", "\x00\x00", "\x01", "a\x00\xff", "über", "\x00\xff"},
	vector.Bytes:   {[]byte{}, []byte{0}, []byte{0, 1}, []byte{0, 0xFF}, []byte{0xFF}, []byte{0xFF, 0}, []byte{1}},
}

func randomValue(r *rand.Rand, k vector.Kind) value {
	if r.IntN(6) == 0 {
		return nil
	}
	if k.Nested() {
		return randomNested(r, k)
	}
	if some := interesting[k]; r.IntN(2) == 0 {
		return some[r.IntN(len(some))]
	}
	switch k {
	case vector.Bool:
		return r.IntN(2) == 0
	case vector.Int8:
		return int8(r.Uint32())
	case vector.Int16:
		return int16(r.Uint32())
	case vector.Int32:
		return int32(r.Uint32())
	case vector.Int64:
		return int64(r.Uint64())
	case vector.Float32:
		return math.Float32frombits(r.Uint32())
	case vector.Float64:
		return math.Float64frombits(r.Uint64())
	case vector.Decimal:
		return decimal128.New(int64(r.Uint64()), r.Uint64())
	}
	b := make([]byte, r.IntN(12))
	for i := range b {
		b[i] = byte(r.IntN(3) * 127)
	}
	if k == vector.String {
		return string(b)
	}
	return b
}

// randomNested gives the elements of a list, the entries of a map by key, the fields
// of a struct.
func randomNested(r *rand.Rand, k vector.Kind) value {
	kinds, out := k.Children(), []value{}
	switch {
	case k.Struct():
		for _, f := range kinds {
			out = append(out, randomValue(r, f))
		}
	case k.List():
		for range r.IntN(4) {
			out = append(out, randomValue(r, kinds[0]))
		}
	default:
		for _, key := range []bool{false, true} {
			if r.IntN(2) == 0 {
				out = append(out, key, randomValue(r, kinds[1]))
			}
		}
	}
	return out
}

func appendNested(c *vector.ColumnBuilder, vs []value) {
	for i, v := range vs {
		f := c.Child(0)
		if !c.Kind().List() {
			f = c.Child(i % c.Children())
		}
		appendValue(f, v)
	}
	c.EndValue()
}

func appendValue(c *vector.ColumnBuilder, v value) {
	switch v := v.(type) {
	case nil:
		c.AppendNull()
	case bool:
		vector.Append(c, v)
	case int8:
		vector.Append(c, v)
	case int16:
		vector.Append(c, v)
	case int32:
		vector.Append(c, v)
	case int64:
		vector.Append(c, v)
	case float32:
		vector.Append(c, v)
	case float64:
		vector.Append(c, v)
	case vector.Dec:
		vector.Append(c, v)
	case string:
		c.AppendString(v)
	case []byte:
		c.AppendBytes(v)
	case []value:
		appendNested(c, v)
	}
}

// compareValues is the reference order of values that are not NULL.
func compareValues(a, b value) int {
	switch a := a.(type) {
	case bool:
		toInt := func(x bool) int {
			if x {
				return 1
			}
			return 0
		}
		return cmp.Compare(toInt(a), toInt(b.(bool)))
	case int8:
		return cmp.Compare(a, b.(int8))
	case int16:
		return cmp.Compare(a, b.(int16))
	case int32:
		return cmp.Compare(a, b.(int32))
	case int64:
		return cmp.Compare(a, b.(int64))
	case float32:
		return compareFloats(float64(a), float64(b.(float32)))
	case float64:
		return compareFloats(a, b.(float64))
	case vector.Dec:
		return a.Cmp(b.(vector.Dec))
	case string:
		return cmp.Compare(a, b.(string))
	case []value:
		return slices.CompareFunc(a, b.([]value), func(x, y value) int {
			switch {
			case x == nil && y == nil:
				return 0
			case x == nil:
				return -1
			case y == nil:
				return 1
			}
			return compareValues(x, y)
		})
	}
	return bytes.Compare(a.([]byte), b.([]byte))
}

// compareFloats orders NaN above everything, as Flink does.
func compareFloats(a, b float64) int {
	switch an, bn := a != a, b != b; {
	case an && bn:
		return 0
	case an:
		return 1
	case bn:
		return -1
	}
	return cmp.Compare(a, b)
}

func compareRows(l Layout, a, b []value) int {
	for i := range a {
		c := 0
		switch {
		case a[i] == nil && b[i] == nil:
		case a[i] == nil || b[i] == nil:
			c = 1
			if (a[i] == nil) != l.nullsLast(i) {
				c = -1
			}
		default:
			c = compareValues(a[i], b[i])
			if l.desc(i) {
				c = -c
			}
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func batchOf(p *vector.Pool, l Layout, rows [][]value) *vector.Batch {
	b := vector.NewBuilder(p, l.Kinds)
	for _, row := range rows {
		for i, v := range row {
			appendValue(b.Col(i), v)
		}
		b.EndRow(vector.Insert)
	}
	return b.Finish()
}

func columns(l Layout) []int {
	cols := make([]int, len(l.Kinds))
	for i := range cols {
		cols[i] = i
	}
	return cols
}

func randomLayout(r *rand.Rand) Layout {
	var l Layout
	for range r.IntN(4) + 1 {
		l.Kinds = append(l.Kinds, allKinds[r.IntN(len(allKinds))])
	}
	if r.IntN(2) == 0 {
		for range l.Kinds {
			l.Desc = append(l.Desc, r.IntN(2) == 0)
			l.NullsLast = append(l.NullsLast, r.IntN(2) == 0)
		}
	}
	return l
}

func randomRows(r *rand.Rand, l Layout, n int) [][]value {
	rows := make([][]value, n)
	for i := range rows {
		for _, k := range l.Kinds {
			rows[i] = append(rows[i], randomValue(r, k))
		}
	}
	return rows
}

// checkRows checks order, equality, hash and round trip of the keys of rows.
func checkRows(t *testing.T, l Layout, rows [][]value) {
	t.Helper()
	p := vector.NewCheckedPool()
	b := batchOf(p, l, rows)
	e := NewEncoder(l)
	k := e.Encode(b, columns(l))
	if k.Len() != len(rows) {
		t.Fatalf("%d keys for %d rows", k.Len(), len(rows))
	}
	words, nulls, packed := k.Packed()
	mask := func(i int) uint8 {
		if nulls == nil {
			return 0
		}
		return nulls[i]
	}
	hash := slices.Clone(k.Hash())
	if packed {
		again := NewEncoder(l).Packed(words, nulls)
		for i := range rows {
			if again.Hash()[i] != hash[i] || again.HasNull(i) != k.HasNull(i) || !bytes.Equal(again.Bytes(i), k.Bytes(i)) {
				t.Fatalf("%v: made of its packed word key %v is another", l, rows[i])
			}
		}
	} else {
		again := NewEncoder(l).Encoded(hash, func(to []byte, i int) []byte { return append(to, k.Bytes(i)...) })
		for i := range rows {
			if again.Hash()[i] != hash[i] || !bytes.Equal(again.Bytes(i), k.Bytes(i)) {
				t.Fatalf("%v: made of its bytes key %v is another", l, rows[i])
			}
		}
	}
	for i := range rows {
		if got, want := k.HasNull(i), slices.Contains(rows[i], nil); got != want {
			t.Fatalf("%v: HasNull(%v) = %v", l, rows[i], got)
		}
		if packed {
			if enc := AppendPacked(nil, l, words[i], mask(i)); !bytes.Equal(enc, k.Bytes(i)) {
				t.Fatalf("%v: AppendPacked(%v) = %x, Bytes %x", l, rows[i], enc, k.Bytes(i))
			}
		}
		for j := range rows {
			want := compareRows(l, rows[i], rows[j])
			if got := bytes.Compare(k.Bytes(i), k.Bytes(j)); got != want {
				t.Fatalf("%v: compare(%v, %v) = %d, want %d (%x, %x)", l, rows[i], rows[j], got, want, k.Bytes(i), k.Bytes(j))
			}
			if (hash[i] == hash[j]) != (want == 0) {
				t.Fatalf("%v: hashes of %v and %v: %x, %x", l, rows[i], rows[j], hash[i], hash[j])
			}
			if packed && (words[i] == words[j] && mask(i) == mask(j)) != (want == 0) {
				t.Fatalf("%v: packed %v and %v: %x, %x", l, rows[i], rows[j], words[i], words[j])
			}
		}
	}
	out := vector.NewBuilder(p, l.Kinds)
	builders := make([]*vector.ColumnBuilder, out.Cols())
	for i := range builders {
		builders[i] = out.Col(i)
	}
	for i := range rows {
		if err := Decode(l, k.Bytes(i), builders); err != nil {
			t.Fatalf("%v: decode %v: %v", l, rows[i], err)
		}
		out.EndRow(vector.Insert)
	}
	back := out.Finish()
	checkSame(t, l, NewEncoder(l), back, k, "Decode")
	back.Release()
	if packed {
		back := vector.NewBatch(len(rows), l.Unpack(p, words, nulls), nil)
		checkSame(t, l, NewEncoder(l), back, k, "Unpack")
		back.Release()
	}
	if got := NewEncoder(l).Hash(b, columns(l)); !slices.Equal(got, hash) {
		t.Fatalf("%v: Hash and Encode disagree", l)
	}
	b.Release()
	if err := p.Leaks(); err != nil {
		t.Fatal(err)
	}
}

func checkSame(t *testing.T, l Layout, e *Encoder, b *vector.Batch, want *Keys, what string) {
	t.Helper()
	got := e.Encode(b, columns(l))
	for i := range got.Len() {
		if !bytes.Equal(got.Bytes(i), want.Bytes(i)) || got.Hash()[i] != want.Hash()[i] {
			t.Fatalf("%v: %s: row %d is %x, want %x", l, what, i, got.Bytes(i), want.Bytes(i))
		}
	}
}

func TestEveryKindOrdersAndRoundTrips(t *testing.T) {
	for _, k := range allKinds {
		rows := [][]value{{nil}}
		for _, v := range interesting[k] {
			rows = append(rows, []value{v})
		}
		for r := rand.New(rand.NewPCG(9, 0)); k.Nested() && len(rows) < 40; {
			rows = append(rows, []value{randomNested(r, k)})
		}
		for _, desc := range []bool{false, true} {
			for _, last := range []bool{false, true} {
				checkRows(t, Layout{Kinds: []vector.Kind{k}, Desc: []bool{desc}, NullsLast: []bool{last}}, rows)
			}
		}
		checkRows(t, Layout{Kinds: []vector.Kind{k}}, rows)
		checkRows(t, Layout{Kinds: []vector.Kind{k}}, nil)
	}
}

func TestRandomLayouts(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		l := randomLayout(r)
		checkRows(t, l, randomRows(r, l, 40))
	}
}

func TestEncodeHonoursSelection(t *testing.T) {
	p := vector.NewCheckedPool()
	r := rand.New(rand.NewPCG(3, 0))
	for range 60 {
		l := randomLayout(r)
		b := batchOf(p, l, randomRows(r, l, 30))
		sel := []int32{29, 3, 3, 17, 0}
		live := b.Select(vector.Of(p, sel...))
		all, some := NewEncoder(l).Encode(b, columns(l)), NewEncoder(l).Encode(live, columns(l))
		if some.Len() != len(sel) {
			t.Fatalf("%d keys, want %d", some.Len(), len(sel))
		}
		for i, s := range sel {
			if !bytes.Equal(some.Bytes(i), all.Bytes(int(s))) || some.Hash()[i] != all.Hash()[s] || some.HasNull(i) != all.HasNull(int(s)) {
				t.Fatalf("%v: live row %d is not row %d", l, i, s)
			}
		}
		live.Release()
		empty := b.Select(p.New(vector.Int32, 0))
		if n := NewEncoder(l).Encode(empty, columns(l)).Len(); n != 0 {
			t.Fatalf("%d keys of no row", n)
		}
		empty.Release()
		b.Release()
	}
	if err := p.Leaks(); err != nil {
		t.Fatal(err)
	}
}

// A column has the same hash whether or not its vector could hold NULLs.
func TestHashIgnoresNullability(t *testing.T) {
	p := vector.NewPool()
	for _, k := range allKinds {
		l := Layout{Kinds: []vector.Kind{k}}
		var rows [][]value
		for _, v := range interesting[k] {
			rows = append(rows, []value{v})
		}
		for r := rand.New(rand.NewPCG(9, 0)); k.Nested() && len(rows) < 40; {
			rows = append(rows, []value{randomNested(r, k)})
		}
		without := slices.Clone(NewEncoder(l).Encode(batchOf(p, l, rows), []int{0}).Hash())
		with := NewEncoder(l).Encode(batchOf(p, l, append(rows, []value{nil})), []int{0}).Hash()
		if !slices.Equal(without, with[:len(rows)]) {
			t.Errorf("%v: a NULL in the batch changes other rows' hashes", k)
		}
		desc := Layout{Kinds: l.Kinds, Desc: []bool{true}}
		if got := NewEncoder(desc).Encode(batchOf(p, l, rows), []int{0}).Hash(); !slices.Equal(without, got) {
			t.Errorf("%v: the order changes the hash", k)
		}
	}
}

func TestKeyWithoutColumns(t *testing.T) {
	p := vector.NewPool()
	b := vector.NewBatch(3, []*vector.Vector{vector.Of[int64](p, 1, 2, 3)}, nil)
	k := NewEncoder(Layout{}).Encode(b, nil)
	if k.Len() != 3 || k.Hash()[0] != k.Hash()[2] || len(k.Bytes(1)) != 0 || k.HasNull(0) {
		t.Errorf("keys without columns differ: %x", k.Hash())
	}
	if err := Decode(Layout{}, nil, nil); err != nil {
		t.Error(err)
	}
}

// The hashes are stored: if this test fails, stored state is lost.
func TestHashGolden(t *testing.T) {
	p := vector.NewPool()
	var got []string
	add := func(kinds []vector.Kind, rows ...[]value) {
		l := Layout{Kinds: kinds}
		for i, h := range NewEncoder(l).Encode(batchOf(p, l, rows), columns(l)).Hash() {
			got = append(got, fmt.Sprintf("%v %v %016x %d", kinds, rows[i], h, KeyGroup(h, Groups)))
		}
	}
	add(nil, []value{})
	add([]vector.Kind{vector.Bool}, []value{true}, []value{nil})
	add([]vector.Kind{vector.Int8}, []value{int8(-1)})
	add([]vector.Kind{vector.Int32}, []value{int32(-1)}, []value{int32(7)})
	add([]vector.Kind{vector.Int64}, []value{int64(0)}, []value{int64(1)}, []value{nil})
	add([]vector.Kind{vector.Float32}, []value{float32(1.5)})
	add([]vector.Kind{vector.Float64}, []value{1.5}, []value{math.NaN()})
	add([]vector.Kind{vector.Decimal}, []value{decimal128.FromI64(-12345)}, []value{nil})
	add([]vector.Kind{vector.String}, []value{""}, []value{"auction"}, []value{nil})
	add([]vector.Kind{vector.String}, []value{"ab"}, []value{"abcde"}, []value{"abcdefghijkl"}, []value{"a text of more than sixteen bytes"})
	add([]vector.Kind{vector.Bytes}, []value{[]byte("auction")})
	add([]vector.Kind{vector.Int32, vector.Int32}, []value{int32(1), int32(2)}, []value{int32(1), nil})
	add([]vector.Kind{vector.Int64, vector.String}, []value{int64(1), "x"}, []value{nil, "x"})
	if !slices.Equal(got, hashGolden) {
		t.Errorf("hashes differ from the stored ones: %q", got)
	}
}

var hashGolden = []string{
	"[] [] e220a8397b1dcdaf 226",
	"[bool] [true] e4d971771b652c20 228",
	"[bool] [<nil>] 927a7c57dc016e42 146",
	"[int8] [-1] 96519dd7d49df4ae 150",
	"[int32] [-1] adef16ce72f93470 173",
	"[int32] [7] f75f04cbb5a1a1dd 247",
	"[int64] [0] e220a8397b1dcdaf 226",
	"[int64] [1] e4d971771b652c20 228",
	"[int64] [<nil>] 927a7c57dc016e42 146",
	"[float32] [1.5] e23809acd3913064 226",
	"[float64] [1.5] 88747b63583e67c7 136",
	"[float64] [NaN] 8709d8d19b4c0ac2 135",
	"[decimal] [{18446744073709539271 -1}] 6b732eb653cad946 107",
	"[decimal] [<nil>] 31408cf371a5c3c4 49",
	"[string] [] 2fd4be989ecbce06 47",
	"[string] [auction] 0e70153899e7f9a1 14",
	"[string] [<nil>] a4885b7bee35bebc 164",
	"[string] [ab] 1e38074f25833c52 30",
	"[string] [abcde] d29704396a91e40e 210",
	"[string] [abcdefghijkl] e246e090b38f5cee 226",
	"[string] [a text of more than sixteen bytes] 58a0cd650f4ad85d 88",
	"[bytes] [[97 117 99 116 105 111 110]] 0e70153899e7f9a1 14",
	"[int32 int32] [1 2] b0caed0a7bf9c2c8 176",
	"[int32 int32] [1 <nil>] 47af288a0e8646b0 71",
	"[int64 string] [1 x] 08972c3034a49ea1 8",
	"[int64 string] [<nil> x] 15fc5799ca39d3cf 21",
}

func TestShardsOwnContiguousGroups(t *testing.T) {
	for shards := 1; shards <= Groups; shards++ {
		last := 0
		for g := range Groups {
			s := Shard(g, shards)
			from, to := GroupRange(s, shards)
			if s < last || s > last+1 || s >= shards || g < from || g >= to {
				t.Fatalf("group %d of %d shards: shard %d [%d,%d) after %d", g, shards, s, from, to, last)
			}
			last = s
		}
		if last != shards-1 {
			t.Fatalf("%d shards: the last that owns a group is %d", shards, last)
		}
	}
	if KeyGroup(0, Groups) != 0 || KeyGroup(math.MaxUint64, Groups) != Groups-1 || KeyGroup(1<<63, Groups) != Groups/2 {
		t.Error("KeyGroup does not take the top bits")
	}
}

func TestHashSpreads(t *testing.T) {
	p := vector.NewPool()
	const n = 1 << 16
	v := p.New(vector.Int64, n)
	for i, vals := 0, vector.Values[int64](v); i < n; i++ {
		vals[i] = int64(i) * 1000
	}
	h := NewEncoder(Layout{Kinds: []vector.Kind{vector.Int64}}).Hash(vector.NewBatch(n, []*vector.Vector{v}, nil), []int{0})
	var low, groups [Groups]int
	for _, x := range h {
		low[x%Groups]++
		groups[KeyGroup(x, Groups)]++
	}
	for i := range Groups {
		if low[i] < 180 || low[i] > 340 || groups[i] < 180 || groups[i] > 340 {
			t.Fatalf("bucket %d: %d by low bits, %d by group, of about 256", i, low[i], groups[i])
		}
	}
}

// What Decode accepts, Encode writes again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{1, 0x80, 0, 0, 0, 0, 0, 0, 1, 1, 'a', 0, 0xFF, 0, 1}, uint8(4), uint8(8), false)
	f.Add([]byte{0, 0}, uint8(0), uint8(9), true)
	f.Add([]byte{1, 0xFE, 2}, uint8(0), uint8(8), true)
	f.Add([]byte{1, 1, 1, 'a', 0, 1, 1, 0, 0, 0}, uint8(10), uint8(0), false)
	f.Fuzz(func(t *testing.T, enc []byte, a, b uint8, desc bool) {
		l := Layout{Kinds: []vector.Kind{allKinds[int(a)%len(allKinds)], allKinds[int(b)%len(allKinds)]}}
		if desc {
			l.Desc, l.NullsLast = []bool{true, true}, []bool{false, true}
		}
		p := vector.NewPool()
		out := vector.NewBuilder(p, l.Kinds)
		if Decode(l, enc, []*vector.ColumnBuilder{out.Col(0), out.Col(1)}) != nil {
			out.Discard()
			return
		}
		out.EndRow(vector.Insert)
		batch := out.Finish()
		if got := NewEncoder(l).Encode(batch, []int{0, 1}).Bytes(0); !bytes.Equal(got, enc) {
			t.Fatalf("%v: %x decodes and encodes as %x", l, enc, got)
		}
	})
}

// Random rows under random layouts, from one seed.
func FuzzEncode(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		l := randomLayout(r)
		checkRows(t, l, randomRows(r, l, 12))
	})
}
