package guesttest_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// open loads the functions of testdata/demo, which `make plugins` builds.
func open(tb testing.TB) *udf.Module {
	tb.Helper()
	code, err := os.ReadFile("../../testdata/demo.wasm")
	if err != nil {
		tb.Fatal(err)
	}
	host, err := udf.Open(context.Background(), udf.Config{Log: func(l udf.Line) { tb.Logf("%s: %s", l.Function, l.Text) }})
	if err != nil {
		tb.Fatal(err)
	}
	m, err := host.Load(context.Background(), "demo.wasm", code, udf.Limits{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		m.Close()
		host.Close()
	})
	return m
}

func BenchmarkGuest(b *testing.B) {
	const rows = 4096
	m := open(b)
	p := vector.NewPool()
	longs, texts := make([]int64, rows), make([]string, rows)
	for i := range longs {
		longs[i] = int64(i) + 1
		texts[i] = fmt.Sprintf("https://www.example%d.com/path/%d?x=%d", i%1000, i, i*3)
	}
	n, s := vector.Of(p, longs...), vector.OfStrings(p, texts...)
	for _, f := range []struct {
		name string
		args []*vector.Vector
	}{
		{"add", []*vector.Vector{n, n}},
		{"add_rows", []*vector.Vector{n, n}},
		{"divide", []*vector.Vector{n, n}},
		{"coalesce2", []*vector.Vector{n, n}},
		{"upper_ascii", []*vector.Vector{s}},
		{"upper_string", []*vector.Vector{s}},
	} {
		for _, size := range []int{1, rows} {
			b.Run(fmt.Sprintf("%s/%d", f.name, size), func(b *testing.B) {
				fn, _ := m.Function(f.name)
				in, err := fn.Open(context.Background(), nil)
				if err != nil {
					b.Fatal(err)
				}
				defer in.Close()
				b.ReportAllocs()
				for b.Loop() {
					out, err := in.Call(context.Background(), &udf.Call{Args: f.args, Rows: size, Pool: p})
					if err != nil {
						b.Fatal(err)
					}
					out.Release()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/row")
				b.ReportMetric(float64(fn.Metrics().Fuel)/float64(fn.Metrics().Rows), "fuel/row")
			})
		}
	}
}

// BenchmarkNative is what BenchmarkGuest is compared with: the same loop with its
// result in a column of the pool.
func BenchmarkNative(b *testing.B) {
	const rows = 4096
	p := vector.NewPool()
	in := vector.Of(p, make([]int64, rows)...)
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			out := p.New(vector.Int64, rows)
			x, y, z := vector.Values[int64](in), vector.Values[int64](in)[:rows], vector.Values[int64](out)[:rows]
			for i, v := range x[:rows] {
				z[i] = v + y[i]
			}
			out.Release()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
	})
}
