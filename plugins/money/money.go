// Package money rounds amounts as their currencies do. It is the source of the
// module money.wasm; README.md says what the functions are in SQL.
package money

import (
	"errors"

	weir "github.com/weirdb/weir/sdk/go"
)

//weir:module money 1.0.0

// Scales of the arguments and results: what a price times a rate has, and the most
// digits that a currency has.
const (
	scaleIn  = 10
	scaleOut = 4
)

var errOverflow = errors.New("the amount does not fit DECIMAL(38, 4)")

// minorUnits is how many digits after the point a currency has.
//
//weir:scalar minor_units(currency STRING) INT deterministic
func minorUnits(currency string) (int32, error) {
	n, err := unitsOf(currency)
	return int32(n), err
}

// roundMoney rounds half to even.
//
//weir:scalar round_money(amount DECIMAL(38, 10), currency STRING) DECIMAL(38, 4) deterministic
func roundMoney(amount weir.Decimal, currency string) (weir.Decimal, error) {
	return round(amount, currency, weir.HalfEven)
}

// roundMoneyHalfUp rounds half away from zero.
//
//weir:scalar round_money_half_up(amount DECIMAL(38, 10), currency STRING) DECIMAL(38, 4) deterministic
func roundMoneyHalfUp(amount weir.Decimal, currency string) (weir.Decimal, error) {
	return round(amount, currency, weir.HalfUp)
}

func round(amount weir.Decimal, currency string, mode weir.Rounding) (weir.Decimal, error) {
	units, err := unitsOf(currency)
	if err != nil {
		return weir.Decimal{}, err
	}
	// Ten digits less at least six never overflow, and four more fit again.
	r, _ := amount.Rescale(scaleIn, units, mode)
	r, _ = r.Rescale(units, scaleOut, mode)
	return r, nil
}

// convertMoney is amount times rate, rounded half to even. The product in between
// is exact.
//
//weir:scalar convert_money(amount DECIMAL(38, 10), rate DECIMAL(38, 10), currency STRING) DECIMAL(38, 4) deterministic
func convertMoney(amount, rate weir.Decimal, currency string) (weir.Decimal, error) {
	units, err := unitsOf(currency)
	if err != nil {
		return weir.Decimal{}, err
	}
	r, ok := amount.MulRound(rate, 2*scaleIn-units, weir.HalfEven)
	if ok {
		r, ok = r.Rescale(units, scaleOut, weir.HalfEven)
	}
	if !ok || !r.Fits(38) {
		return weir.Decimal{}, errOverflow
	}
	return r, nil
}

// toMinor is the amount in the smallest unit of the currency, rounded half to even:
// 12.34 EUR are 1234.
//
//weir:scalar to_minor(amount DECIMAL(38, 10), currency STRING) BIGINT deterministic
func toMinor(amount weir.Decimal, currency string) (int64, error) {
	units, err := unitsOf(currency)
	if err != nil {
		return 0, err
	}
	r, _ := amount.Rescale(scaleIn, units, weir.HalfEven)
	v, ok := r.Int64()
	if !ok {
		return 0, errors.New("the amount in minor units does not fit BIGINT")
	}
	return v, nil
}

// fromMinor is the amount of so many of the smallest units: 1234 EUR are 12.34.
//
//weir:scalar from_minor(units BIGINT, currency STRING) DECIMAL(38, 4) deterministic
func fromMinor(amount int64, currency string) (weir.Decimal, error) {
	units, err := unitsOf(currency)
	if err != nil {
		return weir.Decimal{}, err
	}
	r, _ := weir.DecimalOf(amount).Rescale(units, scaleOut, weir.HalfEven)
	return r, nil
}

// most is how many parts an amount can be split into.
const most = 10_000

// splitMoney splits an amount, rounded half to even, into parts that differ by one
// minor unit at most and sum up to it; the first ones are the larger.
//
//weir:scalar split_money(amount DECIMAL(38, 10), currency STRING, parts INT) ARRAY<DECIMAL(38, 4) NOT NULL> deterministic
func splitMoney(amount weir.Decimal, currency string, parts int32) ([]weir.Decimal, error) {
	if parts < 1 || parts > most {
		return nil, errors.New("an amount is split into 1 to 10000 parts")
	}
	units, err := unitsOf(currency)
	if err != nil {
		return nil, err
	}
	rest, _ := amount.Rescale(scaleIn, units, weir.HalfEven)
	n := weir.DecimalOf(int64(parts))
	part, _ := rest.QuoRound(n, 0, weir.TowardZero)
	whole, _ := part.Mul(n)
	left, _ := rest.Sub(whole)
	more, _ := left.Abs().Int64() // parts that get one unit more
	one := weir.DecimalOf(int64(left.Sign()))
	larger, _ := part.Add(one)
	part, _ = part.Rescale(units, scaleOut, weir.HalfEven)
	larger, _ = larger.Rescale(units, scaleOut, weir.HalfEven)
	out := make([]weir.Decimal, parts)
	for i := range out {
		out[i] = part
		if int64(i) < more {
			out[i] = larger
		}
	}
	return out, nil
}
