package op

import (
	"slices"
	"strconv"

	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// What calls with DISTINCT keep, where windows that overlap share it: the different values of
// every group, in the slices and windows in which rows are counted. They are merged as the
// groups are, and counted or added up when a window is over.

// openDistincts finds the tables of different values.
func (w *WindowAggregate) openDistincts(s *state.Store) {
	w.valued = rowkey.NewEncoder(w.layout)
	for i, d := range w.plan.distincts {
		d.later = w.shared
		name := "distinct" + strconv.Itoa(i)
		d.byPart.open(s, name, name+" ", d.layout, d.columns(), w.hopped())
	}
}

// at turns to the values of a part, without create to none if there are none.
func (d *distinct) at(part partKey, create bool) (err error) {
	d.table, err = d.byPart.kept(part).Slice(part.at, create)
	return err
}

// drop forgets a part.
func (w *WindowAggregate) drop(part partKey) {
	w.kept(part).Drop(part.at)
	for _, d := range w.plan.distincts {
		d.byPart.kept(part).Drop(part.at)
	}
}

// mergeValues adds the different values of a part to those of another.
func (w *WindowAggregate) mergeValues(part, into partKey) error {
	for _, d := range w.plan.distincts {
		from, all, err := d.byPart.kept(part).All(part.at, w.values[:0]) // without any from is nil
		if err != nil {
			return err
		}
		if w.values = all; len(all) == 0 {
			continue
		}
		if err := d.at(into, true); err != nil {
			return err
		}
		for chunk := range slices.Chunk(all, vector.Target) {
			if err := d.merge(from, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge adds values of another table to that which d is turned to.
func (d *distinct) merge(from *state.Values, src []state.Slot) error {
	d.slots = resize(d.slots, len(src))
	if err := d.table.Resolve(from.Encode(src, d.enc), true, d.slots); err != nil {
		return err
	}
	d.table.Dirty(d.slots)
	for i := range d.feeds {
		to, of := state.Col[bool](d.table, i), state.Col[bool](from, i)
		for k, s := range d.slots {
			to[s] = to[s] || of[src[k]]
		}
	}
	return nil
}

// countValues gives the accumulators of a window that is over its different values, which
// are with the groups of a part.
func (w *WindowAggregate) countValues(part partKey, groups *state.Values) error {
	for _, d := range w.plan.distincts {
		from, all, err := d.byPart.kept(part).All(part.at, w.values[:0])
		if err != nil {
			return err
		}
		w.values = all
		for chunk := range slices.Chunk(all, vector.Target) {
			if err := w.giveValues(d, groups, from, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

// giveValues is countValues for some values of d.
func (w *WindowAggregate) giveValues(d *distinct, groups, from *state.Values, src []state.Slot) error {
	p := w.in.rt.Pool
	keys, err := from.Keys(p, src)
	if err != nil {
		return err
	}
	b := vector.NewBatch(len(src), keys, nil)
	defer b.Release()
	w.dst = resize(w.dst, len(src))
	if err := groups.Resolve(w.valued.Encode(b, upTo(len(w.layout.Kinds))), false, w.dst); err != nil {
		return err
	}
	w.touch(groups, w.dst)
	in := &arrivals{pool: p, batch: b, now: w.in.rt.Now(), slots: w.dst}
	for i, f := range d.feeds {
		d.idx = d.idx[:0]
		for k, seen := 0, state.Col[bool](from, i); k < len(src); k++ {
			if seen[src[k]] {
				d.idx = append(d.idx, int32(k))
			}
		}
		if len(d.idx) == 0 {
			continue
		}
		some := b.Col(b.Cols()-1).Take(p, d.idx)
		err := f.give(groups, in, d.idx, some, nil)
		some.Release()
		if err != nil {
			return err
		}
		for _, a := range f.accs {
			if err := a.settle(groups, groups.Held()); err != nil {
				return err
			}
		}
	}
	return nil
}
