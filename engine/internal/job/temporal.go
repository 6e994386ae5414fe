package job

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

func (c *compiler) temporalJoin(n *plan.TemporalJoin, inputs []exec.Edge) (*exec.Node, error) {
	spec := op.TemporalJoinSpec{
		Left: op.TemporalSide{
			Types: n.Left.Schema().Types(), Keys: n.LeftKeys, Time: n.Time, Watermark: n.HiddenColumn(0),
			Updating: !n.LeftAppendOnly, Spread: spreadBy(n.Left),
		},
		Right: op.TemporalSide{
			Types: n.Right.Schema().Types(), Keys: n.RightKeys, Time: n.Version, Watermark: n.HiddenColumn(1),
			Updating: !n.RightAppendOnly, Spread: spreadBy(n.Right),
		},
		NullSafe: n.NullSafe, Outer: n.Kind == plan.LeftJoin, Replacing: n.Replacing(), Residual: n.Residual, Output: n.Output,
		Retention: op.Retention(n.Retention(1)),
	}
	return c.operator(n, inputs, func() (exec.Operator, error) {
		if n.Attr == sqltype.Proctime {
			return op.NewLatestJoin(spec)
		}
		return op.NewTemporalJoin(spec)
	})
}
