package parse

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
)

// parseHint reads the hints of the comment at token i:
// /*+ NAME(a, 'b'), NAME('k' = 'v') NAME */.
func (s *script) parseHint(i int) ([]Hint, *errs.Error) {
	t := &s.toks[i]
	inner := strings.Repeat(" ", 3) + s.text[t.start+3:t.end-2]
	toks, err := lex(inner, upperASCII(inner))
	for k := range toks {
		shift(&toks[k], t)
	}
	if err != nil {
		err.Pos = t.pos()
		return nil, err
	}
	c := &cursor{script: &script{text: s.text, upper: s.upper, toks: toks}, end: len(toks) - 1}
	var out []Hint
	for !c.atEnd() {
		if len(out) > 0 {
			c.eat(",")
		}
		h := Hint{Place: c.place()}
		h.Name = strings.ToUpper(c.part().Value)
		if c.is("(") {
			c.list(func() { c.hintArg(&h) })
		}
		out = append(out, h)
	}
	return out, c.err
}

// shift moves a token of a hint's text to its place in the script.
func shift(tok, hint *token) {
	if tok.line == 1 {
		tok.col += hint.col - 1
	}
	tok.line += hint.line - 1
	tok.start += hint.start
	tok.end += hint.start
}

func (c *cursor) hintArg(h *Hint) {
	if c.is(")") {
		return
	}
	if c.tok().kind == tokString {
		o := Option{}
		o.Key, o.At = c.str("")
		if !c.eat("=") {
			h.Args = append(h.Args, o.Key)
			return
		}
		o.Value, o.ValueAt = c.str("")
		h.Options = append(h.Options, o)
		return
	}
	if t := c.tok(); t.kind == tokInt {
		h.Args = append(h.Args, c.source(t))
		c.at++
		return
	}
	n := c.name("")
	h.Args = append(h.Args, strings.Join(n.Values(), "."))
}
