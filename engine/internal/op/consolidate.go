package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Consolidate nets the changes of an epoch: what was added and taken away again
// vanishes, and removals go before additions. It keeps nothing beyond the epoch.
//
// Without a key rows are netted as wholes and keep their kinds. With a key, which
// has at most one row at a mark, what is left of a key is one change: -U and +U when
// it had a row and has another, -D when its row is gone, also if that came as a -U
// whose +U a filter dropped, else the row that was added last. Its input must have
// -U: a row that replaces another in silence cannot be netted.
type Consolidate struct {
	spec   TableSpec
	rt     *exec.Runtime
	rowEnc *rowkey.Encoder
	keyEnc *rowkey.Encoder // nil: no key
	all    []int
	epoch  *vector.Builder // the epoch's rows

	rows   grouper
	keys   grouper
	net    []int64
	latest []int32 // by distinct row: its last change with the sign that remains
	old    []int32
	now    []int32
	sel    []int32
}

// NewConsolidate returns a Consolidate of rows with the given columns. The key may
// be nil.
func NewConsolidate(spec TableSpec) *Consolidate {
	c := &Consolidate{spec: spec}
	l := rowkey.Layout{}
	for i, t := range spec.Types {
		l.Kinds = append(l.Kinds, t.Kind())
		c.all = append(c.all, i)
	}
	c.rowEnc = rowkey.NewEncoder(l)
	if spec.Key != nil {
		c.keyEnc = rowkey.NewEncoder(keyLayout(spec.Types, spec.Key, nil))
	}
	return c
}

// Open makes the buffer.
func (c *Consolidate) Open(_ context.Context, rt *exec.Runtime) error {
	c.rt = rt
	kinds := make([]vector.Kind, len(c.spec.Types))
	for i, t := range c.spec.Types {
		kinds[i] = t.Kind()
	}
	c.epoch = vector.NewBuilder(rt.Pool, kinds)
	return nil
}

// Process keeps the rows of b until the epoch ends.
func (c *Consolidate) Process(_ int, b *vector.Batch, _ exec.Output) error {
	sel, some := b.Sel()
	if !some {
		c.sel = resize(c.sel, b.Len())
		for i := range c.sel {
			c.sel[i] = int32(i)
		}
		sel = c.sel
	}
	c.epoch.AppendTake(b, sel)
	return nil
}

// Advance passes the watermark on.
func (c *Consolidate) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }

// End does nothing.
func (c *Consolidate) End(int, exec.Output) error { return nil }

// Flush publishes the net changes of the epoch.
func (c *Consolidate) Flush(out exec.Output) error {
	if c.epoch.Len() == 0 {
		return nil
	}
	b := c.epoch.Finish()
	defer b.Release()
	c.rows.group(c.rowEnc.Encode(b, c.all))
	c.netRows(b.Kinds())
	c.old, c.now = c.old[:0], c.now[:0]
	for id, n := range c.net {
		for range -n {
			c.old = append(c.old, c.latest[id])
		}
		for range n {
			c.now = append(c.now, c.latest[id])
		}
	}
	kinds := append([]vector.RowKind(nil), b.Kinds()...)
	if kinds == nil {
		kinds = make([]vector.RowKind, b.Len())
	}
	if c.keyEnc != nil {
		c.keys.group(c.keyEnc.Encode(b, c.spec.Key))
		c.netKeys(kinds)
	}
	if err := c.emit(b, c.old, kinds, out); err != nil {
		return err
	}
	return c.emit(b, c.now, kinds, out)
}

// netRows adds up the signs of each distinct row.
func (c *Consolidate) netRows(kinds []vector.RowKind) {
	c.net, c.latest = resize(c.net, c.rows.count), resize(c.latest, c.rows.count)
	clear(c.net)
	for i, id := range c.rows.ids {
		sign := int64(1)
		if kinds != nil {
			sign = kinds[i].Sign()
		}
		c.net[id] += sign
	}
	for i, id := range c.rows.ids {
		if kinds == nil || (c.net[id] > 0) == kinds[i].Adds() {
			c.latest[id] = int32(i)
		}
	}
}

// netKeys leaves at most one removal and one addition of each key, and gives them
// the kinds of one change.
func (c *Consolidate) netKeys(kinds []vector.RowKind) {
	const none = -1
	had, has := make([]int32, c.keys.count), make([]int32, c.keys.count)
	for i := range had {
		had[i], has[i] = none, none
	}
	for _, r := range c.old {
		if id := c.keys.ids[r]; had[id] == none {
			had[id] = r
		}
	}
	for _, r := range c.now {
		if id := c.keys.ids[r]; has[id] == none || has[id] < r {
			has[id] = r
		}
	}
	c.old, c.now = c.old[:0], c.now[:0]
	for id, r := range had {
		if r == none {
			continue
		}
		if has[id] == none {
			kinds[r] = vector.Delete
		} else {
			kinds[r], kinds[has[id]] = vector.UpdateBefore, vector.UpdateAfter
			if c.spec.OmitBefore {
				continue
			}
		}
		c.old = append(c.old, r)
	}
	for _, r := range has {
		if r != none {
			c.now = append(c.now, r)
		}
	}
}

func (c *Consolidate) emit(b *vector.Batch, rows []int32, kinds []vector.RowKind, out exec.Output) error {
	p := c.rt.Pool
	for at := 0; at < len(rows); at += vector.Target {
		part := rows[at:min(at+vector.Target, len(rows))]
		v, k := p.NewKinds(len(part))
		insertOnly := true
		for i, r := range part {
			k[i] = kinds[r]
			insertOnly = insertOnly && k[i] == vector.Insert
		}
		if insertOnly {
			v.Release()
			v = nil
		}
		taken := b.Take(p, part)
		changed := taken.WithKinds(v)
		taken.Release()
		err := out.Emit(changed)
		changed.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Close drops rows of an epoch that did not end.
func (c *Consolidate) Close() error {
	if c.epoch != nil {
		c.epoch.Discard()
	}
	return nil
}
