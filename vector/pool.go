package vector

import (
	"fmt"
	"math/bits"
	"sync"
	"unsafe"
)

// Pool recycles column buffers by size class. It belongs to one goroutine: only
// that one may allocate. Buffers may be released from any goroutine.
type Pool struct {
	mu      sync.Mutex
	free    [maxClass + 1][][]uint64 // by log2 of the number of words
	bytes   int64                    // held in free lists
	limit   int64
	vectors []Vector   // not handed out yet
	check   *poolCheck // nil outside tests
}

const (
	minClass = 3  // 64 bytes
	maxClass = 24 // 128 MiB; larger buffers go back to the garbage collector

	poolLimit = 64 << 20

	// vectorsAtOnce is how many vectors are made at once, since to make one takes as long
	// as to add a thousand numbers. They stay in memory as long as one of them does.
	vectorsAtOnce = 8
)

// poolCheck is the bookkeeping of a pool that tests use.
type poolCheck struct {
	live map[*uint64]int // first word of a buffer handed out -> words
}

// poison is what a checked pool writes over freed buffers, so that a read after
// release gives absurd values instead of plausible ones.
const poison = 0xDBDBDBDBDBDBDBDB

// NewPool returns an empty pool.
func NewPool() *Pool { return &Pool{limit: poolLimit} }

// NewCheckedPool returns a pool for tests: freed buffers are overwritten, never
// reused while poisoned reads could hide, and Leaks says what is still out.
func NewCheckedPool() *Pool {
	return &Pool{limit: poolLimit, check: &poolCheck{live: map[*uint64]int{}}}
}

// Leaks returns an error when buffers of a checked pool were not released.
func (p *Pool) Leaks() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.check == nil || len(p.check.live) == 0 {
		return nil
	}
	words := 0
	for _, n := range p.check.live {
		words += n
	}
	return fmt.Errorf("vector: %d buffers (%d bytes) not released", len(p.check.live), words*8)
}

// alloc returns a buffer of at least n bytes. Its content is arbitrary.
func (p *Pool) alloc(n int) []uint64 {
	words := (n + 7) / 8
	if words == 0 {
		return nil
	}
	p.mu.Lock()
	b := p.recycled(words)
	p.mu.Unlock()
	if b == nil {
		b = p.fresh(words)
	}
	return b
}

// vector returns a vector without anything, and for it what alloc does.
func (p *Pool) vector(n int) (*Vector, []uint64) {
	words := (n + 7) / 8
	p.mu.Lock()
	if len(p.vectors) == 0 {
		p.vectors = make([]Vector, vectorsAtOnce)
	}
	v := &p.vectors[0]
	p.vectors = p.vectors[1:]
	b := p.recycled(words)
	p.mu.Unlock()
	if b == nil && words > 0 {
		b = p.fresh(words)
	}
	return v, b
}

// classOf is the size class of a buffer of so many words.
func classOf(words int) int { return max(bits.Len(uint(words-1)), minClass) }

// recycled is a buffer of so many words that came back, or nil. The caller holds the lock.
func (p *Pool) recycled(words int) []uint64 {
	c := classOf(words)
	if words == 0 || c > maxClass || len(p.free[c]) == 0 {
		return nil
	}
	last := len(p.free[c]) - 1
	b := p.free[c][last]
	p.free[c] = p.free[c][:last]
	p.bytes -= int64(cap(b)) * 8
	if p.check != nil {
		p.check.live[unsafe.SliceData(b)] = cap(b)
	}
	return b[:words]
}

// fresh is a new buffer of so many words.
func (p *Pool) fresh(words int) []uint64 {
	size := words
	if c := classOf(words); c <= maxClass {
		size = 1 << c
	}
	b := make([]uint64, size)[:words]
	if p.check != nil {
		p.mu.Lock()
		p.check.live[unsafe.SliceData(b)] = cap(b)
		p.mu.Unlock()
	}
	return b
}

func (p *Pool) put(b []uint64) {
	if cap(b) == 0 {
		return
	}
	b = b[:cap(b)]
	p.mu.Lock()
	if p.check != nil {
		p.checkBack(b)
	}
	if c := classOf(len(b)); len(b) == 1<<c && c <= maxClass && p.bytes+int64(len(b))*8 <= p.limit {
		p.free[c] = append(p.free[c], b)
		p.bytes += int64(len(b)) * 8
	}
	p.mu.Unlock()
}

// checkBack notes that a buffer came back. The caller holds the lock.
func (p *Pool) checkBack(b []uint64) {
	if _, ok := p.check.live[unsafe.SliceData(b)]; !ok {
		p.mu.Unlock()
		panic("vector: a buffer was released twice")
	}
	delete(p.check.live, unsafe.SliceData(b))
	for i := range b {
		b[i] = poison
	}
}

// as views a buffer of words as n values of T.
func as[T any](b []uint64, n int) []T {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
