package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
)

// JoinKind says which rows leave a Join.
type JoinKind uint8

// The kinds of joins. A row has a partner when its keys equal those of a row of the
// other side and the residual condition is TRUE for the two.
const (
	InnerJoin JoinKind = iota // pairs
	LeftJoin                  // pairs, and left rows without a partner, padded with NULLs
	RightJoin                 // pairs, and right rows without a partner
	FullJoin                  // pairs, and rows of both sides without a partner
	SemiJoin                  // left rows with a partner, alone
	AntiJoin                  // left rows without a partner, alone
)

func (k JoinKind) String() string {
	return [...]string{"inner", "left outer", "right outer", "full outer", "semi", "anti"}[k]
}

// Pairs reports whether pairs leave the join, not only left rows.
func (k JoinKind) Pairs() bool { return k < SemiJoin }

// PadsLeft and PadsRight report whether a row that leaves the join may have NULLs in
// place of the columns of that side.
func (k JoinKind) PadsLeft() bool { return k == RightJoin || k == FullJoin }

// PadsRight is PadsLeft for the other side.
func (k JoinKind) PadsRight() bool { return k == LeftJoin || k == FullJoin }

// LosesLeft and LosesRight report whether a row of that side without a partner has
// no effect on the result.
func (k JoinKind) LosesLeft() bool { return k == InnerJoin || k == RightJoin || k == SemiJoin }

// LosesRight is LosesLeft for the other side.
func (k JoinKind) LosesRight() bool { return k != RightJoin && k != FullJoin }

// Join is the join of two inputs. A pair of rows has the columns of the left, then
// those of the right. Without keys every pair is tried, on one shard.
type Join struct {
	base
	Kind                JoinKind
	Left, Right         Node
	LeftKeys, RightKeys []int // of equal types, pair by pair
	// NullSafe says for each key whether NULL matches NULL; else it matches nothing.
	NullSafe []bool
	// Residual is a condition over the columns of a pair, or nil.
	Residual expr.Expr
	Output   []int // the columns of a pair that leave the node
	// The sides from which nothing is ever taken back.
	LeftAppendOnly, RightAppendOnly bool
	// Upsert says that of sides that change the rows of LeftUnique and RightUnique
	// replace each other, and that of a -D no other columns count. These have the
	// columns of the join's keys among them, so that rows keep their partners, and the
	// pairs replace each other in turn.
	Upsert                  bool
	LeftUnique, RightUnique []int
	// Windowed says that both sides have windows, and only rows of equal ones match. The
	// join is made when a window is over, of the sides as they are then.
	Windowed bool
	Windows  Windows
	// Interval makes it a join within an interval, which is not Windowed.
	Interval *Interval
	// Lookup and Snapshot make it a join in which each left row is joined once, and never
	// again.
	Lookup   *Lookup
	Snapshot *Snapshot
	Lateness [2]int // by input: the hidden column plus one, or 0
	Late     [2]LateTarget
}

// Op is "Join", "IntervalJoin" or "SnapshotJoin".
func (n *Join) Op() string {
	if n.Interval != nil {
		return "IntervalJoin"
	}
	if n.Snapshot != nil {
		return "SnapshotJoin"
	}
	return "Join"
}

// Inputs are the left and the right one.
func (n *Join) Inputs() []Node { return []Node{n.Left, n.Right} }

func (n *Join) setInput(i int, in Node) {
	if i == 0 {
		n.Left = in
	} else {
		n.Right = in
	}
}

// byTime reports whether partners are found by time, so that nothing is taken back.
func (n *Join) byTime() bool { return n.Windowed || n.Interval != nil }

// newJoin joins on a condition over the columns of a pair, all of which leave the
// node if pairs do.
func newJoin(kind JoinKind, left, right Node, on expr.Expr, at errs.Position) *Join {
	width := len(left.Schema())
	if kind.Pairs() {
		width += len(right.Schema())
	}
	n := &Join{Kind: kind, Left: left, Right: right, Residual: on, Output: upTo(width)}
	n.at = at
	n.describe()
	return n
}

// describe sets the schema. Columns of a side that is padded can be NULL.
func (n *Join) describe() {
	pair := n.pair()
	for i := range pair {
		if left := i < len(n.Left.Schema()); left && n.Kind.PadsLeft() || !left && n.Kind.PadsRight() {
			pair[i].Type = pair[i].Type.Optional()
		}
	}
	n.schema = pair.Project(n.Output)
}

// pair has the columns of both inputs.
func (n *Join) pair() sqltype.Schema { return slices.Concat(n.Left.Schema(), n.Right.Schema()) }

// selecting is the join with nothing but the given columns of its output.
func (n *Join) selecting(cols []int) *Join {
	out := *n
	out.Output = pick(n.Output, cols)
	out.traits = Traits{}
	out.describe()
	return &out
}

// derive sets what is known of the changelog.
func (n *Join) derive(t *Traits) {
	l, r := n.Left.Traits(), n.Right.Traits()
	switch {
	case n.byTime():
		defer func() { t.Mode = sqltype.AppendMode }()
	case n.once():
		defer func() { t.Mode = n.snapshotMode() }()
	}
	n.LeftAppendOnly, n.RightAppendOnly = l.Mode.InsertOnly(), r.Mode.InsertOnly()
	if t.Mode = n.mode(); n.Upsert {
		t.Mode = (l.Mode | r.Mode).Without(updateBefore)
	}
	// A key is seen from outside when its columns are in the output.
	var seen []Key
	for _, k := range n.pairKeys() {
		if cols, ok := n.visible(k.Columns); ok {
			seen = append(seen, Key{Columns: union(cols), Ordered: k.Ordered})
		}
	}
	t.Keys = smallest(seen)
}

// mode says which changes leave the join.
func (n *Join) mode() sqltype.ChangelogMode {
	l, r := n.Left.Traits().Mode, n.Right.Traits().Mode
	switch n.Kind {
	case InnerJoin:
		if l |= r; !l.InsertOnly() {
			// The halves of an update may find different partners.
			l = l.With(insert).With(remove)
		}
		return l
	case SemiJoin:
		if l.InsertOnly() && r.InsertOnly() {
			return l
		}
		return l.With(insert).With(remove)
	case AntiJoin:
		return l.With(insert).With(remove)
	}
	return sqltype.AppendMode.With(remove)
}

// pairKeys are the keys, as columns of a pair.
func (n *Join) pairKeys() []Key {
	l, r := n.Left.Traits(), n.Right.Traits()
	if !n.Kind.Pairs() {
		return l.Keys
	}
	var keys []Key
	for _, lk := range l.Keys {
		for _, rk := range r.Keys {
			// Padded rows come and go beside pairs: their order is that of marks.
			ordered := lk.Ordered && rk.Ordered && n.Kind == InnerJoin
			if n.Kind == FullJoin && !notNull(n.Left.Schema(), lk) && !notNull(n.Right.Schema(), rk) {
				continue // one padded row of each side might have nothing but NULLs
			}
			keys = append(keys, Key{Columns: union(lk.Columns, n.shifted(rk.Columns)), Ordered: ordered})
			// A side that has one row for a value of the join key repeats no row of the other.
			if subset(lk.Columns, n.LeftKeys) && !n.Kind.PadsRight() {
				keys = append(keys, Key{Columns: n.shifted(rk.Columns), Ordered: ordered})
			}
			if subset(rk.Columns, n.RightKeys) && !n.Kind.PadsLeft() {
				keys = append(keys, Key{Columns: lk.Columns, Ordered: ordered})
			}
		}
	}
	return keys
}

// notNull reports whether a key has a column that is never NULL.
func notNull(s sqltype.Schema, k Key) bool {
	return slices.ContainsFunc(k.Columns, func(c int) bool { return s[c].Type.NotNull })
}
