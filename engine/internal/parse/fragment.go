package parse

import (
	"strconv"

	"github.com/weirdb/weir/engine/errs"
)

// A fragment is the part of a statement that vitess parses: a query, or one
// expression of a DDL statement.
//
// vitess knows neither positions nor much of the dialect, so it never sees the
// user's names and literals. Rewriting passes read everything that has a form of
// its own (literals, names, casts, windows, table arguments, ...) into marks,
// half-built nodes of our tree, and put the number of the mark into the text:
// :vn where the mark is a whole operand, `n` where it is a name, `n`(x, y) where
// vitess is to parse what is still missing from the node. What vitess gets is a
// skeleton of plain SQL; lowering replaces each number by its node and completes
// it. Every mark knows its tokens, so every node has the user's position.
type fragment struct {
	*script
	lo, hi  int  // the tokens [lo, hi)
	isQuery bool // else one expression
	err     *errs.Error

	edits   []edit         // for each token
	match   []int          // for each bracket the other one, else -1
	section []section      // for each token
	heads   []int          // for the last token of each operand the first one, else -1
	marks   []mark         // by number
	calls   map[int]*Call  // by the opening bracket: what passes know about a call before its name is read
	tails   map[int]*tail  // by the query's opening bracket (lo-1 at the top)
	hints   map[int][]Hint // by the token of the hint
	later   []closing      // brackets to be closed when all passes are done
	starts  []int          // for each token of vitess's text the offset
	ends    map[int]int    // by the opening bracket of a call with OVER or the like: its last token
}

// edit is what vitess gets for a token.
type edit struct {
	before, text, after string
	taken               bool // text counts, else the token's source does
}

// mark is a half-built node and the tokens that it spans.
type mark struct {
	node        any
	first, last int
}

// tail is what ends a query and vitess does not see.
type tail struct {
	limit, offset Expr
	emit          string
}

// closing is a bracket that opens before first, or was opened there, and closes
// after last.
type closing struct {
	first, last int
	open, close string
}

func newFragment(s *script, lo, hi int, isQuery bool) *fragment {
	n := hi - lo
	return &fragment{
		script: s, lo: lo, hi: hi, isQuery: isQuery,
		edits: make([]edit, n), match: make([]int, n), section: make([]section, n), heads: make([]int, n),
		marks: make([]mark, 0, n/2+1),
	}
}

// pass is one step of rewriting. Each runs once, in the order of passes.
type pass struct {
	name string
	run  func(*fragment)
}

// passes, in order: the structure first, then the constructs that have keywords
// of their own, then the names that are left, then what wraps whole operands.
var passes = [...]pass{
	{"brackets", (*fragment).brackets},
	{"sections", (*fragment).sections},
	{"literals", (*fragment).literals},
	{"tables", (*fragment).tables},
	{"queries", (*fragment).queries},
	{"grouping", (*fragment).grouping},
	{"operators", (*fragment).operators},
	{"special calls", (*fragment).specialCalls},
	{"call tails", (*fragment).callTails},
	{"names", (*fragment).names},
	{"quantifiers", (*fragment).quantifiers},
	{"postfix", (*fragment).postfix},
	{"close", (*fragment).closeLater},
}

// rewrite runs the passes.
func (f *fragment) rewrite() *errs.Error {
	for _, p := range passes {
		if p.run(f); f.err != nil {
			return f.err
		}
	}
	return nil
}

func (f *fragment) fail(e *errs.Error) {
	if f.err == nil {
		f.err = e
	}
}

func (f *fragment) failAt(i int, code errs.Code, format string, args ...any) *errs.Error {
	e := errs.New(code, f.tokPos(i), format, args...)
	f.fail(e)
	return e
}

// tokPos is the position of token i; of the end for hi.
func (f *fragment) tokPos(i int) errs.Position { return f.toks[i].pos() }

func (f *fragment) inside(i int) bool { return i >= f.lo && i < f.hi }

// word is the keyword or operator at token i, or "" outside of the fragment.
func (f *fragment) word(i int) string {
	if !f.inside(i) {
		return ""
	}
	return f.toks[i].word
}

func (f *fragment) kind(i int) tokenKind {
	if !f.inside(i) {
		return tokEnd
	}
	return f.toks[i].kind
}

// are reports whether the tokens from i on are these words.
func (f *fragment) are(i int, words ...string) bool {
	for k, w := range words {
		if f.word(i+k) != w {
			return false
		}
	}
	return true
}

func (f *fragment) isName(i int) bool { return f.inside(i) && f.toks[i].isName() }

// closer is the bracket that closes the one at open.
func (f *fragment) closer(open int) int { return f.match[open-f.lo] }

func (f *fragment) in(i int) section { return f.section[i-f.lo] }

func (f *fragment) edit(i int) *edit { return &f.edits[i-f.lo] }

func (f *fragment) taken(i int) bool { return f.edits[i-f.lo].taken }

// take replaces token i by text.
func (f *fragment) take(i int, text string) {
	e := f.edit(i)
	e.text, e.taken = text, true
}

// drop takes the tokens [from, to) out.
func (f *fragment) drop(from, to int) {
	for i := from; i < to; i++ {
		f.take(i, "")
	}
}

// mark adds a mark for the tokens first to last and returns its number.
func (f *fragment) mark(node any, first, last int) string {
	f.marks = append(f.marks, mark{node, first, last})
	return strconv.Itoa(len(f.marks) - 1)
}

// placeholder is a new mark as an operand: vitess takes it for a bind variable.
func (f *fragment) placeholder(node any, first, last int) string {
	return ":v" + f.mark(node, first, last)
}

// leaf replaces the tokens first to last by one operand.
func (f *fragment) leaf(node any, first, last int) {
	f.drop(first, last+1)
	f.take(first, f.placeholder(node, first, last))
	f.heads[last-f.lo] = first
}

// caller replaces token first by the name of a call whose arguments vitess
// parses; the call ends at last.
func (f *fragment) caller(node any, first, last int) {
	f.take(first, "`"+f.mark(node, first, last)+"`")
	f.heads[last-f.lo] = first
}

// opener is `n`( as text.
func (f *fragment) opener(node any, first, last int) string {
	return "`" + f.mark(node, first, last) + "`("
}

// wrap has the operand from first to last become the argument of a call.
func (f *fragment) wrap(node any, first, last int) {
	f.later = append(f.later, closing{first, last, f.opener(node, first, last), ")"})
}

// closeAfter puts a closing bracket after token last, around all others there.
func (f *fragment) closeAfter(last int) {
	f.later = append(f.later, closing{-1, last, "", ")"})
}

func (f *fragment) closeLater() {
	for _, c := range f.later {
		if c.first >= 0 {
			e := f.edit(c.first)
			e.before = c.open + e.before
		}
		f.edit(c.last).after += c.close
	}
}

// cursorAt is a cursor on the tokens [from, to).
func (f *fragment) cursorAt(from, to int) *cursor {
	return &cursor{script: f.script, at: from, end: to}
}

// done passes on the error of a cursor and reports whether there is none.
func (f *fragment) done(c *cursor) bool {
	if c.err != nil {
		f.fail(c.err)
	}
	return f.err == nil
}

// skip is the token after i, or after its closing bracket.
func (f *fragment) skip(i int) int {
	if m := f.match[i-f.lo]; m > i {
		return m + 1
	}
	return i + 1
}

// frameEnd is the first token at or after i that closes the bracket i stands
// in, or hi.
func (f *fragment) frameEnd(i int) int {
	for i < f.hi && !(f.match[i-f.lo] >= 0 && f.match[i-f.lo] < i) {
		i = f.skip(i)
	}
	return i
}

// itemEnd is the first token at or after i, on i's level, that is a comma, ends
// the section or closes the bracket; or hi.
func (f *fragment) itemEnd(i int) int {
	if !f.inside(i) {
		return f.hi
	}
	sec := f.in(i)
	for i < f.hi {
		if m := f.match[i-f.lo]; m >= 0 && m < i || f.word(i) == "," || f.in(i) != sec {
			return i
		}
		i = f.skip(i)
	}
	return i
}

// sectionEnd is itemEnd that does not stop at commas.
func (f *fragment) sectionEnd(i int) int {
	if !f.inside(i) {
		return f.hi
	}
	sec := f.in(i)
	for i < f.hi {
		if m := f.match[i-f.lo]; m >= 0 && m < i || f.in(i) != sec {
			return i
		}
		i = f.skip(i)
	}
	return i
}

// endsOperand reports whether token i can be the last one of an operand.
func (f *fragment) endsOperand(i int) bool {
	switch f.kind(i) {
	case tokEnd, tokHint:
		return false
	case tokOp:
		w := f.word(i)
		return w == ")" || w == "]"
	case tokWord:
		w := f.word(i)
		return !f.toks[i].reserved || w == "END" || w == "NULL" || w == "TRUE" || w == "FALSE" || noParens[w]
	}
	return true
}
