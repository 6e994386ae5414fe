package parse

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/weirdb/weir/engine/errs"
)

// tableList lowers a list of tables; commas become cross joins. It returns the
// first token.
func (l *lowering) tableList(list sqlparser.TableExprs) (TableExpr, int) {
	var out TableExpr
	var first int
	for i, t := range list {
		right, at := l.table(t)
		if l.err != nil {
			return out, at
		}
		if i == 0 {
			out, first = right, at
			continue
		}
		out = &Join{Place: Place{l.tokPos(at - 1)}, Kind: CrossJoin, Comma: true, Left: out, Right: right}
	}
	return out, first
}

// table lowers one table expression and returns its first token.
func (l *lowering) table(t sqlparser.TableExpr) (TableExpr, int) {
	if l.deeper() {
		return nil, l.lo
	}
	defer func() { l.depth-- }()
	switch t := t.(type) {
	case *sqlparser.AliasedTableExpr:
		return l.aliased(t)
	case *sqlparser.TableFuncExpr:
		return l.functionTable(t)
	case *sqlparser.ParenTableExpr:
		e, first := l.tableList(t.Exprs)
		return e, first - 1
	case *sqlparser.JoinTableExpr:
		return l.join(t)
	}
	l.fail(l.syntaxError(l.lo))
	return nil, l.lo
}

func (l *lowering) aliased(t *sqlparser.AliasedTableExpr) (TableExpr, int) {
	switch e := t.Expr.(type) {
	case sqlparser.TableName:
		m := l.number(e.Name.String())
		if m == nil {
			return nil, l.lo
		}
		name, ok := m.node.(Name)
		if !ok {
			l.misplaced(m)
			return nil, l.lo
		}
		n := &TableName{Place: Place{l.tokPos(m.first)}, Name: name, Alias: l.alias(t.As)}
		if l.kind(m.last+1) == tokHint {
			n.Hints = l.hints[m.last+1]
		}
		if t.AsOf != nil {
			if t.AsOf.Time == nil {
				l.fail(l.syntaxError(m.last + 1))
				return nil, l.lo
			}
			n.AsOf = l.expr(t.AsOf.Time).expr
		}
		return n, m.first
	case *sqlparser.Subquery:
		q, first := l.query(e.Select)
		first--
		d := &DerivedTable{Query: q, Lateral: t.Lateral, Alias: l.alias(t.As)}
		if t.Lateral {
			first--
		}
		if l.err == nil {
			d.At = l.tokPos(first)
		}
		return d, first
	}
	l.fail(l.syntaxError(l.lo))
	return nil, l.lo
}

// alias is nil without one.
func (l *lowering) alias(as sqlparser.TableIdent) *Alias {
	if as.String() == "" {
		return nil
	}
	m := l.number(as.String())
	if m == nil {
		return nil
	}
	if a, ok := m.node.(*Alias); ok {
		if a.Name.IsZero() {
			return nil
		}
		return a
	}
	return &Alias{Name: l.oneName(m)}
}

// functionTable lowers the call of a table function.
func (l *lowering) functionTable(t *sqlparser.TableFuncExpr) (TableExpr, int) {
	m := l.number(t.Name)
	if m == nil {
		return nil, l.lo
	}
	base := len(l.args)
	l.pushAll(t.Exprs)
	args := l.pop(base)
	if l.err != nil {
		return nil, l.lo
	}
	switch n := m.node.(type) {
	case *TableFunction:
		n.Alias = l.alias(t.Alias)
		l.callParts(n.Call, args, false)
		return n, m.first
	case *Unnest:
		n.Alias = l.alias(t.Alias)
		n.Args = l.values(args)
		if len(n.Args) == 0 {
			l.fail(errs.New(errs.Syntax, n.At, "UNNEST needs an array"))
		}
		return n, m.first
	}
	l.misplaced(m)
	return nil, l.lo
}

func (l *lowering) join(t *sqlparser.JoinTableExpr) (TableExpr, int) {
	left, first := l.table(t.LeftExpr)
	right, at := l.table(t.RightExpr)
	if l.err != nil {
		return nil, first
	}
	j := &Join{Left: left, Right: right}
	word := at - 1 // JOIN
	for k := word - 1; k > l.lo; k-- {
		switch l.word(k) {
		case "LEFT":
			j.Kind = LeftJoin
		case "RIGHT":
			j.Kind = RightJoin
		case "FULL":
			j.Kind = FullJoin
		case "CROSS":
			j.Kind = CrossJoin
		case "NATURAL":
			j.Natural = true
		case "INNER", "OUTER":
		default:
			k = l.lo
			continue
		}
		word = k
	}
	j.At = l.tokPos(word)
	if t.Condition.On != nil {
		j.On = l.expr(t.Condition.On).expr
	}
	for _, c := range t.Condition.Using {
		j.Using = append(j.Using, l.oneName(l.number(c.String())))
	}
	conditioned := j.On != nil || len(j.Using) > 0
	switch {
	case l.err != nil:
	case j.Kind == CrossJoin && conditioned:
		l.fail(errs.New(errs.Syntax, j.At, "CROSS JOIN takes no condition").WithHint("write JOIN .. ON"))
	case j.Natural && conditioned:
		l.fail(errs.New(errs.Syntax, j.At, "NATURAL JOIN takes no condition"))
	case j.Kind != CrossJoin && !j.Natural && !conditioned:
		l.fail(errs.New(errs.Syntax, j.At, "the join has no condition").WithHint("add ON or USING; every row with every row is CROSS JOIN"))
	}
	return j, first
}
