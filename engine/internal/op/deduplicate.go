package op

import (
	"bytes"
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// DeduplicateSpec says which row of those with one key is kept.
type DeduplicateSpec struct {
	Types []sqltype.Type // of the first columns of the input; what is behind is not read
	Key   []int
	// Order has the row that is kept first. Without columns all rows are equal.
	Order []SortKey
	// Last says that of rows that are equal in the order the one that came last is kept,
	// not the first.
	Last       bool
	OmitBefore bool  // the consumer needs no -U
	Spread     []int // columns that rows are spread by, of Key; nil: one shard has all
	Retention  Retention
}

// Deduplicate keeps one row of each key of an append-only input: the first in an order,
// such as the last in time. It publishes the row that a key has when an epoch ends, if
// that is another than before. It keeps that row.
type Deduplicate struct {
	keptRows
	spec   DeduplicateSpec
	order  rowOrder
	better []int32
}

// colPlace is the second column of a key's entry: the row's place in the order.
const colPlace = 1

// NewDeduplicate returns a Deduplicate.
func NewDeduplicate(spec DeduplicateSpec) *Deduplicate {
	d := &Deduplicate{spec: spec, order: newRowOrder(spec.Types, spec.Order)}
	d.keptRows = newKeptRows(spec.Types, spec.Key, spec.Spread, []vector.Kind{vector.Bool, d.order.kind()}, spec.Retention)
	d.before = !spec.OmitBefore
	return d
}

// Open finds the table.
func (d *Deduplicate) Open(_ context.Context, rt *exec.Runtime) error {
	d.open(rt)
	return nil
}

// Process keeps the rows of b that are before those of their keys.
func (d *Deduplicate) Process(_ int, b *vector.Batch, _ exec.Output) error {
	if _, some := b.Sel(); some {
		b = b.Dense(d.rt.Pool)
		defer b.Release()
	}
	if err := d.begin(b); err != nil {
		return err
	}
	d.choose(b)
	d.store(b, d.better)
	return nil
}

// choose lists the rows of b that take the place of those that their keys have, of
// several with one key the last only, and notes their places.
func (d *Deduplicate) choose(b *vector.Batch) {
	d.better = d.better[:0]
	has := state.Col[bool](d.table, colLive)
	switch {
	case len(d.spec.Order) == 0:
		for i, s := range d.slots {
			if !has[s] || d.spec.Last {
				has[s] = true
				d.better = append(d.better, int32(i))
			}
		}
	case d.order.word:
		places := state.Col[int64](d.table, colPlace)
		for i, p := range d.order.words(b) {
			if s := d.slots[i]; !has[s] || p < places[s] || d.spec.Last && p == places[s] {
				has[s], places[s] = true, p
				d.better = append(d.better, int32(i))
			}
		}
	default:
		keys := d.order.enc.Encode(b, d.order.by)
		for i, s := range d.slots {
			if has[s] {
				if c := bytes.Compare(keys.Bytes(i), d.table.Bytes(colPlace, s)); c > 0 || c == 0 && !d.spec.Last {
					continue
				}
			}
			has[s] = true
			d.table.SetBytes(colPlace, s, keys.Bytes(i))
			d.better = append(d.better, int32(i))
		}
	}
}

// Advance passes the watermark on.
func (d *Deduplicate) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }

// End does nothing.
func (d *Deduplicate) End(int, exec.Output) error { return nil }

// Flush publishes the net change of the keys that the epoch touched, and forgets those
// that were not touched for long.
func (d *Deduplicate) Flush(out exec.Output) error { return d.flush(out) }

// Close does nothing but for what was not looked at: state belongs to the task.
func (d *Deduplicate) Close() error {
	d.close()
	return nil
}

// rowOrder gives rows places in an order that can be stored and compared.
type rowOrder struct {
	by  []int
	enc *rowkey.Encoder
	// word says that places are words: the order is that of one BIGINT or time which is
	// never NULL.
	word, desc bool
	places     []int64
}

func newRowOrder(types []sqltype.Type, keys []SortKey) rowOrder {
	var o rowOrder
	var layout rowkey.Layout
	for _, k := range keys {
		o.by = append(o.by, k.Column)
		layout.Kinds = append(layout.Kinds, types[k.Column].Kind())
		layout.Desc, layout.NullsLast = append(layout.Desc, k.Desc), append(layout.NullsLast, k.NullsLast)
	}
	o.enc = rowkey.NewEncoder(layout)
	if len(keys) == 1 && types[keys[0].Column].Kind() == vector.Int64 && types[keys[0].Column].NotNull {
		o.word, o.desc = true, keys[0].Desc
	}
	return o
}

// kind is that of a stored place.
func (o *rowOrder) kind() vector.Kind {
	if o.word || len(o.by) == 0 {
		return vector.Int64
	}
	return vector.Bytes
}

// words are the places of the rows of a dense batch.
func (o *rowOrder) words(b *vector.Batch) []int64 {
	vals := vector.Values[int64](b.Col(o.by[0]))[:b.Len()]
	if !o.desc {
		return vals
	}
	o.places = resize(o.places, len(vals))
	for i, v := range vals {
		o.places[i] = ^v // which turns the order round, without overflow
	}
	return o.places
}
