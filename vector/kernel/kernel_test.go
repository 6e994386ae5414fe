package kernel

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/vector"
)

// edges are values at which integer loops go wrong.
func edges[T Int]() []T {
	low := T(1) << (width[T]()*8 - 1)
	out := []T{0, 1, -1, 2, -2, 3, 7, 10, -10, 100, low, low + 1, ^low, ^low - 1, low / 2, ^low / 2}
	return out
}

func width[T Int]() int { return vector.KindOf[T]().Width() }

func TestIntArithmetic(t *testing.T) {
	testInts[int8](t)
	testInts[int16](t)
	testInts[int32](t)
	testInts[int64](t)
}

func testInts[T interface {
	Int
	vector.Fixed
}](t *testing.T) {
	t.Helper()
	p := vector.NewCheckedPool()
	vals := edges[T]()
	var as, bs []T
	for _, a := range vals {
		for _, b := range vals {
			as, bs = append(as, a), append(bs, b)
		}
	}
	check := func(op Op, a, b []T) {
		n := max(len(a), len(b))
		va, vb := vector.Of(p, a...), vector.Of(p, b...)
		var m Misfits
		out := Arith(p, op, va, vb, n, &m)
		for i := range n {
			x, y := int64(a[min(i, len(a)-1)]), int64(b[min(i, len(b)-1)])
			want := new(big.Int)
			ok := true
			switch op {
			case Add:
				want.Add(big.NewInt(x), big.NewInt(y))
			case Sub:
				want.Sub(big.NewInt(x), big.NewInt(y))
			case Mul:
				want.Mul(big.NewInt(x), big.NewInt(y))
			default:
				if ok = y != 0; ok && op == Div {
					want.Quo(big.NewInt(x), big.NewInt(y))
				} else if ok {
					want.Rem(big.NewInt(x), big.NewInt(y))
				}
			}
			ok = ok && want.IsInt64() && int64(T(want.Int64())) == want.Int64()
			if misfit := slices.Contains(m.Rows, int32(i)); misfit == ok {
				t.Fatalf("%T: %d %v %d: misfit %v, want %v", a[0], x, op, y, misfit, !ok)
			}
			if got := vector.Values[T](out)[i]; ok && int64(got) != want.Int64() {
				t.Fatalf("%T: %d %v %d = %d, want %v", a[0], x, op, y, got, want)
			}
		}
		va.Release()
		vb.Release()
		out.Release()
	}
	for op := Add; op <= Mod; op++ {
		check(op, as, bs)
		for _, v := range vals {
			check(op, vals, []T{v})
			check(op, []T{v}, vals)
			check(op, []T{v}, []T{3})
		}
		empty := vector.Of[T](p)
		one := vector.Of(p, T(3))
		out := Arith(p, op, empty, one, 0, &Misfits{})
		out.Release()
		one.Release()
		empty.Release()
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestDivisor(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	ds := []int64{2, 3, 5, 7, 10, 60, 123, 1000, 86_400_000, 1 << 31, 1<<31 - 1, 1 << 62, 1<<62 + 1, math.MaxInt64, math.MaxInt64 - 1}
	for range 200 {
		ds = append(ds, max(2, r.Int64()>>r.IntN(63)))
	}
	for _, d := range ds {
		div := NewDivisor(d)
		xs := []int64{0, 1, -1, d, -d, d - 1, 1 - d, d + 1, -d - 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, d * 2, -d * 2}
		for range 200 {
			xs = append(xs, int64(r.Uint64())>>r.IntN(63))
		}
		for _, x := range xs {
			if got := div.Div(x); got != x/d {
				t.Fatalf("%d / %d = %d, want %d", x, d, got, x/d)
			}
			if got := div.FloorDiv(x); got != FloorDiv(x, d) {
				t.Fatalf("floor(%d / %d) = %d, want %d", x, d, got, FloorDiv(x, d))
			}
		}
	}
}

func TestModInts(t *testing.T) {
	p := vector.NewCheckedPool()
	a := vector.Of[int64](p, 1000, -1000, math.MinInt64, 5, 122)
	for _, d := range []int16{123, -7, 1, -1} {
		b := vector.Of(p, d)
		var m Misfits
		out := ModInts(p, a, b, 5, &m)
		for i, x := range vector.Values[int64](a) {
			if got := vector.Values[int16](out)[i]; len(m.Rows) > 0 || int64(got) != x%int64(d) {
				t.Errorf("%d %% %d = %d", x, d, got)
			}
		}
		out.Release()
		b.Release()
	}
	a.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

// column is a random column of any kind with nulls and few different values.
func column(r *rand.Rand, p *vector.Pool, kind vector.Kind, n int) *vector.Vector {
	b := vector.NewColumnBuilder(p, kind)
	for range n {
		if r.IntN(4) == 0 {
			b.AppendNull()
			continue
		}
		v := r.IntN(5) - 2
		switch kind {
		case vector.Bool:
			vector.Append(b, v > 0)
		case vector.Int8:
			vector.Append(b, int8(v))
		case vector.Int16:
			vector.Append(b, int16(v))
		case vector.Int32:
			vector.Append(b, int32(v))
		case vector.Int64:
			vector.Append(b, int64(v))
		case vector.Float32:
			vector.Append(b, float32(v)/2)
		case vector.Float64:
			vector.Append(b, float64(v)/2)
		case vector.Decimal:
			vector.Append(b, DecOf(int64(v)))
		default:
			b.AppendString(strings.Repeat("ab", v+2) + "é")
		}
	}
	return b.Finish()
}

var kinds = []vector.Kind{vector.Bool, vector.Int8, vector.Int16, vector.Int32, vector.Int64, vector.Float32, vector.Float64, vector.Decimal, vector.String, vector.Bytes}

// cell is a value for the slow checks: nil, float64 or string.
func cell(v *vector.Vector, i int) any {
	if v.Len() == 1 {
		i = 0
	}
	if v.IsNull(i) {
		return nil
	}
	switch v.Kind() {
	case vector.Bool:
		if vector.Values[bool](v)[i] {
			return 1.0
		}
		return 0.0
	case vector.Int8:
		return float64(vector.Values[int8](v)[i])
	case vector.Int16:
		return float64(vector.Values[int16](v)[i])
	case vector.Int32:
		return float64(vector.Values[int32](v)[i])
	case vector.Int64:
		return float64(vector.Values[int64](v)[i])
	case vector.Float32:
		return float64(vector.Values[float32](v)[i])
	case vector.Float64:
		return vector.Values[float64](v)[i]
	case vector.Decimal:
		return float64(int64(vector.Values[vector.Dec](v)[i].LowBits()))
	}
	return string(v.Bytes(i))
}

func cmpCells(a, b any) int {
	if x, ok := a.(string); ok {
		return strings.Compare(x, b.(string))
	}
	switch x, y := a.(float64), b.(float64); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// scalar is a column of one row that is not NULL.
func scalar(r *rand.Rand, p *vector.Pool, kind vector.Kind) *vector.Vector {
	for {
		v := column(r, p, kind, 1)
		if !v.IsNull(0) {
			return v
		}
		v.Release()
	}
}

func TestCompareAndSelect(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	p := vector.NewCheckedPool()
	for _, kind := range kinds {
		for _, n := range []int{0, 1, 2, 63, 64, 65, 200} {
			for op := Eq; op <= Ge; op++ {
				a, b, c := column(r, p, kind, n), column(r, p, kind, n), scalar(r, p, kind)
				for _, pair := range [][2]*vector.Vector{{a, b}, {a, c}, {c, a}} {
					out := Compare(p, op, pair[0], pair[1], n)
					for i := range n {
						x, y := cell(pair[0], i), cell(pair[1], i)
						if x == nil || y == nil {
							continue
						}
						if got := vector.Values[bool](out)[i]; got != op.Holds(cmpCells(x, y)) {
							t.Fatalf("%v: %v %v %v is %v", kind, x, op, y, got)
						}
					}
					out.Release()
				}
				if CanSelect(kind) {
					checkSelect(t, r, op, a, c, n)
				}
				a.Release()
				b.Release()
				c.Release()
			}
		}
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

// someRows is a random selection of n rows, in any order, and whether there is one.
func someRows(r *rand.Rand, n int) ([]int32, bool) {
	if r.IntN(2) == 0 {
		return nil, false
	}
	var sel []int32
	for i := range n {
		if r.IntN(3) > 0 {
			sel = append(sel, int32(i))
		}
	}
	r.Shuffle(len(sel), func(i, j int) { sel[i], sel[j] = sel[j], sel[i] })
	return sel, true
}

func rowsOf(sel []int32, some bool, n int) []int32 {
	if some {
		return sel
	}
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

func checkSelect(t *testing.T, r *rand.Rand, op Cmp, v, c *vector.Vector, n int) {
	t.Helper()
	for range 4 {
		sel, some := someRows(r, n)
		var want, null []int32
		for _, row := range rowsOf(sel, some, n) {
			if x := cell(v, int(row)); x == nil {
				null = append(null, row)
			} else if op.Holds(cmpCells(x, cell(c, 0))) {
				want = append(want, row)
			}
		}
		out := make([]int32, n)
		if k := SelectCompare(op, v, c, sel, some, out); !slices.Equal(out[:k], want) {
			t.Fatalf("%v %v: selected %v, want %v", v.Kind(), op, out[:k], want)
		}
		if k := SelectValid(v, false, sel, some, out); !slices.Equal(out[:k], null) {
			t.Fatalf("%v: nulls %v, want %v", v.Kind(), out[:k], null)
		}
		if some { // in place
			if k := SelectCompare(op, v, c, sel, true, sel); !slices.Equal(sel[:k], want) {
				t.Fatalf("%v %v: in place %v, want %v", v.Kind(), op, sel[:k], want)
			}
		}
	}
}

// truths is a Bool column of every value with poisoned bytes under its NULLs.
func truths(p *vector.Pool, vals []any) *vector.Vector {
	v := p.New(vector.Bool, len(vals))
	valid := v.NewValid(true)
	raw := octets(vector.Values[bool](v))
	for i, x := range vals {
		switch x {
		case nil:
			raw[i] = 0xDB
			valid.Clear(i)
		case true:
			raw[i] = 1
		default:
			raw[i] = 0
		}
	}
	return v
}

func TestLogic(t *testing.T) {
	p := vector.NewCheckedPool()
	three := []any{true, false, nil}
	var xs, ys []any
	for len(xs) < 200 { // more than a word
		for _, x := range three {
			for _, y := range three {
				xs, ys = append(xs, x), append(ys, y)
			}
		}
	}
	a, b := truths(p, xs), truths(p, ys)
	and := func(x, y any) any {
		switch {
		case x == false || y == false:
			return false
		case x == nil || y == nil:
			return nil
		}
		return true
	}
	not := func(x any) any {
		if x == nil {
			return nil
		}
		return x != true
	}
	truth := func(v *vector.Vector, i int) any {
		if v.IsNull(i) {
			return nil
		}
		return vector.Values[bool](v)[i]
	}
	conj, disj := And(p, a, b), Or(p, a, b)
	eq := Compare(p, Eq, a, b, len(xs))
	same, differ := Distinct(p, eq, a, b, false), Distinct(p, eq, a, b, true)
	isTrue, notFalse := IsTruth(p, a, true, false), IsTruth(p, a, false, true)
	null := IsNull(p, a, true)
	for i := range xs {
		x, y := xs[i], ys[i]
		for _, c := range []struct {
			name string
			got  *vector.Vector
			want any
		}{
			{"AND", conj, and(x, y)},
			{"OR", disj, not(and(not(x), not(y)))},
			{"IS NOT DISTINCT FROM", same, x == y},
			{"IS DISTINCT FROM", differ, x != y},
			{"IS TRUE", isTrue, x == true},
			{"IS NOT FALSE", notFalse, x != false},
			{"IS NULL", null, x == nil},
		} {
			if got := truth(c.got, i); got != c.want {
				t.Fatalf("%v %s %v = %v, want %v", x, c.name, y, got, c.want)
			}
		}
	}
	hits, rest := make([]int32, len(xs)), make([]int32, len(xs))
	k, r := Partition(a, nil, false, hits, rest)
	only := make([]int32, len(xs))
	if j := SelectTrue(a, nil, false, only); !slices.Equal(only[:j], hits[:k]) || k+r != len(xs) || k != (len(xs)+2)/3 {
		t.Errorf("partition in %d and %d, selection of %d of %d", k, r, j, len(xs))
	}
	for _, v := range []*vector.Vector{a, b, conj, disj, eq, same, differ, isTrue, notFalse, null} {
		v.Release()
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	p := vector.NewCheckedPool()
	for _, kind := range kinds {
		for _, n := range []int{0, 1, 5, 64, 130} {
			rows := r.Perm(n)
			parts := make([]Part, 3)
			want := make([]any, n)
			for k := range parts {
				from, to := n*k/4, n*(k+1)/4 // the last quarter is in no part
				for _, row := range rows[from:to] {
					parts[k].Rows = append(parts[k].Rows, int32(row))
				}
				parts[k].V = column(r, p, kind, to-from)
				if k == 1 {
					parts[k].V.Release()
					parts[k].V = column(r, p, kind, 1)
				}
				for i, row := range parts[k].Rows {
					want[row] = cell(parts[k].V, i)
				}
			}
			out := Merge(p, kind, n, parts)
			for i := range n {
				got := any(nil)
				if !out.IsNull(i) {
					got = cell(out, i)
				}
				if n > 1 && got != want[i] {
					t.Fatalf("%v, %d rows: row %d is %v, want %v", kind, n, i, got, want[i])
				}
			}
			for _, part := range parts {
				part.V.Release()
			}
			out.Release()
			one := column(r, p, kind, 1)
			wide := Broadcast(p, one, n)
			for i := range n {
				if n > 1 && cell(wide, i) != cell(one, 0) {
					t.Fatalf("%v: broadcast of %v gives %v", kind, cell(one, 0), cell(wide, i))
				}
			}
			one.Release()
			wide.Release()
		}
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestCastNumber(t *testing.T) {
	p := vector.NewCheckedPool()
	vals := []float64{0, 1, -1, 1.5, -1.5, 127, 128, -128, -129, 32767, 32768, 1 << 31, -1 << 31, 1<<31 - 1, 1e18, 9.3e18, -9.3e18, 1e300, math.NaN(), math.Inf(1)}
	src := vector.Of(p, vals...)
	low := map[vector.Kind]float64{vector.Int8: math.MinInt8, vector.Int16: math.MinInt16, vector.Int32: math.MinInt32, vector.Int64: math.MinInt64}
	for to, least := range low {
		var m Misfits
		out := CastNumber(p, src, to, &m)
		for i, x := range vals {
			w := math.Trunc(x)
			ok := w >= least && w < -least
			if slices.Contains(m.Rows, int32(i)) == ok {
				t.Errorf("%v to %v: fits %v", x, to, !ok)
			}
			if got := cell(out, i); ok && got != w {
				t.Errorf("%v to %v = %v", x, to, got)
			}
		}
		var none, narrow Misfits
		back := CastNumber(p, out, vector.Int64, &none)
		again := CastNumber(p, back, vector.Int8, &narrow)
		for i := range vals {
			x := vector.Values[int64](back)[i]
			if slices.Contains(narrow.Rows, int32(i)) != (x != int64(int8(x))) {
				t.Errorf("%d to int8: misfits %v", x, narrow.Rows)
			}
		}
		out.Release()
		back.Release()
		again.Release()
	}
	src.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestNumberText(t *testing.T) {
	for in, want := range map[float64]string{
		0: "0.0", 1: "1.0", -2.5: "-2.5", 1e7: "1.0E7", 9999999: "9999999.0", 1e-3: "0.001", 9.9e-4: "9.9E-4", 1.25e10: "1.25E10",
		-1e100: "-1.0E100", math.Inf(1): "Infinity", math.Inf(-1): "-Infinity", 123456.789: "123456.789",
	} {
		if got := string(AppendFloat(nil, in, 64)); got != want {
			t.Errorf("%v is %s, want %s", in, got, want)
		}
	}
	ints := map[string]any{
		"12": int64(12), " -7 ": int64(-7), "+5": int64(5), "3.99": int64(3), "-.5": int64(0), "9223372036854775807": int64(math.MaxInt64),
		"-9223372036854775808": int64(math.MinInt64), "9223372036854775808": nil, "-9223372036854775809": nil, "99999999999999999999": nil,
		"": nil, "-": nil, "1a": nil, "1.x": nil, "1e3": nil, ".": nil, "１": nil,
	}
	for in, want := range ints {
		got, ok := ParseInt([]byte(in))
		if ok != (want != nil) || ok && got != want {
			t.Errorf("%q is %d (%v), want %v", in, got, ok, want)
		}
	}
	bools := map[string]any{"true": true, " T ": true, "YES": true, "1": true, "off": false, "N": false, "0": false, "2": nil, "": nil, "truee": nil}
	for in, want := range bools {
		got, ok := ParseBool([]byte(in))
		if ok != (want != nil) || ok && got != want {
			t.Errorf("%q is %v (%v), want %v", in, got, ok, want)
		}
	}
	for _, in := range []string{"1_0", "0x1p4", "", "e", "1e"} {
		if f, ok := ParseFloat([]byte(in)); ok {
			t.Errorf("%q is read as %v", in, f)
		}
	}
}

func ExampleCompare() {
	p := vector.NewPool()
	prices := vector.Of[int64](p, 5, 50, 500)
	limit := vector.Of[int64](p, 50) // one row: a constant
	out := Compare(p, Ge, prices, limit, 3)
	fmt.Println(vector.Values[bool](out))
	// Output: [false true true]
}
