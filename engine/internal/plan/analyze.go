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
