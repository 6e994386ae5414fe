package op

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// This file is the part of OuterJoin for joins with a residual condition: each row
// of a side that leaves alone has a note with the number of its partners and
// whether it is out.

// partnerNote is the note of a stored row; 0 is a row that is new.
func partnerNote(partners int64, out bool) int64 {
	n := partners<<2 | 1
	if out {
		n |= noteOut
	}
	return n
}

const (
	noteOut     = 2
	notePartner = 4 // one more of them
)

func notePartners(note int64) int64 { return note >> 2 }

// processRows joins b. The entries of the other side are in its slots.
func (j *OuterJoin) processRows(port int, b *vector.Batch, keys *rowkey.Keys, out exec.Output) error {
	own, other := &j.sides[port], &j.sides[1-port]
	if l := j.lone[1-port]; l != nil {
		other.rows.Dirty(other.slots)
		if own.Updating {
			if err := j.touch(port, b); err != nil {
				return err
			}
		}
	}
	j.partners = resize(j.partners, b.Len())
	clear(j.partners)
	var cursor state.Cursor
	for done := false; !done; {
		var err error
		if done, err = j.next(port, b, other.slots, &cursor); err != nil {
			return err
		}
		for i, at := range j.matches.Probe {
			j.partners[at] += j.matches.Count[i]
		}
		if j.lone[1-port] != nil {
			if err := j.notePartner(port, b, out); err != nil {
				return err
			}
		}
		if j.pairsLeave() {
			if err := j.emitMatches(port, b, out); err != nil {
				return err
			}
		}
	}
	if j.needed(port) {
		if err := own.rows.Resolve(keys, true, own.slots); err != nil {
			return err
		}
		if err := own.add(b, own.slots); err != nil {
			return err
		}
	}
	l := j.lone[port]
	if l == nil {
		return nil
	}
	j.out = j.out[:0]
	var notes []int64
	added := own.rows.Added()
	if j.needed(port) {
		notes = own.rows.Notes()
	}
	stored := 0
	for i, n := range j.partners {
		shown := l.shown(n)
		if notes != nil && own.slots[i] != state.None { // else it was forgotten
			if note := &notes[added[stored]]; *note == 0 {
				*note = partnerNote(n, shown)
			} else {
				shown = *note&noteOut != 0
			}
			stored++
		}
		if shown {
			j.out = append(j.out, int32(i))
		}
	}
	return j.emitOut(port, b, out)
}

// notePartner counts the rows of b in j.matches as partners of the other side's
// rows, and turns those that have partners for good, or would stand beside their
// pairs.
func (j *OuterJoin) notePartner(port int, b *vector.Batch, out exec.Output) error {
	own, other, l := &j.sides[port], &j.sides[1-port], j.lone[1-port]
	notes, kinds := other.rows.Notes(), b.Kinds()
	j.rowID, j.count = j.rowID[:0], j.count[:0]
	turns := j.pairsLeave() || !own.Updating
	for i, id := range j.matches.Row {
		step := int64(notePartner)
		if kinds != nil {
			step *= kinds[b.Row(int(j.matches.Probe[i]))].Sign()
		}
		n := notes[id] + step
		if j.forgets && notePartners(n) < 0 {
			n = partnerNote(0, n&noteOut != 0) // the partner that goes was never counted
		}
		if turns && (n&noteOut != 0) != l.matched && notePartners(n) > 0 {
			n ^= noteOut
			j.rowID, j.count = append(j.rowID, id), append(j.count, j.matches.Count[i])
		}
		notes[id] = n
	}
	return j.emitStored(1-port, l.matched, out)
}

// settleRows compares, for the rows of a side under touched keys, what is out with
// what is to be. The entries are in its slots.
func (j *OuterJoin) settleRows(port int, out exec.Output) error {
	own, l := &j.sides[port], j.lone[port]
	own.rows.Dirty(own.slots)
	notes := own.rows.Notes()
	for _, add := range []bool{false, true} {
		var cursor state.Cursor
		for done := false; !done; {
			j.matches.Reset()
			done = own.rows.Match(own.slots, &cursor, vector.Target, &j.matches)
			j.rowID, j.count = j.rowID[:0], j.count[:0]
			for i, id := range j.matches.Row {
				n := notes[id]
				if out := n&noteOut != 0; out != add && l.shown(notePartners(n)) == add {
					notes[id] = n ^ noteOut
					j.rowID, j.count = append(j.rowID, id), append(j.count, j.matches.Count[i])
				}
			}
			if err := j.emitStored(port, add, out); err != nil {
				return err
			}
		}
	}
	return nil
}
