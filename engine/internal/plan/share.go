package plan

import (
	"maps"
	"slices"

	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
)

// shareScans makes a statement read every table once: scans of a table get the columns
// that any of them reads, each below a projection to its own. Normalised tables, which
// have state, are treated alike.
func shareScans(roots []Node) {
	var leaves []Node
	seek(roots, func(_ Node, _ int, n Node) {
		if table(n) != nil && !slices.ContainsFunc(leaves, func(l Node) bool { return sameLeaf(l, n) }) {
			leaves = append(leaves, n)
		}
	})
	for _, leaf := range leaves {
		var cols []int
		seek(roots, func(_ Node, _ int, n Node) {
			if sameLeaf(leaf, n) {
				cols = union(cols, table(n).Columns)
			}
		})
		seek(roots, func(above Node, i int, n Node) {
			if sameLeaf(leaf, n) && !slices.Equal(table(n).Columns, cols) {
				at := positions(table(n).Columns, cols)
				above.setInput(i, widened(n, cols))
				project(above, i, at)
			}
		})
	}
}

// seek calls f for every input of every node below the roots, which are a forest.
func seek(roots []Node, f func(above Node, i int, n Node)) {
	for _, r := range roots {
		for i, in := range r.Inputs() {
			if table(in) == nil {
				seek([]Node{in}, f)
			}
			f(r, i, in)
		}
	}
}

// table is the scan of a node that is a table as it is read: a Scan, or one that is
// normalised.
func table(n Node) *Scan {
	switch n := n.(type) {
	case *Scan:
		return n
	case *Normalize:
		s, _ := n.Input.(*Scan)
		return s
	}
	return nil
}

// sameLeaf reports whether two nodes are one table, maybe with different columns, or
// with a condition on the key between the scan and what is kept.
func sameLeaf(a, b Node) bool {
	return table(a) != nil && table(b) != nil && sameTable(table(a).Table, table(b).Table)
}

func sameTable(a, b *catalog.Table) bool {
	return a == b || a.ID == b.ID && a.Temporary == b.Temporary && maps.Equal(a.Declaration.Options, b.Declaration.Options)
}

// widened is a table with the given columns.
func widened(n Node, cols []int) Node {
	s := table(n)
	wide := newScan(s.Table, s.Source, cols, s.at)
	if nz, ok := n.(*Normalize); ok {
		return newNormalize(wide, positions(pick(s.Columns, nz.Keys), cols))
	}
	return wide
}

// project lets a node see the given columns of its input only, in their order.
func project(n Node, input int, cols []int) {
	c, ok := n.(*Calc)
	if !ok {
		n.setInput(input, newProjection(n.Inputs()[input], cols))
		return
	}
	moved := func(i int) int { return cols[i] }
	for i, e := range c.Exprs {
		c.Exprs[i] = expr.Remap(e, moved)
	}
	if c.Filter != nil {
		c.Filter = expr.Remap(c.Filter, moved)
	}
}

// share makes equal sub-plans one node, which is then computed once for all that
// read it. The forest becomes a directed graph without circles.
//
// What an expression makes of the moment, or of chance, is another value in every
// place where the statement has it: such a Calc or Aggregate is never shared, nor is
// anything above it. Names of columns do not tell sub-plans apart.
func share(roots []Node) {
	s := sharer{map[place][]Node{}}
	for _, r := range roots {
		for i, in := range r.Inputs() {
			r.setInput(i, s.node(in))
		}
	}
}

// sharer knows the nodes met so far, by where nodes that are equal have to be.
type sharer struct{ known map[place][]Node }

type place struct {
	op    string
	input Node // the first one
}

func (s sharer) node(n Node) Node {
	at := place{op: n.Op()}
	for i, in := range n.Inputs() {
		in = s.node(in)
		n.setInput(i, in)
		if i == 0 {
			at.input = in
		}
	}
	for _, have := range s.known[at] {
		if equalNodes(have, n) {
			return have
		}
	}
	s.known[at] = append(s.known[at], n)
	return n
}

// equalNodes reports whether two nodes give the same rows. Equal inputs are one node
// already.
func equalNodes(a, b Node) bool {
	if *a.retentions() != *b.retentions() || !slices.Equal(a.Inputs(), b.Inputs()) || !slices.EqualFunc(a.Schema().Types(), b.Schema().Types(), sameType) {
		return false
	}
	switch a := a.(type) {
	case *Scan:
		b, ok := b.(*Scan)
		return ok && sameTable(a.Table, b.Table) && slices.Equal(a.Columns, b.Columns)
	case *WatermarkAssigner:
		b, ok := b.(*WatermarkAssigner)
		return ok && a.Column == b.Column && a.Hidden == b.Hidden && equalConditions(a.Expr, b.Expr)
	case *Values:
		b, ok := b.(*Values)
		return ok && slices.EqualFunc(a.Rows, b.Rows, equalExprs)
	case *Calc:
		b, ok := b.(*Calc)
		return ok && equalConditions(a.Filter, b.Filter) && equalExprs(a.Exprs, b.Exprs)
	case *Union:
		_, ok := b.(*Union)
		return ok
	case *Aggregate:
		b, ok := b.(*Aggregate)
		return ok && slices.Equal(a.Keys, b.Keys) && slices.EqualFunc(a.Aggs, b.Aggs, sameAggregate)
	case *WindowTable:
		b, ok := b.(*WindowTable)
		return ok && a.Windows == b.Windows && a.Time == b.Time && a.Watermark == b.Watermark && slices.Equal(a.Partition, b.Partition) && slices.Equal(a.Forward, b.Forward)
	case *WindowAggregate:
		b, ok := b.(*WindowAggregate)
		return ok && a.Windows == b.Windows && a.Time == b.Time && a.Start == b.Start && a.End == b.End && a.Watermark == b.Watermark &&
			slices.Equal(a.Keys, b.Keys) && slices.EqualFunc(a.Aggs, b.Aggs, sameAggregate)
	case *Limit:
		b, ok := b.(*Limit)
		return ok && a.Offset == b.Offset && a.Count == b.Count
	case *Sort:
		b, ok := b.(*Sort)
		return ok && a.Offset == b.Offset && a.Count == b.Count && a.AtEnd == b.AtEnd && slices.Equal(a.Order, b.Order)
	case *TemporalSort:
		b, ok := b.(*TemporalSort)
		return ok && a.Time == b.Time && a.Watermark == b.Watermark && slices.Equal(a.Order, b.Order)
	case *Rank:
		b, ok := b.(*Rank)
		return ok && a.Function == b.Function && a.Strict == b.Strict && a.From == b.From && a.To == b.To && a.ToColumn == b.ToColumn && a.Number == b.Number && a.Watermark == b.Watermark &&
			a.Time == b.Time && slices.Equal(a.Partition, b.Partition) && slices.Equal(a.Order, b.Order)
	case *Over:
		b, ok := b.(*Over)
		return ok && a.Time == b.Time && a.Watermark == b.Watermark && a.Strict == b.Strict && slices.Equal(a.Partition, b.Partition) && slices.Equal(a.Order, b.Order) &&
			slices.EqualFunc(a.Calls, b.Calls, func(x, y OverCall) bool { return x.same(&y) })
	case *Expand:
		b, ok := b.(*Expand)
		return ok && slices.Equal(a.Keys, b.Keys) && slices.Equal(a.Forward, b.Forward) && slices.EqualFunc(a.Sets, b.Sets, slices.Equal)
	case *Unnest:
		b, ok := b.(*Unnest)
		return ok && a.Outer == b.Outer && a.Ordinality == b.Ordinality && slices.Equal(a.Collections, b.Collections) && slices.Equal(a.Forward, b.Forward)
	case *Join:
		b, ok := b.(*Join)
		return ok && a.Kind == b.Kind && slices.Equal(a.LeftKeys, b.LeftKeys) && slices.Equal(a.RightKeys, b.RightKeys) &&
			slices.Equal(a.NullSafe, b.NullSafe) && slices.Equal(a.Output, b.Output) && equalConditions(a.Residual, b.Residual) &&
			a.Upsert == b.Upsert && a.Windowed == b.Windowed && a.Interval.equal(b.Interval) && a.Snapshot.equal(b.Snapshot) && a.Lateness == b.Lateness && slices.Equal(a.LeftUnique, b.LeftUnique) && slices.Equal(a.RightUnique, b.RightUnique)
	case *LookupJoin:
		return false // each asks for itself
	case *TemporalJoin:
		b, ok := b.(*TemporalJoin)
		return ok && a.equal(b) && equalNodes(&a.Join, &b.Join)
	case *SetOperation:
		b, ok := b.(*SetOperation)
		return ok && a.Except == b.Except && a.All == b.All
	case *ToChangelog:
		b, ok := b.(*ToChangelog)
		return ok && slices.Equal(a.Codes, b.Codes) && slices.Equal(a.Partition, b.Partition) && a.Partial == b.Partial && slices.Equal(a.Keys, b.Keys)
	case *FromChangelog:
		b, ok := b.(*FromChangelog)
		return ok && slices.Equal(a.Codes, b.Codes) && a.Code == b.Code && slices.Equal(a.Partition, b.Partition)
	case *Exchange:
		b, ok := b.(*Exchange)
		return ok && a.Kind == b.Kind && slices.Equal(a.Keys, b.Keys)
	case *Normalize:
		b, ok := b.(*Normalize)
		return ok && slices.Equal(a.Keys, b.Keys)
	case *Materialize:
		b, ok := b.(*Materialize)
		return ok && a.Keep == b.Keep && slices.Equal(a.Keys, b.Keys)
	case *Consolidate:
		b, ok := b.(*Consolidate)
		return ok && slices.Equal(a.Keys, b.Keys)
	}
	return false
}

func equalExprs(a, b []expr.Expr) bool { return slices.EqualFunc(a, b, equalConditions) }

// equalConditions reports whether two expressions, or none, always have one value.
func equalConditions(a, b expr.Expr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return expr.Equal(a, b) && expr.Deterministic(a)
}

// sameAggregate is equalAggregates of those that are deterministic.
func sameAggregate(a, b *expr.Aggregate) bool {
	return equalAggregates(a, b) && equalExprs(a.Args, b.Args) && equalConditions(a.Filter, b.Filter)
}

func sameType(a, b sqltype.Type) bool { return a.Equal(b) && a.NotNull == b.NotNull }

// Consumers counts for every node below the roots how many inputs it is: more than
// one when it is shared.
func Consumers(roots []Node) map[Node]int {
	count := map[Node]int{}
	var walk func(n Node)
	walk = func(n Node) {
		for _, in := range n.Inputs() {
			if count[in]++; count[in] == 1 {
				walk(in)
			}
		}
	}
	for _, r := range roots {
		walk(r)
	}
	return count
}
