package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/vector"
)

// Union passes the rows of all its ports on, as UNION ALL does. Its watermark is
// that of the port which is furthest behind.
type Union struct {
	low *exec.MinWatermark
}

// NewUnion returns a Union of a number of ports, which have the same columns.
func NewUnion(ports int) *Union { return &Union{low: exec.NewMinWatermark(ports)} }

// Open does nothing.
func (u *Union) Open(context.Context, *exec.Runtime) error { return nil }

// Process emits b.
func (u *Union) Process(_ int, b *vector.Batch, out exec.Output) error { return out.Emit(b) }

// Advance passes the least watermark of the ports on when it rises.
func (u *Union) Advance(port int, w exec.Watermark, out exec.Output) error {
	if low, rose := u.low.Advance(port, w); rose {
		return out.Advance(low)
	}
	return nil
}

// End does nothing.
func (u *Union) End(int, exec.Output) error { return nil }

// Flush does nothing.
func (u *Union) Flush(exec.Output) error { return nil }

// Close does nothing.
func (u *Union) Close() error { return nil }
