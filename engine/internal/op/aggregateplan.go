package op

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// aggregatePlan lays out the accumulators that a list of aggregate calls needs.
// What several calls need stands there once: SUM(x), AVG(x) and COUNT(x) share a
// sum and a count.
type aggregatePlan struct {
	keys      rowkey.Layout // of the groups
	updating  bool
	columns   []vector.Kind // of a group's entry
	filters   []*rowFilter
	feeds     []*feed
	distincts []*distinct
	multisets []*multiset
	logs      []*valueLog
}

// call is one aggregate of the output.
type call struct {
	result result
}

// column adds a column to the groups' entries and returns its position.
func (p *aggregatePlan) column(k vector.Kind) int {
	p.columns = append(p.columns, k)
	return len(p.columns) - 1
}

// call plans the accumulators of a.
func (p *aggregatePlan) call(a *expr.Aggregate) (call, error) {
	f, err := p.feed(a)
	if err != nil {
		return call{}, err
	}
	ret := a.T.Kind()
	switch a.Func.Kind {
	case function.Count:
		return call{countResult{p.counter(f)}}, nil
	case function.Sum, function.Avg:
		return p.sum(a, f, ret)
	case function.Min, function.Max:
		greatest := a.Func.Kind == function.Max
		if p.updating {
			return call{p.multiset(f).extreme(p, greatest)}, nil
		}
		return call{p.extreme(f, greatest)}, nil
	case function.VarPop, function.VarSamp:
		return p.spread(a, f, a.Func.Kind == function.VarSamp, false), nil
	case function.StddevPop, function.StddevSamp:
		return p.spread(a, f, a.Func.Kind == function.StddevSamp, true), nil
	case function.Custom:
		return p.custom(a, f)
	case function.FirstValue:
		return p.arrival(f, firstArrival, ""), nil
	case function.LastValue:
		return p.arrival(f, lastArrival, ""), nil
	case function.ListAgg:
		return p.arrival(f, listOfArrivals, separatorOf(a)), nil
	}
	return call{}, errs.New(errs.Unsupported, a.At, "the aggregate %s is not supported", a.Func.Name)
}

// open opens the functions of the arguments and filters.
func (p *aggregatePlan) open(in *function.Instances) error {
	for _, f := range p.filters {
		if err := f.pred.Open(in); err != nil {
			return err
		}
	}
	feeds := p.feeds
	for _, d := range p.distincts {
		feeds = append(feeds[:len(feeds):len(feeds)], d.feeds...)
	}
	for _, f := range feeds {
		if err := f.open(in); err != nil {
			return err
		}
	}
	return nil
}

// feed finds or adds the feed with a's argument, FILTER and DISTINCT.
func (p *aggregatePlan) feed(a *expr.Aggregate) (*feed, error) {
	filter, err := p.filter(a.Filter)
	if err != nil {
		return nil, err
	}
	var arg expr.Expr
	if len(a.Args) > 0 && (a.Func.Kind != function.Custom || a.Distinct) {
		arg = a.Args[0]
	}
	of := &p.feeds
	if a.Distinct && arg != nil {
		d, err := p.distinct(arg, filter)
		if err != nil {
			return nil, err
		}
		of = &d.feeds
	}
	for _, f := range *of {
		if f.filter == filter && sameExpr(f.arg, arg) {
			return f, nil
		}
	}
	f, err := newFeed(arg, filter)
	if err != nil {
		return nil, err
	}
	f.distinct = of != &p.feeds
	*of = append(*of, f)
	return f, nil
}

// separatorOf is the second argument of LISTAGG, a literal, or a comma.
func separatorOf(a *expr.Aggregate) string {
	if len(a.Args) == 2 {
		if s, ok := a.Args[1].(*expr.Literal).Value.(string); ok {
			return s
		}
	}
	return ","
}

func sameExpr(a, b expr.Expr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return expr.Equal(a, b)
}

func (p *aggregatePlan) filter(e expr.Expr) (*rowFilter, error) {
	if e == nil {
		return nil, nil
	}
	for _, f := range p.filters {
		if expr.Equal(f.cond, e) {
			return f, nil
		}
	}
	pred, err := expr.CompilePredicate(e)
	if err != nil {
		return nil, err
	}
	f := &rowFilter{cond: e, pred: pred}
	p.filters = append(p.filters, f)
	return f, nil
}

// distinct finds or adds the table of distinct values of arg. A plain column has one
// table for all FILTERs; an expression has one for each, since it may fail on the
// rows that a FILTER keeps from it.
func (p *aggregatePlan) distinct(arg expr.Expr, filter *rowFilter) (*distinct, error) {
	_, plain := arg.(*expr.Column)
	for _, d := range p.distincts {
		if expr.Equal(d.arg, arg) && (plain || d.feeds[0].filter == filter) {
			return d, nil
		}
	}
	d, err := newDistinct(arg, p.updating, p.keys)
	if err != nil {
		return nil, err
	}
	p.distincts = append(p.distincts, d)
	return d, nil
}

// counter is the column that counts the rows of f.
func (p *aggregatePlan) counter(f *feed) int {
	if !f.distinct && f.filter == nil && (f.arg == nil || f.arg.Type().NotNull) {
		return colRows
	}
	for _, a := range f.accs {
		if c, ok := a.(*counter); ok {
			return c.col
		}
	}
	c := &counter{col: p.column(vector.Int64)}
	f.accs = append(f.accs, c)
	return c.col
}

// sum plans SUM or AVG of f.
func (p *aggregatePlan) sum(a *expr.Aggregate, f *feed, ret vector.Kind) (call, error) {
	count := p.counter(f)
	avg := a.Func.Kind == function.Avg
	switch arg := a.Args[0].Type(); arg.Kind() {
	case vector.Int8:
		return call{&intResult{sum: sumInts[int8](p, f, a), count: count, avg: avg, kind: ret, of: a}}, nil
	case vector.Int16:
		return call{&intResult{sum: sumInts[int16](p, f, a), count: count, avg: avg, kind: ret, of: a}}, nil
	case vector.Int32:
		return call{&intResult{sum: sumInts[int32](p, f, a), count: count, avg: avg, kind: ret, of: a}}, nil
	case vector.Int64:
		return call{&intResult{sum: sumInts[int64](p, f, a), count: count, avg: avg, kind: ret, of: a}}, nil
	case vector.Float32:
		return call{&floatResult{floatColumns: sumFloats[float32](p, f, a), count: count, avg: avg, kind: ret, of: a}}, nil
	case vector.Float64:
		return call{&floatResult{floatColumns: sumFloats[float64](p, f, a), count: count, avg: avg, kind: ret, of: a}}, nil
	case vector.Decimal:
		return call{&decimalResult{sum: p.sumDecimals(f, a), count: count, avg: avg, scale: arg.Scale, of: a}}, nil
	}
	return call{}, errs.New(errs.Unsupported, a.At, "%s of %s is not supported", a.Func.Name, a.Args[0].Type().Optional())
}

func sumInts[T int8 | int16 | int32 | int64](p *aggregatePlan, f *feed, a *expr.Aggregate) int {
	for _, acc := range f.accs {
		if s, ok := acc.(*intSum[T]); ok {
			return s.col
		}
	}
	s := &intSum[T]{col: p.column(vector.Int64), carry: newCarry(a)}
	f.accs = append(f.accs, s)
	return s.col
}

func sumFloats[T float32 | float64](p *aggregatePlan, f *feed, a *expr.Aggregate) floatColumns {
	for _, acc := range f.accs {
		if s, ok := acc.(*floatSum[T]); ok {
			return s.floatColumns
		}
	}
	s := &floatSum[T]{of: a, count: p.counter(f)}
	s.high, s.low, s.special = p.column(vector.Float64), p.column(vector.Float64), -1
	if p.updating {
		s.special = p.column(vector.Bytes)
	}
	f.accs = append(f.accs, s)
	return s.floatColumns
}

func (p *aggregatePlan) sumDecimals(f *feed, a *expr.Aggregate) int {
	for _, acc := range f.accs {
		if s, ok := acc.(*decimalSum); ok {
			return s.col
		}
	}
	s := &decimalSum{col: p.column(vector.Decimal), carry: newCarry(a)}
	f.accs = append(f.accs, s)
	return s.col
}

// extreme plans MIN or MAX over append-only input: one value.
func (p *aggregatePlan) extreme(f *feed, greatest bool) valueResult {
	kind := f.arg.Type().Kind()
	for _, acc := range f.accs {
		if e, ok := acc.(interface {
			is(greatest bool) (valueResult, bool)
		}); ok {
			if r, is := e.is(greatest); is {
				return r
			}
		}
	}
	r := valueResult{col: p.column(kind), has: p.column(vector.Bool), kind: kind}
	f.accs = append(f.accs, newExtreme(r, greatest))
	return r
}

// multiset finds or adds the table of all values of f, for MIN and MAX over
// updating input.
func (p *aggregatePlan) multiset(f *feed) *multiset {
	for _, acc := range f.accs {
		if m, ok := acc.(*multiset); ok {
			return m
		}
	}
	m := newMultiset(f.arg.Type().Kind(), p.keys)
	f.accs = append(f.accs, m)
	p.multisets = append(p.multisets, m)
	return m
}

// each calls do for the accumulators of all feeds.
func (p *aggregatePlan) each(do func(accumulator) error) error {
	if err := p.eachPlain(do); err != nil {
		return err
	}
	for _, d := range p.distincts {
		for _, f := range d.feeds {
			for _, a := range f.accs {
				if err := do(a); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// eachPlain is each for the feeds without DISTINCT.
func (p *aggregatePlan) eachPlain(do func(accumulator) error) error {
	for _, f := range p.feeds {
		for _, a := range f.accs {
			if err := do(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// release gives back what the filters hold for a batch.
func (p *aggregatePlan) release() {
	for _, f := range p.filters {
		f.release()
	}
}
