package ref

import (
	"fmt"

	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// takesChanges reports whether an operator looks at the changes of its input one by one,
// since it judges of each whether it is late. All others see what they come to.
func takesChanges(n plan.Node) bool {
	switch n.(type) {
	case *plan.WatermarkAssigner, *plan.Calc, *plan.Union, *plan.Expand, *plan.Exchange, *plan.WindowTable, *plan.WindowAggregate, *plan.TemporalJoin, *plan.ToChangelog:
		return true
	}
	return len(windowColumns(n)) > 0
}

// changes are those of a table, in place of its rows.
func (e evaluator) changes(n *plan.Scan) (table, error) {
	all, err := e.in.Changes(n)
	out := after(len(n.Columns))
	out.inOrder = true
	from := table{kinds: make([]vector.RowKind, len(all)), splits: make([]string, len(all))}
	for i, c := range all {
		from.kinds[i], from.splits[i] = c.Kind, fmt.Sprintf("%p %d", n, c.Split)
		out.add(project(c.Row, n.Columns), from, i)
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
	t.rows, t.kinds, t.splits = nil, nil, nil
	for i, r := range all.rows {
		if live[i] {
			t.add(r, all, i)
		}
	}
	return t
}
