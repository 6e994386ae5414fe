package state

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Times is a set of (time, key) pairs in the order of time: timers, window ends,
// expiries. A pair is in it once, however often it was added.
type Times struct {
	name   string
	layout rowkey.Layout

	// One element per pair; pair 0 is unused.
	hash []uint64 // of the key
	next []int32  // in its moment
	refs []uint32 // the key
	keys arena
	free []int32

	pairs   index // by pairKey
	count   int64
	moments []moment
	heap    []int32 // moments that have pairs, earliest first
	idle    []int32 // moments without
	byTime  index   // from the time's hash to its moment

	// With a database.
	disk  *disk
	due   []int64       // by pair: its time
	here  vector.Bitmap // by pair: the database has it, or will when copies are committed
	dirty vector.Bitmap // by pair: it is to be copied

	key      []byte // lent to Due's yield
	evictAll bool
	pack     packing
	err      error
}

// moment is one time and the chain of its pairs, in the order they were added.
type moment struct {
	at          int64
	first, last int32
}

func newTimes(name string, key rowkey.Layout, opt Options) *Times {
	t := &Times{name: name, layout: key, pairs: newIndex(false), byTime: newIndex(false), evictAll: opt.EvictAll, pack: packing{from: opt.sparseFrom()}}
	t.hash, t.next, t.refs = make([]uint64, 1), make([]int32, 1), make([]uint32, 1)
	t.keys.poisons = opt.EvictAll
	return t
}

// timeHash is one to one.
func timeHash(at int64) uint64 { return rowkey.HashPacked(uint64(at), 0) }

func pairKey(at int64, hash uint64) uint64 {
	return rowkey.HashPacked(uint64(at)*0x9E3779B97F4A7C15^hash, 0)
}

// Add puts key i of keys into the set, due at the given time.
func (t *Times) Add(at int64, keys *rowkey.Keys, i int) error {
	if t.err != nil {
		return t.err
	}
	t.put(at, keys.Hash()[i], keys.Bytes(i))
	return nil
}

func (t *Times) put(at int64, hash uint64, key []byte) {
	pk := pairKey(at, hash)
	for p := t.pairs.findHash(pk, 0); p != 0; p = t.pairs.findHash(pk, p) {
		if t.hash[p] == hash && bytes.Equal(t.keys.get(t.refs[p]), key) {
			return
		}
	}
	p := t.link(at, hash, key)
	t.count++
	t.pack.use(int(t.count))
	if t.disk != nil {
		t.disk.count(hash, 1)
		t.due[p] = at
		t.dirty.Set(int(p))
	}
}

// link adds a pair that is not there.
func (t *Times) link(at int64, hash uint64, key []byte) int32 {
	pk := pairKey(at, hash)
	p := t.newPair()
	t.hash[p], t.next[p] = hash, 0
	t.refs[p] = t.keys.put(p, key)
	t.pairs.insert(pk, pk, 0, p)
	if t.disk != nil {
		words := vector.BitmapWords(cap(t.hash))
		t.due, t.here, t.dirty = extend(t.due, cap(t.hash)), extend(t.here, words), extend(t.dirty, words)
	}
	m := &t.moments[t.moment(at)]
	if m.first == 0 {
		m.first = p
	} else {
		t.next[m.last] = p
	}
	m.last = p
	return p
}

func (t *Times) newPair() int32 {
	if n := len(t.free) - 1; n >= 0 {
		p := t.free[n]
		t.free = t.free[:n]
		return p
	}
	t.hash, t.next, t.refs = append(t.hash, 0), append(t.next, 0), append(t.refs, 0)
	return int32(len(t.hash) - 1)
}

// moment finds or makes the moment of a time.
func (t *Times) moment(at int64) int32 {
	h := timeHash(at)
	if m := t.byTime.findPacked(h, h, 0); m != None {
		return m
	}
	var m int32
	if n := len(t.idle) - 1; n >= 0 {
		m, t.idle = t.idle[n], t.idle[:n]
		t.moments[m] = moment{at: at}
	} else {
		m = int32(len(t.moments))
		t.moments = append(t.moments, moment{at: at})
	}
	t.byTime.insert(h, h, 0, m)
	t.heap = append(t.heap, m)
	for i := len(t.heap) - 1; i > 0 && t.earlier(i, (i-1)/2); i = (i - 1) / 2 {
		t.heap[i], t.heap[(i-1)/2] = t.heap[(i-1)/2], t.heap[i]
	}
	return m
}

func (t *Times) earlier(i, j int) bool {
	return t.moments[t.heap[i]].at < t.moments[t.heap[j]].at
}

// popMoment takes away the earliest moment.
func (t *Times) popMoment() {
	m, last := t.heap[0], len(t.heap)-1
	t.heap[0] = t.heap[last]
	t.heap = t.heap[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && t.earlier(c+1, c) {
			c++
		}
		if !t.earlier(c, i) {
			break
		}
		t.heap[i], t.heap[c] = t.heap[c], t.heap[i]
		i = c
	}
	t.byTime.remove(timeHash(t.moments[m].at), m)
	t.idle = append(t.idle, m)
}

// Due yields the pairs whose time is at most w, earliest first, and takes each
// away before it yields it. It stops when yield returns false. The key is given in
// its canonical bytes, lent until yield returns; yield may Add, and what it adds
// that is due is yielded too.
func (t *Times) Due(w int64, yield func(at int64, key []byte) bool) error {
	if t.err != nil {
		return t.err
	}
	for len(t.heap) > 0 {
		m := &t.moments[t.heap[0]]
		at, p := m.at, m.first
		if at > w {
			break
		}
		if m.first = t.next[p]; m.first == 0 {
			t.popMoment()
		}
		t.key = append(t.key[:0], t.keys.get(t.refs[p])...)
		t.forget(at, p)
		more := yield(at, t.key)
		if t.evictAll {
			fill(t.key)
		}
		if !more {
			break
		}
	}
	return nil
}

func (t *Times) forget(at int64, p int32) {
	if t.disk != nil {
		t.disk.count(t.hash[p], -1)
		t.dirty.Clear(int(p))
		if t.here.Get(int(p)) {
			t.here.Clear(int(p))
			t.disk.scratch.key = t.appendKey(t.disk.scratch.key[:0], at, p)
			t.disk.changes.part.delete(t.disk.scratch.key)
		}
	}
	t.pairs.remove(pairKey(at, t.hash[p]), p)
	t.keys.drop(t.refs[p])
	t.refs[p] = 0
	t.keys.compact(t.refs)
	t.free = append(t.free, p)
	t.count--
}

// Each visits the pairs, earliest first, and leaves them where they are. The key is lent
// until visit returns, which must not change the set.
func (t *Times) Each(visit func(at int64, key []byte) error) error {
	if t.err != nil {
		return t.err
	}
	for _, i := range t.ordered() {
		m := &t.moments[i]
		for p := m.first; p != 0; p = t.next[p] {
			if err := visit(m.at, t.keys.get(t.refs[p])); err != nil {
				return err
			}
		}
	}
	return nil
}

// ordered are the moments that have pairs, earliest first.
func (t *Times) ordered() []int32 {
	moments := slices.Clone(t.heap)
	slices.SortFunc(moments, func(a, b int32) int { return cmp.Compare(t.moments[a].at, t.moments[b].at) })
	return moments
}

// Next is the earliest time in the set.
func (t *Times) Next() (at int64, ok bool) {
	if len(t.heap) == 0 {
		return 0, false
	}
	return t.moments[t.heap[0]].at, true
}

// Len is the number of pairs.
func (t *Times) Len() int { return int(t.count) }

func (t *Times) endCall() error { return nil }

func (t *Times) endEpoch() error { return nil }

func (t *Times) entries() int64 { return t.count }

func (t *Times) fail(err error) { t.err = err }

func (t *Times) bytes() int64 {
	n := int64(cap(t.hash)+cap(t.due))*8 + int64(cap(t.next)+cap(t.refs)+cap(t.free)+cap(t.heap)+cap(t.idle))*4
	return n + int64(cap(t.moments))*16 + t.keys.size + t.pairs.bytes() + t.byTime.bytes()
}

func (t *Times) describe() string { return "times " + describeLayout(t.layout) }

// load adds pairs that the database has.
func (t *Times) load(recs []record) error {
	k, release, err := encodeKeys(t.layout, recs)
	if err != nil {
		return err
	}
	defer release()
	for i, r := range recs {
		at, n := binary.Varint(r.value)
		if n != len(r.value) || n == 0 {
			return errCorrupt
		}
		t.put(at, k.Hash()[i], r.key)
	}
	return nil
}
