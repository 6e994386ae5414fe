package ref

import (
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/vector"
)

// lateRow is a row of an input that was refused because it was late, and the bounds of the
// window that refused it, or NULLs.
type lateRow struct {
	row        Row
	kind       vector.RowKind
	start, end any
}

// refuse notes that row i of an input is late.
func (t *table) refuse(port int, in table, i int, start, end any) {
	t.late[port] = append(t.late[port], lateRow{in.rows[i], in.kind(i), start, end})
}

// lateRows are the rows that a node refused, as the columns of the table that takes them.
func (e evaluator) lateRows(n *plan.LateRows) (table, error) {
	e.history, e.bare = false, false
	from, err := e.table(n.Input)
	out := after(len(n.Schema()), from)
	if err != nil {
		return out, err
	}
	// What is open of a result is open of the rows that are not in it.
	for _, open := range from.open {
		out.some = out.some || open
	}
	in := n.Input.Inputs()[n.Port].Schema()
	for _, l := range from.late[n.Port] {
		var given Row
		for i, c := range in {
			if c.Name != plan.WatermarkColumn {
				given = append(given, l.row[i])
			}
		}
		row, err := e.evalAll(n.Exprs, append(given, l.start, l.end))
		if err != nil {
			return out, err
		}
		out.add(row, table{kinds: []vector.RowKind{l.kind}}, 0)
	}
	return out, nil
}
