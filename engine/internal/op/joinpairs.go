package op

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// JoinSide says what one input of a join is.
type JoinSide struct {
	Types    []sqltype.Type
	Keys     []int // columns that must equal those of the other side, in the same order
	Updating bool  // the input may take rows away
	Spread   []int // columns that rows are spread by, of Keys; nil: one shard has all
	// Replacing says of an updating input that a row that is added replaces the one with
	// the same Keys and Identity, other columns, and that of a -D these are all that
	// counts. Join only.
	Replacing bool
	Identity  []int
	// Retention says when rows of the side are forgotten.
	Retention Retention
}

// JoinSpec says what a join computes. The columns of a pair of rows are those of
// the left followed by those of the right.
type JoinSpec struct {
	Left, Right JoinSide
	NullSafe    []bool    // by key: NULL equals NULL, as in IS NOT DISTINCT FROM; nil: nowhere
	Residual    expr.Expr // over the columns of a pair; nil: all pairs with equal keys
	Output      []int     // columns of a pair to be emitted; nil: all
}

// joinPairs finds and emits the pairs of a join. It is the part that Join and
// OuterJoin share.
type joinPairs struct {
	sides    [2]joinSide
	residual *expr.Predicate
	output   []pairColumn
	pairs    []pairColumn // what the residual condition reads
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
	// counted says that equal rows are one with a count, which may be negative.
	counted bool

	slots    []state.Slot
	negative int64      // rows with a negative count when the last epoch ended
	expiry   *rowExpiry // nil: rows are kept for ever
}

// pairColumn is a column of a pair: column col of side.
type pairColumn struct{ side, col int }

// newJoinPairs fails for a condition that cannot be compiled.
func newJoinPairs(spec JoinSpec) (joinPairs, error) {
	j := joinPairs{low: exec.NewMinWatermark(2)}
	for i, s := range []JoinSide{spec.Left, spec.Right} {
		side := joinSide{JoinSide: s, layout: keyLayout(s.Types, s.Keys, s.Spread)}
		for at, k := range s.Keys {
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
			return joinPairs{}, err
		}
		j.residual = pred
	}
	for i := range j.sides {
		read := append(slices.Clone(j.output), j.pairs...)
		for _, c := range j.sides[i].Identity {
			read = append(read, pairColumn{i, c})
		}
		j.sides[i].store(i, read)
		if s := &j.sides[i]; s.Retention.Set() {
			s.expiry = newRowExpiry(s)
		}
	}
	return j, nil
}

// newTableSide is a side of which all columns are kept.
func newTableSide(s JoinSide) joinSide {
	side := joinSide{JoinSide: s, layout: keyLayout(s.Types, s.Keys, s.Spread)}
	side.enc = rowkey.NewEncoder(side.layout)
	side.stored, side.place = upTo(len(s.Types)), upTo(len(s.Types))
	if s.Retention.Set() {
		side.expiry = newRowExpiry(&side)
	}
	return side
}

// open keeps the runtime and opens the functions of the residual condition.
func (j *joinPairs) open(rt *exec.Runtime) error {
	j.rt = rt
	if j.residual == nil {
		return nil
	}
	return j.residual.Open(rt.Functions)
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

// open finds the table of a side.
func (s *joinSide) open(rt *exec.Runtime, name string, opt state.RowsOptions) {
	opt.Cols = make([]vector.Kind, len(s.stored))
	for at, c := range s.stored {
		opt.Cols[at] = s.Types[c].Kind()
	}
	for _, c := range s.Identity {
		opt.Identity = append(opt.Identity, s.place[c])
	}
	if s.expiry != nil {
		opt.Indexed = true // rows are taken away when they are forgotten
		s.expiry.open(rt, s, name)
	}
	s.counted = opt.Indexed && !opt.Replacing
	s.rows = rt.State.Rows(name, s.layout, opt)
	s.negative = s.rows.Negative()
}

// add keeps the rows of b under slots. Rows that would take away what was forgotten get
// the slot None.
func (s *joinSide) add(b *vector.Batch, slots []state.Slot) error {
	if s.expiry != nil {
		if err := s.expiry.count(b, slots); err != nil {
			return err
		}
	}
	narrow := b.Project(s.stored)
	defer narrow.Release()
	return s.rows.Add(slots, narrow)
}

// joinable parts the rows of b whose key has no NULL that equals nothing from the
// others, which are in j.probe after.
func (j *joinPairs) joinable(own *joinSide, b *vector.Batch) *vector.Vector {
	j.probe, j.rows = j.probe[:0], j.rows[:0]
rows:
	for i := range b.Len() {
		r := b.Row(i)
		for _, k := range own.strict {
			if b.Col(k).IsNull(r) {
				j.probe = append(j.probe, int32(r))
				continue rows
			}
		}
		j.rows = append(j.rows, int32(r))
	}
	return vector.Of(j.rt.Pool, j.rows...)
}

// next finds more pairs, which are in j.matches after: of b's rows with the rows of
// the other side under slots, as far as they meet the residual condition.
func (j *joinPairs) next(port int, b *vector.Batch, slots []state.Slot, cursor *state.Cursor) (done bool, err error) {
	j.matches.Reset()
	done = j.sides[1-port].rows.Match(slots, cursor, vector.Target, &j.matches)
	return done, j.meet(port, b)
}

// meet leaves those of the matches that meet the residual condition.
func (j *joinPairs) meet(port int, b *vector.Batch) error {
	if j.residual == nil || len(j.matches.Row) == 0 {
		return nil
	}
	p := j.rt.Pool
	j.locate(b)
	narrow := j.pair(port, b, j.matches.Row, j.pairs, nil)
	defer narrow.Release()
	j.residual.SetNow(j.rt.Now())
	sel, err := j.residual.Select(p, narrow)
	if err != nil {
		return err
	}
	defer sel.Release()
	if sel.Len() == len(j.matches.Row) {
		return nil
	}
	pass, m := vector.Values[int32](sel), &j.matches
	m.Probe, m.Row = gather(m.Probe, m.Probe, pass), gather(m.Row, m.Row, pass)
	m.Count = gather(m.Count, m.Count, pass)
	return nil
}

// locate puts into j.probe where in b the probes of j.matches are.
func (j *joinPairs) locate(b *vector.Batch) {
	if sel, some := b.Sel(); some {
		j.probe = gather(j.probe, sel, j.matches.Probe)
	} else {
		j.probe = append(j.probe[:0], j.matches.Probe...)
	}
}

// emitMatches emits the pairs of j.matches.
func (j *joinPairs) emitMatches(port int, b *vector.Batch, out exec.Output) error {
	if j.sides[1-port].counted {
		return j.emitCounted(port, b, out)
	}
	j.locate(b)
	var kinds *vector.Vector
	if k := b.KindVector(); k != nil {
		kinds = k.Take(j.rt.Pool, j.probe)
	}
	return j.emit(port, b, j.matches.Row, kinds, out)
}

// emitCounted emits each of the matches as often as its row stands in the other
// side, with the inverted kind when it does so a negative number of times.
func (j *joinPairs) emitCounted(port int, b *vector.Batch, out exec.Output) error {
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
			if err := j.emit(port, b, j.rows, j.kindVector(plain), out); err != nil {
				return err
			}
			j.probe, j.rows, j.kinds = j.probe[:0], j.rows[:0], j.kinds[:0]
		}
	}
	return j.emit(port, b, j.rows, j.kindVector(plain), out)
}

// kindVector has j.kinds; it is nil when those are all inserts.
func (j *joinPairs) kindVector(plain bool) *vector.Vector {
	if plain {
		return nil
	}
	v, k := j.rt.Pool.NewKinds(len(j.kinds))
	copy(k, j.kinds)
	return v
}

// emit emits the pairs of rows j.probe of b and rows of the other side. It takes
// over kinds.
func (j *joinPairs) emit(port int, b *vector.Batch, rows []state.RowID, kinds *vector.Vector, out exec.Output) error {
	pairs := j.pair(port, b, rows, j.output, kinds)
	defer pairs.Release()
	if pairs.Len() == 0 {
		return nil
	}
	return out.Emit(pairs)
}

// pair gathers columns of the pairs of rows j.probe of b and rows of the other side.
func (j *joinPairs) pair(port int, b *vector.Batch, rows []state.RowID, of []pairColumn, kinds *vector.Vector) *vector.Batch {
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
func (j *joinPairs) Advance(port int, w exec.Watermark, out exec.Output) error {
	if low, rose := j.low.Advance(port, w); rose {
		return out.Advance(low)
	}
	return nil
}

// drop frees the rows of a side that nobody needs any more.
func (s *joinSide) drop() error {
	s.negative = 0
	return s.rows.DropAll()
}

// catchUp forgets rows before the first one comes after a restart.
func (j *joinPairs) catchUp() error {
	if j.sides[0].expiry.late() || j.sides[1].expiry.late() {
		return j.expire()
	}
	return nil
}

// expire forgets the rows that nothing touched for long.
func (j *joinPairs) expire() error {
	for i := range j.sides {
		if e := j.sides[i].expiry; e != nil {
			if err := e.expire(); err != nil {
				return err
			}
		}
	}
	return nil
}

// report reports rows that were taken away and never added.
func (j *joinPairs) report() {
	for i := range j.sides {
		s := &j.sides[i]
		if n := s.rows.Negative(); n != s.negative {
			j.rt.Inconsistent(n - s.negative)
			s.negative = n
		}
	}
}

// Close does nothing but for what was not looked at: state belongs to the task.
func (j *joinPairs) Close() error {
	for i := range j.sides {
		if e := j.sides[i].expiry; e != nil {
			e.expiry.close()
		}
	}
	return nil
}
