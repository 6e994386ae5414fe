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
func aggregate(n *plan.Aggregate, in []Row) ([]Row, error) {
	types := n.Input.Schema().Project(n.Keys).Types()
	groups := map[string][]Row{}
	var order []string
	if len(n.Keys) == 0 {
		order = append(order, Key(nil, nil)) // the one group is there without rows
	}
	for _, r := range in {
		k := Key(types, project(r, n.Keys))
		if groups[k] == nil && len(n.Keys) > 0 {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	var out []Row
	for _, k := range order {
		rows := groups[k]
		var row Row
		if len(n.Keys) > 0 {
			row = project(rows[0], n.Keys)
		}
		for _, a := range n.Aggs {
			v, err := over(a, rows)
			if err != nil {
				return nil, err
			}
			row = append(row, v)
		}
		out = append(out, row)
	}
	return out, nil
}

// place gives errors of an aggregate its position.
type place struct{ *expr.Aggregate }

func (p place) Pos() errs.Position { return p.At }

// over computes an aggregate function over the rows of a group.
func over(a *expr.Aggregate, rows []Row) (any, error) {
	values, count, err := arguments(a, rows)
	if err != nil {
		return nil, err
	}
	if a.Func.Kind == function.Count {
		return int64(count), nil
	}
	if len(values) == 0 {
		return nil, nil
	}
	switch a.Func.Kind {
	case function.Sum, function.Avg:
		return total(a, values)
	case function.Min:
		return slices.MinFunc(values, order), nil
	case function.Max:
		return slices.MaxFunc(values, order), nil
	case function.VarPop, function.VarSamp, function.StddevPop, function.StddevSamp:
		return spread(a, values)
	case function.FirstValue, function.LastValue, function.ListAgg:
		return arrival(a, values)
	}
	return nil, unsupported(place{a}, "aggregate %s", a.Func.Name)
}

// arguments are the values that the function sees: of rows that pass the FILTER,
// not NULL, and with DISTINCT each once. COUNT(*) has no argument and counts rows.
func arguments(a *expr.Aggregate, rows []Row) (values []any, count int, err error) {
	seen := map[string]bool{}
	for _, r := range rows {
		if pass, err := holds(a.Filter, r); err != nil || !pass {
			if err != nil {
				return nil, 0, err
			}
			continue
		}
		if len(a.Args) == 0 {
			count++
			continue
		}
		v, err := eval(a.Args[0], r)
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

// arrival is FIRST_VALUE, LAST_VALUE or LISTAGG of values that are all equal: which
// of different ones came first, a table does not say.
func arrival(a *expr.Aggregate, values []any) (any, error) {
	types := []sqltype.Type{a.Args[0].Type()}
	for _, v := range values {
		if Key(types, Row{v}) != Key(types, Row{values[0]}) {
			return nil, unsupported(place{a}, "order in which rows came")
		}
	}
	if a.Func.Kind != function.ListAgg {
		return values[0], nil
	}
	separator := ","
	if len(a.Args) == 2 {
		s, err := eval(a.Args[1], nil)
		if err != nil {
			return nil, err
		}
		separator = s.(string)
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.(string)
	}
	return strings.Join(texts, separator), nil
}
