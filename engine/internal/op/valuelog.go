package op

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// valueLog keeps all values of a feed by group in the order in which they came, so
// that FIRST_VALUE, LAST_VALUE and LISTAGG can be told after values were taken away.
// Of equal values the one that came first is taken away first, as in Flink.
//
// The changes of an epoch are collected and applied when it ends. What is published
// are ordinary columns of the group, brought up to date then.
type valueLog struct {
	kind       vector.Kind
	layout     rowkey.Layout // of the groups
	groupEnc   *rowkey.Encoder
	valueEnc   *rowkey.Encoder // of group and value
	cols       []int           // of group and value in a batch of both
	next       int             // column of the group: number of its last value
	results    []logResult
	changed    *state.Values // by group and value: removals that found no value yet
	numbers    *state.Rows   // by group and value: the numbers, in order
	order      *state.Rows   // by group: number and value, in order
	valueKinds rowkey.Layout

	// The epoch's changes; values are meant by their ordinals in changed.
	added  []numbered
	gone   []int64
	slots  []state.Slot
	fresh  []int32
	rows   []int32
	number []int64
	ids    []state.RowID
	at     []state.Slot
	text   []byte

	forgets bool // values may have been forgotten: what takes them away is passed over
}

// numbered is a value with the number that it came as.
type numbered struct {
	ordinal int32
	number  int64
}

// logResult is a column that is published.
type logResult struct {
	valueResult
	kind      arrivalKind
	separator string
}

func newValueLog(p *aggregatePlan, kind vector.Kind) *valueLog {
	l := &valueLog{kind: kind, layout: p.keys, next: p.column(vector.Int64)}
	l.valueKinds = p.keys.With(kind)
	l.groupEnc, l.valueEnc = rowkey.NewEncoder(l.layout), rowkey.NewEncoder(l.valueKinds)
	for i := range l.valueKinds.Kinds {
		l.cols = append(l.cols, i)
	}
	return l
}

// publish gives the columns with what is wanted of the values.
func (l *valueLog) publish(p *aggregatePlan, kind arrivalKind, separator string) valueResult {
	for _, r := range l.results {
		if r.kind == kind && r.separator == separator {
			return r.valueResult
		}
	}
	r := valueResult{col: p.column(l.kind), has: p.column(vector.Bool), kind: l.kind}
	l.results = append(l.results, logResult{r, kind, separator})
	return r
}

func (l *valueLog) open(s *state.Store, name string) {
	byNumber := &state.SortSpec{Cols: []int{0}}
	l.changed = s.Values(name+"/changed", l.valueKinds, []vector.Kind{vector.Int64})
	l.numbers = s.Rows(name+"/numbers", l.valueKinds, state.RowsOptions{Cols: []vector.Kind{vector.Int64}, Sort: byNumber, Indexed: true})
	l.order = s.Rows(name+"/order", l.layout, state.RowsOptions{Cols: []vector.Kind{vector.Int64, l.kind}, Sort: byNumber, Indexed: true})
}

func (l *valueLog) add(groups *state.Values, in *fed) error {
	keyed := in.keyed(in.rows, in.vals)
	defer keyed.Release()
	l.slots = resize(l.slots, keyed.Len())
	if err := l.changed.Resolve(l.valueEnc.Encode(keyed, l.cols), true, l.slots); err != nil {
		return err
	}
	l.fresh = l.changed.Hold(l.slots, l.fresh[:0])
	l.changed.Dirty(l.slots)
	for range l.fresh {
		l.gone = append(l.gone, 0)
	}
	next := state.Col[int64](groups, l.next)
	for i, s := range l.slots {
		o := l.changed.Ordinal(s)
		if in.weights != nil && in.weights[i] < 0 {
			l.gone[o]++
			continue
		}
		g := in.slots[i]
		next[g]++
		l.added = append(l.added, numbered{o, next[g]})
	}
	return nil
}

// settle does nothing: refresh does it.
func (l *valueLog) settle(*state.Values, []state.Slot) error { return nil }

// refresh applies the epoch's changes and brings the columns of the groups held up
// to date. keys are their keys.
func (l *valueLog) refresh(rt *exec.Runtime, groups *state.Values, keys []*vector.Vector, held []state.Slot) error {
	if err := l.apply(rt); err != nil {
		return err
	}
	for _, k := range keys {
		k.Retain()
	}
	b := vector.NewBatch(len(held), append([]*vector.Vector(nil), keys...), nil)
	defer b.Release()
	l.slots = resize(l.slots, len(held))
	if err := l.order.Resolve(l.groupEnc.Encode(b, l.cols[:len(keys)]), false, l.slots); err != nil {
		return err
	}
	for _, r := range l.results {
		var err error
		switch r.kind {
		case firstArrival:
			l.store(rt.Pool, groups, r, held, l.order.First)
		case lastArrival:
			l.store(rt.Pool, groups, r, held, l.order.Last)
		default:
			err = l.list(rt.Pool, groups, r, held)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// apply moves the changes of the epoch into numbers and order, all of them at once: when
// it is called again in the epoch there is nothing left to do.
func (l *valueLog) apply(rt *exec.Runtime) error {
	touched := l.changed.Held()
	if len(touched) == 0 || len(l.gone) == 0 {
		return nil
	}
	defer func() { l.added, l.gone = l.added[:0], l.gone[:0] }()
	cols, err := l.changed.Keys(rt.Pool, touched)
	if err != nil {
		return err
	}
	values := vector.NewBatch(len(touched), cols, nil)
	defer values.Release()
	debt := state.Col[int64](l.changed, 0)
	for o, s := range touched {
		l.gone[o] += debt[s]
	}
	if err := l.remove(rt.Pool, values); err != nil {
		return err
	}
	removed := len(l.rows)
	for _, a := range l.added {
		if l.gone[a.ordinal] > 0 { // it came and went
			l.gone[a.ordinal]--
			continue
		}
		l.rows, l.number = append(l.rows, a.ordinal), append(l.number, a.number)
	}
	negative := int64(0)
	done := l.at[:0]
	for o, s := range touched {
		if debt[s] = l.gone[o]; debt[s] > 0 && !l.forgets {
			negative++
		} else {
			done = append(done, s)
		}
	}
	rt.Inconsistent(negative)
	l.changed.Drop(done)
	l.at = done[:0]
	return l.write(rt.Pool, values, removed)
}

// remove lists in rows and number what is taken away of the values that were there,
// and counts it off in gone.
func (l *valueLog) remove(p *vector.Pool, values *vector.Batch) error {
	l.rows, l.number, l.ids = l.rows[:0], l.number[:0], l.ids[:0]
	l.slots = resize(l.slots, values.Len())
	if err := l.numbers.Resolve(l.valueEnc.Encode(values, l.cols), false, l.slots); err != nil {
		return err
	}
	for o, s := range l.slots {
		if l.gone[o] == 0 {
			continue
		}
		err := l.numbers.Range(s, nil, func(id state.RowID, _ int64) bool {
			if l.gone[o] == 0 {
				return false
			}
			l.gone[o]--
			l.rows, l.ids = append(l.rows, int32(o)), append(l.ids, id)
			return true
		})
		if err != nil {
			return err
		}
	}
	taken := l.numbers.Take(p, l.ids)
	defer releaseAll(taken)
	l.number = append(l.number, vector.Values[int64](taken[0])...)
	return nil
}

// write takes the first rows and numbers, so many, out of the tables and puts the
// others in.
func (l *valueLog) write(p *vector.Pool, values *vector.Batch, removed int) error {
	if len(l.rows) == 0 {
		return nil
	}
	part := values.Take(p, l.rows)
	defer part.Release()
	kinds, k := p.NewKinds(len(l.rows))
	for i := range k {
		k[i] = vector.Insert
		if i < removed {
			k[i] = vector.Delete
		}
	}
	number := vector.Of(p, l.number...)
	byValue := vector.NewBatch(len(l.rows), []*vector.Vector{number}, kinds)
	defer byValue.Release()
	l.slots = resize(l.slots, len(l.rows))
	if err := l.numbers.Resolve(l.valueEnc.Encode(part, l.cols), true, l.slots); err != nil {
		return err
	}
	if err := l.numbers.Add(l.slots, byValue); err != nil {
		return err
	}
	key := len(l.layout.Kinds)
	byGroup := vector.NewBatch(len(l.rows), []*vector.Vector{number.Retain(), part.Col(key).Retain()}, kinds.Retain())
	defer byGroup.Release()
	if err := l.order.Resolve(l.groupEnc.Encode(part, l.cols[:key]), true, l.slots); err != nil {
		return err
	}
	return l.order.Add(l.slots, byGroup)
}

// store writes the value that pick finds into the columns of r.
func (l *valueLog) store(p *vector.Pool, groups *state.Values, r logResult, held []state.Slot, pick func(state.Slot) (state.RowID, int64, bool)) {
	l.ids, l.at = r.pick(groups, held, l.slots, pick, l.ids[:0], l.at[:0])
	vals := l.order.Take(p, l.ids)
	defer releaseAll(vals)
	storeColumn(groups, r.col, l.at, vals[1], nil)
}

// list writes all values, one after the other, into the columns of r.
func (l *valueLog) list(p *vector.Pool, groups *state.Values, r logResult, held []state.Slot) error {
	has := state.Col[bool](groups, r.has)
	for i, s := range held {
		l.ids = l.ids[:0]
		err := l.order.Range(l.slots[i], nil, func(id state.RowID, _ int64) bool {
			l.ids = append(l.ids, id)
			return true
		})
		if err != nil {
			return err
		}
		has[s] = len(l.ids) > 0
		l.text = l.text[:0]
		vals := l.order.Take(p, l.ids)
		for k := range l.ids {
			if k > 0 {
				l.text = append(l.text, r.separator...)
			}
			l.text = append(l.text, vals[1].Bytes(k)...)
		}
		releaseAll(vals)
		groups.SetBytes(r.col, s, l.text)
	}
	return nil
}
