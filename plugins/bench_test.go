package plugins_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// BenchmarkPlugins measures the functions in C beside loops in Go, in batches of 4096 rows.
func BenchmarkPlugins(b *testing.B) {
	const rows = 4096
	p := vector.NewPool()
	lines, a := make([]string, rows), make([]string, rows)
	var places [4][]float64
	for i := range rows {
		lines[i] = fmt.Sprintf("The quick brown fox jumps over the lazy dog. It does so %d times, and barks.", i)
		a[i] = "a"
		for k, most := range []float64{90, 180, 90, 180} {
			places[k] = append(places[k], math.Mod(float64(i*(7+k)), 2*most)-most)
		}
	}
	text, letter := vector.OfStrings(p, lines...), vector.OfStrings(p, "a")
	lat1, lon1, lat2, lon2 := vector.Of(p, places[0]...), vector.Of(p, places[1]...), vector.Of(p, places[2]...), vector.Of(p, places[3]...)
	twelve := vector.Of(p, int32(12))
	numbers := func(f func(i int) float64) func() {
		return func() {
			v := p.New(vector.Float64, rows)
			for i := range vector.Values[float64](v) {
				vector.Values[float64](v)[i] = f(i)
			}
			v.Release()
		}
	}
	for _, c := range []struct {
		plugin, function string
		args             []*vector.Vector
		constant         []bool
		native           func()
	}{
		{"textstats", "count_char", []*vector.Vector{text, letter}, []bool{false, true}, numbers(func(i int) float64 { return float64(strings.Count(text.Text(i), "a")) })},
		{"textstats", "words", []*vector.Vector{text}, nil, numbers(func(i int) float64 { return float64(len(strings.Fields(text.Text(i)))) })},
		{"textstats", "reading_ease", []*vector.Vector{text}, nil, nil},
		{"geo", "haversine", []*vector.Vector{lat1, lon1, lat2, lon2}, nil, numbers(func(i int) float64 {
			const degree = math.Pi / 180
			p1, p2 := places[0][i]*degree, places[2][i]*degree
			s, t := math.Sin((p2-p1)/2), math.Sin((places[3][i]-places[1][i])*degree/2)
			return 2 * radius * math.Asin(math.Sqrt(min(1, s*s+math.Cos(p1)*math.Cos(p2)*t*t)))
		})},
		{"geo", "geohash", []*vector.Vector{lat1, lon1, twelve}, []bool{false, false, true}, nil},
	} {
		module, err := os.ReadFile(c.plugin + "/" + c.plugin + ".wasm")
		if err != nil {
			b.Fatal(err)
		}
		m := load(b, c.plugin, module)
		f, _ := m.Function(c.function)
		instance, err := f.Open(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		defer instance.Close()
		perRow := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		}
		b.Run(c.function+"/c", func(b *testing.B) {
			for b.Loop() {
				out, err := instance.Call(context.Background(), &udf.Call{Args: c.args, Constant: c.constant, Rows: rows, Pool: p})
				if err != nil {
					b.Fatal(err)
				}
				out.Release()
			}
			perRow(b)
		})
		if c.native != nil {
			b.Run(c.function+"/go", func(b *testing.B) {
				for b.Loop() {
					c.native()
				}
				perRow(b)
			})
		}
	}
}
