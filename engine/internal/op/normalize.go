package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// TableSpec says what a table with a key is whose changes an operator keeps.
type TableSpec struct {
	Types      []sqltype.Type
	Key        []int // columns of the primary key
	OmitBefore bool  // the consumer needs no -U
	Spread     []int // columns that rows are spread by, of Key; nil: one shard has all
	Retention  Retention
}

// Normalize turns the changelog of an upsert source, in which +U and +I replace the
// row of their key and -D needs only the key, into one with all images: the first
// row of a key is +I, a later one -U and +U, an equal one nothing; -D carries the
// row that it deletes, and that of an unknown key vanishes. It keeps the last row of
// each key. A -U of the source says nothing that the following +U does not, so it is
// ignored.
type Normalize struct {
	spec   TableSpec
	rt     *exec.Runtime
	layout rowkey.Layout
	enc    *rowkey.Encoder
	row    storedRow // the columns that are not in the key, after colLive
	table  *state.Values

	slots  []state.Slot
	first  []state.Slot
	fresh  []int32
	added  []int32
	images images
	change netChange
	expiry *expiry // nil: rows are kept for ever
}

// colLive is the first column of a key's entry: whether the key has a row.
const colLive = 0

// NewNormalize returns a Normalize of a table with a primary key.
func NewNormalize(spec TableSpec) *Normalize {
	n := &Normalize{spec: spec, layout: keyLayout(spec.Types, spec.Key, spec.Spread)}
	n.enc = rowkey.NewEncoder(n.layout)
	isKey := make([]int, len(spec.Types))
	for i, k := range spec.Key {
		isKey[k] = i + 1
	}
	for c, t := range spec.Types {
		if isKey[c] > 0 {
			n.change.order = append(n.change.order, isKey[c]-1)
			continue
		}
		n.change.order = append(n.change.order, len(spec.Key)+len(n.row.from))
		n.row.add(c, t)
	}
	n.row.layOut(colLive + 1)
	n.images = newImages(n.columns())
	if spec.Retention.Set() {
		n.expiry = newExpiry(spec.Retention, n.layout, len(n.columns()))
		n.change.refresh = true
	}
	return n
}

// columns are those of an entry, without the deadline.
func (n *Normalize) columns() []vector.Kind {
	return append([]vector.Kind{vector.Bool}, n.row.kinds()...)
}

// Open finds the table.
func (n *Normalize) Open(_ context.Context, rt *exec.Runtime) error {
	n.rt = rt
	cols := n.columns()
	if n.expiry != nil {
		cols = append(cols, vector.Int64)
		n.expiry.open(rt, "expiry")
	}
	n.table = rt.State.Values("rows", n.layout, cols)
	return nil
}

// Process keeps the last row of each key of b.
func (n *Normalize) Process(_ int, b *vector.Batch, _ exec.Output) error {
	p := n.rt.Pool
	if n.expiry.late() {
		if err := n.expire(); err != nil {
			return err
		}
	}
	if _, some := b.Sel(); some {
		b = b.Dense(p)
		defer b.Release()
	}
	n.slots = resize(n.slots, b.Len())
	if err := n.table.Resolve(n.enc.Encode(b, n.spec.Key), true, n.slots); err != nil {
		return err
	}
	if n.fresh = n.table.Hold(n.slots, n.fresh[:0]); len(n.fresh) > 0 {
		n.first = gather(n.first, n.slots, n.fresh)
		n.table.Dirty(n.first)
		n.images.save(n.table, n.first)
	}
	live, kinds := state.Col[bool](n.table, colLive), b.Kinds()
	if kinds == nil {
		for _, s := range n.slots {
			live[s] = true
		}
		n.row.store(n.table, n.slots, b, nil)
		return nil
	}
	n.added = n.added[:0]
	for i, s := range n.slots {
		switch kinds[i] {
		case vector.Delete:
			live[s] = false
		case vector.Insert, vector.UpdateAfter:
			live[s] = true
			n.added = append(n.added, int32(i))
		}
	}
	n.first = gather(n.first, n.slots, n.added)
	n.row.store(n.table, n.first, b, n.added)
	return nil
}

// Advance passes the watermark on.
func (n *Normalize) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }

// End does nothing.
func (n *Normalize) End(int, exec.Output) error { return nil }

// Flush publishes the net change of the keys that the epoch touched, and forgets those
// that were not touched for long.
func (n *Normalize) Flush(out exec.Output) error {
	if err := n.publish(out); err != nil || n.expiry == nil {
		return err
	}
	return n.expire()
}

func (n *Normalize) expire() error {
	return n.expiry.expire(n.table, func(_ *vector.Batch, slots []state.Slot) error {
		n.table.Drop(slots)
		n.rt.Expired(int64(len(slots)))
		return nil
	})
}

func (n *Normalize) publish(out exec.Output) error {
	held := n.table.Held()
	if len(held) == 0 {
		return nil
	}
	p := n.rt.Pool
	keys, err := n.table.Keys(p, held)
	if err != nil {
		return err
	}
	n.images.save(n.table, held)
	n.change.keys = keys
	n.change.cols = n.row.columns(p, &n.images)
	n.change.live = append(n.change.live[:0], savedValues[bool](&n.images, colLive)...)
	defer func() {
		n.change.reset()
		n.images.reset()
	}()
	if err := n.change.publish(out, p, !n.spec.OmitBefore); err != nil {
		return err
	}
	if n.expiry != nil {
		if err := n.expiry.touch(n.table, held, keys); err != nil {
			return err
		}
	}
	gone := n.first[:0]
	for i, s := range held {
		if !n.change.live[len(held)+i] {
			gone = append(gone, s)
		}
	}
	n.first = gone[:0]
	if len(gone) > 0 {
		n.table.Drop(gone)
	}
	return nil
}

// Close does nothing but for what was not looked at: state belongs to the task.
func (n *Normalize) Close() error {
	n.expiry.close()
	return nil
}
