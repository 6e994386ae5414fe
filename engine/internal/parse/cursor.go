package parse

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
)

// script is a text and its tokens.
type script struct {
	text  string
	upper string // text with its ASCII letters in upper case: keywords are parts of it
	toks  []token

	idents  slab[Ident] // of the names in queries and expressions
	columns slab[ColumnRef]
}

func (s *script) source(t *token) string { return s.text[t.start:t.end] }

// wordOf is the keyword in upper case or the operator that t is; "" for any other
// token. A keyword may be a name as well.
func (s *script) wordOf(t *token) string {
	if !t.isWord {
		return ""
	}
	return s.upper[t.start:t.end]
}

// value is what a quoted token stands for; the source of any other.
func (s *script) value(t *token) string {
	src := s.source(t)
	switch t.kind {
	case tokString, tokQuoted:
		quote := src[:1]
		src = src[1 : len(src)-1]
		if strings.Contains(src, quote) {
			src = strings.ReplaceAll(src, quote+quote, quote)
		}
	case tokHex:
		src = src[2 : len(src)-1]
	}
	return src
}

func (s *script) ident(t *token) Ident {
	return Ident{Place: Place{t.pos()}, Value: s.value(t), Quoted: t.kind == tokQuoted}
}

// cursor reads the tokens of one statement by recursive descent. The first error
// stays in err and moves the cursor to the end, so that every loop ends.
type cursor struct {
	*script
	at  int // the current token
	end int // the first token after the statement
	err *errs.Error

	failedAt int // the token where err was noted
}

// tok is the current token; at the end it is an end token placed there.
func (c *cursor) tok() *token { return c.ahead(0) }

func (c *cursor) ahead(n int) *token {
	if c.at+n < c.end {
		return &c.toks[c.at+n]
	}
	stop := c.toks[c.end]
	stop.kind, stop.isWord, stop.end = tokEnd, false, stop.start
	return &stop
}

// word is the keyword or operator here, or "".
func (c *cursor) word() string {
	if c.at >= c.end {
		return ""
	}
	return c.wordOf(&c.toks[c.at])
}

func (c *cursor) pos() errs.Position { return c.tok().pos() }

func (c *cursor) place() Place { return Place{c.pos()} }

func (c *cursor) atEnd() bool { return c.at >= c.end }

// fail records the first error.
func (c *cursor) fail(e *errs.Error) {
	if c.err == nil {
		c.err, c.failedAt = e, c.at
	}
	c.at = c.end
}

// is reports whether the next tokens are these words or operators.
func (c *cursor) is(words ...string) bool {
	for i, w := range words {
		if c.at+i >= c.end || c.wordOf(&c.toks[c.at+i]) != w {
			return false
		}
	}
	return true
}

// eat is is, and moves past the words.
func (c *cursor) eat(words ...string) bool {
	if !c.is(words...) {
		return false
	}
	c.at += len(words)
	return true
}

// want moves past the words or fails at the first that is missing.
func (c *cursor) want(words ...string) bool {
	for _, w := range words {
		if !c.eat(w) {
			c.expected(w)
			return false
		}
	}
	return true
}

// expected fails with what should stand here.
func (c *cursor) expected(what string) *errs.Error {
	if c.err == nil {
		t := *c.tok()
		e := errs.New(errs.Syntax, t.pos(), "expected %s, found %s", what, c.found())
		if t.reserved() && strings.HasPrefix(what, "a name") {
			e.WithHint("%s is a reserved word: as a name it is quoted: `%s`", c.wordOf(&t), c.source(&t))
		}
		c.fail(e)
		return e
	}
	return c.err
}

// unexpected fails at the current token.
func (c *cursor) unexpected() *errs.Error {
	if c.err == nil {
		c.fail(errs.New(errs.Syntax, c.pos(), "unexpected %s", strings.TrimPrefix(c.found(), "the ")))
	}
	return c.err
}

// found describes the current token; at the end of a part of a statement, what
// is there.
func (c *cursor) found() string {
	if c.at >= c.end {
		return c.describe(&c.toks[c.end])
	}
	return c.describe(c.tok())
}

func (s *script) describe(t *token) string {
	if t.kind == tokEnd || s.wordOf(t) == ";" {
		return "the end of the statement"
	}
	return `"` + clip(s.source(t)) + `"`
}

// identifier reads one name; what says whose.
func (c *cursor) identifier(what string) Ident {
	t := c.tok()
	if !t.isName() {
		c.expected("a name" + what)
		return Ident{}
	}
	c.at++
	return c.script.ident(t)
}

// part reads a name after a dot, where any word will do.
func (c *cursor) part() Ident {
	t := c.tok()
	if t.kind != tokWord && t.kind != tokQuoted {
		c.expected("a name")
		return Ident{}
	}
	c.at++
	return c.script.ident(t)
}

// name reads a dotted name.
func (c *cursor) name(what string) Name {
	n := Name{c.identifier(what)}
	for c.eat(".") {
		n = append(n, c.part())
	}
	if c.err != nil {
		return nil
	}
	return n
}

// identifiers reads (a, b, c).
func (c *cursor) identifiers(what string) []Ident {
	var out []Ident
	c.list(func() { out = append(out, c.identifier(what)) })
	return out
}

// list reads ( item, item, ...), with one item at least.
func (c *cursor) list(item func()) {
	if !c.want("(") {
		return
	}
	for {
		item()
		if c.err != nil {
			return
		}
		if !c.eat(",") {
			break
		}
	}
	if !c.eat(")") {
		if e := c.expected(`"," or ")"`); c.toks[c.failedAt].isName() {
			e.WithHint("a comma may be missing before it")
		}
	}
}

// str reads a string literal.
func (c *cursor) str(what string) (string, errs.Position) {
	t := c.tok()
	if t.kind != tokString {
		e := c.expected("a string" + what)
		if t.kind == tokQuoted && e.Hint == "" {
			e.WithHint("strings are written in single quotes")
		}
		return "", errs.Position{}
	}
	c.at++
	return c.value(t), t.pos()
}

// options reads ('key' = 'value', ...).
func (c *cursor) options() []Option {
	var out []Option
	c.list(func() {
		if c.is(")") && len(out) > 0 {
			c.expected("a string").WithHint("remove the comma before )")
			return
		}
		if c.is(")") {
			return // WITH () is legal
		}
		o := Option{}
		o.Key, o.At = c.str("")
		c.want("=")
		o.Value, o.ValueAt = c.str("")
		if c.err != nil {
			if c.err.Hint == "" {
				c.err.WithHint("options are written 'key' = 'value'")
			}
			return
		}
		out = append(out, o)
	})
	return out
}
