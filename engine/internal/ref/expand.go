package ref

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/plan"
)

// expand is a row for each row and grouping set.
func expand(n *plan.Expand, in table) table {
	out := after(len(n.Schema()), in)
	out.inOrder = in.inOrder
	for i, c := range slices.Concat(n.Keys, n.Forward) {
		if i >= len(n.Keys) {
			i++ // the number of the set stands between
		}
		out.open[i] = in.open[c]
	}
	for k, r := range in.rows {
		for id, set := range n.Sets {
			row := make(Row, 0, len(n.Schema()))
			for i, k := range n.Keys {
				if slices.Contains(set, i) {
					row = append(row, r[k])
				} else {
					row = append(row, nil)
				}
			}
			out.add(append(append(row, int64(id)), project(r, n.Forward)...), in, k)
		}
	}
	return out
}
