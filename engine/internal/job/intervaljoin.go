package job

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

func (c *compiler) intervalJoin(n *plan.Join, inputs []exec.Edge) (*exec.Node, error) {
	i := n.Interval
	spec := op.IntervalJoinSpec{
		JoinSpec: op.JoinSpec{
			Left:     joinSide(n.Left, n.LeftKeys, true, false, nil),
			Right:    joinSide(n.Right, n.RightKeys, true, false, nil),
			NullSafe: n.NullSafe, Residual: n.Residual, Output: n.Output,
		},
		Kind: windowJoinKind(n.Kind), Lower: i.Lower, Upper: i.Upper, Processing: i.Attr == sqltype.Proctime,
		Sides: [2]op.TimeSide{{Time: i.Left, Watermark: n.HiddenColumn(0)}, {Time: i.Right, Watermark: n.HiddenColumn(1)}},
	}
	return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewIntervalJoin(spec) })
}
