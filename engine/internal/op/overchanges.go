package op

import (
	"math"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// overChanges is what an epoch did to the rows of its partitions: which of those before
// and of those now are the same.
type overChanges struct {
	pairs   [][2]int32 // rows before and now that are the same, and whose values may differ
	removed []overRow  // before
	added   []overRow  // now
	same    []bool     // by pair
}

// overRow is a row of a view, and its partition.
type overRow struct {
	part int
	row  int32
}

func (c *overChanges) reset() {
	c.pairs, c.removed, c.added = c.pairs[:0], c.removed[:0], c.added[:0]
}

// publish computes what the epoch has changed and emits it, removals first. gone is the
// rows that were taken away, or nil, and updated says which came as +U.
func (o *OverRows) publish(out exec.Output, gone *overGone, updated map[[2]int64]bool) error {
	o.find()
	o.old.walk.findPeers()
	o.now.walk.findPeers()
	o.narrow()
	for _, v := range []*overView{&o.old, &o.now} {
		o.calls.frames(&v.walk)
		var err error
		if v.values, err = o.calls.compute(&v.walk, v.values); err != nil {
			return err
		}
	}
	o.compare()
	if err := o.emitRemoved(out, gone); err != nil {
		return err
	}
	return o.emitAdded(out, updated)
}

// find pairs the rows of the two views. Rows that stay are in one order in both, and
// those that are new have numbers from starts on, or that of the equal row before.
func (o *OverRows) find() {
	c := &o.changes
	c.reset()
	for part := range o.held {
		i, k := int32(o.old.walk.ends.from(part)), int32(o.now.walk.ends.from(part))
		ends := [2]int32{int32(o.old.walk.ends[part]), int32(o.now.walk.ends[part])}
		last := int64(math.MinInt64)
		for i < ends[0] || k < ends[1] {
			switch {
			case i < ends[0] && k < ends[1] && o.old.numbers[i] == o.now.numbers[k]:
				last = o.now.numbers[k]
				c.pairs = append(c.pairs, [2]int32{i, k})
				i, k = i+1, k+1
			case k < ends[1] && (i == ends[0] || o.now.numbers[k] >= o.starts[part] || o.now.numbers[k] == last):
				c.added = append(c.added, overRow{part, k})
				k++
			default:
				c.removed = append(c.removed, overRow{part, i})
				i++
			}
		}
	}
}

// narrow says of which rows values are wanted: of those that came and went, and of those
// from which one can be seen. It leaves the pairs of these.
func (o *OverRows) narrow() {
	c := &o.changes
	before, behind, peers := o.calls.reach()
	for _, v := range []*overView{&o.old, &o.now} {
		v.walk.first, v.walk.last, v.from = v.walk.first[:0], v.walk.last[:0], v.from[:0]
	}
	kept, next := c.pairs[:0], 0
	from := [2]int32{}
	for part := range o.held {
		views := [2]*overWalk{&o.old.walk, &o.now.walk}
		start, end := [2]int32{int32(views[0].ends.from(part)), int32(views[1].ends.from(part))}, [2]int32{int32(views[0].ends[part]), int32(views[1].ends[part])}
		first := next
		for next < len(c.pairs) && c.pairs[next][1] < end[1] {
			next++
		}
		pairs := c.pairs[first:next]
		// Rows at the beginning and at the end that are the same in both.
		head, tail := int32(0), int32(0)
		for int(head) < len(pairs) && pairs[head] == [2]int32{start[0] + head, start[1] + head} {
			head++
		}
		for int(tail) < len(pairs)-int(head) && pairs[len(pairs)-1-int(tail)] == [2]int32{end[0] - 1 - tail, end[1] - 1 - tail} {
			tail++
		}
		head, tail = int32(max(int64(head)-behind, 0)), int32(max(int64(tail)-before, 0))
		if behind == math.MaxInt64 {
			head = 0
		}
		if before == math.MaxInt64 {
			tail = 0
		}
		for peers && head > 0 && (isPeer(views[0], start[0]+head, end[0]) || isPeer(views[1], start[1]+head, end[1])) {
			head--
		}
		for v, view := range []*overView{&o.old, &o.now} {
			low, high := start[v]+head, end[v]-tail
			view.walk.first, view.walk.last = append(view.walk.first, low), append(view.walk.last, high)
			view.from = append(view.from, from[v])
			from[v] += high - low
		}
		for _, pair := range pairs[head : len(pairs)-int(tail)] {
			kept = append(kept, [2]int32{o.old.value(part, pair[0]), o.now.value(part, pair[1])})
		}
	}
	c.pairs = kept
}

// isPeer reports whether a row is equal in the order to the one before it.
func isPeer(w *overWalk, row, end int32) bool { return row < end && w.peer[row] }

// reach is from how many rows behind a row its values see it, and from how many before
// it, at most; and whether its peers see it, too.
func (c *overCalls) reach() (before, behind int64, peers bool) {
	for i := range c.spec.Calls {
		call := &c.spec.Calls[i]
		back, ahead := call.before(), call.behind()
		switch {
		case call.Function.whole():
			back, ahead = math.MaxInt64, math.MaxInt64
		case call.Function.numbers():
			back, ahead = math.MaxInt64, 0
		case call.Function == OverLag || call.Function == OverLead || call.Frame.Rows:
		case call.Frame.End.Kind <= CurrentRow:
			ahead, peers = 0, true
		}
		before, behind = max(before, back), max(behind, ahead)
	}
	return before, behind, peers
}

// compare finds the pairs whose values are equal.
func (o *OverRows) compare() {
	c := &o.changes
	c.same = resize(c.same, len(c.pairs))
	for i := range c.same {
		c.same[i] = true
	}
	was, is := make([]int32, len(c.pairs)), make([]int32, len(c.pairs))
	for i, pair := range c.pairs {
		was[i], is[i] = pair[0], pair[1]
	}
	for i, v := range o.old.values {
		b := vector.NewColumnBuilder(o.rt.Pool, v.Kind())
		b.AppendTake(v, was)
		b.AppendTake(o.now.values[i], is)
		both := b.Finish()
		compareHalves(both, c.same)
		both.Release()
	}
}

// overGone is the rows that were taken away, to be found by partition and number.
type overGone struct {
	rows *vector.Batch
	at   map[[2]int64]int32
}

// emitRemoved emits the rows that went, and those whose values are different now with
// their old values.
func (o *OverRows) emitRemoved(out exec.Output, gone *overGone) error {
	c, p := &o.changes, o.rt.Pool
	if len(c.removed) > 0 {
		rows, values := make([]int32, len(c.removed)), make([]int32, len(c.removed))
		for i, r := range c.removed {
			rows[i] = gone.at[[2]int64{int64(r.part), o.old.numbers[r.row]}]
			values[i] = o.old.value(r.part, r.row)
		}
		b := gone.rows.Take(p, rows)
		err := o.send(out, b, o.old.values, values, func(int) vector.RowKind { return vector.Delete })
		b.Release()
		if err != nil {
			return err
		}
	}
	if o.spec.OmitBefore {
		return nil
	}
	var ids []state.RowID
	var values []int32
	rows := o.now.wantedRows()
	for i, pair := range c.pairs {
		if !c.same[i] {
			ids, values = append(ids, o.now.ids[rows[pair[1]]]), append(values, pair[0])
		}
	}
	return o.sendStored(out, ids, o.old.values, values, func(int) vector.RowKind { return vector.UpdateBefore })
}

// wantedRows are the rows of which values are wanted.
func (v *overView) wantedRows() []int32 {
	var rows []int32
	for part, first := range v.walk.first {
		for r := first; r < v.walk.last[part]; r++ {
			rows = append(rows, r)
		}
	}
	return rows
}

// emitAdded emits the rows that came, and those whose values are different, in their
// order.
func (o *OverRows) emitAdded(out exec.Output, updated map[[2]int64]bool) error {
	c := &o.changes
	rows := o.now.wantedRows()
	const none, changed, inserted, replaced = 0, 1, 2, 3
	what := make([]uint8, len(rows))
	for i, pair := range c.pairs {
		if !c.same[i] {
			what[pair[1]] = changed
		}
	}
	for _, r := range c.added {
		at := o.now.value(r.part, r.row)
		if what[at] = inserted; updated[[2]int64{int64(r.part), o.now.numbers[r.row]}] {
			what[at] = replaced
		}
	}
	var ids []state.RowID
	var values []int32
	for at, w := range what {
		if w != none {
			ids, values = append(ids, o.now.ids[rows[at]]), append(values, int32(at))
		}
	}
	return o.sendStored(out, ids, o.now.values, values, func(i int) vector.RowKind {
		if what[values[i]] == inserted {
			return vector.Insert
		}
		return vector.UpdateAfter
	})
}

// sendStored is send for rows that are in state.
func (o *OverRows) sendStored(out exec.Output, ids []state.RowID, from []*vector.Vector, values []int32, kind func(i int) vector.RowKind) error {
	for at := 0; at < len(ids); at += vector.Target {
		to := min(at+vector.Target, len(ids))
		cols := o.rows.Take(o.rt.Pool, ids[at:to])
		cols[0].Release()
		b := vector.NewBatch(to-at, cols[1:], nil)
		err := o.send(out, b, from, values[at:to], func(i int) vector.RowKind { return kind(at + i) })
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// send emits rows with values of the calls.
func (o *OverRows) send(out exec.Output, b *vector.Batch, from []*vector.Vector, values []int32, kind func(i int) vector.RowKind) error {
	p := o.rt.Pool
	cols := make([]*vector.Vector, 0, b.Cols()+len(from))
	for c := range b.Cols() {
		cols = append(cols, b.Col(c).Retain())
	}
	for _, v := range from {
		cols = append(cols, v.Take(p, values))
	}
	kinds, k := p.NewKinds(len(values))
	insertOnly := true
	for i := range k {
		k[i] = kind(i)
		insertOnly = insertOnly && k[i] == vector.Insert
	}
	if insertOnly {
		kinds.Release()
		kinds = nil
	}
	result := vector.NewBatch(len(values), cols, kinds)
	defer result.Release()
	return out.Emit(result)
}
