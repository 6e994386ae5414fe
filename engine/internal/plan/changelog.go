package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
)

// deriveChangelog works out, from the leaves up, which changes flow on every edge,
// which upsert keys hold there and whether they are ordered, and what state grows
// with.
func deriveChangelog(roots []Node) error { return each(deriver{}.node)(roots) }

// deriver has what became of the nodes that were visited.
type deriver map[Node]Node

func (d deriver) node(n Node) (Node, error) {
	if done, ok := d[n]; ok {
		return done, nil
	}
	before := n
	for i, in := range n.Inputs() {
		derived, err := d.node(in)
		if err != nil {
			return nil, err
		}
		n.setInput(i, derived)
	}
	if l, ok := n.(*Limit); ok && !l.Input.Traits().Mode.InsertOnly() {
		// A row that goes lets another in: all have to be kept, in order.
		n = newSort(l.Input, nil, l.Offset, l.Count, bounded(l.Input), l.at)
		n.Traits().Dist = l.traits.Dist
	}
	switch n := n.(type) {
	case *Sort:
		if err := n.check(); err != nil {
			return nil, err
		}
	case *TemporalSort:
		if err := n.check(); err != nil {
			return nil, err
		}
	case *Join:
		if n.Interval != nil {
			if err := n.Interval.check(n); err != nil {
				return nil, err
			}
		}
	}
	derive(n)
	d[before] = n
	switch n := n.(type) {
	case *Aggregate:
		return n, n.check()
	case *TemporalJoin:
		return n, n.check()
	case *WindowAggregate:
		return n, n.check()
	case *Over:
		return n, n.check()
	case *ToChangelog:
		return n, n.check()
	case *FromChangelog:
		return n, n.check()
	}
	return n, nil
}

// derive sets the mode, keys and state of one node from those of its inputs.
func derive(n Node) {
	t := n.Traits()
	switch n := n.(type) {
	case *Scan:
		t.Mode, t.Keys = n.Source.Mode(), n.keys()
	case *Values:
		t.Mode, t.Keys = sqltype.AppendMode, nil
		if len(n.Rows) <= 1 {
			t.Keys = []Key{{Ordered: true}}
		}
	case *Calc:
		t.Mode, t.Keys = n.mode(), n.keys()
	case *Union:
		t.Mode, t.Keys = 0, nil
		for _, in := range n.Ins {
			t.Mode |= in.Traits().Mode
		}
	case *Exchange:
		in := n.Input.Traits()
		t.Mode, t.Keys = in.Mode, slices.Clone(in.Keys)
		for i, k := range t.Keys { // what is only added has one change
			t.Keys[i].Ordered = k.Ordered && (t.Mode.InsertOnly() || subset(n.Keys, k.Columns))
		}
	case *Aggregate:
		n.derive(t)
	case *Join:
		n.derive(t)
	case *TemporalJoin:
		n.derive(t)
	case *SetOperation:
		n.derive(t)
	case *Sort:
		n.derive(t)
	case *TemporalSort:
		n.derive(t)
	case *Over:
		n.derive(t)
	case *Rank:
		n.derive(t)
	case *Expand:
		n.derive(t)
	case *Unnest:
		n.derive(t)
	case *LookupJoin:
		n.derive(t)
	case *WindowTable:
		n.derive(t)
	case *WindowAggregate:
		n.derive(t)
	case *Normalize:
		t.Mode = updatingMode(n.EmitUpdateBefore, true)
		t.Keys = []Key{{Columns: union(n.Keys), Ordered: true}}
	case *LateRows:
		t.Mode, t.Keys = n.Input.Inputs()[0].Traits().Mode, nil
	case *ToChangelog:
		t.Mode, t.Keys = sqltype.AppendMode, nil
	case *FromChangelog:
		t.Mode, t.Keys = n.Codes.mode(), nil
	case *Materialize:
		in := n.Input.Traits().Mode
		t.Mode = updatingMode(n.EmitUpdateBefore, !in.InsertOnly())
		t.Keys = []Key{{Columns: union(n.Keys), Ordered: true}}
	case *Consolidate:
		t.Mode = updatingMode(n.EmitUpdateBefore, true)
		t.Keys = []Key{{Columns: union(n.Keys), Ordered: true}}
	case *Limit, *WatermarkAssigner, *Collect, *Sink:
		in := n.Inputs()[0].Traits()
		t.Mode, t.Keys = in.Mode, in.Keys
	}
	t.State = n.retentions().bound(stateBound(n), forgets(n))
}

// updatingMode is the mode of an operator that updates its results.
func updatingMode(before, deletes bool) sqltype.ChangelogMode {
	m := sqltype.AppendMode.With(updateAfter)
	if before {
		m = m.With(updateBefore)
	}
	if deletes {
		m = m.With(remove)
	}
	return m
}

func columnList(n Node, cols []int) string {
	return strings.Join(n.Schema().Project(cols).Names(), ", ")
}

// keys of a Scan are the primary key, as declared.
func (n *Scan) keys() []Key {
	pk := n.Table.Declaration.PrimaryKey
	if len(pk) == 0 || !subset(pk, n.Columns) {
		return nil
	}
	return []Key{{Columns: union(positions(pk, n.Columns)), Ordered: true}}
}

// mode of a Calc: a filter can let one half of an update through, which is then an
// insertion or a removal.
func (n *Calc) mode() sqltype.ChangelogMode {
	m := n.Input.Traits().Mode
	if n.Filter == nil || !m.Has(updateAfter) || !m.Has(updateBefore) {
		return m
	}
	for _, k := range n.Input.Traits().Keys {
		if subset(filterColumns(n), k.Columns) {
			return m // both halves have the same key
		}
	}
	return m.With(insert).With(remove)
}

// keys of a Calc are those whose columns are all forwarded. Columns that the filter
// holds to a constant can be left out of a key, which makes it another key.
func (n *Calc) keys() []Key {
	var out, short []Key
	constant := n.constants()
	for _, k := range n.Input.Traits().Keys {
		if mapped, ok := n.mapped(k, nil); ok {
			out = append(out, mapped)
		}
		if mapped, ok := n.mapped(k, constant); ok && len(constant) > 0 {
			short = append(short, mapped)
		}
	}
	out, short = smallest(out), smallest(short)
	short = slices.DeleteFunc(short, func(k Key) bool {
		return slices.ContainsFunc(out, func(have Key) bool { return slices.Equal(have.Columns, k.Columns) })
	})
	return append(short, out...)
}

// mapped is a key of the input as one of the output, without the given columns.
func (n *Calc) mapped(k Key, without []int) (Key, bool) {
	out := Key{Ordered: k.Ordered}
	for _, c := range k.Columns {
		if slices.Contains(without, c) {
			continue
		}
		at := n.identified(c)
		if at < 0 {
			return out, false
		}
		out.Columns = append(out.Columns, at)
	}
	out.Columns = union(out.Columns)
	return out, true
}

// constants are the input columns that the filter compares with a constant.
func (n *Calc) constants() []int {
	if n.Filter == nil {
		return nil
	}
	var out []int
	for _, cond := range expr.Conjuncts(n.Filter) {
		c, ok := cond.(*expr.Call)
		if !ok || c.Func != function.MustScalar("=") {
			continue
		}
		for i, side := range c.Args {
			col, isColumn := side.(*expr.Column)
			_, isLiteral := c.Args[1-i].(*expr.Literal)
			if isColumn && isLiteral {
				out = append(out, col.Index)
			}
		}
	}
	return out
}

// identified is the first result from which input column col can be told, or -1:
// the column itself, or a cast that keeps different values different.
func (n *Calc) identified(col int) int {
	if i := n.forwarded(col); i >= 0 {
		return i
	}
	return slices.IndexFunc(n.Exprs, func(e expr.Expr) bool {
		cast, ok := e.(*expr.Cast)
		if !ok || cast.Try {
			return false
		}
		c, ok := cast.Arg.(*expr.Column)
		return ok && slices.Contains(synonyms(n.Input, col), c.Index) && injective(c.T, cast.T)
	})
}

// injective reports whether a cast keeps different values different.
func injective(from, to sqltype.Type) bool {
	switch {
	case from.Equal(to):
		return true
	case from.IsInteger() && to.IsInteger():
		return from.ID <= to.ID
	case from.IsInteger() && to.ID == sqltype.Varchar:
		return to.Precision >= 20
	case from.IsInteger() && to.ID == sqltype.Decimal:
		return to.Precision-to.Scale >= 19
	case from.IsString() && to.ID == sqltype.Varchar, from.IsBinary() && to.ID == sqltype.Varbinary:
		return from.ID == to.ID && from.Precision <= to.Precision || from.Precision == to.Precision
	case from.ID == to.ID && (from.IsTimestamp() || from.ID == sqltype.Time):
		return from.Precision <= to.Precision
	}
	return false
}

// smallest drops every key that has all columns of another, and sorts the rest. Of
// equal ones an ordered one is kept.
func smallest(keys []Key) []Key {
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(cmp.Compare(len(a.Columns), len(b.Columns)), slices.Compare(a.Columns, b.Columns), boolCompare(b.Ordered, a.Ordered))
	})
	var out []Key
	for _, k := range keys {
		if !slices.ContainsFunc(out, func(have Key) bool { return subset(have.Columns, k.Columns) && (have.Ordered || !k.Ordered) }) {
			out = append(out, k)
		}
	}
	return out
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (n *Aggregate) derive(t *Traits) {
	n.InputAppendOnly = n.Input.Traits().Mode.InsertOnly()
	t.Keys = []Key{{Columns: upTo(len(n.Keys)), Ordered: true}}
	// A group that loses its last row is deleted; the global one never is.
	t.Mode = updatingMode(n.EmitUpdateBefore, !n.InputAppendOnly && len(n.Keys) > 0)
	if n.InputAppendOnly && len(n.Aggs) == 0 {
		t.Mode = sqltype.AppendMode // DISTINCT: nothing changes but the set of groups
	}
}

// check refuses a function that cannot take rows away where rows are.
func (n *Aggregate) check() error {
	for _, a := range n.Aggs {
		if g := a.Func.Go; g != nil && !g.Retracts && !n.InputAppendOnly {
			return errs.New(errs.Changelog, a.At, "%s cannot take rows away, but %s", a.Func.Name, why(n.Input)).
				WithHint("give its accumulator a method Retract, or aggregate rows that are only added")
		}
	}
	return nil
}

// updater is the lowest operator because of which the rows of n change, or nil when
// they do not.
func updater(n Node) Node {
	if n.Traits().Mode.InsertOnly() {
		return nil
	}
	for _, in := range n.Inputs() {
		if u := updater(in); u != nil {
			return u
		}
	}
	return n
}

// why says because of which operator the rows of n change.
func why(n Node) string {
	what := ""
	u := updater(n)
	switch u := u.(type) {
	case nil:
		return ""
	case *Scan:
		return fmt.Sprintf("the table %q changes: its source has %s", u.Table.ID.Object, u.Source.Mode())
	case *Aggregate:
		what = "the aggregation " + aggregateList(u)
		if len(u.Keys) > 0 {
			what = "GROUP BY " + columnList(u.Input, u.Keys)
		}
	case *Join:
		what = "the " + u.Kind.String() + " join"
	case *SetOperation:
		what = strings.ToUpper(u.Op())
	default:
		what = u.Op()
	}
	if at := u.Pos(); at.IsValid() {
		what += " (" + at.String() + ")"
	}
	return what + " updates its results"
}

func aggregateList(n *Aggregate) string {
	names := make([]string, len(n.Aggs))
	for i, a := range n.Aggs {
		names[i] = a.String()
	}
	return strings.Join(names, ", ")
}
