package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

var nestedKinds = []Kind{
	ListOf(String), MapOf(Int16, String), StructOf(Int64, ListOf(Bool)),
	ListOf(StructOf(Float32, MapOf(Bool, Decimal))), StructOf(Bytes, StructOf(Int8), ListOf(ListOf(Int32))), StructOf(),
}

func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		k        Kind
		text     string
		children []Kind
	}{
		{Int64, "int64", nil},
		{ListOf(String), "list<string>", []Kind{String}},
		{MapOf(ListOf(Bool), StructOf(Int8, Decimal)), "map<list<bool>, struct<int8, decimal>>", []Kind{ListOf(Bool), StructOf(Int8, Decimal)}},
		{StructOf(Float64, MapOf(Int16, Bytes), StructOf()), "struct<float64, map<int16, bytes>, struct<>>", []Kind{Float64, MapOf(Int16, Bytes), StructOf()}},
	} {
		if tt.k.String() != tt.text || !slices.Equal(tt.k.Children(), tt.children) || tt.k.Nested() != (tt.k != Int64) {
			t.Errorf("%v: children %v", tt.k, tt.k.Children())
		}
		if tt.k.Nested() && (tt.k.Width() != 0 || tt.k.Variable()) {
			t.Errorf("%v has a width", tt.k)
		}
	}
}

// Every way of copying rows gives the rows, and gives all memory back.
func TestNestedCopies(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 2))
		p, other := NewCheckedPool(), NewCheckedPool()
		b := randomBatch(other, r, nestedKinds, 1+r.IntN(90), r.IntN(3) > 0, false)
		var rows []int32
		for range r.IntN(100) {
			rows = append(rows, int32(r.IntN(b.Len())))
		}
		from := r.IntN(b.Len() + 1)
		to := from + r.IntN(b.Len()+1-from)
		kept, taken, part := b.Keep(p), b.Take(p, rows), b.Slice(p, from, to)
		shared := kept.Keep(p)
		for c := range nestedKinds {
			check := func(what string, got *Vector, i int, want int) {
				if g, w := cell(got, i), cell(b.Col(c), want); g != w || Compare(got, i, b.Col(c), want) != 0 {
					t.Fatalf("seed %d: %s: row %d of %v is %v, want %v", seed, what, i, got.Kind(), g, w)
				}
			}
			for i := range b.Len() {
				check("Keep", kept.Col(c), i, i)
				check("Keep of the same pool", shared.Col(c), i, i)
			}
			for i, row := range rows {
				check("Take", taken.Col(c), i, int(row))
			}
			for i := range to - from {
				check("Slice", part.Col(c), i, from+i)
			}
			if shared.Col(c) != kept.Col(c) {
				t.Fatalf("seed %d: Keep copied %v of its own pool", seed, kept.Col(c).Kind())
			}
		}
		b.Release()
		if err := other.Leaks(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, b := range []*Batch{kept, taken, part, shared} {
			b.Release()
		}
		if err := p.Leaks(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func TestNestedTruncate(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := NewCheckedPool()
		for _, k := range nestedKinds {
			c, want := NewColumnBuilder(p, k), NewColumnBuilder(p, k)
			n := r.IntN(10)
			for i := range 20 {
				appendRandom(c, r, k, true)
				if i < n {
					want.AppendFrom(c.view(), i)
				}
			}
			if k.Children() != nil { // half a value
				appendRandom(c.Child(0), r, k.Children()[0], true)
			}
			c.Truncate(n)
			c.AppendNull()
			want.AppendNull()
			got, expected := c.Finish(), want.Finish()
			for i := range n + 1 {
				if Compare(got, i, expected, i) != 0 {
					t.Fatalf("seed %d: %v: row %d is %v, want %v", seed, k, i, cell(got, i), cell(expected, i))
				}
			}
			got.Release()
			expected.Release()
		}
		if err := p.Leaks(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// A map has its entries in order, whatever order they come in; the last of one key
// counts.
func TestMapOrder(t *testing.T) {
	p := NewCheckedPool()
	c := NewColumnBuilder(p, MapOf(Float64, String))
	for _, keys := range [][]float64{{1, 2}, {3, 1, 3, 2, 1}, {}, {math.NaN(), math.Copysign(0, -1), 0, math.Inf(-1)}} {
		for i, k := range keys {
			Append(c.Child(0), k)
			c.Child(1).AppendString(fmt.Sprint(i))
		}
		c.EndValue()
	}
	v := c.Finish()
	for i, want := range []string{`"1" "0" "2" "1" `, `"1" "4" "2" "3" "3" "2" `, ``, `"-Inf" "3" "0" "2" "NaN" "0" `} {
		if got := cell(v, i); got != want {
			t.Errorf("map %d is %s, want %s", i, got, want)
		}
	}
	v.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

// A field is NULL where its struct is, and shares the struct's memory.
func TestField(t *testing.T) {
	p := NewCheckedPool()
	c := NewColumnBuilder(p, StructOf(Int64, String))
	for i := range 4 {
		switch i {
		case 1:
			c.AppendNull()
			continue
		case 2:
			c.Child(0).AppendNull()
		default:
			Append(c.Child(0), int64(i))
		}
		c.Child(1).AppendString("x")
		c.EndValue()
	}
	v := c.Finish()
	a, b := v.Field(p, 0), v.Field(p, 1)
	v.Release()
	for i, want := range []string{"0 x", "<nil> <nil>", "<nil> x", "3 x"} {
		if got := fmt.Sprint(cell(a, i), " ", cell(b, i)); got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
	kept := NewBatch(4, []*Vector{a, b}, nil)
	copied := kept.Keep(p)
	kept.Release()
	if cell(copied.Col(0), 3) != int64(3) || cell(copied.Col(1), 0) != "x" {
		t.Error("a kept field lost its values")
	}
	copied.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

// arrowOf is the Arrow type of a kind.
func arrowOf(k Kind) arrow.DataType {
	var children []arrow.DataType
	for _, c := range k.Children() {
		children = append(children, arrowOf(c))
	}
	switch {
	case k.List():
		return arrow.ListOf(children[0])
	case k.Map():
		return arrow.MapOf(children[0], children[1])
	case k.Struct():
		var fields []arrow.Field
		for i, c := range children {
			fields = append(fields, arrow.Field{Name: fmt.Sprint("f", i), Type: c, Nullable: true})
		}
		return arrow.StructOf(fields...)
	}
	return map[Kind]arrow.DataType{
		Bool: arrow.FixedWidthTypes.Boolean, Int8: arrow.PrimitiveTypes.Int8, Int16: arrow.PrimitiveTypes.Int16, Int32: arrow.PrimitiveTypes.Int32,
		Int64: arrow.PrimitiveTypes.Int64, Float32: arrow.PrimitiveTypes.Float32, Decimal: &arrow.Decimal128Type{Precision: 38},
		String: arrow.BinaryTypes.String, Bytes: arrow.BinaryTypes.Binary,
	}[k]
}

// To Arrow and back, whole and in part.
func TestNestedArrow(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 4))
		p := NewCheckedPool()
		b := randomBatch(p, r, nestedKinds, r.IntN(60), r.IntN(3) > 0, false)
		for c, k := range nestedKinds {
			dt := arrowOf(k)
			if ArrowKind(dt) != k {
				t.Fatalf("%v is the kind of %v, want %v", ArrowKind(dt), dt, k)
			}
			arr := b.Col(c).Arrow(dt)
			from := r.IntN(b.Rows() + 1)
			part := array.NewSlice(arr, int64(from), int64(b.Rows()))
			for _, a := range []arrow.Array{arr, part} {
				back, err := FromArrow(p, a)
				if err != nil {
					t.Fatalf("seed %d: %v: %v", seed, k, err)
				}
				for i := range back.Len() {
					if at := b.Rows() - back.Len() + i; Compare(back, i, b.Col(c), at) != 0 {
						t.Fatalf("seed %d: %v: row %d is %v, want %v", seed, k, i, cell(back, i), cell(b.Col(c), at))
					}
				}
				back.Release()
			}
			part.Release()
			arr.Release()
		}
		b.Release()
		if err := p.Leaks(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// Lists of other layouts are taken, maps put in order, what has no kind refused.
func TestFromForeignArrow(t *testing.T) {
	p := NewCheckedPool()
	show := func(arr arrow.Array) string {
		v, err := FromArrow(p, arr)
		if err != nil {
			return err.Error()
		}
		defer v.Release()
		out := v.Kind().String()
		for i := range v.Len() {
			out += fmt.Sprint("; ", cell(v, i))
		}
		return out
	}
	fixed := array.NewFixedSizeListBuilder(memory.DefaultAllocator, 2, arrow.PrimitiveTypes.Uint8)
	fixed.Append(true)
	fixed.ValueBuilder().(*array.Uint8Builder).AppendValues([]uint8{1, 255}, nil)
	large := array.NewLargeListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
	large.Append(true)
	large.ValueBuilder().(*array.StringBuilder).AppendValues([]string{"a", "b"}, nil)
	large.AppendNull()
	entries := array.NewMapBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String, false)
	entries.Append(true)
	entries.KeyBuilder().(*array.Int32Builder).AppendValues([]int32{2, 1, 2}, nil)
	entries.ItemBuilder().(*array.StringBuilder).AppendValues([]string{"x", "y", "z"}, nil)
	intervals := array.NewListBuilder(memory.DefaultAllocator, arrow.FixedWidthTypes.MonthDayNanoInterval)
	for _, tt := range []struct {
		arr  arrow.Array
		want string
	}{
		{fixed.NewArray(), `list<int16>; "1" "255" `},
		{large.NewArray(), `list<string>; "a" "b" ; <nil>`},
		{entries.NewArray(), `map<int32, string>; "1" "y" "2" "z" `},
		{intervals.NewArray(), "columns of Arrow type list<item: month_day_nano_interval, nullable> are not supported"},
	} {
		if got := show(tt.arr); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}
