package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
)

// TemporalJoin joins each left row with the version of its key that holds at a time of
// the row: what is right is a history, whose rows are versions from their own time on.
// Nothing of the result changes when other versions come.
type TemporalJoin struct {
	// Join is an inner or left join. Its keys are those of versions, when the pass filters
	// has found them.
	Join
	// Time is the left column with the time, and Attr what it is: event time, or processing
	// time, of which the last version holds, and which is not read: it may be -1.
	Time int
	Attr sqltype.TimeAttr
	// Version is the right column with the time from which a version holds, or -1: then it
	// holds from when it came.
	Version int
	// Key are the right columns that the versions of one thing have in common.
	Key []int
	// Name is that of the table or function on the right, and Function the function, or nil.
	Name     string
	Function *catalog.Function
	// Adds says that the right has nothing but versions. Else a -D ends what a key had.
	Adds bool

	fault *errs.Error
}

// Op is "TemporalJoin".
func (*TemporalJoin) Op() string { return "TemporalJoin" }

// newTemporalJoin makes of a join one with the versions of its right side.
func newTemporalJoin(j *Join, time int, attr sqltype.TimeAttr, v versioned) *TemporalJoin {
	n := &TemporalJoin{Join: *j, Time: time, Attr: attr, Version: v.time, Key: v.key, Name: v.name, Function: v.function, Adds: v.adds}
	n.Interval = nil
	n.Right = v.node
	conds := []expr.Expr{}
	if n.Residual != nil {
		conds = expr.Conjuncts(n.Residual)
	}
	for _, c := range v.live {
		conds = append(conds, expr.NewColumn(n.pair(), len(n.Left.Schema())+c, v.pos))
	}
	if n.Residual = nil; len(conds) > 0 {
		n.Residual = expr.And(conds...)
	}
	return n
}

// event reports whether versions are those of event time.
func (n *TemporalJoin) event() bool { return n.Attr == sqltype.Rowtime }

// pushDown finds the equalities that say which versions a row may have. Conditions on the
// left go there; what is on a version says whether the one that holds is wanted, and stays.
func (n *TemporalJoin) pushDown(conds []expr.Expr) Node {
	pairs := make([]expr.Expr, len(conds)) // over the columns of a pair
	for i, c := range conds {
		pairs[i] = expr.Remap(c, func(c int) int { return n.Output[c] })
	}
	n.reduce(pairs)
	at := len(n.Left.Schema())
	var left, rest, above []expr.Expr
	for i, c := range pairs {
		switch {
		case !expr.Deterministic(c):
			above = append(above, conds[i])
		case within(c, 0, at):
			left = append(left, c)
		case n.Kind == InnerJoin:
			rest = append(rest, c)
		default:
			above = append(above, conds[i])
		}
	}
	if n.Residual != nil {
		for _, c := range expr.Conjuncts(n.Residual) {
			switch lit, ok := c.(*expr.Literal); {
			case ok && lit.Value == true:
			case n.Kind == InnerJoin && within(c, 0, at):
				left = append(left, c)
			default:
				rest = append(rest, c)
			}
		}
	}
	n.Left, n.Right = pushDown(n.Left, left), pushDown(n.Right, nil)
	return filtered(n.findKeys(rest), above)
}

// findKeys takes the equalities of the key out of the conditions.
func (n *TemporalJoin) findKeys(conds []expr.Expr) *TemporalJoin {
	at := len(n.Left.Schema())
	width := at + len(n.Right.Schema())
	left, right := columns(n.Left), columns(n.Right)
	n.fault, n.LeftKeys, n.RightKeys, n.NullSafe = nil, nil, nil, nil
	for _, k := range n.Key {
		i := slices.IndexFunc(conds, func(c expr.Expr) bool { _, _, _, ok := n.keyEquality(c, k, at, width); return ok })
		if i < 0 {
			n.fault = n.missing(k, conds, at, width)
			n.LeftKeys, n.RightKeys, n.NullSafe = nil, nil, nil
			break
		}
		l, r, nullSafe, _ := n.keyEquality(conds[i], k, at, width)
		conds = slices.Delete(slices.Clone(conds), i, i+1)
		n.LeftKeys, n.RightKeys, n.NullSafe = append(n.LeftKeys, position(&left, l)), append(n.RightKeys, position(&right, r)), append(n.NullSafe, nullSafe)
	}
	k := &joinKeys{join: &n.Join, at: at}
	out := *n
	out.Left, out.Right = k.side(n.Left, left), k.side(n.Right, right)
	shifted := func(c int) int {
		if c >= at {
			c += len(left) - at
		}
		return c
	}
	if out.Residual = nil; len(conds) > 0 {
		out.Residual = expr.Remap(expr.And(conds...), shifted)
	}
	out.Output = slices.Clone(n.Output)
	for i, c := range out.Output {
		out.Output[i] = shifted(c)
	}
	out.describe()
	return &out
}

// keyEquality takes a condition apart that has key column k of the right equal something
// of the left, or a constant.
func (n *TemporalJoin) keyEquality(cond expr.Expr, k, at, width int) (l, r expr.Expr, nullSafe, ok bool) {
	a, b, nullSafe, ok := equality(cond)
	if !ok || !hashAlike(a.Type(), b.Type()) || !expr.Deterministic(cond) {
		return nil, nil, false, false
	}
	if within(b, 0, at) {
		a, b = b, a
	}
	if !within(a, 0, at) || !within(b, at, width) || len(expr.Columns(b)) == 0 {
		return nil, nil, false, false
	}
	b = expr.Remap(b, func(c int) int { return c - at })
	col := b
	if cast, is := b.(*expr.Cast); is && !cast.Try && injective(cast.Arg.Type(), cast.T) {
		col = cast.Arg
	}
	c, is := col.(*expr.Column)
	return a, b, nullSafe, is && c.Index == k
}

// missing is the error for a condition that does not say which version is wanted.
func (n *TemporalJoin) missing(k int, conds []expr.Expr, at, width int) *errs.Error {
	name := n.Right.Schema()[k].Name
	for _, c := range conds {
		a, b, _, ok := equality(c)
		if !ok {
			continue
		}
		if within(b, 0, at) {
			a, b = b, a
		}
		cast, is := b.(*expr.Cast)
		if col, plain := expr.Expr(nil), false; is && within(a, 0, at) {
			if col, plain = cast.Arg, true; plain {
				if c, ok := col.(*expr.Column); ok && c.Index == at+k {
					t := c.T.Optional()
					from := a
					if inner, ok := a.(*expr.Cast); ok {
						from = inner.Arg
					}
					return errs.New(errs.Type, cast.Pos(), "the key %q of %s is a %s, and is compared as a %s: versions cannot be found by it", name, n.Name, t, cast.T.Optional()).
						WithHint("make what it equals a %s, and leave %q as it is: ON CAST(%s AS %s) = %s.%s", t, name, from, t, n.Name, name)
				}
			}
		}
	}
	return errs.New(errs.Invalid, n.at, "the condition of a temporal join has to say of which %s a row wants the version, and it has no equality for the key %q of %s",
		columnList(n.Right, n.Key), name, n.Name).WithHint("add AND left.column = %s.%s to the condition", n.Name, name)
}

// check refuses what cannot be run, when it is known how the inputs change.
func (n *TemporalJoin) check() error {
	if n.fault != nil {
		return n.fault
	}
	if n.Adds && !n.Right.Traits().Mode.InsertOnly() {
		return errs.New(errs.Changelog, n.Right.Pos(), "the versions of %s are rows that are only added, but %s", n.Name, why(n.Right)).
			WithHint("declare the PRIMARY KEY of the table, and join with the table itself")
	}
	return nil
}

// prune keeps the columns that are needed, keys and times.
func (n *TemporalJoin) prune(need []int) Node {
	at := len(n.Left.Schema())
	output := pick(n.Output, need)
	reads := output
	if n.Residual != nil {
		reads = union(output, expr.Columns(n.Residual))
	}
	left, right := slices.Clone(n.LeftKeys), slices.Concat(n.RightKeys, n.Key)
	if n.event() {
		left = append(left, n.Time)
	} else {
		left = append(left, recognized(n.Left)...)
	}
	if n.Version >= 0 {
		right = append(right, n.Version)
	}
	for _, c := range reads {
		if c < at {
			left = append(left, c)
		} else {
			right = append(right, c-at)
		}
	}
	for i, side := range []*[]int{&left, &right} {
		if c := n.HiddenColumn(i); c >= 0 {
			*side = append(*side, c)
		}
	}
	left, right = union(left, n.Late[0].reads()), union(right)
	have := slices.Clone(left)
	for _, c := range right {
		have = append(have, c+at)
	}
	out := *n
	out.traits = Traits{}
	out.Late[0] = n.Late[0].moved(left)
	out.Left, out.Right = exactly(n.Left, left), exactly(n.Right, right)
	out.LeftKeys, out.RightKeys, out.Key = positions(n.LeftKeys, left), positions(n.RightKeys, right), positions(n.Key, right)
	out.Time, out.Version = slices.Index(left, n.Time), slices.Index(right, n.Version)
	if n.Residual != nil {
		out.Residual = remap(n.Residual, have)
	}
	out.Output = positions(output, have)
	out.Lateness = [2]int{slices.Index(left, n.HiddenColumn(0)) + 1, slices.Index(right, n.HiddenColumn(1)) + 1}
	out.describe()
	return &out
}

// selecting is the join with nothing but the given columns of its output.
func (n *TemporalJoin) selecting(cols []int) *TemporalJoin {
	out := *n
	out.Join = *n.Join.selecting(cols)
	return &out
}

// derive sets what is known of the changelog: a left row gives one at most.
func (n *TemporalJoin) derive(t *Traits) {
	l := n.Left.Traits()
	n.LeftAppendOnly, n.RightAppendOnly = l.Mode.InsertOnly(), n.Right.Traits().Mode.InsertOnly()
	switch t.Mode = l.Mode; {
	case n.LeftAppendOnly:
	case n.event():
		// The halves of an update are joined each at its own time.
		t.Mode = t.Mode.With(insert).With(remove)
	default:
		// What is taken back is what was emitted, whatever the version is by then.
		t.Mode = sqltype.AppendMode.With(remove)
	}
	var seen []Key
	for _, k := range l.Keys {
		if cols, ok := n.visible(k.Columns); ok {
			seen = append(seen, Key{Columns: union(cols), Ordered: k.Ordered && (n.LeftAppendOnly || !n.event())})
		}
	}
	t.Keys = smallest(seen)
}

// Replacing reports whether the right has updates without the rows that they replace.
func (n *TemporalJoin) Replacing() bool {
	m := n.Right.Traits().Mode
	return m.Has(remove) && !m.Has(updateBefore) && (m.Has(updateAfter) || m.DeletesByKey())
}

func (n *TemporalJoin) eventTime(int) (watermarks, lateness bool) { return n.event(), n.event() }

// setLateness makes room for the hidden column in the pair.
func (n *TemporalJoin) setLateness(port, column int) {
	n.Lateness[port] = column + 1
	if port == 0 && column >= 0 {
		n.widenLeft(column)
	}
}

// widenLeft makes room in the pair for a column of the left.
func (n *TemporalJoin) widenLeft(column int) {
	moved := func(c int) int {
		if c >= column {
			c++
		}
		return c
	}
	n.Output = slices.Clone(n.Output)
	for i, c := range n.Output {
		n.Output[i] = moved(c)
	}
	if n.Residual != nil {
		n.Residual = expr.Remap(n.Residual, moved)
	}
}

// carry passes the hidden column of the left on, as the last of the output.
func (n *TemporalJoin) carry(c carrier) bool {
	if n.HiddenColumn(0) < 0 {
		if n.event() {
			return false
		}
		in, below := c.carry(n.Left)
		if n.Left = in; below < 0 {
			return false
		}
		n.setLateness(0, below)
	}
	n.Output = append(slices.Clip(n.Output), n.HiddenColumn(0))
	n.schema = append(slices.Clip(n.schema), n.Left.Schema()[n.HiddenColumn(0)])
	return true
}

// timeAttribute of a column: the left's stay, the right's are of any time before.
func (n *TemporalJoin) timeAttribute(col int) sqltype.TimeAttr {
	if c := n.Output[col]; c < len(n.Left.Schema()) {
		return timeAttribute(n.Left, c)
	}
	return sqltype.NoTime
}

func (n *TemporalJoin) loss(col int) string {
	in, c := n.side(col)
	if in == n.Right && timeAttribute(in, c) != sqltype.NoTime {
		return "the temporal join" + where(n.at) + " gives rows at the time of the left side, and versions may be of any time before"
	}
	return loss(in, c)
}

func (n *TemporalJoin) stateBound() string {
	each := "the values of " + columnList(n.Right, n.Key)
	switch {
	case !n.event() && n.LeftAppendOnly:
		return growth(n.Right, each)
	case !n.event():
		what := []string{each, "what was emitted for " + liveRows(n.Left) + " of the left"}
		if finite(n.Left) && finite(n.Right) {
			return bounds(what)
		}
		return "grows with " + list(what)
	}
	return growth(n.Right, each, "the rows that the watermark has not passed")
}

func (n *TemporalJoin) equal(m *TemporalJoin) bool {
	return n.Time == m.Time && n.Attr == m.Attr && n.Version == m.Version && slices.Equal(n.Key, m.Key)
}

// details are lines about the join.
func (n *TemporalJoin) texts() []string {
	version := "the last version of each " + columnList(n.Right, n.Key) + " that has come"
	switch {
	case n.event():
		version = "the last " + n.Right.Schema()[n.Version].Name + " up to " + n.Left.Schema()[n.Time].Name
	case n.Version >= 0:
		version = "the last " + n.Right.Schema()[n.Version].Name + " that has come"
	}
	return []string{version}
}
