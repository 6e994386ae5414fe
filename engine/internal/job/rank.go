package job

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

// rank is the operator that does the work of a Rank by its strategy.
func rank(n *plan.Rank) exec.Operator {
	types := n.Input.Schema().Types()[:n.Width()]
	var order []op.SortKey
	for _, k := range n.Order {
		order = append(order, op.SortKey(k))
	}
	one := op.DeduplicateSpec{Types: types, Key: n.Partition, Order: order, Last: n.KeepsLast(), OmitBefore: !n.EmitUpdateBefore, Spread: spreadBy(n.Input), Retention: op.Retention(n.Retention(0))}
	spec := op.RankSpec{
		Types:      types,
		Partition:  n.Partition,
		Order:      order,
		Function:   op.RankFunction(n.Function),
		From:       n.From,
		To:         n.To,
		ToColumn:   n.ToColumn,
		Identity:   n.Identity,
		Number:     n.Number,
		InPlace:    n.InPlace(),
		OmitBefore: !n.EmitUpdateBefore,
		Spread:     spreadBy(n.Input),
		Retention:  op.Retention(n.Retention(0)),
	}
	switch n.Strategy {
	case plan.RankWindow:
		return windowRank(n)
	case plan.RankArrival:
		return op.NewFirstRows(spec)
	case plan.RankFirstInTime:
		return op.NewFirstInTime(op.FirstInTimeSpec{DeduplicateSpec: one, Watermark: n.Watermark, Strict: n.Strict})
	case plan.RankOne:
		return op.NewDeduplicate(one)
	case plan.RankAppend:
		if spec.Input = op.RankAppend; spec.Few() {
			return op.NewTopN(spec)
		}
	case plan.RankReplacing:
		spec.Input = op.RankReplacing
	case plan.RankUpdating:
		spec.Input = op.RankUpdating
	}
	return op.NewRank(spec)
}

// temporalSort is the operator of a TemporalSort. Rows that are in order as they come
// need none.
func temporalSort(n *plan.TemporalSort) exec.Operator {
	if n.ByArrival() {
		return op.NewUnion(1)
	}
	spec := op.TemporalSortSpec{Types: n.Schema().Types(), Event: n.Time == sqltype.Rowtime, Watermark: n.Watermark}
	for _, k := range n.Order {
		spec.Order = append(spec.Order, op.SortKey(k))
	}
	return op.NewTemporalSort(spec)
}
