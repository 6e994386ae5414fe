package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// overFunctions are the functions that exist with OVER alone.
func overFunctions() map[string]OverFunction {
	return map[string]OverFunction{
		"NTH_VALUE": OverNthValue, "LAG": OverLag, "LEAD": OverLead,
		"PERCENT_RANK": OverPercentRank, "CUME_DIST": OverCumeDist, "NTILE": OverNtile,
	}
}

// overFunction binds what a call computes over its window, which is bound.
func (x *exprBinder) overFunction(e *parse.Call, name string, c *overCall, spec *parse.WindowSpec) error {
	over := &OverCall{At: e.At}
	c.over = over
	inner := &exprBinder{b: x.b, scope: x.scope, clause: "OVER", aggs: x.aggs, values: x.values}
	if f, ok := overFunctions()[name]; ok && len(e.Name) == 1 {
		over.Function = f
		switch {
		case e.Star:
			return errs.New(errs.Invalid, e.At, "%s(*) has no meaning", name)
		case e.Distinct || e.Filter != nil:
			return errs.New(errs.Invalid, e.At, "%s takes neither DISTINCT nor FILTER", name)
		case e.IgnoreNulls && f != OverNthValue:
			return unsupported(e.At, "%s with IGNORE NULLS is", name)
		case spec.Frame != nil && !f.framed():
			return errs.New(errs.Invalid, spec.Frame.At, "%s looks at rows by their place in the partition and takes no frame", name)
		case len(c.order) == 0 && !f.framed():
			return errs.New(errs.Invalid, e.At, "%s needs ORDER BY in its window", name)
		}
		if err := over.bindPlace(inner, e, name); err != nil {
			return err
		}
	} else if err := over.bindAggregate(inner, e); err != nil {
		return err
	}
	var err error
	if over.Function.framed() {
		over.Frame, err = inner.frame(spec.Frame, c)
	}
	return err
}

// bindAggregate binds the call of an aggregate.
func (c *OverCall) bindAggregate(x *exprBinder, e *parse.Call) error {
	_, f := x.b.session.FunctionOf(e.Name)
	switch {
	case f == nil:
		if scalar, _ := x.b.session.FunctionOf(e.Name); scalar != nil {
			return errs.New(errs.Invalid, e.At, "%s is a scalar function, and OVER is for aggregates", e.Name).WithHint("leave OVER away")
		}
		return noFunction(e, x.b.session.Functions(true))
	case len(e.OrderBy) > 0:
		return unsupported(e.At, "ORDER BY inside an aggregate is")
	case e.IgnoreNulls && f.Kind != function.FirstValue && f.Kind != function.LastValue:
		return unsupported(e.At, "IGNORE NULLS is")
	case e.Star && f.Kind != function.Count:
		return errs.New(errs.Invalid, e.At, "%s(*) has no meaning", f.Name).WithHint("%s takes a column; only COUNT takes *", f.Name)
	case e.Star && e.Distinct:
		return errs.New(errs.Invalid, e.At, "COUNT(DISTINCT *) has no meaning")
	}
	if g := f.Go; g != nil && e.Distinct {
		return unsupported(e.At, "DISTINCT of a function written in Go, with OVER, is")
	}
	args, err := x.bindAll(e.Args...)
	if err != nil {
		return err
	}
	var filter expr.Expr
	if e.Filter != nil {
		if filter, err = x.condition(e.Filter); err != nil {
			return err
		}
	}
	if f.Kind == function.Count && len(args) == 1 && args[0].Type().NotNull && !e.Distinct {
		args = nil // it counts all rows
	}
	a, err := expr.NewAggregate(f, e.At, e.Distinct, filter, args...)
	if err != nil {
		return err
	}
	c.Aggregate, c.T = a, a.T
	return nil
}

// bindPlace binds the call of a function that looks at rows by their place.
func (c *OverCall) bindPlace(x *exprBinder, e *parse.Call, name string) error {
	args, err := x.bindAll(e.Args...)
	if err != nil {
		return err
	}
	takes := map[OverFunction][2]int{OverNthValue: {2, 2}, OverLag: {1, 3}, OverLead: {1, 3}, OverNtile: {1, 1}}[c.Function]
	if len(args) < takes[0] || len(args) > takes[1] {
		forms := map[OverFunction]string{
			OverNthValue: "NTH_VALUE(value, n)", OverLag: "LAG(value), LAG(value, offset) or LAG(value, offset, default)",
			OverLead: "LEAD(value), LEAD(value, offset) or LEAD(value, offset, default)", OverNtile: "NTILE(n)",
			OverPercentRank: "PERCENT_RANK()", OverCumeDist: "CUME_DIST()",
		}
		return errs.New(errs.Invalid, e.At, "%s does not take %s", name, count(len(args), "argument")).WithHint("write %s", forms[c.Function])
	}
	number := func(at, least int) error {
		n, ok := int64(0), false
		if l, is := args[at].(*expr.Literal); is {
			n, ok = wholeNumber(l)
		}
		if !ok || n < int64(least) || n > mostRows {
			return errs.New(errs.Invalid, e.Args[at].Pos(), "the number of %s is a constant from %d to %d, not %s", name, least, mostRows, parse.Format(e.Args[at]))
		}
		c.N = n
		return nil
	}
	switch c.Function {
	case OverPercentRank, OverCumeDist:
		c.T = sqltype.DoubleType.Required()
		return nil
	case OverNtile:
		c.T = sqltype.BigIntType.Required()
		return number(0, 1)
	case OverNthValue:
		c.Args, c.T = args[:1], args[0].Type().Optional().Plain()
		return number(1, 1)
	}
	c.N = 1
	if len(args) > 1 {
		if err := number(1, 0); err != nil {
			return err
		}
	}
	value := args[0]
	if value.Type().ID == sqltype.Null {
		return errs.New(errs.Type, value.Pos(), "%s takes a value with a type", name).WithHint("CAST it")
	}
	c.Args, c.T = []expr.Expr{value}, value.Type().Optional().Plain()
	if len(args) > 2 {
		other, err := expr.Coerce(args[2], c.T)
		if err != nil {
			return err
		}
		c.Args = append(c.Args, other)
		c.T.NotNull = value.Type().NotNull && other.Type().NotNull
	}
	return nil
}

// timed reports whether the order of a window begins with time, so that rows come in
// that order from below.
func (o *overs) timed(n Node, order []SortKey) bool {
	return len(order) > 0 && !order[0].Desc && timeAttribute(n, order[0].Column) != sqltype.NoTime
}

// overGroup is the calls of one window: they are computed by one node.
type overGroup struct {
	node  *Over
	calls []int // of overs.calls
}

// groups gathers the calls that are no Rank by their windows.
func (o *overs) groups(column func(expr.Expr) int, literal func(c *OverCall, e expr.Expr) bool, name func(column int) string) []*overGroup {
	var out []*overGroup
	for i, c := range o.calls {
		if c.over == nil {
			continue
		}
		n := &Over{Watermark: -1}
		n.at = c.call.At
		for _, p := range c.partition {
			n.Partition = append(n.Partition, column(p))
		}
		for _, k := range c.order {
			n.Order = append(n.Order, SortKey{Column: column(k.expr), Desc: k.desc, NullsLast: k.nullsLast})
		}
		at := slices.IndexFunc(out, func(g *overGroup) bool {
			return slices.Equal(g.node.Order, n.Order) && len(g.node.Partition) == len(n.Partition) && subset(g.node.Partition, n.Partition)
		})
		if at < 0 {
			at = len(out)
			out = append(out, &overGroup{node: n})
		}
		g := out[at]
		call, _ := c.over.rewritten(func(e expr.Expr) (expr.Expr, error) {
			if literal(c.over, e) {
				return e, nil
			}
			i := column(e)
			return &expr.Column{Index: i, Name: name(i), T: e.Type(), At: e.Pos()}, nil
		})
		g.node.Calls, g.calls = append(g.node.Calls, call), append(g.calls, i)
	}
	return out
}
