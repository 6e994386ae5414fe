package plan

// check refuses what has a plan but no operator yet.
func check(n Node) (Node, error) {
	for _, in := range n.Inputs() {
		if _, err := check(in); err != nil {
			return nil, err
		}
	}
	if j, ok := n.(*Join); ok && len(j.LeftKeys) == 0 {
		return nil, unsupported(j.at, "a join without an equality of its two sides is").
			WithHint("add a condition a.x = b.y to ON or WHERE")
	}
	return n, nil
}
