package plan

// check refuses what has a plan but no operator yet.
func check(n Node) (Node, error) {
	for _, in := range n.Inputs() {
		if _, err := check(in); err != nil {
			return nil, err
		}
	}
	switch n := n.(type) {
	case *Join:
		if len(n.LeftKeys) == 0 {
			return nil, unsupported(n.at, "a join without an equality of its two sides is").
				WithHint("add a condition a.x = b.y to ON or WHERE")
		}
	case *Normalize:
		scan := n.Input
		for len(scan.Inputs()) > 0 {
			scan = scan.Inputs()[0]
		}
		return nil, unsupported(n.at, "an upsert source (%s, whose updates lack the row they replace) is", scan.(*Scan).Table.ID.Object)
	}
	return n, nil
}
