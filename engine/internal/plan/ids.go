package plan

import (
	"fmt"
	"hash/fnv"
)

// assignIDs names every node by a hash of its place in the plan: state is found
// again by this name after a restart. A place is a path of joins, unions and
// aggregates, so a statement may gain and lose filters, expressions and exchanges
// without any other operator changing its name.
func assignIDs(roots []Node) {
	paths := map[string]int{}
	for _, r := range roots {
		path := r.Op()
		if s, ok := r.(*Sink); ok {
			path = s.Table.ID.String()
		}
		if paths[path]++; paths[path] > 1 {
			path = fmt.Sprintf("%s#%d", path, paths[path])
		}
		assignID(r, path, map[string]int{})
	}
}

// assignID names n. The path leads to the operator above that counts, and chain
// has how many of each kind stand between that one and n.
func assignID(n Node, path string, chain map[string]int) {
	own := fmt.Sprintf("%s/%s", path, n.Op())
	if k := chain[n.Op()]; k > 0 {
		own = fmt.Sprintf("%s#%d", own, k+1)
	}
	chain[n.Op()]++
	h := fnv.New64a()
	h.Write([]byte(own))
	n.Traits().ID = fmt.Sprintf("%016x", h.Sum64())
	switch n.(type) {
	case *Aggregate, *Join, *Union, *SetOperation:
		for i, in := range n.Inputs() {
			assignID(in, fmt.Sprintf("%s[%d]", own, i), map[string]int{})
		}
	default:
		for _, in := range n.Inputs() {
			assignID(in, path, chain)
		}
	}
}
