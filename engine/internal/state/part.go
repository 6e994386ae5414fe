package state

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sync"
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
	stored *storedTable // nil: the database's own
	spans  []span
	counts []sliceCounts // those that have changed
	// chunks hold records: the lengths of a key and of its value, the key, the value.
	chunks [][]byte
	// raw has blocks of entries that are not records yet.
	raw       [][]byte
	blocks    []rawBlock
	blockFrom int // of the block that is being gathered

	number  int         // of records, and of entries in blocks
	entries []partEntry // of the records, once they are sorted
	spare   *chunkPool  // nil: chunks are not used again
}

// sliceCounts are the numbers of entries of a slice, or of a table (see storedTable).
type sliceCounts struct {
	time   string
	groups groupCounts
}

// partEntry is a key and what follows it, the value, in a chunk.
type partEntry struct {
	word  uint64 // sorts as the key does, as far as it goes
	chunk int32
	at    int32
	key   int32
	value int32 // or deletedEntry
}

const (
	deletedEntry = -1
	recordStart  = 8 // lengths, 32 bits each
	partChunk    = 1 << 20
	partReserve  = 1 << 12 // a record that is begun with less room goes to the next chunk
)

// chunkPool keeps full-sized chunks of parts that are committed: memory that was in
// use before costs a task less than new one.
type chunkPool struct {
	mu     sync.Mutex
	chunks [][]byte
}

const spareChunks = 64

func (c *chunkPool) take() []byte {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if n := len(c.chunks) - 1; n >= 0 {
			chunk := c.chunks[n]
			c.chunks = c.chunks[:n]
			return chunk
		}
	}
	return make([]byte, 0, partChunk)
}

// give takes the chunks of a part that nobody needs any more.
func (c *chunkPool) give(p *Part) {
	for _, t := range p.tables {
		for _, chunk := range t.chunks {
			c.put(chunk)
		}
		t.chunks, t.entries = nil, nil
	}
}

func (c *chunkPool) put(chunk []byte) {
	if c == nil || cap(chunk) != partChunk {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.chunks) < spareChunks {
		c.chunks = append(c.chunks, chunk[:0])
	}
}

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

// finish drops tables without changes and adds up.
func (p *Part) finish() {
	p.tables = slices.DeleteFunc(p.tables, func(t *tablePart) bool {
		return t.number == 0 && len(t.spans) == 0 && len(t.counts) == 0
	})
	for _, t := range p.tables {
		p.entries += int64(t.number + len(t.spans))
		p.bytes += t.bytes()
	}
}

func (t *tablePart) bytes() int64 {
	n := int64(t.number) * 24 // the entries that are made of them
	for _, c := range t.chunks {
		n += int64(cap(c))
	}
	for _, c := range t.raw {
		n += int64(cap(c))
	}
	return n
}

// room makes sure that the last chunk has room for n bytes.
func (t *tablePart) room(n int) {
	last := len(t.chunks) - 1
	if last >= 0 && cap(t.chunks[last])-len(t.chunks[last]) >= n {
		return
	}
	switch {
	case n > partChunk:
		t.chunks = append(t.chunks, make([]byte, 0, n))
	case last < 1:
		t.chunks = append(t.chunks, make([]byte, 0, max(n, partReserve*2, (last+1)*partChunk/8)))
	default:
		t.chunks = append(t.chunks, t.spare.take())
	}
}

// begin returns a buffer that a key is appended to, then its value; end takes it.
func (t *tablePart) begin() []byte {
	t.room(partReserve)
	return append(t.chunks[len(t.chunks)-1], make([]byte, recordStart)...)
}

// end takes a record whose key is of the given length; value is the length of its
// value, or deletedEntry.
func (t *tablePart) end(buf []byte, key, value int) {
	n := len(t.chunks) - 1
	start(buf[len(t.chunks[n]):], key, value)
	t.chunks[n] = buf
	t.number++
}

// start writes the beginning of a record.
func start(b []byte, key, value int) {
	binary.NativeEndian.PutUint32(b, uint32(key))
	binary.NativeEndian.PutUint32(b[4:], uint32(int32(value)))
}

func (t *tablePart) set(key, value []byte) {
	t.end(append(append(t.begin(), key...), value...), len(key), len(value))
}

// delete notes that a key is gone.
func (t *tablePart) delete(key []byte) { t.end(append(t.begin(), key...), len(key), deletedEntry) }

func (t *tablePart) key(e partEntry) []byte { return t.chunks[e.chunk][e.at : e.at+e.key] }

func (t *tablePart) value(e partEntry) []byte {
	at := e.at + e.key
	return t.chunks[e.chunk][at : at+e.value]
}

// deletes reports whether anything is deleted. The part is sorted.
func (t *tablePart) deletes() bool {
	return len(t.spans) > 0 || slices.ContainsFunc(t.entries, func(e partEntry) bool { return e.value == deletedEntry })
}

// sort orders the entries by key and leaves the last of each, and joins the spans.
func (t *tablePart) sort() {
	t.sortEntries()
	slices.SortFunc(t.spans, func(a, b span) int { return bytes.Compare(a.start, b.start) })
	n := 0
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

func (t *tablePart) sortEntries() {
	if t.entries != nil || t.number == 0 {
		return // done before
	}
	t.encode()
	t.entries = make([]partEntry, 0, t.number)
	for i, c := range t.chunks {
		for at := 0; at < len(c); {
			e := partEntry{chunk: int32(i), at: int32(at + recordStart)}
			e.key, e.value = int32(binary.NativeEndian.Uint32(c[at:])), int32(binary.NativeEndian.Uint32(c[at+4:]))
			t.entries = append(t.entries, e)
			at += recordStart + int(e.key) + max(int(e.value), 0)
		}
	}
	t.order()
}

// order sorts the entries and leaves the last of each key.
func (t *tablePart) order() {
	if len(t.entries) == 0 {
		return
	}
	// Most of the order is that of a word: the group and the bytes behind what all keys
	// have in common.
	first := t.key(t.entries[0])
	common := len(first)
	for _, e := range t.entries {
		k := t.key(e)
		common = min(common, len(k))
		if !bytes.Equal(k[keyHead:common], first[keyHead:common]) {
			for i := keyHead; ; i++ {
				if k[i] != first[i] {
					common = i
					break
				}
			}
		}
	}
	for i := range t.entries {
		e := &t.entries[i]
		k := t.key(*e)
		e.word = uint64(k[keyHead-1])<<56 | sortWord(k[common:])>>8
	}
	t.entries = sortByWord(t.entries)
	for from := 0; from < len(t.entries); {
		to := from + 1
		for to < len(t.entries) && t.entries[to].word == t.entries[from].word {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(t.entries[from:to], func(a, b partEntry) int {
				if c := bytes.Compare(t.key(a), t.key(b)); c != 0 {
					return c
				}
				return cmp.Or(cmp.Compare(a.chunk, b.chunk), cmp.Compare(a.at, b.at))
			})
		}
		from = to
	}
	n := 0
	for i, e := range t.entries {
		if i+1 < len(t.entries) && e.word == t.entries[i+1].word && bytes.Equal(t.key(e), t.key(t.entries[i+1])) {
			continue
		}
		t.entries[n] = e
		n++
	}
	t.entries = t.entries[:n]
}

// sortByWord sorts entries by their words, byte by byte from the last one on, which for
// many of them takes a fraction of the time of comparisons. It may return another slice
// than it was given.
func sortByWord(entries []partEntry) []partEntry {
	const few = 200
	if len(entries) < few {
		slices.SortFunc(entries, func(a, b partEntry) int { return compareWords(a.word, b.word) })
		return entries
	}
	var counts [8][256]int32
	for i := range entries {
		w := entries[i].word
		for b := range counts {
			counts[b][byte(w>>(8*b))]++
		}
	}
	spare := make([]partEntry, len(entries))
	for b := range counts {
		count := &counts[b]
		if count[byte(entries[0].word>>(8*b))] == int32(len(entries)) {
			continue // they have the same byte here
		}
		at := int32(0)
		for i, n := range count {
			count[i], at = at, at+n
		}
		for i := range entries {
			to := &count[byte(entries[i].word>>(8*b))]
			spare[*to] = entries[i]
			*to++
		}
		entries, spare = spare, entries
	}
	return entries
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

// then is t followed by a later part of the same table.
func (t *tablePart) then(later *tablePart) *tablePart {
	t.sort()
	later.sort()
	out := &tablePart{stored: t.stored, spans: append(slices.Clone(t.spans), later.spans...), number: t.number + later.number}
	out.chunks = append(slices.Clone(t.chunks), later.chunks...)
	out.entries = make([]partEntry, 0, len(t.entries)+len(later.entries))
	for _, e := range t.entries {
		key := t.key(e)
		i, begins := slices.BinarySearchFunc(later.spans, key, func(s span, k []byte) int { return bytes.Compare(s.start, k) })
		if begins || i > 0 && bytes.Compare(key, later.spans[i-1].end) < 0 {
			continue
		}
		out.entries = append(out.entries, e)
	}
	for _, e := range later.entries {
		e.chunk += int32(len(t.chunks))
		out.entries = append(out.entries, e)
	}
	out.order()
	return out
}

// entryWriter is what a table's part is written to.
type entryWriter interface {
	Set(key, value []byte) error
	Delete(key []byte) error
	DeleteRange(start, end []byte) error
}

// writeTo writes the spans, then the entries, in the order of keys.
func (t *tablePart) writeTo(w entryWriter) error {
	for _, s := range t.spans {
		if err := w.DeleteRange(s.start, s.end); err != nil {
			return err
		}
	}
	for _, e := range t.entries {
		var err error
		if e.value == deletedEntry {
			err = w.Delete(t.key(e))
		} else {
			err = w.Set(t.key(e), t.value(e))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
