package udf

import (
	"context"

	"github.com/weirdb/weir/vector"
)

// States are the states of an aggregate for some groups. The bytes belong to the caller,
// who may store them; only the function knows what they mean. A call that fails leaves
// them as they were.
type States struct {
	Fixed []byte   // StateSize bytes for each group, or
	Views [][]byte // bytes for each group
}

// Init returns the state of a group without rows. The function computes it once for the
// module; the caller copies it.
func (i *Instance) Init(ctx context.Context) ([]byte, error) { panic("soon") }

// Update adds row r of the call to the state of group[r], or takes it away when sign[r] is
// -1. A nil sign adds all. Groups without rows stay as they are.
func (i *Instance) Update(ctx context.Context, c *Call, group []uint32, sign []int8, s *States) error {
	panic("soon")
}

// Merge adds every state r of other to the state of group[r]. Other is not changed.
func (i *Instance) Merge(ctx context.Context, c *Call, other *States, group []uint32, s *States) error {
	panic("soon")
}

// Finish returns the value of each group, owned by the caller. The states are not changed.
// Only Now, Seed and Pool of the call are used.
func (i *Instance) Finish(ctx context.Context, c *Call, s *States) (*vector.Vector, error) {
	panic("soon")
}

// Upgrade turns states of an older version and size of the function into its own.
func (i *Instance) Upgrade(ctx context.Context, c *Call, old *States, size, version int) (*States, error) {
	panic("soon")
}

// Emit yields the result rows of a table aggregate's groups, as CallTable does: all of
// them, or what changed since the last Emit when EmitRetract. The states change only then.
func (i *Instance) Emit(ctx context.Context, c *Call, s *States, yield func(*Rows) error) error {
	panic("soon")
}
