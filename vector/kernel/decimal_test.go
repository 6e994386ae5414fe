package kernel

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/weirdb/weir/vector"
)

// ten is 10^k.
func ten(k int) *bigInt { return new(bigInt).Exp(big10, bigOf64(int64(k)), nil) }

type bigInt = big.Int

var big10 = big.NewInt(10)

func bigOf64(v int64) *bigInt { return big.NewInt(v) }

// roundDiv is a / b rounded half away from zero.
func roundDiv(a, b *bigInt) *bigInt {
	q, r := new(bigInt).QuoRem(a, b, new(bigInt))
	if new(bigInt).Abs(new(bigInt).Lsh(r, 1)).Cmp(new(bigInt).Abs(b)) >= 0 {
		if a.Sign()*b.Sign() < 0 {
			return q.Sub(q, bigOf64(1))
		}
		return q.Add(q, bigOf64(1))
	}
	return q
}

// wantDec is ArithDec by big.Int, or nil for a misfit.
func wantDec(op Op, x, y *bigInt, s DecimalSpec) *bigInt {
	var r *bigInt
	up := max(s.ScaleA, s.ScaleB)
	a := new(bigInt).Mul(x, ten(up-s.ScaleA))
	b := new(bigInt).Mul(y, ten(up-s.ScaleB))
	switch op {
	case Add:
		r = roundDiv(a.Add(a, b), ten(up-s.Scale))
	case Sub:
		r = roundDiv(a.Sub(a, b), ten(up-s.Scale))
	case Mul:
		r = roundDiv(new(bigInt).Mul(x, y), ten(s.ScaleA+s.ScaleB-s.Scale))
	default:
		if y.Sign() == 0 {
			return nil
		}
		if op == Mod {
			r = roundDiv(a.Rem(a, b), ten(up-s.Scale))
			break
		}
		k := s.Scale - s.ScaleA + s.ScaleB
		if k >= 0 {
			r = roundDiv(new(bigInt).Mul(x, ten(k)), y)
		} else {
			r = roundDiv(x, new(bigInt).Mul(y, ten(-k)))
		}
	}
	if new(bigInt).Abs(r).Cmp(ten(s.Precision)) >= 0 {
		return nil
	}
	return r
}

// anyDec is a random decimal of at most digits digits, of all sizes alike.
func anyDec(r *rand.Rand, digits int) *bigInt {
	n := r.IntN(digits + 1)
	v := new(bigInt)
	for range n {
		v.Mul(v, big10).Add(v, bigOf64(r.Int64N(10)))
	}
	switch r.IntN(8) {
	case 0:
		v.Sub(ten(n), bigOf64(1)) // 999
	case 1:
		v.Set(ten(max(n-1, 0)))
	}
	if r.IntN(2) == 0 {
		v.Neg(v)
	}
	return v
}

func TestArithDec(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 7))
	p := vector.NewCheckedPool()
	for trial := range 4000 {
		op := Op(r.IntN(5))
		pa, pb := 1+r.IntN(38), 1+r.IntN(38)
		s := DecimalSpec{ScaleA: r.IntN(pa + 1), ScaleB: r.IntN(pb + 1), Precision: 1 + r.IntN(38)}
		switch op {
		case Mul:
			s.Scale = min(s.ScaleA+s.ScaleB, s.Precision, r.IntN(39))
			if r.IntN(2) == 0 {
				s.Scale, s.Precision = min(s.ScaleA+s.ScaleB, 38), 38
			}
		case Div:
			s.Scale = r.IntN(s.Precision + 1)
		default:
			s.Scale = min(max(s.ScaleA, s.ScaleB), s.Precision)
		}
		if op == Mul && s.Scale > s.ScaleA+s.ScaleB {
			continue
		}
		n := 1 + r.IntN(5)
		na, nb := n, n
		switch r.IntN(4) {
		case 0:
			na = 1
		case 1:
			nb = 1
		}
		var xs, ys []*bigInt
		var dx, dy []vector.Dec
		for range na {
			v := anyDec(r, pa)
			xs, dx = append(xs, v), append(dx, decimal128.FromBigInt(v))
		}
		for range nb {
			v := anyDec(r, pb)
			ys, dy = append(ys, v), append(dy, decimal128.FromBigInt(v))
		}
		a, b := vector.Of(p, dx...), vector.Of(p, dy...)
		var m Misfits
		out := ArithDec(p, op, a, b, n, s, &m)
		bad := map[int32]bool{}
		for _, row := range m.Rows {
			bad[row] = true
		}
		for i := range n {
			x, y := xs[min(i, na-1)], ys[min(i, nb-1)]
			want := wantDec(op, x, y, s)
			if want == nil != bad[int32(i)] {
				t.Fatalf("trial %d: %v %v %v (%+v): misfit %v, want %v", trial, x, op, y, s, bad[int32(i)], want)
			}
			if want != nil && vector.Values[vector.Dec](out)[i].BigInt().Cmp(want) != 0 {
				t.Fatalf("trial %d: %v %v %v (%+v) = %v, want %v", trial, x, op, y, s, vector.Values[vector.Dec](out)[i].BigInt(), want)
			}
			sx, sy := new(bigInt).Mul(x, ten(s.ScaleB)), new(bigInt).Mul(y, ten(s.ScaleA))
			if got := CmpDecScaled(dx[min(i, na-1)], dy[min(i, nb-1)], s.ScaleA, s.ScaleB); got != sx.Cmp(sy) {
				t.Fatalf("compare %v (%d) with %v (%d): %d", x, s.ScaleA, y, s.ScaleB, got)
			}
		}
		a.Release()
		b.Release()
		out.Release()
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestRescaleAndText(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 5000 {
		p := 1 + r.IntN(38)
		from, to, prec := r.IntN(p+1), r.IntN(39), 1+r.IntN(38)
		x := anyDec(r, p)
		d := decimal128.FromBigInt(x)
		var want *bigInt
		if to >= from {
			want = new(bigInt).Mul(x, ten(to-from))
		} else {
			want = roundDiv(x, ten(from-to))
		}
		fits := new(bigInt).Abs(want).Cmp(ten(prec)) < 0
		got, ok := RescaleDec(d, from, to, prec)
		if ok != fits || ok && got.BigInt().Cmp(want) != 0 {
			t.Fatalf("rescale %v from %d to %d (%d digits): %v %v, want %v", x, from, to, prec, got.BigInt(), ok, want)
		}
		text := string(AppendDecimal(nil, d, from))
		if want := d.ToString(int32(from)); text != want {
			t.Fatalf("text of %v (%d): %s, want %s", x, from, text, want)
		}
		back, ok := ParseDecimal([]byte(" "+text+" "), 38, from)
		if !ok || back != d {
			t.Fatalf("parse %s: %v %v", text, back.BigInt(), ok)
		}
		moved, ok := ParseDecimal(fmt.Appendf(nil, "%se%d", text, 3), prec, to)
		if want, fits := RescaleDec(d, from, to, 38); fits {
			w := new(bigInt).Mul(x, ten(3))
			if to >= from {
				w.Mul(w, ten(to-from))
			} else {
				w = roundDiv(w, ten(from-to))
			}
			if in := new(bigInt).Abs(w).Cmp(ten(prec)) < 0; in != ok || ok && moved.BigInt().Cmp(w) != 0 {
				t.Fatalf("parse %se3 to scale %d: %v %v, want %v (%v)", text, to, moved.BigInt(), ok, w, want)
			}
		}
		whole := new(bigInt).Quo(x, ten(from))
		v, ok := DecToInt(d, from)
		if ok != whole.IsInt64() || ok && v != whole.Int64() {
			t.Fatalf("%s as an integer: %d %v", text, v, ok)
		}
		f, _ := new(big.Rat).SetFrac(x, ten(from)).Float64()
		if got := DecToFloat(d, from); got != f {
			t.Fatalf("%s as a float: %v, want %v", text, got, f)
		}
		floor := new(bigInt).Div(x, ten(from)) // Euclidean: rounds down for a positive divisor
		if got := FloorDec(d, from, false); got.BigInt().Cmp(floor) != 0 {
			t.Fatalf("floor of %s: %v, want %v", text, got.BigInt(), floor)
		}
		ceil := new(bigInt).Neg(new(bigInt).Div(new(bigInt).Neg(x), ten(from)))
		if got := FloorDec(d, from, true); got.BigInt().Cmp(ceil) != 0 {
			t.Fatalf("ceiling of %s: %v, want %v", text, got.BigInt(), ceil)
		}
	}
	for _, bad := range []string{"", " ", "-", ".", "1.2.3", "abc", "1e", "1ex", "1 2", "--1", "0x1"} {
		if d, ok := ParseDecimal([]byte(bad), 38, 2); ok {
			t.Errorf("%q is read as the decimal %v", bad, d.BigInt())
		}
	}
}
