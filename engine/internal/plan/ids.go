package plan

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// assignIDs names every node by a hash of its place in the plan: state is found
// again by this name after a restart. A place is a path of joins, unions and
// aggregates, so a statement may gain and lose filters, expressions and exchanges
// without any other operator changing its name. A node that is shared has the first
// of its places, by the names of the tables that are written: in which order a
// statement set has them does not matter.
func assignIDs(roots []Node) {
	paths := map[string]int{}
	type rooted struct {
		path string
		root Node
	}
	var all []rooted
	for _, r := range roots {
		path := r.Op()
		if s, ok := r.(*Sink); ok {
			path = s.Table.ID.String()
		}
		if paths[path]++; paths[path] > 1 {
			path = fmt.Sprintf("%s#%d", path, paths[path])
		}
		all = append(all, rooted{path, r})
	}
	slices.SortFunc(all, func(a, b rooted) int { return strings.Compare(a.path, b.path) })
	named := map[Node]bool{}
	for _, r := range all {
		assignID(r.root, r.path, map[string]int{}, named)
	}
}

// assignID names n. The path leads to the operator above that counts, and chain
// has how many of each kind stand between that one and n. Nodes
// that are named keep their names.
func assignID(n Node, path string, chain map[string]int, named map[Node]bool) {
	if named[n] {
		return
	}
	named[n] = true
	own := fmt.Sprintf("%s/%s", path, n.Op())
	if k := chain[n.Op()]; k > 0 {
		own = fmt.Sprintf("%s#%d", own, k+1)
	}
	chain[n.Op()]++
	h := fnv.New64a()
	h.Write([]byte(own))
	n.Traits().ID = fmt.Sprintf("%016x", h.Sum64())
	switch n.(type) {
	case *Aggregate, *WindowAggregate, *Join, *LookupJoin, *TemporalJoin, *Union, *SetOperation:
		for i, in := range n.Inputs() {
			assignID(in, fmt.Sprintf("%s[%d]", own, i), map[string]int{}, named)
		}
	default:
		for _, in := range n.Inputs() {
			assignID(in, path, chain, named)
		}
	}
}
