package ref

import (
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

// unnested is a row for each row and element.
func unnested(n *plan.Unnest, in table) table {
	out := after(len(n.Schema()), in)
	out.inOrder = in.inOrder
	elements := len(n.Schema()) - len(n.Forward)
	for i, c := range n.Forward {
		out.open[elements+i] = in.open[c]
	}
	if in.opensColumns(n.Collections) {
		out.some = true
	}
	types := n.Input.Schema().Types()
	for _, r := range in.rows {
		lists, longest := make([][]Row, len(n.Collections)), 0
		for i, c := range n.Collections {
			lists[i] = elementsOf(types[c], r[c])
			longest = max(longest, len(lists[i]))
		}
		if n.Outer && longest == 0 {
			out.rows = append(out.rows, append(make(Row, elements), project(r, n.Forward)...))
		}
		for e := range longest {
			var row Row
			for i, c := range n.Collections {
				if e < len(lists[i]) {
					row = append(row, lists[i][e]...)
				} else {
					row = append(row, make(Row, elementWidth(types[c]))...)
				}
			}
			if n.Ordinality {
				row = append(row, int64(e+1))
			}
			out.rows = append(out.rows, append(row, project(r, n.Forward)...))
		}
	}
	return out
}

// elementWidth is the number of columns of an element.
func elementWidth(t sqltype.Type) int {
	switch {
	case t.ID == sqltype.Map:
		return 2
	case t.Elem.ID == sqltype.Row:
		return len(t.Elem.Fields)
	}
	return 1
}

// elementsOf are the elements of a collection, each as the columns that it makes.
func elementsOf(t sqltype.Type, v any) []Row {
	of, ok := v.(Nested)
	if !ok {
		return nil
	}
	var out []Row
	for _, x := range of {
		switch {
		case t.ID == sqltype.Multiset:
			for range x.(Nested)[1].(int64) {
				out = append(out, elementRow(t, x.(Nested)[0]))
			}
		case t.ID == sqltype.Map:
			out = append(out, Row(x.(Nested)))
		default:
			out = append(out, elementRow(t, x))
		}
	}
	return out
}

func elementRow(t sqltype.Type, x any) Row {
	switch fields, ok := x.(Nested); {
	case t.Elem.ID != sqltype.Row:
		return Row{x}
	case ok:
		return Row(fields)
	}
	return make(Row, len(t.Elem.Fields))
}
