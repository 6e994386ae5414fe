package parse

import (
	"slices"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/weirdb/weir/engine/errs"
)

// arg is an item of a list, lowered: of the arguments of a call, of SELECT, of
// GROUP BY and the like. Its node is an Expr or the mark of a clause.
type arg struct {
	node        any
	first, last int
}

// markOf is the mark that an expression is, or whose call it is; else nil.
func (l *lowering) markOf(e sqlparser.Expr) *mark {
	switch e := e.(type) {
	case *sqlparser.SQLVal:
		return l.leafMark(e)
	case *sqlparser.FuncExpr:
		return l.number(e.Name.String())
	}
	return nil
}

// push lowers an item, or the list of items that it stands for, to l.args.
func (l *lowering) push(e sqlparser.Expr) {
	v, ok := e.(*sqlparser.SQLVal)
	if !ok {
		a := l.arg(e)
		l.args = append(l.args, a)
		return
	}
	for m := l.leafMark(v); m != nil; m = l.next(m) {
		a := l.markArg(m)
		l.args = append(l.args, a)
	}
}

// pop takes the items from base on out of l.args. They are valid until the next
// item is lowered.
func (l *lowering) pop(base int) []arg {
	args := l.args[base:]
	l.args = l.args[:base]
	return args
}

// arg lowers one item.
func (l *lowering) arg(e sqlparser.Expr) arg {
	switch e := e.(type) {
	case *sqlparser.SQLVal:
		return l.markArg(l.leafMark(e))
	case *sqlparser.FuncExpr:
		return l.callArg(e)
	}
	o := l.expr(e)
	return arg{o.expr, o.first, o.last}
}

// markArg is what a mark stands for that is a whole operand.
func (l *lowering) markArg(m *mark) arg {
	if m == nil {
		return arg{}
	}
	if !m.folded {
		return arg{m.node, m.first, m.last}
	}
	base := len(l.args)
	for n := m.args; n >= 0; n = l.marks[n].next {
		a := l.markArg(&l.marks[n])
		l.args = append(l.args, a)
	}
	return l.completed(m, base, false)
}

// callArg completes the node of a call's mark with what vitess parsed.
func (l *lowering) callArg(e *sqlparser.FuncExpr) arg {
	m := l.number(e.Name.String())
	if m == nil || l.deeper() {
		return arg{}
	}
	defer func() { l.depth-- }()
	base := len(l.args)
	l.pushAll(e.Exprs)
	return l.completed(m, base, e.Distinct)
}

func (l *lowering) pushAll(list sqlparser.SelectExprs) {
	for _, x := range list {
		if a, ok := x.(*sqlparser.AliasedExpr); ok {
			l.push(a.Expr)
			continue
		}
		l.fail(l.syntaxError(l.lo))
	}
}

// completed is the node of a mark, completed with the arguments in l.args from
// base on.
func (l *lowering) completed(m *mark, base int, distinct bool) arg {
	args := l.pop(base)
	if l.err != nil {
		return arg{}
	}
	if c, ok := m.node.(*Call); ok {
		l.callParts(c, args, distinct)
	} else if distinct {
		l.fail(errs.New(errs.Syntax, l.tokPos(m.first), "DISTINCT is for aggregate functions only"))
	}
	if l.err != nil {
		return arg{}
	}
	return arg{l.complete(m, args), m.first, m.last}
}

// value is the expression that an item is.
func (l *lowering) value(a arg) Expr {
	if l.err != nil {
		return nil
	}
	e, ok := a.node.(Expr)
	if !ok {
		l.misplacedArg(a)
	}
	return e
}

func (l *lowering) values(args []arg) []Expr {
	out := make([]Expr, len(args))
	for i, a := range args {
		out[i] = l.value(a)
	}
	return out
}

// misplacedArg notes that an item stands where it has no meaning.
func (l *lowering) misplacedArg(a arg) {
	if _, ok := a.node.(*starMark); ok {
		l.fail(errs.New(errs.Syntax, l.tokPos(a.last), "* stands for columns and is no value"))
		return
	}
	l.fail(l.syntaxError(a.first))
}

// complete adds the arguments to a half-built node, and returns the node or what
// it stands for.
func (l *lowering) complete(m *mark, args []arg) any {
	one := func() Expr {
		if len(args) != 1 {
			l.misplaced(m)
			return nil
		}
		return l.value(args[0])
	}
	switch n := m.node.(type) {
	case *Call:
		return n
	case *Cast:
		n.Arg = one()
		return n
	case *NamedArg:
		n.Value = one()
		return n
	case *Row:
		n.Items = l.values(args)
		return n
	case *Array:
		if len(args) == 1 {
			if q, ok := args[0].node.(*Subquery); ok && l.word(m.first+1) == "(" {
				n.Query = q.Query
				return n
			}
		}
		n.Items = l.values(args)
		return n
	case *Map:
		if len(args)%2 != 0 {
			l.fail(errs.New(errs.Syntax, n.At, "MAP has a key without a value").WithHint("MAP[key, value, key, value]"))
		}
		for i, x := range l.values(args) {
			if i%2 == 0 {
				n.Keys = append(n.Keys, x)
			} else {
				n.Values = append(n.Values, x)
			}
		}
		return n
	case *Binary:
		left, right := args[0], args[1]
		n.At, n.OpAt = l.place(left.first), l.place(right.first-1)
		n.Left, n.Right = l.value(left), l.value(right)
		return n
	case *aliasMark:
		alias := &l.marks[n.name]
		if _, ok := args[0].node.(*starMark); ok {
			l.misplaced(alias)
			return nil
		}
		return &SelectItem{Expr: one(), Alias: l.oneName(alias)}
	case *Index:
		if len(args) != 2 {
			l.fail(errs.New(errs.Syntax, n.At, "an index has one value"))
			return n
		}
		n.Arg, n.Index = l.value(args[0]), l.value(args[1])
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
		n.Call.Args = l.values(args)
		return &TableArg{Place: n.Place, Table: n}
	case *callFilterMark:
		if len(args) != 1 {
			l.fail(errs.New(errs.Syntax, l.tokPos(m.first), "FILTER takes one condition").WithHint("join conditions by AND"))
			return n
		}
		n.condition = one()
		return n
	case *filterMark:
		if len(args) != 1 {
			l.fail(errs.New(errs.Syntax, l.tokPos(m.first), "%s takes one condition", l.word(m.first)).WithHint("join conditions by AND"))
			return n
		}
		n.condition = one()
		return n
	case *WindowSpec:
		l.windowParts(n, args)
		return n
	case *NamedWindow:
		l.windowParts(n.Spec, args)
		return n
	case *windowsMark:
		for _, a := range args {
			if w, ok := a.node.(*NamedWindow); ok {
				n.windows = append(n.windows, *w)
				continue
			}
			l.misplacedArg(a)
		}
		return n
	case *partitionMark:
		n.keys = l.values(args)
		return n
	case *orderByMark:
		n.items = l.orderItems(args)
		return n
	case *orderMark:
		n.item.Expr = one()
		return n
	case *GroupItem:
		n.Items = l.groupItems(args)
		return n
	case *valuesMark:
		n.rows = l.rows(args)
		return n
	case *havingMark:
		n.parts = slices.Clone(args)
		return n
	}
	l.misplaced(m)
	return nil
}

// tableArgOf completes TABLE (query) and TABLE (f(..)).
func (l *lowering) tableArgOf(to *TableArg, m *mark, args []arg) {
	if len(args) == 1 {
		switch x := args[0].node.(type) {
		case *Subquery:
			to.Table = &DerivedTable{Place: x.Place, Query: x.Query}
			return
		case *TableArg:
			to.Table = x.Table
			return
		}
	}
	l.fail(errs.New(errs.Syntax, l.tokPos(m.first), "expected a table, a query or a call after TABLE"))
}

// callParts sorts the arguments of a call from the clauses that came with them.
func (l *lowering) callParts(call *Call, args []arg, distinct bool) {
	call.Distinct = distinct
	for _, a := range args {
		switch n := a.node.(type) {
		case *WindowSpec:
			if call.Over != nil {
				l.fail(errs.New(errs.Syntax, n.At, "OVER is written twice"))
			}
			call.Over = n
		case *callFilterMark:
			if call.Filter != nil {
				l.fail(errs.New(errs.Syntax, l.tokPos(a.first), "FILTER takes one condition").WithHint("join conditions by AND"))
			}
			call.Filter = n.condition
		case *orderByMark:
			if call.OrderBy != nil {
				l.fail(errs.New(errs.Syntax, l.tokPos(a.first), "the order is given twice"))
			}
			call.OrderBy = n.items
		case *starMark:
			if n.qualifier != nil || len(call.Args) > 0 {
				l.misplacedArg(a)
			}
			call.Star = true
		default:
			if call.Star {
				l.fail(errs.New(errs.Syntax, call.At, "* is the only argument of %s", call.Name))
			}
			call.Args = append(call.Args, l.value(a))
		}
		if l.err != nil {
			return
		}
	}
	if distinct && len(call.Args) == 0 && !call.Star {
		l.fail(errs.New(errs.Syntax, call.At, "DISTINCT needs an argument"))
	}
}

// windowParts completes a window with its keys.
func (l *lowering) windowParts(spec *WindowSpec, args []arg) {
	for _, a := range args {
		switch n := a.node.(type) {
		case *partitionMark:
			spec.PartitionBy = n.keys
		case *orderByMark:
			spec.OrderBy = append(spec.OrderBy, n.items...)
		default:
			l.misplacedArg(a)
		}
	}
}
