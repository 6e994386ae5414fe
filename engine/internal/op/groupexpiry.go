package op

import (
	"math"
	"slices"
	"strconv"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// groupExpiry forgets groups of a GroupAggregate with all that is kept of them. What
// stands under the group's key in other tables goes with it. Distinct values, which
// stand under keys of their own, go when they are looked at and their group is gone, or
// another one: the group's birth, which they have too, tells.
type groupExpiry struct {
	expiry *expiry
	plan   *aggregatePlan
	born   int // column of the groups
	births int64
	kept   []state.Slot
}

// newGroupExpiry adds columns to the groups of a plan that is complete.
func newGroupExpiry(keep Retention, p *aggregatePlan) *groupExpiry {
	g := &groupExpiry{plan: p, born: p.column(vector.Int64)}
	g.expiry = newExpiry(keep, p.keys, p.column(vector.Int64))
	for _, d := range p.distincts {
		d.expiry = &distinctExpiry{expiry: newExpiry(keep, d.layout, len(d.feeds)+1), of: d, groups: g, enc: rowkey.NewEncoder(p.keys)}
	}
	for _, m := range p.multisets {
		m.forgets = true
	}
	for _, l := range p.logs {
		l.forgets = true
	}
	return g
}

func (g *groupExpiry) open(rt *exec.Runtime) {
	g.expiry.open(rt, "expiry")
	for i, d := range g.plan.distincts {
		d.expiry.open(rt, "distinct"+strconv.Itoa(i)+"/expiry")
	}
}

// begin gives a birth to groups that are new. No two of a key are the same.
func (g *groupExpiry) begin(groups *state.Values, slots []state.Slot) {
	born := state.Col[int64](groups, g.born)
	for _, s := range slots {
		if born[s] == 0 {
			g.births++
			born[s] = g.expiry.rt.Now()<<20 | g.births&(1<<20-1) | 1<<62
		}
	}
}

// touch moves the deadlines of groups that have rows.
func (g *groupExpiry) touch(groups *state.Values, held []state.Slot, keys []*vector.Vector) error {
	rows := state.Col[int64](groups, colRows)
	g.kept = append(g.kept[:0], held...)
	for i, s := range held {
		if rows[s] <= 0 {
			g.kept[i] = state.None
		}
	}
	return g.expiry.touch(groups, g.kept, keys)
}

// expire forgets the groups that are past their deadline, then the distinct values of
// groups that are gone.
func (g *groupExpiry) expire(groups *state.Values) error {
	err := g.expiry.expire(groups, func(keys *vector.Batch, slots []state.Slot) error {
		if err := g.forget(keys); err != nil {
			return err
		}
		groups.Drop(slots)
		g.expiry.rt.Expired(int64(len(slots)))
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range g.plan.distincts {
		if err := d.expiry.expire(groups); err != nil {
			return err
		}
	}
	return nil
}

// clear forgets what is kept of groups that have no row any more: rows that were
// forgotten may have left something when they were taken away.
func (g *groupExpiry) clear(groups *state.Values, gone []state.Slot) error {
	if len(g.plan.multisets)+len(g.plan.logs) == 0 {
		return nil
	}
	cols, err := groups.Keys(g.expiry.rt.Pool, gone)
	if err != nil {
		return err
	}
	keys := vector.NewBatch(len(gone), cols, nil)
	defer keys.Release()
	return g.forget(keys)
}

// forget drops what stands under the keys of groups beside the groups.
func (g *groupExpiry) forget(keys *vector.Batch) error {
	for _, m := range g.plan.multisets {
		if err := m.forget(keys); err != nil {
			return err
		}
	}
	for _, l := range g.plan.logs {
		if err := l.forget(g.expiry.rt.Pool, keys); err != nil {
			return err
		}
	}
	return nil
}

func (g *groupExpiry) close() {
	g.expiry.close()
	for _, d := range g.plan.distincts {
		d.expiry.close()
	}
}

// forget drops all values of groups.
func (m *multiset) forget(keys *vector.Batch) error {
	m.slots = resize(m.slots, keys.Len())
	if err := m.rows.Resolve(m.enc.Encode(keys, m.cols), false, m.slots); err != nil {
		return err
	}
	m.rows.Drop(m.slots)
	m.negative = m.rows.Negative()
	return nil
}

// forget drops all values of groups.
func (l *valueLog) forget(p *vector.Pool, keys *vector.Batch) error {
	group := l.cols[:len(l.layout.Kinds)]
	slots := make([]state.Slot, keys.Len())
	if err := l.order.Resolve(l.groupEnc.Encode(keys, group), false, slots); err != nil {
		return err
	}
	var cursor state.Cursor
	for done := false; !done; {
		var found state.Matches
		done = l.order.Match(slots, &cursor, vector.Target, &found)
		if len(found.Row) == 0 {
			break
		}
		cols := make([]*vector.Vector, 0, len(group)+1)
		for _, c := range group {
			cols = append(cols, keys.Col(c).Take(p, found.Probe))
		}
		stored := l.order.Take(p, found.Row)
		stored[0].Release()
		values := vector.NewBatch(len(found.Row), append(cols, stored[1]), nil)
		l.slots = resize(l.slots, values.Len())
		err := l.numbers.Resolve(l.valueEnc.Encode(values, l.cols), false, l.slots)
		values.Release()
		if err != nil {
			return err
		}
		l.numbers.Drop(unique(l.slots))
	}
	l.order.Drop(slots)
	return nil
}

// unique is slots without those that are there before.
func unique(slots []state.Slot) []state.Slot {
	slices.Sort(slots)
	return slices.Compact(slots)
}

// distinctExpiry forgets the values of a distinct whose groups are gone.
type distinctExpiry struct {
	*expiry
	of     *distinct
	groups *groupExpiry
	enc    *rowkey.Encoder // of the groups' keys
	found  []state.Slot
	fresh  []int32
}

// begin clears the values of a batch that are those of an earlier group with the same
// key, and asks to look at values that are new. keyed has the keys of of.slots, in
// order; they belong to the groups at the rows.
func (e *distinctExpiry) begin(groups *state.Values, slots []state.Slot, rows []int32, keyed *vector.Batch) error {
	d := e.of
	now, born := state.Col[int64](groups, e.groups.born), state.Col[int64](d.table, len(d.feeds))
	deadline, next := state.Col[int64](d.table, e.col), e.keep.deadline(e.rt.Now())
	e.fresh = e.fresh[:0]
	for i, s := range d.slots {
		if b := now[slots[rowAt(rows, i)]]; born[s] != b {
			born[s] = b
			for f := range d.feeds {
				if d.updating {
					state.Col[int64](d.table, f)[s] = 0
				} else {
					state.Col[bool](d.table, f)[s] = false
				}
			}
		}
		if deadline[s] == 0 {
			deadline[s] = next
			e.fresh = append(e.fresh, int32(i))
		}
	}
	if len(e.fresh) == 0 {
		return nil
	}
	some := keyed.Take(e.rt.Pool, e.fresh)
	defer some.Release()
	return e.remind(next, some)
}

// expire drops values whose group is gone. The others are looked at again when their
// group may be.
func (e *distinctExpiry) expire(groups *state.Values) error {
	d, now := e.of, e.rt.Now()
	return e.look(now, func(keys *vector.Batch) error {
		e.slots, e.found = resize(e.slots, keys.Len()), resize(e.found, keys.Len())
		encoded := e.expiry.enc.Encode(keys, e.all)
		if err := d.table.Resolve(encoded, false, e.slots); err != nil {
			return err
		}
		if err := groups.Resolve(e.enc.Encode(keys, e.groups.expiry.all), false, e.found); err != nil {
			return err
		}
		live, until := state.Col[int64](groups, e.groups.born), state.Col[int64](groups, e.groups.expiry.col)
		born, deadline := state.Col[int64](d.table, len(d.feeds)), state.Col[int64](d.table, e.col)
		var gone, kept []state.Slot
		for i, s := range e.slots {
			if s == state.None || deadline[s] > now {
				continue
			}
			g := e.found[i]
			if g == state.None || live[g] != born[s] {
				deadline[s] = math.MaxInt64 // the key may be here twice
				gone = append(gone, s)
				continue
			}
			deadline[s] = until[g]
			kept = append(kept, s)
			if err := e.times.Add(until[g], encoded, i); err != nil {
				return err
			}
		}
		d.table.Dirty(kept)
		d.table.Drop(gone)
		e.rt.Expired(int64(len(gone)))
		return nil
	})
}
