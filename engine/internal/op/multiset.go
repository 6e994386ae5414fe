package op

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// multiset keeps all values of a feed by group, in order and with their counts, so
// that MIN and MAX can be told after the least or greatest value was taken away.
// What is published are ordinary columns of the group, brought up to date when an
// epoch ends.
type multiset struct {
	kind            vector.Kind
	enc             *rowkey.Encoder
	rows            *state.Rows
	least, greatest valueResult // of the group; col < 0: nobody asks
	negative        int64       // rows with a negative count when the last epoch ended

	cols  []int
	slots []state.Slot
	ids   []state.RowID
	at    []state.Slot

	forgets bool // values may have been forgotten and are taken away all the same
}

func newMultiset(kind vector.Kind, keys rowkey.Layout) *multiset {
	none := valueResult{col: -1, has: -1, kind: kind}
	m := &multiset{kind: kind, enc: rowkey.NewEncoder(keys), least: none, greatest: none}
	for i := range keys.Kinds {
		m.cols = append(m.cols, i)
	}
	return m
}

// extreme gives the columns with the least or greatest value.
func (m *multiset) extreme(p *aggregatePlan, greatest bool) valueResult {
	r := &m.least
	if greatest {
		r = &m.greatest
	}
	if r.col < 0 {
		r.col, r.has = p.column(m.kind), p.column(vector.Bool)
	}
	return *r
}

func (m *multiset) open(s *state.Store, name string, keys rowkey.Layout) {
	m.rows = s.Rows(name, keys, state.RowsOptions{Cols: []vector.Kind{m.kind}, Sort: &state.SortSpec{Cols: []int{0}}, Indexed: true})
	m.negative = m.rows.Negative()
}

func (m *multiset) add(_ *state.Values, in *fed) error {
	n := in.vals.Len()
	m.slots = resize(m.slots, n)
	keys := in.encoded
	if in.rows != nil {
		keyed := in.keyed(in.rows, in.vals)
		defer keyed.Release()
		keys = m.enc.Encode(keyed, m.cols)
	}
	if err := m.rows.Resolve(keys, true, m.slots); err != nil {
		return err
	}
	var kinds *vector.Vector
	if in.weights != nil {
		v, k := in.pool.NewKinds(n)
		for i, w := range in.weights {
			k[i] = vector.Insert
			if w < 0 {
				k[i] = vector.Delete
			}
		}
		kinds = v
	}
	vals := vector.NewBatch(n, []*vector.Vector{in.vals.Retain()}, kinds)
	defer vals.Release()
	return m.rows.Add(m.slots, vals)
}

// settle does nothing: refresh does it.
func (m *multiset) settle(*state.Values, []state.Slot) error { return nil }

// refresh brings the columns of the groups held up to date. keys are their keys.
func (m *multiset) refresh(rt *exec.Runtime, groups *state.Values, keys []*vector.Vector, held []state.Slot) error {
	for _, k := range keys {
		k.Retain()
	}
	b := vector.NewBatch(len(held), append([]*vector.Vector(nil), keys...), nil)
	defer b.Release()
	m.slots = resize(m.slots, len(held))
	if err := m.rows.Resolve(m.enc.Encode(b, m.cols), false, m.slots); err != nil {
		return err
	}
	if m.least.col >= 0 {
		m.store(rt.Pool, groups, m.least, held, m.rows.First)
	}
	if m.greatest.col >= 0 {
		m.store(rt.Pool, groups, m.greatest, held, m.rows.Last)
	}
	if n := m.rows.Negative(); n != m.negative {
		if !m.forgets {
			rt.Inconsistent(n - m.negative)
		}
		m.negative = n
	}
	return nil
}

// store writes the value that pick finds into the columns of r.
func (m *multiset) store(p *vector.Pool, groups *state.Values, r valueResult, held []state.Slot, pick func(state.Slot) (state.RowID, int64, bool)) {
	m.ids, m.at = r.pick(groups, held, m.slots, pick, m.ids[:0], m.at[:0])
	vals := m.rows.Take(p, m.ids)
	defer releaseAll(vals)
	storeColumn(groups, r.col, m.at, vals[0], nil)
}
