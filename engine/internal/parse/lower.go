package parse

import (
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/weirdb/weir/engine/errs"
)

// lowering turns vitess's tree of a fragment into ours. All names and literals
// in that tree are numbers of marks; the tokens of a node are found from those
// of its parts. The first error stays in err; the tree is then worthless.
type lowering struct {
	*fragment
	depth int
}

// operand is an expression and the tokens it spans.
type operand struct {
	expr        Expr
	first, last int
}

// number is the mark that a name or string of vitess's tree stands for. It is
// nil, and an error noted, when vitess took a keyword for a name.
func (l *lowering) number(s string) *mark {
	n, err := strconv.Atoi(strings.TrimPrefix(s, ":v"))
	if err == nil && n >= 0 && n < len(l.marks) {
		return &l.marks[n]
	}
	for i := l.lo; i < l.hi; i++ {
		if !l.taken(i) && strings.EqualFold(l.word(i), s) {
			l.fail(l.syntaxError(i))
			return nil
		}
	}
	l.fail(l.syntaxError(l.lo))
	return nil
}

// misplaced notes that a mark stands where it has no meaning.
func (l *lowering) misplaced(m *mark) {
	if m == nil {
		return
	}
	if _, ok := m.node.(*starMark); ok {
		l.fail(errs.New(errs.Syntax, l.tokPos(m.last), "* stands for columns and is no value"))
		return
	}
	l.fail(l.syntaxError(m.first))
}

// deeper counts one level of the tree and reports whether it is one too many.
func (l *lowering) deeper() bool {
	if l.depth++; l.depth > maxChain+maxDepth {
		l.fail(errs.New(errs.Limit, l.tokPos(l.lo), "the statement is nested too deep"))
	}
	return l.err != nil
}

// query lowers a query and returns its first token.
func (l *lowering) query(s sqlparser.SelectStatement) (*Query, int) {
	if l.deeper() {
		return &Query{}, l.lo
	}
	defer func() { l.depth-- }()
	q := &Query{}
	var first int
	if p, ok := s.(*sqlparser.ParenSelect); ok {
		inner, at := l.query(p.Select)
		first = at - 1
		q.Body = inner
	} else {
		q.Body, first = l.body(s)
	}
	with, order := queryParts(s)
	if with != nil {
		first = l.with(q, with, first)
	}
	for _, o := range order {
		q.OrderBy = append(q.OrderBy, l.orderItem(o.Expr))
	}
	if l.err != nil {
		return q, first
	}
	open := l.lo - 1
	if first > l.lo && l.word(first-1) == "(" {
		open = first - 1
	}
	if t := l.tails[open]; t != nil {
		q.Limit, q.Offset, q.Emit = t.limit, t.offset, t.emit
	} else if inner, ok := q.Body.(*Query); ok && with == nil && order == nil {
		return inner, first // brackets that say nothing
	}
	q.At = l.tokPos(first)
	q.Text = l.text[l.toks[first].start:l.toks[max(l.frameEnd(first)-1, first)].end]
	return q, first
}

func queryParts(s sqlparser.SelectStatement) (*sqlparser.With, sqlparser.OrderBy) {
	switch s := s.(type) {
	case *sqlparser.Select:
		return s.With, s.OrderBy
	case *sqlparser.SetOp:
		return s.With, s.OrderBy
	}
	return nil, nil
}

// with lowers the common table expressions and returns the token WITH.
func (l *lowering) with(q *Query, w *sqlparser.With, first int) int {
	q.Recursive = w.Recursive
	for i, c := range w.Ctes {
		m := l.number(c.As.String())
		if m == nil {
			return first
		}
		cte := &CTE{Place: Place{l.tokPos(m.first)}, Name: l.oneName(m)}
		for _, col := range c.Columns {
			cte.Columns = append(cte.Columns, l.oneName(l.number(col.String())))
		}
		if sub, ok := c.Expr.(*sqlparser.Subquery); ok {
			cte.Query, _ = l.query(sub.Select)
		} else {
			l.misplaced(m)
		}
		q.With = append(q.With, cte)
		if i == 0 {
			first = m.first - 1
			if l.word(first) == "RECURSIVE" {
				first--
			}
		}
	}
	return first
}

// oneName is the single name that m stands for.
func (l *lowering) oneName(m *mark) Ident {
	if m == nil {
		return Ident{}
	}
	switch n := m.node.(type) {
	case Name:
		if len(n) == 1 {
			return n[0]
		}
		l.fail(errs.New(errs.Syntax, n.Pos(), "expected one name, found %s", clip(n.String())))
	default:
		l.misplaced(m)
	}
	return Ident{}
}

// body lowers a SELECT block or set operation and returns its first token.
func (l *lowering) body(s sqlparser.SelectStatement) (QueryBody, int) {
	if l.deeper() {
		return &Query{}, l.lo
	}
	defer func() { l.depth-- }()
	switch s := s.(type) {
	case *sqlparser.Select:
		return l.selectBlock(s)
	case *sqlparser.ParenSelect:
		q, first := l.query(s.Select)
		return q, first - 1
	case *sqlparser.SetOp:
		op := &SetOp{}
		var left, right int
		op.Left, left = l.body(s.Left)
		op.Right, right = l.body(s.Right)
		if l.err != nil {
			return op, left
		}
		kind, all, _ := strings.Cut(s.Type, " ")
		op.All = all == "all"
		switch kind {
		case "intersect":
			op.Kind = Intersect
		case "except":
			op.Kind = Except
		}
		at := right - 1
		if l.word(at) == "ALL" || l.word(at) == "DISTINCT" {
			at--
		}
		op.At = l.tokPos(at)
		return op, left
	}
	l.fail(l.syntaxError(l.lo))
	return &Query{}, l.lo
}

// selectBlock lowers one SELECT, or the VALUES or TABLE t it stands for.
func (l *lowering) selectBlock(s *sqlparser.Select) (QueryBody, int) {
	sel := &Select{Distinct: s.QueryOpts.Distinct}
	first := -1
	for i, item := range s.SelectExprs {
		a, ok := item.(*sqlparser.AliasedExpr)
		if !ok {
			l.fail(l.syntaxError(l.lo))
			return sel, l.lo
		}
		if i == 0 {
			if body, at := l.notSelect(a, s.From); body != nil {
				return body, at
			}
		}
		it, at := l.selectItem(a)
		if l.err != nil {
			return sel, l.lo
		}
		if i == 0 {
			first = at
		}
		sel.Items = append(sel.Items, it)
	}
	for first--; first > l.lo && l.word(first) != "SELECT"; first-- {
		if l.kind(first) == tokHint {
			sel.Hints = l.hints[first]
		}
	}
	if first >= l.lo {
		sel.At = l.tokPos(first)
	}
	if len(s.From) > 0 {
		sel.From, _ = l.tableList(s.From)
	}
	if s.Where != nil {
		sel.Where = l.expr(s.Where.Expr).expr
	}
	sel.Grouped = len(s.GroupBy) > 0
	for _, g := range s.GroupBy {
		sel.GroupBy = append(sel.GroupBy, l.groupItem(g))
	}
	if s.Having != nil {
		l.havingParts(sel, s.Having.Expr)
	}
	return sel, first
}

// notSelect lowers VALUES, TABLE t and a query in brackets, which vitess sees as
// the only item of a SELECT.
func (l *lowering) notSelect(a *sqlparser.AliasedExpr, from sqlparser.TableExprs) (QueryBody, int) {
	switch e := a.Expr.(type) {
	case *sqlparser.FuncExpr:
		m := l.number(e.Name.String())
		if m == nil {
			return nil, 0
		}
		if _, ok := m.node.(*valuesMark); ok {
			return l.valuesRows(m, e), m.first
		}
	case *sqlparser.SQLVal:
		m := l.number(string(e.Val))
		if m == nil {
			return nil, 0
		}
		switch n := m.node.(type) {
		case *tableMark:
			place := Place{l.tokPos(m.first)}
			return &Select{
				Place: place, Items: []SelectItem{{Place: place, Star: true}},
				From: &TableName{Place: Place{n.name.Pos()}, Name: n.name},
			}, m.first
		case *bracketMark:
			if t, ok := from[0].(*sqlparser.AliasedTableExpr); ok {
				if sub, ok := t.Expr.(*sqlparser.Subquery); ok {
					q, _ := l.query(sub.Select)
					return q, m.first
				}
			}
		}
	}
	return nil, 0
}

func (l *lowering) valuesRows(m *mark, e *sqlparser.FuncExpr) *Values {
	v := &Values{Place: Place{l.tokPos(m.first)}}
	for _, arg := range l.args(e) {
		switch row := arg.(type) {
		case sqlparser.ValTuple:
			v.Rows = append(v.Rows, l.exprs(sqlparser.Exprs(row)))
		case *sqlparser.ParenExpr:
			v.Rows = append(v.Rows, []Expr{l.expr(row.Expr).expr})
		default:
			o := l.expr(arg)
			if r, ok := o.expr.(*Row); ok {
				v.Rows = append(v.Rows, r.Items)
				continue
			}
			v.Rows = append(v.Rows, []Expr{o.expr})
		}
	}
	return v
}

func (l *lowering) selectItem(a *sqlparser.AliasedExpr) (SelectItem, int) {
	if v, ok := a.Expr.(*sqlparser.SQLVal); ok {
		if m := l.number(string(v.Val)); m != nil {
			if star, ok := m.node.(*starMark); ok {
				if as := a.As.String(); as != "" {
					l.misplaced(l.number(as))
				}
				return SelectItem{Place: Place{l.tokPos(m.first)}, Star: true, Qualifier: star.qualifier}, m.first
			}
		}
	}
	o := l.expr(a.Expr)
	it := SelectItem{Expr: o.expr}
	if l.err == nil {
		it.At = l.tokPos(o.first)
	}
	if as := a.As.String(); as != "" && l.err == nil {
		it.Alias = l.oneName(l.number(as))
	}
	return it, o.first
}

// orderItem lowers a sort key, which is the argument of its mark.
func (l *lowering) orderItem(e sqlparser.Expr) OrderItem {
	if call, ok := e.(*sqlparser.FuncExpr); ok {
		if m := l.number(call.Name.String()); m != nil {
			if o, ok := m.node.(*orderMark); ok {
				item := o.item
				if args := l.args(call); len(args) == 1 {
					item.Expr = l.expr(args[0]).expr
				}
				return item
			}
		}
	}
	return OrderItem{Expr: l.expr(e).expr}
}

// groupItem lowers an item of GROUP BY.
func (l *lowering) groupItem(e sqlparser.Expr) GroupItem {
	if l.deeper() {
		return GroupItem{}
	}
	defer func() { l.depth-- }()
	var m *mark
	switch e := e.(type) {
	case *sqlparser.FuncExpr:
		m = l.number(e.Name.String())
		if m == nil {
			return GroupItem{}
		}
		if g, ok := m.node.(*GroupItem); ok {
			for _, a := range l.args(e) {
				g.Items = append(g.Items, l.groupItem(a))
			}
			return *g
		}
	case *sqlparser.SQLVal:
		if m = l.number(string(e.Val)); m != nil {
			if g, ok := m.node.(*GroupItem); ok {
				return *g
			}
		}
	case sqlparser.ValTuple:
		o := l.expr(e)
		if row, ok := o.expr.(*Row); ok {
			return GroupItem{Place: row.Place, Exprs: row.Items}
		}
	}
	o := l.expr(e)
	if l.err != nil {
		return GroupItem{}
	}
	return GroupItem{Place: Place{l.tokPos(o.first)}, Exprs: []Expr{o.expr}}
}

// havingParts lowers what the text has in HAVING: HAVING, WINDOW and QUALIFY.
func (l *lowering) havingParts(sel *Select, e sqlparser.Expr) {
	call, ok := e.(*sqlparser.FuncExpr)
	if ok {
		m := l.number(call.Name.String())
		if m == nil {
			return
		}
		_, ok = m.node.(*havingMark)
	}
	if !ok {
		sel.Having = l.expr(e).expr
		return
	}
	for _, arg := range l.args(call) {
		part, ok := arg.(*sqlparser.FuncExpr)
		if !ok {
			l.expr(arg)
			continue
		}
		m := l.number(part.Name.String())
		if m == nil {
			return
		}
		args := l.args(part)
		switch n := m.node.(type) {
		case *filterMark:
			if len(args) != 1 {
				l.fail(errs.New(errs.Syntax, l.tokPos(m.first), "%s takes one condition", l.word(m.first)).WithHint("join conditions by AND"))
				return
			}
			cond := l.expr(args[0]).expr
			if n.clause == inHaving && sel.Having == nil {
				sel.Having = cond
			} else if n.clause == inQualify && sel.Qualify == nil {
				sel.Qualify = cond
			} else {
				l.misplaced(m)
			}
		case *windowsMark:
			for _, a := range args {
				sel.Windows = append(sel.Windows, l.namedWindow(a))
			}
		default:
			l.misplaced(m)
		}
	}
}

func (l *lowering) namedWindow(e sqlparser.Expr) NamedWindow {
	if call, ok := e.(*sqlparser.FuncExpr); ok {
		if m := l.number(call.Name.String()); m != nil {
			if w, ok := m.node.(*NamedWindow); ok {
				l.windowParts(w.Spec, call)
				return *w
			}
			l.misplaced(m)
		}
	}
	return NamedWindow{}
}

// statement lowers a fragment that is a query.
func (l *lowering) statement(stmt sqlparser.Statement) *Query {
	s, ok := stmt.(sqlparser.SelectStatement)
	if !ok {
		l.fail(l.syntaxError(l.lo))
		return nil
	}
	q, _ := l.query(s)
	return q
}

// onlyExpr lowers a fragment that is one expression, which vitess got as the
// select list of a query.
func (l *lowering) onlyExpr(stmt sqlparser.Statement) Expr {
	s, ok := stmt.(*sqlparser.Select)
	if !ok || len(s.SelectExprs) != 1 || len(s.From) > 0 {
		l.fail(errs.New(errs.Syntax, l.tokPos(l.lo), "expected one expression"))
		return nil
	}
	a, ok := s.SelectExprs[0].(*sqlparser.AliasedExpr)
	if !ok {
		l.fail(l.syntaxError(l.lo))
		return nil
	}
	if as := a.As.String(); as != "" {
		l.misplaced(l.number(as))
		return nil
	}
	return l.expr(a.Expr).expr
}
