package weir

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

var modes = []Rounding{HalfUp, HalfEven, HalfDown, TowardZero, AwayFromZero, Floor, Ceiling}

func toBig(d Decimal) *big.Int {
	hi, lo := d.Parts()
	return new(big.Int).Add(new(big.Int).Lsh(big.NewInt(hi), 64), new(big.Int).SetUint64(lo))
}

func fromBig(v *big.Int) (Decimal, bool) {
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	if v.CmpAbs(limit) >= 0 && v.Cmp(new(big.Int).Neg(limit)) != 0 {
		return Decimal{}, false
	}
	lo := new(big.Int).And(v, new(big.Int).SetUint64(^uint64(0))).Uint64()
	return DecimalFromParts(new(big.Int).Rsh(v, 64).Int64(), lo), true
}

func tenTo(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// quotient is x / y rounded, by math/big.
func quotient(x, y *big.Int, mode Rounding) *big.Int {
	q, r := new(big.Int).QuoRem(x, y, new(big.Int))
	if r.Sign() == 0 {
		return q
	}
	negative := x.Sign()*y.Sign() < 0
	c := new(big.Int).Lsh(new(big.Int).Abs(r), 1).CmpAbs(y)
	up := false
	switch mode {
	case HalfUp:
		up = c >= 0
	case HalfEven:
		up = c > 0 || c == 0 && q.Bit(0) == 1
	case HalfDown:
		up = c > 0
	case AwayFromZero:
		up = true
	case Floor:
		up = negative
	case Ceiling:
		up = !negative
	}
	if up && negative {
		q.Sub(q, big.NewInt(1))
	} else if up {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func randomDecimal(r *rand.Rand) Decimal {
	d := DecimalFromParts(int64(r.Uint64()), r.Uint64())
	switch r.IntN(4) {
	case 0:
		d = DecimalOf(int64(d.lo))
	case 1:
		d = DecimalOf(int64(r.IntN(2001)) - 1000)
	case 2:
		d = DecimalFromParts(d.hi>>r.IntN(64), d.lo)
	}
	if d.hi == -1<<63 && d.lo == 0 { // no DECIMAL has the least value
		d.lo = 1
	}
	return d
}

// TestDecimalAgainstBig compares every operation with math/big.
func TestDecimalAgainstBig(t *testing.T) {
	const seed = 38
	r := rand.New(rand.NewPCG(seed, 0))
	check := func(what string, got Decimal, ok bool, want *big.Int) {
		t.Helper()
		w, fits := fromBig(want)
		if fits && w.hi == -1<<63 && w.lo == 0 {
			return // on the edge: either answer will do
		}
		if ok != fits || ok && got != w {
			t.Fatalf("seed %d: %s = %s, %v; want %s", seed, what, toBig(got), ok, want)
		}
	}
	for range 100_000 {
		a, b := randomDecimal(r), randomDecimal(r)
		x, y := toBig(a), toBig(b)
		sum, ok := a.Add(b)
		check(x.String()+" + "+y.String(), sum, ok, new(big.Int).Add(x, y))
		diff, ok := a.Sub(b)
		check(x.String()+" - "+y.String(), diff, ok, new(big.Int).Sub(x, y))
		product, ok := a.Mul(b)
		check(x.String()+" * "+y.String(), product, ok, new(big.Int).Mul(x, y))
		check("-"+x.String(), a.Neg(), true, new(big.Int).Neg(x))
		if a.Cmp(b) != x.Cmp(y) || a.Sign() != x.Sign() || a.Less(b) != (x.Cmp(y) < 0) {
			t.Fatalf("%s and %s are compared wrongly", x, y)
		}
		digits, mode := r.IntN(39), modes[r.IntN(len(modes))]
		rounded, ok := a.MulRound(b, digits, mode)
		check("MulRound", rounded, ok, quotient(new(big.Int).Mul(x, y), tenTo(digits), mode))
		if b != (Decimal{}) {
			rounded, ok = a.QuoRound(b, digits, mode)
			check("QuoRound", rounded, ok, quotient(new(big.Int).Mul(x, tenTo(digits)), y, mode))
		}
		from, to := r.IntN(39), r.IntN(39)
		scaled, ok := a.Rescale(from, to, mode)
		want := new(big.Int).Mul(x, tenTo(max(0, to-from)))
		if from > to {
			want = quotient(x, tenTo(from-to), mode)
		}
		check("Rescale", scaled, ok, want)
		if fits := x.CmpAbs(tenTo(digits)) < 0; digits > 0 && a.Fits(digits) != fits {
			t.Fatalf("%s fits %d digits: %v", x, digits, !fits)
		}
		if v, ok := a.Int64(); ok != x.IsInt64() || ok && v != x.Int64() {
			t.Fatalf("Int64 of %s is %d, %v", x, v, ok)
		}
	}
	if _, ok := DecimalOf(1).QuoRound(Decimal{}, 0, HalfUp); ok {
		t.Error("a number is divided by zero")
	}
}

func TestDecimalText(t *testing.T) {
	for _, c := range []struct {
		text  string
		scale int
		want  string // "" when it is no such number
	}{
		{"12.5", 2, "12.50"},
		{"-12.5", 2, "-12.50"},
		{"+1", 0, "1"},
		{".5", 1, "0.5"},
		{"5.", 1, "5.0"},
		{"0.001", 3, "0.001"},
		{"-0.05", 2, "-0.05"},
		{"1.500", 1, "1.5"},
		{"1.55", 1, ""},
		{"", 2, ""},
		{".", 2, ""},
		{"-", 0, ""},
		{"1e5", 2, ""},
		{"1.2.3", 4, ""},
		{" 1", 0, ""},
		{"0", 38, "0.00000000000000000000000000000000000000"},
		{"99999999999999999999999999999999999999", 0, "99999999999999999999999999999999999999"},
		{"-99999999999999999999.999999999999999999", 18, "-99999999999999999999.999999999999999999"},
		{"999999999999999999999999999999999999999", 0, ""},
		{"1000000000000000000", 1, "1000000000000000000.0"},
	} {
		d, err := ParseDecimal(c.text, c.scale)
		if (err == nil) != (c.want != "") {
			t.Errorf("ParseDecimal(%q, %d): %v", c.text, c.scale, err)
		} else if err == nil && d.Text(c.scale) != c.want {
			t.Errorf("ParseDecimal(%q, %d) is %s, want %s", c.text, c.scale, d.Text(c.scale), c.want)
		}
	}
	const seed = 39
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		d, scale := randomDecimal(r), r.IntN(39)
		text := d.Text(scale)
		want := new(big.Rat).SetFrac(toBig(d), tenTo(scale)).FloatString(scale)
		if text != want && toBig(d).Sign() != 0 {
			t.Fatalf("seed %d: %s, want %s", seed, text, want)
		}
		if back, err := ParseDecimal(text, scale); err == nil && back != d || err != nil && d.Fits(38) {
			t.Fatalf("seed %d: %s is read as %s, %v", seed, text, back.Text(scale), err)
		}
		f, _ := new(big.Rat).SetFrac(toBig(d), tenTo(scale)).Float64()
		if got := d.Float64(scale); got != f && abs(got-f) > abs(f)*1e-15 {
			t.Fatalf("seed %d: %s is %v as a float64, want %v", seed, text, got, f)
		}
	}
}

func abs(f float64) float64 {
	if f < 0 {
		return -f
	}
	return f
}

func TestRound(t *testing.T) {
	d, _ := ParseDecimal("2.4550", 4)
	for mode, want := range map[Rounding]string{HalfUp: "2.4600", HalfEven: "2.4600", HalfDown: "2.4500", TowardZero: "2.4500", AwayFromZero: "2.4600", Floor: "2.4500", Ceiling: "2.4600"} {
		if got, ok := d.Round(4, 2, mode); !ok || got.Text(4) != want {
			t.Errorf("mode %d: %s, want %s", mode, got.Text(4), want)
		}
	}
}
