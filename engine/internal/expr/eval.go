package expr

import (
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// Evaluator computes an expression over batches. It has scratch memory and belongs
// to one goroutine.
type Evaluator struct {
	root   node
	clk    *clock
	guests []guest
	top    frame
}

// clock is what NOW() and its like read.
type clock struct{ now int64 }

// Compile prepares e for evaluation. It fails for constants that make no sense,
// such as a bad pattern.
func Compile(e Expr) (*Evaluator, error) {
	c := newCompiler()
	root, err := c.compile(Fold(e))
	if err != nil {
		return nil, err
	}
	return &Evaluator{root: root, clk: c.clk, guests: c.guests}, nil
}

// Open opens the functions that keep something from one call to the next. It comes
// before the first Eval. The instances outlive the evaluator.
func (ev *Evaluator) Open(in *function.Instances) error { return openAll(ev.guests, in) }

// guest is a call of a function that has to be opened.
type guest struct {
	call    *callNode
	of      *function.Scalar
	binding function.Binding
}

func openAll(guests []guest, in *function.Instances) error {
	for _, g := range guests {
		k, err := in.Open(g.of, g.binding)
		if err != nil {
			return at(err, g.call.pos)
		}
		g.call.kernel = k
	}
	return nil
}

// SetNow tells the evaluator the clock of the epoch, in milliseconds since 1970,
// which NOW() and its like read. It may be called between evaluations.
func (ev *Evaluator) SetNow(ms int64) { ev.clk.now = ms }

// Eval computes the expression on the live rows of b, which is borrowed. The result
// has b.Len() rows, in the order of the selection, and is the caller's.
func (ev *Evaluator) Eval(p *vector.Pool, b *vector.Batch) (*vector.Vector, error) {
	sel, some := b.Sel()
	ev.top.reset(b, sel, some)
	defer ev.top.release()
	v, err := ev.root.eval(p, &ev.top)
	if err != nil {
		return nil, err
	}
	return full(p, ev.root, v, ev.top.n), nil
}

// full is the value of a node with n rows, taking over v.
func full(p *vector.Pool, from node, v *vector.Vector, n int) *vector.Vector {
	if _, constant := from.(*constNode); !constant && v.Len() == n {
		return v
	}
	out := kernel.Broadcast(p, v, n)
	v.Release()
	return out
}

// frame is a set of rows that expressions are evaluated on: those of a batch at the
// given positions, or all of them.
type frame struct {
	b    *vector.Batch
	rows []int32
	some bool
	n    int
	cols []*vector.Vector // gathered so far, when some
}

func (f *frame) reset(b *vector.Batch, rows []int32, some bool) {
	f.b, f.rows, f.some, f.n = b, rows, some, b.Rows()
	if some {
		f.n = len(rows)
	}
	if cap(f.cols) < b.Cols() {
		f.cols = make([]*vector.Vector, b.Cols())
	}
	f.cols = f.cols[:b.Cols()]
}

// column is input column i at the frame's rows, to be released.
func (f *frame) column(p *vector.Pool, i int) *vector.Vector {
	if !f.some {
		return f.b.Col(i).Retain()
	}
	if f.cols[i] == nil {
		f.cols[i] = f.b.Col(i).Take(p, f.rows)
	}
	return f.cols[i].Retain()
}

func (f *frame) release() {
	for i, c := range f.cols {
		if c != nil {
			c.Release()
			f.cols[i] = nil
		}
	}
	f.b, f.rows = nil, nil
}

// physical translates row numbers of the frame into positions of its batch, into dst.
func (f *frame) physical(dst, idx []int32) []int32 {
	if !f.some {
		return idx
	}
	dst = dst[:len(idx)]
	for i, r := range idx {
		dst[i] = f.rows[r]
	}
	return dst
}

// node is a compiled expression.
type node interface {
	// eval gives a column with a row for each row of f, or with one row that counts
	// for all. It is the caller's.
	eval(p *vector.Pool, f *frame) (*vector.Vector, error)
}

// compiler builds nodes. Constants live in a pool of its own, as long as the nodes.
type compiler struct {
	pool   *vector.Pool
	clk    *clock
	guests []guest
}

func newCompiler() *compiler { return &compiler{pool: vector.NewPool(), clk: &clock{}} }

func (c *compiler) compile(e Expr) (node, error) {
	switch e := e.(type) {
	case *Column:
		return &columnNode{index: e.Index}, nil
	case *Literal:
		return &constNode{v: literalColumn(c.pool, e)}, nil
	case *Cast:
		return c.compileCast(e)
	case *Case:
		return c.compileCase(e)
	case *Call:
		switch e.Func.Lazy {
		case function.LazyAnd, function.LazyOr:
			return c.compileJunction(e)
		case function.LazyIf:
			return c.compileCase(&Case{Whens: []When{{Cond: e.Args[0], Then: e.Args[1]}}, Else: e.Args[2], T: e.T, At: e.At})
		case function.LazyCoalesce:
			args, err := c.compileAll(e.Args)
			return &coalesceNode{args: args, kind: e.T.Kind(), subs: make([]frame, len(args))}, err
		}
		return c.compileCall(e)
	}
	panic("expr: unknown expression")
}

func (c *compiler) compileAll(es []Expr) ([]node, error) {
	out := make([]node, len(es))
	for i, e := range es {
		n, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func zoneOf(z *time.Location) *time.Location {
	if z == nil {
		return time.UTC
	}
	return z
}

func (c *compiler) compileCall(e *Call) (node, error) {
	args, err := c.compileAll(e.Args)
	if err != nil {
		return nil, err
	}
	b := function.Binding{Ret: e.T, Zone: zoneOf(e.Zone)}
	for _, a := range e.Args {
		b.Args = append(b.Args, argOf(a))
	}
	n := &callNode{name: e.Func.Name, args: args, kind: e.T.Kind(), nullCall: e.Func.NullCall, each: !e.Func.Deterministic, pos: e.At, clk: c.clk, vs: make([]*vector.Vector, len(args))}
	if e.Func.Open != nil {
		c.guests = append(c.guests, guest{n, e.Func, b})
		return n, nil
	}
	if n.kernel, err = e.Func.Bind(b); err != nil {
		return nil, at(err, e.At)
	}
	return n, nil
}

func (c *compiler) compileCast(e *Cast) (node, error) {
	arg, err := c.compile(e.Arg)
	if err != nil {
		return nil, err
	}
	from := e.Arg.Type()
	if from.Equal(e.T) && !e.T.IsString() && !e.T.IsBinary() {
		return arg, nil
	}
	k, err := function.BindCast(from, e.T, e.Try, zoneOf(e.Zone))
	if err != nil {
		return nil, at(err, e.At)
	}
	return &callNode{name: "CAST", args: []node{arg}, kernel: k, kind: e.T.Kind(), pos: e.At, clk: c.clk, vs: make([]*vector.Vector, 1)}, nil
}

// columnNode reads an input column.
type columnNode struct{ index int }

func (n *columnNode) eval(p *vector.Pool, f *frame) (*vector.Vector, error) {
	return f.column(p, n.index), nil
}

// constNode is a literal: a column of one row.
type constNode struct{ v *vector.Vector }

func (n *constNode) eval(*vector.Pool, *frame) (*vector.Vector, error) { return n.v.Retain(), nil }

// callNode computes its arguments on all rows, then a function of them.
type callNode struct {
	name     string
	args     []node
	kernel   function.Kernel
	kind     vector.Kind
	nullCall bool
	each     bool // constant arguments do not make a constant result
	pos      errs.Position
	clk      *clock

	vs    []*vector.Vector // of the arguments, during eval
	valid vector.Bitmap    // scratch
}

func (n *callNode) eval(p *vector.Pool, f *frame) (*vector.Vector, error) {
	if f.n == 0 {
		return empty(p, n.kind), nil
	}
	rows, null := 1, false
	if len(n.args) == 0 || n.each {
		rows = f.n
	}
	defer n.release()
	for i, a := range n.args {
		v, err := a.eval(p, f)
		if err != nil {
			return nil, err
		}
		n.vs[i] = v
		if v.Len() != 1 {
			rows = f.n
		} else if v.IsNull(0) {
			null = true
		}
	}
	if null && !n.nullCall {
		return nullRow(p, n.kind), nil
	}
	if n.kernel == nil {
		panic("expr: " + n.name + " is called before it is opened")
	}
	call := function.Call{Pool: p, N: rows, Args: n.vs, Now: n.clk.now}
	if !n.nullCall {
		if w := vector.BitmapWords(rows); w > len(n.valid) {
			n.valid = make(vector.Bitmap, w)
		}
		if kernel.Combine(n.valid, rows, n.vs) {
			call.Valid = n.valid[:vector.BitmapWords(rows)]
		}
	}
	out, err := n.kernel(&call)
	if err != nil {
		return nil, at(err, n.pos)
	}
	if out.Len() != rows || out.Kind() != n.kind {
		panic("expr: " + n.name + " gave a column of the wrong kind or length")
	}
	if call.Valid != nil && out.Valid() == nil {
		copy(out.NewValid(false), call.Valid)
	}
	return out, nil
}

func (n *callNode) release() {
	for i, v := range n.vs {
		if v != nil {
			v.Release()
			n.vs[i] = nil
		}
	}
}

func empty(p *vector.Pool, k vector.Kind) *vector.Vector { return kernel.Nulls(p, k, 0) }

func nullRow(p *vector.Pool, k vector.Kind) *vector.Vector { return kernel.Nulls(p, k, 1) }

// literalColumn is a column of one row that holds the literal.
func literalColumn(p *vector.Pool, l *Literal) *vector.Vector {
	kind := l.T.Kind()
	if l.Value == nil {
		return nullRow(p, kind)
	}
	switch v := l.Value.(type) {
	case bool:
		return vector.Of(p, v)
	case vector.Dec:
		return vector.Of(p, v)
	case float64:
		if kind == vector.Float32 {
			return vector.Of(p, float32(v))
		}
		return vector.Of(p, v)
	case int64:
		switch kind {
		case vector.Int8:
			return vector.Of(p, int8(v))
		case vector.Int16:
			return vector.Of(p, int16(v))
		case vector.Int32:
			return vector.Of(p, int32(v))
		case vector.Int64:
			return vector.Of(p, v)
		}
	case string:
		return bytesColumn(p, kind, []byte(v))
	case []byte:
		return bytesColumn(p, kind, v)
	}
	panic("expr: a literal of type " + l.T.String() + " with a value of another")
}

func bytesColumn(p *vector.Pool, kind vector.Kind, b []byte) *vector.Vector {
	v := p.NewVariable(kind, 1, len(b))
	copy(v.Data(), b)
	v.Offsets()[1] = int32(len(b))
	return v
}

// ValueAt is row i of a column of type t, in the form that Literal.Value has, which
// nested types do not have.
func ValueAt(v *vector.Vector, t sqltype.Type, i int) any {
	if v.IsNull(i) || t.ID == sqltype.Null {
		return nil
	}
	switch v.Kind() {
	case vector.Bool:
		return vector.Values[bool](v)[i]
	case vector.Int8:
		return int64(vector.Values[int8](v)[i])
	case vector.Int16:
		return int64(vector.Values[int16](v)[i])
	case vector.Int32:
		return int64(vector.Values[int32](v)[i])
	case vector.Int64:
		return vector.Values[int64](v)[i]
	case vector.Float32:
		return float64(vector.Values[float32](v)[i])
	case vector.Float64:
		return vector.Values[float64](v)[i]
	case vector.Decimal:
		return vector.Values[vector.Dec](v)[i]
	case vector.String:
		return string(v.Bytes(i))
	}
	return append([]byte{}, v.Bytes(i)...)
}
