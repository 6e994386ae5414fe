package op

import (
	"math"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// overLate says which rows come too late for an OverTime.
type overLate struct {
	exec.Lateness
	byRow bool // only behind rows of their own partition

	untimed bool // there are rows without a time, which are late

	kept, lost []int32
	times      []int64
	slots      []state.Slot
	// The partitions of this epoch, if a row has come that the watermark had passed: the
	// rows that wait, and the time of the last row that was emitted.
	parts map[string]*overPassed
}

// overPassed is a partition in the eyes of a row that the watermark has passed.
type overPassed struct {
	waiting sortedTimes
	last    int64
	some    bool
}

// choose parts the rows of b that are not late from those that are.
func (l *overLate) choose(o *OverTime, b *vector.Batch) (kept, lost []int32, err error) {
	l.kept, l.lost = l.kept[:0], l.lost[:0]
	v := b.Col(o.time)
	l.times = o.times(v, b.Len(), l.times[:0])
	l.untimed = v.Nulls() > 0 && !o.spec.Order[0].NullsLast
	marks, floor := l.Rows(b)
	for i, t := range l.times {
		at := floor
		if marks != nil {
			at = max(at, marks[i])
		}
		if t <= at && at > math.MinInt64 || l.untimed && v.IsNull(i) {
			l.lost = append(l.lost, int32(i))
		} else {
			l.kept = append(l.kept, int32(i))
		}
	}
	if !l.byRow {
		return l.kept, l.lost, nil
	}
	if len(l.lost) == 0 && l.parts == nil {
		behind, err := l.behind(o, b)
		if err != nil || !behind {
			return l.kept, l.lost, err
		}
	}
	err = l.chooseByRow(o, b)
	return l.kept, l.lost, err
}

// behind reports whether a row is not behind all of its partition that were emitted.
func (l *overLate) behind(o *OverTime, b *vector.Batch) (bool, error) {
	l.slots = resize(l.slots, b.Len())
	if err := o.parts.Resolve(o.enc.Encode(b, o.spec.Partition), false, l.slots); err != nil {
		return false, err
	}
	some, last := state.Col[bool](o.parts, colOverAny), state.Col[int64](o.parts, colOverLast)
	for i, s := range l.slots {
		if s != state.None && some[s] && l.times[i] <= last[s] {
			return true, nil
		}
	}
	return false, nil
}

// chooseByRow is choose for rows that are late only behind one of their partition.
func (l *overLate) chooseByRow(o *OverTime, b *vector.Batch) error {
	if l.parts == nil {
		l.parts = map[string]*overPassed{}
		for _, p := range o.pending {
			if err := l.note(o, p); err != nil {
				return err
			}
		}
	}
	l.kept, l.lost = l.kept[:0], l.lost[:0]
	marks, floor := l.Rows(b)
	parts, err := l.find(o, b)
	if err != nil {
		return err
	}
	for i, t := range l.times {
		if l.untimed && b.Col(o.time).IsNull(i) {
			l.lost = append(l.lost, int32(i))
			continue
		}
		at, p := floor, parts[i]
		if marks != nil {
			at = max(at, marks[i])
		}
		if p.some && t <= p.last || p.waiting.passed(t, at) {
			l.lost = append(l.lost, int32(i))
			continue
		}
		o.overdue = o.overdue || t <= at && at > math.MinInt64
		l.kept = append(l.kept, int32(i))
		p.waiting.add(t)
	}
	return nil
}

// note takes in rows that came before.
func (l *overLate) note(o *OverTime, b *vector.Batch) error {
	parts, err := l.find(o, b)
	if err != nil {
		return err
	}
	for i, t := range o.times(b.Col(o.time), b.Len(), nil) {
		parts[i].waiting.add(t)
	}
	return nil
}

// find lists the partitions of the rows of b.
func (l *overLate) find(o *OverTime, b *vector.Batch) ([]*overPassed, error) {
	keys := o.enc.Encode(b, o.spec.Partition)
	slots, waits := make([]state.Slot, b.Len()), make([]state.Slot, b.Len())
	if err := o.parts.Resolve(keys, false, slots); err != nil {
		return nil, err
	}
	if err := o.waiting.Resolve(keys, false, waits); err != nil {
		return nil, err
	}
	some, last := state.Col[bool](o.parts, colOverAny), state.Col[int64](o.parts, colOverLast)
	out := make([]*overPassed, b.Len())
	for i := range out {
		key := keys.Bytes(i)
		p := l.parts[string(key)]
		if p == nil {
			p = &overPassed{}
			if s := slots[i]; s != state.None && some[s] {
				p.some, p.last = true, last[s]
			}
			var ids []state.RowID
			err := o.waiting.Range(waits[i], nil, func(id state.RowID, _ int64) bool {
				ids = append(ids, id)
				return true
			})
			if err != nil {
				return nil, err
			}
			v := o.waiting.TakeColumn(o.rt.Pool, ids, o.time+1)
			for _, t := range o.times(v, len(ids), nil) {
				p.waiting.add(t)
			}
			v.Release()
			l.parts[string(key)] = p
		}
		out[i] = p
	}
	return out, nil
}

// forget is the end of an epoch: what it has brought is in state.
func (l *overLate) forget() { l.parts = nil }
