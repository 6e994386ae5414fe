package udf_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

const benchModule = "../sdk/c/testdata/bench.wasm"

// perRow reports what a row costs.
func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

func benchCall(b *testing.B, i *udf.Instance, c *udf.Call) {
	b.Helper()
	ctx := context.Background()
	for range b.N {
		v, err := i.Call(ctx, c)
		if err != nil {
			b.Fatal(err)
		}
		v.Release()
	}
	perRow(b, c.Rows)
}

func int64s(p *vector.Pool, n int) *vector.Vector {
	v := p.New(vector.Int64, n)
	for i := range vector.Values[int64](v) {
		vector.Values[int64](v)[i] = int64(i) * 7
	}
	return v
}

func float64s(p *vector.Pool, n int) *vector.Vector {
	v := p.New(vector.Float64, n)
	for i := range vector.Values[float64](v) {
		vector.Values[float64](v)[i] = float64(i) * 1.5
	}
	return v
}

// words43 are texts of 43 bytes, as the measurements of the design have them.
func words43(p *vector.Pool, n int) *vector.Vector {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("the quick brown fox jumps over dog %08d", i)
	}
	return vector.OfStrings(p, texts...)
}

// BenchmarkAdd compares the sum of two columns of a guest with that of a loop here. A
// batch of one row shows what a call costs whatever its rows.
func BenchmarkAdd(b *testing.B) {
	m := loadFile(b, openHost(b, udf.Config{}), benchModule, udf.Limits{})
	p := vector.NewPool()
	for _, rows := range []int{1, 1024, 4096, 8192} {
		x, y := int64s(p, rows), int64s(p, rows)
		b.Run(fmt.Sprintf("int64/native/%d", rows), func(b *testing.B) {
			for range b.N {
				v := p.New(vector.Int64, rows)
				out, s, t := vector.Values[int64](v), vector.Values[int64](x), vector.Values[int64](y)
				var over int64
				for i := range out {
					z := s[i] + t[i]
					over |= (s[i] ^ z) & (t[i] ^ z)
					out[i] = z
				}
				if over < 0 {
					b.Fatal("overflow")
				}
				v.Release()
			}
			perRow(b, rows)
		})
		for _, name := range []string{"add", "add_checked"} {
			b.Run(fmt.Sprintf("int64/%s/%d", name, rows), func(b *testing.B) {
				benchCall(b, open(b, m, name), &udf.Call{Args: []*vector.Vector{x, y}, Rows: rows, Pool: p})
			})
		}
		f, g := float64s(p, rows), float64s(p, rows)
		b.Run(fmt.Sprintf("double/native/%d", rows), func(b *testing.B) {
			for range b.N {
				v := p.New(vector.Float64, rows)
				out, s, t := vector.Values[float64](v), vector.Values[float64](f), vector.Values[float64](g)
				for i := range out {
					out[i] = s[i] + t[i]
				}
				v.Release()
			}
			perRow(b, rows)
		})
		b.Run(fmt.Sprintf("double/add/%d", rows), func(b *testing.B) {
			benchCall(b, open(b, m, "add_double"), &udf.Call{Args: []*vector.Vector{f, g}, Rows: rows, Pool: p})
		})
	}
}

func BenchmarkUpper(b *testing.B) {
	m := loadFile(b, openHost(b, udf.Config{}), benchModule, udf.Limits{})
	p := vector.NewPool()
	const rows = 4096
	s := words43(p, rows)
	b.Run("native", func(b *testing.B) {
		for range b.N {
			v := p.NewVariable(vector.String, rows, len(s.Data()))
			at := 0
			for i := range rows {
				at += copy(v.Data()[at:], bytes.ToUpper(s.Bytes(i)))
				v.Offsets()[i+1] = int32(at)
			}
			v.Release()
		}
		perRow(b, rows)
	})
	b.Run("c", func(b *testing.B) {
		benchCall(b, open(b, m, "upper_ascii"), &udf.Call{Args: []*vector.Vector{s}, Rows: rows, Pool: p})
	})
}

// BenchmarkPerRow is for contrast: a call for each row.
func BenchmarkPerRow(b *testing.B) {
	m := loadFile(b, openHost(b, udf.Config{}), benchModule, udf.Limits{})
	p := vector.NewPool()
	const rows = 1024
	x := int64s(p, rows)
	i := open(b, m, "add")
	sel := make([]int32, rows)
	for r := range sel {
		sel[r] = int32(r)
	}
	for range b.N {
		for r := range rows {
			v, err := i.Call(context.Background(), &udf.Call{Args: []*vector.Vector{x, x}, Rows: 1, Sel: sel[r : r+1], Pool: p})
			if err != nil {
				b.Fatal(err)
			}
			v.Release()
		}
	}
	perRow(b, rows)
}

// BenchmarkLoad measures loading from nothing and from the cache directory.
func BenchmarkLoad(b *testing.B) {
	code, err := os.ReadFile(kinds)
	if err != nil {
		b.Fatal(err)
	}
	for _, cached := range []bool{false, true} {
		b.Run(fmt.Sprintf("cached=%v", cached), func(b *testing.B) {
			c := udf.Config{}
			if cached {
				c.CacheDir = b.TempDir() + "/cache"
			}
			for range b.N {
				h, err := udf.Open(context.Background(), c)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := h.Load(context.Background(), "kinds", code, udf.Limits{}); err != nil {
					b.Fatal(err)
				}
				h.Close()
			}
		})
	}
}
