package op

import (
	"context"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Materialize makes a table with a key out of a changelog in which several rows may
// have one key: the row that was added last, of those that are still there, stands
// for the key. When it is taken away, the one before it comes back. It is what an
// upsert sink needs when its primary key is no key of the query.
//
// With KeepFirst the row that was added first stands for the key, and with KeepOnly
// two different rows of one key are an error when an epoch ends.
//
// It keeps all rows. Those that are taken away and added within an epoch are netted
// first, so the order in which they come does not matter.
type Materialize struct {
	spec TableSpec
	keep Keep
	rt   *exec.Runtime

	keyLayout, rowLayout rowkey.Layout
	keyEnc, rowEnc       *rowkey.Encoder
	all                  []int // every column

	keys *state.Values // by key: how many rows were ever added
	live *state.Values // by whole row: how often it is there, number of its last addition
	last *state.Rows   // by key: number and row, for rows that are there

	keySlots, rowSlots []state.Slot
	fresh              []int32
	first              []state.Slot
	images             images // of live
	change             netChange
	old, now           picked
	removed, added     []int32
	expiry             *expiry // of keys; nil: rows are kept for ever
}

// The columns of an entry of Materialize.live, and the one of Materialize.keys.
const (
	colCount  = 0
	colNumber = 1
	colNext   = 0
)

// Keep says which of several rows with one key stands for it.
type Keep uint8

// The rows to keep.
const (
	KeepLast  Keep = iota // that was added last
	KeepFirst             // that was added first
	KeepOnly              // there may be one only
)

// NewMaterialize returns a Materialize for a table with a primary key.
func NewMaterialize(spec TableSpec, keep Keep) *Materialize {
	m := &Materialize{spec: spec, keep: keep, keyLayout: keyLayout(spec.Types, spec.Key, spec.Spread)}
	for c := range spec.Types {
		m.all = append(m.all, c)
	}
	m.rowLayout = keyLayout(spec.Types, m.all, spec.Spread)
	m.keyEnc, m.rowEnc = rowkey.NewEncoder(m.keyLayout), rowkey.NewEncoder(m.rowLayout)
	m.images = newImages([]vector.Kind{vector.Int64, vector.Int64})
	if spec.Retention.Set() {
		m.expiry = newExpiry(spec.Retention, m.keyLayout, colNext+1)
	}
	return m
}

// Open finds the tables.
func (m *Materialize) Open(_ context.Context, rt *exec.Runtime) error {
	m.rt = rt
	cols := []vector.Kind{vector.Int64}
	if m.expiry != nil {
		cols = append(cols, vector.Int64)
		m.expiry.open(rt, "expiry")
	}
	m.keys = rt.State.Values("keys", m.keyLayout, cols)
	m.live = rt.State.Values("live", m.rowLayout, []vector.Kind{vector.Int64, vector.Int64})
	m.last = rt.State.Rows("last", m.keyLayout, state.RowsOptions{
		Cols: append([]vector.Kind{vector.Int64}, m.rowLayout.Kinds...), Sort: &state.SortSpec{Cols: []int{0}}, Indexed: true,
	})
	return nil
}

// Process counts and numbers the rows of b.
func (m *Materialize) Process(_ int, b *vector.Batch, _ exec.Output) error {
	if m.expiry.late() {
		if err := m.expiry.expire(m.keys, m.forget); err != nil {
			return err
		}
	}
	if _, some := b.Sel(); some {
		b = b.Dense(m.rt.Pool)
		defer b.Release()
	}
	m.keySlots, m.rowSlots = resize(m.keySlots, b.Len()), resize(m.rowSlots, b.Len())
	if err := m.keys.Resolve(m.keyEnc.Encode(b, m.spec.Key), true, m.keySlots); err != nil {
		return err
	}
	m.fresh = m.keys.Hold(m.keySlots, m.fresh[:0])
	m.keys.Dirty(m.keySlots)
	if err := m.live.Resolve(m.rowEnc.Encode(b, m.all), true, m.rowSlots); err != nil {
		return err
	}
	if m.fresh = m.live.Hold(m.rowSlots, m.fresh[:0]); len(m.fresh) > 0 {
		m.first = gather(m.first, m.rowSlots, m.fresh)
		m.live.Dirty(m.first)
		m.images.save(m.live, m.first)
	}
	count, number := state.Col[int64](m.live, colCount), state.Col[int64](m.live, colNumber)
	next, kinds := state.Col[int64](m.keys, colNext), b.Kinds()
	for i, s := range m.rowSlots {
		if kinds != nil && !kinds[i].Adds() {
			if m.expiry == nil || count[s] > 0 { // else it was forgotten
				count[s]--
			}
			continue
		}
		if count[s]++; m.keep == KeepFirst && count[s] > 1 {
			continue // it was there before
		}
		next[m.keySlots[i]]++
		number[s] = next[m.keySlots[i]]
	}
	return nil
}

// Advance passes the watermark on.
func (m *Materialize) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }

// End does nothing.
func (m *Materialize) End(int, exec.Output) error { return nil }

// Flush publishes the net change of the keys that the epoch touched, and forgets those
// that were not touched for long.
func (m *Materialize) Flush(out exec.Output) error {
	if err := m.publish(out); err != nil || m.expiry == nil {
		return err
	}
	return m.expiry.expire(m.keys, m.forget)
}

// forget drops keys with all their rows.
func (m *Materialize) forget(keys *vector.Batch, slots []state.Slot) error {
	m.keySlots = resize(m.keySlots, keys.Len())
	if err := m.last.Resolve(m.keyEnc.Encode(keys, m.all[:len(m.spec.Key)]), false, m.keySlots); err != nil {
		return err
	}
	var cursor state.Cursor
	for done := false; !done; {
		var found state.Matches
		done = m.last.Match(m.keySlots, &cursor, vector.Target, &found)
		rows := vector.NewBatch(len(found.Row), m.last.Take(m.rt.Pool, found.Row), nil)
		m.rowSlots = resize(m.rowSlots, rows.Len())
		err := m.live.Resolve(m.rowEnc.Encode(rows, m.numbered()), false, m.rowSlots)
		rows.Release()
		if err != nil {
			return err
		}
		m.live.Drop(m.rowSlots)
	}
	m.last.Drop(m.keySlots)
	m.keys.Drop(slots)
	m.rt.Expired(int64(len(slots)))
	return nil
}

// numbered are the columns of a row of last without the number.
func (m *Materialize) numbered() []int {
	cols := make([]int, len(m.all))
	for i := range cols {
		cols[i] = i + 1
	}
	return cols
}

func (m *Materialize) publish(out exec.Output) error {
	held := m.keys.Held()
	if len(held) == 0 {
		return nil
	}
	p := m.rt.Pool
	defer func() {
		m.old.release()
		m.now.release()
		m.change.reset()
		m.images.reset()
	}()
	cols, err := m.keys.Keys(p, held)
	if err != nil {
		return err
	}
	keys := vector.NewBatch(len(held), cols, nil)
	defer keys.Release()
	if err := m.pick(&m.old, keys); err != nil {
		return err
	}
	if err := m.apply(); err != nil {
		return err
	}
	if err := m.pick(&m.now, keys); err != nil {
		return err
	}
	if m.keep == KeepOnly {
		if err := m.single(keys); err != nil {
			return err
		}
	}
	for c, k := range m.rowLayout.Kinds {
		b := vector.NewColumnBuilder(p, k)
		m.old.append(b, c+1)
		m.now.append(b, c+1)
		m.change.cols = append(m.change.cols, b.Finish())
	}
	m.change.live = append(append(m.change.live[:0], m.old.live...), m.now.live...)
	if err := m.change.publish(out, p, !m.spec.OmitBefore); err != nil {
		return err
	}
	if m.expiry != nil {
		if err := m.expiry.touch(m.keys, held, cols); err != nil {
			return err
		}
	}
	m.drop(held)
	return nil
}

// apply moves the rows of live that the epoch touched into last.
func (m *Materialize) apply() error {
	p, held := m.rt.Pool, m.live.Held()
	m.images.save(m.live, held)
	counts, numbers := savedValues[int64](&m.images, colCount), savedValues[int64](&m.images, colNumber)
	n := len(held)
	m.removed, m.added = m.removed[:0], m.added[:0]
	for i := range held {
		was, is := counts[i] > 0, counts[n+i] > 0
		moved := numbers[i] != numbers[n+i]
		if was && (!is || moved) {
			m.removed = append(m.removed, int32(i))
		}
		if is && (!was || moved) {
			m.added = append(m.added, int32(i))
		}
	}
	if len(m.removed)+len(m.added) == 0 {
		return nil
	}
	cols, err := m.live.Keys(p, held)
	if err != nil {
		return err
	}
	rows := vector.NewBatch(n, cols, nil)
	defer rows.Release()
	order := append(append(m.fresh[:0], m.removed...), m.added...)
	m.fresh = order[:0]
	b := rows.Take(p, order)
	defer b.Release()
	number := p.New(vector.Int64, len(order))
	kinds, k := p.NewKinds(len(order))
	for i, r := range order {
		if i < len(m.removed) {
			k[i], vector.Values[int64](number)[i] = vector.Delete, numbers[r]
		} else {
			k[i], vector.Values[int64](number)[i] = vector.Insert, numbers[n+int(r)]
		}
	}
	m.rowSlots = resize(m.rowSlots, len(order))
	if err := m.last.Resolve(m.keyEnc.Encode(b, m.spec.Key), true, m.rowSlots); err != nil {
		releaseAll([]*vector.Vector{number, kinds})
		return err
	}
	stored := []*vector.Vector{number}
	for c := range b.Cols() {
		stored = append(stored, b.Col(c).Retain())
	}
	numbered := vector.NewBatch(len(order), stored, kinds)
	defer numbered.Release()
	return m.last.Add(m.rowSlots, numbered)
}

// picked is the row that stands for each of several keys.
type picked struct {
	live []bool           // whether there is one
	at   []int32          // its position in cols, 0 when there is none
	cols []*vector.Vector // its number, then its columns
	ids  []state.RowID
}

// pick finds the rows that stand for keys.
func (m *Materialize) pick(to *picked, keys *vector.Batch) error {
	m.keySlots = resize(m.keySlots, keys.Len())
	cols := m.all[:len(m.spec.Key)]
	if err := m.last.Resolve(m.keyEnc.Encode(keys, cols), true, m.keySlots); err != nil {
		return err
	}
	to.live, to.at, to.ids = to.live[:0], to.at[:0], to.ids[:0]
	for _, s := range m.keySlots {
		id, _, ok := m.choose(s)
		to.live = append(to.live, ok)
		if !ok {
			to.at = append(to.at, 0)
			continue
		}
		to.at = append(to.at, int32(len(to.ids)))
		to.ids = append(to.ids, id)
	}
	to.cols = m.last.Take(m.rt.Pool, to.ids)
	return nil
}

// choose finds the row that stands for a key.
func (m *Materialize) choose(s state.Slot) (state.RowID, int64, bool) {
	if m.keep == KeepFirst {
		return m.last.First(s)
	}
	return m.last.Last(s)
}

// single reports a key that has several rows.
func (m *Materialize) single(keys *vector.Batch) error {
	for i, s := range m.keySlots {
		if m.last.Count(s) <= 1 {
			continue
		}
		var key []byte
		for c, col := range m.spec.Key {
			if c > 0 {
				key = append(key, ", "...)
			}
			key = sqltype.AppendText(key, m.spec.Types[col], keys.Col(c), i)
		}
		return errs.New(errs.Data, errs.Position{}, "two different rows have the primary key (%s), and ON CONFLICT DO ERROR refuses that", key).
			WithHint("ON CONFLICT DO NOTHING keeps the first row of a key, DO DEDUPLICATE the last")
	}
	return nil
}

// append adds column c of the rows, with arbitrary values where there is none.
func (r *picked) append(b *vector.ColumnBuilder, c int) {
	if len(r.ids) > 0 {
		b.AppendTake(r.cols[c], r.at)
		return
	}
	for range r.at {
		b.AppendNull()
	}
}

func (r *picked) release() {
	releaseAll(r.cols)
	r.cols = nil
}

// drop forgets rows that are gone and keys without rows, and reports rows that were
// taken away more often than added. Keys without rows leave last by themselves.
func (m *Materialize) drop(held []state.Slot) {
	var lost, gone []state.Slot
	for i, s := range held {
		if !m.now.live[i] {
			gone = append(gone, s)
		}
	}
	count, negative := state.Col[int64](m.live, colCount), int64(0)
	for _, s := range m.live.Held() {
		switch n := count[s]; {
		case n == 0:
			lost = append(lost, s)
		case n < 0:
			negative++
		}
	}
	m.rt.Inconsistent(negative)
	if len(gone) > 0 {
		m.keys.Drop(gone)
	}
	if len(lost) > 0 {
		m.live.Drop(lost)
	}
}

// Close does nothing but for what was not looked at: state belongs to the task.
func (m *Materialize) Close() error {
	m.expiry.close()
	return nil
}
