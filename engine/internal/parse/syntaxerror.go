package parse

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
)

// syntaxError is the error for token i, which cannot follow what is before it.
// The words around it give a hint where they can.
func (f *fragment) syntaxError(i int) *errs.Error {
	t := f.at(i)
	e := errs.New(errs.Syntax, t.pos(), "unexpected %s", strings.TrimPrefix(f.describe(t), "the "))
	e.Hint = f.syntaxHint(i)
	return e
}

func (f *fragment) syntaxHint(i int) string {
	word, before := f.word(i), f.word(i-1)
	clause := clauseWords[word] && f.kind(i) == tokWord
	switch {
	case before == "," && (clause || word == ")" || f.kind(i) == tokEnd):
		return "remove the comma before it, or add what is missing"
	case word == "," && (before == "," || before == "SELECT" || before == "("):
		return "something is missing before the comma"
	case before == "SELECT" && clause:
		return "the select list is empty"
	case f.kind(i) == tokEnd:
		return "the statement is not complete"
	case word == "FULL" || word == "NATURAL" || word == "CROSS" || word == "INNER":
		return "JOIN is missing"
	case f.kind(i) == tokWord && reserved[word] && (before == "," || before == "SELECT" || before == "AS" || before == "FROM" || before == "BY" || isComparison(before)) && !clause:
		return word + " is a reserved word: as a name it is quoted: `" + f.source(&f.toks[i]) + "`"
	case before == "AS" && f.kind(i) == tokWord:
		return word + " is a reserved word: as a name it is quoted: `" + f.source(&f.toks[i]) + "`"
	case f.endsOperand(i-1) && (f.kind(i) != tokWord && f.kind(i) != tokOp || f.isName(i)):
		if f.in(i) == inFrom {
			return "a comma or JOIN may be missing before it"
		}
		if f.kind(i) == tokString && strings.EqualFold(before, "DATETIME") {
			return "the literal is written TIMESTAMP '...'"
		}
		return "a comma or an operator may be missing before it"
	case f.endsOperand(i-1) && word == "(":
		return "an operator may be missing before it"
	case word == "ON" || word == "USING":
		return "ON and USING follow a joined table"
	case word == "WHERE" || word == "FROM" || word == "GROUP" || word == "HAVING":
		return "the order is SELECT, FROM, WHERE, GROUP BY, HAVING, WINDOW, QUALIFY, ORDER BY, LIMIT"
	}
	return ""
}

// clauseWords begin the clauses of a query.
var clauseWords = words("FROM WHERE GROUP HAVING WINDOW QUALIFY ORDER LIMIT OFFSET FETCH UNION INTERSECT EXCEPT")
