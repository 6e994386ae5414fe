package job

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

// over is the operator of an Over.
func over(n *plan.Over) (exec.Operator, error) {
	spec := op.OverSpec{
		Types:     n.Input.Schema().Types()[:n.Width()],
		Partition: n.Partition,
		Spread:    spreadBy(n.Input),
		Retention: op.Retention(n.Retention(0)),
	}
	for _, k := range n.Order {
		spec.Order = append(spec.Order, op.SortKey(k))
	}
	for _, c := range n.Calls {
		call := op.OverCall{Function: op.OverFunction(c.Function), Aggregate: c.Aggregate, N: c.N, T: c.T}
		for _, a := range c.Args {
			call.Args = append(call.Args, a.(*expr.Column).Index)
		}
		call.Frame = op.Frame{Rows: c.Frame.Rows, Start: frameBound(c.Frame.Start), End: frameBound(c.Frame.End)}
		spec.Calls = append(spec.Calls, call)
	}
	if n.Strategy == plan.OverRows {
		updating := !n.Input.Traits().Mode.InsertOnly()
		return op.NewOverRows(op.OverRowsSpec{OverSpec: spec, Updating: updating, OmitBefore: !n.EmitUpdateBefore})
	}
	return op.NewOverTime(op.OverTimeSpec{OverSpec: spec, Event: n.Time == sqltype.Rowtime, Watermark: n.Watermark, Strict: n.Strict})
}

func frameBound(b plan.FrameBound) op.FrameBound {
	return op.FrameBound{Kind: op.FrameBoundKind(b.Kind), Rows: b.Rows, Float: b.Float, Dec: b.Dec}
}
