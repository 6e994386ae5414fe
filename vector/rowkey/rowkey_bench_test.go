package rowkey

import (
	"fmt"
	"testing"

	"github.com/weirdb/weir/vector"
)

func benchEncode(b *testing.B, batch *vector.Batch, kinds ...vector.Kind) {
	e := NewEncoder(Layout{Kinds: kinds})
	cols := columns(e.layout)
	for b.Loop() {
		e.Encode(batch, cols)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.Len()), "ns/row")
}

func BenchmarkEncodeInt64(b *testing.B) {
	p := vector.NewPool()
	v := p.New(vector.Int64, vector.Target)
	for i, vals := 0, vector.Values[int64](v); i < len(vals); i++ {
		vals[i] = int64(i)
	}
	benchEncode(b, vector.NewBatch(vector.Target, []*vector.Vector{v}, nil), vector.Int64)
}

func BenchmarkEncodeTwoInt64(b *testing.B) {
	p := vector.NewPool()
	v := p.New(vector.Int64, vector.Target)
	for i, vals := 0, vector.Values[int64](v); i < len(vals); i++ {
		vals[i] = int64(i)
	}
	benchEncode(b, vector.NewBatch(vector.Target, []*vector.Vector{v, v.Retain()}, nil), vector.Int64, vector.Int64)
}

func BenchmarkEncodeText95(b *testing.B) {
	p := vector.NewPool()
	c := vector.NewColumnBuilder(p, vector.String)
	for i := range vector.Target {
		c.AppendString(fmt.Sprintf("%095d", i))
	}
	benchEncode(b, vector.NewBatch(vector.Target, []*vector.Vector{c.Finish()}, nil), vector.String)
}
