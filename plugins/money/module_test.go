package money

import (
	"math/rand/v2"
	"os"
	"testing"

	weir "github.com/weirdb/weir/sdk/go"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// TestModule calls the committed module: it computes what its source does.
func TestModule(t *testing.T) {
	code, err := os.ReadFile("money.wasm")
	if err != nil {
		t.Fatal(err)
	}
	host, err := udf.Open(t.Context(), udf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := host.Load(t.Context(), "money.wasm", code, udf.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	defer m.Close()
	const seed, rows = 4220, 5000
	next, r, p := amounts(seed), rand.New(rand.NewPCG(seed, 1)), vector.NewCheckedPool()
	var amount []vector.Dec
	var currency []string
	var native []weir.Decimal
	for range rows {
		a := next()
		native = append(native, a)
		hi, lo := a.Parts()
		amount = append(amount, decOf(hi, lo))
		currency = append(currency, sample[r.IntN(len(sample))])
	}
	args := []*vector.Vector{vector.Of(p, amount...), vector.OfStrings(p, currency...)}
	args[0].NewValid(true).Clear(17)
	for name, f := range map[string]func(weir.Decimal, string) (weir.Decimal, error){"round_money": roundMoney, "round_money_half_up": roundMoneyHalfUp} {
		fn, _ := m.Function(name)
		in, err := fn.Open(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := in.Call(t.Context(), &udf.Call{Args: args, Rows: rows, Pool: p})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range vector.Values[vector.Dec](out) {
			want, _ := f(native[i], currency[i])
			hi, lo := want.Parts()
			if null := i == 17; out.IsNull(i) != null || !null && got != decOf(hi, lo) {
				t.Fatalf("seed %d: %s(%s, %s) is %v, want %s", seed, name, native[i].Text(scaleIn), currency[i], got, want.Text(scaleOut))
			}
		}
		out.Release()
		in.Close()
	}
	for _, a := range args {
		a.Release()
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func decOf(hi int64, lo uint64) vector.Dec {
	high, low := vector.DecFromInt64(hi), vector.DecFromInt64(int64(lo>>1))
	return high.Mul(vector.DecFromInt64(1 << 32)).Mul(vector.DecFromInt64(1 << 32)).Add(low.Add(low)).Add(vector.DecFromInt64(int64(lo & 1)))
}
