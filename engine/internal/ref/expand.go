package ref

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/plan"
)

// expand is a row for each row and grouping set.
func expand(n *plan.Expand, in []Row) []Row {
	var out []Row
	for _, r := range in {
		for id, set := range n.Sets {
			row := make(Row, 0, len(n.Schema()))
			for i, k := range n.Keys {
				if slices.Contains(set, i) {
					row = append(row, r[k])
				} else {
					row = append(row, nil)
				}
			}
			out = append(out, append(append(row, int64(id)), project(r, n.Forward)...))
		}
	}
	return out
}
