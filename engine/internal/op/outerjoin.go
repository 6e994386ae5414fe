package op

import (
	"context"
	"fmt"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// JoinKind says which rows leave an OuterJoin.
type JoinKind uint8

// The kinds of joins beside the inner one.
const (
	LeftJoin  JoinKind = iota // pairs, and left rows without a partner
	RightJoin                 // pairs, and right rows without a partner
	FullJoin                  // pairs, and rows of both sides without a partner
	SemiJoin                  // left rows with a partner
	AntiJoin                  // left rows without a partner
)

// OuterJoin is a join from which rows of a side leave alone: padded with NULLs
// where they have no partner (LEFT, RIGHT, FULL), or instead of pairs (semi, anti).
//
// Pairs leave as in Join, but as +I and -D. What is known of the rows that leave
// alone is whether they are out: a row that comes or goes is emitted at once when
// rows like it are out, and when the epoch ends, those rows are emitted or taken
// back whose partners came or went. Partners are counted, and a count may be
// negative while an epoch lasts. Rows that would stand beside their first pair are
// taken back before it.
//
// Without a residual condition, and if nothing is forgotten, all rows of a side that have one key are out or not
// together: how many rows the other side has under the key decides. With one, each
// row has a count of partners of its own.
type OuterJoin struct {
	joinPairs
	name    JoinKind
	byRow   bool // there is a residual condition, or rows are forgotten
	forgets bool
	lone    [2]*loneRows

	partners []int64 // by row of a batch
	out      []int32 // rows of a batch that are out
	rowID    []state.RowID
	count    []int64
}

// loneRows are the rows of a side that leave alone.
type loneRows struct {
	matched bool // they leave when they have a partner; else when they have none
	enc     *rowkey.Encoder
	// touched has the keys under which partners came or went in this epoch, and
	// whether the rows with the key are out. It is empty at marks. Where each row has
	// its own count, its note says whether it is out.
	touched *state.Values

	slots []state.Slot // in touched
	fresh []int32
	turn  []state.Slot // entries of the side's rows that go out or come back
}

// shown reports whether rows with so many partners are out.
func (l *loneRows) shown(partners int64) bool { return (partners > 0) == l.matched }

// NewOuterJoin returns an OuterJoin. The pairs of a semi or an anti join have the
// columns of the left. It fails for a condition that cannot be compiled.
func NewOuterJoin(kind JoinKind, spec JoinSpec) (*OuterJoin, error) {
	if kind >= SemiJoin && spec.Output == nil {
		for c := range spec.Left.Types {
			spec.Output = append(spec.Output, c)
		}
	}
	for _, c := range spec.Output {
		if kind >= SemiJoin && c >= len(spec.Left.Types) {
			panic(fmt.Sprintf("op: column %d of a semi join with %d columns on the left", c, len(spec.Left.Types)))
		}
	}
	pairs, err := newJoinPairs(spec)
	if err != nil {
		return nil, err
	}
	// What is forgotten must not turn rows of the other side: each knows for itself.
	forgets := spec.Left.Retention.Set() || spec.Right.Retention.Set()
	j := &OuterJoin{joinPairs: pairs, name: kind, byRow: spec.Residual != nil || forgets, forgets: forgets}
	if kind != RightJoin {
		j.lone[0] = &loneRows{matched: kind == SemiJoin}
	}
	if kind == RightJoin || kind == FullJoin {
		j.lone[1] = &loneRows{}
	}
	return j, nil
}

// pairsLeave reports whether pairs are emitted.
func (j *OuterJoin) pairsLeave() bool { return j.name < SemiJoin }

// Open finds the tables.
func (j *OuterJoin) Open(_ context.Context, rt *exec.Runtime) error {
	if err := j.open(rt); err != nil {
		return err
	}
	for i, name := range []string{"left", "right"} {
		s := &j.sides[i]
		// Equal rows without a column are one row with a count.
		counts := len(s.stored) == 0
		s.open(rt, name, state.RowsOptions{Indexed: s.Updating || counts, Noted: j.byRow && j.lone[i] != nil})
		if l := j.lone[i]; l != nil {
			l.enc = rowkey.NewEncoder(s.layout)
			var out []vector.Kind
			if !j.byRow {
				out = append(out, vector.Bool)
			}
			l.touched = rt.State.Values(name+" touched", s.layout, out)
		}
	}
	return nil
}

// Process joins the rows of b with those of the other side and keeps them.
func (j *OuterJoin) Process(port int, b *vector.Batch, out exec.Output) error {
	if err := j.catchUp(); err != nil {
		return err
	}
	if j.pairsLeave() {
		b = j.plainKinds(b)
		defer b.Release()
	}
	own := &j.sides[port]
	keys := own.enc.Encode(b, own.Keys)
	if keys.AnyNull() && len(own.strict) > 0 {
		sel := j.joinable(own, b)
		if l := j.lone[port]; l != nil && l.shown(0) && len(j.probe) > 0 {
			if err := j.emitOwn(port, b, out); err != nil {
				sel.Release()
				return err
			}
		}
		if sel.Len() == 0 {
			sel.Release()
			return nil
		}
		b = b.Select(sel)
		defer b.Release()
		keys = own.enc.Encode(b, own.Keys)
	}
	own.slots = resize(own.slots, b.Len())
	other := &j.sides[1-port]
	other.slots = resize(other.slots, b.Len())
	if err := other.rows.Resolve(keys, false, other.slots); err != nil {
		return err
	}
	if j.byRow {
		return j.processRows(port, b, keys, out)
	}
	return j.processKeys(port, b, keys, out)
}

// plainKinds is b with +I for all that adds and -D for all that takes away: the
// halves of an update of one side say nothing of pairs that are no update.
func (j *OuterJoin) plainKinds(b *vector.Batch) *vector.Batch {
	kinds := b.Kinds()
	plain := true
	for _, k := range kinds {
		plain = plain && (k == vector.Insert || k == vector.Delete)
	}
	if plain {
		return b.Retain()
	}
	v, to := j.rt.Pool.NewKinds(len(kinds))
	for i, k := range kinds {
		to[i] = vector.Insert
		if !k.Adds() {
			to[i] = vector.Delete
		}
	}
	return b.WithKinds(v)
}

// emitOwn emits rows j.probe of b alone.
func (j *joinPairs) emitOwn(port int, b *vector.Batch, out exec.Output) error {
	p := j.rt.Pool
	var kinds *vector.Vector
	if k := b.KindVector(); k != nil {
		kinds = k.Take(p, j.probe)
	}
	return j.emitAlone(port, len(j.probe), kinds, func(c int) *vector.Vector { return b.Col(c).Take(p, j.probe) }, out)
}

// emitOut emits the rows of b that are in j.out.
func (j *OuterJoin) emitOut(port int, b *vector.Batch, out exec.Output) error {
	if len(j.out) == 0 {
		return nil
	}
	j.probe = j.probe[:0]
	for _, i := range j.out {
		j.probe = append(j.probe, int32(b.Row(int(i))))
	}
	return j.emitOwn(port, b, out)
}

// emitAlone emits n rows of a side, with NULLs for the other. column gives them by
// column of the side.
func (j *joinPairs) emitAlone(port, n int, kinds *vector.Vector, column func(int) *vector.Vector, out exec.Output) error {
	cols := make([]*vector.Vector, len(j.output))
	for i, c := range j.output {
		if c.side == port {
			cols[i] = column(c.col)
		} else {
			cols[i] = nullColumn(j.rt.Pool, j.sides[c.side].Types[c.col].Kind(), n)
		}
	}
	b := vector.NewBatch(n, cols, kinds)
	defer b.Release()
	return out.Emit(b)
}

// nullColumn is a column of n NULLs.
func nullColumn(p *vector.Pool, kind vector.Kind, n int) *vector.Vector {
	if kind.Width() > 0 {
		v := p.New(kind, n)
		v.NewValid(false)
		return v
	}
	b := vector.NewColumnBuilder(p, kind)
	for range n {
		b.AppendNull()
	}
	return b.Finish()
}

// End remembers that a side has ended. Flush drops what is not needed after.
func (j *OuterJoin) End(port int, _ exec.Output) error {
	j.sides[port].ended = true
	return nil
}

// needed reports whether the rows of a side are kept: for pairs with rows of the
// other side that still come, or because they are counted as its partners.
func (j *OuterJoin) needed(port int) bool {
	return !j.sides[1-port].ended || !j.byRow && j.lone[1-port] != nil
}

// Flush emits and takes back the rows whose partners came or went, then drops the
// rows that no row to come can join, and those that nothing touched for long.
func (j *OuterJoin) Flush(out exec.Output) error {
	for port, l := range j.lone {
		if l == nil || len(l.touched.Held()) == 0 {
			continue
		}
		if err := j.settle(port, out); err != nil {
			return err
		}
	}
	for port := range j.sides {
		if s := &j.sides[port]; !j.needed(port) && s.rows.Len() > 0 {
			if err := s.drop(); err != nil {
				return err
			}
		}
	}
	if err := j.expire(); err != nil {
		return err
	}
	j.report()
	return nil
}

// touch holds the keys of the rows of b under which the other side has rows: their
// partners change. Their entries are in slots after, those that were not touched
// before in fresh.
func (j *OuterJoin) touch(port int, b *vector.Batch) error {
	own, other, l := &j.sides[port], &j.sides[1-port], j.lone[1-port]
	j.probe = j.probe[:0]
	for i, s := range other.slots {
		if s != state.None {
			j.probe = append(j.probe, int32(b.Row(i)))
		}
	}
	l.slots, l.fresh = resize(l.slots, len(j.probe)), l.fresh[:0]
	if len(j.probe) == 0 {
		return nil
	}
	some := b.Select(vector.Of(j.rt.Pool, j.probe...))
	defer some.Release()
	if err := l.touched.Resolve(l.enc.Encode(some, own.Keys), true, l.slots); err != nil {
		return err
	}
	l.fresh = l.touched.Hold(l.slots, l.fresh)
	return nil
}

// settle goes through the keys of a side that were touched.
func (j *OuterJoin) settle(port int, out exec.Output) error {
	own, l := &j.sides[port], j.lone[port]
	held := l.touched.Held()
	cols, err := l.touched.Keys(j.rt.Pool, held)
	if err != nil {
		return err
	}
	b := vector.NewBatch(len(held), cols, nil)
	defer b.Release()
	all := make([]int, len(cols))
	for i := range all {
		all[i] = i
	}
	keys := l.enc.Encode(b, all)
	own.slots = resize(own.slots, len(held))
	if err := own.rows.Resolve(keys, false, own.slots); err != nil {
		return err
	}
	if j.byRow {
		err = j.settleRows(port, out)
	} else {
		err = j.settleKeys(port, keys, held, out)
	}
	if err != nil {
		return err
	}
	l.touched.Drop(held)
	return nil
}

// emitStored emits rows of a side alone: those in j.rowID, each as often as j.count
// says, as additions or removals.
func (j *OuterJoin) emitStored(port int, add bool, out exec.Output) error {
	j.rows, j.kinds = j.rows[:0], j.kinds[:0]
	for i, n := range j.count {
		kind := vector.Insert
		if add != (n > 0) {
			kind = vector.Delete
		}
		for range max(n, -n) {
			j.rows, j.kinds = append(j.rows, j.rowID[i]), append(j.kinds, kind)
			if len(j.rows) == vector.Target {
				if err := j.emitRows(port, out); err != nil {
					return err
				}
			}
		}
	}
	return j.emitRows(port, out)
}

// emitRows emits the stored rows j.rows of a side alone.
func (j *OuterJoin) emitRows(port int, out exec.Output) error {
	if len(j.rows) == 0 {
		return nil
	}
	plain := true
	for _, k := range j.kinds {
		plain = plain && k == vector.Insert
	}
	s := &j.sides[port]
	err := j.emitAlone(port, len(j.rows), j.kindVector(plain), func(c int) *vector.Vector {
		return s.rows.TakeColumn(j.rt.Pool, j.rows, s.place[c])
	}, out)
	j.rows, j.kinds = j.rows[:0], j.kinds[:0]
	return err
}
