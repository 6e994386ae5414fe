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
	mu    sync.Mutex
	free  [maxClass + 1][][]uint64 // by log2 of the number of words
	bytes int64                    // held in free lists
	limit int64
	check *poolCheck // nil outside tests
}

const (
	minClass = 3  // 64 bytes
	maxClass = 24 // 128 MiB; larger buffers go back to the garbage collector

	poolLimit = 64 << 20
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
	c := max(bits.Len(uint(words-1)), minClass)
	if c > maxClass {
		b := make([]uint64, words)
		p.track(b)
		return b
	}
	p.mu.Lock()
	if l := len(p.free[c]); l > 0 {
		b := p.free[c][l-1]
		p.free[c] = p.free[c][:l-1]
		p.bytes -= int64(cap(b)) * 8
		if p.check != nil {
			p.check.live[unsafe.SliceData(b)] = cap(b)
		}
		p.mu.Unlock()
		return b[:words]
	}
	p.mu.Unlock()
	b := make([]uint64, 1<<c)[:words]
	p.track(b)
	return b
}

func (p *Pool) track(b []uint64) {
	if p.check != nil {
		p.mu.Lock()
		p.check.live[unsafe.SliceData(b)] = cap(b)
		p.mu.Unlock()
	}
}

func (p *Pool) put(b []uint64) {
	if cap(b) == 0 {
		return
	}
	b = b[:cap(b)]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.check != nil {
		if _, ok := p.check.live[unsafe.SliceData(b)]; !ok {
			panic("vector: a buffer was released twice")
		}
		delete(p.check.live, unsafe.SliceData(b))
		for i := range b {
			b[i] = poison
		}
	}
	c := bits.Len(uint(len(b) - 1))
	if len(b) != 1<<c || c > maxClass || p.bytes+int64(len(b))*8 > p.limit {
		return
	}
	p.free[c] = append(p.free[c], b)
	p.bytes += int64(len(b)) * 8
}

// as views a buffer of words as n values of T.
func as[T any](b []uint64, n int) []T {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
