package expr

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// The reference evaluates one row at a time: integers and decimals are *big.Rat,
// other values float64, bool and string, NULL is nil.

var errRow = errors.New("the row cannot be computed")

func refValue(v any, t sqltype.Type) any {
	switch x := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(x)
	case vector.Dec:
		return new(big.Rat).SetFrac(x.BigInt(), tenTo(t.Scale))
	}
	return v
}

func tenTo(k int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(k)), nil) }

// refNumber brings a number into type t: truncated to an integer, rounded half away
// from zero to a decimal.
func refNumber(v any, t sqltype.Type) (any, error) {
	if v == nil {
		return nil, nil
	}
	if t.ID == sqltype.Double {
		if r, ok := v.(*big.Rat); ok {
			f, _ := r.Float64()
			return f, nil
		}
		return v, nil
	}
	var r *big.Rat
	switch x := v.(type) {
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, errRow
		}
		r = new(big.Rat).SetFloat64(x)
	case *big.Rat:
		r = x
	}
	if t.ID == sqltype.Decimal {
		n := new(big.Int).Mul(r.Num(), tenTo(t.Scale))
		q, rem := new(big.Int).QuoRem(n, r.Denom(), new(big.Int))
		if new(big.Int).Abs(new(big.Int).Lsh(rem, 1)).Cmp(r.Denom()) >= 0 {
			q.Add(q, big.NewInt(int64(n.Sign())))
		}
		if new(big.Int).Abs(q).Cmp(tenTo(t.Precision)) >= 0 {
			return nil, errRow
		}
		return new(big.Rat).SetFrac(q, tenTo(t.Scale)), nil
	}
	q := new(big.Int).Quo(r.Num(), r.Denom())
	bits := t.Kind().Width() * 8
	if !q.IsInt64() || q.Int64() != q.Int64()<<(64-bits)>>(64-bits) {
		return nil, errRow
	}
	return new(big.Rat).SetInt(q), nil
}

// reference computes e on physical row i of b.
func reference(e Expr, b *vector.Batch, i int) (any, error) {
	switch e := e.(type) {
	case *Column:
		return refValue(ValueAt(b.Col(e.Index), e.T, i), e.T), nil
	case *Literal:
		return refValue(e.Value, e.T), nil
	case *Cast:
		v, err := reference(e.Arg, b, i)
		if err != nil || v == nil {
			return nil, err
		}
		if e.T.IsString() {
			if s, ok := v.(string); ok {
				return s, nil
			}
			return v.(*big.Rat).FloatString(e.Arg.Type().Scale), nil
		}
		return refNumber(v, e.T)
	case *Case:
		for _, w := range e.Whens {
			c, err := reference(w.Cond, b, i)
			if err != nil {
				return nil, err
			}
			if c == true {
				return reference(w.Then, b, i)
			}
		}
		return reference(e.Else, b, i)
	}
	c := e.(*Call)
	switch c.Func.Lazy {
	case function.LazyAnd, function.LazyOr:
		settles := c.Func.Lazy == function.LazyOr
		null := false
		for _, a := range c.Args {
			v, err := reference(a, b, i)
			if err != nil {
				return nil, err
			}
			if v == settles {
				return settles, nil
			}
			null = null || v == nil
		}
		if null {
			return nil, nil
		}
		return !settles, nil
	case function.LazyIf:
		v, err := reference(c.Args[0], b, i)
		if err != nil {
			return nil, err
		}
		if v == true {
			return reference(c.Args[1], b, i)
		}
		return reference(c.Args[2], b, i)
	case function.LazyCoalesce:
		for _, a := range c.Args {
			if v, err := reference(a, b, i); err != nil || v != nil {
				return v, err
			}
		}
		return nil, nil
	}
	args := make([]any, len(c.Args))
	null := false
	for k, a := range c.Args {
		v, err := reference(a, b, i)
		if err != nil {
			return nil, err
		}
		args[k] = v
		null = null || v == nil
	}
	return refCall(c, args, null)
}

func refCompare(a, b any) int {
	switch x := a.(type) {
	case *big.Rat:
		return x.Cmp(b.(*big.Rat))
	case string:
		return strings.Compare(x, b.(string))
	case bool:
		if x == b {
			return 0
		} else if x {
			return 1
		}
		return -1
	}
	switch x, y := a.(float64), b.(float64); {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return 2 // NaN
}

func refCall(c *Call, args []any, null bool) (any, error) {
	switch c.Func.Name {
	case "IS NULL":
		return args[0] == nil, nil
	case "IS NOT NULL":
		return args[0] != nil, nil
	case "IS TRUE":
		return args[0] == true, nil
	case "IS NOT TRUE":
		return args[0] != true, nil
	case "IS FALSE":
		return args[0] == false, nil
	case "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		same := args[0] == nil && args[1] == nil
		if !null {
			same = refCompare(args[0], args[1]) == 0
		}
		return same == (c.Func.Name == "IS NOT DISTINCT FROM"), nil
	case "NULLIF":
		if !null && refCompare(args[0], args[1]) == 0 {
			return nil, nil
		}
		return args[0], nil
	case "IN":
		if args[0] == nil {
			return nil, nil
		}
		for _, item := range args[1:] {
			if item != nil && refCompare(args[0], item) == 0 {
				return true, nil
			}
		}
		if null {
			return nil, nil
		}
		return false, nil
	}
	if null {
		return nil, nil
	}
	switch name := c.Func.Name; name {
	case "NOT":
		return args[0] == false, nil
	case "=", "<>", "<", "<=", ">", ">=":
		op, _ := c.Func.Comparison()
		if refCompare(args[0], args[1]) == 2 {
			return name == "<>", nil
		}
		return op.Holds(refCompare(args[0], args[1])), nil
	case "UPPER":
		return strings.ToUpper(args[0].(string)), nil
	case "CHAR_LENGTH":
		return new(big.Rat).SetInt64(int64(utf8.RuneCountInString(args[0].(string)))), nil
	case "||":
		return args[0].(string) + args[1].(string), nil
	case "GREATEST", "LEAST":
		best := args[0]
		for _, a := range args[1:] {
			if s := refCompare(a, best); s == 1 && name == "GREATEST" || s == -1 && name == "LEAST" {
				best = a
			}
		}
		return best, nil
	}
	if x, ok := args[0].(float64); ok {
		y := 0.0
		if len(args) > 1 {
			y = args[1].(float64)
		}
		switch c.Func.Name {
		case "+":
			return x + y, nil
		case "-":
			return x - y, nil
		case "*":
			return x * y, nil
		case "/":
			return x / y, nil
		case "MOD":
			return math.Mod(x, y), nil
		case "NEG":
			return -x, nil
		case "ABS":
			return math.Abs(x), nil
		}
	}
	x, r := args[0].(*big.Rat), new(big.Rat)
	y := new(big.Rat)
	if len(args) > 1 {
		y = args[1].(*big.Rat)
	}
	switch c.Func.Name {
	case "+":
		r.Add(x, y)
	case "-":
		r.Sub(x, y)
	case "*":
		r.Mul(x, y)
	case "NEG":
		r.Neg(x)
	case "ABS":
		r.Abs(x)
	case "/", "MOD":
		if y.Sign() == 0 {
			return nil, errRow
		}
		r.Quo(x, y)
		if c.Func.Name == "MOD" {
			q := new(big.Int).Quo(r.Num(), r.Denom())
			r.Sub(x, new(big.Rat).Mul(y, new(big.Rat).SetInt(q)))
		}
	default:
		panic("no reference for " + c.Func.Name)
	}
	return refNumber(r, c.T)
}

// randomSchema has two columns of each type that the reference knows.
func randomSchema() sqltype.Schema {
	var s sqltype.Schema
	for _, t := range []sqltype.Type{
		sqltype.BoolType, sqltype.TinyType, sqltype.SmallType, sqltype.IntType, sqltype.BigIntType, sqltype.DoubleType,
		sqltype.DecimalOf(5, 2), sqltype.DecimalOf(20, 4), sqltype.DecimalOf(38, 6), sqltype.StringType,
	} {
		name := strings.ToLower(t.ID.String())
		s = append(s, sqltype.Column{Name: name + "1", Type: t}, sqltype.Column{Name: name + "2", Type: t})
	}
	return s
}

func randomInt(r *rand.Rand, width int) int64 {
	switch r.IntN(12) {
	case 0:
		return math.MinInt64 >> (64 - width*8)
	case 1:
		return math.MaxInt64 >> (64 - width*8)
	case 2:
		return int64(r.Uint64()) >> (64 - width*8)
	}
	return r.Int64N(9) - 4
}

func randomBatch(r *rand.Rand, p *vector.Pool, s sqltype.Schema, n int) *vector.Batch {
	cols := make([]*vector.Vector, len(s))
	for i, c := range s {
		b := vector.NewColumnBuilder(p, c.Type.Kind())
		nulls := []int{0, 4, 2}[r.IntN(3)]
		for range n {
			if nulls > 0 && r.IntN(nulls) == 0 {
				b.AppendNull()
				continue
			}
			switch c.Type.Kind() {
			case vector.Bool:
				vector.Append(b, r.IntN(2) == 0)
			case vector.Int8:
				vector.Append(b, int8(randomInt(r, 1)))
			case vector.Int16:
				vector.Append(b, int16(randomInt(r, 2)))
			case vector.Int32:
				vector.Append(b, int32(randomInt(r, 4)))
			case vector.Int64:
				vector.Append(b, randomInt(r, 8))
			case vector.Float64:
				vector.Append(b, float64(r.IntN(9)-4)/2)
			case vector.Decimal:
				vector.Append(b, decOf(randomInt(r, 2)))
			default:
				b.AppendString([]string{"", "a", "ab", "é", "Ab"}[r.IntN(5)])
			}
		}
		cols[i] = b.Finish()
		if v := cols[i]; v.Valid() != nil && !c.Type.Kind().Variable() {
			poison(v, r)
		}
	}
	b := vector.NewBatch(n, cols, nil)
	if r.IntN(2) == 0 {
		return b
	}
	rows := []int32{}
	for i := range n {
		if r.IntN(3) > 0 {
			rows = append(rows, int32(i))
		}
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	sel := p.New(vector.Int32, len(rows))
	copy(vector.Values[int32](sel), rows)
	out := b.Select(sel)
	b.Release()
	return out
}

// poison puts values under the NULLs that would overflow or divide by zero.
func poison(v *vector.Vector, r *rand.Rand) {
	for i := range v.Len() {
		if !v.IsNull(i) {
			continue
		}
		switch v.Kind() {
		case vector.Int8:
			vector.Values[int8](v)[i] = int8(randomInt(r, 1))
		case vector.Int16:
			vector.Values[int16](v)[i] = int16(randomInt(r, 2))
		case vector.Int32:
			vector.Values[int32](v)[i] = int32(randomInt(r, 4))
		case vector.Int64:
			vector.Values[int64](v)[i] = randomInt(r, 8)
		case vector.Float64:
			vector.Values[float64](v)[i] = math.NaN()
		case vector.Decimal:
			vector.Values[vector.Dec](v)[i] = [...]vector.Dec{{}, nines(38)}[r.IntN(2)]
		}
	}
}

// randomExpr is an expression of type id, at most depth deep.
func randomExpr(r *rand.Rand, s sqltype.Schema, id sqltype.ID, depth int) Expr {
	for {
		if e := tryExpr(r, s, id, depth); e != nil && e.Type().ID == id {
			return e
		}
	}
}

var refNumeric = []sqltype.ID{sqltype.TinyInt, sqltype.SmallInt, sqltype.Integer, sqltype.BigInt, sqltype.Double, sqltype.Decimal}

func tryExpr(r *rand.Rand, s sqltype.Schema, id sqltype.ID, depth int) Expr {
	if depth == 0 || r.IntN(5) == 0 {
		i := r.IntN(len(s))
		if s[i].Type.ID != id {
			return nil
		}
		switch r.IntN(8) {
		case 0:
			return Null(s[i].Type, errs.Position{})
		case 1:
			p := vector.NewPool()
			b := randomBatch(r, p, s[i:i+1], 1)
			return &Literal{Value: ValueAt(b.Col(0), s[i].Type, 0), T: s[i].Type}
		}
		return NewColumn(s, i, errs.Position{Line: 1, Column: i + 1})
	}
	sub := func(id sqltype.ID) Expr { return randomExpr(r, s, id, depth-1) }
	number := func() Expr { return sub(refNumeric[r.IntN(len(refNumeric))]) }
	apply := func(name string, args ...Expr) Expr {
		e, err := Apply(name, errs.Position{Line: 9, Column: 9}, args...)
		if err != nil {
			return nil
		}
		return e
	}
	pick := func(names ...string) string { return names[r.IntN(len(names))] }
	same := func() Expr { return sub(id) }
	switch r.IntN(7) {
	case 0:
		e, err := NewCase([]When{{sub(sqltype.Boolean), same()}, {sub(sqltype.Boolean), same()}}, same(), errs.Position{})
		if err != nil {
			return nil
		}
		return e
	case 1:
		return apply("IF", sub(sqltype.Boolean), same(), same())
	case 2:
		return apply("COALESCE", same(), same(), same())
	case 3:
		return apply("NULLIF", same(), same())
	}
	switch {
	case id == sqltype.Boolean:
		other := append(refNumeric, sqltype.Varchar, sqltype.Boolean)[r.IntN(8)]
		switch r.IntN(6) {
		case 0:
			return apply(pick("AND", "OR"), same(), same(), same())
		case 1:
			return apply(pick("NOT", "IS TRUE", "IS NOT TRUE", "IS FALSE"), same())
		case 2:
			return apply(pick("IS NULL", "IS NOT NULL"), sub(other))
		case 3:
			return apply(pick("IS DISTINCT FROM", "IS NOT DISTINCT FROM"), sub(other), sub(other))
		case 4:
			return apply("IN", sub(other), sub(other), sub(other), sub(other))
		}
		if other != sqltype.Boolean && other != sqltype.Varchar {
			return apply(pick("=", "<>", "<", "<=", ">", ">="), number(), number())
		}
		return apply(pick("=", "<>", "<", "<=", ">", ">="), sub(other), sub(other))
	case id == sqltype.Varchar:
		switch r.IntN(3) {
		case 0:
			return apply("UPPER", same())
		case 1:
			return apply(pick("||", "GREATEST", "LEAST"), same(), same())
		}
		c, err := NewCast(sub([]sqltype.ID{sqltype.Integer, sqltype.Decimal, sqltype.BigInt}[r.IntN(3)]), sqltype.StringType, false, errs.Position{})
		if err != nil {
			return nil
		}
		return c
	}
	switch r.IntN(5) {
	case 0:
		return apply(pick("NEG", "ABS"), same())
	case 1:
		return apply(pick("GREATEST", "LEAST"), same(), same())
	case 2:
		t := s[slices.IndexFunc(s, func(c sqltype.Column) bool { return c.Type.ID == id })].Type
		c, err := NewCast(number(), t, false, errs.Position{})
		if err != nil {
			return nil
		}
		return c
	}
	return apply(pick("+", "-", "*", "/", "MOD"), number(), number())
}

func sameResult(got, want any) bool {
	if x, ok := want.(*big.Rat); ok {
		y, ok := got.(*big.Rat)
		return ok && x.Cmp(y) == 0
	}
	if x, ok := want.(float64); ok {
		y, ok := got.(float64)
		return ok && (x == y || math.IsNaN(x) && math.IsNaN(y))
	}
	return got == want
}

func TestAgainstReference(t *testing.T) {
	const seed = 20
	trials := 4000
	if testing.Short() {
		trials = 600
	}
	s := randomSchema()
	for trial := range trials {
		r := rand.New(rand.NewPCG(seed, uint64(trial)))
		p := vector.NewCheckedPool()
		id := append(refNumeric, sqltype.Boolean, sqltype.Boolean, sqltype.Varchar)[r.IntN(9)]
		e := randomExpr(r, s, id, 1+r.IntN(3))
		b := randomBatch(r, p, s, []int{0, 1, 2, 7, 70}[r.IntN(5)])
		want, failed := make([]any, b.Len()), false
		for i := range want {
			v, err := reference(e, b, b.Row(i))
			want[i], failed = v, failed || err != nil
		}
		checkEval(t, trial, e, e, b, p, want, failed, true)
		checkEval(t, trial, e, Fold(e), b, p, want, failed, false)
		if id == sqltype.Boolean {
			checkSelection(t, trial, e, b, p, want, failed)
		}
		b.Release()
		if err := p.Leaks(); err != nil {
			t.Errorf("trial %d: %s: %v", trial, e, err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func checkEval(t *testing.T, trial int, e, compiled Expr, b *vector.Batch, p *vector.Pool, want []any, failed, strict bool) {
	t.Helper()
	c := newCompiler()
	n, err := c.compile(compiled)
	if err != nil {
		t.Fatalf("trial %d: %s: %v", trial, e, err)
	}
	ev := &Evaluator{root: n, clk: c.clk}
	for range 2 { // an evaluator is used again
		v, err := ev.Eval(p, b)
		if err != nil {
			if !failed {
				t.Errorf("trial %d: %s: %v", trial, e, err)
			}
			continue
		}
		if failed {
			if strict {
				t.Errorf("trial %d: %s: no error", trial, e)
			}
			v.Release()
			continue
		}
		if v.Len() != b.Len() || v.Kind() != e.Type().Kind() {
			t.Errorf("trial %d: %s: %d rows of %v", trial, e, v.Len(), v.Kind())
		}
		for i, w := range want {
			if got := refValue(ValueAt(v, e.Type(), i), e.Type()); !sameResult(got, w) {
				t.Errorf("trial %d: %s on row %d of %d: %v, want %v", trial, e, i, len(want), got, w)
				break
			}
		}
		v.Release()
	}
}

func checkSelection(t *testing.T, trial int, e Expr, b *vector.Batch, p *vector.Pool, want []any, failed bool) {
	t.Helper()
	pr, err := CompilePredicate(e)
	if err != nil {
		t.Fatalf("trial %d: %s: %v", trial, e, err)
	}
	for range 2 {
		v, err := pr.Select(p, b)
		if err != nil {
			if !failed {
				t.Errorf("trial %d: WHERE %s: %v", trial, e, err)
			}
			continue
		}
		if !failed {
			var rows []int32
			for i, w := range want {
				if w == true {
					rows = append(rows, int32(b.Row(i)))
				}
			}
			if got := vector.Values[int32](v); !slices.Equal(got, rows) {
				t.Errorf("trial %d: WHERE %s: rows %v, want %v", trial, e, got, rows)
			}
		}
		v.Release()
	}
}
