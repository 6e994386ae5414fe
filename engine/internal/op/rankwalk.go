package op

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// rankCounter numbers rows that come in order.
type rankCounter struct {
	count, before, dense int64 // rows so far; those before this one's peers; different places
	open                 bool  // a row of these peers was counted
}

// next takes a row, which may be equal in the order to the one before it. Rows that do
// not count are numbered as if they were not there.
func (c *rankCounter) next(peer, counts bool) {
	if !peer {
		c.open = false
	}
	if !counts {
		return
	}
	if !c.open {
		c.open, c.before = true, c.count
		c.dense++
	}
	c.count++
}

// rank is the number of the last row.
func (c *rankCounter) rank(f RankFunction) int64 {
	switch f {
	case RankWithGaps:
		return c.before + 1
	case DenseRank:
		return c.dense
	}
	return c.count
}

// partEnds says where the rows of each of several partitions end.
type partEnds []int

func (e partEnds) from(part int) int {
	if part == 0 {
		return 0
	}
	return e[part-1]
}

// rankWalk is the rows of several partitions, in order, each as often as it is there.
type rankWalk struct {
	ids     []state.RowID
	peer    []bool // equal in the order to the row before it, in its partition
	ranks   []int64
	numbers []int64
	ends    partEnds
	cols    []*vector.Vector // number and row, if they were taken

	column *vector.Vector
}

// walk lists the rows of the partitions of an epoch, with cut no more than those that
// have a number up to their To.
func (w *rankWalk) walk(r *Rank, cut bool) error {
	w.ids, w.peer, w.ranks, w.ends = w.ids[:0], w.peer[:0], w.ranks[:0], w.ends[:0]
	cut = cut && r.spec.bounded()
	by := len(r.by)
	ties := r.spec.Function != RowNumber
	for part, s := range r.held {
		var count rankCounter
		last := state.RowID(0)
		to := r.tos[part]
		err := r.rows.Range(s, nil, func(id state.RowID, times int64) bool {
			peer := ties && last != 0 && r.rows.Peers(last, id, by)
			last = id
			for range times {
				count.next(peer, true)
				rank := count.rank(r.spec.Function)
				if cut && rank > to {
					return false
				}
				w.ids, w.peer, w.ranks = append(w.ids, id), append(w.peer, peer), append(w.ranks, rank)
				peer = ties
			}
			return true
		})
		if err != nil {
			return err
		}
		w.ends = append(w.ends, len(w.ids))
	}
	return nil
}

// number finds the numbers of the rows.
func (w *rankWalk) number(r *Rank) {
	w.column = r.rows.TakeColumn(r.rt.Pool, w.ids, 0)
	w.numbers = vector.Values[int64](w.column)[:len(w.ids)]
}

// look is walk with copies of the rows.
func (w *rankWalk) look(r *Rank, cut bool) error {
	if err := w.walk(r, cut); err != nil {
		return err
	}
	w.cols = r.rows.Take(r.rt.Pool, w.ids)
	w.numbers = vector.Values[int64](w.cols[0])[:len(w.ids)]
	return nil
}

// window appends the rows of a partition that have numbers from and to.
func (w *rankWalk) window(out []rankedRow, part int, from, to int64) []rankedRow {
	for i := w.ends.from(part); i < w.ends[part]; i++ {
		if n := w.ranks[i]; n >= from && n <= to {
			out = append(out, rankedRow{int32(i), w.numbers[i], n})
		}
	}
	return out
}

// take copies some of the rows that were walked.
func (w *rankWalk) take(p *vector.Pool, rows *state.Rows, at []int32) *vector.Batch {
	if w.cols != nil {
		cols := make([]*vector.Vector, len(w.cols)-1)
		for i, c := range w.cols[1:] {
			cols[i] = c.Take(p, at)
		}
		return vector.NewBatch(len(at), cols, nil)
	}
	ids := make([]state.RowID, len(at))
	for i, a := range at {
		ids[i] = w.ids[a]
	}
	cols := rows.Take(p, ids)
	cols[0].Release()
	return vector.NewBatch(len(at), cols[1:], nil)
}

func (w *rankWalk) release() {
	releaseAll(w.cols)
	if w.column != nil {
		w.column.Release()
	}
	w.cols, w.column, w.numbers = nil, nil, nil
}

// rankedRow is a row of a walk with its number in the order.
type rankedRow struct {
	at     int32 // its position in the walk
	number int64 // that tells it from other rows of its partition
	rank   int64
}

// rankDiff collects the changes between the rows that were passed on and those that
// are.
type rankDiff struct {
	spec          *RankSpec
	before, after []rankedRow // of a partition

	removed, added     []rankedRow
	removedAs, addedAs []vector.RowKind
	pairs              []rankPair
	have               map[int64]int64
}

// rankPair is a removal and the addition that takes its place: if their rows are equal
// nothing changed.
type rankPair struct{ removed, added int32 }

func (d *rankDiff) reset() {
	d.removed, d.added, d.pairs = d.removed[:0], d.added[:0], d.pairs[:0]
	d.removedAs, d.addedAs = d.removedAs[:0], d.addedAs[:0]
}

func (d *rankDiff) remove(p rankedRow, kind vector.RowKind) {
	d.removed, d.removedAs = append(d.removed, p), append(d.removedAs, kind)
}

func (d *rankDiff) add(p rankedRow, kind vector.RowKind) {
	d.added, d.addedAs = append(d.added, p), append(d.addedAs, kind)
}

// partition adds the changes from before to after.
func (d *rankDiff) partition() {
	if d.spec.InPlace || d.spec.Number && d.spec.Function == RowNumber {
		d.places()
		return
	}
	d.multiset()
}

// places compares place by place.
func (d *rankDiff) places() {
	both := min(len(d.before), len(d.after))
	for i, was := range d.before[:both] {
		if is := d.after[i]; was.number != is.number {
			d.pairs = append(d.pairs, rankPair{int32(len(d.removed)), int32(len(d.added))})
			d.remove(was, vector.UpdateBefore)
			d.add(is, vector.UpdateAfter)
		}
	}
	for _, was := range d.before[both:] {
		d.remove(was, vector.Delete)
	}
	for _, is := range d.after[both:] {
		d.add(is, vector.Insert)
	}
}

// multiset compares rows, with their numbers in the order if those are shown.
func (d *rankDiff) multiset() {
	same := 0 // most changes are at the end
	for same < len(d.before) && same < len(d.after) && d.same(d.before[same], d.after[same]) {
		same++
	}
	if same == len(d.before) {
		for _, is := range d.after[same:] {
			d.add(is, vector.Insert)
		}
		return
	}
	if d.have == nil {
		d.have = map[int64]int64{}
	}
	clear(d.have)
	for _, is := range d.after[same:] {
		d.have[is.number]++
	}
	first := len(d.removed)
	for _, was := range d.before[same:] {
		if d.have[was.number] > 0 && !d.moved(was) {
			d.have[was.number]--
			continue
		}
		d.remove(was, vector.Delete)
	}
	clear(d.have)
	for _, was := range d.before[same:] {
		d.have[was.number]++
	}
	from := len(d.added)
	for _, is := range d.after[same:] {
		if d.have[is.number] > 0 && !d.cameTo(is) {
			d.have[is.number]--
			continue
		}
		d.add(is, vector.Insert)
	}
	if d.spec.Input == RankReplacing {
		for i := first; i < len(d.removed); i++ {
			for k := from; k < len(d.added); k++ {
				d.pairs = append(d.pairs, rankPair{int32(i), int32(k)})
			}
		}
	}
}

func (d *rankDiff) same(a, b rankedRow) bool {
	return a.number == b.number && (!d.spec.Number || a.rank == b.rank)
}

// moved reports whether a row that is still there has another number now.
func (d *rankDiff) moved(was rankedRow) bool { return d.spec.Number && !hasRank(d.after, was) }

// cameTo reports whether a row that was there has another number than it had.
func (d *rankDiff) cameTo(is rankedRow) bool { return d.spec.Number && !hasRank(d.before, is) }

// hasRank finds a row in a window, which is in the order of ranks.
func hasRank(in []rankedRow, p rankedRow) bool {
	low, high := 0, len(in)
	for low < high {
		if mid := (low + high) / 2; in[mid].rank < p.rank {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for ; low < len(in) && in[low].rank == p.rank; low++ {
		if in[low].number == p.number {
			return true
		}
	}
	return false
}

// publish emits the changes, removals first. What was stands in the walk old, what is
// in now.
func (d *rankDiff) publish(out exec.Output, p *vector.Pool, old, now *rankWalk, rows *state.Rows) error {
	if len(d.removed)+len(d.added) == 0 {
		return nil
	}
	removed := old.take(p, rows, positionsOf(d.removed))
	defer removed.Release()
	added := now.take(p, rows, positionsOf(d.added))
	defer added.Release()
	skipRemoved, skipAdded := d.equalPairs(removed, added)
	if err := d.emit(out, p, removed, d.removed, d.removedAs, skipRemoved); err != nil {
		return err
	}
	return d.emit(out, p, added, d.added, d.addedAs, skipAdded)
}

func positionsOf(ps []rankedRow) []int32 {
	out := make([]int32, len(ps))
	for i, p := range ps {
		out[i] = p.at
	}
	return out
}

// equalPairs finds the changes that change nothing.
func (d *rankDiff) equalPairs(removed, added *vector.Batch) (skipRemoved, skipAdded map[int32]bool) {
	for _, p := range d.pairs {
		if skipRemoved[p.removed] || skipAdded[p.added] || d.spec.Number && d.removed[p.removed].rank != d.added[p.added].rank ||
			!equalRows(removed, int(p.removed), added, int(p.added)) {
			continue
		}
		if skipRemoved == nil {
			skipRemoved, skipAdded = map[int32]bool{}, map[int32]bool{}
		}
		skipRemoved[p.removed], skipAdded[p.added] = true, true
	}
	return skipRemoved, skipAdded
}

// equalRows reports whether row i of a has the values of row k of b.
func equalRows(a *vector.Batch, i int, b *vector.Batch, k int) bool {
	for c := range a.Cols() {
		x, y := a.Col(c), b.Col(c)
		if x.IsNull(i) != y.IsNull(k) || !x.IsNull(i) && vector.Compare(x, i, y, k) != 0 {
			return false
		}
	}
	return true
}

// emit emits rows with their kinds, and their numbers if these are shown.
func (d *rankDiff) emit(out exec.Output, p *vector.Pool, b *vector.Batch, ps []rankedRow, kinds []vector.RowKind, skip map[int32]bool) error {
	var rows []int32
	for i := range ps {
		if !skip[int32(i)] && (kinds[i] != vector.UpdateBefore || !d.spec.OmitBefore) {
			rows = append(rows, int32(i))
		}
	}
	for at := 0; at < len(rows); at += vector.Target {
		part := rows[at:min(at+vector.Target, len(rows))]
		cols := make([]*vector.Vector, 0, b.Cols()+1)
		for c := range b.Cols() {
			cols = append(cols, b.Col(c).Take(p, part))
		}
		if d.spec.Number {
			number := p.New(vector.Int64, len(part))
			for i, r := range part {
				vector.Values[int64](number)[i] = ps[r].rank
			}
			cols = append(cols, number)
		}
		kind, k := p.NewKinds(len(part))
		for i, r := range part {
			k[i] = kinds[r]
		}
		batch := vector.NewBatch(len(part), cols, kind)
		err := out.Emit(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
