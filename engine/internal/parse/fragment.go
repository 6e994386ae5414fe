package parse

import "github.com/weirdb/weir/engine/errs"

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

	cells  []cell         // for each token
	calls  []openCall     // what passes know about calls before their names are read
	pieces []piece        // what tokens were replaced by, in any order
	marks  []mark         // by number
	tails  map[int]*tail  // by the query's opening bracket (lo-1 at the top)
	hints  map[int][]Hint // by the token of the hint
	later  []closing      // brackets to be closed when all passes are done
}

// cell is what the passes know about a token, and what vitess gets for it: the
// pieces before it, its own, and those after it. An index of -1 stands for none.
type cell struct {
	match  int32 // for a bracket the other one
	outer  int32 // the opening bracket around it, lo-1 at the top
	head   int32 // for the last token of an operand the first one
	before int32 // the first of the pieces
	own    int32
	after  int32
	call   int32 // for the opening bracket of a call: its number in calls

	section section
	taken   bool // own counts, else the token's source does
}

// openCall is a call and the last token of its OVER or the like, or -1.
type openCall struct {
	node *Call
	last int
}

// mark is a half-built node and the tokens that it spans.
type mark struct {
	node        any
	first, last int
	args        int32 // the first of the marks that complete the node, when vitess does not see them; else -1
	next        int32 // the next mark of such a list, or -1
	folded      bool  // args counts
}

// tail is what ends a query and vitess does not see.
type tail struct {
	limit, offset Expr
	emit          string
}

// closing is a bracket that closes after token last. It opens before token first
// as that of a call of the mark, unless that was written already.
type closing struct {
	first, last int
	mark        int32 // or -1
}

func newFragment(s *script, lo, hi int, isQuery bool) *fragment {
	n := hi - lo
	return &fragment{
		script: s, lo: lo, hi: hi, isQuery: isQuery,
		cells: make([]cell, n), pieces: make([]piece, 0, n), marks: make([]mark, 0, n/2+8),
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
	return f.wordOf(&f.toks[i])
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

func (f *fragment) cell(i int) *cell { return &f.cells[i-f.lo] }

// concerns reports whether token i has a word of this use.
func (f *fragment) concerns(i int, use uses) bool { return f.toks[i].uses&use != 0 }

// closer is the bracket that closes the one at open.
func (f *fragment) closer(open int) int { return int(f.cell(open).match) }

func (f *fragment) in(i int) section { return f.cell(i).section }

// head is the first token of the operand that ends at token i, or -1.
func (f *fragment) head(i int) int { return int(f.cell(i).head) }

// operandFrom notes that an operand spans the tokens first to last.
func (f *fragment) operandFrom(first, last int) { f.cell(last).head = int32(first) }

func (f *fragment) taken(i int) bool { return f.cell(i).taken }

// mark adds a mark for the tokens first to last and returns its number.
func (f *fragment) mark(node any, first, last int) int32 {
	f.marks = append(f.marks, mark{node: node, first: first, last: last, args: -1, next: -1})
	return int32(len(f.marks) - 1)
}

// leaf replaces the tokens first to last by one operand.
func (f *fragment) leaf(node any, first, last int) {
	f.drop(first, last+1)
	f.take(first, leafOf(f.mark(node, first, last)))
	f.operandFrom(first, last)
}

// caller replaces token first by the name of a call whose arguments vitess
// parses; the call ends at last.
func (f *fragment) caller(node any, first, last int) {
	f.take(first, nameOf(f.mark(node, first, last)))
	f.operandFrom(first, last)
}

// wrap has the operand from first to last become the argument of a call.
func (f *fragment) wrap(node any, first, last int) {
	f.later = append(f.later, closing{first, last, f.mark(node, first, last)})
}

// closeAfter puts a closing bracket after token last, around all others there.
func (f *fragment) closeAfter(last int) {
	f.later = append(f.later, closing{-1, last, -1})
}

func (f *fragment) closeLater() {
	for _, c := range f.later {
		if c.mark >= 0 {
			f.putBefore(c.first, nameOf(c.mark), plain(pieceOpen))
		}
		f.putAfter(c.last, plain(pieceClose))
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
	if m := f.closer(i); m > i {
		return m + 1
	}
	return i + 1
}

// closes reports whether token i is a closing bracket.
func (f *fragment) closes(i int) bool {
	m := f.closer(i)
	return m >= 0 && m < i
}

// openerOf is the bracket that token i stands in or closes, or lo-1.
func (f *fragment) openerOf(i int) int {
	switch {
	case i >= f.hi:
		return f.lo - 1
	case f.closes(i):
		return f.closer(i)
	}
	return int(f.cell(i).outer)
}

// frameEnd is the token that closes the bracket i stands in, i itself if it
// closes one; or hi.
func (f *fragment) frameEnd(i int) int {
	if open := f.openerOf(i); open >= f.lo {
		return f.closer(open)
	}
	return f.hi
}

// itemEnd is the first token at or after i, on i's level, that is a plain(pieceComma), ends
// the section or closes the bracket; or hi.
func (f *fragment) itemEnd(i int) int {
	if !f.inside(i) {
		return f.hi
	}
	sec := f.in(i)
	for i < f.hi && !f.closes(i) && f.word(i) != "," && f.in(i) == sec {
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
	for i < f.hi && !f.closes(i) && f.in(i) == sec {
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
		return !f.toks[i].reserved() || w == "END" || w == "NULL" || w == "TRUE" || w == "FALSE" || noParens[w]
	}
	return true
}
