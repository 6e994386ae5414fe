package rowkey

import "github.com/weirdb/weir/vector"

// Keys are the keys of a batch's live rows: key i is that of live row i. They are
// borrowed from the Encoder until its next Encode.
type Keys struct {
	layout Layout
	n      int
	hash   []uint64
	anyNil bool

	// A packed layout: one word a row and a mask of the columns that are NULL.
	packed bool
	words  []uint64
	nulls  []uint8 // nil: none

	// The canonical bytes; of a packed layout only once somebody asked.
	encoded bool
	data    []byte
	off     []int // n+1
	null    []bool
	bare    bool // null is unknown
}

// Len is the number of keys.
func (k *Keys) Len() int { return k.n }

// Layout is the layout of the keys.
func (k *Keys) Layout() Layout { return k.layout }

// Hash has one hash per key. Equal keys have equal hashes in every batch, process
// and release.
func (k *Keys) Hash() []uint64 { return k.hash[:k.n] }

// AnyNull reports whether any key has a NULL column. Keys of Encoder.Encoded do not know.
func (k *Keys) AnyNull() bool {
	if k.bare {
		panic("rowkey: nothing is known of NULL in keys that were encoded before")
	}
	return k.anyNil
}

// HasNull reports whether a column of key i is NULL: an equality join never
// matches it.
func (k *Keys) HasNull(i int) bool {
	switch {
	case !k.AnyNull():
		return false
	case k.packed:
		return k.nulls[i] != 0
	}
	return k.null[i]
}

// Packed returns the keys of a packed layout as words: two keys are equal if both
// their words and their masks are. A column takes its width in bits, the first
// column lowest; bit c of a mask says that column c is NULL (its bits are 0 then).
// The masks are nil when there is no NULL.
func (k *Keys) Packed() (words []uint64, nulls []uint8, ok bool) {
	if !k.packed {
		return nil, nil, false
	}
	if k.nulls == nil {
		return k.words[:k.n], nil, true
	}
	return k.words[:k.n], k.nulls[:k.n], true
}

// Bytes is the canonical encoding of key i: bytes.Compare of two encodings orders
// as the layout says, and two keys are equal if their encodings are.
func (k *Keys) Bytes(i int) []byte {
	if !k.encoded {
		k.encodePacked()
	}
	return k.data[k.off[i]:k.off[i+1]:k.off[i+1]]
}

// Encoder computes the keys of batches. It belongs to one goroutine.
type Encoder struct {
	layout Layout
	shift  []uint // packed: where each column starts
	keys   Keys

	nested     []nestedColumn // of each column that is nested; nil if none is
	word, high []uint64       // one column's canonical words
	pos        []int
	masks      []uint8

	group     *Encoder // of the layout's Group; nil: the key's own hash has the group
	groupCols []int
}

// NewEncoder returns an encoder for keys of the given layout.
func NewEncoder(l Layout) *Encoder {
	l.check()
	e := &Encoder{layout: l}
	e.keys.layout = l
	e.keys.packed = l.Packed()
	at := uint(0)
	for _, k := range l.Kinds {
		e.shift = append(e.shift, at)
		at += uint(k.Width()) * 8
		if k.Nested() {
			e.nested = make([]nestedColumn, len(l.Kinds))
		}
	}
	if l.Group != nil {
		e.group, e.groupCols = NewEncoder(l.groupLayout()), make([]int, len(l.Group))
	}
	return e
}

// Encode computes the keys of b's live rows over the given columns, whose kinds
// are the layout's. Without columns every row has the one empty key.
func (e *Encoder) Encode(b *vector.Batch, cols []int) *Keys {
	e.begin(b, cols)
	if e.keys.packed {
		e.pack(b, cols)
		hashWords(e.keys.hash, e.keys.words[:e.keys.n], e.keys.nulls)
	} else {
		e.foldHash(b, cols)
		e.encodeBytes(b, cols)
	}
	e.setGroup(b, cols)
	return &e.keys
}

// Packed are the keys of a packed layout that have these words, and masks of the columns that
// are NULL (nil: none are), as Keys.Packed has them.
func (e *Encoder) Packed(words []uint64, nulls []uint8) *Keys {
	k := &e.keys
	if !k.packed {
		panic("rowkey: the layout is not packed")
	}
	k.n, k.anyNil, k.encoded, k.nulls = len(words), false, false, nil
	k.hash, k.words = resize(k.hash, k.n), append(k.words[:0], words...)
	for _, m := range nulls {
		k.anyNil = k.anyNil || m != 0
	}
	if k.anyNil {
		k.nulls = nulls
	}
	if e.group == nil {
		hashWords(k.hash, k.words, k.nulls)
		return k
	}
	for i, w := range words {
		var m uint8
		if k.nulls != nil {
			m = nulls[i]
		}
		k.hash[i] = e.layout.HashPacked(w, m)
	}
	return k
}

// Encoded are keys of a layout that is not packed which were encoded before: hash has their
// hashes, and bytes appends what Keys.Bytes has of key i.
func (e *Encoder) Encoded(hash []uint64, bytes func(to []byte, i int) []byte) *Keys {
	k := &e.keys
	if k.packed {
		panic("rowkey: the layout is packed")
	}
	k.n, k.anyNil, k.bare, k.encoded = len(hash), false, true, true
	k.hash, k.off, k.data = append(k.hash[:0], hash...), resize(k.off, k.n+1), k.data[:0]
	k.off[0] = 0
	for i := range hash {
		k.data = bytes(k.data, i)
		k.off[i+1] = len(k.data)
	}
	return k
}

// Hash computes only the hashes, as Keys.Hash has them: for an exchange. They are
// borrowed until the next call.
func (e *Encoder) Hash(b *vector.Batch, cols []int) []uint64 {
	e.begin(b, cols)
	if e.keys.packed {
		e.pack(b, cols)
		hashWords(e.keys.hash, e.keys.words[:e.keys.n], e.keys.nulls)
	} else {
		e.foldHash(b, cols)
	}
	e.setGroup(b, cols)
	return e.keys.Hash()
}

// setGroup gives the hashes the top bits of those of the columns that decide the group.
func (e *Encoder) setGroup(b *vector.Batch, cols []int) {
	if e.group == nil {
		return
	}
	for i, c := range e.layout.Group {
		e.groupCols[i] = cols[c]
	}
	of := e.group.Hash(b, e.groupCols)
	hash := e.keys.hash[:len(of)]
	for i, h := range hash {
		hash[i] = inGroup(h, of[i])
	}
}

func (e *Encoder) begin(b *vector.Batch, cols []int) {
	if len(cols) != len(e.layout.Kinds) {
		panic("rowkey: the number of columns is not the layout's")
	}
	for i, c := range cols {
		if b.Col(c).Kind() != e.layout.Kinds[i] {
			panic("rowkey: a column's kind is not the layout's: " + b.Col(c).Kind().String())
		}
	}
	k := &e.keys
	k.n, k.anyNil, k.bare, k.encoded, k.nulls = b.Len(), false, false, false, nil
	k.hash = resize(k.hash, k.n)
	e.word = resize(e.word, k.n)
}

// resize returns s with length n; its content is arbitrary.
func resize[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n, n+n/4)
}
