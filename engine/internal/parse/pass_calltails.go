package parse

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
)

// The marks of what follows a call or stands in a window specification. Each is
// one more argument of the call, or one argument of the window.
type (
	callFilterMark struct{ condition Expr }    // FILTER (WHERE c)
	partitionMark  struct{ keys []Expr }       // PARTITION BY a, b
	orderByMark    struct{ items []OrderItem } // ORDER BY
)

// call is the call whose arguments open at the bracket, made by whichever pass
// comes first.
func (f *fragment) call(open int) *openCall {
	c := f.cell(open)
	if c.call < 0 {
		c.call = int32(len(f.calls))
		f.calls = append(f.calls, openCall{&Call{}, -1})
	}
	return &f.calls[c.call]
}

// callTails moves FILTER, WITHIN GROUP, IGNORE NULLS and OVER into the call
// before them, and ORDER BY inside a call behind its arguments.
func (f *fragment) callTails() {
	for i := f.lo; i < f.hi && f.err == nil; i++ {
		if !f.concerns(i, forTails) || f.taken(i) || f.word(i-1) == "." {
			continue
		}
		switch w := f.word(i); {
		case f.word(i-1) == ")" && f.startsTail(i):
			open := f.closer(i - 1)
			if f.in(i) == inFrom {
				f.failAt(i, errs.Syntax, "unexpected %s after a table", w)
				return
			}
			if !f.isCallName(open-1) || f.taken(i-1) {
				f.failAt(i, errs.Syntax, "unexpected %s: there is no call before it", w)
				return
			}
			f.callTail(open, i)
		case w == "OVER" || w == "FILTER" && f.are(i+1, "(", "WHERE"):
			f.failAt(i, errs.Syntax, "unexpected %s: there is no call before it", w)
		case w == "ORDER" && f.word(i+1) == "BY" && f.in(i) == inArgs:
			f.innerOrder(i)
		case (w == "IGNORE" || w == "RESPECT") && f.are(i+1, "NULLS", ")") && f.in(i) == inArgs:
			f.call(f.openerOf(i)).node.IgnoreNulls = w == "IGNORE"
			f.drop(i, i+2)
		}
	}
}

// startsTail reports whether a clause of a call begins at i, after its bracket.
func (f *fragment) startsTail(i int) bool {
	switch f.word(i) {
	case "OVER":
		return true
	case "FILTER":
		return f.word(i+1) == "("
	case "WITHIN":
		return f.word(i+1) == "GROUP"
	case "IGNORE", "RESPECT":
		return f.word(i+1) == "NULLS"
	}
	return false
}

// callTail rewrites the clauses from token i on, of the call that opens at open,
// up to the first that is none. Calls in them may have some of their own.
func (f *fragment) callTail(open, i int) {
	end := i - 1 // the call's own closing bracket, which moves behind the clauses
	f.take(end)
	call := f.call(open).node
	first := open+1 == end
	arg := func(i int, pieces ...piece) {
		f.take(i, pieces...)
		if !first {
			f.putBefore(i, plain(pieceComma))
		}
		first = false
	}
	for f.startsTail(i) && f.err == nil {
		switch w := f.word(i); w {
		case "IGNORE", "RESPECT":
			call.IgnoreNulls = w == "IGNORE"
			f.drop(i, i+2)
			i += 2
		case "FILTER":
			if f.word(i+2) != "WHERE" {
				f.failAt(i+2, errs.Syntax, "expected WHERE, found %s", f.describe(f.at(i+2))).WithHint("FILTER (WHERE condition)")
				return
			}
			last := f.closer(i + 1)
			arg(i, nameOf(f.mark(&callFilterMark{}, i, last)), plain(pieceOpen))
			f.drop(i+1, i+3)
			i = last + 1
		case "WITHIN":
			if !f.are(i, "WITHIN", "GROUP", "(", "ORDER", "BY") {
				f.failAt(i, errs.Syntax, "expected WITHIN GROUP (ORDER BY ..)")
				return
			}
			last := f.closer(i + 2)
			arg(i, nameOf(f.mark(&orderByMark{}, i, last)), plain(pieceOpen))
			f.drop(i+1, i+5)
			f.orderItems(i+5, last)
			i = last + 1
		case "OVER":
			i = f.over(i, arg)
		}
	}
	f.closeAfter(i - 1)
	f.operandFrom(f.head(end), i-1)
	f.call(open).last = i - 1
}

// over rewrites OVER w and OVER (..) at i and returns the token after it.
func (f *fragment) over(i int, arg func(int, ...piece)) int {
	next := i + 1
	if f.isName(next) {
		spec := &WindowSpec{Place: Place{f.tokPos(next)}, Base: f.script.ident(&f.toks[next])}
		arg(i, leafOf(f.mark(spec, i, next)))
		f.drop(next, next+1)
		return next + 1
	}
	if f.word(next) != "(" {
		f.failAt(next, errs.Syntax, "expected a window after OVER, found %s", f.describe(f.at(next))).
			WithHint("OVER (PARTITION BY key ORDER BY ts), or the name of a window")
		return f.hi
	}
	spec := f.windowSpec(next)
	arg(i, nameOf(f.mark(spec, i, f.closer(next))), plain(pieceOpen))
	f.drop(next, next+1)
	return f.closer(next) + 1
}

// windowSpec rewrites what is in the brackets of a window: PARTITION BY and
// ORDER BY become arguments, the frame is read here. The brackets stay.
func (f *fragment) windowSpec(open int) *WindowSpec {
	spec := &WindowSpec{Place: Place{f.tokPos(open)}}
	end := f.closer(open)
	i := open + 1
	if f.isName(i) && !f.are(i, "PARTITION", "BY") && !f.startsFrame(i) {
		spec.Base = f.script.ident(&f.toks[i])
		f.drop(i, i+1)
		i++
	}
	partitioned := false
	if f.are(i, "PARTITION", "BY") {
		last := f.untilOrder(i+2, end) - 1
		if last < i+2 {
			f.failAt(i+2, errs.Syntax, "expected an expression, found %s", f.describe(f.at(i+2)))
			return spec
		}
		f.take(i, nameOf(f.mark(&partitionMark{}, i, last)), plain(pieceOpen))
		f.take(i + 1)
		f.closeAfter(last)
		i, partitioned = last+1, true
	}
	if f.are(i, "ORDER", "BY") {
		last := f.untilFrame(i+2, end) - 1
		f.take(i, nameOf(f.mark(&orderByMark{}, i, last)), plain(pieceOpen))
		if partitioned {
			f.putBefore(i, plain(pieceComma))
		}
		f.take(i + 1)
		f.orderItems(i+2, last+1)
		if f.err != nil {
			return spec
		}
		f.closeAfter(last)
		i = last + 1
	}
	if i < end {
		c := f.cursorAt(i, end)
		spec.Frame = c.frame()
		if !c.atEnd() {
			c.unexpected()
		}
		if f.done(c) {
			f.drop(i, end)
		}
	}
	return spec
}

// startsFrame reports whether a frame begins at i.
func (f *fragment) startsFrame(i int) bool {
	switch f.word(i) {
	case "ROWS", "RANGE", "GROUPS":
		next := f.word(i + 1)
		after := f.word(i + 2)
		return next == "BETWEEN" || next == "UNBOUNDED" || next == "CURRENT" || f.kind(i+1) == tokInt || next == "INTERVAL" ||
			after == "PRECEDING" || after == "FOLLOWING"
	}
	return false
}

// untilOrder is the first token from i on that begins ORDER BY or a frame.
func (f *fragment) untilOrder(i, end int) int {
	for i < end && !f.are(i, "ORDER", "BY") && !f.startsFrame(i) {
		i = f.skip(i)
	}
	return i
}

func (f *fragment) untilFrame(i, end int) int {
	for i < end && !f.startsFrame(i) {
		i = f.skip(i)
	}
	return i
}

// innerOrder rewrites ORDER BY inside a call.
func (f *fragment) innerOrder(i int) {
	if f.word(i-1) == "(" {
		f.failAt(i, errs.Syntax, "the arguments of a call come before ORDER BY")
		return
	}
	end := f.frameEnd(i)
	if f.are(end-2, "IGNORE", "NULLS") || f.are(end-2, "RESPECT", "NULLS") {
		f.call(f.openerOf(i)).node.IgnoreNulls = f.word(end-2) == "IGNORE"
		f.drop(end-2, end)
		end -= 2
	}
	f.take(i, plain(pieceComma), nameOf(f.mark(&orderByMark{}, i, end-1)), plain(pieceOpen))
	f.take(i + 1)
	f.orderItems(i+2, end)
	f.closeAfter(end - 1)
}

// frame reads ROWS, RANGE or GROUPS with its bounds.
func (c *cursor) frame() *Frame {
	fr := &Frame{Place: c.place()}
	w := c.word()
	if !slices.Contains([]string{"ROWS", "RANGE", "GROUPS"}, w) {
		c.unexpected()
		return fr
	}
	fr.Unit = FrameUnit(w)
	c.at++
	if !c.eat("BETWEEN") {
		fr.Start = c.bound()
		fr.End = Bound{Kind: CurrentRow}
		return fr
	}
	fr.Start = c.bound()
	c.want("AND")
	fr.End = c.bound()
	return fr
}

func (c *cursor) bound() Bound {
	switch {
	case c.eat("UNBOUNDED", "PRECEDING"):
		return Bound{Kind: UnboundedPreceding}
	case c.eat("UNBOUNDED", "FOLLOWING"):
		return Bound{Kind: UnboundedFollowing}
	case c.eat("CURRENT", "ROW"):
		return Bound{Kind: CurrentRow}
	}
	at := *c.tok()
	b := Bound{}
	e, ok := c.literal()
	if !ok {
		c.expected("a bound of the frame").WithHint("UNBOUNDED PRECEDING, CURRENT ROW, or a constant and PRECEDING or FOLLOWING")
		return b
	}
	if lit, isLit := e.(*Literal); isLit && lit.Kind != IntLiteral && lit.Kind != DecimalLiteral {
		c.fail(errs.New(errs.Syntax, at.pos(), "the bound of a frame is a number or an interval"))
		return b
	}
	b.Offset = e
	switch {
	case c.eat("PRECEDING"):
		b.Kind = Preceding
	case c.eat("FOLLOWING"):
		b.Kind = Following
	default:
		c.expected("PRECEDING or FOLLOWING")
	}
	return b
}
