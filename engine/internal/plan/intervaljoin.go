package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
)

// Interval makes a Join one within an interval: of two rows, which are only added, the
// times are not far apart. Rows are kept as long as partners of theirs may come, and a row
// that has found none leaves when that is over, so nothing is ever taken back. Both times
// stay time attributes.
type Interval struct {
	Attr        sqltype.TimeAttr
	Left, Right int // the columns with the times, of either input
	// Lower and Upper are the least and the most, in milliseconds, that the time of the
	// left is greater than that of the right. An interval may be empty.
	Lower, Upper int64
}

// Horizon is how long, in milliseconds, rows of an input may find partners after their
// own time: so long they are kept.
func (i *Interval) Horizon(port int) int64 {
	if port == 0 {
		return -i.Lower
	}
	return i.Upper
}

func (i *Interval) empty() bool { return i.Lower > i.Upper }

// times are the columns with the times, by input.
func (i *Interval) times() [2]int { return [2]int{i.Left, i.Right} }

// findIntervalJoins finds the joins within an interval between n and the FROM below it.
// It is called as soon as the conditions are known, so that what stands above can ask for
// the times.
func findIntervalJoins(n Node, conds []expr.Expr) {
	switch n := n.(type) {
	case *Calc:
		findIntervalJoins(n.Input, n.below(conds))
	case *Join:
		at := len(n.Left.Schema())
		if n.Kind != InnerJoin {
			conds = nil
		}
		conds, _ = split(conds, func(expr.Expr) bool { return true })
		if n.Residual != nil {
			conds = append(conds, expr.Conjuncts(n.Residual)...)
		}
		var left, right []expr.Expr
		if n.Kind == InnerJoin {
			left, _ = split(conds, func(e expr.Expr) bool { return within(e, 0, at) })
			right, _ = split(conds, func(e expr.Expr) bool { return within(e, at, at+len(n.Right.Schema())) })
			for i, c := range right {
				right[i] = expr.Remap(c, func(c int) int { return c - at })
			}
		}
		findIntervalJoins(n.Left, left)
		findIntervalJoins(n.Right, right)
		if n.Interval == nil && !n.once() && !n.matchesWindows(conds) {
			n.Interval = n.interval(conds)
		}
	}
}

// below are, of the rows that leave the input of a Calc, the conditions that hold where
// conds hold above.
func (n *Calc) below(conds []expr.Expr) []expr.Expr {
	below, _ := split(conds, func(e expr.Expr) bool {
		return !slices.ContainsFunc(expr.Columns(e), func(c int) bool { return !expr.Deterministic(n.Exprs[c]) })
	})
	for i, c := range below {
		below[i] = replace(c, n.Exprs)
	}
	if n.Filter != nil {
		below = append(below, expr.Conjuncts(n.Filter)...)
	}
	return below
}

// timeBounds is what conditions say of the times of a pair of columns.
type timeBounds struct {
	Interval
	lower, upper bool
}

// interval is what the conditions bound the difference of two time attributes to, or nil
// when they do not on both sides, or rows may be taken back.
func (n *Join) interval(conds []expr.Expr) *Interval {
	var all []*timeBounds
	for _, c := range conds {
		b, ok := n.timeBound(c)
		if !ok {
			continue
		}
		i := slices.IndexFunc(all, func(a *timeBounds) bool { return a.Left == b.Left && a.Right == b.Right })
		if i < 0 {
			all = append(all, &b)
			continue
		}
		a := all[i]
		a.Lower, a.Upper = max(a.Lower, b.Lower), min(a.Upper, b.Upper)
		a.lower, a.upper = a.lower || b.lower, a.upper || b.upper
	}
	for _, b := range all {
		if b.lower && b.upper && addsOnly(n.Left) && addsOnly(n.Right) {
			return &b.Interval
		}
	}
	return nil
}

// timeBound is what one condition says of the difference of two times: one side of a
// comparison has that of the left input, the other that of the right.
func (n *Join) timeBound(cond expr.Expr) (timeBounds, bool) {
	b := timeBounds{Interval: Interval{Lower: math.MinInt64, Upper: math.MaxInt64}}
	call, ok := cond.(*expr.Call)
	if !ok || len(call.Args) != 2 {
		return b, false
	}
	op := call.Func.Name
	l, plusLeft, ok := shiftedTime(call.Args[0])
	r, plusRight, also := shiftedTime(call.Args[1])
	if !ok || !also {
		return b, false
	}
	at := len(n.Left.Schema())
	if l >= at {
		l, plusLeft, r, plusRight = r, plusRight, l, plusLeft
		op = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
	}
	if l >= at || r < at {
		return b, false
	}
	b.Left, b.Right = l, r-at
	b.Attr = timeAttribute(n.Left, b.Left)
	lt, rt := n.Left.Schema()[b.Left].Type, n.Right.Schema()[b.Right].Type
	if b.Attr == sqltype.NoTime || b.Attr != timeAttribute(n.Right, b.Right) || lt.ID != rt.ID {
		return b, false
	}
	switch by := plusRight - plusLeft; op {
	case "=":
		b.Lower, b.Upper = by, by
	case "<":
		b.Upper = by - 1
	case "<=":
		b.Upper = by
	case ">":
		b.Lower = by + 1
	case ">=":
		b.Lower = by
	default:
		return b, false
	}
	b.lower, b.upper = op != "<" && op != "<=", op != ">" && op != ">="
	return b, true
}

// shiftedTime takes apart a column, or a column and intervals of a fixed length that are
// added and subtracted.
func shiftedTime(e expr.Expr) (column int, plus int64, ok bool) {
	switch e := e.(type) {
	case *expr.Column:
		return e.Index, 0, e.T.IsTimestamp()
	case *expr.Cast: // to more digits
		from := e.Arg.Type()
		if from.ID == e.T.ID && from.IsTimestamp() && from.Precision <= e.T.Precision {
			return shiftedTime(e.Arg)
		}
	case *expr.Call:
		if len(e.Args) != 2 || e.Func.Name != "+" && e.Func.Name != "-" {
			return 0, 0, false
		}
		at, by := e.Args[0], e.Args[1]
		if e.Func.Name == "+" && at.Type().ID == sqltype.IntervalDay {
			at, by = by, at
		}
		lit, is := expr.Fold(by).(*expr.Literal)
		if !is || lit.T.ID != sqltype.IntervalDay {
			return 0, 0, false
		}
		ms, is := lit.Value.(int64)
		if !is || ms > maxInterval || ms < -maxInterval {
			return 0, 0, false
		}
		if e.Func.Name == "-" {
			ms = -ms
		}
		column, plus, ok = shiftedTime(at)
		return column, plus + ms, ok
	}
	return 0, 0, false
}

// maxInterval keeps sums of intervals and times in range: some millions of years.
const maxInterval = 1 << 58

// addsOnly reports whether the rows of a node that is being bound are never taken back.
func addsOnly(n Node) bool {
	for _, in := range n.Inputs() {
		addsOnly(in)
	}
	derive(n)
	return n.Traits().Mode.InsertOnly()
}

// without leaves out the conditions that the interval stands for.
func (i *Interval) without(n *Join, conds []expr.Expr) []expr.Expr {
	if i == nil {
		return conds
	}
	return slices.DeleteFunc(conds, func(c expr.Expr) bool {
		b, ok := n.timeBound(c)
		return ok && b.Left == i.Left && b.Right == i.Right && b.Lower <= i.Lower && b.Upper >= i.Upper
	})
}

// moved is the interval over inputs of which there are the given columns.
func (i *Interval) moved(left, right []int) *Interval {
	if i == nil {
		return nil
	}
	out := *i
	out.Left, out.Right = slices.Index(left, i.Left), slices.Index(right, i.Right)
	return &out
}

// equal reports whether two joins have one interval, or none.
func (i *Interval) equal(o *Interval) bool {
	if i == nil || o == nil {
		return i == o
	}
	return *i == *o
}

// settleIntervals ends the search for joins within an interval. Where the interval is
// empty no row has a partner: those that leave without one are passed on at once.
func settleIntervals(n Node) Node {
	for i, in := range n.Inputs() {
		n.setInput(i, settleIntervals(in))
	}
	j, ok := n.(*Join)
	if !ok || j.Interval == nil || !j.Interval.empty() {
		return n
	}
	var alone []Node
	if !j.Kind.LosesLeft() {
		alone = append(alone, j.alone(0))
	}
	if !j.Kind.LosesRight() {
		alone = append(alone, j.alone(1))
	}
	switch len(alone) {
	case 0:
		return newValues(j.schema, nil, j.at)
	case 1:
		return alone[0]
	}
	return newUnion(alone, j.schema, j.at)
}

// alone are the rows of an input as the join gives them without a partner.
func (n *Join) alone(port int) Node {
	in, at := n.Inputs()[port], len(n.Left.Schema())
	exprs := make([]expr.Expr, len(n.Output))
	for i, c := range n.Output {
		if side := c >= at; side != (port == 1) {
			exprs[i] = &expr.Literal{T: n.schema[i].Type.Optional().Plain(), At: n.at}
			continue
		}
		if port == 1 {
			c -= at
		}
		exprs[i] = expr.NewColumn(in.Schema(), c, n.at)
	}
	return newCalc(in, nil, exprs, n.schema.Names(), n.at)
}

// timeAttribute is that of an output column: the times by which rows are joined are kept.
func (i *Interval) timeAttribute(n *Join, col int) sqltype.TimeAttr {
	at := len(n.Left.Schema())
	if c := n.Output[col]; c == i.Left || c == at+i.Right {
		return i.Attr
	}
	return sqltype.NoTime
}

// check refuses what the search could not know of.
func (i *Interval) check(n *Join) error {
	for _, in := range n.Inputs() {
		if !in.Traits().Mode.InsertOnly() {
			return errs.New(errs.Changelog, n.at, "a join within an interval joins rows that are only added, but %s", why(in)).
				WithHint("compare CAST(.. AS TIMESTAMP(3)) of the times: then it is a join that keeps all rows")
		}
	}
	return nil
}

// text is the condition: the time of the left is between two of the right.
func (i *Interval) text(n *Join) string {
	left, right := n.Left.Schema(), n.Right.Schema()
	l, r := left[i.Left].Name, right[i.Right].Name
	if l == r {
		l, r = "left."+l, "right."+r
	}
	shifted := func(ms int64) string {
		switch {
		case ms == 0:
			return r
		case ms < 0:
			return r + " - " + intervalText(-ms)
		}
		return r + " + " + intervalText(ms)
	}
	if i.Lower == i.Upper {
		return l + " = " + shifted(i.Lower)
	}
	return fmt.Sprintf("%s BETWEEN %s AND %s", l, shifted(i.Lower), shifted(i.Upper))
}

// intervalText is a number of milliseconds in larger units.
func intervalText(ms int64) string {
	if ms > int64(math.MaxInt64/time.Millisecond) {
		return fmt.Sprintf("%d ms", ms)
	}
	return shortDuration(time.Duration(ms) * time.Millisecond)
}

// stateBound says how long rows are kept: until the time of the other side, or the clock,
// is so far behind them.
func (i *Interval) stateBound() string {
	what, keeps := "event time", func(port int) string { return intervalText(max(i.Horizon(port), 0)) }
	if i.Attr == sqltype.Proctime {
		what = "the clock"
	}
	return fmt.Sprintf("bounded by the rows that %s is not past by %s (left), %s (right)", what, keeps(0), keeps(1))
}
