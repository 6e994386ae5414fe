package state

// Notes are the operator's numbers by row id, to be read and written as columns of
// a Values table are: Dirty must follow a change. The note of a new row is 0. The
// slice is valid until the next Add or Resolve; Noted only.
func (r *Rows) Notes() []int64 { return r.notes }

// Added are the rows that the last Add put its rows into, one for each that had a
// slot. Of a row whose count came to 0 nothing is left but its note, until the next
// Add or Resolve.
func (r *Rows) Added() []RowID { return r.add.id }

// Dirty says that notes of rows under these entries were or will be changed while
// the entries are pinned.
func (r *Rows) Dirty(slots []Slot) {
	r.markDirty(slots)
	if r.onDisk != nil {
		for _, s := range slots {
			if s >= 0 {
				r.onDisk.whole.Set(int(s))
			}
		}
	}
}
