package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// FirstRows numbers the rows of each partition as they come and passes on those with
// certain numbers, at once: Top-N by processing time, and the first row of each key.
// Nothing is ever taken back. It keeps a number for each partition, for as long as
// retention has it after the number changed: rows that are not passed on do not count.
type FirstRows struct {
	spec    RankSpec
	rt      *exec.Runtime
	key     rowkey.Layout
	enc     *rowkey.Encoder
	seen    *state.Values // by partition: number of its last row, as far as that matters
	slots   []state.Slot
	grown   []state.Slot // of rows that count
	rows    []int32      // those that are passed on, with their numbers
	numbers []int64
	to      []int64
	fresh   []int32
	expiry  *expiry // nil: numbers are kept for ever
}

// NewFirstRows returns a FirstRows. The order of the spec, which is that of arrival, is
// not read, and its function is RowNumber.
func NewFirstRows(spec RankSpec) *FirstRows {
	f := &FirstRows{spec: spec, key: keyLayout(spec.Types, spec.Partition, spec.Spread)}
	f.enc = rowkey.NewEncoder(f.key)
	if spec.Retention.Set() {
		f.expiry = newExpiry(spec.Retention, f.key, 1)
	}
	return f
}

// Open finds the table.
func (f *FirstRows) Open(_ context.Context, rt *exec.Runtime) error {
	f.rt = rt
	cols := []vector.Kind{vector.Int64}
	if f.expiry != nil {
		cols = append(cols, vector.Int64)
		f.expiry.open(rt, "expiry")
	}
	f.seen = rt.State.Values("seen", f.key, cols)
	return nil
}

// Process emits those of b's rows that are among the first.
func (f *FirstRows) Process(_ int, b *vector.Batch, out exec.Output) error {
	if f.expiry.late() {
		if err := f.expiry.drop(f.seen); err != nil {
			return err
		}
	}
	f.slots = resize(f.slots, b.Len())
	if err := f.seen.Resolve(f.enc.Encode(b, f.spec.Partition), true, f.slots); err != nil {
		return err
	}
	f.bounds(b)
	seen := state.Col[int64](f.seen, 0)
	f.grown, f.rows, f.numbers = f.grown[:0], f.rows[:0], f.numbers[:0]
	for i, s := range f.slots {
		if seen[s] >= f.to[i] {
			continue
		}
		seen[s]++
		f.grown = append(f.grown, s)
		if seen[s] >= f.spec.From {
			f.rows, f.numbers = append(f.rows, int32(b.Row(i))), append(f.numbers, seen[s])
		}
	}
	f.seen.Dirty(f.grown)
	if f.expiry != nil {
		f.fresh = f.seen.Hold(f.grown, f.fresh[:0])
	}
	if len(f.rows) == 0 {
		return nil
	}
	cols := make([]*vector.Vector, 0, len(f.spec.Types)+1)
	for c := range f.spec.Types {
		cols = append(cols, b.Col(c).Take(f.rt.Pool, f.rows))
	}
	if f.spec.Number {
		cols = append(cols, vector.Of(f.rt.Pool, f.numbers...))
	}
	part := vector.NewBatch(len(f.rows), cols, nil)
	defer part.Release()
	return out.Emit(part)
}

// bounds finds the number of the last row that each of b's rows lets through.
func (f *FirstRows) bounds(b *vector.Batch) {
	f.to = resize(f.to, b.Len())
	for i := range f.to {
		f.to[i] = f.spec.To
	}
	if c := f.spec.ToColumn; c >= 0 {
		col := b.Col(c)
		if sel, some := b.Sel(); some {
			col = col.Take(f.rt.Pool, sel)
			defer col.Release()
		}
		integers(f.to, col)
	}
}

// Advance passes the watermark on.
func (f *FirstRows) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }

// End does nothing.
func (f *FirstRows) End(int, exec.Output) error { return nil }

// Flush forgets partitions whose number has not changed for long. Rows were emitted as
// they came.
func (f *FirstRows) Flush(exec.Output) error { return f.expiry.settle(f.seen) }

// Close does nothing but for what was not looked at: state belongs to the task.
func (f *FirstRows) Close() error {
	f.expiry.close()
	return nil
}
