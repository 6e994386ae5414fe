package expr

import (
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// Predicate selects the rows on which a condition is TRUE. It has scratch memory and
// belongs to one goroutine.
type Predicate struct {
	filters []filter // each narrows what the ones before it left
	clk     *clock
	guests  []guest
	out     []int32
}

// filter keeps some of the rows sel of b (all rows, without some): it writes them to
// out, which may be sel itself, and returns how many.
type filter interface {
	narrow(p *vector.Pool, b *vector.Batch, sel []int32, some bool, out []int32) (int, error)
}

// CompilePredicate prepares a BOOLEAN expression as a filter. It fails as Compile
// does. The parts of a conjunction are tested in the order in which they are written,
// each only on the rows that passed those before.
func CompilePredicate(e Expr) (*Predicate, error) {
	c := newCompiler()
	pr := &Predicate{clk: c.clk}
	for _, part := range Conjuncts(Fold(e)) {
		f, err := c.compileFilter(part)
		if err != nil {
			return nil, err
		}
		pr.filters = append(pr.filters, f)
	}
	pr.guests = c.guests
	return pr, nil
}

// Open is Evaluator.Open.
func (pr *Predicate) Open(in *function.Instances) error { return openAll(pr.guests, in) }

// SetNow is Evaluator.SetNow.
func (pr *Predicate) SetNow(ms int64) { pr.clk.now = ms }

// Select finds the live rows of b, which is borrowed, on which the condition is
// TRUE: an Int32 column of physical positions in the order of b's selection, as
// Batch.Select takes it. It is the caller's.
func (pr *Predicate) Select(p *vector.Pool, b *vector.Batch) (*vector.Vector, error) {
	sel, some := b.Sel()
	n := b.Len()
	if len(pr.out) < n {
		pr.out = make([]int32, max(n, vector.Target))
	}
	for _, f := range pr.filters {
		if n == 0 {
			break
		}
		k, err := f.narrow(p, b, sel, some, pr.out)
		if err != nil {
			return nil, err
		}
		sel, some, n = pr.out[:k], true, k
	}
	out := p.New(vector.Int32, n)
	dst := vector.Values[int32](out)
	if some {
		copy(dst, sel)
		return out, nil
	}
	for i := range dst {
		dst[i] = int32(i)
	}
	return out, nil
}

func (c *compiler) compileFilter(e Expr) (filter, error) {
	if call, ok := e.(*Call); ok {
		if op, is := call.Func.Comparison(); is {
			if f, err := c.compileCompare(op, call.Args[0], call.Args[1]); f != nil || err != nil {
				return f, err
			}
			if f, err := c.compileCompare(op.Flip(), call.Args[1], call.Args[0]); f != nil || err != nil {
				return f, err
			}
		}
		if len(call.Args) == 1 {
			if col, ok := call.Args[0].(*Column); ok {
				switch call.Func.Name {
				case "IS NULL":
					return &nullFilter{index: col.Index, want: false}, nil
				case "IS NOT NULL":
					return &nullFilter{index: col.Index, want: true}, nil
				}
			}
		}
	}
	n, err := c.compile(asKind(e, sqltype.BoolType))
	return &exprFilter{root: n}, err
}

// compileCompare is the filter "e op constant", or nil when that is not what it is.
func (c *compiler) compileCompare(op kernel.Cmp, e, constant Expr) (filter, error) {
	lit, ok := constant.(*Literal)
	kind := e.Type().Kind()
	if !ok || lit.Value == nil || kind != lit.T.Kind() || !kernel.CanSelect(kind) {
		return nil, nil
	}
	if _, ok := e.(*Literal); ok {
		return nil, nil
	}
	n, err := c.compile(e)
	if err != nil {
		return nil, err
	}
	return &compareFilter{op: op, arg: n, constant: literalColumn(c.pool, lit)}, nil
}

// compareFilter compares a column, or an expression, with a constant.
type compareFilter struct {
	op       kernel.Cmp
	arg      node
	constant *vector.Vector
	sub      frame
	hits     []int32
}

func (f *compareFilter) narrow(p *vector.Pool, b *vector.Batch, sel []int32, some bool, out []int32) (int, error) {
	if col, ok := f.arg.(*columnNode); ok {
		return kernel.SelectCompare(f.op, b.Col(col.index), f.constant, sel, some, out), nil
	}
	f.sub.reset(b, sel, some)
	defer f.sub.release()
	v, err := evalFull(p, f.arg, &f.sub)
	if err != nil {
		return 0, err
	}
	defer v.Release()
	if !some {
		return kernel.SelectCompare(f.op, v, f.constant, nil, false, out), nil
	}
	if len(f.hits) < len(sel) {
		f.hits = make([]int32, len(sel))
	}
	k := kernel.SelectCompare(f.op, v, f.constant, nil, false, f.hits)
	for i, r := range f.hits[:k] {
		out[i] = sel[r]
	}
	return k, nil
}

// nullFilter tests a column for NULL.
type nullFilter struct {
	index int
	want  bool // a value
}

func (f *nullFilter) narrow(_ *vector.Pool, b *vector.Batch, sel []int32, some bool, out []int32) (int, error) {
	return kernel.SelectValid(b.Col(f.index), f.want, sel, some, out), nil
}

// exprFilter computes a BOOLEAN expression.
type exprFilter struct {
	root node
	sub  frame
}

func (f *exprFilter) narrow(p *vector.Pool, b *vector.Batch, sel []int32, some bool, out []int32) (int, error) {
	f.sub.reset(b, sel, some)
	defer f.sub.release()
	v, err := evalFull(p, f.root, &f.sub)
	if err != nil {
		return 0, err
	}
	defer v.Release()
	return kernel.SelectTrue(v, sel, some, out), nil
}
