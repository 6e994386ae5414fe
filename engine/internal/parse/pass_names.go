package parse

// nameAt is the dotted name that begins at token i.
func (f *fragment) nameAt(i int) Name {
	n := Name(f.idents.take(1 + (f.nameEnd(i)-i)/2))
	for k := range n {
		n[k] = f.script.ident(&f.toks[i+2*k])
	}
	return n
}

// quantifiers refuses ALL and DISTINCT where vitess would take them for those of
// an aggregate's call but they stand in another construct.
func (f *fragment) quantifiers() {
	for i := f.lo; i < f.hi; i++ {
		if !f.concerns(i, forQuantifiers) || f.taken(i) {
			continue
		}
		switch before := f.word(i - 1); {
		case before == "SELECT" || before == "UNION" || before == "INTERSECT" || before == "EXCEPT" || before == "MINUS":
		case f.kind(i-1) == tokHint:
		case before == "(" && f.cell(i-1).call >= 0:
		default:
			f.fail(f.syntaxError(i))
			return
		}
	}
}

// startsOperand reports whether the name at i is certainly an operand: then it is
// one token for vitess, which costs less than a column's name. It may be one too
// where this is not certain.
func (f *fragment) startsOperand(i int) bool {
	if sec := f.in(i); sec == inFrom || sec == inWith || sec == inAsOf || f.endsOperand(i-1) || f.kind(i-1) == tokHint || i == f.lo {
		return false
	}
	return f.word(i-1) != "AS"
}

// names reads the names that are left: columns, tables, aliases, functions.
// Reserved words stay, for vitess.
func (f *fragment) names() {
	for i := f.lo; i < f.hi; i++ {
		t := &f.toks[i]
		if t.kind != tokWord && t.kind != tokQuoted || f.taken(i) || f.word(i-1) == "." {
			continue
		}
		called := false
		if !t.isName() {
			if f.word(i+1) != "(" || !callable[f.word(i)] || f.in(i) == inFrom {
				continue
			}
			called = true
		}
		last := f.nameEnd(i)
		if f.word(last+1) == "." && f.word(last+2) == "*" && !f.taken(last+2) {
			f.leaf(&starMark{f.nameAt(i)}, i, last+2)
			i = last + 2
			continue
		}
		called = called || f.word(last+1) == "(" && f.in(i) != inWith
		if !called && f.startsOperand(i) {
			column := f.columns.one()
			column.At, column.Name = t.pos(), f.nameAt(i)
			f.leaf(column, i, last)
			i = last
			continue
		}
		if !called {
			f.drop(i, last+1)
			f.caller(f.nameAt(i), i, last)
			i = last
			continue
		}
		open := last + 1
		end := f.closer(open)
		known := f.call(open)
		if known.last >= 0 {
			end = known.last
		}
		call := known.node
		call.Place, call.Name = Place{t.pos()}, f.nameAt(i)
		f.drop(i, last+1)
		f.caller(call, i, end)
		f.operandFrom(i, f.closer(open))
		i = last
	}
}
