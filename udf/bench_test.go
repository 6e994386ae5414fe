package udf_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

const benchModule = "../sdk/c/testdata/bench.wasm"

// perRow reports what a row costs.
func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

func benchCall(b *testing.B, i *udf.Instance, c *udf.Call) {
	b.Helper()
	ctx := context.Background()
	b.ResetTimer() // to make an instance takes long
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

// BenchmarkAdd compares the sum of two columns by guests with that of the engine's kernel.
// A batch of one row shows what a call costs whatever its rows.
func BenchmarkAdd(b *testing.B) {
	h := openHost(b, udf.Config{})
	c, g := loadFile(b, h, benchModule, udf.Limits{}), loadFile(b, h, goGuest, udf.Limits{})
	p := vector.NewPool()
	for _, rows := range []int{1, 1024, 4096, 8192} {
		for _, k := range []struct {
			name   string
			x, y   *vector.Vector
			guests map[string]*udf.Module
		}{
			{"int64", int64s(p, rows), int64s(p, rows), map[string]*udf.Module{"add": c, "add_checked": c, "go:add": g, "go:add_rows": g}},
			{"double", float64s(p, rows), float64s(p, rows), map[string]*udf.Module{"add_double": c}},
		} {
			b.Run(fmt.Sprintf("%s/kernel/%d", k.name, rows), func(b *testing.B) {
				var m kernel.Misfits
				for range b.N {
					kernel.Arith(p, kernel.Add, k.x, k.y, rows, &m).Release()
				}
				perRow(b, rows)
			})
			for _, name := range slices.Sorted(maps.Keys(k.guests)) {
				b.Run(fmt.Sprintf("%s/%s/%d", k.name, name, rows), func(b *testing.B) {
					i := open(b, k.guests[name], strings.TrimPrefix(name, "go:"))
					benchCall(b, i, &udf.Call{Args: []*vector.Vector{k.x, k.y}, Rows: rows, Pool: p})
				})
			}
		}
	}
}

// BenchmarkUpper compares with one loop over all bytes, which is less than the engine's
// UPPER does: that goes text by text and knows more letters.
func BenchmarkUpper(b *testing.B) {
	m := loadFile(b, openHost(b, udf.Config{}), benchModule, udf.Limits{})
	p := vector.NewPool()
	const rows = 4096
	s := words43(p, rows)
	b.Run("native", func(b *testing.B) {
		for range b.N {
			upperNative(p, s).Release()
		}
		perRow(b, rows)
	})
	call := &udf.Call{Args: []*vector.Vector{s}, Rows: rows, Pool: p}
	b.Run("c", func(b *testing.B) { benchCall(b, open(b, m, "upper_ascii"), call) })
	g := loadFile(b, openHost(b, udf.Config{}), goGuest, udf.Limits{})
	b.Run("go", func(b *testing.B) { benchCall(b, open(b, g, "upper_ascii"), call) })
}

func upperNative(p *vector.Pool, s *vector.Vector) *vector.Vector {
	v := p.NewVariable(vector.String, s.Len(), len(s.Data()))
	out := v.Data()
	for i, c := range s.Data() {
		if c-'a' < 26 {
			c -= 'a' - 'A'
		}
		out[i] = c
	}
	copy(v.Offsets(), s.Offsets())
	return v
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

// BenchmarkLoad measures loading a guest of 2 MB from nothing and from the cache directory.
func BenchmarkLoad(b *testing.B) {
	code, err := os.ReadFile(goGuest)
	if err != nil {
		b.Fatal(err)
	}
	for _, cached := range []bool{false, true} {
		b.Run(fmt.Sprintf("cached=%v", cached), func(b *testing.B) {
			c := udf.Config{}
			if cached {
				c.CacheDir = b.TempDir() + "/cache"
			}
			load := func() {
				h, err := udf.Open(context.Background(), c)
				if err != nil {
					b.Fatal(err)
				}
				defer h.Close()
				if _, err := h.Load(context.Background(), "demo", code, udf.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
			if cached {
				load()
			}
			b.ResetTimer()
			for range b.N {
				load()
			}
		})
	}
}
