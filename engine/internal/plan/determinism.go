package plan

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
)

// checkDeterminism refuses calculations that give another result each time over rows
// that are taken back: what is taken back would not be what was added. A consumer
// that replaces and deletes rows by key is not concerned, since it gets no -U.
func checkDeterminism(n Node) (Node, error) {
	for _, in := range n.Inputs() {
		if _, err := checkDeterminism(in); err != nil {
			return nil, err
		}
	}
	c, ok := n.(*Calc)
	if !ok {
		return n, nil
	}
	mode := c.Input.Traits().Mode
	if !mode.Has(updateBefore) && (!mode.Has(remove) || mode.Has(updateAfter)) {
		return n, nil
	}
	for _, e := range append([]expr.Expr{c.Filter}, c.Exprs...) {
		if e == nil || expr.Deterministic(e) {
			continue
		}
		return nil, errs.New(errs.Changelog, e.Pos(), "%s gives another result when a row is taken back, and %s", e, why(c.Input)).
			WithHint("compute it where rows are only added, or write to a table with a PRIMARY KEY by which rows are replaced")
	}
	return n, nil
}
