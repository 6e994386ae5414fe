package op

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// This file is the part of OuterJoin for joins on keys alone: what is out is known
// for each key.

// processKeys joins b. The entries of the other side are in its slots.
func (j *OuterJoin) processKeys(port int, b *vector.Batch, keys *rowkey.Keys, out exec.Output) error {
	own, other := &j.sides[port], &j.sides[1-port]
	j.out = j.out[:0]
	if l := j.lone[port]; l != nil {
		if err := j.findOut(l, keys, other); err != nil {
			return err
		}
	}
	if j.needed(port) {
		if err := own.rows.Resolve(keys, true, own.slots); err != nil {
			return err
		}
		l := j.lone[1-port]
		if l != nil {
			if err := j.touchKeys(port, b); err != nil {
				return err
			}
		}
		if err := own.add(b, own.slots); err != nil {
			return err
		}
		if l != nil {
			if err := j.firstPartners(port, out); err != nil {
				return err
			}
		}
	}
	if j.pairsLeave() {
		var cursor state.Cursor
		for done := false; !done; {
			var err error
			if done, err = j.next(port, b, other.slots, &cursor); err != nil {
				return err
			}
			if err := j.emitMatches(port, b, out); err != nil {
				return err
			}
		}
	}
	return j.emitOut(port, b, out)
}

// findOut lists in j.out the rows whose like are out.
func (j *OuterJoin) findOut(l *loneRows, keys *rowkey.Keys, other *joinSide) error {
	var known []bool
	if len(l.touched.Held()) > 0 {
		l.slots = resize(l.slots, keys.Len())
		if err := l.touched.Resolve(keys, false, l.slots); err != nil {
			return err
		}
		known = state.Col[bool](l.touched, 0)
	}
	for i, s := range other.slots {
		shown := l.shown(other.rows.Count(s))
		if known != nil && l.slots[i] != state.None {
			shown = known[l.slots[i]]
		}
		if shown {
			j.out = append(j.out, int32(i))
		}
	}
	return nil
}

// touchKeys notes, before the rows of b are added, of which keys of the other side
// the partners change. Those of an input that only adds change for good with the
// first one: of them it lists in turn the entries that are without.
func (j *OuterJoin) touchKeys(port int, b *vector.Batch) error {
	own, other, l := &j.sides[port], &j.sides[1-port], j.lone[1-port]
	l.turn, l.slots = l.turn[:0], l.slots[:0]
	if !own.Updating {
		for i, s := range other.slots {
			if s != state.None && own.rows.Count(own.slots[i]) == 0 {
				l.turn = append(l.turn, s)
			}
		}
		slices.Sort(l.turn)
		l.turn = slices.Compact(l.turn)
		return nil
	}
	j.partners = j.partners[:0]
	for i, s := range other.slots {
		if s != state.None {
			j.partners = append(j.partners, own.rows.Count(own.slots[i]))
		}
	}
	if err := j.touch(port, b); err != nil {
		return err
	}
	l.touched.Dirty(l.slots)
	shown := state.Col[bool](l.touched, 0)
	for _, i := range l.fresh {
		shown[l.slots[i]] = l.shown(j.partners[i])
	}
	return nil
}

// firstPartners turns, after the rows of a side were added, the rows of the other
// that have partners for good, and those that would stand beside their pairs.
func (j *OuterJoin) firstPartners(port int, out exec.Output) error {
	own, other, l := &j.sides[port], &j.sides[1-port], j.lone[1-port]
	if own.Updating && j.pairsLeave() && len(l.slots) > 0 {
		shown, at := state.Col[bool](l.touched, 0), 0
		for i, s := range other.slots {
			if s == state.None {
				continue
			}
			t := l.slots[at]
			at++
			if shown[t] && own.rows.Count(own.slots[i]) > 0 {
				shown[t] = false
				l.turn = append(l.turn, s)
			}
		}
	}
	return j.emitKeys(1-port, l.turn, l.matched, out)
}

// emitKeys emits all rows of a side under the given entries, as additions or
// removals.
func (j *OuterJoin) emitKeys(port int, slots []state.Slot, add bool, out exec.Output) error {
	if len(slots) == 0 {
		return nil
	}
	var cursor state.Cursor
	for done := false; !done; {
		j.matches.Reset()
		done = j.sides[port].rows.Match(slots, &cursor, vector.Target, &j.matches)
		j.rowID, j.count = append(j.rowID[:0], j.matches.Row...), append(j.count[:0], j.matches.Count...)
		if err := j.emitStored(port, add, out); err != nil {
			return err
		}
	}
	return nil
}

// settleKeys compares, for the touched keys of a side, what is out with what is to
// be. The entries of its rows are in its slots.
func (j *OuterJoin) settleKeys(port int, keys *rowkey.Keys, held []state.Slot, out exec.Output) error {
	own, other, l := &j.sides[port], &j.sides[1-port], j.lone[port]
	other.slots = resize(other.slots, len(held))
	if err := other.rows.Resolve(keys, false, other.slots); err != nil {
		return err
	}
	shown := state.Col[bool](l.touched, 0)
	for _, add := range []bool{false, true} {
		l.turn = l.turn[:0]
		for i, t := range held {
			want := l.shown(other.rows.Count(other.slots[i]))
			if want == add && shown[t] != add && own.slots[i] != state.None {
				l.turn = append(l.turn, own.slots[i])
			}
		}
		if err := j.emitKeys(port, l.turn, add, out); err != nil {
			return err
		}
	}
	return nil
}
