package parse

import "github.com/weirdb/weir/engine/errs"

// literal reads a literal if there is one here.
func (c *cursor) literal() (Expr, bool) {
	t := c.tok()
	place := Place{t.pos()}
	one := func(k LiteralKind, text string) (Expr, bool) {
		c.at++
		return &Literal{Place: place, Kind: k, Text: text}, true
	}
	switch t.kind {
	case tokString:
		return one(StringLiteral, c.value(t))
	case tokHex:
		return one(BinaryLiteral, c.value(t))
	case tokInt:
		return one(IntLiteral, c.source(t))
	case tokDecimal:
		return one(DecimalLiteral, c.source(t))
	case tokApprox:
		return one(ApproxLiteral, c.source(t))
	case tokWord:
	default:
		return nil, false
	}
	var typed LiteralKind // of the types that may stand before a string
	n := 1
	switch c.wordOf(t) {
	case "NULL":
		return one(NullLiteral, "")
	case "TRUE", "FALSE":
		return one(BoolLiteral, c.wordOf(t))
	case "INTERVAL":
		if n := c.ahead(1); n.kind == tokString || n.kind == tokInt || n.kind == tokDecimal ||
			(c.wordOf(n) == "-" || c.wordOf(n) == "+") && (c.ahead(2).kind == tokString || c.ahead(2).kind == tokInt) {
			return c.interval(), true
		}
		return nil, false
	case "DATE":
		typed = DateLiteral
	case "TIME":
		typed = TimeLiteral
	case "TIMESTAMP":
		typed = TimestampLiteral
		if c.is("TIMESTAMP", "WITH", "LOCAL", "TIME", "ZONE") {
			typed, n = TimestampLTZLiteral, 5
		}
	case "TIMESTAMP_LTZ":
		typed = TimestampLTZLiteral
	default:
		return nil, false
	}
	if c.ahead(n).kind != tokString {
		return nil, false
	}
	c.at += n
	return one(typed, c.value(c.tok()))
}

// interval reads INTERVAL [-] '..' UNIT[(p)] [TO UNIT[(p)]].
func (c *cursor) interval() Expr {
	iv := &Interval{Place: c.place()}
	c.at++
	if c.eat("-") {
		iv.Negative = true
	} else {
		c.eat("+")
	}
	t := c.tok()
	iv.Value = c.value(t)
	value := *t
	c.at++
	u, ok := units[c.word()]
	if !ok {
		e := c.expected("a unit of time after the interval's value")
		e.WithHint("an interval is written INTERVAL '5' SECOND")
		return iv
	}
	iv.From = u
	c.at++
	precision := func() (n int) {
		if c.is("(") && c.ahead(1).kind == tokInt {
			c.list(func() { n, _ = c.integer("a number") })
		}
		return n
	}
	iv.Precision = precision()
	if c.eat("TO") {
		to, ok := units[c.word()]
		if !ok {
			c.expected("a unit of time")
			return iv
		}
		c.at++
		iv.To = to
		precision()
	}
	if value.kind != tokString && iv.To != "" {
		c.fail(errs.New(errs.Syntax, value.pos(), "an interval with two units takes a string").
			WithHint("for example INTERVAL '1:30' HOUR TO MINUTE"))
	}
	return iv
}

// limitValue reads the number of LIMIT, OFFSET and FETCH.
func (c *cursor) limitValue() Expr {
	t := c.tok()
	if t.kind != tokInt {
		e := c.expected("a whole number")
		if t.kind == tokWord || c.wordOf(t) == "?" || c.wordOf(t) == "(" {
			e.WithHint("only a constant can stand here")
		}
		return nil
	}
	e, _ := c.literal()
	return e
}
