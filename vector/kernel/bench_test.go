package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/vector"
)

func BenchmarkKernel(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	p := vector.NewPool()
	n := vector.Target
	x, y, d := p.New(vector.Int64, n), p.New(vector.Int64, n), p.New(vector.Decimal, n)
	for i := range n {
		vector.Values[int64](x)[i] = r.Int64N(100_000)
		vector.Values[int64](y)[i] = r.Int64N(100_000) + 1
		vector.Values[vector.Dec](d)[i] = DecOf(r.Int64N(100_000))
	}
	c, cd := vector.Of[int64](p, 123), vector.Of(p, DecOf(908))
	out := make([]int32, n)
	var m Misfits
	mul := DecimalSpec{ScaleA: 2, ScaleB: 3, Precision: 24, Scale: 5, Fits: true}
	div := DecimalSpec{ScaleA: 2, ScaleB: 0, Precision: 38, Scale: 6}
	for _, k := range []struct {
		name string
		run  func() *vector.Vector
	}{
		{"add", func() *vector.Vector { return Arith(p, Add, x, y, n, &m) }},
		{"mul_const", func() *vector.Vector { return Arith(p, Mul, x, c, n, &m) }},
		{"mod_const", func() *vector.Vector { return Arith(p, Mod, x, c, n, &m) }},
		{"div", func() *vector.Vector { return Arith(p, Div, x, y, n, &m) }},
		{"decimal_mul_const", func() *vector.Vector { return ArithDec(p, Mul, d, cd, n, mul, &m) }},
		{"decimal_mul", func() *vector.Vector { return ArithDec(p, Mul, d, d, n, mul, &m) }},
		{"decimal_div_const", func() *vector.Vector { return ArithDec(p, Div, d, cd, n, div, &m) }},
		{"to_decimal", func() *vector.Vector { return NumberToDecimal(p, x, 19, 0, &m) }},
		{"less_const", func() *vector.Vector { return Compare(p, Lt, x, c, n) }},
		{"select_const", func() *vector.Vector { SelectCompare(Lt, x, c, nil, false, out); return nil }},
	} {
		b.Run(k.name, func(b *testing.B) {
			for b.Loop() {
				if v := k.run(); v != nil {
					v.Release()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
		})
	}
}
