package op

import (
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// keep moves the deadlines of the partitions that the epoch touched, and forgets those
// that are past theirs, but for those that have rows waiting.
func (o *OverTime) keep() error {
	if held := o.parts.Held(); len(held) > 0 {
		keys, err := o.parts.Keys(o.rt.Pool, held)
		if err != nil {
			return err
		}
		err = o.expiry.touch(o.parts, held, keys)
		releaseAll(keys)
		if err != nil {
			return err
		}
	}
	return o.expire()
}

func (o *OverTime) expire() error {
	return o.expiry.expire(o.parts, func(keys *vector.Batch, slots []state.Slot) error {
		encoded, n := o.enc.Encode(keys, upTo(keys.Cols())), keys.Len()
		waits := make([]state.Slot, n)
		if err := o.waiting.Resolve(encoded, false, waits); err != nil {
			return err
		}
		history := make([]state.Slot, n)
		if o.history != nil {
			if err := o.history.Resolve(encoded, false, history); err != nil {
				return err
			}
		}
		var gone, old, stay []state.Slot
		var rows []int32
		for i, s := range slots {
			if waits[i] != state.None {
				stay, rows = append(stay, s), append(rows, int32(i))
				continue
			}
			gone, old = append(gone, s), append(old, history[i])
		}
		if o.history != nil {
			o.history.Drop(old)
		}
		o.parts.Drop(gone)
		o.rt.Expired(int64(len(gone)))
		if len(stay) == 0 {
			return nil
		}
		cols := make([]*vector.Vector, keys.Cols())
		for c := range cols {
			cols[c] = keys.Col(c).Take(o.rt.Pool, rows)
		}
		defer releaseAll(cols)
		return o.expiry.touch(o.parts, stay, cols)
	})
}

// keep moves the deadlines of the partitions that the epoch touched and that have rows,
// and forgets those that are past theirs, with all their rows.
func (o *OverRows) keep() error {
	if held := o.parts.Held(); len(held) > 0 {
		keys, err := o.parts.Keys(o.rt.Pool, held)
		if err != nil {
			return err
		}
		o.slots = append(o.slots[:0], held...)
		for i, s := range o.held {
			if o.rows.Count(s) == 0 {
				o.slots[i] = state.None
			}
		}
		err = o.expiry.touch(o.parts, o.slots, keys)
		releaseAll(keys)
		if err != nil {
			return err
		}
	}
	return o.expire()
}

func (o *OverRows) expire() error {
	return o.expiry.expire(o.parts, func(keys *vector.Batch, slots []state.Slot) error {
		of := make([]state.Slot, keys.Len())
		if err := o.rows.Resolve(o.enc.Encode(keys, upTo(keys.Cols())), false, of); err != nil {
			return err
		}
		if o.live != nil {
			if err := o.live.forget(o.rows, of); err != nil {
				return err
			}
		}
		o.rows.Drop(of)
		o.parts.Drop(slots)
		o.rt.Expired(int64(len(slots)))
		return nil
	})
}
