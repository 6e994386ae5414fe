package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/expr"
)

// passUpserts leaves out the normalisation of upsert tables whose changes go to a sink
// that replaces rows by the same key: the sink needs neither the rows that are replaced
// nor, if it says so, more of one that is deleted than its key, and nor does anything
// on the way there. materialize is the session's option.
func passUpserts(materialize string) func([]Node) error {
	return func(roots []Node) error {
		if !slices.ContainsFunc(roots, normalizes) {
			return nil
		}
		if err := deriveChangelog(roots); err != nil {
			return err
		}
		for _, r := range roots {
			if s, ok := r.(*Sink); ok {
				s.passUpserts(materialize)
			}
		}
		return nil
	}
}

// normalizes reports whether there is a Normalize below n.
func normalizes(n Node) bool {
	_, is := n.(*Normalize)
	return is || slices.ContainsFunc(n.Inputs(), normalizes)
}

func (n *Sink) passUpserts(materialize string) {
	takes := n.Target.Mode()
	if !takes.Has(updateAfter) || takes.Has(updateBefore) || len(n.Keys) == 0 || n.materialize(materialize) == "force" {
		return
	}
	p := upsertPath{byKey: takes.DeletesByKey()}
	if in := p.through(n.Input, union(n.Keys)); in != nil && p.passed {
		n.Input, n.upserts = in, true
	}
}

// upsertPath is the way of changes to a consumer that replaces rows by key.
type upsertPath struct {
	byKey  bool // the consumer takes deletions by key
	passed bool // a Normalize was left out
}

// through is n as an upsert changelog by the given key, or nil where it cannot be one:
// an operator on the way would take an update for something else without the row that
// it replaces.
func (p *upsertPath) through(n Node, key []int) Node {
	if n.Traits().Mode.InsertOnly() {
		return n
	}
	switch n := n.(type) {
	case *Normalize:
		in := n.Input
		if hasKey(n, key) && redundantBefore(in, key) && (p.byKey || !in.Traits().Mode.DeletesByKey()) {
			p.passed = true
			return in
		}
	case *Calc:
		return p.calc(n, key)
	case *Join:
		return p.join(n, key)
	}
	if !redundantBefore(n, key) {
		return nil
	}
	return n
}

// calc keeps the key, and its filter does not tell apart the rows of one key.
func (p *upsertPath) calc(n *Calc, key []int) Node {
	below, ok := n.keyBelow(key)
	if !ok || !subset(filterColumns(n), below) {
		return nil
	}
	out := *n
	if out.Input = p.through(n.Input, below); out.Input == nil {
		return nil
	}
	return merge(&out)
}

// join finds partners by columns of the keys of its sides: an update changes none, and
// a deletion has them.
func (p *upsertPath) join(n *Join, key []int) Node {
	if n.byTime() {
		return nil
	}
	if n.Kind != InnerJoin || n.byTime() || n.once() {
		return nil
	}
	for _, l := range n.Left.Traits().Keys {
		for _, r := range n.Right.Traits().Keys {
			if !n.identifies(l, r, key) || !n.keepsPartners(l, r) {
				continue
			}
			passed := p.passed
			left, right := p.through(n.Left, l.Columns), p.through(n.Right, r.Columns)
			if left == nil || right == nil {
				p.passed = passed
				continue
			}
			out := *n
			out.Left, out.Right, out.Upsert, out.LeftUnique, out.RightUnique = left, right, true, l.Columns, r.Columns
			return &out
		}
	}
	return nil
}

// identifies reports whether the given columns of the output tell apart pairs of rows
// that have keys l and r.
func (n *Join) identifies(l, r Key, key []int) bool {
	right := n.shifted(r.Columns)
	is := func(pair []int) bool {
		cols, ok := n.visible(pair)
		cols = union(cols)
		return ok && len(cols) == len(key) && subset(cols, key)
	}
	return l.Ordered && r.Ordered && (is(union(l.Columns, right)) ||
		subset(l.Columns, n.LeftKeys) && is(right) || subset(r.Columns, n.RightKeys) && is(l.Columns))
}

// keepsPartners reports whether rows of a side that changes have the partners of those
// that they replace: whether keys l and r have all that they are found by.
func (n *Join) keepsPartners(l, r Key) bool {
	if !n.Left.Traits().Mode.InsertOnly() && !subset(n.LeftKeys, l.Columns) || !n.Right.Traits().Mode.InsertOnly() && !subset(n.RightKeys, r.Columns) {
		return false
	}
	return n.Residual == nil || subset(expr.Columns(n.Residual), union(l.Columns, n.shifted(r.Columns)))
}

// DeleteColumns are the columns of the input that a -D has, if it may have no others.
func (n *Calc) DeleteColumns() (cols []int, byKey bool) {
	t := n.Input.Traits()
	for _, k := range t.Keys {
		cols = union(cols, k.Columns)
	}
	return cols, t.Mode.DeletesByKey()
}
