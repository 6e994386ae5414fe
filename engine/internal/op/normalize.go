package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
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
	keptRows
	added []int32
}

// NewNormalize returns a Normalize of a table with a primary key.
func NewNormalize(spec TableSpec) *Normalize {
	n := &Normalize{keptRows: newKeptRows(spec.Types, spec.Key, spec.Spread, []vector.Kind{vector.Bool}, spec.Retention)}
	n.before = !spec.OmitBefore
	return n
}

// Open finds the table.
func (n *Normalize) Open(_ context.Context, rt *exec.Runtime) error {
	n.open(rt)
	return nil
}

// Process keeps the last row of each key of b.
func (n *Normalize) Process(_ int, b *vector.Batch, _ exec.Output) error {
	if _, some := b.Sel(); some {
		b = b.Dense(n.rt.Pool)
		defer b.Release()
	}
	if err := n.begin(b); err != nil {
		return err
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
	n.store(b, n.added)
	return nil
}

// Advance passes the watermark on.
func (n *Normalize) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }

// End does nothing.
func (n *Normalize) End(int, exec.Output) error { return nil }

// Flush publishes the net change of the keys that the epoch touched, and forgets those
// that were not touched for long.
func (n *Normalize) Flush(out exec.Output) error { return n.flush(out) }

// Close does nothing but for what was not looked at: state belongs to the task.
func (n *Normalize) Close() error {
	n.close()
	return nil
}
