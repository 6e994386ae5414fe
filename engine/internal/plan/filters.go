package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
)

// pushFilters moves every condition as far down as it can go, and turns equalities
// between the two sides of a join into its keys.
func pushFilters(n Node) (Node, error) { return pushDown(n, nil), nil }

// pushDown returns a node with the rows of n on which all conds are true. The
// conditions are over the columns of n.
func pushDown(n Node, conds []expr.Expr) Node {
	switch n := n.(type) {
	case *Calc:
		return n.pushDown(conds)
	case *Join:
		return n.pushDown(conds)
	case *Aggregate:
		// A group is kept or dropped as a whole when the condition is on its keys.
		below, above := split(conds, func(e expr.Expr) bool {
			return len(n.Keys) > 0 && within(e, 0, len(n.Keys))
		})
		for i, c := range below {
			below[i] = expr.Remap(c, func(k int) int { return n.Keys[k] })
		}
		n.Input = pushDown(n.Input, below)
		return filtered(n, above)
	case *Union:
		below, above := split(conds, expr.Deterministic)
		for i, in := range n.Ins {
			n.Ins[i] = pushDown(in, slices.Clone(below))
		}
		return filtered(n, above)
	case *SetOperation:
		below, above := split(conds, expr.Deterministic)
		n.Left, n.Right = pushDown(n.Left, slices.Clone(below)), pushDown(n.Right, slices.Clone(below))
		return filtered(n, above)
	case *Normalize:
		// A condition on the key alone is the same for all rows of a key.
		below, above := split(conds, func(e expr.Expr) bool {
			return expr.Deterministic(e) && subset(expr.Columns(e), n.Keys)
		})
		n.Input = pushDown(n.Input, below)
		return filtered(n, above)
	}
	for i, in := range n.Inputs() {
		n.setInput(i, pushDown(in, nil))
	}
	return filtered(n, conds)
}

// filtered is n below a filter, if there are conditions.
func filtered(n Node, conds []expr.Expr) Node {
	if len(conds) == 0 {
		return n
	}
	return newFilter(n, expr.And(conds...), conds[0].Pos())
}

// split parts the conditions that are deterministic and ok from the rest.
func split(conds []expr.Expr, ok func(expr.Expr) bool) (yes, no []expr.Expr) {
	for _, c := range conds {
		if expr.Deterministic(c) && ok(c) {
			yes = append(yes, c)
		} else {
			no = append(no, c)
		}
	}
	return yes, no
}

// within reports whether e reads columns from low up to high only.
func within(e expr.Expr, low, high int) bool {
	for _, c := range expr.Columns(e) {
		if c < low || c >= high {
			return false
		}
	}
	return true
}

func subset(a, b []int) bool {
	return !slices.ContainsFunc(a, func(x int) bool { return !slices.Contains(b, x) })
}

// pushDown of a Calc: its own filter and what reads deterministic results go on.
func (n *Calc) pushDown(conds []expr.Expr) Node {
	below, above := split(conds, func(e expr.Expr) bool {
		return !slices.ContainsFunc(expr.Columns(e), func(c int) bool { return !expr.Deterministic(n.Exprs[c]) })
	})
	var all []expr.Expr
	if n.Filter != nil {
		all = expr.Conjuncts(n.Filter)
	}
	for _, c := range below {
		all = append(all, expr.Conjuncts(replace(c, n.Exprs))...)
	}
	down, here := split(all, func(expr.Expr) bool { return true })
	n.Filter = nil
	if len(here) > 0 {
		n.Filter = expr.And(here...)
	}
	n.Input = pushDown(n.Input, down)
	return filtered(n, above)
}

// replace is e with column i replaced by exprs[i].
func replace(e expr.Expr, exprs []expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if c, ok := e.(*expr.Column); ok {
			return exprs[c.Index]
		}
		return e
	})
}

// pushDown of a Join: conditions on one side go there, equalities of the sides
// become keys, the rest is residual. A condition on key columns holds for both
// sides.
func (n *Join) pushDown(conds []expr.Expr) Node {
	at := len(n.Left.Schema())
	width := at + len(n.Right.Schema())
	if n.Residual != nil {
		conds = append(expr.Conjuncts(n.Residual), conds...)
	}
	var left, right, rest, above []expr.Expr
	for _, c := range conds {
		switch {
		case !expr.Deterministic(c):
			above = append(above, c)
		case within(c, 0, at):
			left = append(left, c)
		case within(c, at, width):
			right = append(right, c)
		default:
			rest = append(rest, c)
		}
	}
	k := &joinKeys{join: n, at: at, left: columns(n.Left), right: columns(n.Right)}
	rest = slices.DeleteFunc(rest, k.add)
	moreRight, moreLeft := k.mirror(left, 0), k.mirror(right, at)
	for i, c := range right {
		right[i] = expr.Remap(c, func(i int) int { return i - at })
	}
	for i, c := range moreRight {
		moreRight[i] = expr.Remap(c, func(i int) int { return i - at })
	}
	n.Left = k.side(pushDown(n.Left, addNew(left, moreLeft)), k.left)
	n.Right = k.side(pushDown(n.Right, addNew(right, moreRight)), k.right)
	return filtered(k.finish(rest), above)
}

// addNew adds the conditions that are not there yet.
func addNew(conds, more []expr.Expr) []expr.Expr {
	for _, m := range more {
		if !slices.ContainsFunc(conds, func(c expr.Expr) bool { return expr.Equal(c, m) }) {
			conds = append(conds, m)
		}
	}
	return conds
}

// joinKeys collects the keys of a join. A key that is no plain column is computed
// below the join, in a column behind those of its side.
type joinKeys struct {
	join        *Join
	at          int         // number of columns of the left side
	left, right []expr.Expr // the columns of each side, then computed keys
	l, r        []int       // the keys, positions in left and right
}

// add takes a condition of the form left = right as a key.
func (k *joinKeys) add(cond expr.Expr) bool {
	c, ok := cond.(*expr.Call)
	if !ok || c.Func != function.MustScalar("=") || !hashAlike(c.Args[0].Type(), c.Args[1].Type()) {
		return false
	}
	a, b := c.Args[0], c.Args[1]
	width := k.at + len(k.join.Right.Schema())
	one := func(e expr.Expr, low, high int) bool { return len(expr.Columns(e)) > 0 && within(e, low, high) }
	if one(b, 0, k.at) && one(a, k.at, width) {
		a, b = b, a
	}
	if !one(a, 0, k.at) || !one(b, k.at, width) {
		return false
	}
	b = expr.Remap(b, func(i int) int { return i - k.at })
	l, r := position(&k.left, a), position(&k.right, b)
	for i := range k.l {
		if k.l[i] == l && k.r[i] == r {
			return true
		}
	}
	k.l, k.r = append(k.l, l), append(k.r, r)
	return true
}

// hashAlike reports whether equal values of two types hash the same. Operands of =
// have one type already, but for strings that differ in length only.
func hashAlike(a, b sqltype.Type) bool {
	return a.Equal(b) || a.IsString() && b.IsString() || a.IsBinary() && b.IsBinary()
}

// position is where e is among the columns, behind which it is added if need be.
func position(cols *[]expr.Expr, e expr.Expr) int {
	i := slices.IndexFunc(*cols, func(c expr.Expr) bool { return expr.Equal(c, e) })
	if i < 0 {
		i = len(*cols)
		*cols = append(*cols, e)
	}
	return i
}

// mirror is the conditions, on columns from the given one on, that read nothing but
// keys of one side, as conditions on the keys of the other. All are over the
// columns of both sides.
func (k *joinKeys) mirror(conds []expr.Expr, from int) []expr.Expr {
	var out []expr.Expr
	for _, c := range conds {
		if len(expr.Columns(c)) == 0 {
			continue
		}
		ok := true
		m := expr.Rewrite(c, func(e expr.Expr) expr.Expr {
			col, is := e.(*expr.Column)
			if !is || !ok {
				return e
			}
			other := k.partner(col.Index, from == 0)
			if other == nil || !other.T.Equal(col.T) || col.T.NotNull && !other.T.NotNull {
				ok = false
				return e
			}
			return other
		})
		if ok {
			out = append(out, m)
		}
	}
	return out
}

// partner is the column of the other side that a key column equals, or nil.
func (k *joinKeys) partner(col int, left bool) *expr.Column {
	for i := range k.l {
		l, r := k.l[i], k.r[i]
		if l >= k.at || r >= len(k.join.Right.Schema()) {
			continue
		}
		switch {
		case left && l == col:
			return expr.NewColumn(k.join.schema, k.at+r, k.join.at)
		case !left && k.at+r == col:
			return expr.NewColumn(k.join.schema, l, k.join.at)
		}
	}
	return nil
}

// side is one input with the computed keys behind its columns.
func (k *joinKeys) side(in Node, cols []expr.Expr) Node {
	if len(cols) == len(in.Schema()) {
		return in
	}
	names := in.Schema().Names()
	for _, e := range cols[len(names):] {
		names = append(names, e.String())
	}
	return newCalc(in, nil, cols, names, k.join.at)
}

// finish is the join with its keys, and the columns that it had before.
func (k *joinKeys) finish(rest []expr.Expr) Node {
	n := k.join
	extra := len(k.left) - k.at
	right := len(n.schema) - k.at
	var residual expr.Expr
	if len(rest) > 0 {
		residual = expr.Remap(expr.And(rest...), func(i int) int {
			if i >= k.at {
				return i + extra
			}
			return i
		})
	}
	var output []int
	for i := range k.at {
		output = append(output, i)
	}
	for i := range right {
		output = append(output, len(k.left)+i)
	}
	return newJoin(n.Left, n.Right, append(n.LeftKeys, k.l...), append(n.RightKeys, k.r...), residual, output, n.at)
}
