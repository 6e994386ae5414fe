package kernel

import (
	"bytes"

	"github.com/weirdb/weir/vector"
)

// Cmp is a comparison.
type Cmp uint8

// The comparisons. On approximate values they are IEEE's: NaN is unequal to all.
const (
	Eq Cmp = iota
	Ne
	Lt
	Le
	Gt
	Ge
)

func (c Cmp) String() string { return [...]string{"=", "<>", "<", "<=", ">", ">="}[c] }

// Flip is the comparison with its operands exchanged.
func (c Cmp) Flip() Cmp { return [...]Cmp{Eq, Ne, Gt, Ge, Lt, Le}[c] }

// Holds reports whether the comparison is true of values that compare as sign.
func (c Cmp) Holds(sign int) bool {
	switch c {
	case Eq:
		return sign == 0
	case Ne:
		return sign != 0
	case Lt:
		return sign < 0
	case Le:
		return sign <= 0
	case Gt:
		return sign > 0
	}
	return sign >= 0
}

// Compare computes a op b on two columns of one kind (decimals: of one scale) into
// a Bool column. FALSE is less than TRUE; strings compare by their bytes, nested
// values as vector.Compare does.
func Compare(p *vector.Pool, op Cmp, a, b *vector.Vector, n int) *vector.Vector {
	if a.Len() != n {
		a, b, op = b, a, op.Flip()
	}
	out := p.New(vector.Bool, n)
	if n == 0 {
		return out
	}
	dst := vector.Values[bool](out)
	switch a.Kind() {
	case vector.Bool:
		compare(op, dst, octets(vector.Values[bool](a)), octets(vector.Values[bool](b)))
	case vector.Int8:
		compare(op, dst, vector.Values[int8](a), vector.Values[int8](b))
	case vector.Int16:
		compare(op, dst, vector.Values[int16](a), vector.Values[int16](b))
	case vector.Int32:
		compare(op, dst, vector.Values[int32](a), vector.Values[int32](b))
	case vector.Int64:
		compare(op, dst, vector.Values[int64](a), vector.Values[int64](b))
	case vector.Float32:
		compare(op, dst, vector.Values[float32](a), vector.Values[float32](b))
	case vector.Float64:
		compare(op, dst, vector.Values[float64](a), vector.Values[float64](b))
	case vector.Decimal:
		compareDecs(op, dst, vector.Values[vector.Dec](a), vector.Values[vector.Dec](b))
	case vector.String, vector.Bytes:
		compareBytes(op, dst, a, b)
	default:
		compareNested(op, dst, a, b)
	}
	return out
}

type ordered interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64
}

func compare[T ordered](op Cmp, dst []bool, a, b []T) {
	a = a[:len(dst)]
	if len(b) != len(dst) {
		compareConst(op, dst, a, b[0])
		return
	}
	switch op {
	case Gt:
		a, b, op = b, a, Lt
	case Ge:
		a, b, op = b, a, Le
	}
	b = b[:len(dst)]
	switch op {
	case Eq:
		for i, x := range a {
			dst[i] = x == b[i]
		}
	case Ne:
		for i, x := range a {
			dst[i] = x != b[i]
		}
	case Lt:
		for i, x := range a {
			dst[i] = x < b[i]
		}
	case Le:
		for i, x := range a {
			dst[i] = x <= b[i]
		}
	}
}

func compareConst[T ordered](op Cmp, dst []bool, a []T, y T) {
	switch op {
	case Eq:
		for i, x := range a {
			dst[i] = x == y
		}
	case Ne:
		for i, x := range a {
			dst[i] = x != y
		}
	case Lt:
		for i, x := range a {
			dst[i] = x < y
		}
	case Le:
		for i, x := range a {
			dst[i] = x <= y
		}
	case Gt:
		for i, x := range a {
			dst[i] = x > y
		}
	case Ge:
		for i, x := range a {
			dst[i] = x >= y
		}
	}
}

func compareDecs(op Cmp, dst []bool, a, b []vector.Dec) {
	if len(b) != len(dst) {
		y := b[0]
		switch op {
		case Eq, Ne:
			for i, x := range a {
				dst[i] = (x == y) == (op == Eq)
			}
		case Lt, Ge:
			for i, x := range a {
				dst[i] = lessDec(x, y) == (op == Lt)
			}
		default:
			for i, x := range a {
				dst[i] = lessDec(y, x) == (op == Gt)
			}
		}
		return
	}
	b = b[:len(a)]
	switch op {
	case Eq, Ne:
		for i, x := range a {
			dst[i] = (x == b[i]) == (op == Eq)
		}
	case Lt, Ge:
		for i, x := range a {
			dst[i] = lessDec(x, b[i]) == (op == Lt)
		}
	default:
		for i, x := range a {
			dst[i] = lessDec(b[i], x) == (op == Gt)
		}
	}
}

// CompareScaled is Compare for decimals of different scales.
func CompareScaled(p *vector.Pool, op Cmp, a, b *vector.Vector, n, scaleA, scaleB int) *vector.Vector {
	if a.Len() != n {
		a, b, op, scaleA, scaleB = b, a, op.Flip(), scaleB, scaleA
	}
	out := p.New(vector.Bool, n)
	if n == 0 {
		return out
	}
	dst, x, y := vector.Values[bool](out), vector.Values[vector.Dec](a), vector.Values[vector.Dec](b)
	for i := range dst {
		w := y[0]
		if len(y) == n {
			w = y[i]
		}
		dst[i] = op.Holds(CmpDecScaled(x[i], w, scaleA, scaleB))
	}
	return out
}

func compareBytes(op Cmp, dst []bool, a, b *vector.Vector) {
	off, data := a.Offsets()[:len(dst)+1], a.Data()
	if b.Len() != len(dst) {
		y := b.Text(0)
		if op == Eq || op == Ne {
			for i := range dst {
				dst[i] = (string(data[off[i]:off[i+1]]) == y) == (op == Eq)
			}
			return
		}
		for i := range dst {
			x := string(data[off[i]:off[i+1]])
			switch op {
			case Lt:
				dst[i] = x < y
			case Le:
				dst[i] = x <= y
			case Gt:
				dst[i] = x > y
			default:
				dst[i] = x >= y
			}
		}
		return
	}
	offB, dataB := b.Offsets()[:len(dst)+1], b.Data()
	if op == Eq || op == Ne {
		for i := range dst {
			dst[i] = bytes.Equal(data[off[i]:off[i+1]], dataB[offB[i]:offB[i+1]]) == (op == Eq)
		}
		return
	}
	for i := range dst {
		dst[i] = op.Holds(bytes.Compare(data[off[i]:off[i+1]], dataB[offB[i]:offB[i+1]]))
	}
}
