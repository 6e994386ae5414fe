package parse

import "github.com/weirdb/weir/engine/errs"

// operatorMark is a comparison that vitess lacks. It is given x = :vn | y: the
// bar binds weaker than all operators on values, so that y stays whole.
type operatorMark struct {
	op    BinaryOp // DistinctFrom, NotDistinctFrom, or
	match LikeKind // a pattern match, or
	name  string   // a function: OVERLAPS
}

// symmetricMark stands before the lower bound of BETWEEN SYMMETRIC.
type symmetricMark struct{}

// quantifierMark is ANY or ALL before a query.
type quantifierMark struct{ all bool }

// noOperators are operators of other dialects, with the way to say it here.
var noOperators = map[string]string{
	"==":  "equality is written =",
	"&&":  "write AND",
	"!":   "write NOT",
	"::":  "write CAST(x AS type)",
	":=":  "variables are not known",
	"?":   "parameters are not known",
	"&":   "there are no bit operators",
	"|":   "there are no bit operators; strings are joined by ||",
	"^":   "there are no bit operators; write POWER(x, y) for powers",
	"~":   "there are no bit operators; write REGEXP(s, pattern) to match one",
	"->":  "write JSON_VALUE(doc, '$.field')",
	"->>": "write JSON_VALUE(doc, '$.field')",
	"{":   "",
	"}":   "",
	":":   "",
	"..":  "",
}

// operators rewrites operators that vitess lacks or takes for others.
func (f *fragment) operators() {
	for i := f.lo; i < f.hi && f.err == nil; i++ {
		if !f.concerns(i, forOperators) || f.taken(i) || f.word(i-1) == "." {
			continue
		}
		switch w := f.word(i); w {
		case "||":
			f.take(i, plain(pieceShift)) // as + and - have it: left to right, before comparisons
		case "!=":
			f.take(i, plain(pieceNotEqual))
		case "<=>":
			f.operator(i, i+1, pieceEqual, &operatorMark{op: NotDistinctFrom})
		case "IS":
			f.isOperator(i)
		case "ILIKE":
			if f.endsOperand(i-1) || f.word(i-1) == "NOT" {
				f.operator(i, i+1, pieceLike, &operatorMark{match: ILike})
			}
		case "RLIKE", "REGEXP":
			if (f.endsOperand(i-1) || f.word(i-1) == "NOT") && f.word(i+1) != "(" {
				f.operator(i, i+1, pieceLike, &operatorMark{match: RLike})
			}
		case "SIMILAR":
			if f.word(i+1) == "TO" {
				f.operator(i, i+2, pieceLike, &operatorMark{match: Similar})
			}
		case "OVERLAPS":
			if f.word(i-1) == ")" && f.word(i+1) == "(" {
				f.operator(i, i+1, pieceEqual, &operatorMark{name: "OVERLAPS"})
			}
		case "SYMMETRIC", "ASYMMETRIC":
			if f.word(i-1) == "BETWEEN" {
				f.take(i)
				if w == "SYMMETRIC" {
					f.take(i, leafOf(f.mark(&symmetricMark{}, i, i)), plain(pieceBar))
				}
			}
		case "AT":
			f.atTimeZone(i)
		case "ANY", "SOME", "ALL":
			if isComparison(f.word(i-1)) && f.word(i+1) == "(" && f.startsQuery(i+2) {
				f.caller(&quantifierMark{all: w == "ALL"}, i, f.closer(i+1))
				f.queryArg(i + 1)
			}
		case "MOD":
			if f.endsOperand(i-1) && (f.endsOperand(i+1) || f.word(i+1) == "(") {
				f.take(i, plain(pieceModulo))
			}
		case "DIV", "XOR":
			if f.endsOperand(i-1) && f.endsOperand(i+1) && f.in(i) != inFrom {
				f.failAt(i, errs.Unsupported, "the operator %s is not supported", w).WithHint("%s",
					map[string]string{"DIV": "/ on integers gives an integer", "XOR": "write a <> b on booleans"}[w])
			}
		default:
			if hint, bad := noOperators[w]; bad && f.kind(i) == tokOp {
				e := f.failAt(i, errs.Syntax, "unexpected %q", w)
				e.Hint = hint
			}
		}
	}
}

func isComparison(w string) bool {
	switch w {
	case "=", "<>", "!=", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// operator replaces the tokens [from, to) by a comparison with a mark.
func (f *fragment) operator(from, to int, as pieceKind, m *operatorMark) {
	f.drop(from, to)
	f.take(from, plain(as), leafOf(f.mark(m, from, to-1)), plain(pieceBar))
}

// isOperator rewrites IS DISTINCT FROM, IS UNKNOWN and IS JSON. Lowering looks
// at the tokens again to tell the tests apart.
func (f *fragment) isOperator(i int) {
	next, op := i+1, DistinctFrom
	if f.word(next) == "NOT" {
		next, op = next+1, NotDistinctFrom
	}
	switch {
	case f.are(next, "DISTINCT", "FROM"):
		f.operator(i, next+2, pieceEqual, &operatorMark{op: op})
	case f.word(next) == "UNKNOWN":
		f.take(next, plain(pieceNull))
	case f.word(next) == "NULL" || f.word(next) == "TRUE" || f.word(next) == "FALSE":
		f.take(next, f.asIs(next)) // the literals pass took it for a value
		f.operandFrom(-1, next)
	case f.word(next) == "JSON":
		f.failAt(i, errs.Unsupported, "IS JSON is not supported").WithHint("JSON_EXISTS(doc, '$') tells documents from other text")
	default:
		f.failAt(next, errs.Syntax, "expected NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM after IS, found %s", f.describe(f.at(next)))
	}
}

// atTimeZone rewrites x AT TIME ZONE z to x ^ z, which binds tighter than
// arithmetic.
func (f *fragment) atTimeZone(i int) {
	switch {
	case f.are(i, "AT", "TIME", "ZONE"):
		f.drop(i, i+3)
		f.take(i, plain(pieceCaret))
	case f.are(i, "AT", "LOCAL"):
		f.failAt(i, errs.Unsupported, "AT LOCAL is not supported").WithHint("write AT TIME ZONE 'name'")
	}
}
