package op

import (
	"bytes"
	"math"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// overRun is what OverTime works on when it emits rows: the partitions that it looks at,
// their rows that are in order now, and those before them that frames look at.
type overRun struct {
	to     int64 // rows up to this time are in order
	passed int64 // rows to come are behind this time
	end    bool  // no more rows come

	keys    *vector.Batch // of the partitions, each once
	groups  grouper
	reps    []int32
	slots   []state.Slot // in parts
	waits   []state.Slot // in waiting
	history []state.Slot // in history
	places  []int64      // by partition: rows that were emitted before

	stored      *vector.Batch // rows in order that waited in state: number and row
	storedSlots []state.Slot
	storedAt    []int32 // by partition: where its rows end
	fresh       [][]int32
	rows        *vector.Batch // all rows in order: those of stored, then those of this epoch
	times       []int64       // of rows
	part        []int32       // of rows: the partition
	order       []int32       // the rows by partition, in order
	counts      []int32
	old         []state.RowID // rows of history
	oldEnds     []int32       // by partition
	walk        overWalk
	sorter      timeOrder
	byTime      []int32 // the rows in the order of time
	next, base  []int32 // by partition
	emitted     []int32
	selected    []int32
}

// fire emits the rows that are in order up to a time and whose frames are whole, and
// looks at the partitions that asked for it until due.
func (o *OverTime) fire(to, due, passed int64, end bool, out exec.Output) error {
	for {
		r := &o.run
		r.to, r.passed, r.end = to, passed, end
		more, err := o.gather(due)
		if err == nil && r.keys != nil {
			err = o.emit(out)
		}
		r.release()
		if err != nil || !more {
			return err
		}
	}
}

func (r *overRun) release() {
	r.walk.reset()
	for _, b := range []**vector.Batch{&r.keys, &r.stored, &r.rows} {
		if *b != nil {
			(*b).Release()
			*b = nil
		}
	}
}

// gather finds the partitions to look at and their rows that are in order. More reports
// that there are further partitions.
func (o *OverTime) gather(due int64) (more bool, err error) {
	r, p := &o.run, o.rt.Pool
	asked, _, err := o.dueKeys(o.due, due, vector.Target)
	if err != nil {
		return false, err
	}
	defer asked.Release()
	more = asked.Len() == vector.Target
	// The keys of the partitions that asked, then those of the rows of this epoch.
	cols := make([]*vector.ColumnBuilder, asked.Cols())
	n := asked.Len()
	for i := range cols {
		cols[i] = vector.NewColumnBuilder(p, o.layout.Kinds[i])
		cols[i].AppendTake(asked.Col(i), sequence(n))
	}
	r.times = r.times[:0]
	for len(r.fresh) < len(o.pending) {
		r.fresh = append(r.fresh, nil)
	}
	for i, b := range o.pending {
		r.fresh[i] = r.fresh[i][:0]
		from := len(r.times)
		r.times = o.times(b.Col(o.time), b.Len(), r.times)
		kept := r.times[:from]
		for k, t := range r.times[from:] {
			if t <= r.to {
				r.fresh[i], kept = append(r.fresh[i], int32(k)), append(kept, t)
			}
		}
		r.times = kept
		for k, c := range o.spec.Partition {
			cols[k].AppendTake(b.Col(c), r.fresh[i])
		}
		n += len(r.fresh[i])
	}
	vs := make([]*vector.Vector, len(cols))
	for i, c := range cols {
		vs[i] = c.Finish()
	}
	all := vector.NewBatch(n, vs, nil)
	defer all.Release()
	if n == 0 {
		return false, nil
	}
	r.groups.group(o.enc.Encode(all, upTo(all.Cols())))
	r.reps = r.reps[:0]
	for i, id := range r.groups.ids {
		if int(id) == len(r.reps) {
			r.reps = append(r.reps, int32(i))
		}
	}
	r.keys = all.Take(p, r.reps)
	r.part = append(r.part[:0], r.groups.ids[asked.Len():]...)
	return more, o.find()
}

// find resolves the partitions, and takes the rows that are in order out of those that
// wait in state.
func (o *OverTime) find() error {
	r, p := &o.run, o.rt.Pool
	n := r.keys.Len()
	r.slots, r.waits, r.history = resize(r.slots, n), resize(r.waits, n), resize(r.history, n)
	keys := o.enc.Encode(r.keys, upTo(r.keys.Cols()))
	if err := o.parts.Resolve(keys, true, r.slots); err != nil {
		return err
	}
	o.touch(r.slots)
	r.places = gather(r.places, state.Col[int64](o.parts, colOverPlace), r.slots)
	if o.history != nil {
		if err := o.history.Resolve(keys, true, r.history); err != nil {
			return err
		}
	}
	if err := o.waiting.Resolve(keys, false, r.waits); err != nil {
		return err
	}
	ids, err := o.storedRows()
	if err != nil {
		return err
	}
	r.stored = vector.NewBatch(len(ids), o.waiting.Take(p, ids), nil)
	r.join(o)
	return nil
}

// storedRows lists the rows of the partitions that wait in state and are in order.
func (o *OverTime) storedRows() ([]state.RowID, error) {
	r := &o.run
	r.storedAt = resize(r.storedAt, len(r.waits))
	var ids []state.RowID
	r.storedSlots = r.storedSlots[:0]
	for part, s := range r.waits {
		if s != state.None {
			for limit := 16; ; limit *= 8 {
				from := len(ids)
				err := o.waiting.Range(s, nil, func(id state.RowID, _ int64) bool {
					ids = append(ids, id)
					return len(ids)-from < limit
				})
				if err != nil {
					return nil, err
				}
				found := len(ids) - from
				passed := o.inOrder(ids[from:])
				ids = ids[:from+passed]
				if passed < found || found < limit {
					break
				}
				ids = ids[:from] // there may be more
			}
		}
		for len(r.storedSlots) < len(ids) {
			r.storedSlots = append(r.storedSlots, s)
		}
		r.storedAt[part] = int32(len(ids))
	}
	return ids, nil
}

// inOrder is how many of the first of some rows, which come in order, are in order now.
func (o *OverTime) inOrder(ids []state.RowID) int {
	if o.run.to == math.MaxInt64 {
		return len(ids)
	}
	time := o.waiting.TakeColumn(o.rt.Pool, ids, o.time+1)
	defer time.Release()
	times := o.times(time, len(ids), nil)
	for i, t := range times {
		if t > o.run.to {
			return i
		}
	}
	return len(ids)
}

// join brings the rows that waited in state and those of this epoch together, and sorts
// them by partition.
func (r *overRun) join(o *OverTime) {
	p := o.rt.Pool
	n := r.stored.Len()
	cols := make([]*vector.Vector, len(o.spec.Types))
	for c, t := range o.spec.Types {
		if n == 0 && len(o.pending) == 1 && len(r.fresh[0]) == o.pending[0].Len() {
			cols[c] = o.pending[0].Col(c).Retain()
			continue
		}
		b := vector.NewColumnBuilder(p, t.Kind())
		b.AppendTake(r.stored.Col(c+1), sequence(n))
		for i, rows := range r.fresh[:len(o.pending)] {
			b.AppendTake(o.pending[i].Col(c), rows)
		}
		cols[c] = b.Finish()
	}
	parts, times := make([]int32, 0, n+len(r.part)), make([]int64, 0, n+len(r.times))
	for part, end := range r.storedAt[:r.keys.Len()] {
		for len(parts) < int(end) {
			parts = append(parts, int32(part))
		}
	}
	times = o.times(r.stored.Col(o.time+1), n, times)
	r.part, r.times = append(parts, r.part...), append(times, r.times...)
	r.rows = vector.NewBatch(len(r.part), cols, nil)
	r.sort(o)
}

// sort lists the rows by partition, in each in order.
func (r *overRun) sort(o *OverTime) {
	if o.spec.Event && !slices.IsSorted(r.times) {
		r.byTime = r.sorter.sorted(r.times)
	} else {
		r.byTime = sequence(len(r.part))
	}
	r.counts = resize(r.counts, r.keys.Len()+1)
	clear(r.counts)
	for _, part := range r.part {
		r.counts[part+1]++
	}
	for i := 1; i < len(r.counts); i++ {
		r.counts[i] += r.counts[i-1]
	}
	r.order = resize(r.order, len(r.part))
	r.next = append(r.next[:0], r.counts...)
	for _, row := range r.byTime {
		part := r.part[row]
		r.order[r.next[part]] = row
		r.next[part]++
	}
	if o.order != nil && o.spec.Event {
		r.sortPeers(o)
	}
}

// sortPeers brings rows of one partition and time into the order of further keys.
func (r *overRun) sortPeers(o *OverTime) {
	by := make([]int, len(o.spec.Order))
	for i, k := range o.spec.Order {
		by[i] = k.Column
	}
	places := o.order.Encode(r.rows, by)
	for part := range r.keys.Len() {
		rows := r.order[r.counts[part]:r.counts[part+1]]
		for from := 0; from < len(rows); {
			to := from + 1
			for to < len(rows) && r.times[rows[to]] == r.times[rows[from]] {
				to++
			}
			if to-from > 1 {
				slices.SortStableFunc(rows[from:to], func(a, b int32) int { return bytes.Compare(places.Bytes(int(a)), places.Bytes(int(b))) })
			}
			from = to
		}
	}
}

// emit computes the values of the rows that are whole, emits them, and notes what is
// left.
func (o *OverTime) emit(out exec.Output) error {
	r := &o.run
	if err := o.lookBack(); err != nil {
		return err
	}
	r.walk.findPeers()
	o.calls.frames(&r.walk)
	if err := o.recall(); err != nil {
		return err
	}
	values, err := o.calls.compute(&r.walk, nil)
	if err == nil {
		err = o.send(values, out)
	}
	releaseAll(values)
	if err != nil {
		return err
	}
	if err := o.remember(); err != nil {
		return err
	}
	return o.settle()
}

// lookBack fills the walk: of each partition the rows of history, then those in order.
func (o *OverTime) lookBack() error {
	r, p, w := &o.run, o.rt.Pool, &o.run.walk
	r.old, r.oldEnds = r.old[:0], r.oldEnds[:0]
	for part := range r.keys.Len() {
		if o.history != nil {
			if err := o.lookBackAt(part); err != nil {
				return err
			}
		}
		r.oldEnds = append(r.oldEnds, int32(len(r.old)))
		rows := int(r.counts[part+1] - r.counts[part])
		w.ends = append(w.ends, len(r.old)+int(r.counts[part])+rows)
		w.first = append(w.first, int32(w.ends[part]-rows))
	}
	if len(r.old) == 0 {
		for _, c := range o.reads {
			w.cols = append(w.cols, r.rows.Col(c).Take(p, r.order))
		}
	} else {
		at := r.places32(w)
		for i, c := range o.reads {
			b := vector.NewColumnBuilder(p, o.spec.Types[c].Kind())
			old := o.history.TakeColumn(p, r.old, i+1)
			b.AppendTake(old, sequence(len(r.old)))
			old.Release()
			b.AppendTake(r.rows.Col(c), r.order)
			both := b.Finish()
			w.cols = append(w.cols, both.Take(p, at))
			both.Release()
		}
	}
	for part := range r.keys.Len() {
		w.last = append(w.last, w.first[part]+int32(o.whole(part)))
	}
	return nil
}

// lookBackAt lists the rows of history of a partition: those that frames look at, or those
// that leave frames that slide.
func (o *OverTime) lookBackAt(part int) error {
	r := &o.run
	from, s := len(r.old), r.history[part]
	if !o.calls.slides {
		return o.history.Range(s, nil, func(id state.RowID, _ int64) bool {
			r.old = append(r.old, id)
			return true
		})
	}
	have, rows := o.history.Count(s), r.order[r.counts[part]:r.counts[part+1]]
	start := o.calls.slideFrom()
	limit, until := have, int64(math.MinInt64)
	switch {
	case len(rows) == 0:
		if far(state.Col[int64](o.parts, colOverLast)[r.slots[part]], o.oldest()) > r.passed || !o.calls.ages {
			limit = 0
		}
	case start.Rows:
		limit = min(max(have+int64(len(rows))-1-start.Start.Rows, 0), have)
	default:
		limit, until = min(have, 16), far(r.times[rows[len(rows)-1]], -start.Start.Rows)
	}
	for {
		r.old = r.old[:from]
		if limit > 0 {
			err := o.history.Range(s, nil, func(id state.RowID, _ int64) bool {
				r.old = append(r.old, id)
				return int64(len(r.old)-from) < limit
			})
			if err != nil {
				return err
			}
		}
		if limit == have || until == math.MinInt64 || o.historyReaches(r.old[len(r.old)-1], until) {
			break
		}
		limit = min(have, limit*8)
	}
	r.walk.gaps = append(r.walk.gaps, int32(have)-int32(len(r.old)-from))
	return nil
}

// historyReaches reports whether a row of history is not before a time.
func (o *OverTime) historyReaches(id state.RowID, until int64) bool {
	v := o.history.TakeColumn(o.rt.Pool, []state.RowID{id}, o.at[o.time]+1)
	defer v.Release()
	return o.times(v, 1, nil)[0] >= until
}

// places32 says where the rows of the walk are among all rows of history, followed by
// those in order.
func (r *overRun) places32(w *overWalk) []int32 {
	at := make([]int32, 0, w.rows())
	from := int32(0)
	for part, end := range r.oldEnds {
		for ; from < end; from++ {
			at = append(at, from)
		}
		for i := r.counts[part]; i < r.counts[part+1]; i++ {
			at = append(at, int32(len(r.old))+i)
		}
	}
	return at
}

// whole is how many of the rows of a partition that are in order are emitted: those of
// which nothing that their frames look at is to come.
func (o *OverTime) whole(part int) int {
	r := &o.run
	rows := r.order[r.counts[part]:r.counts[part+1]]
	n := int64(len(rows))
	if !o.calls.waits || r.end {
		return len(rows)
	}
	if o.calls.behind == math.MaxInt64 {
		return 0
	}
	n = max(n-o.calls.behind, 0)
	if o.calls.ahead > 0 {
		for n > 0 && far(r.times[rows[n-1]], o.calls.ahead) > r.to {
			n--
		}
	}
	return int(n)
}

// send emits the rows that are whole with their values, in the order of time.
func (o *OverTime) send(values []*vector.Vector, out exec.Output) error {
	r, p, w := &o.run, o.rt.Pool, &o.run.walk
	n := w.wanted()
	if n == 0 {
		return nil
	}
	rows, at := r.inTime()
	for from := 0; from < n; from += vector.Target {
		to := min(from+vector.Target, n)
		cols := make([]*vector.Vector, 0, r.rows.Cols()+len(values))
		for c := range r.rows.Cols() {
			cols = append(cols, r.rows.Col(c).Take(p, rows[from:to]))
		}
		for _, v := range values {
			cols = append(cols, v.Take(p, at[from:to]))
		}
		b := vector.NewBatch(to-from, cols, nil)
		err := out.Emit(b)
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// inTime lists the rows that are emitted in the order of their times, and where their
// values are. Rows of one partition stay in their order.
func (r *overRun) inTime() (rows, at []int32) {
	w := &r.walk
	r.next = append(r.next[:0], r.counts...)
	r.base = r.base[:0]
	total := int32(0)
	for part, first := range w.first {
		r.base = append(r.base, total-r.counts[part])
		total += w.last[part] - first
	}
	rows, at = r.emitted[:0], r.selected[:0]
	for _, row := range r.byTime {
		part := r.part[row]
		i := r.next[part]
		if i-r.counts[part] >= w.last[part]-w.first[part] {
			continue
		}
		r.next[part]++
		rows, at = append(rows, r.order[i]), append(at, i+r.base[part])
	}
	r.emitted, r.selected = rows, at
	return rows, at
}
