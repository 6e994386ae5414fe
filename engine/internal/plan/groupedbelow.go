package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
)

// This file binds aggregations with subqueries in the SELECT list, HAVING, QUALIFY or
// ORDER BY: groups are made first, below, and the subqueries are joined with them.

// groupsFirst reports whether a SELECT is such an aggregation.
func (b *binder) groupsFirst(s *parse.Select, order []parse.OrderItem) bool {
	es := aboveGroups(s, order)
	return len(subqueries(es...)) > 0 && (s.Grouped || s.Having != nil || len(b.aggregates(es...)) > 0)
}

// aboveGroups are the expressions over the groups of a SELECT.
func aboveGroups(s *parse.Select, order []parse.OrderItem) []parse.Expr {
	es := []parse.Expr{s.Having, s.Qualify}
	for _, it := range s.Items {
		es = append(es, it.Expr)
	}
	for _, w := range s.Windows {
		es = append(es, &parse.Call{Over: w.Spec})
	}
	for _, o := range order {
		es = append(es, o.Expr)
	}
	return es
}

// aggregates lists the calls that are computed of the rows of a group.
func (b *binder) aggregates(es ...parse.Expr) []*parse.Call {
	var out []*parse.Call
	for _, e := range es {
		if c, ok := e.(*parse.Call); ok && c.Over == nil && b.isAggregate(c) {
			out = append(out, c)
			continue
		}
		out = append(out, b.aggregates(parts(e)...)...)
	}
	return out
}

func (b *binder) isAggregate(c *parse.Call) bool {
	switch strings.ToUpper(c.Name.String()) {
	case "GROUPING", "GROUPING_ID", "GROUP_ID":
		return true
	}
	_, aggregate := b.session.FunctionOf(c.Name)
	return aggregate != nil
}

// groupedBelow binds the aggregation as a SELECT of keys and aggregates, and s over it.
func (b *binder) groupedBelow(s *parse.Select, order []parse.OrderItem) (ordered, error) {
	_, from, err := b.from(s.From)
	if err != nil {
		return ordered{}, err
	}
	keys, groups, err := writtenOut(s, from)
	if err != nil {
		return ordered{}, err
	}
	es := aboveGroups(s, order)
	calls := b.aggregates(es...)
	below := &parse.Select{Place: s.Place, Hints: s.Hints, From: s.From, Where: s.Where, Grouped: s.Grouped, GroupBy: groups}
	for _, k := range keys {
		below.Items = append(below.Items, parse.SelectItem{Place: parse.Place{At: k.Pos()}, Expr: k})
	}
	for _, c := range calls {
		below.Items = append(below.Items, parse.SelectItem{Place: c.Place, Expr: c})
	}
	if len(below.Items) == 0 { // a group of all rows, of which nothing is asked
		star := &parse.Call{Place: s.Place, Name: parse.Name{{Value: "COUNT"}}, Star: true}
		below.Items = []parse.SelectItem{{Place: s.Place, Expr: star}}
	}
	inner, err := b.selectBlock(below, nil)
	if err != nil {
		return ordered{}, err
	}
	n := inner.Node
	sc, values := groupScope(n, from, keys), map[parse.Expr]expr.Expr{}
	for i, c := range calls {
		values[c] = sc.column(len(keys)+i, c.At)
	}
	for i, k := range keys {
		if _, column := k.(*parse.ColumnRef); !column {
			for _, same := range alike(k, es...) {
				values[same] = sc.column(i, same.Pos())
			}
		}
	}
	if n, sc, err = b.addValues(n, sc, values, es...); err != nil {
		return ordered{}, err
	}
	if s.Having != nil {
		x := &exprBinder{b: b, scope: sc, clause: "HAVING", values: values}
		cond, err := x.condition(s.Having)
		if err != nil {
			return ordered{}, err
		}
		n = newFilter(n, cond, s.Having.Pos())
	}
	above := *s
	above.Grouped, above.GroupBy, above.Having = false, nil, nil
	return b.list(&above, order, n, sc, values, n)
}

// writtenOut are the expressions of GROUP BY, each once, and GROUP BY without positions
// and aliases.
func writtenOut(s *parse.Select, from *scope) (keys []parse.Expr, groups []parse.GroupItem, err error) {
	var rewrite func(items []parse.GroupItem) ([]parse.GroupItem, error)
	rewrite = func(items []parse.GroupItem) ([]parse.GroupItem, error) {
		out := slices.Clone(items)
		for i, it := range items {
			out[i].Exprs = slices.Clone(it.Exprs)
			for k, e := range it.Exprs {
				if c, ok := e.(*parse.Call); ok && isWindowCall(c) {
					return nil, unsupported(c.At, "a subquery above GROUP BY %s is", c.Name).WithHint("put the aggregation in a query in FROM")
				}
				if lit, ok := e.(*parse.Literal); ok && lit.Kind == parse.IntLiteral {
					if n, err := strconv.Atoi(lit.Text); err == nil && n >= 1 && n <= len(s.Items) && !s.Items[n-1].Star {
						e = s.Items[n-1].Expr
					}
				}
				if ref, ok := e.(*parse.ColumnRef); ok && len(ref.Name) == 1 {
					if _, err := from.resolve(ref.Name); errs.CodeOf(err) == errs.NotFound {
						if at := slices.IndexFunc(s.Items, func(it parse.SelectItem) bool { return it.Alias.Value == ref.Name[0].Value }); at >= 0 {
							e = s.Items[at].Expr
						}
					}
				}
				out[i].Exprs[k] = e
				if len(alike(e, keys...)) == 0 {
					keys = append(keys, e)
				}
			}
			var err error
			if out[i].Items, err = rewrite(it.Items); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	groups, err = rewrite(s.GroupBy)
	return keys, groups, err
}

// alike are the expressions, and parts of them, that are written as e is.
func alike(e parse.Expr, es ...parse.Expr) []parse.Expr {
	var out []parse.Expr
	text := parse.Format(e)
	for _, x := range es {
		if x == nil {
			continue
		}
		if parse.Format(x) == text {
			out = append(out, x)
			continue
		}
		out = append(out, alike(e, parts(x)...)...)
	}
	return out
}

// groupScope has, of the columns of FROM, those that are keys.
func groupScope(n Node, from *scope, keys []parse.Expr) *scope {
	sc := &scope{tables: slices.Clone(from.tables), ungrouped: from}
	for i, c := range n.Schema() {
		f := field{name: c.Name, typ: c.Type, hidden: true}
		if i < len(keys) {
			if ref, ok := keys[i].(*parse.ColumnRef); ok {
				if col, err := from.resolve(ref.Name); err == nil {
					f.table, f.name, f.hidden = from.fields[col.Index].table, from.fields[col.Index].name, false
				}
			}
		}
		sc.fields = append(sc.fields, f)
	}
	if len(sc.tables) == 0 {
		sc.tables = []tableRef{{}}
	}
	return sc
}
