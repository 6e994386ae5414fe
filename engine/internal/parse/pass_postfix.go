package parse

import "github.com/weirdb/weir/engine/errs"

// fieldMark is a path of fields behind an expression.
type fieldMark struct{ path []Ident }

// postfix rewrites x[i] and the fields of what is no name: f(x).a.
func (f *fragment) postfix() {
	for i := f.lo + 1; i < f.hi && f.err == nil; i++ {
		if f.kind(i) != tokOp || f.taken(i) {
			continue
		}
		switch f.word(i) {
		case "[":
			first := f.head(i - 1)
			if first < 0 {
				f.failAt(i, errs.Syntax, "unexpected \"[\"").WithHint("arrays are written ARRAY[..]")
				return
			}
			end := f.closer(i)
			if end == i+1 {
				f.failAt(end, errs.Syntax, "the index is missing")
				return
			}
			f.before(first, &Index{Place: Place{f.tokPos(first)}}, end)
			f.take(i, plain(pieceComma))
			f.take(end, plain(pieceClose))
			f.operandFrom(first, end)
		case ".":
			f.fields(i)
		}
	}
	if f.lo < f.hi && f.word(f.lo) == "[" {
		f.failAt(f.lo, errs.Syntax, "unexpected \"[\"").WithHint("arrays are written ARRAY[..]")
	}
}

// before opens a call around the operand that begins at first and ends at last.
func (f *fragment) before(first int, node any, last int) {
	f.putBefore(first, nameOf(f.mark(node, first, last)), plain(pieceOpen))
}

// fields rewrites the path of fields after the bracket before i.
func (f *fragment) fields(i int) {
	if f.word(i-1) != ")" && f.word(i-1) != "]" {
		return // an error that vitess finds
	}
	first := f.head(i - 1)
	last := i - 1
	m := &fieldMark{}
	for f.word(last+1) == "." && (f.kind(last+2) == tokWord || f.kind(last+2) == tokQuoted) {
		last += 2
		m.path = append(m.path, f.script.ident(&f.toks[last]))
	}
	if len(m.path) == 0 || first < 0 {
		if f.word(i+1) == "*" {
			f.failAt(i, errs.Unsupported, "all fields of an expression cannot be selected").WithHint("name the fields")
		}
		return
	}
	f.before(first, m, last)
	f.drop(i, last+1)
	f.take(last, plain(pieceClose))
	f.operandFrom(first, last)
}
