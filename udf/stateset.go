package udf

import (
	"fmt"
	"slices"

	"github.com/weirdb/weir/abi"
)

// stateSet is the states that one call works on: some or all of a States.
type stateSet struct {
	s    *States
	size int
	rows span // which groups

	at int // where they lie in the arena
}

func (i *Instance) stateSet(s *States) *stateSet {
	return &stateSet{s: s, size: i.fn.StateSize, rows: span{to: s.len(i.fn.StateSize)}}
}

func (t *stateSet) len() int { return t.rows.len() }

// use restricts the set to the groups that rows belong to, and returns the group of each
// row among those: every state that a guest gets has a row.
func (t *stateSet) use(group []uint32, s *scratch) []uint32 {
	all := t.s.len(t.size)
	if cap(s.local) < all {
		s.local = make([]int32, all)
	}
	local := s.local[:all]
	for g := range local {
		local[g] = -1
	}
	s.used, s.renamed = s.used[:0], s.renamed[:0]
	for _, g := range group {
		l := local[g]
		if l < 0 {
			l = int32(len(s.used))
			local[g] = l
			s.used = append(s.used, int32(g))
		}
		s.renamed = append(s.renamed, uint32(l))
	}
	t.rows = span{sel: s.used}
	return s.renamed
}

// group is the group of state k.
func (t *stateSet) group(k int) int {
	if t.rows.sel != nil {
		return int(t.rows.sel[k])
	}
	return t.rows.from + k
}

func (t *stateSet) measure() int {
	if t.size > 0 {
		return pad(t.len() * t.size)
	}
	n := pad(t.len() * abi.ViewBytes)
	for k := range t.len() {
		n += pad(len(t.s.Views[t.group(k)]))
	}
	return n
}

func (t *stateSet) put(a *arena) abi.Ptr {
	t.at = a.used
	if t.size > 0 {
		buf, at := a.cut(t.len() * t.size)
		for k := range t.len() {
			copy(buf[k*t.size:][:t.size], t.s.Fixed[t.group(k)*t.size:])
		}
		return at
	}
	buf, at := a.cut(t.len() * abi.ViewBytes)
	views := view[abi.View](buf, t.len())
	for k := range views {
		state := t.s.Views[t.group(k)]
		b, at := a.cut(len(state))
		copy(b, state)
		views[k] = abi.View{Ptr: at, Len: uint32(len(state)), Cap: uint32(len(b))}
	}
	return at
}

// onStates makes a call that changes the states of the groups and nothing else.
func (i *Instance) onStates(s *States, groups span) error {
	x := &i.x
	x.states = &stateSet{s: s, size: i.fn.StateSize, rows: groups}
	if _, err := i.cut(1, "state", func(_ int, small bool) int { return x.measure(small) }); err != nil {
		return err
	}
	if _, err := i.call(); err != nil {
		return err
	}
	return i.takeStates(s)
}

// takeStates checks the states that the call left and copies them to s: all, or none.
func (i *Instance) takeStates(s *States) error {
	t := i.x.states
	name := i.fn.names[i.x.part]
	if t.size > 0 {
		buf := i.x.arena.mem[t.at:]
		for k := range t.len() {
			copy(s.Fixed[t.group(k)*t.size:][:t.size], buf[k*t.size:])
		}
		return nil
	}
	mem, l := i.mem.bytes(), &i.module.limits
	views := view[abi.View](i.x.arena.mem[t.at:], t.len())
	total := int64(0)
	for k, v := range views {
		total += int64(v.Len)
		switch {
		case int64(v.Len) > l.StateBytes:
			return i.fail(name, Overflow, fmt.Sprintf("the state of a group has %d bytes, at most %d are kept", v.Len, l.StateBytes))
		case total > l.Memory:
			return i.fail(name, Overflow, "the states overlap: together they are larger than the memory")
		case v.Len > 0 && (v.Ptr == 0 || int64(v.Ptr)+int64(v.Len) > int64(len(mem))):
			return i.fail(name, Broken, fmt.Sprintf("state %d [%#x, +%d) is outside of the %d bytes of memory", k, uint32(v.Ptr), v.Len, len(mem)))
		}
	}
	for k, v := range views {
		g := t.group(k)
		s.Views[g] = nil
		if v.Len > 0 {
			s.Views[g] = slices.Clone(mem[v.Ptr:][:v.Len])
		}
	}
	return nil
}

func (s *States) clone() *States {
	return &States{Fixed: slices.Clone(s.Fixed), Views: slices.Clone(s.Views)}
}
