package op

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// keptRows keeps a row for each key of an input, and publishes what an epoch did to it.
type keptRows struct {
	rt     *exec.Runtime
	key    []int
	layout rowkey.Layout
	enc    *rowkey.Encoder
	head   []vector.Kind
	row    storedRow // the columns that are not in the key, after head
	table  *state.Values
	before bool    // the consumer needs -U
	expiry *expiry // nil: rows are kept for ever

	slots  []state.Slot // of the rows of a batch
	first  []state.Slot
	fresh  []int32
	images images
	change netChange
}

// colLive is the first column of a key's entry: whether the key has a row.
const colLive = 0

// newKeptRows returns the rows of a table, whose entries begin with the columns of head:
// the first is colLive.
func newKeptRows(types []sqltype.Type, key, spread []int, head []vector.Kind, keep Retention) keptRows {
	k := keptRows{key: key, layout: keyLayout(types, key, spread), head: head}
	k.enc = rowkey.NewEncoder(k.layout)
	isKey := make([]int, len(types))
	for i, c := range key {
		isKey[c] = i + 1
	}
	for c, t := range types {
		if isKey[c] > 0 {
			k.change.order = append(k.change.order, isKey[c]-1)
			continue
		}
		k.change.order = append(k.change.order, len(key)+len(k.row.from))
		k.row.add(c, t)
	}
	k.row.layOut(len(head))
	k.images = newImages(k.columns())
	if keep.Set() {
		k.expiry = newExpiry(keep, k.layout, len(k.columns()))
		k.change.refresh = true
	}
	return k
}

// columns are those of an entry, without the deadline.
func (k *keptRows) columns() []vector.Kind {
	return append(k.head[:len(k.head):len(k.head)], k.row.kinds()...)
}

func (k *keptRows) open(rt *exec.Runtime) {
	k.rt = rt
	cols := k.columns()
	if k.expiry != nil {
		cols = append(cols, vector.Int64)
		k.expiry.open(rt, "expiry")
	}
	k.table = rt.State.Values("rows", k.layout, cols)
}

// begin finds the entries of the rows of a dense batch, which are going to change, and
// remembers what they were when the epoch began.
func (k *keptRows) begin(b *vector.Batch) error {
	if k.expiry.late() {
		if err := k.expiry.drop(k.table); err != nil {
			return err
		}
	}
	k.slots = resize(k.slots, b.Len())
	if err := k.table.Resolve(k.enc.Encode(b, k.key), true, k.slots); err != nil {
		return err
	}
	if k.fresh = k.table.Hold(k.slots, k.fresh[:0]); len(k.fresh) > 0 {
		k.first = gather(k.first, k.slots, k.fresh)
		k.table.Dirty(k.first)
		k.images.save(k.table, k.first)
	}
	return nil
}

// store makes the given rows of b those of their keys.
func (k *keptRows) store(b *vector.Batch, rows []int32) {
	k.first = gather(k.first, k.slots, rows)
	k.row.store(k.table, k.first, b, rows)
}

// flush publishes the net change of the keys that the epoch touched, and forgets those
// without a row, and those that were not touched for long.
func (k *keptRows) flush(out exec.Output) error {
	if err := k.publish(out); err != nil || k.expiry == nil {
		return err
	}
	return k.expiry.drop(k.table)
}

func (k *keptRows) publish(out exec.Output) error {
	held := k.table.Held()
	if len(held) == 0 {
		return nil
	}
	p := k.rt.Pool
	keys, err := k.table.Keys(p, held)
	if err != nil {
		return err
	}
	k.images.save(k.table, held)
	k.change.keys = keys
	k.change.cols = k.row.columns(p, &k.images)
	k.change.live = append(k.change.live[:0], savedValues[bool](&k.images, colLive)...)
	defer func() {
		k.change.reset()
		k.images.reset()
	}()
	if err := k.change.publish(out, p, k.before); err != nil {
		return err
	}
	if k.expiry != nil {
		if err := k.expiry.touch(k.table, held, keys); err != nil {
			return err
		}
	}
	gone := k.first[:0]
	for i, s := range held {
		if !k.change.live[len(held)+i] {
			gone = append(gone, s)
		}
	}
	k.first = gone[:0]
	if len(gone) > 0 {
		k.table.Drop(gone)
	}
	return nil
}

// close drops what was not looked at.
func (k *keptRows) close() { k.expiry.close() }
