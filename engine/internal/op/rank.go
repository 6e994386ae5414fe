package op

import (
	"bytes"
	"context"
	"math"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// RankFunction says how the rows of a partition are numbered in their order.
type RankFunction uint8

// The functions.
const (
	RowNumber    RankFunction = iota // 1, 2, 3, ..: of equal rows the one that came first is first
	RankWithGaps                     // RANK: equal rows have one number, and leave a gap behind
	DenseRank                        // DENSE_RANK: equal rows have one number, without a gap
)

// RankInput says which changes a Rank is given.
type RankInput uint8

// The inputs.
const (
	// RankAppend is rows that are only added.
	RankAppend RankInput = iota
	// RankReplacing is rows that replace those of the same Identity, and never for a worse
	// place in the order. None is deleted, and -U say nothing.
	RankReplacing
	// RankUpdating is any changes.
	RankUpdating
)

// RankSpec says what a Rank orders and which of the rows it passes on.
type RankSpec struct {
	Types     []sqltype.Type // of the first columns of the input; what is behind is not read
	Partition []int
	Order     []SortKey
	Function  RankFunction
	From, To  int64 // the numbers to pass on; To may be math.MaxInt64
	// ToColumn is the column of the partition that has To, or -1.
	ToColumn int
	Input    RankInput
	Identity []int // RankReplacing: columns that tell rows apart, those of the partition among them
	// Number says that the number of a row is a further column of the result. With
	// RowNumber a row that takes the place of another is an update of that place.
	Number bool
	// InPlace says that without Number too a row that takes the place of another is an
	// update: there is one place.
	InPlace    bool
	OmitBefore bool  // the consumer needs no -U
	Spread     []int // columns that rows are spread by, of Partition; nil: one shard has all
	Retention  Retention
}

// bounded reports whether there are rows that are not passed on because of To.
func (s RankSpec) bounded() bool { return s.To < math.MaxInt64 || s.ToColumn >= 0 }

// Rank numbers the rows of each partition in an order and passes on those with
// certain numbers, with or without the number: Top-N.
//
// Of an input that is only added to, or whose rows only get better, it keeps no more
// than the rows that have a number up to To, and turns a row that is behind them away
// at once. Of another it keeps all live rows, in order.
type Rank struct {
	spec   RankSpec
	all    []int // the columns of Types
	layout rowkey.Layout
	enc    *rowkey.Encoder // of the partition
	order  *rowkey.Encoder // of the order
	by     []int           // its columns
	rt     *exec.Runtime

	parts *state.Values // by partition: see the columns below
	rows  *state.Rows   // by partition: number and row, in order
	live  *liveRows     // RankUpdating

	pending []*vector.Batch // rows of this epoch that may be passed on

	partSlots []state.Slot // of the rows of a batch, in parts
	rowSlots  []state.Slot // of the rows of a batch, in rows
	held      []state.Slot // of the partitions of this epoch, in rows
	fresh     []int32
	chosen    []int32
	starts    []int64
	tos       []int64
	old, now  rankWalk
	diff      rankDiff
	expiry    *expiry // nil: partitions are kept for ever
}

// The columns of an entry of Rank.parts.
const (
	colRankNext = 0 // number of the next row that comes
	colRankFull = 1 // a row behind the last one is not passed on
	colRankLast = 2 // the last row's place in the order, as canonical bytes
	colRankDue  = 3 // the deadline, with retention
)

// NewRank returns a Rank.
func NewRank(spec RankSpec) *Rank {
	r := &Rank{spec: spec}
	for c := range spec.Types {
		r.all = append(r.all, c)
	}
	r.layout = keyLayout(spec.Types, spec.Partition, spec.Spread)
	r.enc = rowkey.NewEncoder(r.layout)
	var order rowkey.Layout
	for _, k := range spec.Order {
		r.by = append(r.by, k.Column)
		order.Kinds = append(order.Kinds, spec.Types[k.Column].Kind())
		order.Desc, order.NullsLast = append(order.Desc, k.Desc), append(order.NullsLast, k.NullsLast)
	}
	r.order = rowkey.NewEncoder(order)
	if spec.Input == RankUpdating {
		r.live = newLiveRows(spec.Types, spec.Spread)
	}
	r.diff.spec = &r.spec
	if spec.Retention.Set() {
		r.expiry = newExpiry(spec.Retention, r.layout, colRankDue)
		if r.live != nil {
			r.live.forgets = true
		}
	}
	return r
}

// Open finds the tables.
func (r *Rank) Open(_ context.Context, rt *exec.Runtime) error {
	r.rt = rt
	parts := []vector.Kind{vector.Int64, vector.Bool, vector.Bytes}
	if r.expiry != nil {
		parts = append(parts, vector.Int64)
		r.expiry.open(rt, "expiry")
	}
	r.parts = rt.State.Values("partitions", r.layout, parts)
	order := &state.SortSpec{}
	for _, k := range append(r.spec.Order[:len(r.spec.Order):len(r.spec.Order)], SortKey{Column: -1}) {
		order.Cols, order.Desc, order.NullsLast = append(order.Cols, k.Column+1), append(order.Desc, k.Desc), append(order.NullsLast, k.NullsLast)
	}
	opt := state.RowsOptions{Cols: []vector.Kind{vector.Int64}, Sort: order}
	for _, t := range r.spec.Types {
		opt.Cols = append(opt.Cols, t.Kind())
	}
	opt.Indexed = r.spec.Input != RankAppend || r.spec.bounded()
	if r.spec.Input == RankReplacing {
		opt.Replacing = true
		for _, c := range r.spec.Identity {
			opt.Identity = append(opt.Identity, c+1)
		}
	}
	r.rows = rt.State.Rows("rows", r.layout, opt)
	if r.live != nil {
		r.live.open(rt, "live")
	}
	return nil
}

// Process keeps the rows of b that may be passed on until the epoch ends.
func (r *Rank) Process(_ int, b *vector.Batch, _ exec.Output) error {
	if r.expiry.late() {
		if err := r.expire(); err != nil {
			return err
		}
	}
	if _, some := b.Sel(); some {
		b = b.Dense(r.rt.Pool)
		defer b.Release()
	}
	if b.Cols() > len(r.all) {
		b = b.Project(r.all)
		defer b.Release()
	}
	if r.live != nil {
		return r.live.count(b)
	}
	r.partSlots = resize(r.partSlots, b.Len())
	if err := r.parts.Resolve(r.enc.Encode(b, r.spec.Partition), true, r.partSlots); err != nil {
		return err
	}
	if r.expiry != nil { // a row keeps its partition, whether it is passed on or not
		r.fresh = r.parts.Hold(r.partSlots, r.fresh[:0])
	}
	r.choose(b)
	if len(r.chosen) == 0 {
		return nil
	}
	r.rowSlots = gather(r.rowSlots, r.partSlots, r.chosen)
	r.fresh = r.parts.Hold(r.rowSlots, r.fresh[:0])
	r.parts.Dirty(r.rowSlots)
	r.pending = append(r.pending, b.Take(r.rt.Pool, r.chosen))
	return nil
}

// choose lists the rows of b that are not behind all that their partition passes on.
func (r *Rank) choose(b *vector.Batch) {
	r.chosen = r.chosen[:0]
	kinds := b.Kinds()
	if !r.spec.bounded() && kinds == nil {
		for i := range b.Len() {
			r.chosen = append(r.chosen, int32(i))
		}
		return
	}
	full := state.Col[bool](r.parts, colRankFull)
	keys := r.order.Encode(b, r.by)
	ties := r.spec.Function != RowNumber || r.spec.Input != RankAppend
	for i, s := range r.partSlots {
		if kinds != nil && !kinds[i].Adds() {
			continue
		}
		if full[s] {
			c := bytes.Compare(keys.Bytes(i), r.parts.Bytes(colRankLast, s))
			if c > 0 || c == 0 && !ties {
				continue
			}
		}
		r.chosen = append(r.chosen, int32(i))
	}
}

// Advance passes the watermark on.
func (r *Rank) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }

// End does nothing.
func (r *Rank) End(int, exec.Output) error { return nil }

// Flush publishes what changed among the rows that are passed on, and forgets partitions
// that were not touched for long.
func (r *Rank) Flush(out exec.Output) error {
	defer r.clear()
	if err := r.publish(out); err != nil || r.expiry == nil {
		return err
	}
	if err := r.keep(); err != nil {
		return err
	}
	return r.expire()
}

func (r *Rank) publish(out exec.Output) error {
	switch r.spec.Input {
	case RankAppend:
		return r.flushAppend(out)
	case RankReplacing:
		return r.flushReplacing(out)
	}
	return r.flushUpdating(out)
}

// clear releases what belongs to the epoch.
func (r *Rank) clear() {
	for _, b := range r.pending {
		b.Release()
	}
	r.pending = r.pending[:0]
	r.old.release()
	r.now.release()
}

// touched resolves the partitions of the epoch in rows. It returns their keys.
func (r *Rank) touched() (*vector.Batch, error) {
	held := r.parts.Held()
	cols, err := r.parts.Keys(r.rt.Pool, held)
	if err != nil {
		return nil, err
	}
	keys := vector.NewBatch(len(held), cols, nil)
	r.held = resize(r.held, len(held))
	key := r.all[:len(r.spec.Partition)]
	if err := r.rows.Resolve(r.enc.Encode(keys, key), true, r.held); err != nil {
		keys.Release()
		return nil, err
	}
	r.tos = resize(r.tos, len(held))
	for i := range r.tos {
		r.tos[i] = r.spec.To
	}
	if r.spec.ToColumn >= 0 {
		for i, c := range r.spec.Partition {
			if c == r.spec.ToColumn {
				integers(r.tos, keys.Col(i))
			}
		}
	}
	return keys, nil
}

// integers are the values of a column of integers, 0 for NULL.
func integers(to []int64, v *vector.Vector) {
	switch v.Kind() {
	case vector.Int8:
		widen(to, vector.Values[int8](v))
	case vector.Int16:
		widen(to, vector.Values[int16](v))
	case vector.Int32:
		widen(to, vector.Values[int32](v))
	default:
		widen(to, vector.Values[int64](v))
	}
	for i := range to {
		if v.IsNull(i) {
			to[i] = 0
		}
	}
}

func widen[T int8 | int16 | int32 | int64](to []int64, from []T) {
	from = from[:len(to)]
	for i, v := range from {
		to[i] = int64(v)
	}
}

// addPending puts the rows of the epoch into rows, with numbers.
func (r *Rank) addPending() error {
	next := state.Col[int64](r.parts, colRankNext)
	r.starts = gather(r.starts, next, r.parts.Held())
	for _, b := range r.pending {
		r.partSlots = resize(r.partSlots, b.Len())
		if err := r.parts.Resolve(r.enc.Encode(b, r.spec.Partition), false, r.partSlots); err != nil {
			return err
		}
		next = state.Col[int64](r.parts, colRankNext)
		number := r.rt.Pool.New(vector.Int64, b.Len())
		r.rowSlots = resize(r.rowSlots, b.Len())
		for i, s := range r.partSlots {
			vector.Values[int64](number)[i] = next[s]
			next[s]++
			r.rowSlots[i] = r.held[r.parts.Ordinal(s)]
		}
		if err := r.add(number, b, nil); err != nil {
			return err
		}
	}
	return nil
}

// add puts numbered rows into rowSlots of rows or takes them away. It takes number and
// kinds over.
func (r *Rank) add(number *vector.Vector, b *vector.Batch, kinds *vector.Vector) error {
	cols := []*vector.Vector{number}
	for _, c := range r.all {
		cols = append(cols, b.Col(c).Retain())
	}
	numbered := vector.NewBatch(b.Len(), cols, kinds)
	defer numbered.Release()
	return r.rows.Add(r.rowSlots[:b.Len()], numbered)
}

// flushAppend finds what was and what is among rows that are all there: those that
// came in this epoch have numbers from starts on.
func (r *Rank) flushAppend(out exec.Output) error {
	if len(r.pending) == 0 {
		return nil
	}
	keys, err := r.touched()
	if err != nil {
		return err
	}
	defer keys.Release()
	if err := r.addPending(); err != nil {
		return err
	}
	w := &r.now
	if err := w.walk(r, false); err != nil {
		return err
	}
	w.number(r)
	r.diff.reset()
	for part := range r.held {
		r.diff.before, r.diff.after = r.diff.before[:0], r.diff.after[:0]
		var was, is rankCounter
		for i := w.ends.from(part); i < w.ends[part]; i++ {
			is.next(w.peer[i], true)
			older := w.numbers[i] < r.starts[part]
			was.next(w.peer[i], older)
			w.ranks[i] = is.rank(r.spec.Function)
			if w.ranks[i] <= r.tos[part] && w.ranks[i] >= r.spec.From {
				r.diff.after = append(r.diff.after, rankedRow{int32(i), w.numbers[i], w.ranks[i]})
			}
			if n := was.rank(r.spec.Function); older && n >= r.spec.From && n <= r.tos[part] {
				r.diff.before = append(r.diff.before, rankedRow{int32(i), w.numbers[i], n})
			}
		}
		r.diff.partition()
	}
	if err := r.diff.publish(out, r.rt.Pool, w, w, r.rows); err != nil {
		return err
	}
	return r.prune()
}

// flushReplacing looks at the rows before and after the changes.
func (r *Rank) flushReplacing(out exec.Output) error {
	if len(r.pending) == 0 {
		return nil
	}
	keys, err := r.touched()
	if err != nil {
		return err
	}
	defer keys.Release()
	if err := r.old.look(r, true); err != nil {
		return err
	}
	if err := r.addPending(); err != nil {
		return err
	}
	if err := r.now.look(r, false); err != nil {
		return err
	}
	r.compare()
	if err := r.diff.publish(out, r.rt.Pool, &r.old, &r.now, r.rows); err != nil {
		return err
	}
	return r.prune()
}

// flushUpdating is flushReplacing with the net changes of rows that come and go.
func (r *Rank) flushUpdating(out exec.Output) error {
	_, changed, err := r.live.settle()
	if err != nil {
		return err
	}
	defer changed.release()
	if len(changed.rows) == 0 {
		return nil
	}
	r.partSlots = resize(r.partSlots, changed.keys.Len())
	if err := r.parts.Resolve(r.enc.Encode(changed.keys, r.spec.Partition), true, r.partSlots); err != nil {
		return err
	}
	r.fresh = r.parts.Hold(r.partSlots, r.fresh[:0])
	r.parts.Dirty(r.partSlots)
	r.numberBorn(changed)
	keys, err := r.touched()
	if err != nil {
		return err
	}
	defer keys.Release()
	if err := r.old.look(r, true); err != nil {
		return err
	}
	r.rowSlots = resize(r.rowSlots, len(changed.rows))
	for i, row := range changed.rows {
		r.rowSlots[i] = r.held[r.parts.Ordinal(r.partSlots[row])]
	}
	kinds, k := r.rt.Pool.NewKinds(len(changed.rows))
	copy(k, changed.kinds)
	b := changed.keys.Take(r.rt.Pool, changed.rows)
	defer b.Release()
	if err := r.add(vector.Of(r.rt.Pool, changed.numbers...), b, kinds); err != nil {
		return err
	}
	if err := r.now.look(r, true); err != nil {
		return err
	}
	r.compare()
	if err := r.diff.publish(out, r.rt.Pool, &r.old, &r.now, r.rows); err != nil {
		return err
	}
	r.forget()
	return nil
}

// numberBorn gives rows that are new their numbers in their partitions.
func (r *Rank) numberBorn(c *rowChanges) {
	next, given := state.Col[int64](r.parts, colRankNext), state.Col[int64](r.live.table, colNumber)
	held, born, number := r.live.table.Held(), int64(0), int64(0)
	for i, n := range c.numbers {
		if n >= 0 {
			continue
		}
		if n != born {
			s := r.partSlots[c.rows[i]]
			born, number = n, next[s]
			next[s]++
			given[held[c.rows[i]]] = number
		}
		c.numbers[i] = number
	}
}

// forget drops partitions without rows.
func (r *Rank) forget() {
	var gone []state.Slot
	for i, s := range r.parts.Held() {
		if r.rows.Count(r.held[i]) == 0 {
			gone = append(gone, s)
		}
	}
	if len(gone) > 0 {
		r.parts.Drop(gone)
	}
}

// compare finds the changes between old and now.
func (r *Rank) compare() {
	r.diff.reset()
	for part := range r.held {
		r.diff.before = r.old.window(r.diff.before[:0], part, r.spec.From, r.tos[part])
		r.diff.after = r.now.window(r.diff.after[:0], part, r.spec.From, r.tos[part])
		r.diff.partition()
	}
}

// prune drops the rows that are not passed on, which they never will be, and notes
// behind which place others need not be looked at.
func (r *Rank) prune() error {
	if !r.spec.bounded() {
		return nil
	}
	w := &r.now
	var gone, last []state.RowID
	var of []state.Slot
	r.rowSlots = r.rowSlots[:0]
	held := r.parts.Held()
	full := state.Col[bool](r.parts, colRankFull)
	for part, s := range r.held {
		kept, end := int64(0), -1
		var count rankCounter
		for i := w.ends.from(part); i < w.ends[part]; i++ {
			if w.ranks[i] > r.tos[part] {
				gone = append(gone, w.ids[i])
				r.rowSlots = append(r.rowSlots, s)
				continue
			}
			count.next(w.peer[i], true)
			if end, kept = i, count.count; r.spec.Function == DenseRank {
				kept = count.dense
			}
		}
		if full[held[part]] = kept >= r.tos[part]; full[held[part]] && end >= 0 {
			last, of = append(last, w.ids[end]), append(of, held[part])
		}
	}
	r.noteLast(last, of)
	if len(gone) == 0 {
		return nil
	}
	cols := r.rows.Take(r.rt.Pool, gone)
	kinds, k := r.rt.Pool.NewKinds(len(gone))
	for i := range k {
		k[i] = vector.Delete
	}
	b := vector.NewBatch(len(gone), cols, kinds)
	defer b.Release()
	return r.rows.Add(r.rowSlots, b)
}

// noteLast notes the places in the order of the last rows of partitions.
func (r *Rank) noteLast(ids []state.RowID, of []state.Slot) {
	if len(ids) == 0 {
		return
	}
	cols, by := make([]*vector.Vector, len(r.by)), make([]int, len(r.by))
	for i, c := range r.by {
		cols[i], by[i] = r.rows.TakeColumn(r.rt.Pool, ids, c+1), i
	}
	b := vector.NewBatch(len(ids), cols, nil)
	defer b.Release()
	keys := r.order.Encode(b, by)
	for i, s := range of {
		r.parts.SetBytes(colRankLast, s, keys.Bytes(i))
	}
}

// Close drops what an epoch that did not end has left.
func (r *Rank) Close() error {
	r.clear()
	r.expiry.close()
	return nil
}
