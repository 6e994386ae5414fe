package csdk_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/weirdb/weir/abi"
)

func leaf(id abi.ID) abi.Shape { return abi.Shape{Type: abi.TypeOf(id)} }

func arrayOf(s abi.Shape) abi.Shape {
	return abi.Shape{Type: abi.TypeOf(abi.Array), Children: []abi.Shape{s}}
}

func mapOf(k, v abi.Shape) abi.Shape {
	return abi.Shape{Type: abi.TypeOf(abi.Map), Children: []abi.Shape{k, v}}
}

func rowOf(fields ...abi.Shape) abi.Shape {
	return abi.Shape{Type: abi.TypeOf(abi.Row), Children: fields}
}

func ints(v ...int64) []any {
	out := make([]any, len(v))
	for i, x := range v {
		out[i] = x
	}
	return out
}

// TestScalars calls each scalar function with room and without, several times on
// one instance, so that what an earlier call left is found.
func TestScalars(t *testing.T) {
	big, i32, str, f64 := leaf(abi.BigInt), leaf(abi.Integer), leaf(abi.String), leaf(abi.Double)
	dec4, dec2 := abi.Shape{Type: abi.DecimalType(20, 4)}, abi.Shape{Type: abi.DecimalType(20, 2)}
	long := strings.Repeat("x", 3000)
	g := newGuest(t, "testdata/kinds.wasm")
	for _, c := range []struct {
		export string
		in     []values
		rows   int
		out    abi.Shape
		want   []any
	}{
		{"add", []values{{big, ints(1, 2, 3), false}, {big, ints(10, -2, 0), false}}, 3, big, ints(11, 0, 3)},
		{"add_double", []values{{f64, []any{1.5}, false}, {f64, []any{2.25}, false}}, 1, f64, []any{3.75}},
		{"or_else", []values{{big, []any{int64(1), nil, nil}, false}, {big, []any{nil, int64(2), nil}, false}}, 3, big, ints(1, 2, 0)},
		{"scale", []values{{big, ints(1, 2, 3), false}, {big, ints(7), true}}, 3, big, ints(7, 14, 21)},
		{"scale", []values{{big, ints(5), true}, {big, ints(1, 2, 3), false}}, 3, big, ints(5, 10, 15)},
		{"total", []values{{big, ints(1, 2), false}, {big, ints(3, 4), false}, {big, ints(5, 6), false}}, 2, big, ints(9, 12)},
		{"upper_ascii", []values{{str, []any{"abc", "", "Zz~{`@[é"}, false}}, 3, str, []any{"ABC", "", "ZZ~{`@[é"}},
		{"repeat", []values{{str, []any{"ab", "c", nil, long, ""}, false}, {i32, ints(3, 0, 1, 2, 5), false}}, 5, str, []any{"ababab", "", nil, long + long, ""}},
		{"is_even", []values{{i32, ints(1, 2, 3, 4, 5, 6, 7, 8, 10), false}}, 9, leaf(abi.Boolean), []any{false, true, false, true, false, true, false, true, true}},
		{"round2", []values{{dec4, ints(12350, 12349, -12350, -12349, 0), false}}, 5, dec2, ints(124, 123, -124, -123, 0)},
		{"array_total", []values{{arrayOf(i32), []any{[]any{int64(1), nil, int64(3)}, []any{}, []any{int64(-5)}}, false}}, 3, big, ints(4, 0, -5)},
		{"array_reversed", []values{{arrayOf(i32), []any{[]any{int64(1), nil, int64(3)}, []any{}, []any{int64(-5)}}, false}}, 3, arrayOf(i32), []any{[]any{int64(3), nil, int64(1)}, []any{}, []any{int64(-5)}}},
		{"split_array", []values{{str, []any{"a,b,,c", "", long}, false}, {str, []any{",", ",", ""}, false}}, 3, arrayOf(str), []any{[]any{"a", "b", "", "c"}, []any{""}, []any{long}}},
		{"swap", []values{{rowOf(i32, str), []any{[]any{int64(1), "one"}, []any{nil, "none"}, []any{int64(3), nil}}, false}}, 3, rowOf(str, i32), []any{[]any{"one", int64(1)}, []any{"none", nil}, []any{nil, int64(3)}}},
		{"map_plus", []values{{mapOf(str, big), []any{[][2]any{{"a", int64(1)}, {"b", nil}}, [][2]any{}}, false}, {big, ints(10, 1), false}}, 2, mapOf(str, big), []any{[][2]any{{"a", int64(11)}, {"b", nil}}, [][2]any{}}},
		{"same_bytes", []values{{leaf(abi.Binary), []any{"\xff\x00", ""}, false}}, 2, leaf(abi.Binary), []any{"\xff\x00", ""}},
		{"add", []values{{big, nil, false}, {big, nil, false}}, 0, big, []any{}},
		{"upper_ascii", []values{{str, nil, false}}, 0, str, []any{}},
		{"split_array", []values{{str, nil, false}, {str, nil, false}}, 0, arrayOf(str), []any{}},
	} {
		for _, tight := range []bool{false, true, true} {
			call := &call{in: c.in, out: []abi.Shape{c.out}, rows: uint32(c.rows), outRows: uint32(c.rows), tight: tight}
			g.prepare(call)
			if s := g.run(c.export, call); s != abi.OK {
				t.Errorf("%s: status %d", c.export, s)
				continue
			}
			if got := g.result(call, 0, uint32(c.rows)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s, tight %v:\ngot  %v\nwant %v", c.export, tight, got, c.want)
			}
		}
	}
}

// TestManyElements has builders grow often.
func TestManyElements(t *testing.T) {
	g := newGuest(t, "testdata/kinds.wasm")
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var in, separators, want []any
	for range 700 {
		var pieces []string
		var array []any
		for range 1 + r.IntN(40) {
			p := strings.Repeat("y", r.IntN(30))
			pieces, array = append(pieces, p), append(array, p)
		}
		in, separators, want = append(in, strings.Join(pieces, "/")), append(separators, "/"), append(want, array)
	}
	str := leaf(abi.String)
	c := &call{in: []values{{str, in, false}, {str, separators, false}}, out: []abi.Shape{arrayOf(str)}, rows: 700, outRows: 700, tight: true}
	g.prepare(c)
	if s := g.run("split_array", c); s != abi.OK {
		t.Fatalf("status %d", s)
	}
	if got := g.result(c, 0, 700); !reflect.DeepEqual(got, want) {
		t.Error("other pieces came back")
	}
}

// TestLongText has one builder grow to megabytes: what it outgrows is given back.
func TestLongText(t *testing.T) {
	g := newGuest(t, "testdata/kinds.wasm")
	text, want := strings.Repeat("0123456789abcdef", 1<<10), []any{}
	var in, counts []any
	for range 4 {
		in, counts, want = append(in, text), append(counts, int64(100)), append(want, strings.Repeat(text, 100))
	}
	c := &call{in: []values{{leaf(abi.String), in, false}, {leaf(abi.Integer), counts, false}}, out: []abi.Shape{leaf(abi.String)}, rows: 4, outRows: 4, tight: true}
	g.prepare(c)
	if s := g.run("repeat", c); s != abi.OK {
		t.Fatalf("status %d", s)
	}
	if got := g.result(c, 0, 4); !reflect.DeepEqual(got, want) {
		t.Error("another text came back")
	}
	if size := g.mod.Memory().Size(); size > 24<<20 {
		t.Errorf("%d bytes of memory for 6.25 MiB of text", size)
	}
}

func TestStrictWalk(t *testing.T) {
	g := newGuest(t, "testdata/kinds.wasm")
	for _, n := range []int{1, 63, 64, 65, 200} {
		var a, b, want []any
		for i := range n {
			a, b, want = append(a, int64(i)), append(b, int64(2)), append(want, int64(i/2))
			if i%3 == 1 {
				b[i], want[i] = nil, nil
			}
		}
		c := &call{in: []values{{leaf(abi.BigInt), a, false}, {leaf(abi.BigInt), b, false}}, out: []abi.Shape{leaf(abi.BigInt)}, rows: uint32(n), outRows: uint32(n)}
		g.prepare(c)
		// The host writes the AND of the arguments before a strict call.
		if v := g.u32(g.u32(c.at+abi.CallInAt) + abi.ColumnBytes + abi.ColumnValidityAt); v != 0 {
			g.mod.Memory().Write(g.u32(c.outColumns+abi.ColumnValidityAt), g.bytes(v, uint32(n+7)/8))
		}
		if s := g.run("divide", c); s != abi.OK {
			t.Fatalf("status %d", s)
		}
		if got := g.result(c, 0, uint32(n)); !reflect.DeepEqual(got, want) {
			t.Errorf("%d rows:\ngot  %v\nwant %v", n, got, want)
		}
	}
}

func TestFailure(t *testing.T) {
	g := newGuest(t, "testdata/kinds.wasm")
	big := leaf(abi.BigInt)
	c := &call{in: []values{{big, ints(1, 2, 3), false}, {big, ints(1, 0, 1), false}}, out: []abi.Shape{big}, rows: 3, outRows: 3}
	g.prepare(c)
	if s := g.run("divide", c); s != abi.Fail {
		t.Fatalf("status %d", s)
	}
	text := g.bytes(g.u32(c.at+abi.CallErrAt), g.u32(c.at+abi.CallErrLenAt))
	if row := g.u32(c.at + abi.CallErrRowAt); string(text) != "division by zero" || row != 1 {
		t.Errorf("%q, row %d", text, row)
	}
}

func TestAboutCall(t *testing.T) {
	g := newGuest(t, "testdata/kinds.wasm")
	c := &call{in: []values{{leaf(abi.String), []any{"now", "seed", "rows", "log"}, false}}, out: []abi.Shape{leaf(abi.BigInt)}, rows: 4, outRows: 4, now: 1234, seed: 84}
	g.prepare(c)
	if s := g.run("about_call", c); s != abi.OK {
		t.Fatalf("status %d", s)
	}
	if got := g.result(c, 0, 4); !reflect.DeepEqual(got, ints(1234, 42, 4, 0)) || fmt.Sprint(g.log) != "[asked to log]" {
		t.Error(got, g.log)
	}
}

func TestTable(t *testing.T) {
	g := newGuest(t, "testdata/kinds.wasm")
	var in []any
	var want [][3]any
	for i := range 50 {
		if i%7 == 3 {
			in = append(in, nil)
			continue
		}
		var pieces []string
		for k := range i % 9 {
			pieces = append(pieces, strings.Repeat("p", 10*k))
		}
		in = append(in, strings.Join(pieces, "/"))
		for k, p := range strings.Split(strings.Join(pieces, "/"), "/") {
			want = append(want, [3]any{int64(i), p, int64(k)})
		}
	}
	c := &call{in: []values{{leaf(abi.String), in, false}}, out: []abi.Shape{leaf(abi.String), leaf(abi.Integer)}, rows: 50, outRows: 64, tight: true}
	g.prepare(c)
	var got [][3]any
	for calls := 1; ; calls++ {
		s := g.run("split", c)
		n := g.u32(c.at + abi.CallOutRowsAt)
		text, pos := g.result(c, 0, n), g.result(c, 1, n)
		for i := range n {
			got = append(got, [3]any{int64(g.u32(c.parent + 4*i)), text[i], pos[i]})
		}
		if s == abi.OK {
			if calls < 2 {
				t.Error("want more than one call")
			}
			break
		}
		if s != abi.More || n != 64 {
			t.Fatalf("status %d with %d rows", s, n)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestTemporal(t *testing.T) {
	g := newGuest(t, "testdata/kinds.wasm")
	ts, f64 := abi.Shape{Type: abi.TimestampType(abi.Millisecond, false)}, leaf(abi.Double)
	c := &call{
		in: []values{
			{leaf(abi.String), []any{"a", "b", "c"}, false},
			{ts, ints(15, 15, 15), false},
			{ts, []any{int64(10), nil, int64(10)}, false},
			{f64, []any{1.0, nil, 1.0}, false},
			{ts, []any{int64(20), int64(20), nil}, false},
			{f64, []any{2.0, 2.0, nil}, false},
		},
		out: []abi.Shape{f64}, rows: 3, outRows: 64,
	}
	g.prepare(c)
	if s := g.run("rate_at", c); s != abi.OK {
		t.Fatalf("status %d", s)
	}
	n := g.u32(c.at + abi.CallOutRowsAt)
	if got := g.result(c, 0, n); !reflect.DeepEqual(got, []any{1.5, 1.0}) || g.u32(c.parent) != 0 || g.u32(c.parent+4) != 2 {
		t.Error(got)
	}
}

func TestAggregateFixed(t *testing.T) {
	g := newGuest(t, "testdata/kinds.wasm")
	big := leaf(abi.BigInt)
	a, b := g.write(make([]byte, 3*16)), g.write(make([]byte, 2*16))
	do := func(export string, c *call) {
		t.Helper()
		g.prepare(c)
		if s := g.run(export, c); s != abi.OK {
			t.Fatalf("%s: status %d", export, s)
		}
	}
	do("avg2.update", &call{in: []values{{big, ints(1, 3, 10, 5), false}}, rows: 4, groups: 2, group: []uint32{0, 0, 1, 1}, state: a, size: 16})
	do("avg2.update", &call{in: []values{{big, ints(5, 20), false}}, rows: 2, groups: 2, group: []uint32{1, 1}, sign: []int8{-1, 1}, state: a, size: 16})
	do("avg2.update", &call{in: []values{{big, ints(100, 7), false}}, rows: 2, groups: 2, group: []uint32{0, 1}, state: b, size: 16})
	do("avg2.merge", &call{rows: 2, groups: 3, group: []uint32{1, 1}, state: a, size: 16, other: b, oldSize: 16})
	c := &call{groups: 3, state: a, size: 16, out: []abi.Shape{big}, outRows: 3}
	do("avg2.finish", c)
	if got := g.result(c, 0, 3); !reflect.DeepEqual(got, []any{int64(2), int64((10 + 20 + 100 + 7) / 4), nil}) {
		t.Error(got)
	}
	old := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 50), 5)
	do("avg2.upgrade", &call{rows: 1, groups: 1, state: a, size: 16, other: g.write(old), oldSize: 8, oldVersion: 1})
	c = &call{groups: 1, state: a, size: 16, out: []abi.Shape{big}, outRows: 1}
	do("avg2.finish", c)
	if got := g.result(c, 0, 1); !reflect.DeepEqual(got, ints(10)) {
		t.Error(got)
	}
}

// TestAggregateViews keeps the states outside of the guest between calls, as the host does.
func TestAggregateViews(t *testing.T) {
	g := newGuest(t, "testdata/kinds.wasm")
	str := leaf(abi.String)
	load := func(states []string, room uint32) uint32 {
		var b []byte
		for _, s := range states {
			at := g.write(append([]byte(s), make([]byte, room)...))
			for _, w := range []uint32{at, uint32(len(s)), uint32(len(s)) + room, 0} {
				b = binary.LittleEndian.AppendUint32(b, w)
			}
		}
		return g.write(b)
	}
	save := func(at uint32, n int) []string {
		var out []string
		for i := range uint32(n) {
			out = append(out, string(g.bytes(g.u32(at+16*i), g.u32(at+16*i+4))))
		}
		return out
	}
	long := strings.Repeat("z", 500)
	for _, room := range []uint32{0, 4, 4096} {
		at := load([]string{"", ",x"}, room)
		c := &call{in: []values{{str, []any{"a", "b", nil, long, "c"}, false}}, rows: 5, groups: 2, group: []uint32{0, 1, 0, 1, 0}, state: at}
		g.prepare(c)
		if s := g.run("str_agg.update", c); s != abi.OK {
			t.Fatalf("status %d", s)
		}
		states := save(at, 2)
		if want := []string{",a,c", ",x,b," + long}; !reflect.DeepEqual(states, want) {
			t.Errorf("room %d: %q", room, states)
		}
		at, other := load(append(states, ""), room), load([]string{",m", "", ",n"}, 0)
		c = &call{rows: 3, groups: 3, group: []uint32{0, 1, 0}, state: at, other: other}
		g.prepare(c)
		if s := g.run("str_agg.merge", c); s != abi.OK {
			t.Fatalf("status %d", s)
		}
		at = load(save(at, 3), 0)
		c = &call{groups: 3, state: at, out: []abi.Shape{str}, outRows: 3, tight: true}
		g.prepare(c)
		if s := g.run("str_agg.finish", c); s != abi.OK {
			t.Fatalf("status %d", s)
		}
		if got := g.result(c, 0, 3); !reflect.DeepEqual(got, []any{"a,c,m,n", "x,b," + long, nil}) {
			t.Errorf("room %d: %q", room, got)
		}
	}
}

func TestTableAggregate(t *testing.T) {
	g := newGuest(t, "testdata/kinds.wasm")
	i32 := leaf(abi.Integer)
	const groups = 100
	state := g.write(make([]byte, groups*16))
	g.must("top2.init", &call{groups: groups, state: state, size: 16})
	var in []any
	var group []uint32
	for i := range uint32(groups) {
		in, group = append(in, int64(i), int64(i+10)), append(group, i, i)
	}
	update := func(in []any, group []uint32) {
		g.must("top2.update", &call{in: []values{{i32, in, false}}, rows: uint32(len(in)), groups: groups, group: group, state: state, size: 16})
	}
	emit := func() (out [][4]any) {
		c := &call{groups: groups, state: state, size: 16, out: []abi.Shape{i32, i32}, outRows: 64}
		g.prepare(c)
		for {
			s := g.run("top2.emit", c)
			n := g.u32(c.at + abi.CallOutRowsAt)
			v, place := g.result(c, 0, n), g.result(c, 1, n)
			for i := range n {
				out = append(out, [4]any{g.u32(c.parent + 4*i), g.bytes(c.kind+i, 1)[0], v[i], place[i]})
			}
			if s == abi.OK {
				return out
			} else if s != abi.More || n == 0 {
				t.Fatalf("status %d with %d rows", s, n)
			}
		}
	}
	update(in, group)
	if got := emit(); len(got) != 2*groups || got[3] != [4]any{uint32(1), byte(abi.RowAdd), int64(1), int64(2)} {
		t.Errorf("%d rows: %v", len(got), got[:4])
	}
	update(ints(50), []uint32{7})
	want := [][4]any{
		{uint32(7), byte(abi.RowRetract), int64(17), int64(1)},
		{uint32(7), byte(abi.RowRetract), int64(7), int64(2)},
		{uint32(7), byte(abi.RowAdd), int64(50), int64(1)},
		{uint32(7), byte(abi.RowAdd), int64(17), int64(2)},
	}
	if got := emit(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got := emit(); len(got) != 0 {
		t.Errorf("nothing changed, but %v", got)
	}
}

func (g *guest) must(export string, c *call) {
	g.t.Helper()
	g.prepare(c)
	if s := g.run(export, c); s != abi.OK {
		g.t.Fatalf("%s: status %d", export, s)
	}
}

// TestAlloc allocates and frees at random: blocks never overlap, and all of them
// together come back as one.
func TestAlloc(t *testing.T) {
	g := newGuest(t, "testdata/kinds.wasm")
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	type block struct{ at, n uint32 }
	var live []block
	for range 2000 {
		if len(live) > 0 && r.IntN(5) < 2 {
			i := r.IntN(len(live))
			g.free(live[i].at, live[i].n)
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
			continue
		}
		n := uint32(r.IntN(1 << r.IntN(15)))
		b := block{g.alloc(n), n}
		for _, o := range live {
			if b.at < o.at+max(o.n, 1) && o.at < b.at+max(b.n, 1) {
				t.Fatalf("%v and %v overlap", b, o)
			}
		}
		live = append(live, b)
	}
	size := g.mod.Memory().Size()
	for _, b := range live {
		g.free(b.at, b.n)
	}
	all := size - g.alloc(64)&^0xffff
	if g.alloc(all / 2); g.mod.Memory().Size() != size {
		t.Error("freed blocks did not grow together")
	}
}
