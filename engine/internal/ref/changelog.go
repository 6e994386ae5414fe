package ref

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/vector"
)

// growing reports whether rows of n's table are never taken away: its rows then are
// its history, but for the order.
func growing(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Scan:
		if !n.Source.Mode().InsertOnly() {
			return false
		}
	case *plan.Join:
		if n.Kind.PadsLeft() || n.Kind.PadsRight() || n.Kind == plan.AntiJoin {
			return false
		}
	case *plan.Values, *plan.Calc, *plan.Union, *plan.Expand, *plan.Exchange, *plan.ToChangelog:
	default:
		return false
	}
	for _, in := range n.Inputs() {
		if !growing(in) {
			return false
		}
	}
	return true
}

// toChangelog knows the history of a table that only grows.
func toChangelog(n *plan.ToChangelog, in []Row) ([]Row, error) {
	if !growing(n.Input) {
		return nil, unsupported(n, "history of a table that changes")
	}
	for _, c := range n.Codes {
		if c.Kind != vector.Insert {
			continue
		}
		out := make([]Row, len(in))
		for i, r := range in {
			out[i] = append(Row{c.Code}, r...)
		}
		return out, nil
	}
	return nil, nil
}

// fromChangelog counts how often each row is added and taken away. Of updates that do
// not say what they replace it does not know the order.
func fromChangelog(n *plan.FromChangelog, in []Row) ([]Row, error) {
	if !growing(n.Input) {
		return nil, unsupported(n, "history of a table that changes")
	}
	before, after := false, false
	for _, c := range n.Codes {
		before = before || c.Kind == vector.UpdateBefore
		after = after || c.Kind == vector.UpdateAfter
	}
	if after && !before {
		return nil, unsupported(n, "order of updates by key")
	}
	types := n.Schema().Types()
	counts := map[string]int{}
	var rows []Row
	for _, r := range in {
		kind, ok := kindOf(n.Codes, r[n.Code])
		if !ok {
			return nil, errs.New(errs.Data, n.Pos(), "no kind of change has the code %s", Text(n.Input.Schema()[n.Code].Type, r[n.Code]))
		}
		row := append(append(Row{}, r[:n.Code]...), r[n.Code+1:]...)
		if kind.Adds() {
			counts[Key(types, row)]++
			rows = append(rows, row)
		} else {
			counts[Key(types, row)]--
		}
	}
	for _, count := range counts {
		if count < 0 {
			return nil, unsupported(n, "table that rows are taken from which it has not")
		}
	}
	var out []Row
	for _, r := range rows {
		if k := Key(types, r); counts[k] > 0 {
			counts[k]--
			out = append(out, r)
		}
	}
	return out, nil
}

func kindOf(codes plan.Codes, code any) (vector.RowKind, bool) {
	for _, c := range codes {
		if c.Code == code {
			return c.Kind, true
		}
	}
	return 0, false
}
