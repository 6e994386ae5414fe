package job

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/plan"
)

func (c *compiler) snapshotJoin(n *plan.Join, inputs []exec.Edge) (*exec.Node, error) {
	spec := op.SnapshotJoinSpec{
		ProbeSpec: op.ProbeSpec{
			Types: n.Left.Schema().Types(), Table: n.Right.Schema().Types(), Outer: n.Kind == plan.LeftJoin,
			Residual: n.Residual, Output: n.Output, Updating: !n.LeftAppendOnly, Spread: spreadBy(n.Left),
			Watermark: n.Left.Schema().Index(plan.WatermarkColumn) + 1,
		},
		Keys: n.LeftKeys, TableKeys: n.RightKeys, NullSafe: n.NullSafe,
		TableUpdating: !n.RightAppendOnly, TableSpread: spreadBy(n.Right),
		Until: n.Snapshot.Until, AtStart: n.Snapshot.AtStart, Zone: n.Snapshot.Zone, Idle: n.Snapshot.Idle, Retention: op.Retention(n.Retention(1)),
	}
	return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewSnapshotJoin(spec) })
}
