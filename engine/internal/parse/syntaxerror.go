package parse

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
)

// at is token i; where the statement ends, an end token.
func (f *fragment) at(i int) *token {
	if t := &f.toks[i]; f.wordOf(t) != ";" {
		return t
	}
	return f.cursorAt(i, i).tok()
}

// syntaxError is the error for token i, which cannot follow what is before it.
// The words around it give a hint where they can.
func (f *fragment) syntaxError(i int) *errs.Error {
	i = f.culprit(i)
	t := f.at(i)
	e := errs.New(errs.Syntax, t.pos(), "unexpected %s", strings.TrimPrefix(f.describe(t), "the "))
	e.Hint = f.syntaxHint(i)
	return e
}

// culprit is the token to blame when vitess stopped at i: it takes a keyword
// where an operand belongs for the table in a column's name, and stops one later.
func (f *fragment) culprit(i int) int {
	if k := i - 1; f.inside(k) && f.kind(k) == tokWord && !f.taken(k) && clauseWords[f.word(k)] && !f.operandBefore(k) && f.word(k-1) != ")" {
		return k
	}
	return i
}

// operandBefore reports whether an operand ends before token i.
func (f *fragment) operandBefore(i int) bool {
	return f.inside(i-1) && (f.head(i-1) >= 0 || f.word(i-1) == "END")
}

// clauseWords begin the clauses of a query.
var clauseWords = words("FROM WHERE GROUP HAVING WINDOW QUALIFY ORDER LIMIT OFFSET FETCH UNION INTERSECT EXCEPT")

func (f *fragment) syntaxHint(i int) string {
	t := f.at(i)
	word, before := "", f.word(i-1)
	if t.kind != tokQuoted {
		word = f.wordOf(t)
	}
	clause := t.kind == tokWord && clauseWords[word] && (word != "GROUP" && word != "ORDER" || f.word(i+1) == "BY")
	closes := clause || word == ")" || t.kind == tokEnd
	switch before {
	case "AS":
		if t.kind == tokString {
			return "names are quoted with backquotes or double quotes, strings with single quotes"
		}
	case "DATETIME":
		if t.kind == tokString {
			return "the literal is written TIMESTAMP '...'"
		}
	case ",":
		if closes {
			return "remove the comma before it, or add what is missing"
		}
	case "SELECT":
		if clause {
			return "the select list is empty"
		}
	case "GROUP", "ORDER", "PARTITION":
		return "BY is missing"
	case "LEFT", "RIGHT", "FULL", "OUTER", "INNER", "CROSS", "NATURAL":
		if f.in(i-1) == inFrom {
			return "JOIN is missing"
		}
	case "UNION", "INTERSECT", "EXCEPT":
		return "a query begins with SELECT"
	case "WINDOW":
		return "a window is written WINDOW w AS (PARTITION BY key ORDER BY ts)"
	case "*":
		if t.isName() {
			return "* takes no alias"
		}
	}
	switch {
	case word == "," && (before == "," || before == "SELECT" || before == "("):
		return "something is missing before the comma"
	case word == ")" && before == "(" && f.word(i-2) == "IN":
		return "the list is empty"
	case closes && f.openCase(i):
		return "CASE needs END"
	case t.kind == tokEnd:
		return "the statement is not complete"
	case clause && f.inside(i) && i > f.lo && f.in(i-1) > f.in(i) && f.in(i-1) <= inTail && f.in(i) > inStart:
		return clauseOrder
	case word == "DISTINCT" && before != "AS":
		return "DISTINCT follows SELECT, or the bracket of an aggregate function"
	case t.reserved() && !clause && (before == "AS" || !f.operandBefore(i)):
		return word + " is a reserved word: as a name it is quoted: `" + f.source(t) + "`"
	case f.operandBefore(i) && (word == "(" || word == "BY" || t.kind != tokOp && !t.reserved()):
		if f.kind(i-1) == tokWord && !f.toks[i-1].reserved() {
			if s := errs.Suggest(before, strings.Fields(mistyped)); s != "" && s != before {
				return "did you mean " + s + " for " + f.source(&f.toks[i-1]) + "?"
			}
		}
		if f.in(i) == inFrom {
			return "a comma or JOIN may be missing before it"
		}
		return "a comma or an operator may be missing before it"
	case word == "ON" || word == "USING":
		return "ON and USING follow a joined table"
	case closes && i > f.lo && !f.operandBefore(i):
		return "an operand is missing before it"
	}
	return ""
}

// mistyped are the keywords that are looked for in a word that was taken for an
// alias.
const mistyped = "FROM WHERE GROUP HAVING QUALIFY ORDER LIMIT OFFSET FETCH UNION INTERSECT EXCEPT JOIN LEFT RIGHT INNER CROSS BETWEEN LIKE"

const clauseOrder = "the order is SELECT, FROM, WHERE, GROUP BY, HAVING, WINDOW, QUALIFY, ORDER BY, LIMIT"

// openCase reports whether a CASE before token i has no END.
func (f *fragment) openCase(i int) bool {
	open := 0
	for k := i - 1; k >= f.lo; k-- {
		switch f.word(k) {
		case "END":
			open--
		case "CASE":
			if open++; open > 0 {
				return true
			}
		}
	}
	return false
}
