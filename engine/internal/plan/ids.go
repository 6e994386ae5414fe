package plan

import (
	"fmt"
	"hash/fnv"
)

// assignIDs names every node by a hash of its place in the plan. Operators that keep
// state are found again after a restart by this name, so stateless ones, which a
// change of the statement adds and removes easily, do not count in the path of those
// below them.
func assignIDs(roots []Node) {
	seen := map[string]bool{}
	for i, r := range roots {
		path := fmt.Sprintf("%d", i)
		if s, ok := r.(*Sink); ok {
			path = s.Table.ID.String()
			for k := 2; seen[path]; k++ {
				path = fmt.Sprintf("%s#%d", s.Table.ID, k)
			}
			seen[path] = true
		}
		assignID(r, path, 0)
	}
}

// assignID names n. The path leads to the nearest operator above that counts, and n
// is the depth-th below that one.
func assignID(n Node, path string, depth int) {
	own := fmt.Sprintf("%s/%s#%d", path, n.Op(), depth)
	switch n.(type) {
	case *Calc, *Exchange:
		depth++
	default:
		own = path + "/" + n.Op()
		path, depth = own, 0
	}
	h := fnv.New64a()
	h.Write([]byte(own))
	n.Traits().ID = fmt.Sprintf("%016x", h.Sum64())
	for i, in := range n.Inputs() {
		below := path
		if len(n.Inputs()) > 1 {
			below = fmt.Sprintf("%s[%d]", path, i)
		}
		assignID(in, below, depth)
	}
}
