package parse

import "github.com/weirdb/weir/engine/errs"

// section says which part of a query a token belongs to.
type section uint8

const (
	inExpr    section = iota // a bracket that holds an expression or a list of them
	inStart                  // a query before SELECT, or between the parts of a set operation
	inWith                   // WITH, up to the SELECT; and USING (..): names that are no operands
	inSelect                 // the select list
	inFrom                   // FROM, where tables stand
	inOn                     // ON and USING
	inAsOf                   // FOR SYSTEM_TIME AS OF
	inWhere                  //
	inGroup                  // GROUP BY, and the brackets of grouping sets
	inHaving                 //
	inWindow                 // WINDOW
	inQualify                //
	inOrder                  // ORDER BY of a query
	inTail                   // LIMIT, OFFSET, FETCH, EMIT
	inValues                 // VALUES
	inArgs                   // arguments of a call
	inSpec                   // a window specification
)

// maxDepth bounds the nesting of brackets. vitess stops at 200 of its own, and
// some of ours become two.
const maxDepth = 100

// brackets finds the pairs of brackets.
func (f *fragment) brackets() {
	outer, depth := f.lo-1, 0
	for i := f.lo; i < f.hi; i++ {
		c := f.cell(i)
		*c = cell{match: -1, outer: int32(outer), head: -1, before: -1, own: -1, after: -1, call: -1}
		switch w := f.word(i); w {
		case "(", "[":
			if depth == maxDepth {
				f.failAt(i, errs.Limit, "brackets are nested more than %d deep", maxDepth)
				return
			}
			outer = i
			depth++
		case ")", "]":
			if depth == 0 {
				f.failAt(i, errs.Syntax, "unexpected %q, which closes nothing", w)
				return
			}
			open := outer
			if (f.word(open) == "(") != (w == ")") {
				f.failAt(i, errs.Syntax, "unexpected %q: the %q at %s is still open", w, f.word(open), f.tokPos(open))
				return
			}
			f.cell(open).match = int32(i)
			c.match, c.head, c.outer = int32(open), int32(open), f.cell(open).outer
			outer = int(c.outer)
			depth--
		}
	}
	if depth > 0 {
		f.failAt(outer, errs.Syntax, "%q is not closed", f.word(outer))
	}
}

// maxChain bounds the operators and joins that follow each other on one level:
// each makes the tree one level deeper.
const maxChain = 5000

// sections gives every token its section.
func (f *fragment) sections() {
	type frame struct {
		sec   section
		query bool
		chain int
	}
	first := frame{sec: inExpr}
	if f.isQuery {
		first = frame{inStart, true, 0}
	}
	stack := []frame{first}
	for i := f.lo; i < f.hi; i++ {
		top := &stack[len(stack)-1]
		if f.concerns(i, forSections) {
			switch f.word(i) {
			case "(", "[":
				f.cell(i).section = top.sec
				sec, query := f.bracketSection(i, top.sec)
				stack = append(stack, frame{sec, query, 0})
				continue
			case ")", "]":
				stack = stack[:len(stack)-1]
				f.cell(i).section = stack[len(stack)-1].sec
				continue
			case ",":
				top.chain = 0
				if top.sec == inOn || top.sec == inAsOf {
					top.sec = inFrom
				}
				f.cell(i).section = top.sec
				continue
			}
			top.sec = f.nextSection(i, top.sec, top.query)
		}
		f.cell(i).section = top.sec
		if f.kind(i) == tokOp || f.concerns(i, forChains) {
			if top.chain++; top.chain > maxChain {
				f.failAt(i, errs.Limit, "more than %d operators follow each other", maxChain)
				return
			}
		}
	}
}

// startsQuery reports whether a query begins at token i, maybe in brackets.
func (f *fragment) startsQuery(i int) bool {
	switch f.word(i) {
	case "SELECT", "WITH", "VALUES":
		return true
	case "(":
		if !f.startsQuery(i + 1) {
			return false
		}
		switch f.word(f.closer(i) + 1) {
		case ")", "UNION", "INTERSECT", "EXCEPT", "MINUS", "ORDER", "LIMIT", "OFFSET", "FETCH":
			return true
		}
	}
	return false
}

// bracketSection is the section inside the bracket at i, which stands in sec.
func (f *fragment) bracketSection(i int, sec section) (inner section, query bool) {
	before := f.word(i - 1)
	switch {
	case f.word(i) == "[":
		return inExpr, false
	case f.startsQuery(i + 1):
		return inStart, true
	case sec == inWith || before == "USING":
		return inWith, false
	case before == "OVER" || sec == inWindow && before == "AS":
		return inSpec, false
	case sec == inGroup && !(f.isCallName(i-1) && before != "ROLLUP" && before != "CUBE" && before != "SETS"):
		return inGroup, false
	case sec == inFrom && !f.isCallName(i-1):
		return inFrom, false
	case before == "TABLE":
		return inFrom, false
	case f.isCallName(i-1) || before == "GROUP":
		return inArgs, false
	}
	return inExpr, false
}

// isCallName reports whether token i is a name that a "(" after it calls.
func (f *fragment) isCallName(i int) bool {
	if !f.inside(i) {
		return false
	}
	t := &f.toks[i]
	return t.isName() || t.kind == tokWord && (callable[f.word(i)] || f.word(i-1) == ".")
}

// nextSection is the section that the word at i, on a level in sec, begins or
// goes on with.
func (f *fragment) nextSection(i int, sec section, query bool) section {
	next := f.word(i + 1)
	if f.word(i-1) == "." || next == "=>" {
		return sec
	}
	if !query {
		return f.joinSection(i, sec)
	}
	switch w := f.word(i); w {
	case "WITH":
		if sec == inStart {
			return inWith
		}
	case "SELECT":
		return inSelect
	case "VALUES":
		if sec == inStart || sec == inWith {
			return inValues
		}
	case "FROM":
		if sec == inSelect && !f.are(i-2, "IS", "DISTINCT") && !f.are(i-3, "IS", "NOT", "DISTINCT") {
			return inFrom
		}
	case "WHERE":
		return inWhere
	case "GROUP":
		if next == "BY" {
			return inGroup
		}
	case "HAVING":
		return inHaving
	case "QUALIFY":
		return inQualify
	case "WINDOW":
		if sec >= inFrom && sec <= inQualify && f.isName(i+1) && f.are(i+2, "AS", "(") {
			return inWindow
		}
	case "ORDER":
		if next == "BY" {
			return inOrder
		}
	case "LIMIT", "OFFSET", "FETCH":
		return inTail
	case "EMIT":
		if emitWords[next] && sec != inTail {
			return inTail
		}
	case "UNION", "INTERSECT", "EXCEPT":
		return inStart
	case "MINUS":
		if sec >= inSelect && sec != inWith && (next == "SELECT" || next == "ALL" || next == "VALUES" || next == "(" && f.startsQuery(i+1)) {
			return inStart
		}
	}
	return f.joinSection(i, sec)
}

// emitWords may follow EMIT.
var emitWords = words("STREAM CHANGES AFTER ON FINAL WITHOUT")

// joinSection is nextSection inside FROM.
func (f *fragment) joinSection(i int, sec section) section {
	if sec != inFrom && sec != inOn && sec != inAsOf {
		return sec
	}
	switch f.word(i) {
	case "ON", "USING":
		return inOn
	case "FOR":
		if f.word(i+1) == "SYSTEM_TIME" {
			return inAsOf
		}
	case "JOIN", "INNER", "CROSS", "NATURAL", "FULL":
		return inFrom
	case "LEFT", "RIGHT":
		if next := f.word(i + 1); next == "JOIN" || next == "OUTER" {
			return inFrom
		}
	}
	return sec
}
