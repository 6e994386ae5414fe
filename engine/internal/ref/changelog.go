package ref

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/engine/sqltype"
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
	case *plan.WindowAggregate, *plan.ToChangelog:
		return true
	case *plan.WindowTable:
		if n.Windows.Kind == window.Session {
			return true
		}
	case *plan.Rank:
		return n.Windowed()
	case *plan.Over:
		if n.Time == sqltype.NoTime {
			return false
		}
	case *plan.Join:
		if once(n) {
			return growing(n.Left)
		}
		if n.Windowed || n.Interval != nil {
			return true
		}
		if n.Kind.PadsLeft() || n.Kind.PadsRight() || n.Kind == plan.AntiJoin {
			return false
		}
	case *plan.Values, *plan.Calc, *plan.Union, *plan.Expand, *plan.Unnest, *plan.Exchange, *plan.WatermarkAssigner, *plan.TemporalJoin, *plan.LookupJoin:
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

// historic reports whether the changes that leave n are those of tables, row by row. Any
// other operator makes changes of its own, and which depends on when epochs end.
func historic(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Scan:
		m := n.Source.Mode()
		return m.InsertOnly() || m.Has(vector.UpdateBefore)
	case *plan.Values:
		return true
	case *plan.Calc, *plan.Union, *plan.Expand, *plan.Exchange, *plan.WatermarkAssigner, *plan.ToChangelog:
	default:
		return growing(n)
	}
	return !slices.ContainsFunc(n.Inputs(), func(in plan.Node) bool { return !historic(in) })
}

// toChangelog has a row for every change that has a code. It knows those of tables, and of
// rows that are never taken away; how others come to what they are is open.
func toChangelog(n *plan.ToChangelog, in table) table {
	out := after(len(n.Schema()), in)
	out.inOrder = in.inOrder
	copy(out.open[1:], in.open)
	if !growing(n.Input) && (!historic(n.Input) || in.kinds == nil || n.Partial && len(n.Keys) == 0) {
		out.some, out.unordered = true, true
		return out
	}
	for i, r := range in.rows {
		kind := in.kind(i)
		at := slices.IndexFunc(n.Codes, func(c plan.OperationCode) bool { return c.Kind == kind })
		if at < 0 {
			continue
		}
		if n.Partial && kind == vector.Delete {
			bare := make(Row, len(r))
			for _, k := range n.Keys {
				bare[k] = r[k]
			}
			r = bare
		}
		out.rows = append(out.rows, append(Row{n.Codes[at].Code}, r...))
	}
	return out
}

// fromChangelog counts how often each row is added and taken away. Updates that do not
// say what they replace replace the last row of their key.
func fromChangelog(n *plan.FromChangelog, in table) (table, error) {
	out := after(len(n.Schema()), in)
	out.some = out.some || slices.Contains(in.open, true)
	if !growing(n.Input) {
		out.some, out.unordered = true, true
		return out, nil
	}
	before, later := false, false
	for _, c := range n.Codes {
		before = before || c.Kind == vector.UpdateBefore
		later = later || c.Kind == vector.UpdateAfter
	}
	byKey := later && !before
	counts, last := map[string]int{}, map[string]int{}
	types, keys := n.Schema().Types(), n.Input.Schema().Project(n.Partition).Types()
	for i, r := range in.rows {
		kind, ok := kindOf(n.Codes, r[n.Code])
		if !ok {
			return out, errs.New(errs.Data, n.Pos(), "no kind of change has the code %s", Text(n.Input.Schema()[n.Code].Type, r[n.Code]))
		}
		k := Key(types, changed(n, r))
		if byKey {
			k = Key(keys, project(r, n.Partition))
			if _, again := last[k]; again {
				out.some = true
				out.ordered(in)
			}
			last[k], counts[k] = i, 0
		}
		if kind.Adds() {
			counts[k]++
		} else if !byKey {
			counts[k]--
		}
	}
	for _, count := range counts {
		if count < 0 { // rows are taken away that are not there: what they come to is open
			out.some, out.unordered = true, true
			return out, nil
		}
	}
	for i, r := range in.rows {
		if kind, _ := kindOf(n.Codes, r[n.Code]); !kind.Adds() {
			continue
		}
		k := Key(types, changed(n, r))
		if byKey {
			if k = Key(keys, project(r, n.Partition)); last[k] != i {
				continue
			}
		}
		if counts[k] > 0 {
			counts[k]--
			out.rows = append(out.rows, changed(n, r))
		}
	}
	return out, nil
}

// changed is the row that a row of the changelog is about.
func changed(n *plan.FromChangelog, r Row) Row {
	return append(append(Row{}, r[:n.Code]...), r[n.Code+1:]...)
}

func kindOf(codes plan.Codes, code any) (vector.RowKind, bool) {
	for _, c := range codes {
		if c.Code == code {
			return c.Kind, true
		}
	}
	return 0, false
}
