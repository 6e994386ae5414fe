package job

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/plan"
)

func (c *compiler) lookupJoin(n *plan.LookupJoin, inputs []exec.Edge) (*exec.Node, error) {
	spec := op.LookupJoinSpec{
		ProbeSpec: op.ProbeSpec{
			Types: n.Input.Schema().Types(), Outer: n.Kind == plan.LeftJoin, Residual: n.Residual, Output: n.Output,
			Updating: !n.InputAppendOnly, Spread: spreadBy(n.Input),
			Watermark: n.Input.Schema().Index(plan.WatermarkColumn) + 1,
		},
		Name: n.Table.ID.Object, Keys: n.Keys, TableKeys: n.TableKeys,
		Source: n.Source, Ask: n.Ask, Whole: n.Whole, Read: n.Read.Types(), Filter: n.Filter, Exprs: n.Exprs,
		Settings: n.Settings, MissRetries: n.MissRetries, MissDelay: n.MissDelay,
	}
	for _, e := range n.Exprs {
		spec.Table = append(spec.Table, e.Type())
	}
	return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewLookupJoin(spec) })
}
