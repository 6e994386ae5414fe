package parse

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
)

// specialCalls rewrites calls whose arguments have keywords between them, and
// constructors.
func (f *fragment) specialCalls() {
	for i := f.lo; i < f.hi && f.err == nil; i++ {
		if !f.concerns(i, forCalls) {
			continue
		}
		switch f.word(i) {
		case "=>":
			f.namedArg(i)
			continue
		case "PARTITION":
			f.queryTail(i)
			continue
		}
		if f.kind(i) != tokWord || f.taken(i) || f.word(i-1) == "." {
			continue
		}
		if w := f.word(i); w == "TABLE" {
			f.tableArg(i)
			continue
		} else if f.toks[i].reserved() && f.word(i+1) != "(" && noParens[w] {
			f.leaf(&Call{Place: Place{f.tokPos(i)}, Name: Name{f.script.ident(&f.toks[i])}, NoParens: true}, i, i)
			continue
		}
		switch f.word(i + 1) {
		case "(":
			f.specialCall(i, i+1, f.closer(i+1))
		case "[":
			f.constructor(i, i+1, f.closer(i+1))
		}
	}
}

// specialCall rewrites the call of the word at i.
func (f *fragment) specialCall(i, open, end int) {
	place := Place{f.tokPos(i)}
	switch w := f.word(i); w {
	case "CAST", "TRY_CAST":
		f.cast(i, open, end)
	case "CONVERT":
		if k := f.find(open, end, "USING"); k > 0 {
			f.failAt(k, errs.Unsupported, "CONVERT .. USING is not supported").WithHint("strings are always UTF-8")
		}
	case "EXTRACT":
		f.symbolArg(open+1, "FROM")
		if !f.separators(open, end, "FROM") {
			f.failAt(i, errs.Syntax, "EXTRACT needs FROM").WithHint("EXTRACT(HOUR FROM ts)")
		}
	case "FLOOR", "CEIL", "CEILING":
		if k := f.find(open, end, "TO"); f.separators(open, end, "TO") {
			f.symbolArg(k+1, ")")
		}
	case "TIMESTAMPADD", "TIMESTAMPDIFF":
		if _, ok := unitOf(f.word(open + 1)); ok && f.word(open+2) == "," {
			f.symbolArg(open+1, ",")
		}
	case "POSITION":
		f.separators(open, end, "IN")
	case "SUBSTRING", "SUBSTR":
		f.separators(open, end, "FROM", "FOR")
	case "OVERLAY":
		f.separators(open, end, "PLACING", "FROM", "FOR")
	case "TRIM":
		f.trim(open, end)
	case "ROW":
		f.caller(&Row{Place: place}, i, end)
	case "ARRAY":
		if f.startsQuery(open + 1) {
			f.caller(&Array{Place: place}, i, end)
			f.queryArg(open)
		}
	case "DESCRIPTOR":
		c := f.cursorAt(open, end+1)
		d := &Descriptor{Place: place, Columns: c.identifiers(" of a column")}
		if f.done(c) {
			f.leaf(d, i, end)
		}
	case "GROUP_CONCAT":
		f.failAt(i, errs.Unsupported, "GROUP_CONCAT is not known").WithHint("write LISTAGG(x, ',')")
	default:
		if strings.HasPrefix(w, "JSON_") {
			f.jsonCall(open, end)
		}
	}
}

// queryArg doubles the brackets at open, which are those of a query and become
// those of a call too.
func (f *fragment) queryArg(open int) {
	f.take(open, plain(pieceOpen), plain(pieceOpen))
	f.take(f.closer(open), plain(pieceClose), plain(pieceClose))
}

// constructor rewrites ARRAY[..] and MAP[..].
func (f *fragment) constructor(i, open, end int) {
	place := Place{f.tokPos(i)}
	switch f.word(i) {
	case "ARRAY":
		f.caller(&Array{Place: place}, i, end)
	case "MAP":
		f.caller(&Map{Place: place}, i, end)
	default:
		return
	}
	f.take(open, plain(pieceOpen))
	f.take(end, plain(pieceClose))
}

// find is the token between open and end, on their level, that is word; or -1.
func (f *fragment) find(open, end int, word string) int {
	for i := open + 1; i < end; i = f.skip(i) {
		if f.word(i) == word && f.kind(i) == tokWord {
			return i
		}
	}
	return -1
}

// separators replaces the keywords between the arguments of a call by commas and
// reports whether there are any. Then there are no real commas, and the keywords
// come in this order.
func (f *fragment) separators(open, end int, keywords ...string) bool {
	last := open
	for _, w := range keywords {
		k := f.find(open, end, w)
		if k < 0 {
			continue
		}
		if k < last {
			f.fail(f.syntaxError(last))
			return false
		}
		f.take(k, plain(pieceComma))
		last = k
	}
	if last == open {
		return false
	}
	for i := open + 1; i < end; i = f.skip(i) {
		if f.word(i) == "," {
			f.fail(f.syntaxError(i))
			return false
		}
	}
	return true
}

// symbolArg makes the word at i, a unit before the word next, an argument.
func (f *fragment) symbolArg(i int, next string) {
	u, ok := unitOf(f.word(i))
	if !ok {
		f.failAt(i, errs.Syntax, "expected a unit of time, found %s", f.describe(f.at(i)))
		return
	}
	if f.word(i+1) != next {
		f.failAt(i+1, errs.Syntax, "expected %s after the unit, found %s", next, f.describe(f.at(i+1)))
		return
	}
	f.leaf(&Symbol{Place: Place{f.tokPos(i)}, Name: string(u)}, i, i)
}

// trim rewrites TRIM([BOTH] [x] FROM s).
func (f *fragment) trim(open, end int) {
	from := f.find(open, end, "FROM")
	if !f.separators(open, end, "FROM") {
		return
	}
	i := open + 1
	switch f.word(i) {
	case "BOTH", "LEADING", "TRAILING":
		f.leaf(&Symbol{Place: Place{f.tokPos(i)}, Name: f.word(i)}, i, i)
		if i+1 < from {
			f.putAfter(i, plain(pieceComma))
		}
	}
}

// cast rewrites CAST(x AS t).
func (f *fragment) cast(i, open, end int) {
	as := f.find(open, end, "AS")
	if as < 0 {
		f.failAt(i, errs.Syntax, "%s needs AS and a type", f.word(i)).WithHint("%s(x AS STRING)", f.word(i))
		return
	}
	c := f.cursorAt(as+1, end)
	t := c.dataType()
	if !c.atEnd() {
		c.unexpected()
	}
	if f.done(c) {
		f.caller(&Cast{Place: Place{f.tokPos(i)}, Try: f.word(i) == "TRY_CAST", Type: t}, i, end)
		f.drop(as, end)
	}
}

// namedArg rewrites name => value, where arrow is the token =>. The name may be a
// reserved word, such as OFFSET.
func (f *fragment) namedArg(arrow int) {
	i := arrow - 1
	if !f.isName(i) && f.kind(i) != tokWord || f.taken(i) || f.in(arrow) != inArgs || f.word(i-1) != "(" && f.word(i-1) != "," {
		f.failAt(arrow, errs.Syntax, "unexpected \"=>\"").WithHint("arguments by name are written f(name => value)")
		return
	}
	end := f.itemEnd(arrow)
	if end == arrow+1 {
		f.failAt(end, errs.Syntax, "expected a value, found %s", f.describe(f.at(end)))
		return
	}
	name := f.script.ident(&f.toks[i])
	f.take(i, nameOf(f.mark(&NamedArg{Place: name.Place, Name: name}, i, end-1)), plain(pieceOpen))
	f.take(arrow)
	f.closeAfter(end - 1)
}

// tableArg rewrites TABLE t and TABLE (query) as an argument, and TABLE t as a
// query.
func (f *fragment) tableArg(i int) {
	place := Place{f.tokPos(i)}
	switch before := f.word(i - 1); {
	case f.in(i) == inStart && f.isName(i+1):
		last := f.nameEnd(i + 1)
		f.leaf(&tableMark{f.nameAt(i + 1)}, i, last)
		f.putBefore(i, plain(pieceSelect))
		return
	case before != "(" && before != "," && before != "=>":
		return
	}
	arg := &TableArg{Place: place}
	var last int
	switch {
	case f.word(i+1) == "(":
		last = f.closer(i + 1)
		if f.startsQuery(i + 2) {
			f.queryArg(i + 1)
		}
	case f.isName(i + 1):
		last = f.nameEnd(i + 1)
		if f.word(last+1) == "(" {
			f.failAt(i, errs.Syntax, "a call needs brackets after TABLE").WithHint("write TABLE(f(..))")
			return
		}
		arg.Table = &TableName{Place: Place{f.tokPos(i + 1)}, Name: f.nameAt(i + 1)}
	default:
		f.failAt(i+1, errs.Syntax, "expected a table after TABLE, found %s", f.describe(f.at(i+1)))
		return
	}
	c := f.cursorAt(last+1, f.frameEnd(i))
	c.tableArgTail(arg)
	if !f.done(c) {
		return
	}
	if arg.Table != nil {
		f.leaf(arg, i, c.at-1)
		return
	}
	f.caller(arg, i, last)
	f.drop(last+1, c.at)
	f.operandFrom(i, c.at-1)
}

// queryTail rewrites (query) PARTITION BY .. as an argument, where i is the word
// PARTITION.
func (f *fragment) queryTail(i int) {
	if f.word(i+1) != "BY" || f.in(i) != inArgs || f.word(i-1) != ")" || f.taken(i) {
		return
	}
	open := f.closer(i - 1)
	if before := f.word(open - 1); !f.startsQuery(open+1) || before != "(" && before != "," && before != "=>" {
		return
	}
	arg := &TableArg{Place: Place{f.tokPos(open)}}
	c := f.cursorAt(i, f.frameEnd(i))
	c.tableArgTail(arg)
	if !f.done(c) {
		return
	}
	f.putBefore(open, nameOf(f.mark(arg, open, c.at-1)))
	f.queryArg(open)
	f.drop(i, c.at)
	f.operandFrom(open, c.at-1)
}

// tableArgTail reads PARTITION BY and ORDER BY of a table argument. They take
// names of columns only: what follows a comma may be the next argument.
func (c *cursor) tableArgTail(arg *TableArg) {
	column := func() Expr {
		n := c.name(" of a column")
		return &ColumnRef{Place: Place{n.Pos()}, Name: n}
	}
	more := func() bool {
		next := c.ahead(1)
		after := c.ahead(2)
		if c.is(",") && next.isName() && c.wordOf(after) != "(" && c.wordOf(after) != "=>" {
			c.at++
			return true
		}
		return false
	}
	columns := func(add func()) {
		if c.is("(") {
			c.list(add)
			return
		}
		for add(); c.err == nil && more(); {
			add()
		}
	}
	if c.eat("PARTITION", "BY") {
		columns(func() { arg.PartitionBy = append(arg.PartitionBy, column()) })
	}
	if c.eat("ORDER", "BY") {
		columns(func() {
			item := OrderItem{Expr: column()}
			if !c.eat("ASC") {
				item.Desc = c.eat("DESC")
			}
			if c.eat("NULLS", "FIRST") {
				item.Nulls = NullsFirst
			} else if c.eat("NULLS", "LAST") {
				item.Nulls = NullsLast
			}
			arg.OrderBy = append(arg.OrderBy, item)
		})
	}
}
