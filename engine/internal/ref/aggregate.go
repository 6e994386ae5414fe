package ref

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

// aggregate collects the rows of each group, then computes group by group.
func (e evaluator) aggregate(n *plan.Aggregate, in table) (table, error) {
	out := after(len(n.Keys)+len(n.Aggs), in)
	out.some = (out.some || in.opensColumns(n.Keys)) && len(n.Keys) > 0
	for i, a := range n.Aggs {
		out.open[len(n.Keys)+i] = in.some || in.opensColumns(n.Keys) || in.opens(append(slices.Clone(a.Args), a.Filter)...)
	}
	types := n.Input.Schema().Project(n.Keys).Types()
	groups := map[string][]Row{}
	var keys []string
	if len(n.Keys) == 0 {
		keys = append(keys, Key(nil, nil)) // the one group is there without rows
	}
	for _, r := range in.rows {
		k := Key(types, project(r, n.Keys))
		if groups[k] == nil && len(n.Keys) > 0 {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], r)
	}
	for _, k := range keys {
		rows := groups[k]
		var row Row
		if len(n.Keys) > 0 {
			row = project(rows[0], n.Keys)
		}
		for i, a := range n.Aggs {
			v, ordered, err := e.over(a, rows)
			if err != nil {
				return out, err
			}
			if row = append(row, v); ordered {
				out.open[len(n.Keys)+i] = true
				out.ordered(in)
			}
		}
		out.rows = append(out.rows, row)
	}
	return out, nil
}

// place gives errors of an aggregate its position.
type place struct{ *expr.Aggregate }

func (p place) Pos() errs.Position { return p.At }

// over computes an aggregate function over the rows of a group. It reports whether the
// order of the rows matters.
func (e evaluator) over(a *expr.Aggregate, rows []Row) (v any, ordered bool, err error) {
	if a.Func.Kind == function.Custom {
		v, err = e.custom(a, rows)
		return v, false, err
	}
	values, count, err := e.arguments(a, rows)
	if err != nil {
		return nil, false, err
	}
	if a.Func.Kind == function.Count {
		return int64(count), false, nil
	}
	if len(values) == 0 {
		return nil, false, nil
	}
	switch a.Func.Kind {
	case function.Sum, function.Avg:
		v, err = total(a, values)
		return v, false, err
	case function.Min:
		return slices.MinFunc(values, order), false, nil
	case function.Max:
		return slices.MaxFunc(values, order), false, nil
	case function.VarPop, function.VarSamp, function.StddevPop, function.StddevSamp:
		v, err = spread(a, values)
		return v, false, err
	}
	types := []sqltype.Type{a.Args[0].Type()}
	ordered = slices.ContainsFunc(values, func(v any) bool { return Key(types, Row{v}) != Key(types, Row{values[0]}) })
	switch a.Func.Kind {
	case function.FirstValue:
		return values[0], ordered, nil
	case function.LastValue:
		return values[len(values)-1], ordered, nil
	case function.ListAgg:
		v, err = e.list(a, values)
		return v, ordered, err
	}
	return nil, false, unsupported(place{a}, "aggregate %s", a.Func.Name)
}

// arguments are the values that the function sees: of rows that pass the FILTER,
// not NULL, and with DISTINCT each once. COUNT(*) has no argument and counts rows.
func (e evaluator) arguments(a *expr.Aggregate, rows []Row) (values []any, count int, err error) {
	seen := map[string]bool{}
	for _, r := range rows {
		if pass, err := e.holds(a.Filter, r); err != nil || !pass {
			if err != nil {
				return nil, 0, err
			}
			continue
		}
		if len(a.Args) == 0 {
			count++
			continue
		}
		v, err := e.eval(a.Args[0], r)
		if err != nil {
			return nil, 0, err
		}
		k := Key([]sqltype.Type{a.Args[0].Type()}, Row{v})
		if v == nil || a.Distinct && seen[k] {
			continue
		}
		seen[k] = true
		values = append(values, v)
		count++
	}
	return values, count, nil
}

// total is the sum of the values, or their mean. Sums are exact until the end.
func total(a *expr.Aggregate, values []any) (any, error) {
	if special, ok := notFinite(values); ok {
		return special, nil
	}
	sum := new(big.Rat)
	for _, v := range values {
		f, ok := v.(float64)
		if !ok {
			sum.Add(sum, rational(v))
			continue
		}
		sum.Add(sum, new(big.Rat).SetFloat64(f))
	}
	if a.Func.Kind == function.Avg {
		sum.Quo(sum, new(big.Rat).SetInt64(int64(len(values))))
	}
	v, ok := number(sum, a.T)
	if f, is := v.(float64); !ok || is && math.IsInf(f, 0) {
		return nil, arithmetic(place{a}, a.Func.Name+" is out of range")
	}
	return v, nil
}

// notFinite is the sum of approximate values some of which are infinite or NaN. It
// reports whether there are any.
func notFinite(values []any) (float64, bool) {
	sum, ok := 0.0, false
	for _, v := range values {
		if f, is := v.(float64); is && (math.IsNaN(f) || math.IsInf(f, 0)) {
			sum, ok = sum+f, true
		}
	}
	return sum, ok
}

// extreme is the value that compares to all others as sign says, or as equal.
func extreme(values []any, sign int) any {
	best := values[0]
	for _, v := range values[1:] {
		if compare(v, best) == sign {
			best = v
		}
	}
	return best
}

// spread is a variance or standard deviation, exact until the end.
func spread(a *expr.Aggregate, values []any) (any, error) {
	n := int64(len(values))
	if a.Func.Kind == function.VarSamp || a.Func.Kind == function.StddevSamp {
		n--
	}
	if n == 0 {
		return nil, nil
	}
	if _, ok := notFinite(values); ok {
		return math.NaN(), nil
	}
	sum, squares := new(big.Rat), new(big.Rat)
	for _, v := range values {
		x := new(big.Rat).SetFloat64(v.(float64))
		sum.Add(sum, x)
		squares.Add(squares, x.Mul(x, x))
	}
	sum.Mul(sum, sum).Quo(sum, new(big.Rat).SetInt64(int64(len(values))))
	f, _ := squares.Sub(squares, sum).Quo(squares, new(big.Rat).SetInt64(n)).Float64()
	if a.Func.Kind == function.StddevPop || a.Func.Kind == function.StddevSamp {
		f = math.Sqrt(f)
	}
	return f, nil
}

// list is the texts with a separator between them.
func (e evaluator) list(a *expr.Aggregate, values []any) (any, error) {
	separator := any(",")
	if len(a.Args) == 2 {
		var err error
		if separator, err = e.eval(a.Args[1], nil); err != nil {
			return nil, err
		}
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.(string)
	}
	return strings.Join(texts, separator.(string)), nil
}
