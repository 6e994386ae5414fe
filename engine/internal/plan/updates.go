package plan

import "github.com/weirdb/weir/engine/internal/expr"

// dropUpdateBefore tells every operator that updates whether its -U are read by
// anyone, from the roots down, and works the modes out again.
func dropUpdateBefore(roots []Node) error {
	updatesWanted(roots)
	return deriveChangelog(roots)
}

// wanted says of the nodes that were visited whether anyone needs their -U. What one
// consumer of a shared node needs, all of them get.
type wanted map[Node]bool

func updatesWanted(roots []Node) wanted {
	w := wanted{}
	for _, r := range roots {
		need := true
		if s, ok := r.(*Sink); ok {
			need = s.Mode == SinkRetract
		}
		for _, in := range r.Inputs() {
			w.node(in, need)
		}
	}
	return w
}

func (w wanted) node(n Node, need bool) {
	before, visited := w[n]
	if visited && (before || !need) {
		return
	}
	w[n] = need
	inputs := need
	switch n := n.(type) {
	case *Aggregate:
		n.EmitUpdateBefore, inputs = need, true
	case *Materialize:
		n.EmitUpdateBefore, inputs = need, true
	case *Consolidate:
		n.EmitUpdateBefore, inputs = need, true
	case *Normalize:
		n.EmitUpdateBefore, inputs = need, false
	case *Rank:
		n.EmitUpdateBefore, inputs = need, n.Strategy != RankReplacing
	case *Over:
		n.EmitUpdateBefore, inputs = need, true
	case *WindowTable:
		inputs = need || n.session()
	case *TemporalJoin:
		w.node(n.Left, true)
		w.node(n.Right, false) // a version ends when another begins
		return
	case *Join:
		inputs = !n.Upsert
	case *LookupJoin, *Unnest, *SetOperation, *Sort, *ToChangelog, *WindowAggregate:
		inputs = true
	}
	for _, in := range n.Inputs() {
		w.node(in, inputs)
	}
}

// filterColumns are the columns that the filter of a Calc reads.
func filterColumns(n *Calc) []int {
	if n.Filter == nil {
		return nil
	}
	return expr.Columns(n.Filter)
}
