package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// WindowJoinSpec says which rows a WindowJoin joins: the bounds of the windows are among
// the keys of both sides.
type WindowJoinSpec struct {
	JoinSpec
	Kind    JoinKind
	Windows [2]WindowSpec // of the sides: where the bounds and the watermark are
}

// InnerJoin has pairs only. For a WindowJoin it is a kind like the others.
const InnerJoin = AntiJoin + 1

// pairs reports whether pairs leave the join.
func (k JoinKind) pairs() bool { return k != SemiJoin && k != AntiJoin }

// WindowJoin joins the rows of two inputs that are in one window. Both sides are kept
// until the window is over by the watermarks of both; then the result is emitted once, and
// nothing of it is taken back. Rows that are late are left out.
type WindowJoin struct {
	spec  WindowJoinSpec
	ins   [2]windowInput
	low   *exec.MinWatermark
	ended [2]bool
	rt    *exec.Runtime

	layout rowkey.Layout
	enc    [2]*rowkey.Encoder
	rows   [2]*state.Rows
	dues   *state.Times
	pred   *expr.Predicate // nil: no residual condition

	slots []state.Slot
	keep  []int32

	// While windows are joined: the rows of both sides, and which have found a partner.
	ids   [2][]state.RowID
	found [2][]bool
	pairs [2][]int32 // positions in ids
}

// NewWindowJoin returns a WindowJoin. It fails for a condition that cannot be compiled.
func NewWindowJoin(spec WindowJoinSpec) (*WindowJoin, error) {
	j := &WindowJoin{spec: spec, low: exec.NewMinWatermark(2)}
	for i, side := range j.sides() {
		j.ins[i] = newWindowInput(spec.Windows[i], side.Types)
		j.ins[i].lateSide = exec.LateSide(i)
		j.layout = keyLayout(side.Types, side.Keys, side.Spread)
		j.enc[i] = rowkey.NewEncoder(j.layout)
	}
	if spec.Residual == nil {
		return j, nil
	}
	var err error
	j.pred, err = expr.CompilePredicate(spec.Residual)
	return j, err
}

func (j *WindowJoin) sides() [2]JoinSide { return [2]JoinSide{j.spec.Left, j.spec.Right} }

// Open finds the tables.
func (j *WindowJoin) Open(_ context.Context, rt *exec.Runtime) error {
	j.rt = rt
	for i, side := range j.sides() {
		j.ins[i].rt = rt
		opt := state.RowsOptions{Indexed: side.Updating}
		for _, t := range side.Types {
			opt.Cols = append(opt.Cols, t.Kind())
		}
		j.rows[i] = rt.State.Rows([...]string{"left", "right"}[i], j.layout, opt)
	}
	j.dues = rt.State.Times("dues", j.layout)
	if j.pred == nil {
		return nil
	}
	return j.pred.Open(rt.Functions)
}

// Process keeps the rows of a side that are not late.
func (j *WindowJoin) Process(port int, b *vector.Batch, _ exec.Output) error {
	p := j.rt.Pool
	if _, some := b.Sel(); some {
		b = b.Dense(p)
		defer b.Release()
	}
	in, side := &j.ins[port], j.sides()[port]
	start, end := vector.Values[int64](b.Col(in.Start)), vector.Values[int64](b.Col(in.End))
	column, floor := in.before(b)
	j.keep = j.keep[:0]
	for i := range b.Len() {
		at := floor
		if column != nil {
			at = max(at, column[i])
		}
		if in.over(end[i], exec.Watermark(at)) {
			in.refused.add(i, window.Span{Start: start[i], End: end[i]})
			continue
		}
		j.keep = append(j.keep, int32(i))
	}
	if err := in.refuse(b); err != nil {
		return err
	}
	if len(j.keep) == 0 {
		return nil
	}
	kept := b.Take(p, j.keep)
	defer kept.Release()
	j.slots = resize(j.slots, kept.Len())
	keys := j.enc[port].Encode(kept, side.Keys)
	if err := j.rows[port].Resolve(keys, true, j.slots); err != nil {
		return err
	}
	if side.Updating {
		kept = in.alike(kept)
		defer kept.Release()
	}
	if err := j.rows[port].Add(j.slots, kept); err != nil {
		return err
	}
	ends := vector.Values[int64](kept.Col(in.End))
	for i, e := range ends {
		if err := j.dues.Add(in.instant(e)-1, keys, i); err != nil {
			return err
		}
	}
	return nil
}

// Advance joins the windows that are over.
func (j *WindowJoin) Advance(port int, w exec.Watermark, out exec.Output) error {
	low, rose := j.low.Advance(port, w)
	if !rose {
		return nil
	}
	if !j.ins[0].Processing {
		if err := j.fire(low, out); err != nil {
			return err
		}
		j.ins[0].late.Advance(low)
		j.ins[1].late.Advance(low)
	}
	return out.Advance(low)
}

// End makes windows of processing time over when both sides have ended.
func (j *WindowJoin) End(port int, _ exec.Output) error {
	j.ended[port] = true
	j.ins[0].ended = j.ended[0] && j.ended[1]
	return nil
}

// Flush joins windows of processing time that are over.
func (j *WindowJoin) Flush(out exec.Output) error {
	if !j.ins[0].Processing {
		return nil
	}
	return j.fire(j.ins[0].reached(), out)
}

func (j *WindowJoin) fire(to exec.Watermark, out exec.Output) error {
	for {
		keys, err := dueKeys(j.rt.Pool, j.dues, j.layout, to)
		if err != nil || keys == nil {
			return err
		}
		err = j.join(keys, out)
		keys.Release()
		if err != nil {
			return err
		}
	}
}

// dueKeys takes keys out of a table that are due, as a batch, or nil when there are none.
// No key is in it twice.
func dueKeys(p *vector.Pool, dues *state.Times, layout rowkey.Layout, to exec.Watermark) (*vector.Batch, error) {
	cols := make([]*vector.ColumnBuilder, len(layout.Kinds))
	for i, k := range layout.Kinds {
		cols[i] = vector.NewColumnBuilder(p, k)
	}
	n, seen := 0, map[string]bool{}
	var bad error
	err := dues.Due(int64(to), func(_ int64, key []byte) bool {
		if seen[string(key)] {
			return true
		}
		seen[string(key)] = true
		n++
		bad = rowkey.Decode(layout, key, cols)
		return bad == nil && n < vector.Target
	})
	if err == nil {
		err = bad
	}
	vecs := make([]*vector.Vector, len(cols))
	for i, c := range cols {
		vecs[i] = c.Finish()
	}
	b := vector.NewBatch(n, vecs, nil)
	if err != nil || n == 0 {
		b.Release()
		return nil, err
	}
	return b, nil
}

// join emits what the rows of keys come to, and drops them.
func (j *WindowJoin) join(keys *vector.Batch, out exec.Output) error {
	cols := make([]int, keys.Cols())
	for i := range cols {
		cols[i] = i
	}
	encoded := j.enc[0].Encode(keys, cols)
	var slots [2][]state.Slot
	var at [2][]int // where the rows of each key begin in ids
	for i := range slots {
		slots[i] = make([]state.Slot, keys.Len())
		if err := j.rows[i].Resolve(encoded, false, slots[i]); err != nil {
			return err
		}
		at[i] = j.collect(i, slots[i])
		j.found[i] = resize(j.found[i], len(j.ids[i]))
		clear(j.found[i])
	}
	for k := range keys.Len() {
		if !j.matches(keys, k) {
			continue
		}
		for l := at[0][k]; l < at[0][k+1]; l++ {
			for r := at[1][k]; r < at[1][k+1]; r++ {
				j.pairs[0], j.pairs[1] = append(j.pairs[0], int32(l)), append(j.pairs[1], int32(r))
			}
			if len(j.pairs[0]) >= vector.Target {
				if err := j.emitPairs(out); err != nil {
					return err
				}
			}
		}
	}
	if err := j.emitPairs(out); err != nil {
		return err
	}
	if err := j.emitAlone(out); err != nil {
		return err
	}
	j.rows[0].Drop(slots[0])
	j.rows[1].Drop(slots[1])
	return nil
}

// collect lists the rows of keys, each as often as it is there.
func (j *WindowJoin) collect(side int, slots []state.Slot) []int {
	ids, at := j.ids[side][:0], make([]int, 0, len(slots)+1)
	var cursor state.Cursor
	var m state.Matches
	for done := false; !done; {
		m.Reset()
		done = j.rows[side].Match(slots, &cursor, vector.Target, &m)
		for i, id := range m.Row {
			for len(at) <= int(m.Probe[i]) {
				at = append(at, len(ids))
			}
			if m.Count[i] < 0 {
				j.rt.Inconsistent(1)
			}
			for range m.Count[i] {
				ids = append(ids, id)
			}
		}
	}
	for len(at) <= len(slots) {
		at = append(at, len(ids))
	}
	j.ids[side] = ids
	return at
}

// matches reports whether rows with a key match: NULL matches only where it is told to.
func (j *WindowJoin) matches(keys *vector.Batch, k int) bool {
	for c, safe := range j.spec.NullSafe {
		if !safe && keys.Col(c).IsNull(k) {
			return false
		}
	}
	return true
}

// side takes the columns of rows, by their positions in ids.
func (j *WindowJoin) side(i int, at []int32) []*vector.Vector {
	return j.rows[i].Take(j.rt.Pool, gather(nil, j.ids[i], at))
}

// emitPairs finds the pairs that meet the condition, and emits them.
func (j *WindowJoin) emitPairs(out exec.Output) error {
	n := len(j.pairs[0])
	if n == 0 {
		return nil
	}
	defer func() { j.pairs[0], j.pairs[1] = j.pairs[0][:0], j.pairs[1][:0] }()
	if j.pred == nil && !j.spec.Kind.pairs() {
		j.mark(nil, true)
		return nil
	}
	b := vector.NewBatch(n, append(j.side(0, j.pairs[0]), j.side(1, j.pairs[1])...), nil)
	defer b.Release()
	if j.pred != nil {
		j.pred.SetNow(j.rt.Now())
		sel, err := j.pred.Select(j.rt.Pool, b)
		if err != nil {
			return err
		}
		j.mark(vector.Values[int32](sel), false)
		b = b.Select(sel)
		defer b.Release()
	} else {
		j.mark(nil, true)
	}
	if !j.spec.Kind.pairs() || b.Len() == 0 {
		return nil
	}
	return j.emit(b, out)
}

// mark notes that the rows of the given pairs, or of all, have a partner.
func (j *WindowJoin) mark(pairs []int32, all bool) {
	for side, at := range j.pairs {
		if all {
			for _, i := range at {
				j.found[side][i] = true
			}
			continue
		}
		for _, k := range pairs {
			j.found[side][at[k]] = true
		}
	}
}

// emit emits the columns of pairs that are wanted.
func (j *WindowJoin) emit(b *vector.Batch, out exec.Output) error {
	shown := b.Project(j.spec.Output)
	defer shown.Release()
	return out.Emit(shown)
}

// emitAlone emits the rows that come without a partner, padded if pairs leave the join.
func (j *WindowJoin) emitAlone(out exec.Output) error {
	for side := range j.ids {
		wanted, kind := false, j.spec.Kind
		switch {
		case side == 0:
			wanted = kind == LeftJoin || kind == FullJoin || !kind.pairs()
		default:
			wanted = kind == RightJoin || kind == FullJoin
		}
		if !wanted {
			continue
		}
		var rows []int32
		for i, found := range j.found[side] {
			if found == (kind == SemiJoin) {
				rows = append(rows, int32(i))
			}
		}
		for at := 0; at < len(rows); at += vector.Target {
			part := rows[at:min(at+vector.Target, len(rows))]
			pair := [2][]*vector.Vector{}
			pair[side] = j.side(side, part)
			if other := 1 - side; kind.pairs() {
				for _, t := range j.sides()[other].Types {
					pair[other] = append(pair[other], allNull(j.rt.Pool, t.Kind(), len(part)))
				}
			}
			b := vector.NewBatch(len(part), append(pair[0], pair[1]...), nil)
			err := j.emit(b, out)
			b.Release()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Close does nothing: state belongs to the task.
func (j *WindowJoin) Close() error { return nil }
