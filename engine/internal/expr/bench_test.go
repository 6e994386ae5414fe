package expr

import (
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// benchBatch has the columns i BIGINT, j BIGINT, d DECIMAL(10, 2), s STRING, u STRING.
func benchBatch(p *vector.Pool) (*vector.Batch, sqltype.Schema) {
	r := rand.New(rand.NewPCG(1, 2))
	n := vector.Target
	i, j, d := p.New(vector.Int64, n), p.New(vector.Int64, n), p.New(vector.Decimal, n)
	s, u := vector.NewColumnBuilder(p, vector.String), vector.NewColumnBuilder(p, vector.String)
	names := []string{"apple", "google", "facebook", "baidu", "channel-4711"}
	for k := range n {
		vector.Values[int64](i)[k] = r.Int64N(100_000)
		vector.Values[int64](j)[k] = r.Int64N(100_000) + 1
		vector.Values[vector.Dec](d)[k] = decOf(r.Int64N(1_000_000))
		s.AppendString(names[r.IntN(len(names))])
		u.AppendString("https://www.nexmark.com/abo/bcd/efgh/item.htm?query=1&channel_id=" + names[r.IntN(4)])
	}
	schema := sqltype.Schema{
		{Name: "i", Type: sqltype.BigIntType},
		{Name: "j", Type: sqltype.BigIntType},
		{Name: "d", Type: sqltype.DecimalOf(10, 2)},
		{Name: "s", Type: sqltype.StringType},
		{Name: "u", Type: sqltype.StringType},
	}
	return vector.NewBatch(n, []*vector.Vector{i, j, d, s.Finish(), u.Finish()}, nil), schema
}

func benchExprs(schema sqltype.Schema) map[string]Expr {
	col := func(i int) Expr { return NewColumn(schema, i, errs.Position{}) }
	dec := &Literal{Value: decOf(908), T: sqltype.DecimalOf(3, 3).Required()}
	return map[string]Expr{
		"mod_eq":        call("=", call("MOD", col(0), num(123)), num(0)),
		"int_lt":        call("<", col(0), num(50_000)),
		"int_and":       call("AND", call(">", col(0), num(50_000)), call("<", col(1), num(50_000))),
		"int_add":       call("+", col(0), col(1)),
		"int_mul_const": call("*", col(0), num(7)),
		"int_div":       call("/", col(0), col(1)),
		"dec_mul":       call("*", dec, col(2)),
		"dec_mul_int":   call("*", dec, col(0)),
		"dec_div":       call("/", col(2), col(0)),
		"str_eq":        call("=", col(3), str("google")),
		"str_in":        call("IN", col(3), str("google"), str("baidu")),
		"like_prefix":   call("LIKE", col(3), str("channel%")),
		"case":          caseOf(call(">", col(0), num(50_000)), col(0), call("<", col(1), num(10)), num(2), num(3)),
		"lower":         call("LOWER", col(3)),
		"split_index":   call("SPLIT_INDEX", col(4), str("/"), num(3)),
		"regexp":        call("REGEXP_EXTRACT", col(4), str("(&|^)channel_id=([^&]*)"), num(2)),
	}
}

func BenchmarkEval(b *testing.B) {
	p := vector.NewPool()
	batch, schema := benchBatch(p)
	for name, e := range benchExprs(schema) {
		b.Run(name, func(b *testing.B) {
			ev, err := Compile(e)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				v, err := ev.Eval(p, batch)
				if err != nil {
					b.Fatal(err)
				}
				v.Release()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vector.Target, "ns/row")
		})
	}
}

func BenchmarkSelect(b *testing.B) {
	p := vector.NewPool()
	batch, schema := benchBatch(p)
	for _, name := range []string{"mod_eq", "int_lt", "int_and", "str_eq", "str_in", "like_prefix"} {
		b.Run(name, func(b *testing.B) {
			pr, err := CompilePredicate(benchExprs(schema)[name])
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				v, err := pr.Select(p, batch)
				if err != nil {
					b.Fatal(err)
				}
				v.Release()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vector.Target, "ns/row")
		})
	}
}
