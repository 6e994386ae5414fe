package state

import "github.com/weirdb/weir/vector"

// TakeColumn gathers column i of stored rows, as Take does all of them.
func (r *Rows) TakeColumn(p *vector.Pool, ids []RowID, i int) *vector.Vector {
	return r.cols[i].take(p, ids)
}
