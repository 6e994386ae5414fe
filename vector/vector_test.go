package vector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// column draws a column of n rows, some NULL, and returns it with its values as text.
func column(p *Pool, r *rand.Rand, kind Kind, n int, nulls bool) (*Vector, []string) {
	b, text := NewColumnBuilder(p, kind), make([]string, n)
	for i := range n {
		if nulls && r.IntN(3) == 0 {
			b.AppendNull()
			text[i] = "NULL"
			continue
		}
		x := r.IntN(200) - 100
		switch kind {
		case Bool:
			Append(b, x > 0)
			text[i] = fmt.Sprint(x > 0)
		case Int8:
			Append(b, int8(x))
		case Int16:
			Append(b, int16(x))
		case Int32:
			Append(b, int32(x))
		case Int64:
			Append(b, int64(x))
		case Float32:
			Append(b, float32(x))
		case Float64:
			Append(b, float64(x))
		case Decimal:
			Append(b, DecFromInt64(int64(x)))
		default:
			s := fmt.Sprint(x)
			if x%7 == 0 {
				s = ""
			}
			b.AppendString(s)
			text[i] = s
			continue
		}
		if kind != Bool {
			text[i] = fmt.Sprint(x)
		}
	}
	return b.Finish(), text
}

func textOf(v *Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	switch v.Kind() {
	case Bool:
		return fmt.Sprint(Values[bool](v)[i])
	case Int8:
		return fmt.Sprint(Values[int8](v)[i])
	case Int16:
		return fmt.Sprint(Values[int16](v)[i])
	case Int32:
		return fmt.Sprint(Values[int32](v)[i])
	case Int64:
		return fmt.Sprint(Values[int64](v)[i])
	case Float32:
		return fmt.Sprint(Values[float32](v)[i])
	case Float64:
		return fmt.Sprint(Values[float64](v)[i])
	case Decimal:
		return Values[Dec](v)[i].BigInt().String()
	}
	return v.Text(i)
}

func texts(v *Vector) []string {
	out := make([]string, v.Len())
	for i := range out {
		out[i] = textOf(v, i)
	}
	return out
}

var allKinds = []Kind{Bool, Int8, Int16, Int32, Int64, Float32, Float64, Decimal, String, Bytes}

func TestColumns(t *testing.T) {
	for _, kind := range allKinds {
		for _, n := range []int{0, 1, 63, 64, 65, 300} {
			for _, nulls := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v/%d/nulls=%v", kind, n, nulls), func(t *testing.T) {
					p := NewCheckedPool()
					r := rand.New(rand.NewPCG(1, uint64(n)))
					v, want := column(p, r, kind, n, nulls)
					if got := texts(v); !slices.Equal(got, want) {
						t.Fatalf("built %v, want %v", got, want)
					}
					var rows []int32
					var taken []string
					for range n / 2 {
						i := r.IntN(n)
						rows, taken = append(rows, int32(i)), append(taken, want[i])
					}
					took := v.Take(p, rows)
					if got := texts(took); !slices.Equal(got, taken) {
						t.Errorf("Take(%v) = %v, want %v", rows, got, taken)
					}
					cut := v.Slice(p, n/3, n-n/4)
					if got := texts(cut); !slices.Equal(got, want[n/3:n-n/4]) {
						t.Errorf("Slice = %v, want %v", got, want[n/3:n-n/4])
					}
					v.Release()
					took.Release()
					cut.Release()
					if err := p.Leaks(); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

func TestBuilderDropsHalfARow(t *testing.T) {
	p := NewCheckedPool()
	b := NewBuilder(p, []Kind{Int64, String})
	for i := range 100 {
		Append(b.Col(0), int64(i))
		if i%3 == 1 {
			b.Col(1).AppendNull()
		} else {
			b.Col(1).AppendString(fmt.Sprint(i))
		}
		if i%3 == 2 {
			b.DropRow()
			continue
		}
		b.EndRow(RowKind(i % 3))
	}
	batch := b.Finish()
	if batch.Len() != 67 || batch.InsertOnly() {
		t.Fatalf("%d rows, insert only %v", batch.Len(), batch.InsertOnly())
	}
	for i := range batch.Len() {
		src := i/2*3 + i%2
		text := fmt.Sprint(src)
		if i%2 == 1 {
			text = "NULL"
		}
		if got := textOf(batch.Col(0), i) + textOf(batch.Col(1), i) + batch.Kind(i).String(); got != fmt.Sprint(src)+text+RowKind(i%2).String() {
			t.Errorf("row %d: %s", i, got)
		}
	}
	batch.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestBatchKeepOutlivesTheOriginal(t *testing.T) {
	mine, other := NewCheckedPool(), NewCheckedPool()
	for _, p := range []*Pool{mine, other} {
		for _, selected := range []bool{false, true} {
			kinds, k := p.NewKinds(4)
			copy(k, []RowKind{Insert, UpdateBefore, UpdateAfter, Delete})
			b := NewBatch(4, []*Vector{Of(p, int64(1), 2, 3, 4), OfStrings(p, "a", "b", "", "d")}, kinds)
			want := []string{"+I1a", "-U2b", "+U3", "-D4d"}
			if selected {
				s := b.Select(Of(p, int32(3), 1))
				b.Release()
				b, want = s, []string{"-D4d", "-U2b"}
			}
			kept := b.Keep(mine)
			b.Release()
			var got []string
			for i := range kept.Len() {
				r := kept.Row(i)
				got = append(got, kept.Kind(r).String()+textOf(kept.Col(0), r)+textOf(kept.Col(1), r))
			}
			if !slices.Equal(got, want) {
				t.Errorf("kept %v, want %v", got, want)
			}
			kept.Release()
		}
	}
	for _, p := range []*Pool{mine, other} {
		if err := p.Leaks(); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckedPoolFindsMistakes(t *testing.T) {
	p := NewCheckedPool()
	v := Of(p, int64(7))
	values := Values[int64](v)
	if p.Leaks() == nil {
		t.Error("a live buffer is no leak")
	}
	v.Release()
	if values[0] == 7 {
		t.Error("a freed buffer kept its values")
	}
	defer func() {
		if recover() == nil {
			t.Error("a second release went unnoticed")
		}
	}()
	v.Release()
}

func TestRowKinds(t *testing.T) {
	for _, k := range []RowKind{Insert, UpdateBefore, UpdateAfter, Delete} {
		if got, ok := ParseRowKind(k.String()); !ok || got != k {
			t.Errorf("ParseRowKind(%q) = %v, %v", k, got, ok)
		}
		if k.Adds() != (k.Sign() == 1) || k.Invert().Sign() != -k.Sign() || k.Invert().Invert() != k {
			t.Errorf("%v: adds %v, sign %d, inverse %v", k, k.Adds(), k.Sign(), k.Invert())
		}
	}
}

func TestBitmapCounts(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 128, 200} {
		b := make(Bitmap, BitmapWords(n)+1)
		b.Fill(n)
		if b.Count(n) != n || b.Count(n/2) != n/2 {
			t.Errorf("%d bits filled: %d and %d counted", n, b.Count(n), b.Count(n/2))
		}
	}
}

func BenchmarkTakeInt64(b *testing.B) {
	p := NewPool()
	v := p.New(Int64, Target)
	rows := make([]int32, Target)
	for i := range rows {
		rows[i] = int32(i)
	}
	for b.Loop() {
		v.Take(p, rows).Release()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/Target, "ns/row")
}
