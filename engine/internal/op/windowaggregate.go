package op

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// WindowAggregateSpec says what a WindowAggregate computes. Its output has the bounds of
// the window and its last millisecond, the key columns, then one column for each call.
type WindowAggregateSpec struct {
	Input    []sqltype.Type // columns of the input
	Window   WindowSpec
	Keys     []int // input columns to group by
	Calls    []*expr.Aggregate
	Updating bool  // the input may take rows away
	Spread   []int // input columns that rows are spread by, of Keys; nil: one shard has all
}

// WindowAggregate is GROUP BY with windows: it keeps the accumulators of every group by
// the end of the window, and emits the groups of a window when that is over. A window
// without rows has no groups.
//
// Windows that overlap share their accumulators, if these can be merged. Those of HOP are
// made up of slices when they are over; of CUMULATE each is what is merged into the next.
// Otherwise a row is counted in each of its windows.
//
// A row is late for a window that was over before the row. It still counts in its windows
// that were not.
type WindowAggregate struct {
	spec  WindowAggregateSpec
	in    windowInput
	calls []call
	plan  aggregatePlan

	layout rowkey.Layout // of the groups
	keys   []int         // their columns
	enc    *rowkey.Encoder

	shared     bool
	partTables            // of the groups
	fired      firedEnd   // of HOP that is shared
	shards     groupValue // of which there were so many when slices were merged
	moved      bool       // there are other shards now, which the state does not say yet

	parts windowParts
	// holds says that accumulators look at all groups of an epoch; only is the key of the
	// only group, if there is one.
	holds   bool
	copies  bool // accumulators that are merged into none may be copied
	only    *rowkey.Keys
	touched map[partKey]bool // whose distinct values changed in this epoch

	slots  []state.Slot
	fresh  []int32
	first  []state.Slot
	all    []state.Slot
	values []state.Slot
	valued *rowkey.Encoder // of the groups of values
	weight []int64
	dst    []state.Slot

	results windowResults
}

// NewWindowAggregate returns a WindowAggregate. It fails for expressions that cannot be
// compiled and for aggregates of types that it does not know.
func NewWindowAggregate(spec WindowAggregateSpec) (*WindowAggregate, error) {
	w := &WindowAggregate{spec: spec, in: newWindowInput(spec.Window, spec.Input), keys: slices.Clone(spec.Keys)}
	if w.attached() {
		w.keys = append(w.keys, spec.Window.Start) // windows with one end may have several starts
	}
	w.layout = keyLayout(spec.Input, w.keys, spec.Spread)
	w.enc = rowkey.NewEncoder(w.layout)
	w.plan.keys = w.layout
	if spec.Updating { // what is kept of values, beside the groups, is kept by window
		w.plan.keys = w.layout.With(vector.Int64)
	}
	w.plan.updating = spec.Updating
	w.plan.column(vector.Int64) // colRows
	for _, a := range spec.Calls {
		c, err := w.plan.call(a)
		if err != nil {
			return nil, err
		}
		w.calls = append(w.calls, c)
	}
	w.holds = spec.Updating
	_ = w.plan.each(func(a accumulator) error {
		_, custom := a.(*goAggregate)
		w.holds = w.holds || custom
		return nil
	})
	kind := spec.Window.Assigner.Kind
	w.shared = !w.attached() && (kind == window.Hop || kind == window.Cumulate) && w.plan.mergeable()
	// A window of CUMULATE that was emitted has been given what its different values come to.
	w.copies = !w.holds && (kind == window.Hop || len(w.plan.distincts) == 0)
	w.results.images = newImages(w.plan.columns)
	w.touched = map[partKey]bool{}
	w.parts = windowParts{in: &w.in, shared: w.shared, hops: w.hops(), fired: &w.fired, places: map[partKey]int{}}
	return w, nil
}

// attached reports whether rows have windows already.
func (w *WindowAggregate) attached() bool { return w.spec.Window.Time < 0 }

// Open finds the tables.
func (w *WindowAggregate) Open(_ context.Context, rt *exec.Runtime) error {
	w.in.rt = rt
	w.results.keys = state.NewKeyColumns(rt.Pool, w.layout)
	if err := w.plan.open(rt.Functions); err != nil {
		return err
	}
	if len(w.keys) == 0 && !w.spec.Updating && len(w.plan.multisets)+len(w.plan.logs) == 0 {
		none := vector.NewBatch(1, nil, nil)
		w.only = w.enc.Encode(none, nil)
		none.Release()
	}
	w.open(rt.State, "windows", "", w.layout, w.plan.columns, w.hopped())
	w.openDistincts(rt.State)
	for i, m := range w.plan.multisets {
		m.open(rt.State, "values"+strconv.Itoa(i), w.plan.keys)
	}
	for i, l := range w.plan.logs {
		l.open(rt.State, "arrivals"+strconv.Itoa(i))
	}
	if !w.hops() {
		return nil
	}
	if err := w.fired.open(rt); err != nil {
		return err
	}
	return w.openMerged()
}

// hops reports whether windows are merged of slices.
func (w *WindowAggregate) hops() bool {
	return w.shared && w.spec.Window.Assigner.Kind == window.Hop
}

// hopped is the assigner of windows that are merged of slices, or nil.
func (w *WindowAggregate) hopped() *window.Assigner {
	if !w.hops() {
		return nil
	}
	return &w.spec.Window.Assigner
}

// Process folds b into the accumulators.
func (w *WindowAggregate) Process(_ int, b *vector.Batch, _ exec.Output) error {
	if _, some := b.Sel(); some {
		b = b.Dense(w.in.rt.Pool)
		defer b.Release()
	}
	if !w.spec.Updating && b.Kinds() != nil && slices.ContainsFunc(b.Kinds(), func(k vector.RowKind) bool { return !k.Adds() }) {
		return errs.New(errs.Internal, errs.Position{}, "a row is taken away from a window that was planned for append-only input")
	}
	parts := w.parts.split(b)
	if err := w.in.refuse(b); err != nil {
		return err
	}
	for _, p := range parts {
		if err := w.fold(b, p); err != nil {
			return err
		}
	}
	return nil
}

// fold adds a part of b to the groups of its slice or window.
func (w *WindowAggregate) fold(b *vector.Batch, part windowPart) error {
	if !part.all && len(part.rows) < b.Len() {
		b = b.Take(w.in.rt.Pool, part.rows)
		defer b.Release()
	}
	if part.kind == slicePart {
		if err := w.foldIntoMerged(b, part.at); err != nil {
			return err
		}
	}
	return w.foldInto(b, part.partKey)
}

// foldInto adds b to the groups of a part.
func (w *WindowAggregate) foldInto(b *vector.Batch, part partKey) error {
	p := w.in.rt.Pool
	groups, err := w.kept(part).Slice(part.at, true)
	if err != nil {
		return err
	}
	w.slots = resize(w.slots, b.Len())
	encoded, err := w.resolve(groups, b)
	if err != nil {
		return err
	}
	weights := w.weights(b)
	countRows(state.Col[int64](groups, colRows), w.slots, weights)

	in := &arrivals{pool: p, batch: b, keys: w.keys, encoded: encoded, now: w.in.rt.Now(), slots: w.slots, weights: weights}
	if w.spec.Updating {
		end := p.New(vector.Int64, b.Len())
		fill(vector.Values[int64](end), part.at)
		in.batch = withColumn(b, end)
		defer in.batch.Release()
		in.keys = append(w.keys[:len(w.keys):len(w.keys)], b.Cols())
		if len(w.plan.multisets) > 0 {
			in.encoded = rowkey.NewEncoder(w.plan.keys).Encode(in.batch, in.keys)
		}
	}
	defer w.plan.release()
	for _, f := range w.plan.filters {
		if err := f.run(in); err != nil {
			return err
		}
	}
	for _, f := range w.plan.feeds {
		if err := f.run(groups, in); err != nil {
			return err
		}
	}
	for _, d := range w.plan.distincts {
		if err := d.at(part, true); err != nil {
			return err
		}
		if err := d.run(groups, in); err != nil {
			return err
		}
		w.touched[part] = true
	}
	return w.plan.each(func(a accumulator) error { return a.settle(groups, groups.Held()) })
}

// resolve finds the groups of the rows of b, and notes that they change.
func (w *WindowAggregate) resolve(groups *state.Values, b *vector.Batch) (*rowkey.Keys, error) {
	if w.only == nil {
		encoded := w.enc.Encode(b, w.keys)
		err := groups.Resolve(encoded, true, w.slots)
		if err == nil {
			w.touch(groups, w.slots)
		}
		return encoded, err
	}
	err := groups.Resolve(w.only, true, w.slots[:1])
	if err == nil {
		w.touch(groups, w.slots[:1])
		for i := range w.slots {
			w.slots[i] = w.slots[0]
		}
	}
	return w.only, err
}

// touch notes that entries change. They keep their slots until the epoch ends if an
// accumulator asks for that.
func (w *WindowAggregate) touch(groups *state.Values, slots []state.Slot) {
	if !w.holds {
		groups.Dirty(slots)
		return
	}
	w.fresh = groups.Hold(slots, w.fresh[:0])
	w.first = gather(w.first, slots, w.fresh)
	groups.Dirty(w.first)
}

// weights are +1 for each row that is added and -1 for each that is taken away, or nil
// when all are added.
func (w *WindowAggregate) weights(b *vector.Batch) []int64 {
	kinds := b.Kinds()
	if kinds == nil || !w.spec.Updating {
		return nil
	}
	w.weight = resize(w.weight, len(kinds))
	for i, k := range kinds {
		w.weight[i] = k.Sign()
	}
	return w.weight
}

// Advance emits the windows that are over.
func (w *WindowAggregate) Advance(_ int, to exec.Watermark, out exec.Output) error {
	if !w.in.Processing {
		if err := w.fire(to, out); err != nil {
			return err
		}
		w.in.late.Advance(to)
	}
	return out.Advance(to)
}

// End makes windows of processing time over, which no clock will be.
func (w *WindowAggregate) End(int, exec.Output) error {
	w.in.ended = true
	return nil
}

// Flush brings what the epoch changed into the state. Windows of processing time that
// are over are emitted.
func (w *WindowAggregate) Flush(out exec.Output) error {
	if w.in.Processing {
		if err := w.fire(w.in.reached(), out); err != nil {
			return err
		}
	}
	if err := w.settle(); err != nil {
		return err
	}
	if err := w.flushMerged(); err != nil {
		return err
	}
	return w.fired.flush()
}

// settle brings into the state what is kept beside the groups.
func (w *WindowAggregate) settle() error {
	for _, l := range w.plan.logs {
		if err := l.apply(w.in.rt); err != nil {
			return err
		}
	}
	for at := range w.touched {
		for _, d := range w.plan.distincts {
			if err := d.at(at, false); err != nil {
				return err
			}
			if d.table != nil {
				d.settle(w.in.rt)
			}
		}
	}
	clear(w.touched)
	return nil
}

// fire emits the windows that are over at a time, in the order of their ends.
func (w *WindowAggregate) fire(to exec.Watermark, out exec.Output) error {
	if err := w.settle(); err != nil {
		return err
	}
	for {
		end, ok := w.next(to)
		if !ok {
			return w.emitResults(out)
		}
		part, err := w.complete(end)
		if err != nil {
			return err
		}
		if err := w.emit(part, end, out); err != nil {
			return err
		}
		w.drop(part)
		w.dropCores(end)
	}
}

// next is the end of the first window that is over and has rows.
func (w *WindowAggregate) next(to exec.Watermark) (int64, bool) {
	end := int64(math.MaxInt64)
	if times := w.windows.Times(); len(times) > 0 {
		end = times[0]
	}
	for w.hops() && len(w.slices[0].Times()) > 0 {
		a, at := w.in.Assigner, w.slices[0].Times()[0]
		from := at - a.Slice()
		s, ok := a.First(from)
		if ok && s.End <= w.fired.end {
			s = a.OfEnd(window.Floor(w.fired.end, a.Step, s.End))
			s, ok = a.Next(s, from)
		}
		if ok {
			end = min(end, s.End)
			break
		}
		w.dropSlice(at)
	}
	return end, end < math.MaxInt64 && w.in.over(end, to)
}

// merged is a part that others are merged into.
type merged struct {
	partKey
	groups *state.Values
	fresh  bool // it had no groups before
}

// into makes a part ready to be merged into.
func (w *WindowAggregate) into(part partKey) (merged, error) {
	groups, err := w.kept(part).Slice(part.at, true)
	if err != nil {
		return merged{}, err
	}
	return merged{part, groups, groups.Len() == 0}, nil
}

// merge adds the groups of a part to those of another.
func (w *WindowAggregate) merge(part partKey, to merged) error {
	if err := w.mergeValues(part, to.partKey); err != nil {
		return err
	}
	into := to.groups
	from, all, err := w.kept(part).All(part.at, w.all[:0])
	if err != nil {
		return err
	}
	w.all = all
	if to.fresh && w.copies && w.kept(to.partKey).Fill(into, from) {
		return nil
	}
	into.Expect(len(all))
	for chunk := range slices.Chunk(all, vector.Target) {
		w.dst = resize(w.dst, len(chunk))
		if err := into.Resolve(from.Encode(chunk, w.enc), true, w.dst); err != nil {
			return err
		}
		if !to.fresh || w.holds { // those that are new are known to change
			w.touch(into, w.dst)
		}
		mergeCounts(into, w.dst, from, chunk, colRows)
		err = w.plan.eachPlain(func(a accumulator) error {
			if err := a.(merger).merge(into, w.dst, from, chunk); err != nil {
				return err
			}
			return a.settle(into, into.Held())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// emit gives the groups of a window, which a part has, to the results, and merges them into
// the next window of CUMULATE.
func (w *WindowAggregate) emit(part partKey, end int64, out exec.Output) error {
	groups, all, err := w.kept(part).All(part.at, w.all[:0])
	if err != nil {
		return err
	}
	if w.all = all; w.spec.Updating {
		groups.Dirty(all)
	}
	if w.shared {
		if err := w.countValues(part, groups); err != nil {
			return err
		}
	}
	rows, negative, some := state.Col[int64](groups, colRows), int64(0), all[:0]
	for _, s := range all {
		if rows[s] < 0 {
			negative++
		}
		if rows[s] > 0 || w.spec.Updating {
			some = append(some, s)
		}
	}
	w.in.rt.Inconsistent(negative)
	for chunk := range slices.Chunk(some, vector.Target) {
		if err := w.refresh(end, groups, chunk); err != nil {
			return err
		}
		if err := w.collect(end, groups, chunk, out); err != nil {
			return err
		}
	}
	if a := w.in.Assigner; w.shared && a.Kind == window.Cumulate && window.Floor(end, a.Size, a.Offset) != end {
		next, err := w.into(partKey{at: end + a.Step})
		if err != nil {
			return err
		}
		return w.merge(part, next)
	}
	return nil
}

// refresh brings the columns of groups up to date that are told from what is kept beside
// them, and ends that.
func (w *WindowAggregate) refresh(end int64, groups *state.Values, slots []state.Slot) error {
	if len(w.plan.multisets)+len(w.plan.logs) == 0 {
		return nil
	}
	keys, err := groups.Keys(w.in.rt.Pool, slots)
	if err != nil {
		return err
	}
	defer releaseAll(keys)
	ends := w.in.rt.Pool.New(vector.Int64, len(slots))
	defer ends.Release()
	fill(vector.Values[int64](ends), end)
	of := append(keys[:len(keys):len(keys)], ends)
	for _, v := range of {
		v.Retain()
	}
	b := vector.NewBatch(len(slots), of, nil)
	defer b.Release()
	for _, m := range w.plan.multisets {
		if err := m.refresh(w.in.rt, groups, of, slots); err != nil {
			return err
		}
		if err := m.forget(b); err != nil {
			return err
		}
	}
	for _, l := range w.plan.logs {
		if err := l.refresh(w.in.rt, groups, of, slots); err != nil {
			return err
		}
		if err := l.forget(w.in.rt.Pool, b); err != nil {
			return err
		}
	}
	return nil
}

// Close does nothing: state belongs to the task.
func (w *WindowAggregate) Close() error { return nil }
