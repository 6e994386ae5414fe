package op

import (
	"context"
	"strconv"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// AggregateSpec says what a GroupAggregate computes. Its output has the key
// columns, then one column for each call.
type AggregateSpec struct {
	Input      []sqltype.Type // columns of the input
	Keys       []int          // input columns to group by; none: all rows are one group
	Calls      []*expr.Aggregate
	Updating   bool  // the input may take rows away
	OmitBefore bool  // the consumer needs no -U
	Spread     []int // input columns that rows are spread by, of Keys; nil: one shard has all
	// Retention says when groups are forgotten. The one group without keys is kept.
	Retention Retention
}

// GroupAggregate is GROUP BY without windows: it keeps the accumulators of every
// group and publishes, at the end of an epoch, the net change of the groups that
// the epoch touched. NULL is a group.
//
// Without keys there is one group that always has a row, also for no input, and
// shard 0 has it.
//
// Over updating input a group is gone when its row count falls to 0. Counts may be
// negative inside an epoch. A group whose count is negative at its end has no row
// and is reported as inconsistent.
type GroupAggregate struct {
	spec  AggregateSpec
	rt    *exec.Runtime
	calls []call
	plan  aggregatePlan

	enc    *rowkey.Encoder
	groups *state.Values

	slots  []state.Slot
	fresh  []int32
	first  []state.Slot
	weight []int64
	images images
	change netChange

	forgetting *groupExpiry // nil: groups are kept for ever
}

// NewAggregate returns a GroupAggregate. It fails for expressions that cannot be
// compiled and for aggregates of types that it does not know.
func NewAggregate(spec AggregateSpec) (*GroupAggregate, error) {
	g := &GroupAggregate{spec: spec}
	g.plan.keys = keyLayout(spec.Input, spec.Keys, spec.Spread)
	g.plan.updating = spec.Updating
	g.plan.column(vector.Int64) // colRows
	if g.global() {
		g.plan.column(vector.Bool) // colPublished
	}
	for _, a := range spec.Calls {
		c, err := g.plan.call(a)
		if err != nil {
			return nil, err
		}
		g.calls = append(g.calls, c)
	}
	g.enc = rowkey.NewEncoder(g.plan.keys)
	g.images = newImages(g.plan.columns)
	if spec.Retention.Set() && !g.global() {
		g.forgetting = newGroupExpiry(spec.Retention, &g.plan)
		g.change.refresh = len(g.calls) > 0
	}
	return g, nil
}

// The first columns of a group's entry.
const (
	colRows      = 0 // number of rows
	colPublished = 1 // of the group without keys: its row has been published
)

func (g *GroupAggregate) global() bool { return len(g.spec.Keys) == 0 }

// Open finds the tables.
func (g *GroupAggregate) Open(_ context.Context, rt *exec.Runtime) error {
	g.rt = rt
	if err := g.plan.open(rt.Functions); err != nil {
		return err
	}
	g.groups = rt.State.Values("groups", g.plan.keys, g.plan.columns)
	for i, d := range g.plan.distincts {
		d.open(rt.State, "distinct"+strconv.Itoa(i))
	}
	for i, m := range g.plan.multisets {
		m.open(rt.State, "values"+strconv.Itoa(i), g.plan.keys)
	}
	for i, l := range g.plan.logs {
		l.open(rt.State, "arrivals"+strconv.Itoa(i))
	}
	if g.forgetting != nil {
		g.forgetting.open(rt)
	}
	return nil
}

// Process folds b into the accumulators.
func (g *GroupAggregate) Process(_ int, b *vector.Batch, _ exec.Output) error {
	p := g.rt.Pool
	if g.forgetting != nil && g.forgetting.expiry.late() {
		if err := g.forgetting.expire(g.groups); err != nil {
			return err
		}
	}
	if _, some := b.Sel(); some {
		b = b.Dense(p)
		defer b.Release()
	}
	weights, err := g.weights(b)
	if err != nil {
		return err
	}
	n := b.Len()
	g.slots = resize(g.slots, n)
	keys := g.enc.Encode(b, g.spec.Keys)
	if err := g.groups.Resolve(keys, true, g.slots); err != nil {
		return err
	}
	g.hold()
	if counts := state.Col[int64](g.groups, colRows); g.forgetting == nil || weights == nil {
		countRows(counts, g.slots, weights)
	} else if g.fresh = unknown(counts, g.slots, b.Kind, g.fresh[:0]); len(g.fresh) > 0 {
		b = g.without(b, g.fresh)
		defer b.Release()
		weights, keys = g.weight, g.enc.Encode(b, g.spec.Keys)
	}

	in := &arrivals{pool: p, batch: b, keys: g.spec.Keys, encoded: keys, now: g.rt.Now(), slots: g.slots, weights: weights}
	defer g.plan.release()
	for _, f := range g.plan.filters {
		if err := f.run(in); err != nil {
			return err
		}
	}
	for _, f := range g.plan.feeds {
		if err := f.run(g.groups, in); err != nil {
			return err
		}
	}
	for _, d := range g.plan.distincts {
		if err := d.run(g.groups, in); err != nil {
			return err
		}
	}
	return nil
}

// weights are +1 for each row of b that is added and -1 for each that is taken
// away, or nil when all are added.
func (g *GroupAggregate) weights(b *vector.Batch) ([]int64, error) {
	kinds := b.Kinds()
	if kinds == nil {
		return nil, nil
	}
	g.weight = resize(g.weight, len(kinds))
	for i, k := range kinds {
		g.weight[i] = k.Sign()
	}
	if !g.spec.Updating {
		for _, w := range g.weight {
			if w < 0 {
				return nil, errs.New(errs.Internal, errs.Position{}, "a row is taken away from an aggregate that was planned for append-only input")
			}
		}
		return nil, nil
	}
	return g.weight, nil
}

// hold remembers what the groups in slots looked like, if this epoch has not
// touched them before.
func (g *GroupAggregate) hold() {
	g.fresh = g.groups.Hold(g.slots, g.fresh[:0])
	if len(g.fresh) == 0 {
		return
	}
	g.first = resize(g.first, len(g.fresh))
	for i, f := range g.fresh {
		g.first[i] = g.slots[f]
	}
	g.groups.Dirty(g.first)
	g.images.save(g.groups, g.first)
	if g.forgetting != nil {
		g.forgetting.begin(g.groups, g.first)
	}
}

// without is b without some rows, with what was computed of the others.
func (g *GroupAggregate) without(b *vector.Batch, rows []int32) *vector.Batch {
	left, next := make([]int32, 0, b.Len()-len(rows)), 0
	for i := range b.Len() {
		if next < len(rows) && rows[next] == int32(i) {
			next++
			continue
		}
		left = append(left, int32(i))
	}
	g.slots, g.weight = gather(g.slots, g.slots, left), gather(g.weight, g.weight, left)
	return b.Take(g.rt.Pool, left)
}

// Advance passes the watermark on.
func (g *GroupAggregate) Advance(_ int, w exec.Watermark, out exec.Output) error {
	return out.Advance(w)
}

// End does nothing.
func (g *GroupAggregate) End(int, exec.Output) error { return nil }

// Flush publishes the net change of the groups that the epoch touched, and forgets those
// that were not touched for long.
func (g *GroupAggregate) Flush(out exec.Output) error {
	if err := g.publish(out); err != nil || g.forgetting == nil {
		return err
	}
	return g.forgetting.expire(g.groups)
}

func (g *GroupAggregate) publish(out exec.Output) error {
	if g.global() && g.rt.Shard == 0 {
		if err := g.holdGlobal(); err != nil {
			return err
		}
	}
	held := g.groups.Held()
	if len(held) == 0 {
		return nil
	}
	p := g.rt.Pool
	keys, err := g.groups.Keys(p, held)
	if err != nil {
		return err
	}
	g.change.keys = keys
	defer func() {
		g.change.reset()
		g.images.reset()
	}()
	if err := g.settle(keys, held); err != nil {
		return err
	}
	g.images.save(g.groups, held)
	g.change.live = g.live(g.change.live[:0])
	for _, c := range g.calls {
		v, err := c.result.column(p, &g.images, g.change.live)
		if err != nil {
			return err
		}
		g.change.cols = append(g.change.cols, v)
	}
	if err := g.change.publish(out, p, !g.spec.OmitBefore); err != nil {
		return err
	}
	if g.forgetting != nil {
		if err := g.forgetting.touch(g.groups, held, keys); err != nil {
			return err
		}
	}
	return g.drop(held)
}

// holdGlobal touches the group without keys, so that its row is published even
// when there is no input.
func (g *GroupAggregate) holdGlobal() error {
	one := vector.NewBatch(1, nil, nil)
	defer one.Release()
	g.slots = resize(g.slots, 1)
	if err := g.groups.Resolve(g.enc.Encode(one, nil), true, g.slots); err != nil {
		return err
	}
	g.hold()
	state.Col[bool](g.groups, colPublished)[g.slots[0]] = true
	return nil
}

// settle brings the accumulators of the touched groups into the state in which an
// epoch leaves them.
func (g *GroupAggregate) settle(keys []*vector.Vector, held []state.Slot) error {
	for _, m := range g.plan.multisets {
		if err := m.refresh(g.rt, g.groups, keys, held); err != nil {
			return err
		}
	}
	for _, l := range g.plan.logs {
		if err := l.refresh(g.rt, g.groups, keys, held); err != nil {
			return err
		}
	}
	err := g.plan.each(func(a accumulator) error { return a.settle(g.groups, held) })
	if err != nil {
		return err
	}
	for _, d := range g.plan.distincts {
		d.settle(g.rt)
	}
	return nil
}

// live appends, for the images of before and after, whether the group has a row.
func (g *GroupAggregate) live(live []bool) []bool {
	if g.global() {
		return append(live, savedValues[bool](&g.images, colPublished)...)
	}
	for _, n := range savedValues[int64](&g.images, colRows) {
		live = append(live, n > 0)
	}
	return live
}

// drop forgets the groups without rows and reports those with too few.
func (g *GroupAggregate) drop(held []state.Slot) error {
	if !g.spec.Updating {
		return nil
	}
	gone, negative := g.first[:0], int64(0)
	rows := state.Col[int64](g.groups, colRows)
	for _, s := range held {
		switch n := rows[s]; {
		case n < 0:
			negative++
		case n == 0 && !g.global():
			gone = append(gone, s)
		}
	}
	g.first = gone[:0]
	g.rt.Inconsistent(negative)
	if len(gone) == 0 {
		return nil
	}
	if g.forgetting != nil {
		if err := g.forgetting.clear(g.groups, gone); err != nil {
			return err
		}
	}
	g.groups.Drop(gone)
	return nil
}

// Close does nothing but for what was not looked at: state belongs to the task.
func (g *GroupAggregate) Close() error {
	if g.forgetting != nil {
		g.forgetting.close()
	}
	return nil
}
