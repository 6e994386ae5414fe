package op

import (
	"context"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// Join is the inner join of two changelogs on equal keys. It keeps the rows of each
// side, as far as pairs need their columns, and emits, for each row that comes, the
// pairs with those of the other side.
// A NULL in a key equals nothing, unless NullSafe says so, and such rows are neither
// kept nor joined.
//
// A pair has the kind of the row that came. Rows of the other side may have been
// taken away before they were added, within an epoch: a pair with such a row has
// the inverted kind, so that it goes away again when the addition comes.
//
// The pairs of a row that replaces another replace pairs as well: with a side that is
// Replacing the pairs are an upsert changelog. A -D has in the columns of its own side
// what the -D of the input has.
//
// When a side has ended, the rows of the other are not needed any more and are
// dropped.
type Join struct {
	joinPairs
}

// NewJoin returns a Join. It fails for a condition that cannot be compiled.
func NewJoin(spec JoinSpec) (*Join, error) {
	pairs, err := newJoinPairs(spec)
	if err != nil {
		return nil, err
	}
	return &Join{pairs}, nil
}

// Open finds the tables.
func (j *Join) Open(_ context.Context, rt *exec.Runtime) error {
	if err := j.open(rt); err != nil {
		return err
	}
	for i, name := range []string{"left", "right"} {
		j.sides[i].open(rt, name, state.RowsOptions{Indexed: j.sides[i].Updating, Replacing: j.sides[i].Replacing})
	}
	return nil
}

// Process joins the rows of b with those of the other side, then keeps them.
func (j *Join) Process(port int, b *vector.Batch, out exec.Output) error {
	if err := j.catchUp(); err != nil {
		return err
	}
	own, other := &j.sides[port], &j.sides[1-port]
	if own.Replacing {
		b = j.replacing(b)
		defer b.Release()
	}
	keys := own.enc.Encode(b, own.Keys)
	if keys.AnyNull() && len(own.strict) > 0 {
		sel := j.joinable(own, b)
		if sel.Len() == 0 {
			sel.Release()
			return nil
		}
		b = b.Select(sel)
		defer b.Release()
		keys = own.enc.Encode(b, own.Keys)
	}
	own.slots = resize(own.slots, b.Len())
	if err := other.rows.Resolve(keys, false, own.slots); err != nil {
		return err
	}
	var cursor state.Cursor
	for done := false; !done; {
		var err error
		if done, err = j.next(port, b, own.slots, &cursor); err != nil {
			return err
		}
		if err := j.emitMatches(port, b, out); err != nil {
			return err
		}
	}
	if other.ended {
		return nil
	}
	if err := own.rows.Resolve(keys, true, own.slots); err != nil {
		return err
	}
	return own.add(b, own.slots)
}

// replacing is b without -U, which say nothing where rows replace each other.
func (j *Join) replacing(b *vector.Batch) *vector.Batch {
	kinds := b.Kinds()
	if !slices.Contains(kinds, vector.UpdateBefore) {
		return b.Retain()
	}
	j.rows = j.rows[:0]
	for i := range b.Len() {
		if r := b.Row(i); kinds[r] != vector.UpdateBefore {
			j.rows = append(j.rows, int32(r))
		}
	}
	return b.Select(vector.Of(j.rt.Pool, j.rows...))
}

// End drops the rows of the other side: no row will come that joins them.
func (j *Join) End(port int, _ exec.Output) error {
	j.sides[port].ended = true
	return j.sides[1-port].drop()
}

// Flush forgets rows that nothing touched for long, and reports those that were taken
// away and never added. Pairs were emitted as the rows came.
func (j *Join) Flush(exec.Output) error {
	if err := j.expire(); err != nil {
		return err
	}
	j.report()
	return nil
}
