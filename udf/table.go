package udf

import (
	"context"

	"github.com/weirdb/weir/vector"
)

// Rows are result rows of a function that makes tables.
type Rows struct {
	Len     int
	Columns []*vector.Vector // the fields of Function.Returns
	Parent  []int32          // row of the call (or group) that each row comes from, ascending
	Retract []bool           // rows that no longer hold; nil: none
}

// Release gives the columns back.
func (r *Rows) Release() { panic("soon") }

// CallTable evaluates a table or a temporal function. It yields the rows piece by piece,
// each owned by yield, while the guest has more to give. Rows that were yielded before an
// error must not be used: who cannot take them back waits for the end. An error of yield
// ends the call and the instance.
func (i *Instance) CallTable(ctx context.Context, c *Call, yield func(*Rows) error) error {
	panic("soon")
}
