package parse

import "github.com/weirdb/weir/engine/errs"

// starMark is the * of a select list or of COUNT(*), with its qualifier.
type starMark struct{ qualifier Name }

// literals reads literals, intervals and stars.
func (f *fragment) literals() {
	c := f.cursorAt(f.lo, f.hi)
	for i := f.lo; i < f.hi; i++ {
		switch f.toks[i].kind {
		case tokOp:
			if f.word(i) == "*" && f.isStar(i) {
				f.leaf(&starMark{}, i, i)
			}
			continue
		case tokQuoted, tokHint:
			continue
		case tokWord:
			if !f.concerns(i, forLiterals) || f.word(i-1) == "." || f.word(i+1) == "." {
				continue
			}
		}
		c.at = i
		e, ok := c.literal()
		if !f.done(c) {
			return
		}
		if !ok {
			if f.word(i) == "INTERVAL" && !f.isInterval(i) {
				return
			}
			continue
		}
		f.leaf(e, i, c.at-1)
		i = c.at - 1
	}
}

// isStar reports whether the * at i stands for all columns.
func (f *fragment) isStar(i int) bool {
	switch f.word(i - 1) {
	case "SELECT", "DISTINCT", "ALL", ",", "(":
		return true
	}
	return f.kind(i-1) == tokHint
}

// isInterval refuses an interval whose value is no constant.
func (f *fragment) isInterval(i int) bool {
	next := i + 1
	if f.word(next) == "-" {
		next++
	}
	if f.word(next) == "(" {
		next = f.closer(next)
	} else if !f.isName(next) {
		return true
	}
	if u, ok := units[f.word(next+1)]; ok {
		f.failAt(i, errs.Unsupported, "the value of an interval is a constant").
			WithHint("multiply instead: x * INTERVAL '1' %s", u)
		return false
	}
	return true
}
