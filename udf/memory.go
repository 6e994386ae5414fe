package udf

import (
	"github.com/tetratelabs/wazero/experimental"
)

// memory is the linear memory of one instance. The address space for all that it may
// have is reserved at once, so that its base never moves, nothing is copied when the guest
// grows it, and the cap is hard. The system gives pages when they are first touched.
type memory struct {
	reserved []byte
	size     uint64 // what the guest has
	refused  bool   // the guest asked for more than it may have
}

func newMemory(limit int64) (*memory, error) {
	b, err := reserve(int(limit) &^ (pageSize - 1))
	return &memory{reserved: b}, err
}

// Allocate is part of the runtime's contract for allocators: m is its own memory.
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate gives the guest size bytes, or nil.
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.reserved)) {
		m.refused = true
		return nil
	}
	m.size = size
	return m.reserved[:size:size]
}

// Free may be called twice: by the runtime, which does not when an instance is not
// completed, and by the instance.
func (m *memory) Free() {
	b := m.reserved
	m.reserved, m.size = nil, 0
	if b != nil {
		unreserve(b)
	}
}

// bytes is all of the guest's memory, until it grows.
func (m *memory) bytes() []byte { return m.reserved[:m.size] }
