package plan

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// binder turns syntax into nodes. It is a value: a nested query with names of its
// own is bound by a copy.
type binder struct {
	ctx     context.Context
	session *catalog.Session
	ctes    *cteScope
	views   []catalog.Identifier // being bound, against endless recursion
	ttl     map[string]Retention // of the names in the FROM that is being bound
	domain  *domain              // of a query that depends on rows around it, or nil
	lookups []parse.Hint         // LOOKUP, of that SELECT
	kept    func(KeptVersions) (connector.Source, string)
}

// cteScope is a chain of common table expressions, the innermost first. Each sees
// those that it is chained to.
type cteScope struct {
	cte   *parse.CTE
	outer *cteScope
}

// unsupported is the error for what is understood but not executed.
func unsupported(pos errs.Position, format string, args ...any) *errs.Error {
	return errs.New(errs.Unsupported, pos, "%s not supported yet", fmt.Sprintf(format, args...))
}

// result binds a query whose rows go to the caller. Its columns have names of
// their own: of two with one name the second gets a number.
func (b *binder) result(q *parse.Query) (Node, error) {
	in, err := b.complete(q, true)
	if err != nil {
		return nil, err
	}
	n := &Collect{}
	n.Input, n.at = in, q.At
	n.schema = withTimes(in, in.Schema())
	taken := map[string]bool{}
	for i, c := range n.schema {
		name := c.Name
		for k := 0; taken[name]; k++ {
			name = c.Name + strconv.Itoa(k)
		}
		taken[name] = true
		n.schema[i].Name = name
	}
	return n, nil
}

// query binds a query expression that is a part of another, and depends on none of its
// rows.
func (b *binder) query(q *parse.Query) (Node, error) {
	free := *b
	free.domain = nil
	return free.complete(q, false)
}

// complete binds a query expression. The rows of a result have an order.
func (b *binder) complete(q *parse.Query, result bool) (Node, error) {
	if q.Recursive {
		return nil, unsupported(q.At, "WITH RECURSIVE is")
	}
	if q.Emit != "" {
		return nil, unsupported(q.At, "EMIT is")
	}
	if len(q.With) > 0 {
		inner := *b
		for i, cte := range q.With {
			for _, earlier := range q.With[:i] {
				if earlier.Name.Value == cte.Name.Value {
					return nil, errs.New(errs.Exists, cte.Name.At, "WITH has two queries named %q", cte.Name.Value).WithHint("choose another name for one of them")
				}
			}
			inner.ctes = &cteScope{cte: cte, outer: inner.ctes}
		}
		b = &inner
	}
	var o ordered
	var err error
	if s, ok := q.Body.(*parse.Select); ok {
		o, err = b.selectBlock(s, q.OrderBy)
	} else if o.Node, err = b.body(q.Body); err == nil {
		o, err = b.ordering(o.Node, q.OrderBy)
	}
	if err != nil {
		return nil, err
	}
	return b.sorted(o, q, result)
}

func (b *binder) rowCount(e parse.Expr, clause string) (int64, error) {
	bound, err := b.constant(e, clause)
	if err != nil {
		return 0, err
	}
	lit, ok := expr.Fold(bound).(*expr.Literal)
	if !ok || !lit.T.IsInteger() {
		return 0, errs.New(errs.Invalid, e.Pos(), "%s takes a whole number, not %s", clause, parse.Format(e))
	}
	n, ok := lit.Value.(int64)
	if !ok || n < 0 {
		return 0, errs.New(errs.Invalid, e.Pos(), "%s takes a number from 0, not %s", clause, parse.Format(e))
	}
	return n, nil
}

// constant binds an expression that can name no column.
func (b *binder) constant(e parse.Expr, clause string) (expr.Expr, error) {
	x := &exprBinder{b: b, scope: &scope{}, clause: clause}
	return x.bind(e)
}

func (b *binder) body(q parse.QueryBody) (Node, error) {
	switch q := q.(type) {
	case *parse.Query:
		return b.complete(q, false)
	case *parse.Select:
		o, err := b.selectBlock(q, nil)
		return o.Node, err
	case *parse.SetOp:
		return b.setOp(q)
	case *parse.Values:
		if b.domain != nil {
			return b.dependentValues(q)
		}
		return b.values(q)
	}
	panic(fmt.Sprintf("plan: query body %T", q))
}

// convert is n with its columns cast to the types of the schema, if any needs it.
func convert(n Node, schema sqltype.Schema) Node {
	exprs, changed := columns(n), false
	for i, e := range exprs {
		if !e.Type().Equal(schema[i].Type) {
			exprs[i], changed = castTo(e, schema[i].Type), true
		}
	}
	if !changed {
		return n
	}
	return newCalc(n, nil, exprs, schema.Names(), n.Pos())
}

// castTo is e as a t, which the caller knows to be a legal implicit cast.
func castTo(e expr.Expr, t sqltype.Type) expr.Expr {
	c, err := expr.Coerce(e, t)
	if err != nil {
		if c, err = expr.NewCast(e, t, false, e.Pos()); err != nil {
			panic("plan: " + err.Error())
		}
	}
	return c
}

// values binds VALUES (..), (..). Columns are named EXPR$0 and so on.
func (b *binder) values(v *parse.Values) (Node, error) {
	width := len(v.Rows[0])
	rows := make([][]expr.Expr, len(v.Rows))
	x := &exprBinder{b: b, scope: &scope{}, clause: "VALUES"}
	for i, r := range v.Rows {
		if len(r) != width {
			return nil, errs.New(errs.Type, r[0].Pos(), "row %d of VALUES has %s, the first %d", i+1, count(len(r), "value"), width)
		}
		for _, e := range r {
			bound, err := x.bind(e)
			if err != nil {
				return nil, err
			}
			rows[i] = append(rows[i], bound)
		}
	}
	schema := make(sqltype.Schema, width)
	for c := range schema {
		types := make([]sqltype.Type, len(rows))
		for i, r := range rows {
			types[i] = r[c].Type()
		}
		t, err := function.CommonType(types...)
		if err != nil {
			return nil, errs.New(errs.Type, v.At, "column %d of VALUES has no common type: %s", c+1, typeList(types)).WithHint("CAST the values to one type")
		}
		schema[c] = sqltype.Column{Name: "EXPR$" + strconv.Itoa(c), Type: t}
		for _, r := range rows {
			if !r[c].Type().Equal(t) {
				r[c] = castTo(r[c], t)
			}
		}
	}
	return newValues(schema, rows, v.At), nil
}

func typeList(types []sqltype.Type) string {
	var names []string
	for _, t := range types {
		if s := t.Optional().String(); !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	return list(names)
}

// list is "a", "a and b", "a, b and c".
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		out := words[0]
		for _, w := range words[1 : n-1] {
			out += ", " + w
		}
		return out + " and " + words[n-1]
	}
}

// count is "1 column", "2 columns".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
