package op

import (
	"context"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// JoinSide says what one input of a Join is.
type JoinSide struct {
	Types    []sqltype.Type
	Keys     []int // columns that must equal those of the other side, in the same order
	Updating bool  // the input may take rows away
}

// JoinSpec says what a Join computes. The columns of a pair of rows are those of
// the left followed by those of the right.
type JoinSpec struct {
	Left, Right JoinSide
	NullSafe    []bool    // by key: NULL equals NULL, as in IS NOT DISTINCT FROM; nil: nowhere
	Residual    expr.Expr // over the columns of a pair; nil: all pairs with equal keys
	Output      []int     // columns of a pair to be emitted; nil: all
}

// Join is the inner join of two changelogs on equal keys. It keeps the rows of each
// side, as far as pairs need their columns, and emits, for each row that comes, the
// pairs with those of the other side.
// A NULL in a key equals nothing, unless NullSafe says so, and such rows are neither
// kept nor joined.
//
// A pair has the kind of the row that came. Rows of the other side may have been
// taken away before they were added, within an epoch: a pair with such a row has
// the inverted kind, so that it goes away again when the addition comes.
//
// When a side has ended, the rows of the other are not needed any more and are
// dropped.
type Join struct {
	sides    [2]joinSide
	residual *expr.Predicate
	output   []pairColumn
	pairs    []pairColumn // what the residual condition reads, then output
	rt       *exec.Runtime
	low      *exec.MinWatermark

	matches state.Matches
	probe   []int32
	rows    []state.RowID
	kinds   []vector.RowKind
}

// joinSide is one input: port 0 is the left, port 1 the right.
type joinSide struct {
	JoinSide
	strict []int // key columns in which NULL equals nothing
	layout rowkey.Layout
	enc    *rowkey.Encoder
	rows   *state.Rows
	stored []int // columns that are kept
	place  []int // of each column among those
	ended  bool

	slots    []state.Slot
	negative int64 // rows with a negative count when the last epoch ended
}

// pairColumn is a column of a pair: column col of side.
type pairColumn struct{ side, col int }

// NewJoin returns a Join. It fails for a condition that cannot be compiled.
func NewJoin(spec JoinSpec) (*Join, error) {
	j := &Join{low: exec.NewMinWatermark(2)}
	for i, s := range []JoinSide{spec.Left, spec.Right} {
		side := joinSide{JoinSide: s}
		for at, k := range s.Keys {
			side.layout.Kinds = append(side.layout.Kinds, s.Types[k].Kind())
			if spec.NullSafe == nil || !spec.NullSafe[at] {
				side.strict = append(side.strict, k)
			}
		}
		side.enc = rowkey.NewEncoder(side.layout)
		j.sides[i] = side
	}
	all := make([]pairColumn, 0, len(spec.Left.Types)+len(spec.Right.Types))
	for c := range spec.Left.Types {
		all = append(all, pairColumn{0, c})
	}
	for c := range spec.Right.Types {
		all = append(all, pairColumn{1, c})
	}
	j.output = all
	if spec.Output != nil {
		j.output = make([]pairColumn, len(spec.Output))
		for i, c := range spec.Output {
			j.output[i] = all[c]
		}
	}
	if spec.Residual != nil {
		read := map[int]int{}
		for i, c := range expr.Columns(spec.Residual) {
			read[c] = i
			j.pairs = append(j.pairs, all[c])
		}
		pred, err := expr.CompilePredicate(expr.Remap(spec.Residual, func(i int) int { return read[i] }))
		if err != nil {
			return nil, err
		}
		j.residual = pred
	}
	for i := range j.sides {
		j.sides[i].store(i, append(slices.Clone(j.output), j.pairs...))
	}
	return j, nil
}

// store lays out what is kept of the rows of side number i: the columns among those.
func (s *joinSide) store(i int, of []pairColumn) {
	s.place = make([]int, len(s.Types))
	for c := range s.Types {
		if slices.Contains(of, pairColumn{i, c}) {
			s.place[c] = len(s.stored)
			s.stored = append(s.stored, c)
		}
	}
}

// Open finds the tables.
func (j *Join) Open(_ context.Context, rt *exec.Runtime) error {
	j.rt = rt
	for i, name := range []string{"left", "right"} {
		s := &j.sides[i]
		cols := make([]vector.Kind, len(s.stored))
		for at, c := range s.stored {
			cols[at] = s.Types[c].Kind()
		}
		s.rows = rt.State.Rows(name, s.layout, state.RowsOptions{Cols: cols, Indexed: s.Updating})
		s.negative = s.rows.Negative()
	}
	return nil
}

// Process joins the rows of b with those of the other side, then keeps them.
func (j *Join) Process(port int, b *vector.Batch, out exec.Output) error {
	own, other := &j.sides[port], &j.sides[1-port]
	keys := own.enc.Encode(b, own.Keys)
	if keys.AnyNull() && len(own.strict) > 0 {
		sel := j.joinable(own, b)
		if sel.Len() == 0 {
			sel.Release()
			return nil
		}
		b = b.Select(sel)
		defer b.Release()
		keys = own.enc.Encode(b, own.Keys)
	}
	own.slots = resize(own.slots, b.Len())
	if err := other.rows.Resolve(keys, false, own.slots); err != nil {
		return err
	}
	if err := j.match(port, b, own.slots, out); err != nil {
		return err
	}
	if other.ended {
		return nil
	}
	if err := own.rows.Resolve(keys, true, own.slots); err != nil {
		return err
	}
	narrow := b.Project(own.stored)
	defer narrow.Release()
	return own.rows.Add(own.slots, narrow)
}

// joinable selects the rows of b whose key has no NULL that equals nothing.
func (j *Join) joinable(own *joinSide, b *vector.Batch) *vector.Vector {
	j.probe = j.probe[:0]
rows:
	for i := range b.Len() {
		r := b.Row(i)
		for _, k := range own.strict {
			if b.Col(k).IsNull(r) {
				continue rows
			}
		}
		j.probe = append(j.probe, int32(r))
	}
	return vector.Of(j.rt.Pool, j.probe...)
}

// match emits the pairs of b's rows with the rows of the other side under slots.
func (j *Join) match(port int, b *vector.Batch, slots []state.Slot, out exec.Output) error {
	other := &j.sides[1-port]
	var cursor state.Cursor
	for done := false; !done; {
		j.matches.Reset()
		done = other.rows.Match(slots, &cursor, vector.Target, &j.matches)
		var err error
		if other.Updating {
			err = j.emitCounted(port, b, out)
		} else {
			if sel, some := b.Sel(); some {
				j.probe = gather(j.probe, sel, j.matches.Probe)
			} else {
				j.probe = append(j.probe[:0], j.matches.Probe...)
			}
			err = j.emit(port, b, j.matches.Row, nil, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// emitCounted emits each of the matches as often as its row stands in the other
// side, with the inverted kind when it does so a negative number of times.
func (j *Join) emitCounted(port int, b *vector.Batch, out exec.Output) error {
	j.probe, j.rows, j.kinds = j.probe[:0], j.rows[:0], j.kinds[:0]
	kinds, plain := b.Kinds(), b.InsertOnly()
	for i, n := range j.matches.Count {
		r := int32(b.Row(int(j.matches.Probe[i])))
		kind := vector.Insert
		if kinds != nil {
			kind = kinds[r]
		}
		if n < 0 {
			n, kind, plain = -n, kind.Invert(), false
		}
		for range n {
			j.probe, j.rows, j.kinds = append(j.probe, r), append(j.rows, j.matches.Row[i]), append(j.kinds, kind)
			if len(j.probe) < vector.Target {
				continue
			}
			if err := j.emitKinds(port, b, plain, out); err != nil {
				return err
			}
			j.probe, j.rows, j.kinds = j.probe[:0], j.rows[:0], j.kinds[:0]
		}
	}
	return j.emitKinds(port, b, plain, out)
}

func (j *Join) emitKinds(port int, b *vector.Batch, plain bool, out exec.Output) error {
	if plain {
		return j.emit(port, b, j.rows, nil, out)
	}
	v, k := j.rt.Pool.NewKinds(len(j.kinds))
	copy(k, j.kinds)
	return j.emit(port, b, j.rows, v, out)
}

// emit emits the pairs of rows j.probe of b and rows of the other side that meet the
// residual condition. It takes over kinds, which is nil when the pairs have the kinds
// of b's rows, and overwrites rows.
func (j *Join) emit(port int, b *vector.Batch, rows []state.RowID, kinds *vector.Vector, out exec.Output) error {
	p := j.rt.Pool
	if j.residual != nil && len(j.probe) > 0 {
		narrow := j.pair(port, b, rows, j.pairs, nil)
		j.residual.SetNow(j.rt.Now())
		sel, err := j.residual.Select(p, narrow)
		narrow.Release()
		if err != nil {
			releaseAll([]*vector.Vector{kinds})
			return err
		}
		if sel.Len() < len(j.probe) {
			pass := vector.Values[int32](sel)
			j.probe, rows = gather(j.probe, j.probe, pass), gather(rows, rows, pass)
			if kinds != nil {
				all := kinds
				kinds = all.Take(p, pass)
				all.Release()
			}
		}
		sel.Release()
	}
	if k := b.KindVector(); k != nil && kinds == nil {
		kinds = k.Take(p, j.probe)
	}
	pairs := j.pair(port, b, rows, j.output, kinds)
	defer pairs.Release()
	if pairs.Len() == 0 {
		return nil
	}
	return out.Emit(pairs)
}

// pair gathers columns of the pairs of rows j.probe of b and rows of the other side.
func (j *Join) pair(port int, b *vector.Batch, rows []state.RowID, of []pairColumn, kinds *vector.Vector) *vector.Batch {
	p, other := j.rt.Pool, &j.sides[1-port]
	cols := make([]*vector.Vector, len(of))
	for i, c := range of {
		if c.side == port {
			cols[i] = b.Col(c.col).Take(p, j.probe)
		} else {
			cols[i] = other.rows.TakeColumn(p, rows, other.place[c.col])
		}
	}
	return vector.NewBatch(len(j.probe), cols, kinds)
}

// Advance passes the least watermark of both sides on when it rises.
func (j *Join) Advance(port int, w exec.Watermark, out exec.Output) error {
	if low, rose := j.low.Advance(port, w); rose {
		return out.Advance(low)
	}
	return nil
}

// End drops the rows of the other side: no row will come that joins them.
func (j *Join) End(port int, _ exec.Output) error {
	j.sides[port].ended = true
	j.sides[1-port].negative = 0
	return j.sides[1-port].rows.DropAll()
}

// Flush reports rows that were taken away and never added. Pairs were emitted as
// the rows came.
func (j *Join) Flush(exec.Output) error {
	for i := range j.sides {
		s := &j.sides[i]
		if n := s.rows.Negative(); n != s.negative {
			j.rt.Inconsistent(n - s.negative)
			s.negative = n
		}
	}
	return nil
}

// Close does nothing: state belongs to the task.
func (j *Join) Close() error { return nil }
