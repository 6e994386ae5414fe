package state

import (
	"encoding/binary"
	"iter"
	"slices"
)

// groupCounts are the numbers of a table's entries by key group: a list while few groups
// have some, as in most slices where there are very many.
type groupCounts struct {
	few []groupCount // in the order of groups
	all *[keyGroups]int64
}

type groupCount struct {
	group uint8
	n     int64
}

// fewGroups is how long the list may be.
const fewGroups = 16

func (g *groupCounts) add(group uint8, by int64) {
	if g.all == nil {
		g.addFew(group, by)
		return
	}
	g.all[group] += by
}

func (g *groupCounts) addFew(group uint8, by int64) {
	i := 0
	for i < len(g.few) && g.few[i].group < group {
		i++
	}
	switch {
	case i < len(g.few) && g.few[i].group == group:
		g.few[i].n += by
	case len(g.few) < fewGroups:
		g.few = slices.Insert(g.few, i, groupCount{group, by})
	default:
		g.all = new([keyGroups]int64)
		for _, c := range g.few {
			g.all[c.group] = c.n
		}
		g.few = nil
		g.all[group] += by
	}
}

// each is the groups in [from, to) that have entries, and how many.
func (g groupCounts) each(from, to int) iter.Seq2[uint8, int64] {
	return func(yield func(uint8, int64) bool) {
		for _, c := range g.few {
			if c.n != 0 && int(c.group) >= from && int(c.group) < to && !yield(c.group, c.n) {
				return
			}
		}
		if g.all == nil {
			return
		}
		for i, n := range g.all[from:to] {
			if n != 0 && !yield(uint8(from+i), n) {
				return
			}
		}
	}
}

// sum is the number in groups [from, to).
func (g groupCounts) sum(from, to int) int64 {
	sum := int64(0)
	for _, n := range g.each(from, to) {
		sum += n
	}
	return sum
}

// part is a copy of groups [from, to).
func (g groupCounts) part(from, to int) groupCounts {
	var p groupCounts
	for group, n := range g.each(from, to) {
		p.add(group, n)
	}
	return p
}

// replace makes groups [from, to) those of other counts.
func (g *groupCounts) replace(from, to int, by groupCounts) {
	now := g.part(0, from)
	for group, n := range by.each(from, to) {
		now.add(group, n)
	}
	for group, n := range g.each(to, keyGroups) {
		now.add(group, n)
	}
	*g = now
}

// encode writes each group that has entries, and how many.
func (g groupCounts) encode() []byte {
	var b []byte
	for group, n := range g.each(0, keyGroups) {
		b = binary.AppendUvarint(append(b, group), uint64(n))
	}
	return b
}

func (g *groupCounts) decode(b []byte) error {
	for len(b) > 0 {
		n, w := binary.Uvarint(b[1:])
		if w <= 0 {
			return errCorrupt
		}
		g.add(b[0], int64(n))
		b = b[1+w:]
	}
	return nil
}

// groupSet is a set of key groups.
type groupSet [keyGroups / 64]uint64

func (s *groupSet) add(group uint8) { s[group/64] |= 1 << (group % 64) }

func (s *groupSet) has(group int) bool { return s[group/64]>>(group%64)&1 != 0 }
