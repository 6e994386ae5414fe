package expr

import (
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// Branches are evaluated only on the rows that reach them, so that a condition
// guards what stands behind it from errors.

// Cheap reports whether e cannot fail and costs little, so that it may be computed on
// rows that do not need it.
func Cheap(e Expr) bool {
	switch e := e.(type) {
	case *Column, *Literal:
		return true
	case *Cast:
		from := e.Arg.Type()
		return Cheap(e.Arg) && from.IsInteger() && e.T.IsInteger() && from.ID <= e.T.ID
	case *Call:
		for _, a := range e.Args {
			if !Cheap(a) {
				return false
			}
		}
		return e.Func.Cheap
	}
	return false
}

// junctionNode is an AND or OR in three-valued logic.
type junctionNode struct {
	args  []node
	cheap []bool
	or    bool
	sub   frame
}

func (c *compiler) compileJunction(e *Call) (node, error) {
	args, err := c.compileAll(e.Args)
	n := &junctionNode{args: args, or: e.Func.Lazy == function.LazyOr}
	for _, a := range e.Args {
		n.cheap = append(n.cheap, Cheap(a))
	}
	return n, err
}

func (n *junctionNode) eval(p *vector.Pool, f *frame) (*vector.Vector, error) {
	acc, err := evalFull(p, n.args[0], f)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(n.args); i++ {
		next, err := n.join(p, f, acc, i)
		acc.Release()
		if err != nil {
			return nil, err
		}
		acc = next
	}
	return acc, nil
}

// join computes acc AND (OR) argument i.
func (n *junctionNode) join(p *vector.Pool, f *frame, acc *vector.Vector, i int) (*vector.Vector, error) {
	if n.cheap[i] {
		v, err := evalFull(p, n.args[i], f)
		if err != nil {
			return nil, err
		}
		defer v.Release()
		return n.combine(p, acc, v), nil
	}
	// Rows are settled where acc is FALSE (TRUE, for OR).
	lists := p.New(vector.Int32, 3*f.n)
	defer lists.Release()
	all := vector.Values[int32](lists)
	settled, open, physical := all[:f.n], all[f.n:2*f.n], all[2*f.n:]
	decisive := kernel.IsTruth(p, acc, n.or, false)
	k, r := kernel.Partition(decisive, nil, false, settled, open)
	decisive.Release()
	settled, open = settled[:k], open[:r]
	if k == 0 {
		v, err := evalFull(p, n.args[i], f)
		if err != nil {
			return nil, err
		}
		defer v.Release()
		return n.combine(p, acc, v), nil
	}
	if r == 0 {
		return acc.Retain(), nil
	}
	n.sub.reset(f.b, f.physical(physical, open), true)
	defer n.sub.release()
	v, err := evalFull(p, n.args[i], &n.sub)
	if err != nil {
		return nil, err
	}
	defer v.Release()
	part := acc.Take(p, open)
	defer part.Release()
	both := n.combine(p, part, v)
	defer both.Release()
	same := vector.Of(p, n.or)
	defer same.Release()
	return kernel.Merge(p, vector.Bool, f.n, []kernel.Part{{Rows: settled, V: same}, {Rows: open, V: both}}), nil
}

func (n *junctionNode) combine(p *vector.Pool, a, b *vector.Vector) *vector.Vector {
	if n.or {
		return kernel.Or(p, a, b)
	}
	return kernel.And(p, a, b)
}

// evalFull is the value of a node with a row for every row of f.
func evalFull(p *vector.Pool, n node, f *frame) (*vector.Vector, error) {
	v, err := n.eval(p, f)
	if err != nil {
		return nil, err
	}
	if v.Len() == f.n {
		return v, nil
	}
	defer v.Release()
	return kernel.Broadcast(p, v, f.n), nil
}

// caseNode is CASE and IF.
type caseNode struct {
	conds, thens []node // the last of thens is the ELSE
	kind         vector.Kind
	sub, branch  frame
	parts        []kernel.Part
}

func (c *compiler) compileCase(e *Case) (node, error) {
	n := &caseNode{kind: e.T.Kind()}
	for _, w := range e.Whens {
		cond, err := c.compile(asKind(w.Cond, sqltype.BoolType))
		if err != nil {
			return nil, err
		}
		then, err := c.compile(asKind(w.Then, e.T))
		if err != nil {
			return nil, err
		}
		n.conds, n.thens = append(n.conds, cond), append(n.thens, then)
	}
	otherwise, err := c.compile(asKind(e.Else, e.T))
	n.thens = append(n.thens, otherwise)
	return n, err
}

// asKind gives an untyped NULL the kind of the columns it stands among.
func asKind(e Expr, t sqltype.Type) Expr {
	if e.Type().ID == sqltype.Null {
		return &Literal{T: t, At: e.Pos()}
	}
	return e
}

func (n *caseNode) eval(p *vector.Pool, f *frame) (*vector.Vector, error) {
	if f.n == 0 {
		return empty(p, n.kind), nil
	}
	n.parts = n.parts[:0]
	// Each condition splits the rows that are left in two. The lists stay until the
	// parts are merged.
	lists := p.New(vector.Int32, (len(n.conds)+3)*f.n)
	defer lists.Release()
	defer n.release()
	room := vector.Values[int32](lists)
	take := func() []int32 {
		l := room[:f.n:f.n]
		room = room[f.n:]
		return l
	}
	physical := take()
	rest, spare := take(), take()
	rows, some := []int32(nil), false // rows of f that are left
	left := f.n
	for i, cond := range n.conds {
		sub := f
		if some {
			n.sub.reset(f.b, f.physical(physical, rows), true)
			sub = &n.sub
		}
		v, err := evalFull(p, cond, sub)
		n.sub.release()
		if err != nil {
			return nil, err
		}
		hits := take()
		k, r := kernel.Partition(v, rows, some, hits, rest)
		v.Release()
		if k > 0 {
			if err := n.add(p, f, i, hits[:k], physical); err != nil {
				return nil, err
			}
		}
		rows, some, left = rest[:r], true, r
		rest, spare = spare[:f.n], rest
		if left == 0 {
			break
		}
	}
	if left > 0 {
		if !some {
			return n.thens[len(n.thens)-1].eval(p, f)
		}
		if err := n.add(p, f, len(n.thens)-1, rows, physical); err != nil {
			return nil, err
		}
	}
	return kernel.Merge(p, n.kind, f.n, n.parts), nil
}

// add evaluates branch i on some rows of f.
func (n *caseNode) add(p *vector.Pool, f *frame, i int, rows, physical []int32) error {
	branch := f
	if len(rows) < f.n {
		n.branch.reset(f.b, f.physical(physical, rows), true)
		defer n.branch.release()
		branch = &n.branch
	}
	v, err := n.thens[i].eval(p, branch)
	if err != nil {
		return err
	}
	n.parts = append(n.parts, kernel.Part{Rows: rows, V: v})
	return nil
}

func (n *caseNode) release() {
	for _, part := range n.parts {
		part.V.Release()
	}
	n.parts = n.parts[:0]
}

// coalesceNode is the first argument that is not NULL.
type coalesceNode struct {
	args  []node
	kind  vector.Kind
	subs  []frame
	parts []kernel.Part
}

func (n *coalesceNode) eval(p *vector.Pool, f *frame) (*vector.Vector, error) {
	if f.n == 0 {
		return empty(p, n.kind), nil
	}
	lists := p.New(vector.Int32, (len(n.args)+4)*f.n)
	defer lists.Release()
	defer n.release()
	room := vector.Values[int32](lists)
	take := func() []int32 {
		l := room[:f.n:f.n]
		room = room[f.n:]
		return l
	}
	physical, found, rest, spare := take(), take(), take(), take()
	rows, some := []int32(nil), false // rows of f that are NULL so far
	for i, arg := range n.args {
		sub := f
		if some {
			n.subs[i].reset(f.b, f.physical(physical, rows), true)
			sub = &n.subs[i]
		}
		v, err := arg.eval(p, sub)
		if some {
			sub.release()
		}
		if err != nil {
			return nil, err
		}
		last := i == len(n.args)-1
		one := v.Len() == 1 && sub.n != 1
		switch {
		case !some && !one && (last || v.Valid() == nil):
			return v, nil
		case last || v.Valid() == nil || one && !v.IsNull(0):
			if !some {
				defer v.Release()
				return kernel.Broadcast(p, v, f.n), nil
			}
			n.parts = append(n.parts, kernel.Part{Rows: rows, V: v})
			return kernel.Merge(p, n.kind, f.n, n.parts), nil
		case one: // a constant NULL
			v.Release()
			continue
		}
		k := kernel.SelectValid(v, true, nil, false, found)
		if k > 0 {
			hits := take()[:k]
			for j, r := range found[:k] {
				hits[j] = r
				if some {
					hits[j] = rows[r]
				}
			}
			n.parts = append(n.parts, kernel.Part{Rows: hits, V: v.Take(p, found[:k])})
		}
		k = kernel.SelectValid(v, false, nil, false, found)
		v.Release()
		for j, r := range found[:k] {
			rest[j] = r
			if some {
				rest[j] = rows[r]
			}
		}
		rows, some = rest[:k], true
		rest, spare = spare[:f.n], rest
		if k == 0 {
			break
		}
	}
	return kernel.Merge(p, n.kind, f.n, n.parts), nil
}

func (n *coalesceNode) release() {
	for _, part := range n.parts {
		part.V.Release()
	}
	n.parts = n.parts[:0]
}
