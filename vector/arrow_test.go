package vector_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weirdb/weir/vector"
)

// show is a column as text.
func show(v *vector.Vector) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v:", v.Kind())
	for i := range v.Len() {
		if v.IsNull(i) {
			b.WriteString(" null")
			continue
		}
		switch v.Kind() {
		case vector.Bool:
			fmt.Fprint(&b, " ", vector.Values[bool](v)[i])
		case vector.Int8:
			fmt.Fprint(&b, " ", vector.Values[int8](v)[i])
		case vector.Int16:
			fmt.Fprint(&b, " ", vector.Values[int16](v)[i])
		case vector.Int32:
			fmt.Fprint(&b, " ", vector.Values[int32](v)[i])
		case vector.Int64:
			fmt.Fprint(&b, " ", vector.Values[int64](v)[i])
		case vector.Float32:
			fmt.Fprint(&b, " ", vector.Values[float32](v)[i])
		case vector.Float64:
			fmt.Fprint(&b, " ", vector.Values[float64](v)[i])
		case vector.Decimal:
			fmt.Fprint(&b, " ", vector.Values[vector.Dec](v)[i].ToString(0))
		default:
			fmt.Fprintf(&b, " %q", v.Text(i))
		}
	}
	return b.String()
}

// arrays of three rows, of which the second is NULL.
func arrays(mem memory.Allocator) map[string]arrow.Array {
	build := func(dt arrow.DataType, set func(array.Builder)) arrow.Array {
		b := array.NewBuilder(mem, dt)
		defer b.Release()
		set(b)
		return b.NewArray()
	}
	three := func(dt arrow.DataType, a, b string) arrow.Array {
		return build(dt, func(bld array.Builder) {
			for _, s := range []string{a, "", b} {
				if s == "" {
					bld.AppendNull()
				} else if err := bld.AppendValueFromString(s); err != nil {
					panic(err)
				}
			}
		})
	}
	ts := func(u arrow.TimeUnit, a, b arrow.Timestamp) arrow.Array {
		return build(&arrow.TimestampType{Unit: u}, func(bld array.Builder) {
			t := bld.(*array.TimestampBuilder)
			t.Append(a)
			t.AppendNull()
			t.Append(b)
		})
	}
	dur := func(u arrow.TimeUnit, a, b arrow.Duration) arrow.Array {
		return build(&arrow.DurationType{Unit: u}, func(bld array.Builder) {
			t := bld.(*array.DurationBuilder)
			t.Append(a)
			t.AppendNull()
			t.Append(b)
		})
	}
	return map[string]arrow.Array{
		"bool: true null false":                three(arrow.FixedWidthTypes.Boolean, "true", "false"),
		"int8: -128 null 127":                  three(arrow.PrimitiveTypes.Int8, "-128", "127"),
		"int16: -5 null 5":                     three(arrow.PrimitiveTypes.Int16, "-5", "5"),
		"int32: -5 null 5":                     three(arrow.PrimitiveTypes.Int32, "-5", "5"),
		"int64: -5 null 5":                     three(arrow.PrimitiveTypes.Int64, "-5", "5"),
		"int16: 0 null 255":                    three(arrow.PrimitiveTypes.Uint8, "0", "255"),
		"int32: 0 null 65535":                  three(arrow.PrimitiveTypes.Uint16, "0", "65535"),
		"int64: 0 null 4294967295":             three(arrow.PrimitiveTypes.Uint32, "0", "4294967295"),
		"decimal: 0 null 18446744073709551615": three(arrow.PrimitiveTypes.Uint64, "0", "18446744073709551615"),
		"float32: 1.5 null -2":                 three(arrow.PrimitiveTypes.Float32, "1.5", "-2"),
		"float64: 1.5 null -2":                 three(arrow.PrimitiveTypes.Float64, "1.5", "-2"),
		"float32: 0.5 null 2": build(arrow.FixedWidthTypes.Float16, func(b array.Builder) {
			f := b.(*array.Float16Builder)
			f.Append(float16.New(0.5))
			f.AppendNull()
			f.Append(float16.New(2))
		}),
		`string: "a" null "äöü"`:                    three(arrow.BinaryTypes.String, "a", "äöü"),
		`string: "b" null "long"`:                   three(arrow.BinaryTypes.LargeString, "b", "long"),
		`string: "c" null "longer than twelve ..."`: three(arrow.BinaryTypes.StringView, "c", "longer than twelve ..."),
		`string: "x" null "x"`:                      three(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, "x", "x"),
		`bytes: "a" null "b"`:                       three(arrow.BinaryTypes.Binary, "YQ==", "Yg=="),
		`bytes: "c" null "d"`:                       three(arrow.BinaryTypes.LargeBinary, "Yw==", "ZA=="),
		`bytes: "ab" null "cd"`:                     three(&arrow.FixedSizeBinaryType{ByteWidth: 2}, "YWI=", "Y2Q="),
		"int32: 0 null -1":                          three(arrow.FixedWidthTypes.Date32, "1970-01-01", "1969-12-31"),
		"int32: 1 null -2": build(arrow.FixedWidthTypes.Date64, func(b array.Builder) {
			d := b.(*array.Date64Builder)
			d.Append(86400_000)
			d.AppendNull()
			d.Append(-86400_001)
		}),
		"int64: 1000 null 2000":  three(arrow.FixedWidthTypes.Time32s, "00:00:01", "00:00:02"),
		"int64: 1 null 2":        three(arrow.FixedWidthTypes.Time32ms, "00:00:00.001", "00:00:00.002"),
		"int64: 3 null 4":        three(arrow.FixedWidthTypes.Time64ns, "00:00:00.000000003", "00:00:00.000000004"),
		"int64: 7000 null -7000": ts(arrow.Second, 7, -7),
		"int64: 7 null -7":       ts(arrow.Millisecond, 7, -7),
		"int64: 8 null -8":       ts(arrow.Microsecond, 8, -8),
		"int64: 9 null -9":       ts(arrow.Nanosecond, 9, -9),
		"int64: 3000 null -3000": dur(arrow.Second, 3, -3),
		"int64: 33 null -33":     dur(arrow.Millisecond, 33, -33),
		"int64: 1 null -2":       dur(arrow.Microsecond, 1999, -1001),
		"int64: 2 null -1":       dur(arrow.Nanosecond, 2000_000, -1),
		"decimal: -15 null 12":   three(&arrow.Decimal128Type{Precision: 10, Scale: 1}, "-1.5", "1.2"),
		"decimal: -16 null 12":   three(&arrow.Decimal64Type{Precision: 10, Scale: 1}, "-1.6", "1.2"),
		"decimal: -17 null 12":   three(&arrow.Decimal32Type{Precision: 5, Scale: 1}, "-1.7", "1.2"),
	}
}

func TestFromArrow(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	p := vector.NewCheckedPool()
	for want, arr := range arrays(mem) {
		kind, values, _ := strings.Cut(want, ": ")
		v, err := vector.FromArrow(p, arr)
		if err != nil {
			t.Errorf("%v: %v", arr.DataType(), err)
			continue
		}
		if got := show(v); got != want {
			t.Errorf("%v: got %s, want %s", arr.DataType(), got, want)
		}
		// What is kept is no foreign memory and outlives the array.
		b := vector.NewBatch(3, []*vector.Vector{v}, nil)
		kept := b.Keep(p)
		b.Release()
		// A slice has an offset, which is not a whole number of bytes of the bitmap.
		for from := range 3 {
			part := array.NewSlice(arr, int64(from), 3)
			v, err := vector.FromArrow(p, part)
			if err != nil {
				t.Fatal(err)
			}
			texts := strings.Fields(values)
			if n := len(texts); n == 3 {
				if got, want := show(v), strings.Join(append([]string{kind + ":"}, texts[from:]...), " "); got != want {
					t.Errorf("%v from %d: got %s, want %s", arr.DataType(), from, got, want)
				}
			}
			part.Release()
			v.Release()
		}
		arr.Release()
		if got := show(kept.Col(0)); got != want {
			t.Errorf("kept: got %s, want %s", got, want)
		}
		kept.Release()
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
	mem.AssertSize(t, 0)
}

func TestFromArrowEdges(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	p := vector.NewCheckedPool()
	for _, arr := range arrays(mem) { // no rows
		none := array.NewSlice(arr, 1, 1)
		v, err := vector.FromArrow(p, none)
		if err != nil || v.Len() != 0 || v.Kind() != vector.ArrowKind(arr.DataType()) {
			t.Errorf("%v: %v, %v", arr.DataType(), v, err)
		}
		v.Release()
		none.Release()
		arr.Release()
	}
	mem.AssertSize(t, 0)

	null := array.NewNull(2)
	v, err := vector.FromArrow(p, null)
	if err != nil || show(v) != "bool: null null" {
		t.Errorf("%v, %v", v, err)
	}
	v.Release()

	over := array.NewTimestampBuilder(memory.DefaultAllocator, &arrow.TimestampType{Unit: arrow.Second})
	over.Append(1 << 60)
	if _, err := vector.FromArrow(p, over.NewArray()); err == nil {
		t.Error("a timestamp beyond the range was taken")
	}
	times := array.NewListBuilder(memory.DefaultAllocator, arrow.FixedWidthTypes.MonthDayNanoInterval)
	if _, err := vector.FromArrow(p, times.NewArray()); err == nil {
		t.Error("a list of what has no kind was taken")
	}
	// Offsets that do not ascend, as a hostile sender may have them.
	off := arrow.GetBytes([]int32{0, 5, 2})
	bad := array.NewStringData(array.NewData(arrow.BinaryTypes.String, 2, []*memory.Buffer{nil, memory.NewBufferBytes(off), memory.NewBufferBytes([]byte("abcde"))}, nil, 0, 0))
	if _, err := vector.FromArrow(p, bad); err == nil {
		t.Error("bad offsets were taken")
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestToArrow(t *testing.T) {
	p := vector.NewCheckedPool()
	types := map[vector.Kind][]arrow.DataType{
		vector.Bool:    {arrow.FixedWidthTypes.Boolean},
		vector.Int8:    {arrow.PrimitiveTypes.Int8},
		vector.Int16:   {arrow.PrimitiveTypes.Int16},
		vector.Int32:   {arrow.PrimitiveTypes.Int32, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.MonthInterval},
		vector.Int64:   {arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Duration_ms},
		vector.Float32: {arrow.PrimitiveTypes.Float32},
		vector.Float64: {arrow.PrimitiveTypes.Float64},
		vector.Decimal: {&arrow.Decimal128Type{Precision: 38, Scale: 2}},
		vector.String:  {arrow.BinaryTypes.String},
		vector.Bytes:   {arrow.BinaryTypes.Binary},
	}
	for kind, dts := range types {
		for _, dt := range dts {
			for _, n := range []int{0, 1, 3, 100} {
				for _, nulls := range []bool{false, true} {
					c := vector.NewColumnBuilder(p, kind)
					for i := range n {
						switch {
						case nulls && i%3 == 1:
							c.AppendNull()
						case kind.Variable():
							c.AppendString(strings.Repeat("x", i%5))
						case kind == vector.Bool:
							vector.Append(c, i%2 == 0)
						case kind == vector.Int8:
							vector.Append(c, int8(i))
						case kind == vector.Int16:
							vector.Append(c, int16(i))
						case kind == vector.Int32:
							vector.Append(c, int32(i))
						case kind == vector.Int64:
							vector.Append(c, int64(i))
						case kind == vector.Float32:
							vector.Append(c, float32(i))
						case kind == vector.Float64:
							vector.Append(c, float64(i))
						default:
							vector.Append(c, decimal128.FromI64(int64(i)))
						}
					}
					v := c.Finish()
					want := show(v)
					arr := v.Arrow(dt)
					v.Release() // the array keeps it
					if arr.Len() != n || !arrow.TypeEqual(arr.DataType(), dt) {
						t.Errorf("%v: %v", dt, arr)
					}
					back, err := vector.FromArrow(p, arr)
					arr.Release()
					if err != nil || show(back) != want {
						t.Errorf("%v: %v\ngot  %s\nwant %s", dt, err, show(back), want)
					}
					back.Release()
				}
			}
		}
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

// A batch goes to Arrow and back. The record shares the batch's memory, and holds
// it until it is released.
func ExampleBatch_Arrow() {
	p := vector.NewPool()
	batch := vector.NewBatch(3, []*vector.Vector{vector.Of[int64](p, 1, 2, 3), vector.OfStrings(p, "a", "b", "c")}, nil)
	some := batch.Select(vector.Of[int32](p, 2, 0))
	batch.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "name", Type: arrow.BinaryTypes.String}}, nil)
	record := some.Arrow(p, schema)
	some.Release()
	defer record.Release()
	fmt.Println(record.Column(0), record.Column(1))
	back, err := vector.BatchFromArrow(p, record)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer back.Release()
	fmt.Println(back.Len(), back.Col(1).Text(0))
	// Output:
	// [3 1] ["c" "a"]
	// 2 c
}
