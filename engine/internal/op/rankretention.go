package op

import (
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// keep moves the deadlines of the partitions that the epoch touched and that have rows.
func (r *Rank) keep() error {
	held := r.parts.Held()
	if len(held) == 0 {
		return nil
	}
	cols, err := r.parts.Keys(r.rt.Pool, held)
	if err != nil {
		return err
	}
	defer releaseAll(cols)
	r.partSlots = append(r.partSlots[:0], held...)
	if r.spec.Input == RankUpdating { // those without rows are gone
		for i, s := range r.held {
			if r.rows.Count(s) == 0 {
				r.partSlots[i] = state.None
			}
		}
	}
	return r.expiry.touch(r.parts, r.partSlots, cols)
}

// expire forgets the partitions that are past their deadline, with all their rows.
func (r *Rank) expire() error {
	if r.expiry == nil {
		return nil
	}
	return r.expiry.expire(r.parts, func(keys *vector.Batch, slots []state.Slot) error {
		of := make([]state.Slot, keys.Len())
		if err := r.rows.Resolve(r.enc.Encode(keys, r.all[:len(r.spec.Partition)]), false, of); err != nil {
			return err
		}
		if r.live != nil {
			if err := r.live.forget(r.rows, of); err != nil {
				return err
			}
		}
		r.rows.Drop(of)
		r.parts.Drop(slots)
		r.rt.Expired(int64(len(slots)))
		return nil
	})
}

// forget drops the rows that stand, behind their numbers, under some keys of a table.
func (l *liveRows) forget(rows *state.Rows, of []state.Slot) error {
	var cursor state.Cursor
	var found state.Matches
	for done := false; !done; {
		found.Reset()
		done = rows.Match(of, &cursor, vector.Target, &found)
		if len(found.Row) == 0 {
			break
		}
		cols := rows.Take(l.rt.Pool, found.Row)
		cols[0].Release()
		b := vector.NewBatch(len(found.Row), cols[1:], nil)
		l.slots = resize(l.slots, b.Len())
		err := l.table.Resolve(l.enc.Encode(b, l.all), false, l.slots)
		b.Release()
		if err != nil {
			return err
		}
		l.table.Drop(l.slots)
	}
	return nil
}
