package parse

import "github.com/weirdb/weir/engine/errs"

// jsonCall rewrites the clauses of the JSON functions to named arguments:
// RETURNING t is RETURNING => type, NULL ON EMPTY is "ON EMPTY" => NULL,
// DEFAULT x ON ERROR is "ON ERROR" => x, KEY k VALUE v is k, v.
func (f *fragment) jsonCall(open, end int) {
	start := open + 1 // of the clause or argument
	for i := open + 1; i < end && f.err == nil; i = f.skip(i) {
		switch w := f.word(i); {
		case w == ",":
			start = i + 1
		case w == "KEY" && i == start && f.word(i+1) != "," && i+1 < end:
			f.take(i)
		case w == "VALUE" && i > start && f.endsOperand(i-1):
			f.take(i, plain(pieceComma))
			start = i + 1
		case w == ":" && f.kind(i) == tokOp:
			f.take(i, plain(pieceComma))
			start = i + 1
		case w == "RETURNING" && i > start:
			c := f.cursorAt(i+1, end)
			t := c.dataType()
			if !f.done(c) {
				return
			}
			f.jsonClause(i, c.at-1, "RETURNING", &TypeArg{Place: t.Place, Type: t})
			i = c.at - 2
			start = i + 1
		case w == "DEFAULT" && i > start:
			on := i + 1
			for on < end && f.word(on) != "ON" {
				on = f.skip(on)
			}
			if on == i+1 || f.word(on+1) != "EMPTY" && f.word(on+1) != "ERROR" {
				f.failAt(i, errs.Syntax, "expected a value and ON EMPTY or ON ERROR after DEFAULT")
				return
			}
			name := "ON " + f.word(on+1)
			arg := &NamedArg{Place: Place{f.tokPos(i)}, Name: Ident{Place: Place{f.tokPos(i)}, Value: name}}
			f.take(i, plain(pieceComma), nameOf(f.mark(arg, i, on+1)), plain(pieceOpen))
			f.drop(on, on+2)
			f.closeAfter(on + 1)
			f.jsonNext(on + 2)
			i = on
		case w == "ON" && (f.word(i+1) == "EMPTY" || f.word(i+1) == "ERROR" || f.word(i+1) == "NULL"):
			first := i - 1
			if (f.word(i-1) == "ARRAY" || f.word(i-1) == "OBJECT") && f.word(i-2) == "EMPTY" {
				first = i - 2
			}
			if !jsonValues[f.phrase(first, i)] || first == start {
				f.fail(f.syntaxError(first))
				return
			}
			name, value := "ON "+f.word(i+1), &Symbol{Place: Place{f.tokPos(first)}, Name: f.phrase(first, i)}
			f.jsonClause(first, i+1, name, value)
			i++
		case w == "WRAPPER":
			first := i
			for first > start && (f.word(first-1) == "ARRAY" || f.word(first-1) == "CONDITIONAL" || f.word(first-1) == "UNCONDITIONAL" || f.word(first-1) == "WITH" || f.word(first-1) == "WITHOUT") {
				first--
			}
			f.jsonClause(first, i, "WRAPPER", &Symbol{Place: Place{f.tokPos(first)}, Name: f.phrase(first, i)})
		}
	}
}

// What may stand before ON, and what a clause may begin with.
var (
	jsonValues  = set{"NULL": true, "ERROR": true, "ABSENT": true, "TRUE": true, "FALSE": true, "UNKNOWN": true, "EMPTY": true, "EMPTY ARRAY": true, "EMPTY OBJECT": true}
	jsonClauses = words("NULL ERROR ABSENT TRUE FALSE UNKNOWN EMPTY DEFAULT RETURNING WITH WITHOUT )")
)

// jsonNext checks that a clause begins at token i, or the call ends.
func (f *fragment) jsonNext(i int) {
	if !jsonClauses[f.word(i)] {
		f.fail(f.syntaxError(i))
	}
}

// phrase is the words of the tokens [from, to).
func (f *fragment) phrase(from, to int) string {
	s := ""
	for i := from; i < to; i++ {
		if i > from {
			s += " "
		}
		s += f.word(i)
	}
	return s
}

// jsonClause makes the tokens first to last a named argument.
func (f *fragment) jsonClause(first, last int, name string, value Expr) {
	arg := &NamedArg{Place: Place{f.tokPos(first)}, Name: Ident{Place: Place{f.tokPos(first)}, Value: name}, Value: value}
	f.leaf(arg, first, last)
	f.jsonNext(last + 1)
	if f.word(first-1) != "(" && f.word(first-1) != "," {
		f.putBefore(first, plain(pieceComma))
	}
}
