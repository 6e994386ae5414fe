package udfcheck

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Values makes columns of values to try functions with.
type Values struct {
	rand *rand.Rand
	// given are the texts to choose from for arguments of a name, instead of any.
	given map[string][]string
}

// NewValues returns a source of values. given holds texts for arguments that take
// only some: the currency of an amount.
func NewValues(seed uint64, given map[string][]string) *Values {
	return &Values{rand.New(rand.NewPCG(seed, 0x776569722d756466)), given}
}

// Column makes n rows of the argument called name: a share of them edges of the
// type, the share null of them NULL.
func (g *Values) Column(p *vector.Pool, name string, t sqltype.Type, n int, null float64) (*vector.Vector, error) {
	c := vector.NewColumnBuilder(p, t.Kind())
	texts := g.given[strings.ToLower(name)]
	for range n {
		switch {
		case null > 0 && !t.NotNull && g.rand.Float64() < null:
			c.AppendNull()
		case len(texts) > 0:
			text := texts[g.rand.IntN(len(texts))]
			if !sqltype.AppendParsed(c, t, []byte(text)) {
				c.Finish().Release()
				return nil, fmt.Errorf("the value %q given for %s is no %s", text, name, t.Optional())
			}
		default:
			g.append(c, t, null > 0)
		}
	}
	return c.Finish(), nil
}

// append adds a value that is not NULL; one inside may be.
func (g *Values) append(c *vector.ColumnBuilder, t sqltype.Type, nulls bool) {
	r := g.rand
	switch t.ID {
	case sqltype.Boolean:
		vector.Append(c, r.IntN(2) == 0)
	case sqltype.TinyInt:
		vector.Append(c, int8(g.integer(math.MinInt8, math.MaxInt8)))
	case sqltype.SmallInt:
		vector.Append(c, int16(g.integer(math.MinInt16, math.MaxInt16)))
	case sqltype.Integer:
		vector.Append(c, int32(g.integer(math.MinInt32, math.MaxInt32)))
	case sqltype.IntervalMonth:
		vector.Append(c, int32(g.integer(-12*9999, 12*9999)))
	case sqltype.BigInt:
		vector.Append(c, g.integer(math.MinInt64, math.MaxInt64))
	case sqltype.IntervalDay:
		vector.Append(c, g.integer(-1e14, 1e14))
	case sqltype.Float:
		vector.Append(c, float32(g.float(math.MaxFloat32, math.SmallestNonzeroFloat32)))
	case sqltype.Double:
		vector.Append(c, g.float(math.MaxFloat64, math.SmallestNonzeroFloat64))
	case sqltype.Decimal:
		vector.Append(c, g.decimal(t.Precision))
	case sqltype.Date:
		const first, last = -719162, 2932896 // 0001-01-01 and 9999-12-31
		vector.Append(c, int32(g.between(first, last, -25567, 47482)))
	case sqltype.Time:
		day := int64(24*60*60) * power10(t.UnitDigits())
		vector.Append(c, g.between(0, day-1, 0, day-1))
	case sqltype.Timestamp, sqltype.TimestampLTZ:
		unit := power10(t.UnitDigits())
		first, last := int64(-62135596800), int64(253402300799) // years 1 to 9999
		if t.UnitDigits() == 9 {
			first, last = -9223372036, 9223372036
		}
		vector.Append(c, g.between(first*unit, last*unit, -2208988800*unit, 4102444800*unit))
	case sqltype.Char, sqltype.Varchar:
		c.AppendString(g.text(t))
	case sqltype.Binary, sqltype.Varbinary:
		b := make([]byte, min(r.IntN(40), t.Precision))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		c.AppendBytes(b)
	case sqltype.Array:
		for range r.IntN(6) {
			g.child(c.Child(0), *t.Elem, nulls)
		}
		c.EndValue()
	case sqltype.Map, sqltype.Multiset:
		kids := t.Children()
		for range r.IntN(5) {
			g.append(c.Child(0), kids[0], nulls)
			if t.ID == sqltype.Multiset {
				vector.Append(c.Child(1), int32(1+r.IntN(3)))
			} else {
				g.child(c.Child(1), kids[1], nulls)
			}
		}
		c.EndValue()
	case sqltype.Row:
		for i, f := range t.Fields {
			g.child(c.Child(i), f.Type, nulls)
		}
		c.EndValue()
	default:
		c.AppendNull()
	}
}

// child adds a value inside of another.
func (g *Values) child(c *vector.ColumnBuilder, t sqltype.Type, nulls bool) {
	if nulls && !t.NotNull && g.rand.IntN(5) == 0 {
		c.AppendNull()
		return
	}
	g.append(c, t, nulls)
}

func power10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// integer is an edge, a small number or any.
func (g *Values) integer(least, most int64) int64 {
	switch g.rand.IntN(8) {
	case 0:
		return []int64{least, most, 0, -1, 1, least + 1, most - 1}[g.rand.IntN(7)]
	case 1:
		return least + int64(g.rand.Uint64N(uint64(most)-uint64(least)))
	}
	return min(max(int64(g.rand.IntN(2001))-1000, least), most)
}

// between is mostly in the usual range, sometimes an edge, sometimes anything.
func (g *Values) between(least, most, from, to int64) int64 {
	switch g.rand.IntN(10) {
	case 0:
		return []int64{least, most, min(max(0, least), most)}[g.rand.IntN(3)]
	case 1:
		return least + int64(g.rand.Uint64N(uint64(most-least)+1))
	}
	return from + int64(g.rand.Uint64N(uint64(to-from)+1))
}

func (g *Values) float(most, least float64) float64 {
	switch g.rand.IntN(12) {
	case 0:
		return []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), most, -most, least, 1}[g.rand.IntN(9)]
	case 1:
		return g.rand.NormFloat64() * most / 1e3
	case 2, 3, 4:
		return float64(g.rand.IntN(2001) - 1000)
	}
	return g.rand.NormFloat64() * 100
}

// decimal is a number of up to precision digits, most of them of few.
func (g *Values) decimal(precision int) vector.Dec {
	digits := 1 + g.rand.IntN(precision)
	if g.rand.IntN(4) > 0 {
		digits = 1 + g.rand.IntN(min(precision, 9))
	}
	nines := g.rand.IntN(16) == 0
	text := make([]byte, 0, 40)
	if g.rand.IntN(2) == 0 {
		text = append(text, '-')
	}
	for range digits {
		d := byte(g.rand.IntN(10))
		if nines {
			d = 9
		}
		text = append(text, '0'+d)
	}
	v, ok := sqltype.ParseDecimal(text, precision, 0)
	if !ok {
		panic("udfcheck: a decimal of " + string(text) + " does not fit")
	}
	return v
}

// text is a string of at most the type's length.
func (g *Values) text(t sqltype.Type) string {
	r := g.rand
	var s string
	switch r.IntN(10) {
	case 0:
		return ""
	case 1:
		s = strings.Repeat(" ", 1+r.IntN(3))
	case 2:
		s = []string{"Grüße, 世界", "e\u0301", "👩‍👩‍👧", "\u0000", "a\tb\nc", "'\"`\\", "NULL", "-1", "\ufeff", "İıſK"}[r.IntN(10)]
	case 3:
		s = strings.Repeat("long text ", 1+r.IntN(40))
	case 4:
		s = fmt.Sprintf("https://www.example%d.com/path/%d?x=%d", r.IntN(100), r.IntN(100), r.IntN(100))
	default:
		words := []string{"the", "quick", "Brown", "fox", "jumps", "over", "1", "lazy", "dog", "A"}
		for i := range 1 + r.IntN(6) {
			if i > 0 {
				s += " "
			}
			s += words[r.IntN(len(words))]
		}
	}
	for !t.Holds([]byte(s)) {
		runes := []rune(s)
		s = string(runes[:min(len(runes)-1, t.Precision)])
	}
	return s
}
