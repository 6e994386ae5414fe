package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Limit passes the first rows of an append-only input on and drops the others, as
// LIMIT and OFFSET do without ORDER BY. It runs in one shard. Nothing that was
// emitted is ever taken back.
type Limit struct {
	skip, count int64
	rt          *exec.Runtime
	seen        *state.Values // under the empty key: number of rows so far
	enc         *rowkey.Encoder
	slots       [1]state.Slot
}

// NewLimit returns a Limit that drops the first skip rows and keeps count after
// them.
func NewLimit(skip, count int64) *Limit {
	return &Limit{skip: skip, count: count, enc: rowkey.NewEncoder(rowkey.Layout{})}
}

// Open finds the table.
func (l *Limit) Open(_ context.Context, rt *exec.Runtime) error {
	l.rt = rt
	l.seen = rt.State.Values("seen", rowkey.Layout{}, []vector.Kind{vector.Int64})
	return nil
}

// Process emits those of b's rows that are within the limit.
func (l *Limit) Process(_ int, b *vector.Batch, out exec.Output) error {
	one := vector.NewBatch(1, nil, nil)
	defer one.Release()
	if err := l.seen.Resolve(l.enc.Encode(one, nil), true, l.slots[:]); err != nil {
		return err
	}
	seen := &state.Col[int64](l.seen, 0)[l.slots[0]]
	n := int64(b.Len())
	from := min(max(l.skip-*seen, 0), n)         // rows still to be skipped
	left := max(l.count-max(*seen-l.skip, 0), 0) // rows still to be emitted
	to := from + min(left, n-from)
	// Past the limit the count need not grow, nor be written again.
	if left > 0 {
		*seen += n
		l.seen.Dirty(l.slots[:])
	}
	switch {
	case from >= to:
		return nil
	case from == 0 && to == n:
		return out.Emit(b)
	}
	sel := l.rt.Pool.New(vector.Int32, int(to-from))
	for i := range vector.Values[int32](sel) {
		vector.Values[int32](sel)[i] = int32(b.Row(int(from) + i))
	}
	part := b.Select(sel)
	defer part.Release()
	return out.Emit(part)
}

// Advance passes the watermark on.
func (l *Limit) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }

// End does nothing.
func (l *Limit) End(int, exec.Output) error { return nil }

// Flush does nothing: rows were emitted as they came.
func (l *Limit) Flush(exec.Output) error { return nil }

// Close does nothing: state belongs to the task.
func (l *Limit) Close() error { return nil }
