package plan

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// overs collects the calls with OVER of a SELECT. While it is bound, a reference to call
// i stands as column overColumn+i.
type overs struct {
	windows []parse.NamedWindow
	calls   []*overCall
}

const overColumn = 1 << 20

// overCall is a call with OVER, over the columns of FROM, or of the groups.
type overCall struct {
	call      *parse.Call
	function  RankFunction
	over      *OverCall // nil: the rows are numbered by a Rank
	partition []expr.Expr
	order     []overKey
}

type overKey struct {
	expr            expr.Expr
	desc, nullsLast bool
}

// over binds a call with OVER and returns its stand-in.
func (x *exprBinder) over(e *parse.Call) (expr.Expr, error) {
	name := strings.ToUpper(e.Name.String())
	if x.overs == nil {
		err := errs.New(errs.Invalid, e.At, "%s OVER cannot stand in %s", name, x.clause)
		if x.clause == "WHERE" || x.clause == "HAVING" {
			return nil, err.WithHint("write QUALIFY with the condition, or compute it in a query in FROM")
		}
		return nil, err.WithHint("compute it in a query in FROM")
	}
	spec, err := x.overs.window(e.Over)
	if err != nil {
		return nil, err
	}
	c := &overCall{call: e}
	switch name {
	case "ROW_NUMBER":
		c.function = RowNumber
	case "RANK":
		c.function = RankWithGaps
	case "DENSE_RANK":
		c.function = DenseRank
	default:
		if err := x.overWindow(c, spec); err != nil {
			return nil, err
		}
		if err := x.overFunction(e, name, c, spec); err != nil {
			return nil, err
		}
		return x.overs.add(c), nil
	}
	switch {
	case len(e.Args) > 0 || e.Star:
		return nil, errs.New(errs.Invalid, e.At, "%s takes no arguments", name)
	case e.Distinct || e.Filter != nil:
		return nil, errs.New(errs.Invalid, e.At, "%s takes neither DISTINCT nor FILTER", name)
	case spec.Frame != nil:
		return nil, errs.New(errs.Invalid, spec.Frame.At, "%s numbers all rows of the partition and takes no frame", name)
	case c.function != RowNumber && len(spec.OrderBy) == 0:
		return nil, errs.New(errs.Invalid, e.At, "%s needs ORDER BY in its window", name).WithHint("ROW_NUMBER numbers rows as they come")
	}
	if err := x.overWindow(c, spec); err != nil {
		return nil, err
	}
	return x.overs.add(c), nil
}

// add returns the stand-in for a call; equal ones are computed once.
func (o *overs) add(c *overCall) expr.Expr {
	i := slices.IndexFunc(o.calls, c.equal)
	if i < 0 {
		i = len(o.calls)
		o.calls = append(o.calls, c)
	}
	t := sqltype.BigIntType.Required()
	if c.over != nil {
		t = c.over.T
	}
	return &expr.Column{Index: overColumn + i, Name: parse.Format(c.call), T: t, At: c.call.At}
}

// overWindow binds the window of a call. Constants neither part rows nor order them.
func (x *exprBinder) overWindow(c *overCall, spec *parse.WindowSpec) error {
	inner := &exprBinder{b: x.b, scope: x.scope, clause: "OVER", aggs: x.aggs, values: x.values}
	if x.clause == "QUALIFY" {
		inner.outputs = x.outputs
	}
	bind := func(p parse.Expr) (expr.Expr, error) {
		e, err := inner.bind(p)
		if err == nil && slices.ContainsFunc(expr.Columns(e), func(c int) bool { return c >= overColumn }) {
			return nil, errs.New(errs.Invalid, p.Pos(), "%s is computed with OVER and cannot stand in the OVER of another call", parse.Format(p)).
				WithHint("compute it in a query in FROM")
		}
		return e, err
	}
	constant := func(e expr.Expr) bool { return expr.Deterministic(e) && len(expr.Columns(e)) == 0 }
	for _, p := range spec.PartitionBy {
		e, err := bind(p)
		if err != nil {
			return err
		}
		if !constant(e) && !slices.ContainsFunc(c.partition, func(have expr.Expr) bool { return expr.Equal(have, e) }) {
			c.partition = append(c.partition, e)
		}
	}
	for _, o := range spec.OrderBy {
		e, err := bind(o.Expr)
		if err != nil {
			return err
		}
		same := func(have expr.Expr) bool { return expr.Equal(have, e) }
		if constant(e) || slices.ContainsFunc(c.partition, same) || slices.ContainsFunc(c.order, func(k overKey) bool { return same(k.expr) }) {
			continue
		}
		last := o.Nulls == parse.NullsLast || o.Nulls == parse.NullsDefault && o.Desc
		c.order = append(c.order, overKey{e, o.Desc, last})
	}
	return nil
}

// window is a window with what the named one that it extends has.
func (o *overs) window(spec *parse.WindowSpec) (*parse.WindowSpec, error) {
	return o.extended(spec, len(o.windows))
}

func (o *overs) extended(spec *parse.WindowSpec, before int) (*parse.WindowSpec, error) {
	if spec.Base.IsZero() {
		return spec, nil
	}
	at := slices.IndexFunc(o.windows[:before], func(w parse.NamedWindow) bool { return w.Name.Value == spec.Base.Value })
	if at < 0 {
		return nil, errs.New(errs.NotFound, spec.Base.At, "window %q not found", spec.Base.Value).WithHint("WINDOW %s AS (..) defines it, before windows that extend it", spec.Base.Value)
	}
	base, err := o.extended(o.windows[at].Spec, at)
	if err != nil {
		return nil, err
	}
	out := *spec
	out.Base = parse.Ident{}
	switch {
	case len(spec.PartitionBy) > 0:
		return nil, errs.New(errs.Invalid, spec.PartitionBy[0].Pos(), "a window that extends %q has the PARTITION BY of that one", spec.Base.Value)
	case len(spec.OrderBy) > 0 && len(base.OrderBy) > 0:
		return nil, errs.New(errs.Invalid, spec.OrderBy[0].Expr.Pos(), "the window %q has an ORDER BY already", spec.Base.Value)
	}
	out.PartitionBy = base.PartitionBy
	if len(out.OrderBy) == 0 {
		out.OrderBy = base.OrderBy
	}
	if out.Frame == nil {
		out.Frame = base.Frame
	}
	return &out, nil
}

func (c *overCall) equal(other *overCall) bool {
	if (c.over == nil) != (other.over == nil) || c.over != nil && !c.over.equal(other.over) {
		return false
	}
	return c.function == other.function && slices.EqualFunc(c.partition, other.partition, expr.Equal) &&
		slices.EqualFunc(c.order, other.order, func(a, b overKey) bool {
			return a.desc == b.desc && a.nullsLast == b.nullsLast && expr.Equal(a.expr, b.expr)
		})
}

// group rewrites the windows to read the output of an aggregation.
func (o *overs) group(g *grouping) (err error) {
	for _, c := range o.calls {
		for i, e := range c.partition {
			if c.partition[i], err = g.over(e, "OVER"); err != nil {
				return err
			}
		}
		for i, k := range c.order {
			if c.order[i].expr, err = g.over(k.expr, "OVER"); err != nil {
				return err
			}
		}
		if c.over != nil {
			over, err := c.over.rewritten(func(e expr.Expr) (expr.Expr, error) { return g.over(e, "OVER") })
			if err != nil {
				return err
			}
			c.over = &over
		}
	}
	return nil
}

// plan puts a node for each call over n, whose columns stay. read changes expressions
// over n and the stand-ins to ones over the result.
func (o *overs) plan(n Node, name func(call int) string) (out Node, read func(expr.Expr) expr.Expr) {
	exprs, names := columns(n), n.Schema().Names()
	column := func(e expr.Expr) int {
		if c, ok := e.(*expr.Column); ok {
			return c.Index
		}
		i := slices.IndexFunc(exprs, func(have expr.Expr) bool { return expr.Equal(have, e) })
		if i < 0 {
			i = len(exprs)
			exprs, names = append(exprs, e), append(names, e.String())
		}
		return i
	}
	separator := func(c *OverCall, e expr.Expr) bool {
		_, constant := e.(*expr.Literal)
		return constant && c.Aggregate != nil && c.Aggregate.Func.Kind == function.ListAgg && e != c.Aggregate.Args[0]
	}
	groups := o.groups(column, separator, func(i int) string { return names[i] })
	ranks := make([]*Rank, len(o.calls))
	for i, c := range o.calls {
		if c.over != nil {
			continue
		}
		r := &Rank{Function: c.function, From: 1, To: unbounded, ToColumn: -1, Watermark: -1}
		r.at = c.call.At
		for _, p := range c.partition {
			r.Partition = append(r.Partition, column(p))
		}
		for _, k := range c.order {
			r.Order = append(r.Order, SortKey{Column: column(k.expr), Desc: k.desc, NullsLast: k.nullsLast})
		}
		ranks[i] = r
	}
	if len(exprs) > len(n.Schema()) {
		n = newCalc(n, nil, exprs, names, n.Pos())
	}
	at := make([]int, len(ranks))
	// What keeps the order of time goes first: what updates its results has none.
	for _, timed := range []bool{true, false} {
		for _, g := range groups {
			if g.node.Input != nil || timed && !o.timed(n, g.node.Order) {
				continue
			}
			from := len(n.Schema())
			var names []string
			for k, i := range g.calls {
				at[i] = from + k
				names = append(names, name(i))
			}
			n = g.node.over(n, names)
		}
	}
	for i, r := range ranks {
		if r == nil {
			continue
		}
		at[i] = len(n.Schema())
		if len(r.Order) > 0 {
			r.Time = timeAttribute(n, r.Order[0].Column)
		}
		n = r.over(n, name(i))
	}
	return n, func(e expr.Expr) expr.Expr {
		return expr.Remap(e, func(i int) int {
			if i >= overColumn {
				return at[i-overColumn]
			}
			return i
		})
	}
}

// aliasesBeside are the aliases of the SELECT list that QUALIFY knows: those that no column
// of FROM has, or none that QUALIFY could mean beside the groups of an aggregation.
func (s *scope) aliasesBeside(items []item, g *grouping, grouped bool) []item {
	hidden := func(name string) bool {
		for i, f := range s.fields {
			isKey := func(k expr.Expr) bool { return expr.Equal(k, s.column(i, errs.Position{})) }
			if f.name == name && (!grouped || slices.ContainsFunc(g.keys, isKey)) {
				return true
			}
		}
		return false
	}
	var out []item
	for _, it := range items {
		if it.alias && !hidden(it.name) {
			out = append(out, it)
		}
	}
	return out
}

// qualify binds QUALIFY, over the columns of FROM and the aliases of the SELECT list.
func (b *binder) qualify(s *parse.Select, sc *scope, items []item, g *grouping, ov *overs) (expr.Expr, error) {
	if s.Qualify == nil {
		return nil, nil
	}
	grouped := s.Grouped || s.Having != nil || len(g.aggs) > 0
	x := &exprBinder{b: b, scope: sc, clause: "QUALIFY", aggs: g, overs: ov, values: g.values, outputs: sc.aliasesBeside(items, g, grouped)}
	cond, err := x.condition(s.Qualify)
	if err == nil && len(ov.calls) == 0 {
		return nil, errs.New(errs.Invalid, s.Qualify.Pos(), "QUALIFY is for conditions on functions with OVER, and the SELECT has none").WithHint("write WHERE or HAVING")
	}
	return cond, err
}

// below puts the nodes of the calls between n, of whose rows those count on which having
// is true, and the SELECT list, and returns the condition that is then left.
func (o *overs) below(n Node, items []item, having, qualify expr.Expr) (Node, expr.Expr) {
	if having != nil {
		n = newFilter(n, having, having.Pos())
	}
	n, read := o.plan(n, func(call int) string {
		for _, it := range items {
			if c, ok := it.expr.(*expr.Column); ok && it.alias && c.Index == overColumn+call {
				return it.name
			}
		}
		return parse.Format(o.calls[call].call)
	})
	for i := range items {
		items[i].expr = read(items[i].expr)
	}
	if qualify != nil {
		qualify = read(qualify)
	}
	return n, qualify
}
