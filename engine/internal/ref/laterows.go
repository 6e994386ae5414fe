package ref

import "github.com/weirdb/weir/engine/internal/plan"

// lateRow is a row of an input that was refused because it was late, and the bounds of the
// window that refused it, or NULLs.
type lateRow struct {
	row        Row
	start, end any
}

// refuse notes a row of an input that is late.
func (t *table) refuse(port int, r Row, start, end any) {
	t.late[port] = append(t.late[port], lateRow{r, start, end})
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
		out.rows = append(out.rows, row)
	}
	return out, nil
}
