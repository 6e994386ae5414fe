package ref

import (
	"math"
	"math/big"
	"slices"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

// overWindows computes calls with OVER: of each row, over the rows of its partition in
// order. Rows that are equal in the order are as they came, in processing time all are.
func (e evaluator) overWindows(n *plan.Over, in table) (table, error) {
	width := n.Width()
	out := after(len(n.Schema()), in)
	copy(out.open, in.open[:width])
	arrival := n.Time == sqltype.Proctime && growing(n.Input)
	if n.Time == sqltype.Rowtime && growing(n.Input) {
		in = e.overInTime(n, in, &out)
	}
	reads := slices.Clone(n.Partition)
	for _, k := range n.Order {
		reads = append(reads, k.Column)
	}
	some := in.some || in.opensColumns(reads)
	for i, c := range n.Calls {
		args := slices.Clone(c.Args)
		if c.Aggregate != nil {
			args = append(append(args, c.Aggregate.Args...), c.Aggregate.Filter)
		}
		out.open[width+i] = some || in.opens(args...)
	}
	types := n.Schema().Types()[:width]
	for _, rows := range partitions(n.Schema(), n.Partition, in.rows) {
		p := overPartition{rows: rows, order: n.Order, arrival: arrival}
		if len(n.Order) > 0 {
			p.scale = n.Schema()[n.Order[0].Column].Type.Scale
		}
		if !arrival {
			slices.SortStableFunc(p.rows, func(a, b Row) int { return inOrder(n.Order, a, b) })
		}
		ties := arrival
		for i := 1; i < len(rows); i++ {
			ties = ties || p.compare(i-1, i) == 0 && Key(types, rows[i-1][:width]) != Key(types, rows[i][:width])
		}
		for i, r := range p.rows {
			row := slices.Clone(r[:width])
			for k, c := range n.Calls {
				v, err := e.overCall(&c, &p, i)
				if err != nil {
					return out, err
				}
				row = append(row, v)
				if ties && arrives(&c) {
					out.open[width+k] = true
					out.ordered(in)
				}
			}
			out.rows = append(out.rows, row)
		}
	}
	return out, nil
}

// partitions are the rows with equal values of some columns, in the order of the first.
func partitions(schema sqltype.Schema, by []int, rows []Row) (out [][]Row) {
	types, at := schema.Project(by).Types(), map[string]int{}
	for _, r := range rows {
		k := Key(types, project(r, by))
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], r)
	}
	return out
}

// arrives reports whether a call tells rows apart that are equal in the order.
func arrives(c *plan.OverCall) bool {
	switch c.Function {
	case plan.OverAggregate:
		return c.Frame.Rows || c.Aggregate.Func.Kind.Ordered()
	case plan.OverRank, plan.OverDenseRank, plan.OverPercentRank, plan.OverCumeDist:
		return false
	}
	return true
}

// overInTime leaves out the rows that are late: which the watermark had passed before they
// came. Where all calls look at so many rows, a row is late only behind one of its
// partition that the watermark had passed. One without a time always is, unless it is
// last in the order.
func (e evaluator) overInTime(n *plan.Over, in table, out *table) table {
	byRows := !n.Strict && !slices.ContainsFunc(n.Calls, func(c plan.OverCall) bool {
		return c.Function > plan.OverNthValue || !c.Frame.Rows || c.Frame.Start.Unbounded()
	})
	types := n.Schema().Project(n.Partition).Types()
	kept := in
	kept.rows, kept.kinds, kept.splits, kept.came = nil, nil, nil, nil
	times := map[string][]int64{}
	for i, r := range in.rows {
		t, ok := r[n.Order[0].Column].(int64)
		if !ok {
			if !n.Order[0].NullsLast {
				out.refuse(0, in, i, nil, nil)
				continue
			}
			t = math.MaxInt64
		}
		k, before := Key(types, project(r, n.Partition)), NoWatermark
		if n.Watermark >= 0 {
			before = r[n.Watermark].(int64)
		}
		passed := before != NoWatermark && t <= before
		if passed && byRows {
			if in.severalSplits() || !in.inOrder {
				out.some, out.unordered = true, out.unordered || !in.inOrder
			}
			passed = slices.ContainsFunc(times[k], func(other int64) bool { return t <= other && other <= before })
		}
		if passed {
			out.refuse(0, in, i, nil, nil)
			continue
		}
		times[k] = append(times[k], t)
		kept.add(r, in, i)
	}
	return kept
}

// overPartition is the rows of a partition in order.
type overPartition struct {
	rows    []Row
	order   []plan.SortKey
	arrival bool // no rows are equal in the order
	scale   int  // of the first key, if it is a DECIMAL
}

// compare says where row j is from the point of view of row i: 0 for its peers.
func (p *overPartition) compare(j, i int) int {
	if p.arrival {
		return j - i
	}
	return inOrder(p.order, p.rows[j], p.rows[i])
}

// frame is the rows that row i looks at.
func (p *overPartition) frame(f plan.Frame, i int) (out []Row) {
	for j, r := range p.rows {
		if p.within(f.Rows, f.Start, j, i, 1) && p.within(f.Rows, f.End, j, i, -1) {
			out = append(out, r)
		}
	}
	return out
}

// within reports whether row j is not before a bound of row i, as side is 1, or not behind
// it, as side is -1.
func (p *overPartition) within(rows bool, b plan.FrameBound, j, i, side int) bool {
	if b.Unbounded() {
		return true
	}
	sign := int64(1)
	if b.Preceding() {
		sign = -1
	}
	switch {
	case rows && b.Current():
		return (j-i)*side >= 0
	case rows:
		return (int64(j-i)-sign*b.Rows)*int64(side) >= 0
	case b.Current():
		return p.compare(j, i)*side >= 0
	}
	key := p.order[0]
	x, y := p.rows[j][key.Column], p.rows[i][key.Column]
	if x == nil || y == nil { // no distance, but an order
		c := p.compare(j, i)
		return c*side > 0 || c == 0 && x == nil && y == nil
	}
	direction := 1
	if key.Desc {
		direction = -1
	}
	return p.far(x, y, b, sign*int64(direction))*direction*side >= 0
}

// far compares x with what is at the distance of a bound from y, in the direction of sign.
func (p *overPartition) far(x, y any, b plan.FrameBound, sign int64) int {
	if f, ok := y.(float64); ok {
		return order(x, f+float64(sign)*b.Float)
	}
	d := new(big.Rat).SetInt64(b.Rows)
	if _, ok := y.(*big.Rat); ok {
		d.SetFrac(b.Dec.BigInt(), tenTo(p.scale))
	}
	d.Mul(d, new(big.Rat).SetInt64(sign))
	return rational(x).Cmp(d.Add(d, rational(y)))
}

// overCall computes a call for row i of a partition.
func (e evaluator) overCall(c *plan.OverCall, p *overPartition, i int) (any, error) {
	n := len(p.rows)
	before, peers := 0, 0 // rows that are before row i in the order, and its peers
	var dense []int
	for j := range p.rows {
		switch s := p.compare(j, i); {
		case s < 0:
			before++
			if len(dense) == 0 || p.compare(j, dense[len(dense)-1]) != 0 {
				dense = append(dense, j)
			}
		case s == 0:
			peers++
		}
	}
	switch c.Function {
	case plan.OverAggregate:
		v, _, err := e.over(c.Aggregate, p.frame(c.Frame, i))
		return v, err
	case plan.OverNthValue:
		return e.nth(c.Args[0], p.frame(c.Frame, i), c.N)
	case plan.OverLag, plan.OverLead:
		at := int64(i) + c.N
		if c.Function == plan.OverLag {
			at = int64(i) - c.N
		}
		switch {
		case at >= 0 && at < int64(n):
			return e.eval(c.Args[0], p.rows[at])
		case len(c.Args) > 1:
			return e.eval(c.Args[1], p.rows[i])
		}
		return nil, nil
	case plan.OverRowNumber:
		return int64(i + 1), nil
	case plan.OverRank:
		return int64(before + 1), nil
	case plan.OverDenseRank:
		return int64(len(dense) + 1), nil
	case plan.OverPercentRank:
		if n == 1 {
			return 0.0, nil
		}
		return float64(before) / float64(n-1), nil
	case plan.OverCumeDist:
		return float64(before+peers) / float64(n), nil
	case plan.OverNtile:
		// The first of the shares have a row more when there are some left.
		row := int64(0)
		for share := int64(1); ; share++ {
			row += int64(n) / c.N
			if share <= int64(n)%c.N {
				row++
			}
			if int64(i) < row {
				return share, nil
			}
		}
	}
	return nil, unsupported(place{&expr.Aggregate{At: c.At}}, "call %s with OVER", c.Function)
}

// nth is the n-th value of rows that is not NULL.
func (e evaluator) nth(x expr.Expr, rows []Row, n int64) (any, error) {
	for _, r := range rows {
		v, err := e.eval(x, r)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		if n--; n == 0 {
			return v, nil
		}
	}
	return nil, nil
}
