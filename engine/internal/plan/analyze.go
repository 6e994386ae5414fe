package plan

import "slices"

// Bounded reports whether all that the plan reads comes to an end.
func (p *Plan) Bounded() bool {
	return !slices.ContainsFunc(p.Roots, func(r Node) bool { return !bounded(r) })
}

// WaitsForTime reports whether a node keeps rows until event time has gone on.
func WaitsForTime(n Node) bool {
	t, ok := n.(timed)
	if !ok {
		return false
	}
	if _, assigns := n.(*WatermarkAssigner); assigns {
		return false
	}
	return slices.ContainsFunc(upTo(len(n.Inputs())), func(port int) bool {
		watermarks, _ := t.eventTime(port)
		return watermarks
	})
}

// NeedsInput reports whether nothing leaves n as long as nothing comes from an input.
func NeedsInput(n, input Node) bool {
	j, ok := n.(*Join)
	if !ok {
		return len(n.Inputs()) == 1
	}
	if input == j.Left {
		return j.Kind.LosesRight()
	}
	return j.Kind.LosesLeft()
}

// Load is what a join waits for before it lets its left side go.
type Load struct {
	// Of is the node that is read, or nil for a table that the join reads itself, and Name
	// what that is called.
	Of   Node
	Name string
	// Until says when it is there, as in "it ends".
	Until string
}

// Loads is what n waits for before it lets its left side go, if it does.
func Loads(n Node) (Load, bool) {
	switch n := n.(type) {
	case *Join:
		if n.Snapshot != nil {
			var names []string
			for _, t := range tablesBelow(n.Right, nil) {
				names = append(names, t.ID.Object)
			}
			return Load{Of: n.Right, Name: list(names), Until: n.Snapshot.text()}, true
		}
	case *LookupJoin:
		if n.Whole != nil {
			return Load{Name: n.Table.ID.Object, Until: "it is read"}, true
		}
	}
	return Load{}, false
}
