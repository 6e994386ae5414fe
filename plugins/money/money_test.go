package money

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	weir "github.com/weirdb/weir/sdk/go"
)

func TestRoundMoney(t *testing.T) {
	for _, c := range []struct{ amount, currency, even, up string }{
		{"12.345", "EUR", "12.3400", "12.3500"},
		{"12.355", "EUR", "12.3600", "12.3600"},
		{"-12.345", "EUR", "-12.3400", "-12.3500"},
		{"12.3450000001", "USD", "12.3500", "12.3500"},
		{"0.5", "JPY", "0.0000", "1.0000"},
		{"1.5", "JPY", "2.0000", "2.0000"},
		{"-0.5", "KRW", "0.0000", "-1.0000"},
		{"1.0005", "KWD", "1.0000", "1.0010"},
		{"1.00005", "CLF", "1.0000", "1.0001"},
		{"9999999999999999999999999999.9999999999", "EUR", "10000000000000000000000000000.0000", "10000000000000000000000000000.0000"},
		{"0", "CHF", "0.0000", "0.0000"},
	} {
		amount, err := weir.ParseDecimal(c.amount, scaleIn)
		if err != nil {
			t.Fatal(c.amount, err)
		}
		even, err := roundMoney(amount, c.currency)
		if got := even.Text(scaleOut); err != nil || got != c.even {
			t.Errorf("round_money(%s, %s) = %s, %v; want %s", c.amount, c.currency, got, err, c.even)
		}
		up, err := roundMoneyHalfUp(amount, c.currency)
		if got := up.Text(scaleOut); err != nil || got != c.up {
			t.Errorf("round_money_half_up(%s, %s) = %s, %v; want %s", c.amount, c.currency, got, err, c.up)
		}
	}
}

func TestCurrencies(t *testing.T) {
	for code, want := range map[string]int{"JPY": 0, "EUR": 2, "BHD": 3, "UYW": 4} {
		if got, err := minorUnits(code); err != nil || int(got) != want {
			t.Errorf("minor units of %s are %d, %v; want %d", code, got, err, want)
		}
	}
	for _, code := range []string{"", "EU", "eur", "EURO", "XXX", "XAU", "E\x00R", "ÄÖ", "ZZZ", "@@@", "[[["} {
		if got, err := unitsOf(code); err == nil {
			t.Errorf("%q has %d minor units", code, got)
		}
	}
	seen := map[string]bool{}
	for _, list := range currencies {
		for _, code := range strings.Fields(list) {
			if seen[code] || len(code) != 3 {
				t.Errorf("%s stands twice, or is no code", code)
			}
			seen[code] = true
		}
	}
}

// amounts draws numbers of all sizes, halves among them.
func amounts(seed uint64) func() weir.Decimal {
	r := rand.New(rand.NewPCG(seed, 0))
	return func() weir.Decimal {
		v := new(big.Int).SetUint64(r.Uint64())
		v.Mul(v, new(big.Int).SetUint64(r.Uint64()))
		v.Rsh(v, uint(r.IntN(128)))
		if r.IntN(2) == 0 { // on a half of a unit
			step := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(6+r.IntN(5))), nil)
			v.Sub(v, new(big.Int).Rem(v, step))
			v.Add(v, step.Rsh(step, 1))
		}
		v.Rem(v, power(38))
		if r.IntN(2) == 0 {
			v.Neg(v)
		}
		return fromBig(v)
	}
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func fromBig(v *big.Int) weir.Decimal {
	lo := new(big.Int).And(v, new(big.Int).SetUint64(^uint64(0))).Uint64()
	return weir.DecimalFromParts(new(big.Int).Rsh(v, 64).Int64(), lo)
}

func toBig(d weir.Decimal) *big.Int {
	hi, lo := d.Parts()
	return new(big.Int).Add(new(big.Int).Lsh(big.NewInt(hi), 64), new(big.Int).SetUint64(lo))
}

// rounded is v / 10^n by math/big.
func rounded(v *big.Int, n int, even bool) *big.Int {
	by := power(n)
	q, r := new(big.Int).QuoRem(v, by, new(big.Int))
	switch c := r.Abs(r).Lsh(r, 1).Cmp(by); {
	case c > 0, c == 0 && (!even || q.Bit(0) == 1):
		q.Add(q, big.NewInt(int64(v.Sign())))
	}
	return q
}

var sample = []string{"JPY", "EUR", "KWD", "CLF"}

func TestAgainstBig(t *testing.T) {
	const seed = 4217
	next := amounts(seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 20_000 {
		amount, currency := next(), sample[r.IntN(len(sample))]
		units, _ := unitsOf(currency)
		up := power(scaleOut - units)
		for _, even := range []bool{true, false} {
			f := roundMoney
			if !even {
				f = roundMoneyHalfUp
			}
			got, err := f(amount, currency)
			want := rounded(toBig(amount), scaleIn-units, even)
			if err != nil || toBig(got).Cmp(want.Mul(want, up)) != 0 {
				t.Fatalf("seed %d: %s %s, to even %v: %s, %v; want %s", seed, amount.Text(scaleIn), currency, even, got.Text(scaleOut), err, want)
			}
		}
		rate := next()
		want := rounded(new(big.Int).Mul(toBig(amount), toBig(rate)), 2*scaleIn-units, true)
		want.Mul(want, up)
		got, err := convertMoney(amount, rate, currency)
		if fits := new(big.Int).Abs(want).Cmp(power(38)) < 0; fits != (err == nil) || fits && toBig(got).Cmp(want) != 0 {
			t.Fatalf("seed %d: %s x %s %s: %s, %v; want %s", seed, amount.Text(scaleIn), rate.Text(scaleIn), currency, got.Text(scaleOut), err, want)
		}
	}
}

func TestMinor(t *testing.T) {
	const seed = 4218
	next := amounts(seed)
	for i := range 20_000 {
		amount, currency := next(), sample[i%len(sample)]
		units, _ := unitsOf(currency)
		want := rounded(toBig(amount), scaleIn-units, true)
		got, err := toMinor(amount, currency)
		if want.IsInt64() != (err == nil) || err == nil && got != want.Int64() {
			t.Fatalf("seed %d: to_minor(%s, %s) = %d, %v; want %s", seed, amount.Text(scaleIn), currency, got, err, want)
		}
		if err != nil {
			continue
		}
		back, err := fromMinor(got, currency)
		even, _ := roundMoney(amount, currency)
		if err != nil || back != even {
			t.Fatalf("seed %d: from_minor(%d, %s) = %s, %v; want %s", seed, got, currency, back.Text(scaleOut), err, even.Text(scaleOut))
		}
	}
}

func TestSplitMoney(t *testing.T) {
	const seed = 4219
	next := amounts(seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 2_000 {
		amount, currency, parts := next(), sample[r.IntN(len(sample))], 1+r.Int32N(50)
		units, _ := unitsOf(currency)
		list, err := splitMoney(amount, currency, parts)
		if err != nil || len(list) != int(parts) {
			t.Fatal(err, len(list))
		}
		sum, unit := new(big.Int), power(scaleOut-units)
		for _, p := range list {
			sum.Add(sum, toBig(p))
			if d := new(big.Int).Sub(toBig(list[0]), toBig(p)); d.Abs(d).Cmp(unit) > 0 {
				t.Fatalf("seed %d: parts %s and %s of %s %s", seed, list[0].Text(scaleOut), p.Text(scaleOut), amount.Text(scaleIn), currency)
			}
		}
		whole, _ := roundMoney(amount, currency)
		if sum.Cmp(toBig(whole)) != 0 {
			t.Fatalf("seed %d: parts of %s %s sum up to %s", seed, amount.Text(scaleIn), currency, sum)
		}
	}
	for _, parts := range []int32{0, -1, most + 1} {
		if _, err := splitMoney(weir.DecimalOf(1), "EUR", parts); err == nil {
			t.Errorf("split into %d parts", parts)
		}
	}
}
