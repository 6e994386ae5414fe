package parse

// fold adds a piece to the skeleton. What needs no grammar once its parts are
// whole operands becomes an operand itself while the skeleton is put together:
// lists, rows, calls, items with an alias, and comparisons between keywords. A
// statement has many of them, and vitess takes its time with each token. What the
// operand stands for is noted in the marks, see mark.args.
func (f *fragment) fold(s *skeleton, tok int, p piece) {
	f.foldEnd(s, p.kind)
	if p.kind != pieceClose || !f.foldCall(s) && !f.foldRow(s, tok) {
		s.push(tok, p)
	}
}

// foldEnd folds what certainly ends where a piece of this kind comes next.
func (f *fragment) foldEnd(s *skeleton, next pieceKind) {
	if next >= pieceAnd {
		f.foldComparison(s)
	}
	if next >= pieceComma {
		f.foldAlias(s)
		f.foldList(s)
	}
}

// foldComparison folds a comparison of two operands. Where it begins has to be
// certain: AND may be that of BETWEEN, unless another comparison is before it.
func (f *fragment) foldComparison(s *skeleton) {
	op := s.kind(2)
	if s.kind(1) != pieceLeaf || op < pieceEqual || op > pieceGreaterOrEqual || s.kind(3) != pieceLeaf {
		return
	}
	n := len(*s)
	switch s.kind(4) {
	case pieceWhere, pieceHaving, pieceOn, pieceOr, pieceWhen, pieceOpen, pieceComma:
	case pieceAnd:
		if s.kind(5) != pieceLeaf {
			return
		}
		if _, ok := f.marks[(*s)[n-5].number].node.(*Binary); !ok {
			return
		}
	default:
		return
	}
	left, right := (*s)[n-3].number, (*s)[n-1].number
	f.marks[left].next = right
	*s = (*s)[:n-2]
	f.foldInto(s, &Binary{Op: BinaryOp(pieceTexts[op])}, f.marks[left].first, f.marks[right].last)
}

// foldAlias folds an item of SELECT and its alias.
func (f *fragment) foldAlias(s *skeleton) {
	if s.kind(1) != pieceName {
		return
	}
	name := (*s)[len(*s)-1]
	item := 2
	if s.kind(item) == pieceAs {
		item++
	}
	if s.kind(item) != pieceLeaf || f.in(int(name.tok)) != inSelect {
		return
	}
	switch s.kind(item + 1) {
	case pieceSelect, pieceDistinct, pieceComma:
		*s = (*s)[:len(*s)-item+1]
		first := f.marks[(*s)[len(*s)-1].number].first
		f.foldInto(s, &aliasMark{name.number}, first, f.marks[name.number].last)
	}
}

// foldList puts the last item of a list together with those before it. They are
// one operand in the text, and a chain of marks.
func (f *fragment) foldList(s *skeleton) {
	if s.kind(1) != pieceLeaf || s.kind(2) != pieceComma || s.kind(3) != pieceLeaf {
		return
	}
	switch s.kind(4) {
	case pieceOpen, pieceComma, pieceSelect, pieceDistinct, pieceBy:
		n := len(*s)
		list, item := &(*s)[n-3], &(*s)[n-1]
		f.marks[list.tail].next = item.number
		list.tail = item.number
		*s = (*s)[:n-2]
	}
}

// foldCall folds a call, whose bracket closes here.
func (f *fragment) foldCall(s *skeleton) bool {
	args, open := int32(-1), 1
	if s.kind(1) == pieceLeaf {
		args, open = (*s)[len(*s)-1].number, 2
	}
	if s.kind(open) != pieceOpen || s.kind(open+1) != pieceName {
		return false
	}
	call := &(*s)[len(*s)-open-1]
	m := &f.marks[call.number]
	switch m.node.(type) {
	case Name, *Alias, *TableFunction, *Unnest:
		return false // no operands
	}
	call.kind = pieceLeaf
	m.args, m.folded = args, true
	*s = (*s)[:len(*s)-open]
	return true
}

// foldRow folds a list in brackets, which ends with token end.
func (f *fragment) foldRow(s *skeleton, end int) bool {
	if s.kind(1) != pieceLeaf || s.kind(2) != pieceOpen || s.kind(3) == pieceName || s.kind(3) == pieceIn {
		return false
	}
	n := len(*s)
	list, open := (*s)[n-1], (*s)[n-2]
	if list.tail == list.number {
		return false
	}
	first := int(open.tok)
	*s = append((*s)[:n-2], list)
	f.foldInto(s, &Row{Place: Place{f.tokPos(first)}}, first, end)
	return true
}

// foldInto makes the last part the operand that node stands for. Its mark, and
// those after it in its list, complete the node.
func (f *fragment) foldInto(s *skeleton, node any, first, last int) {
	p := &(*s)[len(*s)-1]
	number := f.mark(node, first, last)
	f.marks[number].args, f.marks[number].folded = p.number, true
	p.number, p.tail, p.tok = number, number, int32(first)
}

// unfold takes back what fold noted in the marks.
func (f *fragment) unfold() {
	for i := range f.marks {
		m := &f.marks[i]
		m.args, m.next, m.folded = -1, -1, false
	}
}
