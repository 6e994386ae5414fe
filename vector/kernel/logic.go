package kernel

import "github.com/weirdb/weir/vector"

// And is a AND b in three-valued logic; the result has its own validity bitmap.
// Both have n rows.
func And(p *vector.Pool, a, b *vector.Vector) *vector.Vector { return junction(p, a, b, false) }

// Or is a OR b in three-valued logic; the result has its own validity bitmap.
func Or(p *vector.Pool, a, b *vector.Vector) *vector.Vector { return junction(p, a, b, true) }

// junction joins two Bool columns; decisive is the value that settles the result
// whatever the other side: FALSE for AND, TRUE for OR.
func junction(p *vector.Pool, a, b *vector.Vector, decisive bool) *vector.Vector {
	n := a.Len()
	out := p.New(vector.Bool, n)
	dst, x, y := octets(vector.Values[bool](out)), octets(vector.Values[bool](a)), octets(vector.Values[bool](b))
	y = y[:len(x)]
	va, vb := a.Valid(), b.Valid()
	if va == nil && vb == nil {
		if decisive {
			for i, v := range x {
				dst[i] = v | y[i]
			}
		} else {
			for i, v := range x {
				dst[i] = v & y[i]
			}
		}
		return out
	}
	// A row is known when both sides are, or one known side is decisive.
	d := uint8(bit(decisive))
	valid := out.NewValid(false)
	for w := range valid {
		from, to := w*64, min(w*64+64, n)
		var decA, decB uint64
		for i := from; i < to; i++ {
			decA |= uint64((x[i]^d)&1^1) << (uint(i) & 63) // NULL rows may hold any byte
			decB |= uint64((y[i]^d)&1^1) << (uint(i) & 63)
		}
		knownA, knownB := ^uint64(0), ^uint64(0)
		if va != nil {
			knownA = va[w]
		}
		if vb != nil {
			knownB = vb[w]
		}
		decA &= knownA
		decB &= knownB
		known := knownA&knownB | decA | decB
		if to-from < 64 {
			known &= 1<<uint(to-from) - 1
		}
		valid[w] = known
		for i := from; i < to; i++ {
			hit := uint8((decA|decB)>>(uint(i)&63)) & 1
			dst[i] = hit ^ 1 ^ d // decisive where hit, else the other value
		}
	}
	return out
}

// Not is the negation of a Bool column.
func Not(p *vector.Pool, v *vector.Vector) *vector.Vector {
	out := p.New(vector.Bool, v.Len())
	dst := octets(vector.Values[bool](out))
	for i, x := range octets(vector.Values[bool](v)) {
		dst[i] = x ^ 1
	}
	return out
}

// IsNull is a Bool column that says which rows of v are NULL, or with want false
// which are not.
func IsNull(p *vector.Pool, v *vector.Vector, want bool) *vector.Vector {
	out := p.New(vector.Bool, v.Len())
	dst := octets(vector.Values[bool](out))
	valid := v.Valid()
	if valid == nil {
		fill(dst, uint8(1-bit(want)))
		return out
	}
	flip := uint8(bit(want))
	for i := range dst {
		dst[i] = uint8(valid[i>>6]>>(uint(i)&63))&1 ^ flip
	}
	return out
}

// IsTruth says which rows of a Bool column are the given truth value and not NULL;
// with negate, which are not.
func IsTruth(p *vector.Pool, v *vector.Vector, truth, negate bool) *vector.Vector {
	out := p.New(vector.Bool, v.Len())
	dst := octets(vector.Values[bool](out))
	t, flip := uint8(1-bit(truth)), uint8(bit(negate))
	valid := v.Valid()
	for i, x := range octets(vector.Values[bool](v)) {
		known := uint8(1)
		if valid != nil {
			known = uint8(valid[i>>6]>>(uint(i)&63)) & 1
		}
		dst[i] = (x^t)&known ^ flip
	}
	return out
}

// Distinct is a IS DISTINCT FROM b (want true) or IS NOT DISTINCT FROM, given which
// rows are equal where neither is NULL. Each operand has n rows.
func Distinct(p *vector.Pool, equal, a, b *vector.Vector, want bool) *vector.Vector {
	n := equal.Len()
	out := p.New(vector.Bool, n)
	dst := octets(vector.Values[bool](out))
	va, vb := a.Valid(), b.Valid()
	flip := uint8(bit(want))
	for i, eq := range octets(vector.Values[bool](equal)) {
		ka, kb := uint8(1), uint8(1)
		if va != nil {
			ka = uint8(va[i>>6]>>(uint(i)&63)) & 1
		}
		if vb != nil {
			kb = uint8(vb[i>>6]>>(uint(i)&63)) & 1
		}
		same := eq&ka&kb | (1-ka)&(1-kb)
		dst[i] = same ^ flip
	}
	return out
}
