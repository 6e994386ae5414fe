package parse

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
)

// The marks of a query's parts.
type (
	valuesMark  struct{ rows [][]Expr }         // VALUES: the rows are the arguments
	tableMark   struct{ name Name }             // TABLE t as a query
	bracketMark struct{}                        // a query in brackets, which is all there is in FROM
	orderMark   struct{ item OrderItem }        // one sort key
	havingMark  struct{ parts []arg }           // one argument for each of the following
	windowsMark struct{ windows []NamedWindow } // WINDOW
	aliasMark   struct{ name int32 }            // an item of SELECT with its alias, by the number of the mark
	filterMark  struct {                        // HAVING or QUALIFY
		clause    section
		condition Expr
	}
)

// queries rewrites the clauses that vitess lacks or has in another form.
func (f *fragment) queries() {
	for i := f.lo; i < f.hi && f.err == nil; i++ {
		if !f.concerns(i, forQueries) {
			continue
		}
		if f.word(i) == "(" && f.isQuery {
			f.bracketedQuery(i)
			continue
		}
		if f.kind(i) != tokWord || f.taken(i) || f.word(i-1) == "." {
			continue
		}
		sec := f.in(i)
		switch w := f.word(i); {
		case w == "RECURSIVE" && f.word(i-1) == "WITH":
			f.take(i, f.asIs(i))
		case w == "MINUS" && sec == inStart:
			f.take(i, plain(pieceExcept))
		case w == "VALUES" && sec == inValues:
			f.values(i)
		case w == "ORDER" && f.word(i+1) == "BY" && sec == inOrder:
			f.take(i, f.asIs(i))
			f.take(i+1, f.asIs(i+1))
			f.orderItems(i+2, f.sectionEnd(i+2))
		case sec == inTail && (w == "LIMIT" || w == "OFFSET" || w == "FETCH" || w == "EMIT"):
			i = f.tail(i) - 1
		case w == "HAVING" && sec == inHaving, w == "WINDOW" && sec == inWindow && f.in(i-1) != inWindow, w == "QUALIFY" && sec == inQualify:
			if !f.taken(i) {
				f.having(i)
			}
		case w == "TOP" && f.word(i-1) == "SELECT" && f.kind(i+1) == tokInt:
			f.failAt(i, errs.Syntax, "TOP is not known").WithHint("write LIMIT %s at the end of the query", f.source(&f.toks[i+1]))
		case w == "ON" && f.word(i-1) == "DISTINCT":
			f.failAt(i, errs.Unsupported, "DISTINCT ON is not supported").
				WithHint("keep the row WHERE ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts) = 1")
		case w == "FOR" && sec != inAsOf && sec >= inFrom && (f.word(i+1) == "UPDATE" || f.word(i+1) == "SHARE"):
			f.failAt(i, errs.Unsupported, "FOR %s is not supported: rows are not locked", f.word(i+1))
		}
	}
}

// bracketedQuery makes a query in brackets, where vitess wants a SELECT, a select
// from it: at the begin of a query, unless a set operation follows.
func (f *fragment) bracketedQuery(open int) {
	switch sec := f.in(open); {
	case sec == inStart && (open == f.lo || f.word(open-1) == "("):
	case sec == inWith && f.word(open-1) == ")":
	default:
		return
	}
	end := f.closer(open)
	switch f.word(end + 1) {
	case "UNION", "INTERSECT", "EXCEPT", "MINUS":
		return
	}
	if !f.startsQuery(open + 1) {
		return
	}
	f.take(open, plain(pieceSelect), leafOf(f.mark(&bracketMark{}, open, end)), plain(pieceFrom), plain(pieceOpen))
	f.putAfter(end, nameOf(f.mark(&Alias{}, end, end)))
}

// values makes VALUES a select of one call.
func (f *fragment) values(i int) {
	end := f.sectionEnd(i)
	if end == i+1 {
		f.failAt(end, errs.Syntax, "expected a row of values, found %s", f.describe(f.at(end)))
		return
	}
	f.take(i, plain(pieceSelect), nameOf(f.mark(&valuesMark{}, i, end-1)), plain(pieceOpen))
	f.closeAfter(end - 1)
}

// orderItems wraps the sort keys of the tokens [i, stop) and takes ASC, DESC and
// NULLS out.
func (f *fragment) orderItems(i, stop int) {
	for f.err == nil {
		end := i
		for end < stop && f.word(end) != "," {
			end = f.skip(end)
		}
		last := end
		m := &orderMark{}
		switch {
		case f.word(last-2) == "NULLS" && f.word(last-1) == "FIRST":
			m.item.Nulls = NullsFirst
			last -= 2
		case f.word(last-2) == "NULLS" && f.word(last-1) == "LAST":
			m.item.Nulls = NullsLast
			last -= 2
		}
		switch f.word(last - 1) {
		case "DESC":
			m.item.Desc = true
			last--
		case "ASC":
			last--
		}
		if last <= i {
			f.failAt(i, errs.Syntax, "expected a sort key, found %s", f.describe(f.at(i)))
			return
		}
		if last < end && m.item != (OrderItem{}) {
			f.wrap(m, i, last-1)
		}
		f.drop(last, end)
		if end >= stop {
			return
		}
		i = end + 1
	}
}

// tail reads LIMIT, OFFSET, FETCH and EMIT from token i on, takes them out and
// returns the token after them.
func (f *fragment) tail(i int) int {
	open := f.openerOf(i)
	if f.tails == nil {
		f.tails = map[int]*tail{}
	}
	t := f.tails[open]
	if t == nil {
		t = &tail{}
		f.tails[open] = t
	}
	c := f.cursorAt(i, f.frameEnd(i))
	for !c.atEnd() {
		at := c.pos()
		twice := false
		switch {
		case c.eat("LIMIT"):
			twice = t.limit != nil
			if !c.eat("ALL") {
				t.limit = c.limitValue()
			}
			if c.is(",") {
				c.fail(errs.New(errs.Syntax, c.pos(), "LIMIT takes one number").WithHint("to skip rows write LIMIT count OFFSET skip"))
			}
		case c.eat("OFFSET"):
			twice = t.offset != nil
			t.offset = c.limitValue()
			_ = c.eat("ROWS") || c.eat("ROW")
		case c.eat("FETCH"):
			twice = t.limit != nil
			_ = c.eat("FIRST") || c.eat("NEXT") || c.want("FIRST")
			if c.is("ROW") || c.is("ROWS") {
				t.limit = &Literal{Place: c.place(), Kind: IntLiteral, Text: "1"}
			} else {
				t.limit = c.limitValue()
			}
			_ = c.eat("ROWS") || c.eat("ROW") || c.want("ROWS")
			c.want("ONLY")
		case c.is("EMIT"):
			first := c.tok().start
			c.at = c.end
			t.emit = strings.TrimSpace(f.text[first:f.toks[c.end-1].end])
		default:
			if e := c.unexpected(); clauseWords[c.wordOf(&c.toks[c.failedAt])] {
				e.WithHint("%s", clauseOrder)
			}
		}
		if twice {
			c.fail(errs.New(errs.Syntax, at, "the number of rows is given twice"))
		}
	}
	if !f.done(c) {
		return f.hi
	}
	f.drop(i, c.at)
	return c.at
}

// having makes HAVING, WINDOW and QUALIFY, which begin at i and follow each
// other in any order, one call in a HAVING clause.
func (f *fragment) having(i int) {
	if end := f.sectionEnd(i); f.in(i) == inHaving && (!f.inside(end) || f.in(end) != inWindow && f.in(end) != inQualify) {
		return // vitess has HAVING
	}
	lead := []piece{plain(pieceHaving), nameOf(f.mark(&havingMark{}, i, i)), plain(pieceOpen)}
	for {
		end := f.sectionEnd(i)
		first := i + 1
		if first == end {
			f.failAt(end, errs.Syntax, "expected an expression, found %s", f.describe(f.at(end)))
			return
		}
		sec := f.in(i)
		if sec == inWindow {
			f.take(i, nameOf(f.mark(&windowsMark{}, i, end-1)), plain(pieceOpen))
			f.namedWindows(first, end)
		} else {
			f.take(i, nameOf(f.mark(&filterMark{clause: sec}, i, end-1)), plain(pieceOpen))
		}
		f.putBefore(i, lead...)
		f.closeAfter(end - 1)
		if !f.inside(end) || f.err != nil || f.in(end) != inHaving && f.in(end) != inWindow && f.in(end) != inQualify {
			f.closeAfter(end - 1)
			return
		}
		lead = []piece{plain(pieceComma)}
		i = end
	}
}

// namedWindows rewrites w AS (..), w AS (..).
func (f *fragment) namedWindows(i, end int) {
	for {
		if !f.isName(i) || !f.are(i+1, "AS", "(") {
			f.failAt(i, errs.Syntax, "expected a window as name AS (...), found %s", f.describe(f.at(i)))
			return
		}
		open := i + 2
		spec := f.windowSpec(open)
		w := &NamedWindow{Name: f.script.ident(&f.toks[i]), Spec: spec}
		f.take(i, nameOf(f.mark(w, i, f.closer(open))), plain(pieceOpen))
		f.drop(i+1, open+1)
		i = f.closer(open) + 1
		if i >= end {
			return
		}
		if f.word(i) != "," {
			f.failAt(i, errs.Syntax, "expected \",\" or the end of the WINDOW clause, found %s", f.describe(f.at(i)))
			return
		}
		i++
	}
}
