package state

// insert adds e below root and returns the root, which is another if it was full.
func (t *sortedRows) insert(root int32, e sortedEntry) int32 {
	right := t.insertBelow(root, e)
	if right == 0 {
		return root
	}
	top := t.newNode(true)
	n := t.node(top)
	n.n = 2
	n.child[0], n.child[1] = root, right
	t.copyFirst(n, 0)
	t.copyFirst(n, 1)
	return top
}

// insertBelow adds e below node and returns the new right half of node if it had
// to be split, else 0.
func (t *sortedRows) insertBelow(node int32, e sortedEntry) int32 {
	n := t.node(node)
	i := t.search(n, e)
	if !n.inner {
		return t.put(node, i, e, 0)
	}
	if i > 0 {
		i-- // the child that e belongs to; the first also takes what comes before
	}
	right := t.insertBelow(n.child[i], e)
	t.copyFirst(n, i)
	if right == 0 {
		return 0
	}
	r := t.node(right)
	return t.put(node, i+1, sortedEntry{r.prefix[0], r.id[0]}, right)
}

// search is the number of entries of n before e.
func (t *sortedRows) search(n *sortedNode, e sortedEntry) int32 {
	lo, hi := int32(0), n.n
	for lo < hi {
		mid := (lo + hi) / 2
		p := n.prefix[mid&(fanOut-1)]
		if p < e.prefix || p == e.prefix && t.before(sortedEntry{p, n.id[mid&(fanOut-1)]}, e) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// put inserts an entry at index i of node, splitting it first if it is full.
func (t *sortedRows) put(node, i int32, e sortedEntry, child int32) (right int32) {
	n := t.node(node)
	if n.n == fanOut {
		right = t.newNode(n.inner)
		r := t.node(right)
		r.n = t.moveEntries(r, 0, n, fanOut/2, fanOut)
		n.n = fanOut / 2
		if i > n.n {
			n, i = r, i-n.n
		}
	}
	copy(n.prefix[i+1:], n.prefix[i:n.n])
	copy(n.id[i+1:], n.id[i:n.n])
	n.prefix[i], n.id[i] = e.prefix, e.id
	if n.inner {
		copy(n.child[i+1:], n.child[i:n.n])
		n.child[i] = child
	}
	n.n++
	return right
}

// moveEntries copies entries [from, to) of src to dst at index at.
func (t *sortedRows) moveEntries(dst *sortedNode, at int32, src *sortedNode, from, to int32) int32 {
	copy(dst.prefix[at:], src.prefix[from:to])
	copy(dst.id[at:], src.id[from:to])
	if src.inner {
		copy(dst.child[at:], src.child[from:to])
	}
	return to - from
}

// copyFirst makes entry i of an inner node the first of its child.
func (t *sortedRows) copyFirst(n *sortedNode, i int32) {
	c := t.node(n.child[i])
	n.prefix[i], n.id[i] = c.prefix[0], c.id[0]
}

// delete takes e, which is there, out of what is below node.
func (t *sortedRows) delete(node int32, e sortedEntry) {
	n := t.node(node)
	i := t.search(n, e)
	if !n.inner {
		if i == n.n || n.id[i] != e.id {
			panic("state: a row is missing from its order")
		}
		t.cut(n, i)
		return
	}
	if i == n.n || n.id[i] != e.id {
		i--
	}
	child := n.child[i]
	t.delete(child, e)
	if t.node(child).n == 0 {
		t.unused = append(t.unused, child)
		t.cut(n, i)
		return
	}
	t.copyFirst(n, i)
	t.merge(n, i)
}

func (t *sortedRows) cut(n *sortedNode, i int32) {
	copy(n.prefix[i:], n.prefix[i+1:n.n])
	copy(n.id[i:], n.id[i+1:n.n])
	if n.inner {
		copy(n.child[i:], n.child[i+1:n.n])
	}
	n.n--
}

// merge joins child i of n, if it is nearly empty, with a neighbour that has room.
func (t *sortedRows) merge(n *sortedNode, i int32) {
	if t.node(n.child[i]).n > fanOut/4 || n.n < 2 {
		return
	}
	if i == n.n-1 {
		i--
	}
	l, r := t.node(n.child[i]), t.node(n.child[i+1])
	if l.n+r.n > fanOut*3/4 {
		return
	}
	l.n += t.moveEntries(l, l.n, r, 0, r.n)
	t.unused = append(t.unused, n.child[i+1])
	t.cut(n, i+1)
}

// walk visits the rows below node in order, or backwards, until visit says no.
func (t *sortedRows) walk(node int32, backwards bool, visit func(RowID) bool) bool {
	n := t.node(node)
	for k := range n.n {
		i := k
		if backwards {
			i = n.n - 1 - k
		}
		if n.inner {
			if !t.walk(n.child[i], backwards, visit) {
				return false
			}
		} else if !visit(n.id[i]) {
			return false
		}
	}
	return true
}

// walkFrom visits the rows below node that are not before e, in order.
func (t *sortedRows) walkFrom(node int32, e sortedEntry, visit func(RowID) bool) bool {
	n := t.node(node)
	i := t.search(n, e)
	if n.inner {
		if i > 0 && !t.walkFrom(n.child[i-1], e, visit) {
			return false
		}
		for ; i < n.n; i++ {
			if !t.walk(n.child[i], false, visit) {
				return false
			}
		}
		return true
	}
	for ; i < n.n; i++ {
		if !visit(n.id[i]) {
			return false
		}
	}
	return true
}
