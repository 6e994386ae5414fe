package parse

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/weirdb/weir/engine/errs"
)

// args are the arguments of a call in vitess's tree.
func (l *lowering) args(e *sqlparser.FuncExpr) []sqlparser.Expr { return l.argExprs(e.Exprs) }

func (l *lowering) argExprs(list sqlparser.SelectExprs) []sqlparser.Expr {
	out := make([]sqlparser.Expr, 0, len(list))
	for _, a := range list {
		if x, ok := a.(*sqlparser.AliasedExpr); ok {
			out = append(out, x.Expr)
			continue
		}
		l.fail(l.syntaxError(l.lo))
	}
	return out
}

// marked completes the node of a call's mark with what vitess parsed.
func (l *lowering) marked(e *sqlparser.FuncExpr) operand {
	m := l.number(e.Name.String())
	if m == nil {
		return operand{}
	}
	if call, ok := m.node.(*Call); ok {
		l.callParts(call, e.Exprs, e.Distinct)
		return operand{call, m.first, m.last}
	}
	if e.Distinct {
		l.fail(errs.New(errs.Syntax, l.tokPos(m.first), "DISTINCT is for aggregate functions only"))
	}
	args := make([]operand, 0, len(e.Exprs))
	for _, a := range l.args(e) {
		args = append(args, l.expr(a))
	}
	if l.err != nil {
		return operand{}
	}
	x := l.complete(m, args)
	return operand{x, m.first, m.last}
}

// complete adds the arguments to a half-built node that is no call.
func (l *lowering) complete(m *mark, args []operand) Expr {
	one := func() Expr {
		if len(args) != 1 {
			l.misplaced(m)
			return nil
		}
		return args[0].expr
	}
	list := func() []Expr {
		out := make([]Expr, len(args))
		for i, a := range args {
			out[i] = a.expr
		}
		return out
	}
	switch n := m.node.(type) {
	case *Cast:
		n.Arg = one()
		return n
	case *NamedArg:
		n.Value = one()
		return n
	case *Row:
		n.Items = list()
		return n
	case *Array:
		if len(args) == 1 {
			if q, ok := args[0].expr.(*Subquery); ok && l.word(m.first+1) == "(" {
				n.Query = q.Query
				return n
			}
		}
		n.Items = list()
		return n
	case *Map:
		if len(args)%2 != 0 {
			l.fail(errs.New(errs.Syntax, n.At, "MAP has a key without a value").WithHint("MAP[key, value, key, value]"))
		}
		for i, a := range args {
			if i%2 == 0 {
				n.Keys = append(n.Keys, a.expr)
			} else {
				n.Values = append(n.Values, a.expr)
			}
		}
		return n
	case *Index:
		if len(args) != 2 {
			l.fail(errs.New(errs.Syntax, n.At, "an index has one value"))
			return n
		}
		n.Arg, n.Index = args[0].expr, args[1].expr
		return n
	case *fieldMark:
		x := one()
		for _, field := range n.path {
			x = &FieldRef{Place: Place{l.place(m.first)}, Arg: x, Field: field}
		}
		return x
	case *TableArg:
		l.tableArgOf(n, m, args)
		return n
	case *TableFunction:
		n.Call.Args = list()
		return &TableArg{Place: n.Place, Table: n}
	}
	l.misplaced(m)
	return nil
}

// tableArgOf completes TABLE (query) and TABLE (f(..)).
func (l *lowering) tableArgOf(arg *TableArg, m *mark, args []operand) {
	if len(args) == 1 {
		switch x := args[0].expr.(type) {
		case *Subquery:
			arg.Table = &DerivedTable{Place: x.Place, Query: x.Query}
			return
		case *TableArg:
			arg.Table = x.Table
			return
		}
	}
	l.fail(errs.New(errs.Syntax, l.tokPos(m.first), "expected a table, a query or a call after TABLE"))
}

// callParts sorts the arguments of a call from the clauses that came with them.
func (l *lowering) callParts(call *Call, list sqlparser.SelectExprs, distinct bool) {
	call.Distinct = distinct
	for _, a := range l.argExprs(list) {
		if v, ok := a.(*sqlparser.SQLVal); ok {
			m := l.number(string(v.Val))
			if m == nil {
				return
			}
			switch n := m.node.(type) {
			case *WindowSpec:
				l.setOver(call, n)
				continue
			case *starMark:
				if len(list) > 0 && (n.qualifier != nil || len(call.Args) > 0) {
					l.misplaced(m)
					return
				}
				call.Star = true
				continue
			}
		}
		if c, ok := a.(*sqlparser.FuncExpr); ok && l.clause(call, c) {
			continue
		}
		if call.Star {
			l.fail(errs.New(errs.Syntax, call.At, "* is the only argument of %s", call.Name))
			return
		}
		call.Args = append(call.Args, l.expr(a).expr)
		if l.err != nil {
			return
		}
	}
	if distinct && len(call.Args) == 0 && !call.Star {
		l.fail(errs.New(errs.Syntax, call.At, "DISTINCT needs an argument"))
	}
}

func (l *lowering) setOver(call *Call, spec *WindowSpec) {
	if call.Over != nil {
		l.fail(errs.New(errs.Syntax, spec.At, "OVER is written twice"))
	}
	call.Over = spec
}

// clause completes call with one of its clauses, if c is one.
func (l *lowering) clause(call *Call, c *sqlparser.FuncExpr) bool {
	m := l.number(c.Name.String())
	if m == nil {
		return true
	}
	switch n := m.node.(type) {
	case *callFilterMark:
		args := l.args(c)
		if len(args) != 1 || call.Filter != nil {
			l.fail(errs.New(errs.Syntax, l.tokPos(m.first), "FILTER takes one condition").WithHint("join conditions by AND"))
			return true
		}
		call.Filter = l.expr(args[0]).expr
	case *orderByMark:
		if call.OrderBy != nil {
			l.fail(errs.New(errs.Syntax, l.tokPos(m.first), "the order is given twice"))
		}
		for _, a := range l.args(c) {
			call.OrderBy = append(call.OrderBy, l.orderItem(a))
		}
	case *WindowSpec:
		l.windowParts(n, c)
		l.setOver(call, n)
	default:
		return false
	}
	return true
}

// windowParts completes a window with its keys.
func (l *lowering) windowParts(spec *WindowSpec, c *sqlparser.FuncExpr) {
	for _, a := range l.args(c) {
		part, ok := a.(*sqlparser.FuncExpr)
		if !ok {
			l.leafOnly(a)
			return
		}
		m := l.number(part.Name.String())
		if m == nil {
			return
		}
		switch m.node.(type) {
		case *partitionMark:
			spec.PartitionBy = l.exprs(l.args(part))
		case *orderByMark:
			for _, o := range l.args(part) {
				spec.OrderBy = append(spec.OrderBy, l.orderItem(o))
			}
		default:
			l.misplaced(m)
		}
	}
}

// leafOnly notes that an expression stands where none may.
func (l *lowering) leafOnly(e sqlparser.Expr) {
	if o := l.expr(e); l.err == nil {
		l.fail(l.syntaxError(o.first))
	}
}
