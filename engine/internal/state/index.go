package state

import "github.com/weirdb/weir/vector/rowkey"

// index maps hashes to slots (or row ids) by open addressing with linear probing.
//
// It grows by extendible hashing: a directory, indexed by hash bits below those
// of the key group, points to segments, and a full segment of the greatest size
// is split in two. So no insertion ever moves more than one segment, and there is
// no pause that grows with the table.
type index struct {
	packed bool // entries hold packed keys, not hashes
	dir    []*segment
	shift  uint // 64 minus the number of hash bits that index dir
	n      int
}

type segment struct {
	entries []entry // a power of two, never full
	n       int
	depth   uint // the number of hash bits that all its entries share
}

// entry is one occupied or free place.
type entry struct {
	key  uint64 // the packed key, or the hash of any other
	slot int32  // plus one; 0: free
	mask uint32 // of the packed key's NULL columns
}

const (
	groupBits    = 8 // shards differ in these bits, so they do not index
	firstSegment = 1 << 3
	fullSegment  = 1 << 16 // 1 MiB
	maxDepth     = 20
)

func newIndex(packed bool) index {
	return index{packed: packed, dir: []*segment{{entries: make([]entry, firstSegment)}}, shift: 64}
}

func (x *index) segment(hash uint64) *segment { return x.dir[hash<<groupBits>>x.shift] }

func (x *index) hash(e *entry) uint64 {
	if x.packed {
		return rowkey.HashPacked(e.key, uint8(e.mask))
	}
	return e.key
}

// findPacked is the slot of a packed key, or None.
func (x *index) findPacked(hash, word uint64, mask uint32) Slot {
	s := x.segment(hash)
	last := uint64(len(s.entries) - 1)
	for j := hash & last; ; j = (j + 1) & last {
		e := &s.entries[j]
		if e.slot == 0 {
			return None
		}
		if e.key == word && e.mask == mask {
			return e.slot - 1
		}
	}
}

// insert adds an entry that is not there yet.
func (x *index) insert(hash, key uint64, mask uint32, slot int32) {
	s := x.segment(hash)
	for s.n >= len(s.entries)/4*3 {
		x.grow(s, hash)
		s = x.segment(hash)
	}
	s.place(hash, entry{key: key, slot: slot + 1, mask: mask})
	x.n++
}

// reserve makes room for so many entries at once, or for a full segment, of an index that
// has none.
func (x *index) reserve(n int) {
	s := x.dir[0]
	size := len(s.entries)
	for size < fullSegment && size/4*3 <= n {
		size *= 2
	}
	if x.n == 0 && size > len(s.entries) {
		s.entries = make([]entry, size)
	}
}

// touch loads the entries, if they fit into a cache and so many lookups would find most.
func (x *index) touch(n int) byte {
	const line, cached = 4, 1 << 13 // entries
	entries, sum := x.dir[0].entries, byte(0)
	if len(x.dir) > 1 || len(entries) > cached || len(entries) > 2*line*n {
		return 0
	}
	for i := 0; i < len(entries); i += line {
		sum += byte(entries[i].slot)
	}
	return sum
}

func (s *segment) place(hash uint64, e entry) {
	last := uint64(len(s.entries) - 1)
	j := hash & last
	for s.entries[j].slot != 0 {
		j = (j + 1) & last
	}
	s.entries[j] = e
	s.n++
}

// remove takes away the entry of slot, which is there, and closes the gap.
func (x *index) remove(hash uint64, slot int32) {
	s := x.segment(hash)
	last := uint64(len(s.entries) - 1)
	gap := hash & last
	for s.entries[gap].slot != slot+1 {
		if s.entries[gap].slot == 0 {
			panic("state: an entry is missing from its index")
		}
		gap = (gap + 1) & last
	}
	for j := gap; ; {
		j = (j + 1) & last
		e := &s.entries[j]
		if e.slot == 0 {
			break
		}
		// e may fill the gap unless its home lies behind the gap.
		if home := x.hash(e) & last; (j-home)&last >= (j-gap)&last {
			s.entries[gap] = *e
			gap = j
		}
	}
	s.entries[gap] = entry{}
	s.n--
	x.n--
}

// grow makes room in s: a small segment doubles, a full-sized one is split.
func (x *index) grow(s *segment, hash uint64) {
	old := s.entries
	if len(old) < fullSegment || s.depth == maxDepth {
		s.entries, s.n = make([]entry, len(old)*2), 0
		for i := range old {
			if e := &old[i]; e.slot != 0 {
				s.place(x.hash(e), *e)
			}
		}
		return
	}
	if s.depth == 64-x.shift {
		dir := make([]*segment, 2*len(x.dir))
		for i, d := range x.dir {
			dir[2*i], dir[2*i+1] = d, d
		}
		x.dir = dir
		x.shift--
	}
	s.depth++
	upper := &segment{entries: make([]entry, len(old)), depth: s.depth}
	s.entries, s.n = make([]entry, len(old)), 0
	for i := range old {
		e := &old[i]
		if e.slot == 0 {
			continue
		}
		h := x.hash(e)
		if h<<groupBits>>(64-s.depth)&1 != 0 {
			upper.place(h, *e)
		} else {
			s.place(h, *e)
		}
	}
	// The directory's places of s are one run; its upper half now is upper's.
	run := 1 << (64 - x.shift - s.depth)
	first := int(hash<<groupBits>>x.shift) &^ (2*run - 1)
	for i := range run {
		x.dir[first+run+i] = upper
	}
}

// each calls f for every entry.
func (x *index) each(f func(slot Slot)) {
	var last *segment
	for _, s := range x.dir {
		if s == last {
			continue
		}
		last = s
		for i := range s.entries {
			if e := s.entries[i].slot; e != 0 {
				f(e - 1)
			}
		}
	}
}

func (x *index) bytes() int64 {
	n := int64(len(x.dir)) * 8
	var last *segment
	for _, s := range x.dir {
		if s != last {
			n += int64(len(s.entries)) * 16
		}
		last = s
	}
	return n
}
