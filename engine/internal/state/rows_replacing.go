package state

import "github.com/weirdb/weir/vector"

// replace is settle for a Replacing table: the last change of each row in the batch
// counts. Rows that were there get the content of those that replace them.
func (r *Rows) replace(b *vector.Batch) {
	a := &r.add
	if r.onDisk != nil {
		r.onDisk.note(a.id)
	}
	a.dead = a.dead[:0]
	for i, id := range a.id {
		r.counts[id] = int64(i) // where the last change is, for now
	}
	made, rows, ids, slots := a.pick, a.pickRow[:0], a.pickID[:0], a.pickSlot[:0]
	for i, id := range a.id {
		stored := len(made) > 0 && made[0] == int32(i)
		if stored {
			made = made[1:]
		}
		switch {
		case r.counts[id] != int64(i):
		case len(a.sign) > 0 && a.sign[i] < 0:
			r.counts[id] = 0
			a.dead = append(a.dead, id)
		default:
			r.counts[id] = 1
			if !stored {
				rows, ids, slots = append(rows, a.row[i]), append(ids, id), append(slots, a.slot[i])
			}
		}
	}
	a.pickRow, a.pickID, a.pickSlot = rows, ids, slots
	if len(ids) > 0 {
		if r.sorted != nil {
			for i, id := range ids {
				r.sorted.remove(slots[i], id)
			}
		}
		for i, c := range r.cols {
			c.zero(ids)
			c.store(b.Col(i), rows, ids)
		}
		if r.sorted != nil {
			r.sorted.add(slots, ids)
		}
	}
	r.bury()
	for _, s := range a.slot {
		r.sum[s] = int64(r.number[s])
	}
}
