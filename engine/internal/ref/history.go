package ref

import (
	"fmt"
	"slices"

	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// takesChanges reports whether an operator looks at the changes of its input one by one,
// since it judges of each whether it is late. All others see what they come to.
func takesChanges(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.WatermarkAssigner, *plan.Calc, *plan.Union, *plan.Expand, *plan.Exchange, *plan.WindowTable, *plan.WindowAggregate,
		*plan.TemporalJoin, *plan.LookupJoin, *plan.ToChangelog, *plan.Normalize:
		return true
	case *plan.Join:
		if once(n) {
			return true
		}
	}
	return len(windowColumns(n)) > 0
}

// below evaluates input i of a node.
func (e evaluator) below(n plan.Node, i int) evaluator {
	switch n := n.(type) {
	case *plan.WatermarkAssigner:
		e.history = n.Hidden || e.history
	case *plan.ToChangelog:
		e.history = !growing(n.Input) && historic(n.Input)
	case *plan.Normalize:
		e.history = e.history && !e.bare
	case *plan.TemporalJoin:
		e.history, e.bare = n.Attr == sqltype.Proctime, i == 1
	case *plan.Join:
		if e.bare = false; n.Lookup == nil || i == 1 {
			e.history = n.Snapshot != nil
		}
	case *plan.Calc, *plan.Union, *plan.Expand, *plan.Exchange, *plan.LookupJoin:
	default:
		e.history, e.bare = false, false
	}
	return e
}

// changes are those of a table, in place of its rows. Those of a table whose rows replace
// each other by key are given the rows that they replace, unless they may be bare.
func (e evaluator) changes(n *plan.Scan) (table, error) {
	all, err := e.in.Changes(n)
	out := after(len(n.Columns))
	out.inOrder = true
	add := func(kind vector.RowKind, r Row, i int) {
		came := all[i].Came
		if came == 0 {
			came = i - len(all) // known within the table alone
		}
		out.rows, out.kinds = append(out.rows, project(r, n.Columns)), append(out.kinds, kind)
		out.splits, out.came = append(out.splits, fmt.Sprintf("%p %d", n, all[i].Split)), append(out.came, came)
	}
	key := n.Table.Declaration.PrimaryKey
	types, last := n.Table.Declaration.Schema.Project(key).Types(), map[string]Row{}
	complete := !e.bare && replaces(n)
	for i, c := range all {
		if !complete {
			add(c.Kind, c.Row, i)
			continue
		}
		k := Key(types, project(c.Row, key))
		old, has := last[k]
		if has && c.Kind.Adds() {
			add(vector.UpdateBefore, old, i)
		} else if has {
			add(vector.Delete, old, i)
		}
		if delete(last, k); c.Kind.Adds() {
			add(c.Kind, c.Row, i)
			last[k] = c.Row
		}
	}
	if out.kinds == nil {
		out.kinds, out.splits, out.came = []vector.RowKind{}, []string{}, []int{}
	}
	return out, err
}

// add adds a row that row i of in becomes.
func (t *table) add(r Row, in table, i int) {
	t.rows = append(t.rows, r)
	if in.kinds != nil || t.kinds != nil {
		for len(t.kinds) < len(t.rows)-1 { // rows of another table came before
			t.kinds = append(t.kinds, vector.Insert)
		}
		t.kinds = append(t.kinds, in.kind(i))
	}
	if in.splits != nil || t.splits != nil {
		for len(t.splits) < len(t.rows)-1 {
			t.splits = append(t.splits, "")
		}
		t.splits = append(t.splits, in.split(i))
	}
	if in.came == nil || len(t.came) < len(t.rows)-1 { // it is known of all rows or of none
		t.came = nil
	} else {
		t.came = append(t.came, in.came[i])
	}
}

// clocked reports whether it is known of all rows when they came, among those of all tables.
func (t table) clocked() bool {
	return len(t.came) == len(t.rows) && !slices.ContainsFunc(t.came, func(at int) bool { return at <= 0 })
}

func (t table) kind(i int) vector.RowKind {
	if t.kinds == nil {
		return vector.Insert
	}
	return t.kinds[i]
}

func (t table) taken(i int) bool { return !t.kind(i).Adds() }

func (t table) split(i int) string {
	if t.splits == nil {
		return ""
	}
	return t.splits[i]
}

// severalSplits reports whether rows came from different splits, in no order of each other.
func (t table) severalSplits() bool {
	for i := range t.rows {
		if t.split(i) != t.split(0) {
			return true
		}
	}
	return false
}

// settled is what changes come to: of equal rows the earliest is the one that goes. The
// hidden column does not tell rows apart.
func (t table) settled(schema sqltype.Schema) table {
	if t.kinds == nil {
		return t
	}
	var shown []int
	for i, c := range schema {
		if c.Name != plan.WatermarkColumn {
			shown = append(shown, i)
		}
	}
	types := schema.Project(shown).Types()
	live := make([]bool, len(t.rows))
	of := map[string][]int{}
	for i, r := range t.rows {
		k := Key(types, project(r, shown))
		if !t.taken(i) {
			of[k], live[i] = append(of[k], i), true
		} else if same := of[k]; len(same) > 0 {
			of[k], live[same[0]] = same[1:], false
		}
	}
	all := t
	all.kinds = nil
	t.rows, t.kinds, t.splits, t.came = nil, nil, nil, nil
	for i, r := range all.rows {
		if live[i] {
			t.add(r, all, i)
		}
	}
	return t
}
