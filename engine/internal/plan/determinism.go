package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
)

// checkDeterminism refuses calculations that give another result each time over rows
// that are taken back: what is taken back would not be what was added. A consumer
// that replaces and deletes rows by key is not concerned, since it needs no -U; it may
// get some when another reader of its input does.
func checkDeterminism(roots []Node) error {
	needed, done := updatesWanted(roots), map[Node]bool{}
	var check func(n Node) error
	check = func(n Node) error {
		if done[n] {
			return nil
		}
		done[n] = true
		for _, in := range n.Inputs() {
			if err := check(in); err != nil {
				return err
			}
		}
		switch n := n.(type) {
		case *Calc:
			return n.checkDeterminism(needed[n])
		case *Aggregate:
			return checkAggregates(n.Aggs, n.Input)
		case *WindowAggregate:
			return checkAggregates(n.Aggs, n.Input)
		}
		return nil
	}
	for _, r := range roots {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

func (c *Calc) checkDeterminism(needed bool) error {
	mode := c.Input.Traits().Mode
	if !(needed && mode.Has(updateBefore)) && (!mode.Has(remove) || mode.Has(updateAfter)) {
		return nil
	}
	for _, e := range append([]expr.Expr{c.Filter}, c.Exprs...) {
		if e == nil || expr.Deterministic(e) {
			continue
		}
		return errs.New(errs.Changelog, e.Pos(), "%s gives another result when a row is taken back, and %s", e, why(c.Input)).
			WithHint("compute it where rows are only added, or write to a table with a PRIMARY KEY by which rows are replaced")
	}
	return nil
}

// checkAggregates refuses arguments and conditions of aggregates that are not the same
// when a row is taken away as they were when it was added.
func checkAggregates(aggs []*expr.Aggregate, in Node) error {
	mode := in.Traits().Mode
	if !mode.Has(updateBefore) && !mode.Has(remove) {
		return nil
	}
	for _, a := range aggs {
		es := slices.Clone(a.Args)
		if a.Filter != nil {
			es = append(es, a.Filter)
		}
		for _, e := range es {
			if !expr.Deterministic(e) {
				return errs.New(errs.Changelog, e.Pos(), "%s gives another result when a row is taken back, and %s", e, why(in)).
					WithHint("compute it where rows are only added")
			}
		}
	}
	return nil
}
