package plan

import "github.com/weirdb/weir/engine/internal/expr"

// dropUpdateBefore tells every operator that updates whether its -U are read by
// anyone, from the roots down, and works the modes out again.
func dropUpdateBefore(n Node) (Node, error) {
	need := true
	if s, ok := n.(*Sink); ok {
		need = s.Mode == SinkRetract
	}
	for _, in := range n.Inputs() {
		updateBeforeWanted(in, need)
	}
	return deriveChangelog(n)
}

func updateBeforeWanted(n Node, need bool) {
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
	case *Join, *SetOperation, *Sort, *ToChangelog:
		inputs = true
	}
	for _, in := range n.Inputs() {
		updateBeforeWanted(in, inputs)
	}
}

// filterColumns are the columns that the filter of a Calc reads.
func filterColumns(n *Calc) []int {
	if n.Filter == nil {
		return nil
	}
	return expr.Columns(n.Filter)
}
