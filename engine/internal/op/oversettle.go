package op

import (
	"math"

	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// recall tells the calls what they found of the partitions before.
func (o *OverTime) recall() error {
	r, w := &o.run, &o.run.walk
	for i := range o.calls.carries {
		c := &o.calls.carries[i]
		taken := state.Col[int64](o.parts, colOverFound+2*i)
		for len(c.state) < r.keys.Len() {
			c.state = append(c.state, nil)
		}
		c.next = resize(c.next, r.keys.Len())
		for part, s := range r.slots {
			c.state[part] = append(c.state[part][:0], o.parts.Bytes(colOverFound+2*i+1, s)...)
			c.next[part] = w.first[part] + int32(taken[s]-r.places[part])
		}
	}
	for i := range o.distinct {
		if err := o.findNew(i); err != nil {
			return err
		}
	}
	return nil
}

// findNew tells a call with DISTINCT which rows have values that are new in their
// partition, and notes those.
func (o *OverTime) findNew(i int) error {
	r, w, p := &o.run, &o.run.walk, o.rt.Pool
	d := &o.calls.distincts[i]
	c := &o.calls.carries[o.calls.carry[d.call]]
	f := o.calls.functions[d.call].(*overSum)
	use, hi := f.rows.find(w), o.calls.bounds[o.calls.frameOf[d.call]].hi
	c.fresh = resize(c.fresh, w.rows())
	clear(c.fresh)
	var rows, parts []int32
	for part := range w.ends {
		if w.first[part] == w.last[part] {
			continue
		}
		for row := c.next[part]; row < hi[w.last[part]-1]; row++ {
			if use[row] {
				rows, parts = append(rows, row), append(parts, int32(part))
			}
		}
	}
	cols := make([]*vector.Vector, 0, r.keys.Cols()+1)
	for k := range r.keys.Cols() {
		cols = append(cols, r.keys.Col(k).Take(p, parts))
	}
	keyed := vector.NewBatch(len(rows), append(cols, w.cols[f.rows.value].Take(p, rows)), nil)
	defer keyed.Release()
	slots := make([]state.Slot, len(rows))
	table := o.distinct[i]
	if err := table.Resolve(d.enc.Encode(keyed, upTo(keyed.Cols())), true, slots); err != nil {
		return err
	}
	table.Dirty(slots)
	seen := state.Col[bool](table, 0)
	for k, s := range slots {
		if !seen[s] {
			seen[s], c.fresh[rows[k]] = true, true
		}
	}
	return nil
}

// remember notes what the calls have found, and keeps of the rows that were emitted
// those that rows to come look at.
func (o *OverTime) remember() error {
	r, w := &o.run, &o.run.walk
	place, some, last := state.Col[int64](o.parts, colOverPlace), state.Col[bool](o.parts, colOverAny), state.Col[int64](o.parts, colOverLast)
	for part, s := range r.slots {
		n := w.last[part] - w.first[part]
		if n == 0 {
			continue
		}
		place[s] += int64(n)
		t := r.times[r.order[r.counts[part]+n-1]]
		if !some[s] || t > last[s] {
			some[s], last[s] = true, t
		}
	}
	for i := range o.calls.carries {
		c := &o.calls.carries[i]
		taken := state.Col[int64](o.parts, colOverFound+2*i)
		for part, s := range r.slots {
			if w.first[part] == w.last[part] {
				continue
			}
			taken[s] = r.places[part] + int64(c.next[part]-w.first[part])
			o.parts.SetBytes(colOverFound+2*i+1, s, c.state[part])
		}
	}
	if o.history == nil {
		return nil
	}
	return o.keepHistory()
}

// keepHistory adds the rows that were emitted to history and takes those away that no
// row to come looks at.
func (o *OverTime) keepHistory() error {
	r, w, p := &o.run, &o.run.walk, o.rt.Pool
	var rows []int32 // of the walk
	var number []int64
	var slots []state.Slot
	var kinds []vector.RowKind
	change := func(part int, row int32, kind vector.RowKind) {
		place := r.places[part] + int64(row-w.first[part])
		if row < w.first[part] {
			place -= int64(w.gap(part))
		}
		rows, number = append(rows, row), append(number, place)
		slots, kinds = append(slots, r.history[part]), append(kinds, kind)
	}
	for part := range w.ends {
		need := o.needed(part)
		from := int32(w.ends.from(part))
		for row := from; row < min(need, w.first[part]); row++ {
			change(part, row, vector.Delete)
		}
		for row := max(need, w.first[part]); row < w.last[part]; row++ {
			change(part, row, vector.Insert)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	cols := []*vector.Vector{vector.Of(p, number...)}
	for _, c := range w.cols {
		cols = append(cols, c.Take(p, rows))
	}
	v, k := p.NewKinds(len(rows))
	copy(k, kinds)
	b := vector.NewBatch(len(rows), cols, v)
	defer b.Release()
	return o.history.Add(slots, b)
}

// needed is the first row of a partition's walk that rows to come look at.
func (o *OverTime) needed(part int) int32 {
	w := &o.run.walk
	from, last, end := int32(w.ends.from(part)), w.last[part], int32(w.ends[part])
	need := last
	if o.calls.peers {
		need--
	}
	for i := range o.spec.Calls {
		call := &o.spec.Calls[i]
		if o.calls.slides && call.slides() {
			if last > w.first[part] {
				need = min(need, o.calls.bounds[o.calls.frameOf[i]].lo[last-1])
			} else if w.gap(part) > 0 {
				need = from
			}
			continue
		}
		if k := o.calls.carry[i]; k >= 0 {
			need = min(need, o.calls.carries[k].next[part])
			continue
		}
		back := call.before()
		switch {
		case back == 0:
		case back < math.MaxInt64:
			need = min(need, int32(max(int64(last)-back, int64(from))))
		case last < end:
			need = min(need, o.calls.bounds[o.calls.frameOf[i]].lo[last])
		default:
			need = min(need, o.firstAfter(part, call.Frame.Start))
		}
	}
	return max(need, from)
}

// firstAfter is the first row of a partition's walk at which frames of rows that are
// behind the time passed may start.
func (o *OverTime) firstAfter(part int, start FrameBound) int32 {
	r, w := &o.run, &o.run.walk
	from, end := int32(w.ends.from(part)), int32(w.ends[part])
	if start.Kind != Preceding {
		return end
	}
	times := w.cols[w.order[0]]
	vals := vector.Values[int64](times)
	limit := far(far(r.passed, 1), -start.Rows)
	for ; from < end; from++ {
		if times.IsNull(int(from)) {
			if o.spec.Order[0].NullsLast {
				break
			}
			continue
		}
		if vals[from] >= limit {
			break
		}
	}
	return from
}

// settle takes the rows that were emitted out of those that wait, and asks to look at
// the partitions again when something can change.
func (o *OverTime) settle() error {
	if err := o.takeStored(); err != nil {
		return err
	}
	if err := o.takePending(); err != nil {
		return err
	}
	r, w := &o.run, &o.run.walk
	keys := o.enc.Encode(r.keys, upTo(r.keys.Cols()))
	holds, heldAt := state.Col[bool](o.parts, colOverHolds), state.Col[int64](o.parts, colOverHeld)
	last, timer := state.Col[int64](o.parts, colOverLast), state.Col[int64](o.parts, colOverTimer)
	var gone []state.Slot
	for part, s := range r.slots {
		first := r.counts[part] + w.last[part] - w.first[part]
		held := first < r.counts[part+1]
		if held {
			t := r.times[r.order[first]]
			if !holds[s] || heldAt[s] != t {
				holds[s], heldAt[s] = true, t
				if err := o.held.Add(t, keys, part); err != nil {
					return err
				}
			}
			if o.calls.ahead > 0 {
				if err := o.due.Add(max(far(t, o.calls.ahead), far(r.to, 1)), keys, part); err != nil {
					return err
				}
			}
			if o.calls.behind > 0 {
				if err := o.due.Add(math.MaxInt64, keys, part); err != nil {
					return err
				}
			}
			continue
		}
		holds[s] = false
		if !o.calls.ages {
			continue
		}
		if o.history != nil && o.history.Count(r.history[part]) > 0 {
			if at := far(last[s], o.oldest()); (timer[s] == 0 || timer[s] <= r.passed) && at > r.passed && at < math.MaxInt64 {
				timer[s] = at
				if err := o.due.Add(at, keys, part); err != nil {
					return err
				}
			}
			continue
		}
		if r.waits[part] == state.None || o.waiting.Count(r.waits[part]) == 0 {
			gone = append(gone, s)
		}
	}
	if len(gone) > 0 {
		o.parts.Drop(gone)
	}
	return nil
}

// oldest is how far rows look back in time.
func (o *OverTime) oldest() int64 {
	most := int64(0)
	for i := range o.spec.Calls {
		if f := o.spec.Calls[i].Frame; !f.Rows && f.Start.Kind == Preceding {
			most = max(most, f.Start.Rows)
		}
	}
	return most
}

// takeStored takes the rows that were emitted out of waiting.
func (o *OverTime) takeStored() error {
	r, w, p := &o.run, &o.run.walk, o.rt.Pool
	stored := r.stored.Len()
	if stored == 0 {
		return nil
	}
	var rows []int32
	var slots []state.Slot
	for part := range w.ends {
		from := r.counts[part]
		for _, row := range r.order[from : from+w.last[part]-w.first[part]] {
			if int(row) < stored {
				rows, slots = append(rows, row), append(slots, r.storedSlots[row])
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	some := r.stored.Take(p, rows)
	v, k := p.NewKinds(len(rows))
	for i := range k {
		k[i] = vector.Delete
	}
	gone := some.WithKinds(v)
	some.Release()
	defer gone.Release()
	return o.waiting.Add(slots, gone)
}

// takePending takes the rows that were emitted out of those of this epoch.
func (o *OverTime) takePending() error {
	r, w, p := &o.run, &o.run.walk, o.rt.Pool
	emitted := make([]bool, r.rows.Len())
	for part := range w.ends {
		from := r.counts[part]
		for _, row := range r.order[from : from+w.last[part]-w.first[part]] {
			emitted[row] = true
		}
	}
	row, left := r.stored.Len(), o.pending[:0]
	for i, b := range o.pending {
		var stay []int32
		next := 0
		for k := range b.Len() {
			if next < len(r.fresh[i]) && int(r.fresh[i][next]) == k {
				next++
				row++
				if emitted[row-1] {
					continue
				}
			}
			stay = append(stay, int32(k))
		}
		if len(stay) == b.Len() {
			left = append(left, b)
			continue
		}
		if len(stay) > 0 {
			left = append(left, b.Take(p, stay))
		}
		b.Release()
	}
	clear(o.pending[len(left):])
	o.pending = left
	return nil
}
