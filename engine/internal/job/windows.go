package job

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/engine/sqltype"
)

// windowSpec says which windows the rows of an input are in.
func windowSpec(w plan.Windows, time, start, end, watermark int) op.WindowSpec {
	s := op.WindowSpec{
		Assigner: w.Assigner, Processing: w.Attr == sqltype.Proctime, Instant: w.Instant,
		Time: time, Start: start, End: end, Watermark: watermark,
	}
	if w.Instant {
		s.Zone = window.NewZone(w.Zone)
	}
	return s
}

func (c *compiler) windowTable(n *plan.WindowTable, inputs []exec.Edge) (*exec.Node, error) {
	spec := op.WindowTableSpec{
		Types: n.Input.Schema().Types(), Window: windowSpec(n.Windows, n.Time, -1, -1, n.Watermark), Forward: n.Forward,
	}
	if n.Windows.Kind == window.Session {
		return c.operator(n, inputs, func() (exec.Operator, error) {
			return op.NewSessionTable(op.SessionTableSpec{WindowTableSpec: spec, Partition: n.Partition, Updating: !n.InputAppendOnly, Spread: spreadBy(n.Input)}), nil
		})
	}
	spec.Hidden = n.Watermark >= 0
	return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewWindowTable(spec), nil })
}

func (c *compiler) windowAggregate(n *plan.WindowAggregate, inputs []exec.Edge) (*exec.Node, error) {
	spec := op.WindowAggregateSpec{
		Input: n.Input.Schema().Types(), Window: windowSpec(n.Windows, n.Time, n.Start, n.End, n.Watermark),
		Keys: n.Keys, Calls: n.Aggs, Updating: !n.InputAppendOnly, Spread: spreadBy(n.Input),
	}
	return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewWindowAggregate(spec) })
}

func (c *compiler) windowJoin(n *plan.Join, inputs []exec.Edge) (*exec.Node, error) {
	spec := op.WindowJoinSpec{
		JoinSpec: op.JoinSpec{
			Left:     joinSide(n.Left, n.LeftKeys, n.LeftAppendOnly, false, nil),
			Right:    joinSide(n.Right, n.RightKeys, n.RightAppendOnly, false, nil),
			NullSafe: n.NullSafe, Residual: n.Residual, Output: n.Output,
		},
		Kind: windowJoinKind(n.Kind),
	}
	for i := range spec.Windows {
		start, end := n.WindowBounds(i)
		spec.Windows[i] = windowSpec(n.Windows, -1, start, end, n.HiddenColumn(i))
	}
	return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewWindowJoin(spec) })
}

func windowJoinKind(k plan.JoinKind) op.JoinKind {
	switch k {
	case plan.LeftJoin:
		return op.LeftJoin
	case plan.RightJoin:
		return op.RightJoin
	case plan.FullJoin:
		return op.FullJoin
	case plan.SemiJoin:
		return op.SemiJoin
	case plan.AntiJoin:
		return op.AntiJoin
	}
	return op.InnerJoin
}

func windowRank(n *plan.Rank) exec.Operator {
	w, start, end := n.Windows()
	spec := op.WindowRankSpec{
		Types: n.Input.Schema().Types(), Window: windowSpec(w, -1, start, end, n.Watermark),
		Partition: n.Partition, Function: op.RankFunction(n.Function), From: n.From, To: n.To, ToColumn: n.ToColumn,
		KeepsLast: n.KeepsLast(), Number: n.Number, Updating: !n.Input.Traits().Mode.InsertOnly(), Spread: spreadBy(n.Input),
	}
	for _, k := range n.Order {
		spec.Order = append(spec.Order, op.SortKey(k))
	}
	for c := range n.Width() {
		spec.Output = append(spec.Output, c)
	}
	return op.NewWindowRank(spec)
}
