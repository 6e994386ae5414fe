package udf

import (
	"context"

	"github.com/weirdb/weir/vector"
)

// Call holds the input of a call: the live rows of columns that are borrowed. Row i is
// physical row Sel[i] of every column, or i when Sel is nil, and 0 of constant ones.
type Call struct {
	Args     []*vector.Vector // of the kinds of Function.Inputs
	Rows     int              // live rows
	Sel      []int32          // their positions; nil: the first Rows
	Constant []bool           // which columns hold one row that stands for all; nil: none
	Now      int64            // ms since 1970 UTC: what the guest's clock shows
	Seed     uint64           // of the guest's randomness; the same when a batch is replayed
	Pool     *vector.Pool     // for what comes back
}

// Call evaluates a scalar function: one value for each row, owned by the caller.
func (i *Instance) Call(ctx context.Context, c *Call) (*vector.Vector, error) { panic("soon") }
