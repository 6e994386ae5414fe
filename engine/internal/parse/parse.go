package parse

import (
	"github.com/weirdb/weir/engine/errs"
)

// The sizes that a statement may have; what is larger is refused with
// errs.Limit. Large data belongs into a table, not into VALUES.
const (
	maxBytes  = 4 << 20
	maxTokens = 1 << 18
)

// Parse reads a script of statements separated by semicolons. The error is an
// *errs.Error with the position of the first token that is wrong; the statements
// before it are returned too.
func Parse(sql string) ([]Statement, error) {
	s, err := newScript(sql)
	if err != nil {
		return nil, err
	}
	var out []Statement
	for at := 0; ; {
		for s.wordOf(&s.toks[at]) == ";" {
			at++
		}
		if s.toks[at].kind == tokEnd {
			return out, nil
		}
		c := &cursor{script: s, at: at, end: s.statementEnd(at)}
		st := c.wholeStatement()
		if c.err != nil {
			return out, c.err
		}
		out = append(out, st)
		at = c.end
	}
}

// ParseExpr reads one scalar expression.
func ParseExpr(sql string) (Expr, error) {
	s, err := newScript(sql)
	if err != nil {
		return nil, err
	}
	c := &cursor{script: s, end: len(s.toks) - 1}
	e := c.exprTo(c.end)
	if c.err != nil {
		return nil, c.err
	}
	return e, nil
}

// ParseType reads one data type.
func ParseType(sql string) (*DataType, error) {
	s, err := newScript(sql)
	if err != nil {
		return nil, err
	}
	c := &cursor{script: s, end: len(s.toks) - 1}
	t := c.dataType()
	if !c.atEnd() {
		c.unexpected()
	}
	if c.err != nil {
		return nil, c.err
	}
	return t, nil
}

// newScript cuts a text into tokens. The result is an error interface, so that
// no error is nil.
func newScript(sql string) (*script, error) {
	const most = 1 << 30
	if len(sql) > most {
		return nil, errs.New(errs.Limit, errs.Position{Line: 1, Column: 1}, "the script is larger than %d bytes", most)
	}
	upper := upperASCII(sql)
	toks, err := lex(sql, upper)
	if err != nil {
		return nil, err
	}
	return &script{text: sql, upper: upper, toks: toks}, nil
}

// statementEnd is the token after the statement that begins at token i: a
// semicolon or the end. The semicolons of a statement set belong to it.
func (s *script) statementEnd(i int) int {
	set := s.startsSet(i)
	for ; s.toks[i].kind != tokEnd; i++ {
		switch s.wordOf(&s.toks[i]) {
		case ";":
			if !set {
				return i
			}
		case "END":
			if set && i > 0 && (s.wordOf(&s.toks[i-1]) == ";" || s.wordOf(&s.toks[i-1]) == "BEGIN") {
				set = false
			}
		}
	}
	return i
}

// startsSet reports whether a statement set begins at token i.
func (s *script) startsSet(i int) bool {
	for ; s.toks[i].kind == tokWord; i++ {
		switch s.wordOf(&s.toks[i]) {
		case "STATEMENT":
			return s.wordOf(&s.toks[i+1]) == "SET"
		case "EXPLAIN", "EXECUTE", "BEGIN", "PLAN", "FOR", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "JSON", "ESTIMATED_COST", "PLAN_ADVICE":
		default:
			return false
		}
		if s.wordOf(&s.toks[i+1]) == "," {
			i++
		}
	}
	return false
}

// wholeStatement reads one statement and nothing after it.
func (c *cursor) wholeStatement() Statement {
	st := c.statement()
	if !c.atEnd() {
		c.unexpected()
	}
	return st
}

// source is the place and text from token first to the current one.
func (c *cursor) sourceFrom(first int) Source {
	t := &c.toks[first]
	end := max(c.at-1, first)
	return Source{Place: Place{t.pos()}, Text: c.text[t.start:max(c.toks[end].end, t.start)]}
}

// query reads a query that ends at token end.
func (c *cursor) query(end int) *Query {
	if c.err != nil {
		return nil
	}
	if c.at >= end {
		c.expected("a query")
		return nil
	}
	switch w := c.word(); w {
	case "SELECT", "WITH", "VALUES", "TABLE", "(":
	case "FROM":
		c.unexpected().WithHint("a query begins with SELECT")
		return nil
	default:
		c.expected("a query").WithHint("a query begins with SELECT, WITH or VALUES")
		return nil
	}
	f := newFragment(c.script, c.at, end, true)
	q, err := f.parseQuery()
	if err != nil {
		c.fail(err)
		return nil
	}
	c.at = end
	return q
}

// exprTo reads an expression that ends at token end.
func (c *cursor) exprTo(end int) Expr {
	if c.err != nil {
		return nil
	}
	if c.at >= end {
		c.expected("an expression")
		return nil
	}
	f := newFragment(c.script, c.at, end, false)
	e, err := f.parseExpr()
	if err != nil {
		c.fail(err)
		return nil
	}
	c.at = end
	return e
}

// exprUntil reads an expression up to a comma or closing bracket on its level,
// or where stop says.
func (c *cursor) exprUntil(stop func() bool) Expr {
	start, depth := c.at, 0
	for ; c.at < c.end; c.at++ {
		w := c.word()
		if depth == 0 && (w == "," || w == ")" || stop != nil && stop()) {
			break
		}
		switch w {
		case "(", "[":
			depth++
		case ")", "]":
			depth--
		}
	}
	end := c.at
	c.at = start
	return c.exprTo(end)
}

// parseQuery parses a fragment that is a query.
func (f *fragment) parseQuery() (*Query, *errs.Error) {
	stmt, err := f.parse()
	if err != nil {
		return nil, err
	}
	l := &lowering{fragment: f}
	q := l.statement(stmt)
	return q, f.err
}

// parseExpr parses a fragment that is an expression.
func (f *fragment) parseExpr() (Expr, *errs.Error) {
	stmt, err := f.parse()
	if err != nil {
		return nil, err
	}
	l := &lowering{fragment: f}
	e := l.onlyExpr(stmt)
	return e, f.err
}
