package udf_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// BenchmarkMetering calls every function that is shipped, metered and not, in turns, and
// reports the geometric mean of what metering with accounting of the stack adds to a call.
func BenchmarkMetering(b *testing.B) {
	const rows = 4096
	p := vector.NewPool()
	lines, currencies := make([]string, rows), make([]string, rows)
	var places [4][]float64
	amounts, units := make([]vector.Dec, rows), make([]int64, rows)
	for i := range rows {
		lines[i] = fmt.Sprintf("The quick brown fox jumps over the lazy dog. It does so %d times, and barks.", i)
		currencies[i] = []string{"EUR", "USD", "JPY", "TND"}[i%4]
		amounts[i], units[i] = vector.DecFromInt64(int64(i)*1234567), int64(i)*1001
		for k, most := range []float64{90, 180, 90, 180} {
			places[k] = append(places[k], math.Mod(float64(i*(7+k)), 2*most)-most)
		}
	}
	text, letter, currency := vector.OfStrings(p, lines...), vector.OfStrings(p, "a"), vector.OfStrings(p, currencies...)
	lat1, lon1, lat2, lon2 := vector.Of(p, places[0]...), vector.Of(p, places[1]...), vector.Of(p, places[2]...), vector.Of(p, places[3]...)
	amount, unit, three, twelve := vector.Of(p, amounts...), vector.Of(p, units...), vector.Of(p, int32(3)), vector.Of(p, int32(12))
	plain := openHost(b, udf.Config{})
	udf.CountNothing(plain)
	metered := openHost(b, udf.Config{})
	logs := map[string]float64{}
	for _, c := range []struct {
		module, function string
		args             []*vector.Vector
		constant         []bool
	}{
		{"textstats", "count_char", []*vector.Vector{text, letter}, []bool{false, true}},
		{"textstats", "words", []*vector.Vector{text}, nil},
		{"textstats", "reading_ease", []*vector.Vector{text}, nil},
		{"geo", "haversine", []*vector.Vector{lat1, lon1, lat2, lon2}, nil},
		{"geo", "geohash", []*vector.Vector{lat1, lon1, twelve}, []bool{false, false, true}},
		{"money", "minor_units", []*vector.Vector{currency}, nil},
		{"money", "convert_money", []*vector.Vector{amount, amount, currency}, nil},
		{"money", "to_minor", []*vector.Vector{amount, currency}, nil},
		{"money", "from_minor", []*vector.Vector{unit, currency}, nil},
		{"money", "split_money", []*vector.Vector{amount, currency, three}, []bool{false, false, true}},
		{"money", "round_money", []*vector.Vector{amount, currency}, nil},
		{"money", "round_money_half_up", []*vector.Vector{amount, currency}, nil},
	} {
		file := fmt.Sprintf("../plugins/%s/%[1]s.wasm", c.module)
		call := &udf.Call{Args: c.args, Constant: c.constant, Rows: rows, Pool: p}
		use := func(h *udf.Host) func() {
			i := open(b, loadFile(b, h, file, udf.Limits{}), c.function)
			return func() {
				v, err := i.Call(context.Background(), call)
				if err != nil {
					b.Fatal(err)
				}
				v.Release()
			}
		}
		b.Run(c.module+"/"+c.function, func(b *testing.B) {
			ratio := beside(b, rows, use(plain), use(metered))
			logs[c.function] = math.Log(ratio)
		})
	}
	sum := 0.0
	for _, l := range logs {
		sum += l
	}
	b.Run("mean", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(100*(math.Exp(sum/float64(len(logs)))-1), "%overhead")
	})
}
