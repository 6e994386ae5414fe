package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// ExpandSpec says what rows an Expand makes of one.
type ExpandSpec struct {
	Types   []sqltype.Type // of the input
	Keys    []int          // input columns
	Sets    [][]bool       // by set: which of Keys it keeps; the others are NULL
	Forward []int          // input columns
}

// Expand makes of every row one for each grouping set: the keys, the number of the
// set, and columns as they are. GROUP BY over the keys and the number then groups by
// all sets at once. A row's changes keep their order within each set.
type Expand struct {
	exec.Stateless
	spec ExpandSpec
	pool *vector.Pool
}

// NewExpand returns an Expand.
func NewExpand(spec ExpandSpec) *Expand {
	return &Expand{spec: spec}
}

// Open keeps the pool.
func (e *Expand) Open(_ context.Context, rt *exec.Runtime) error {
	e.pool = rt.Pool
	return nil
}

// Process emits the rows of b once for each set.
func (e *Expand) Process(_ int, b *vector.Batch, out exec.Output) error {
	if _, some := b.Sel(); some {
		b = b.Dense(e.pool)
		defer b.Release()
	}
	nulls := make([]*vector.Vector, len(e.spec.Keys))
	defer releaseAll(nulls)
	for set, keep := range e.spec.Sets {
		cols := make([]*vector.Vector, 0, len(keep)+1+len(e.spec.Forward))
		for i, k := range e.spec.Keys {
			switch {
			case keep[i]:
				cols = append(cols, b.Col(k).Retain())
			default:
				if nulls[i] == nil {
					nulls[i] = allNull(e.pool, e.spec.Types[k].Kind(), b.Len())
				}
				cols = append(cols, nulls[i].Retain())
			}
		}
		number := e.pool.New(vector.Int64, b.Len())
		for i := range vector.Values[int64](number) {
			vector.Values[int64](number)[i] = int64(set)
		}
		cols = append(cols, number)
		for _, c := range e.spec.Forward {
			cols = append(cols, b.Col(c).Retain())
		}
		kinds := b.KindVector()
		if kinds != nil {
			kinds.Retain()
		}
		expanded := vector.NewBatch(b.Len(), cols, kinds)
		err := out.Emit(expanded)
		expanded.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// allNull is n times NULL.
func allNull(p *vector.Pool, kind vector.Kind, n int) *vector.Vector {
	b := vector.NewColumnBuilder(p, kind)
	for range n {
		b.AppendNull()
	}
	return b.Finish()
}
