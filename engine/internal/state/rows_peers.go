package state

// Peers reports whether two rows are equal in the first n columns of the order.
func (r *Rows) Peers(a, b RowID, n int) bool {
	for i, c := range r.sorted.cols[:n] {
		if r.cols[c].compare(a, b, r.sorted.orders[i]) != 0 {
			return false
		}
	}
	return true
}
