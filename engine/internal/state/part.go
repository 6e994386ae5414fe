package state

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Part is what a store copied at a mark: its changes since the last copy, in the
// form in which the database stores them. It refers to no memory of the store.
type Part struct {
	operator *operator
	from, to int // key groups of the shard
	tables   []*tablePart
	entries  int64
	bytes    int64
}

// tablePart is the part of one table. First the spans are deleted, then the keys of
// entries set or deleted; of two entries of one key the later counts.
type tablePart struct {
	table   byte
	spans   []span
	chunks  [][]byte
	entries []partEntry
	counts  *groupCounts // nil: as they were
}

// partEntry is a key and what follows it, the value, in a chunk.
type partEntry struct {
	sort  uint64 // the bytes of the key behind its table
	chunk int32
	at    int32
	key   int32
	value int32 // or deletedEntry
}

const (
	deletedEntry = -1
	partChunk    = 1 << 20
	partReserve  = 1 << 12 // an entry that is begun with less room goes to the next chunk
)

// groupCounts are the numbers of a table's entries by key group.
type groupCounts [keyGroups]int64

func newPart(o *operator, from, to int) *Part { return &Part{operator: o, from: from, to: to} }

// Entries is the number of copied entries, deletions included.
func (p *Part) Entries() int64 {
	if p == nil {
		return 0
	}
	return p.entries
}

// Bytes is the memory that the part takes.
func (p *Part) Bytes() int64 {
	if p == nil {
		return 0
	}
	return p.bytes
}

func (p *Part) table(number byte) *tablePart {
	t := &tablePart{table: number}
	p.tables = append(p.tables, t)
	return t
}

// finish drops tables without changes and adds up.
func (p *Part) finish() {
	p.tables = slices.DeleteFunc(p.tables, func(t *tablePart) bool {
		return len(t.entries) == 0 && len(t.spans) == 0 && t.counts == nil
	})
	for _, t := range p.tables {
		p.entries += int64(len(t.entries) + len(t.spans))
		for _, c := range t.chunks {
			p.bytes += int64(cap(c))
		}
		p.bytes += int64(cap(t.entries)) * 24
	}
}

// begin returns a buffer that a key is appended to, then its value; end takes it.
func (t *tablePart) begin() []byte {
	n := len(t.chunks) - 1
	if n < 0 || cap(t.chunks[n])-len(t.chunks[n]) < partReserve {
		size := partChunk
		if n < 1 {
			size = max(partReserve*2, (n+1)*partChunk/8)
		}
		t.chunks = append(t.chunks, make([]byte, 0, size))
		n++
	}
	return t.chunks[n]
}

// end takes an entry whose key is of the given length. There is no value with
// deletedEntry in value.
func (t *tablePart) end(buf []byte, key int, deleted bool) {
	n := len(t.chunks) - 1
	at := len(t.chunks[n])
	e := partEntry{chunk: int32(n), at: int32(at), key: int32(key), value: int32(len(buf) - at - key)}
	if deleted {
		e.value = deletedEntry
	}
	e.sort = sortWord(buf[at+3 : at+key])
	t.chunks[n] = buf
	t.entries = append(t.entries, e)
}

// sortWord is the first bytes of b as a number that sorts as they do.
func sortWord(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var word [8]byte
	copy(word[:], b)
	return binary.BigEndian.Uint64(word[:])
}

func (t *tablePart) key(e partEntry) []byte { return t.chunks[e.chunk][e.at : e.at+e.key] }

func (t *tablePart) value(e partEntry) []byte {
	at := e.at + e.key
	return t.chunks[e.chunk][at : at+e.value]
}

// delete notes that a key is gone.
func (t *tablePart) delete(key []byte) {
	t.end(append(t.begin(), key...), len(key), true)
}

// sort orders the entries by key and leaves the last of each.
func (t *tablePart) sort() {
	slices.SortStableFunc(t.entries, func(a, b partEntry) int {
		if a.sort != b.sort {
			return compareWords(a.sort, b.sort)
		}
		return bytes.Compare(t.key(a), t.key(b))
	})
	n := 0
	for i, e := range t.entries {
		if i+1 < len(t.entries) && e.sort == t.entries[i+1].sort && bytes.Equal(t.key(e), t.key(t.entries[i+1])) {
			continue
		}
		t.entries[n] = e
		n++
	}
	t.entries = t.entries[:n]
	slices.SortFunc(t.spans, func(a, b span) int { return bytes.Compare(a.start, b.start) })
	n = 0
	for _, s := range t.spans {
		if n > 0 && bytes.Compare(s.start, t.spans[n-1].end) <= 0 {
			if bytes.Compare(s.end, t.spans[n-1].end) > 0 {
				t.spans[n-1].end = s.end
			}
			continue
		}
		t.spans[n] = s
		n++
	}
	t.spans = t.spans[:n]
}
