package ref

import (
	"context"
	"slices"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Functions that users wrote are their own definition: they are called on one row.

// written calls a scalar function of a user.
func (e evaluator) written(c call) (any, error) {
	b := function.Binding{Ret: c.T, Zone: c.zone}
	for _, a := range c.Args {
		b.Args = append(b.Args, function.Arg{Type: a.Type()})
	}
	bind := c.Func.Bind
	if c.Func.Open != nil {
		open := function.NewInstances(context.Background(), 0)
		defer open.Close()
		bind = func(b function.Binding) (function.Kernel, error) { return open.Open(c.Func, b) }
	}
	kernel, err := bind(b)
	if err != nil {
		return nil, err
	}
	p := vector.NewPool()
	args := columns(p, c.Args, []Row{c.args})
	out, err := kernel(&function.Call{Pool: p, N: 1, Args: args, Now: c.now.UnixMilli()})
	if err != nil {
		return nil, err
	}
	return valueOf(c.T, out, 0), nil
}

// columns holds rows of values of the expressions.
func columns(p *vector.Pool, es []expr.Expr, rows []Row) []*vector.Vector {
	out := make([]*vector.Vector, len(es))
	for i, x := range es {
		b := vector.NewColumnBuilder(p, x.Type().Kind())
		for _, r := range rows {
			Append(b, x.Type(), r[i])
		}
		out[i] = b.Finish()
	}
	return out
}

// custom computes an aggregate function of a user over the rows of a group.
func (e evaluator) custom(a *expr.Aggregate, rows []Row) (any, error) {
	seen := map[string]bool{}
	var values []Row
	types := make([]sqltype.Type, len(a.Args))
	for i, x := range a.Args {
		types[i] = x.Type()
	}
	for _, r := range rows {
		pass, err := e.holds(a.Filter, r)
		if err != nil {
			return nil, err
		}
		args, err := e.evalAll(a.Args, r)
		if err != nil {
			return nil, err
		}
		k := Key(types, args)
		if !pass || !a.Func.Go.CalledOnNull() && slices.Contains(args, nil) || a.Distinct && seen[k] {
			continue
		}
		seen[k] = true
		values = append(values, args)
	}
	acc, err := a.Func.Go.Accumulator(nil)
	if err != nil {
		return nil, err
	}
	p := vector.NewPool()
	call := &function.GoArgs{Pool: p, N: len(values), Args: columns(p, a.Args, values), Types: types, Returns: a.T}
	for i := range values {
		if err := acc.Add(call, i, false); err != nil {
			return nil, err
		}
	}
	out := vector.NewColumnBuilder(p, a.T.Kind())
	if err := acc.AppendValue(out, a.T); err != nil {
		return nil, err
	}
	return valueOf(a.T, out.Finish(), 0), nil
}
