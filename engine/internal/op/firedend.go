package op

import (
	"math"

	"github.com/weirdb/weir/engine/internal/exec"
)

// firedEnd is the end of the last window that was emitted, on any shard before a restart.
type firedEnd struct {
	end     int64
	changed bool
	kept    groupValue
}

func (f *firedEnd) open(rt *exec.Runtime) error {
	ends, _, err := f.kept.open(rt, "fired")
	f.end = math.MinInt64
	for _, end := range ends {
		f.end = max(f.end, end)
	}
	return err
}

func (f *firedEnd) advance(end int64) {
	if end > f.end {
		f.end, f.changed = end, true
	}
}

// flush brings a change into the state.
func (f *firedEnd) flush() error {
	if !f.changed {
		return nil
	}
	f.changed = false
	return f.kept.set(f.end)
}
