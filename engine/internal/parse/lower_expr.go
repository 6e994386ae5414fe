package parse

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/weirdb/weir/engine/errs"
)

// expr lowers one expression.
func (l *lowering) expr(e sqlparser.Expr) operand {
	if l.deeper() {
		return operand{}
	}
	defer func() { l.depth-- }()
	switch e := e.(type) {
	case *sqlparser.SQLVal:
		return l.operandOf(l.markArg(l.leafMark(e)))
	case *sqlparser.ColName:
		return l.columnRef(l.number(e.Name.String()))
	case *sqlparser.FuncExpr:
		return l.operandOf(l.callArg(e))
	case *sqlparser.ParenExpr:
		o := l.expr(e.Expr)
		return l.span(o.expr, o.first-1, 0)
	case sqlparser.ValTuple:
		return l.tuple(e)
	case *sqlparser.Subquery:
		q, first := l.query(e.Select)
		s := &Subquery{Query: q}
		o := l.span(s, first-1, 0)
		s.At = l.place(o.first)
		return o
	case *sqlparser.AndExpr, *sqlparser.OrExpr:
		return l.logic(e)
	case *sqlparser.NotExpr:
		o := l.expr(e.Expr)
		return operand{&Unary{Place: Place{l.place(o.first - 1)}, Op: Not, Arg: o.expr}, o.first - 1, o.last}
	case *sqlparser.UnaryExpr:
		return l.unary(e)
	case *sqlparser.BinaryExpr:
		return l.binary(e)
	case *sqlparser.ComparisonExpr:
		return l.comparison(e)
	case *sqlparser.RangeCond:
		return l.between(e)
	case *sqlparser.IsExpr:
		return l.test(e)
	case *sqlparser.ExistsExpr:
		q, first := l.query(e.Subquery.Select)
		return l.span(&Exists{Place: Place{l.place(first - 2)}, Query: q}, first-1, -1)
	case *sqlparser.CaseExpr:
		return l.caseExpr(e)
	}
	l.fail(l.syntaxError(l.lo))
	return operand{}
}

// place is the position of token i, "nowhere" after an error.
func (l *lowering) place(i int) errs.Position {
	if l.err != nil || i < 0 || i >= len(l.toks) {
		return errs.Position{}
	}
	return l.tokPos(i)
}

// span is an operand in brackets that open at token open, with shift more tokens
// before.
func (l *lowering) span(e Expr, open, shift int) operand {
	if l.err != nil || !l.inside(open) || l.closer(open) < 0 {
		if l.err == nil {
			l.fail(l.syntaxError(l.lo))
		}
		return operand{}
	}
	return operand{e, open + shift, l.closer(open)}
}

// operandOf is an item that has to be an expression.
func (l *lowering) operandOf(a arg) operand { return operand{l.value(a), a.first, a.last} }

func (l *lowering) columnRef(m *mark) operand {
	if m == nil {
		return operand{}
	}
	n, ok := m.node.(Name)
	if !ok {
		l.misplaced(m)
		return operand{}
	}
	return operand{&ColumnRef{Place: Place{n.Pos()}, Name: n}, m.first, m.last}
}

func (l *lowering) tuple(list sqlparser.ValTuple) operand {
	row := &Row{}
	var first int
	row.Items, first = l.list(list)
	row.At = l.place(first - 1)
	return l.span(row, first-1, 0)
}

// list lowers the items of a list in brackets and returns its first token.
func (l *lowering) list(tuple sqlparser.ValTuple) ([]Expr, int) {
	base := len(l.args)
	for _, e := range tuple {
		l.push(e)
	}
	args := l.pop(base)
	return l.values(args), args[0].first
}

// logic lowers a chain of AND or OR to one node.
func (l *lowering) logic(e sqlparser.Expr) operand {
	node := &Logic{Op: And}
	var parts []sqlparser.Expr
	if _, ok := e.(*sqlparser.OrExpr); ok {
		node.Op = Or
	}
	for {
		if a, ok := e.(*sqlparser.AndExpr); ok && node.Op == And {
			parts = append(parts, a.Right)
			e = a.Left
		} else if o, ok := e.(*sqlparser.OrExpr); ok && node.Op == Or {
			parts = append(parts, o.Right)
			e = o.Left
		} else {
			break
		}
	}
	out := l.expr(e)
	node.At = l.place(out.first)
	node.Args = append(make([]Expr, 0, len(parts)+1), out.expr)
	for i := len(parts) - 1; i >= 0; i-- {
		o := l.expr(parts[i])
		node.Args = append(node.Args, o.expr)
		out.last = o.last
	}
	out.expr = node
	return out
}

func (l *lowering) unary(e *sqlparser.UnaryExpr) operand {
	o := l.expr(e.Expr)
	u := &Unary{Place: Place{l.place(o.first - 1)}, Arg: o.expr}
	switch e.Operator {
	case sqlparser.UMinusStr:
		u.Op = Negate
	case sqlparser.UPlusStr:
		u.Op = Plus
	default:
		l.fail(l.syntaxError(max(o.first-1, l.lo)))
	}
	return operand{u, o.first - 1, o.last}
}

// binaryOps are the operators that come as vitess's BinaryExpr.
var binaryOps = map[string]BinaryOp{
	sqlparser.PlusStr: Add, sqlparser.MinusStr: Subtract, sqlparser.MultStr: Multiply, sqlparser.DivStr: Divide,
	sqlparser.ModStr: Modulo, sqlparser.ShiftLeftStr: Concat,
}

func (l *lowering) binary(e *sqlparser.BinaryExpr) operand {
	left, right := l.expr(e.Left), l.expr(e.Right)
	if l.err != nil {
		return operand{}
	}
	if e.Operator == sqlparser.BitXorStr {
		return operand{&AtTimeZone{Place: Place{l.place(left.first)}, Arg: left.expr, Zone: right.expr}, left.first, right.last}
	}
	op, ok := binaryOps[e.Operator]
	if !ok {
		l.fail(l.syntaxError(max(right.first-1, l.lo)))
		return operand{}
	}
	return l.infix(op, left, right, right.first-1)
}

// infix is left op right, with op at a token.
func (l *lowering) infix(op BinaryOp, left, right operand, at int) operand {
	b := &Binary{Place: Place{l.place(left.first)}, Op: op, OpAt: l.place(at), Left: left.expr, Right: right.expr}
	return operand{b, left.first, right.last}
}

// comparisons are the operators that come as vitess's ComparisonExpr.
var comparisons = map[string]BinaryOp{
	sqlparser.EqualStr: Equal, sqlparser.NotEqualStr: NotEqual, sqlparser.LessThanStr: Less, sqlparser.LessEqualStr: LessOrEqual,
	sqlparser.GreaterThanStr: Greater, sqlparser.GreaterEqualStr: GreaterOrEqual,
}

func (l *lowering) comparison(e *sqlparser.ComparisonExpr) operand {
	switch e.Operator {
	case sqlparser.InStr, sqlparser.NotInStr:
		return l.inList(e)
	case sqlparser.LikeStr, sqlparser.NotLikeStr:
		return l.likeExpr(e)
	}
	if op, m, right := l.operatorMark(e.Right); op != nil {
		a, b := l.expr(e.Left), l.expr(right)
		if op.name != "" {
			name := Name{l.script.ident(&l.toks[m.first])}
			return operand{&Call{Place: Place{l.place(a.first)}, Name: name, Args: []Expr{a.expr, b.expr}}, a.first, b.last}
		}
		return l.infix(op.op, a, b, m.first)
	}
	op, ok := comparisons[e.Operator]
	if !ok {
		l.fail(l.syntaxError(l.lo))
		return operand{}
	}
	left := l.expr(e.Left)
	if call, ok := e.Right.(*sqlparser.FuncExpr); ok {
		if m := l.number(call.Name.String()); m != nil {
			if q, ok := m.node.(*quantifierMark); ok {
				return l.quantified(op, left, q, m, call)
			}
		}
	}
	right := l.expr(e.Right)
	return l.infix(op, left, right, right.first-1)
}

func (l *lowering) quantified(op BinaryOp, left operand, q *quantifierMark, m *mark, call *sqlparser.FuncExpr) operand {
	n := &Quantified{Place: Place{l.place(left.first)}, Op: op, All: q.all, Arg: left.expr}
	if len(call.Exprs) == 1 {
		if a, ok := call.Exprs[0].(*sqlparser.AliasedExpr); ok {
			if sub, ok := a.Expr.(*sqlparser.Subquery); ok {
				n.Query, _ = l.query(sub.Select)
				return operand{n, left.first, m.last}
			}
		}
	}
	// The brackets of the query were taken for those of the call.
	l.misplaced(m)
	return operand{}
}

// operatorMark takes `:vn | y` apart, when the mark is an operator's.
func (l *lowering) operatorMark(e sqlparser.Expr) (*operatorMark, *mark, sqlparser.Expr) {
	if m, right := l.barMark(e); m != nil {
		if op, ok := m.node.(*operatorMark); ok {
			return op, m, right
		}
	}
	return nil, nil, nil
}

// barMark takes `:vn | y` apart.
func (l *lowering) barMark(e sqlparser.Expr) (*mark, sqlparser.Expr) {
	b, ok := e.(*sqlparser.BinaryExpr)
	if !ok || b.Operator != sqlparser.BitOrStr {
		return nil, nil
	}
	v, ok := b.Left.(*sqlparser.SQLVal)
	if !ok {
		return nil, nil
	}
	return l.leafMark(v), b.Right
}

func (l *lowering) likeExpr(e *sqlparser.ComparisonExpr) operand {
	m := &Match{Kind: Like, Not: e.Operator == sqlparser.NotLikeStr}
	pattern := e.Right
	if op, _, right := l.operatorMark(e.Right); op != nil {
		m.Kind, pattern = op.match, right
	}
	arg, pat := l.expr(e.Left), l.expr(pattern)
	m.Place, m.Arg, m.Pattern = Place{l.place(arg.first)}, arg.expr, pat.expr
	last := pat.last
	if e.Escape != nil {
		esc := l.expr(e.Escape)
		m.Escape, last = esc.expr, esc.last
		if m.Kind == RLike {
			l.fail(errs.New(errs.Syntax, l.place(esc.first-1), "a regular expression takes no ESCAPE"))
		}
	}
	return operand{m, arg.first, last}
}

func (l *lowering) inList(e *sqlparser.ComparisonExpr) operand {
	arg := l.expr(e.Left)
	in := &In{Place: Place{l.place(arg.first)}, Arg: arg.expr, Not: e.Operator == sqlparser.NotInStr}
	open := -1
	switch r := e.Right.(type) {
	case sqlparser.ValTuple:
		in.List, open = l.list(r)
		open--
	case *sqlparser.Subquery:
		q, first := l.query(r.Select)
		in.Query, open = q, first-1
	}
	o := l.span(in, open, 0)
	o.first = arg.first
	return o
}

func (l *lowering) between(e *sqlparser.RangeCond) operand {
	arg := l.expr(e.Left)
	b := &Between{Place: Place{l.place(arg.first)}, Arg: arg.expr, Not: e.Operator == sqlparser.NotBetweenStr}
	from := e.From
	if m, low := l.barMark(from); m != nil {
		if _, ok := m.node.(*symmetricMark); ok {
			b.Symmetric, from = true, low
		}
	}
	b.Low = l.expr(from).expr
	high := l.expr(e.To)
	b.High = high.expr
	return operand{b, arg.first, high.last}
}

// test reads the words after IS, for vitess has NULL for UNKNOWN.
func (l *lowering) test(e *sqlparser.IsExpr) operand {
	arg := l.expr(e.Expr)
	if l.err != nil {
		return operand{}
	}
	t := &Test{Place: Place{l.place(arg.first)}, Arg: arg.expr}
	last := arg.last + 2
	if l.word(last) == "NOT" {
		t.Not = true
		last++
	}
	t.Kind = TestKind(l.word(last))
	switch t.Kind {
	case IsNull, IsTrue, IsFalse, IsUnknown:
		return operand{t, arg.first, last}
	}
	l.fail(l.syntaxError(min(last, l.hi)))
	return operand{}
}

func (l *lowering) caseExpr(e *sqlparser.CaseExpr) operand {
	c := &Case{}
	first, last := -1, -1
	if e.Expr != nil {
		o := l.expr(e.Expr)
		c.Operand, first = o.expr, o.first-1
	}
	for i, w := range e.Whens {
		cond, then := l.expr(w.Cond), l.expr(w.Val)
		if i == 0 && c.Operand == nil {
			first = cond.first - 2
		}
		c.Whens = append(c.Whens, When{cond.expr, then.expr})
		last = then.last
	}
	if e.Else != nil {
		o := l.expr(e.Else)
		c.Else, last = o.expr, o.last
	}
	c.At = l.place(first)
	return operand{c, first, last + 1}
}
