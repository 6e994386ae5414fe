package engine

import (
	"fmt"

	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/plan"
)

// figure is one of the figures that operators of some kinds have, or 0.
func (f *figures) figure(name string) int64 {
	for _, have := range f.Figures {
		if have.Name == name {
			return have.Value
		}
	}
	return 0
}

// loading lists the tables that are read before the rows that are joined with them are let
// go, and are not there yet.
func (a *analysis) loading(roots []plan.Node) []LoadMetrics {
	var out []LoadMetrics
	done := map[plan.Node]bool{}
	var walk func(n plan.Node)
	walk = func(n plan.Node) {
		if done[n] {
			return
		}
		done[n] = true
		if f, l, ok := a.load(n); ok {
			out = append(out, LoadMetrics{Table: l.Name, Until: l.Until, RowsRead: f.figure(op.RowsLoaded), RowsWaiting: f.figure(op.RowsWaiting)})
		}
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	for _, r := range roots {
		walk(r)
	}
	return out
}

// load is what a node still loads.
func (a *analysis) load(n plan.Node) (*figures, plan.Load, bool) {
	f := a.nodes[n.Traits().ID]
	l, ok := plan.Loads(n)
	return f, l, ok && f != nil && f.figure(op.Loading) > 0
}

// loads says what a node still loads: how far that is, and what it waits for.
func (a *analysis) loads(n plan.Node) []string {
	f, l, ok := a.load(n)
	if !ok {
		return nil
	}
	text := fmt.Sprintf("loading: %s of %s read, waits until %s", rows(f.figure(op.RowsLoaded)), l.Name, l.Until)
	of := l.Of
	for of != nil && a.nodes[of.Traits().ID] == nil && len(of.Inputs()) == 1 { // an Exchange
		of = of.Inputs()[0]
	}
	if of == nil {
		return []string{text}
	}
	if held := a.heldBack(a.nodes[of.Traits().ID]); held != "" {
		text += "; its event time waits for " + held
	}
	return []string{text}
}
