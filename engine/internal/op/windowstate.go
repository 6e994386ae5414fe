package op

import (
	"strconv"

	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// partKey names what rows are counted in: a window, or a slice of windows, or what is
// merged of slices.
type partKey struct {
	at    int64 // its end
	kind  partKind
	level int // of slices: 0, or that of a block; of cores: 0 for a window that is begun
}

type partKind uint8

const (
	ofWindow partKind = iota
	slicePart
	corePart
)

// partTables has the tables of parts of one thing.
type partTables struct {
	windows *state.Slices   // by the end of a window
	slices  []*state.Slices // of HOP that is shared: by the end of a slice, and of a block of each level
	cores   []*state.Slices // by level, by the end of a window that is begun, and of a core
}

// open finds the tables, of which each has its name and those of slices and cores begin with
// a prefix too.
func (t *partTables) open(s *state.Store, windows, prefix string, l rowkey.Layout, columns []vector.Kind, a *window.Assigner) {
	t.windows = s.Slices(windows, l, columns)
	t.slices, t.cores = t.slices[:0], t.cores[:0]
	if a == nil {
		return
	}
	t.slices = append(t.slices, s.Slices(prefix+"slices", l, columns))
	for level := range blockLevels(*a) {
		t.slices = append(t.slices, s.Slices(prefix+"blocks of "+strconv.FormatInt(times(1, blockSize, level+1), 10), l, columns))
	}
	if coreLevels(*a) == 0 {
		return
	}
	t.cores = append(t.cores, s.Slices(prefix+"begun", l, columns))
	for level := range coreLevels(*a) {
		t.cores = append(t.cores, s.Slices(prefix+"cores of "+strconv.FormatInt(times(1, coreSize, level+1), 10), l, columns))
	}
}

// kept is the table of a part.
func (t *partTables) kept(part partKey) *state.Slices {
	switch part.kind {
	case slicePart:
		return t.slices[part.level]
	case corePart:
		return t.cores[part.level]
	}
	return t.windows
}
