package state

import "encoding/binary"

// arena holds byte strings, each owned by one element of a table of references
// that the arena's user keeps: refs[owner] is where the string of owner is, 0 if
// it is empty. Strings lie one after the other in chunks; a chunk that is mostly
// dead is emptied by moving what lives, so memory stays within about twice what
// is live.
type arena struct {
	chunks  []chunk // number 0 is unused
	current uint32
	unused  []uint32 // numbers of released chunks
	sparse  []uint32 // chunks waiting to be emptied
	size    int64    // bytes of all chunks
	poisons bool     // overwrite what dies
}

type chunk struct {
	data   []byte
	used   int
	live   int
	sparse bool // in arena.sparse
}

const (
	chunkBits  = 18 // the largest chunk: 256 KiB, unless one string is longer
	firstChunk = 1 << 8
	recordHead = 8 // owner and length, 32 bits each
	poisonByte = 0xDB
)

// recordSize is the room that a string of n bytes takes.
func recordSize(n int) int { return recordHead + (n+7)&^7 }

func refOf(number uint32, offset int) uint32 { return number<<(chunkBits-3) | uint32(offset)>>3 }

func (a *arena) at(ref uint32) (*chunk, int) {
	return &a.chunks[ref>>(chunkBits-3)], int(ref&(1<<(chunkBits-3)-1)) << 3
}

// get is the string at ref, in place until the next put, set or drop.
func (a *arena) get(ref uint32) []byte {
	if ref == 0 {
		return nil
	}
	c, at := a.at(ref)
	n := int(binary.LittleEndian.Uint32(c.data[at+4:]))
	at += recordHead
	return c.data[at : at+n : at+n]
}

// put copies b and returns where it is.
func (a *arena) put(owner int32, b []byte) uint32 {
	if len(b) == 0 {
		return 0
	}
	need := recordSize(len(b))
	number := a.current
	switch {
	case need > 1<<chunkBits:
		number = a.open(need)
	case number == 0 || a.chunks[number].used+need > len(a.chunks[number].data):
		size := firstChunk
		for size < need || int64(size) < a.size/4 && size < 1<<chunkBits {
			size *= 2
		}
		old := a.current
		number = a.open(size)
		a.current = number
		if old != 0 {
			a.settle(old)
		}
	}
	c := &a.chunks[number]
	at := c.used
	binary.LittleEndian.PutUint32(c.data[at:], uint32(owner))
	binary.LittleEndian.PutUint32(c.data[at+4:], uint32(len(b)))
	copy(c.data[at+recordHead:], b)
	c.used += need
	c.live += need
	return refOf(number, at)
}

// set makes b the string of refs[owner].
func (a *arena) set(refs []uint32, owner int32, b []byte) {
	old := refs[owner]
	if old != 0 {
		c, at := a.at(old)
		n := int(binary.LittleEndian.Uint32(c.data[at+4:]))
		if recordSize(n) == recordSize(len(b)) {
			binary.LittleEndian.PutUint32(c.data[at+4:], uint32(len(b)))
			copy(c.data[at+recordHead:], b)
			return
		}
	}
	refs[owner] = a.put(owner, b)
	a.drop(old)
	a.compact(refs)
}

// drop says that the string at ref is dead.
func (a *arena) drop(ref uint32) {
	if ref == 0 {
		return
	}
	c, at := a.at(ref)
	need := recordSize(int(binary.LittleEndian.Uint32(c.data[at+4:])))
	if a.poisons {
		fill(c.data[at+recordHead : at+need])
	}
	c.live -= need
	a.settle(ref >> (chunkBits - 3))
}

// settle releases a chunk without a live string and notes one that is sparse.
func (a *arena) settle(number uint32) {
	c := &a.chunks[number]
	switch {
	case number == a.current:
	case c.live == 0:
		a.release(number)
	case c.live < c.used/2 && !c.sparse:
		c.sparse = true
		a.sparse = append(a.sparse, number)
	}
}

// compact empties some of the sparse chunks, few enough for a short pause.
func (a *arena) compact(refs []uint32) {
	for n := 0; n < 8 && len(a.sparse) > 0; {
		last := len(a.sparse) - 1
		number := a.sparse[last]
		a.sparse = a.sparse[:last]
		if a.chunks[number].sparse { // else released meanwhile
			a.empty(number, refs)
			n++
		}
	}
}

func (a *arena) empty(number uint32, refs []uint32) {
	data, used := a.chunks[number].data, a.chunks[number].used
	for at := 0; at < used; {
		owner := int32(binary.LittleEndian.Uint32(data[at:]))
		n := int(binary.LittleEndian.Uint32(data[at+4:]))
		if refs[owner] == refOf(number, at) {
			refs[owner] = a.put(owner, data[at+recordHead:at+recordHead+n])
		}
		at += recordSize(n)
	}
	a.release(number)
}

func (a *arena) open(size int) uint32 {
	var number uint32
	if last := len(a.unused) - 1; last >= 0 {
		number, a.unused = a.unused[last], a.unused[:last]
	} else {
		if len(a.chunks) == 0 {
			a.chunks = make([]chunk, 1, 4)
		}
		if len(a.chunks) == 1<<(32-chunkBits+3) {
			panic("state: a column of one shard exceeds 32 GiB")
		}
		number = uint32(len(a.chunks))
		a.chunks = append(a.chunks, chunk{})
	}
	a.chunks[number] = chunk{data: make([]byte, size)}
	a.size += int64(size)
	return number
}

func (a *arena) release(number uint32) {
	c := &a.chunks[number]
	if a.poisons {
		fill(c.data)
	}
	a.size -= int64(len(c.data))
	*c = chunk{}
	a.unused = append(a.unused, number)
}

func fill(b []byte) {
	for i := range b {
		b[i] = poisonByte
	}
}
