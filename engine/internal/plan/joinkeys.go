package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
)

// pushDown of a Join: conditions on one side go there where a row that fails has no
// effect, equalities of the sides become keys, the rest is residual. A condition on
// key columns holds for both sides.
func (n *Join) pushDown(conds []expr.Expr) Node {
	for i, c := range conds {
		conds[i] = expr.Remap(c, func(c int) int { return n.Output[c] })
	}
	n.reduce(conds)
	kind, at := n.Kind, len(n.Left.Schema())
	width := at + len(n.Right.Schema())
	var left, right, rest, above []expr.Expr
	for _, c := range conds {
		switch {
		case !expr.Deterministic(c):
			above = append(above, c)
		case !kind.PadsLeft() && within(c, 0, at):
			left = append(left, c)
		case !kind.PadsRight() && within(c, at, width):
			right = append(right, c)
		case kind == InnerJoin:
			rest = append(rest, c)
		default:
			above = append(above, c)
		}
	}
	if n.Residual != nil {
		for _, c := range expr.Conjuncts(n.Residual) {
			switch lit, ok := c.(*expr.Literal); {
			case ok && lit.Value == true:
			case kind == InnerJoin && !expr.Deterministic(c):
				above = append(above, c)
			case kind.LosesLeft() && within(c, 0, at):
				left = append(left, c)
			case kind.LosesRight() && within(c, at, width):
				right = append(right, c)
			default:
				rest = append(rest, c)
			}
		}
	}
	rest = n.Interval.without(n, rest)
	k := &joinKeys{join: n, at: at, left: columns(n.Left), right: columns(n.Right)}
	rest = slices.DeleteFunc(rest, k.add)
	var moreLeft, moreRight []expr.Expr
	if kind.LosesRight() {
		moreRight = k.mirror(left, 0)
	}
	if kind.LosesLeft() {
		moreLeft = k.mirror(right, at)
	}
	for i, c := range right {
		right[i] = expr.Remap(c, func(i int) int { return i - at })
	}
	for i, c := range moreRight {
		moreRight[i] = expr.Remap(c, func(i int) int { return i - at })
	}
	n.Left = k.side(pushDown(n.Left, addNew(left, moreLeft)), k.left)
	n.Right = k.side(pushDown(n.Right, addNew(right, moreRight)), k.right)
	for i, c := range above {
		above[i] = expr.Remap(c, func(c int) int { return slices.Index(n.Output, c) })
	}
	return filtered(k.finish(rest), above)
}

// reduce makes an outer join one that pads less, when conditions on its result are
// not TRUE for padded rows.
func (n *Join) reduce(conds []expr.Expr) {
	at := len(n.Left.Schema())
	left := slices.ContainsFunc(conds, func(c expr.Expr) bool { return rejects(c, func(i int) bool { return i < at }) })
	right := slices.ContainsFunc(conds, func(c expr.Expr) bool { return rejects(c, func(i int) bool { return i >= at }) })
	switch {
	case n.Kind == LeftJoin && right, n.Kind == RightJoin && left, n.Kind == FullJoin && left && right:
		n.Kind = InnerJoin
	case n.Kind == FullJoin && left:
		n.Kind = LeftJoin
	case n.Kind == FullJoin && right:
		n.Kind = RightJoin
	}
}

// rejects reports whether a condition cannot be TRUE when the given columns are NULL.
func rejects(e expr.Expr, null func(column int) bool) bool {
	if c, ok := e.(*expr.Call); ok {
		switch c.Func {
		case function.MustScalar("AND"):
			return slices.ContainsFunc(c.Args, func(a expr.Expr) bool { return rejects(a, null) })
		case function.MustScalar("OR"):
			return !slices.ContainsFunc(c.Args, func(a expr.Expr) bool { return !rejects(a, null) })
		case function.MustScalar("IS NOT NULL"):
			return becomesNull(c.Args[0], null)
		case function.MustScalar("IS TRUE"):
			return rejects(c.Args[0], null)
		}
	}
	return becomesNull(e, null)
}

// becomesNull reports whether e is NULL when the given columns are.
func becomesNull(e expr.Expr, null func(column int) bool) bool {
	switch e := e.(type) {
	case *expr.Column:
		return null(e.Index)
	case *expr.Cast:
		return becomesNull(e.Arg, null)
	case *expr.Call:
		return !e.Func.NullCall && slices.ContainsFunc(e.Args, func(a expr.Expr) bool { return becomesNull(a, null) })
	}
	return false
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
	nullSafe    []bool
}

// add takes a condition of the form left = right as a key.
func (k *joinKeys) add(cond expr.Expr) bool {
	a, b, nullSafe, ok := equality(cond)
	if !ok || !hashAlike(a.Type(), b.Type()) {
		return false
	}
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
			k.nullSafe[i] = k.nullSafe[i] && nullSafe
			return true
		}
	}
	k.l, k.r, k.nullSafe = append(k.l, l), append(k.r, r), append(k.nullSafe, nullSafe)
	return true
}

// equality takes a = b apart, and a IS NOT DISTINCT FROM b, which may be written as
// a = b OR a IS NULL AND b IS NULL.
func equality(cond expr.Expr) (a, b expr.Expr, nullSafe, ok bool) {
	c, is := cond.(*expr.Call)
	if !is {
		return nil, nil, false, false
	}
	switch c.Func {
	case function.MustScalar("="):
		return c.Args[0], c.Args[1], false, true
	case function.MustScalar("IS NOT DISTINCT FROM"):
		return c.Args[0], c.Args[1], true, true
	case function.MustScalar("OR"):
		for i, side := range c.Args {
			a, b, _, ok = equality(side)
			if ok && len(c.Args) == 2 && bothNull(c.Args[1-i], a, b) {
				return a, b, true, true
			}
		}
	}
	return nil, nil, false, false
}

// bothNull reports whether a condition is a IS NULL AND b IS NULL.
func bothNull(cond, a, b expr.Expr) bool {
	tests := expr.Conjuncts(cond)
	if len(tests) != 2 {
		return false
	}
	var args [2]expr.Expr
	for i, t := range tests {
		c, ok := t.(*expr.Call)
		if !ok || c.Func != function.MustScalar("IS NULL") {
			return false
		}
		args[i] = c.Args[0]
	}
	return expr.Equal(args[0], a) && expr.Equal(args[1], b) || expr.Equal(args[0], b) && expr.Equal(args[1], a)
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
	pair := k.join.pair()
	for i := range k.l {
		l, r := k.l[i], k.r[i]
		if l >= k.at || r >= len(k.join.Right.Schema()) {
			continue
		}
		switch {
		case left && l == col:
			return expr.NewColumn(pair, k.at+r, k.join.at)
		case !left && k.at+r == col:
			return expr.NewColumn(pair, l, k.join.at)
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
	n := *k.join
	extra := len(k.left) - k.at
	shifted := func(i int) int {
		if i >= k.at {
			return i + extra
		}
		return i
	}
	n.Residual = nil
	if len(rest) > 0 {
		n.Residual = expr.Remap(expr.And(rest...), shifted)
	}
	n.Output = slices.Clone(k.join.Output)
	for i, c := range n.Output {
		n.Output[i] = shifted(c)
	}
	n.LeftKeys, n.RightKeys, n.NullSafe = k.l, k.r, k.nullSafe
	n.describe()
	return &n
}
