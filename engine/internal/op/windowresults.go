package op

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
)

// windowResults collects copies of the groups of windows that are over. Where there are few
// in each, those of many windows are emitted in one batch.
type windowResults struct {
	images images
	keys   *state.KeyColumns
	end    []int64
	live   []bool
	some   []int32 // rows of the groups that are live
}

// collect adds groups of a window to the results.
func (w *WindowAggregate) collect(end int64, groups *state.Values, slots []state.Slot, out exec.Output) error {
	r := &w.results
	if len(r.end)+len(slots) > vector.Target {
		if err := w.emitResults(out); err != nil {
			return err
		}
	}
	if err := r.keys.Add(groups, slots); err != nil {
		return err
	}
	r.images.save(groups, slots)
	for range slots {
		r.end = append(r.end, end)
	}
	return nil
}

// emitResults emits what was collected.
func (w *WindowAggregate) emitResults(out exec.Output) error {
	p, r := w.in.rt.Pool, &w.results
	if len(r.end) == 0 {
		return nil
	}
	keys := r.keys.Finish()
	results := make([]*vector.Vector, 0, len(w.calls))
	defer func() {
		releaseAll(keys)
		releaseAll(results)
		r.images.reset()
		r.end, r.live, r.some = r.end[:0], r.live[:0], r.some[:0]
	}()
	for i, n := range savedValues[int64](&r.images, colRows) {
		if r.live = append(r.live, n > 0); n > 0 {
			r.some = append(r.some, int32(i))
		}
	}
	for _, c := range w.calls {
		v, err := c.result.column(p, &r.images, r.live)
		if err != nil {
			return err
		}
		results = append(results, v)
	}
	cols := w.in.columns(p, w.starts(keys), r.end)
	for _, v := range slices.Concat(keys[:len(w.spec.Keys)], results) {
		cols = append(cols, v.Retain())
	}
	b := vector.NewBatch(len(r.end), cols, nil)
	defer b.Release()
	if len(r.some) < len(r.end) {
		b = b.Select(vector.Of(p, r.some...))
		defer b.Release()
	}
	if b.Len() == 0 {
		return nil
	}
	return out.Emit(b)
}

// starts are where the windows begin of the groups that were collected.
func (w *WindowAggregate) starts(keys []*vector.Vector) []int64 {
	if w.attached() {
		return vector.Values[int64](keys[len(keys)-1])
	}
	a, starts := w.in.Assigner, make([]int64, len(w.results.end))
	for i, end := range w.results.end {
		switch {
		case i > 0 && end == w.results.end[i-1]:
			starts[i] = starts[i-1]
		case a.Kind == window.Cumulate:
			starts[i] = window.Floor(end-1, a.Size, a.Offset)
		default:
			starts[i] = a.OfEnd(end).Start
		}
	}
	return starts
}
