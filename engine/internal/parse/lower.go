package parse

import (
	"slices"
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
	args  []arg // of the calls that are being lowered, the innermost last
}

// operand is an expression and the tokens it spans.
type operand struct {
	expr        Expr
	first, last int
}

// number is the mark that a name of vitess's tree stands for. It is nil, and an
// error noted, when vitess took a keyword for a name.
func (l *lowering) number(s string) *mark {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 && n < len(l.marks) {
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

// leafMark is the mark that :vn of vitess's tree stands for: the first one if it
// is a list.
func (l *lowering) leafMark(v *sqlparser.SQLVal) *mark {
	return l.number(strings.TrimPrefix(string(v.Val), ":v"))
}

// next is the mark after m in its list, or nil.
func (l *lowering) next(m *mark) *mark {
	if m.next < 0 {
		return nil
	}
	return &l.marks[m.next]
}

// misplaced notes that a mark stands where it has no meaning.
func (l *lowering) misplaced(m *mark) {
	if m != nil {
		l.misplacedArg(arg{m.node, m.first, m.last})
	}
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
	base := len(l.args)
	for _, o := range order {
		l.push(o.Expr)
	}
	q.OrderBy = l.orderItems(l.pop(base))
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
		at := l.selectItems(sel, a)
		if l.err != nil {
			return sel, l.lo
		}
		if i == 0 {
			first = at
		}
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
	base := len(l.args)
	for _, g := range s.GroupBy {
		l.push(g)
	}
	sel.GroupBy = l.groupItems(l.pop(base))
	if s.Having != nil {
		l.having(sel, s.Having.Expr)
	}
	return sel, first
}

// notSelect lowers VALUES, TABLE t and a query in brackets, which vitess sees as
// the only item of a SELECT.
func (l *lowering) notSelect(a *sqlparser.AliasedExpr, from sqlparser.TableExprs) (QueryBody, int) {
	m := l.markOf(a.Expr)
	if m == nil {
		return nil, 0
	}
	switch n := m.node.(type) {
	case *valuesMark:
		l.arg(a.Expr)
		return &Values{Place: Place{l.tokPos(m.first)}, Rows: n.rows}, m.first
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
	return nil, 0
}

// rows are the rows of VALUES. (1, 2) and ROW(1, 2) are two values, ((1, 2)) and
// 1 are one.
func (l *lowering) rows(args []arg) [][]Expr {
	out := make([][]Expr, len(args))
	for i, a := range args {
		if row, ok := a.node.(*Row); ok && row.At == l.place(a.first) {
			out[i] = row.Items
			continue
		}
		out[i] = []Expr{l.value(a)}
	}
	return out
}

// selectItems lowers an item, or a list of them, and returns its first token.
func (l *lowering) selectItems(sel *Select, e *sqlparser.AliasedExpr) int {
	base := len(l.args)
	l.push(e.Expr)
	args := l.pop(base)
	if l.err != nil {
		return l.lo
	}
	var as *mark
	if name := e.As.String(); name != "" {
		as = l.number(name)
	}
	sel.Items = slices.Grow(sel.Items, len(args))
	for _, a := range args {
		it := SelectItem{}
		switch n := a.node.(type) {
		case *SelectItem:
			it = *n
		case *starMark:
			it.Star, it.Qualifier = true, n.qualifier
			l.misplaced(as)
		default:
			it.Expr = l.value(a)
			if as != nil && l.err == nil {
				it.Alias = l.oneName(as)
			}
		}
		it.At = l.place(a.first)
		sel.Items = append(sel.Items, it)
	}
	return args[0].first
}

// orderItems are the sort keys of ORDER BY.
func (l *lowering) orderItems(args []arg) []OrderItem {
	if len(args) == 0 {
		return nil
	}
	out := make([]OrderItem, len(args))
	for i, a := range args {
		if o, ok := a.node.(*orderMark); ok {
			out[i] = o.item
			continue
		}
		out[i].Expr = l.value(a)
	}
	return out
}

// groupItems are the items of GROUP BY. Here (a, b) are two keys, but ROW(a, b)
// is one.
func (l *lowering) groupItems(args []arg) []GroupItem {
	if len(args) == 0 || l.err != nil {
		return nil
	}
	out := make([]GroupItem, len(args))
	for i, a := range args {
		switch n := a.node.(type) {
		case *GroupItem:
			out[i] = *n
			continue
		case *Row:
			if l.word(a.first) == "(" && n.At == l.tokPos(a.first) {
				out[i] = GroupItem{Place: n.Place, Exprs: n.Items}
				continue
			}
		}
		out[i] = GroupItem{Place: Place{l.tokPos(a.first)}, Exprs: []Expr{l.value(a)}}
	}
	return out
}

// having lowers what the text has in HAVING: HAVING, WINDOW and QUALIFY.
func (l *lowering) having(sel *Select, e sqlparser.Expr) {
	a := l.arg(e)
	h, ok := a.node.(*havingMark)
	if !ok {
		sel.Having = l.value(a)
		return
	}
	for _, part := range h.parts {
		switch n := part.node.(type) {
		case *filterMark:
			if n.clause == inHaving && sel.Having == nil {
				sel.Having = n.condition
			} else if n.clause == inQualify && sel.Qualify == nil {
				sel.Qualify = n.condition
			} else {
				l.misplacedArg(part)
			}
		case *windowsMark:
			sel.Windows = append(sel.Windows, n.windows...)
		default:
			l.misplacedArg(part)
		}
	}
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
