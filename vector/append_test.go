package vector

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// AppendTake must give the same columns as AppendFrom row by row.
func TestAppendTake(t *testing.T) {
	kinds := []Kind{
		Bool, Int8, Int16, Int32, Int64, Float32, Float64, Decimal, String, Bytes,
		ListOf(String), MapOf(Int16, String), StructOf(Int64, ListOf(Bool)), ListOf(StructOf(Float32, MapOf(Bool, Decimal))),
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := NewCheckedPool()
		bulk, slow := NewBuilder(p, kinds), NewBuilder(p, kinds)
		for range r.IntN(6) {
			src := randomBatch(p, r, kinds, r.IntN(200), r.IntN(2) == 0, r.IntN(2) == 0)
			rows := make([]int32, 0)
			for range r.IntN(150) {
				if src.Len() > 0 {
					rows = append(rows, int32(r.IntN(src.Len())))
				}
			}
			bulk.AppendTake(src, rows)
			for _, row := range rows {
				slow.AppendRow(src, int(row), src.Kind(int(row)))
			}
			src.Release()
		}
		got, want := bulk.Finish(), slow.Finish()
		if got.Len() != want.Len() {
			t.Fatalf("seed %d: %d rows, want %d", seed, got.Len(), want.Len())
		}
		for i := range got.Len() {
			if got.Kind(i) != want.Kind(i) {
				t.Fatalf("seed %d: row %d has kind %v, want %v", seed, i, got.Kind(i), want.Kind(i))
			}
			for c := range kinds {
				if g, w := cell(got.Col(c), i), cell(want.Col(c), i); g != w {
					t.Fatalf("seed %d: column %v row %d: %v, want %v", seed, kinds[c], i, g, w)
				}
			}
		}
		got.Release()
		want.Release()
		if err := p.Leaks(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func randomBatch(p *Pool, r *rand.Rand, kinds []Kind, n int, nulls, changes bool) *Batch {
	b := NewBuilder(p, kinds)
	for range n {
		for i, k := range kinds {
			c := b.Col(i)
			if nulls && r.IntN(3) == 0 {
				c.AppendNull()
				continue
			}
			appendRandom(c, r, k, nulls)
		}
		kind := Insert
		if changes {
			kind = RowKind(r.IntN(4))
		}
		b.EndRow(kind)
	}
	return b.Finish()
}

func appendRandom(c *ColumnBuilder, r *rand.Rand, k Kind, nulls bool) {
	x := r.Int64()
	switch k {
	case Bool:
		Append(c, x&1 == 0)
	case Int8:
		Append(c, int8(x))
	case Int16:
		Append(c, int16(x))
	case Int32:
		Append(c, int32(x))
	case Int64:
		Append(c, x)
	case Float32:
		Append(c, float32(x))
	case Float64:
		Append(c, float64(x))
	case Decimal:
		Append(c, Dec{})
	case String, Bytes:
		c.AppendBytes(make([]byte, r.IntN(9)))
	default:
		n := 1
		if !k.Struct() {
			n = r.IntN(4)
		}
		for range n {
			for i, f := range k.Children() {
				if nulls && r.IntN(4) == 0 && !(k.Map() && i == 0) {
					c.Child(i).AppendNull()
				} else {
					appendRandom(c.Child(i), r, f, nulls)
				}
			}
		}
		c.EndValue()
	}
}

func cell(v *Vector, i int) any {
	switch {
	case v.IsNull(i):
		return nil
	case v.Kind().Nested():
		from, to, out := i, i+1, ""
		if !v.Kind().Struct() {
			from, to = int(v.Offsets()[i]), int(v.Offsets()[i+1])
		}
		for e := from; e < to; e++ {
			for c := range v.Children() {
				out += fmt.Sprintf("%q ", fmt.Sprint(cell(v.Child(c), e)))
			}
		}
		return out
	case v.Kind().Variable():
		return string(v.Bytes(i))
	}
	switch v.Kind() {
	case Bool:
		return Values[bool](v)[i]
	case Int8:
		return Values[int8](v)[i]
	case Int16:
		return Values[int16](v)[i]
	case Int32:
		return Values[int32](v)[i]
	case Int64:
		return Values[int64](v)[i]
	case Float32:
		return Values[float32](v)[i]
	case Float64:
		return Values[float64](v)[i]
	}
	return Values[Dec](v)[i]
}
