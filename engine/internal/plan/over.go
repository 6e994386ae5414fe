package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// OverFunction says what a call with OVER computes.
type OverFunction uint8

// The functions.
const (
	OverAggregate OverFunction = iota
	OverNthValue
	OverLag
	OverLead
	OverRowNumber
	OverRank
	OverDenseRank
	OverPercentRank
	OverCumeDist
	OverNtile
)

func (f OverFunction) String() string {
	return [...]string{"an aggregate", "NTH_VALUE", "LAG", "LEAD", "ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE"}[f]
}

// framed reports whether the function looks at a frame.
func (f OverFunction) framed() bool { return f <= OverNthValue }

// FrameBound is an end of a frame.
type FrameBound struct {
	Kind parse.BoundKind
	// The distance: rows, or units of an integer or a time, or a number.
	Rows  int64
	Float float64
	Dec   vector.Dec
	Text  string // as it was written
}

// Unbounded, Preceding and Current say what kind of bound it is; else it follows the row.
func (b FrameBound) Unbounded() bool {
	return b.Kind == parse.UnboundedPreceding || b.Kind == parse.UnboundedFollowing
}

// Preceding reports whether the bound is before the row by a distance.
func (b FrameBound) Preceding() bool { return b.Kind == parse.Preceding }

// Current reports whether the bound is the row, with its equals in a RANGE.
func (b FrameBound) Current() bool { return b.Kind == parse.CurrentRow }

func (b FrameBound) String() string {
	if b.Kind == parse.Preceding || b.Kind == parse.Following {
		return b.Text + " " + b.Kind.String()
	}
	return b.Kind.String()
}

// Frame is the rows that a call looks at, from the point of view of each row. Without
// Rows it is a range of values of the order.
type Frame struct {
	Rows       bool
	Start, End FrameBound
}

func (f Frame) String() string {
	unit := "RANGE"
	if f.Rows {
		unit = "ROWS"
	}
	return fmt.Sprintf("%s BETWEEN %s AND %s", unit, f.Start, f.End)
}

// OverCall is a call with OVER.
type OverCall struct {
	Function  OverFunction
	Aggregate *expr.Aggregate // OverAggregate; its arguments are columns
	Args      []expr.Expr     // of the others: columns
	N         int64
	T         sqltype.Type
	Frame     Frame
	At        errs.Position
}

// exprs are the expressions that the call reads.
func (c *OverCall) exprs() []expr.Expr {
	out := slices.Clone(c.Args)
	if c.Aggregate != nil {
		out = append(out, c.Aggregate.Args...)
		if c.Aggregate.Filter != nil {
			out = append(out, c.Aggregate.Filter)
		}
	}
	return out
}

// rewritten is the call with do done to what it reads.
func (c OverCall) rewritten(do func(expr.Expr) (expr.Expr, error)) (OverCall, error) {
	all := func(es []expr.Expr) (out []expr.Expr, err error) {
		for _, e := range es {
			if e, err = do(e); err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		return out, nil
	}
	var err error
	if c.Args, err = all(c.Args); err != nil || c.Aggregate == nil {
		return c, err
	}
	a := *c.Aggregate
	if a.Args, err = all(a.Args); err != nil {
		return c, err
	}
	if a.Filter != nil {
		if a.Filter, err = do(a.Filter); err != nil {
			return c, err
		}
	}
	c.Aggregate = &a
	return c, nil
}

// remapped is the call over the columns of have.
func (c OverCall) remapped(have []int) OverCall {
	out, _ := c.rewritten(func(e expr.Expr) (expr.Expr, error) { return remap(e, have), nil })
	return out
}

func (c *OverCall) equal(other *OverCall) bool {
	return c.Function == other.Function && c.N == other.N && c.Frame == other.Frame && slices.EqualFunc(c.Args, other.Args, expr.Equal) &&
		(c.Aggregate == nil) == (other.Aggregate == nil) && (c.Aggregate == nil || equalAggregates(c.Aggregate, other.Aggregate))
}

// same is equal for calls that are deterministic.
func (c *OverCall) same(other *OverCall) bool {
	return c.equal(other) && equalExprs(c.exprs(), other.exprs())
}

func (c *OverCall) String() string {
	if c.Aggregate != nil {
		return c.Aggregate.String()
	}
	var args []string
	for _, a := range c.Args {
		args = append(args, a.String())
	}
	if n := fmt.Sprint(c.N); c.N >= 0 && (c.Function == OverLag || c.Function == OverLead || c.Function == OverNthValue) {
		args = slices.Insert(args, 1, n)
	} else if c.Function == OverNtile {
		args = append(args, n)
	}
	return c.Function.String() + "(" + strings.Join(args, ", ") + ")"
}

// OverStrategy says how an Over does its work.
type OverStrategy uint8

// The strategies.
const (
	// OverTime emits each row once, in the order of time.
	OverTime OverStrategy = iota
	// OverRows keeps all live rows and updates those whose values change.
	OverRows
)

// Over computes calls with OVER that have one partition and order. Its columns are those
// of the input, then one for each call.
type Over struct {
	unary
	Partition []int
	Order     []SortKey
	Calls     []OverCall
	// Time is what the first column of the order was when the statement was bound, if
	// it is ascending.
	Time sqltype.TimeAttr
	// Watermark is the hidden column of the input, which is no result, or -1.
	Watermark        int
	Strategy         OverStrategy
	EmitUpdateBefore bool
	// Strict says that a row which the watermark had passed is late in any case.
	Strict bool
	// Late says where late rows go.
	Late LateTarget
}

// Op is "Over".
func (*Over) Op() string { return "Over" }

// Width is the number of columns that no call gives.
func (n *Over) Width() int { return len(n.schema) - len(n.Calls) }

func (n *Over) late(int) *LateTarget { return &n.Late }

func (n *Over) eventTime(int) (watermarks, lateness bool) {
	event := n.Time == sqltype.Rowtime
	return event, event
}

func (n *Over) setLateness(_, column int) { n.Watermark = column }

func (n *Over) setStrict() { n.Strict = true }

// over is n, which has no input yet, over in.
func (n *Over) over(in Node, names []string) *Over {
	n.Input, n.EmitUpdateBefore = in, true
	n.schema = slices.Clone(in.Schema())
	for i, c := range n.Calls {
		n.schema = append(n.schema, sqltype.Column{Name: names[i], Type: c.T})
	}
	if len(n.Order) > 0 && !n.Order[0].Desc {
		n.Time = timeAttribute(in, n.Order[0].Column)
	}
	return n
}

// pushDown passes on what is on the partition alone.
func (n *Over) pushDown(conds []expr.Expr) Node {
	below, above := split(conds, func(e expr.Expr) bool {
		return len(n.Partition) > 0 && subset(expr.Columns(e), n.Partition)
	})
	n.Input = pushDown(n.Input, below)
	return filtered(n, above)
}

// prune keeps the columns that are needed, and what the calls that are needed read.
func (n *Over) prune(need []int) (Node, []int) {
	width := n.Width()
	var calls []int
	reads := slices.DeleteFunc(slices.Clone(need), func(c int) bool { return c >= width })
	for i, c := range n.Calls {
		if !slices.Contains(need, width+i) {
			continue
		}
		calls = append(calls, i)
		for _, e := range c.exprs() {
			reads = append(reads, expr.Columns(e)...)
		}
	}
	if len(calls) == 0 {
		return prune(n.Input, need)
	}
	reads = slices.Concat(reads, n.Partition, n.Late.reads())
	for _, k := range n.Order {
		reads = append(reads, k.Column)
	}
	have := union(reads)
	reads = have
	out := *n
	if out.Watermark = -1; n.Watermark >= 0 {
		out.Watermark = len(reads)
		reads = append(slices.Clone(reads), n.Watermark)
	}
	out.Input = exactly(n.Input, reads)
	out.Partition, out.Order, out.Calls = positions(n.Partition, have), slices.Clone(n.Order), nil
	out.Late = n.Late.moved(have)
	for i, k := range out.Order {
		out.Order[i].Column = slices.Index(have, k.Column)
	}
	all := have
	for _, i := range calls {
		out.Calls = append(out.Calls, n.Calls[i].remapped(have))
		all = append(all[:len(all):len(all)], width+i)
	}
	out.schema = n.schema.Project(all)
	return &out, all
}

// derive chooses the strategy, from which modes and keys follow.
func (n *Over) derive(t *Traits) {
	in := n.Input.Traits()
	t.Mode, n.Strategy = sqltype.AppendMode, OverTime
	if n.Time == sqltype.NoTime || !in.Mode.InsertOnly() {
		n.Strategy = OverRows
		t.Mode = updatingMode(n.EmitUpdateBefore, !in.Mode.InsertOnly())
	}
	t.Keys = nil
	for _, k := range in.Keys {
		if slices.ContainsFunc(k.Columns, func(c int) bool { return c >= n.Width() }) {
			continue
		}
		k.Ordered = k.Ordered || in.Mode.InsertOnly()
		t.Keys = append(t.Keys, k)
	}
	for i, c := range n.Calls {
		if c.Function == OverRowNumber && n.Strategy == OverTime {
			t.Keys = append(t.Keys, Key{Columns: append(union(n.Partition), n.Width()+i), Ordered: true})
		}
	}
	t.Keys = smallest(t.Keys)
}

// check refuses frames whose rows would never be emitted.
func (n *Over) check() error {
	if n.Strategy != OverTime {
		return nil
	}
	for _, c := range n.Calls {
		end := c.Frame.End
		whole := c.Function >= OverPercentRank || c.Function.framed() && end.Kind == parse.UnboundedFollowing
		switch {
		case whole && !bounded(n.Input):
			e := errs.New(errs.Changelog, c.At, "%s looks at all rows of the partition, and its input does not end: no row would ever be emitted", n.Calls[0].name())
			if c.Function.framed() {
				return e.WithHint("end the frame at CURRENT ROW, or some time or ROWS FOLLOWING")
			}
			return e.WithHint("order by what is no time attribute: then rows are updated when others come")
		case n.Time == sqltype.Proctime && c.Function.framed() && !c.Frame.Rows && end.Kind == parse.Following:
			return unsupported(c.At, "a RANGE that ends in the future of processing time is").WithHint("use ROWS, or event time")
		}
	}
	return nil
}

// checkAhead refuses frames in processing time that hold rows back below an operator of
// event time: it would find them late, or not, by when the next rows of their partition
// came.
func (n *Over) checkAhead() error {
	for _, c := range n.Calls {
		if n.Time == sqltype.Proctime && c.looksAhead() {
			return unsupported(c.At, "%s that waits for rows to follow in processing time, below an operator of event time, is", c.name()).
				WithHint("order by the event time, or end the frame at CURRENT ROW")
		}
	}
	return nil
}

// looksAhead reports whether a row has to wait for others.
func (c *OverCall) looksAhead() bool {
	end := c.Frame.End.Kind
	return c.Function == OverLead || c.Function >= OverPercentRank ||
		c.Function.framed() && (end == parse.Following || end == parse.UnboundedFollowing)
}

func (c *OverCall) name() string {
	if c.Aggregate != nil {
		return c.Aggregate.Func.Name
	}
	return c.Function.String()
}

// stateBound is the rows that are kept, and what the calls keep.
func (n *Over) stateBound() string {
	parts := "the values of " + columnList(n.Input, n.Partition)
	if n.Strategy == OverRows {
		return growth(n.Input, liveRows(n.Input))
	}
	var bounds []string
	add := func(b string) {
		if !slices.Contains(bounds, b) {
			bounds = append(bounds, b)
		}
	}
	grows, whole := false, false
	for _, c := range n.Calls {
		back, first := c.Frame.Start, !c.Function.framed()
		whole = whole || c.Function >= OverPercentRank || !first && c.Frame.End.Kind == parse.UnboundedFollowing
		switch {
		case c.Function == OverLag:
			grows = true
			add(rowCount(c.N) + " of each partition")
		case c.Function == OverLead:
			add(rowCount(c.N) + " of each partition")
		case first, back.Kind == parse.UnboundedPreceding:
			grows = true
			what := "a value for each partition"
			switch a := c.Aggregate; {
			case a == nil:
			case a.Distinct:
				what = "the distinct values of " + a.Args[0].String() + " in each partition"
			case a.Func.Go != nil:
				what = "what " + a.Func.Name + " keeps of each partition"
			}
			add(what)
		case c.Frame.Rows && back.Kind == parse.Preceding:
			grows = true
			add(rowCount(back.Rows) + " of each partition")
		case back.Kind == parse.Preceding:
			add("the rows of the last " + back.Text)
		}
	}
	switch {
	case whole:
		return growth(n.Input, liveRows(n.Input))
	case n.Time == sqltype.Rowtime:
		add("the rows that the watermark has not passed")
	}
	if grows && len(n.Partition) > 0 {
		return growth(n.Input, append([]string{parts}, bounds...)...)
	}
	if len(bounds) == 0 {
		return ""
	}
	return "bounded by " + list(bounds)
}

// forgets reports whether partitions that no row touches can be forgotten: not where they
// go with time, nor while the different values that were found of them are kept.
func (n *Over) forgets() bool {
	if len(n.Partition) == 0 || n.Strategy == OverRows {
		return len(n.Partition) > 0
	}
	grows := false
	for _, c := range n.Calls {
		start := c.Frame.Start.Kind
		if a := c.Aggregate; a != nil && a.Distinct && start == parse.UnboundedPreceding {
			return false
		}
		grows = grows || c.Function != OverLead && (!c.Function.framed() || start == parse.UnboundedPreceding || c.Frame.Rows && start == parse.Preceding)
	}
	return grows
}

func (n *Over) subject() string {
	if len(n.Partition) == 0 {
		return ""
	}
	return "by " + columnList(n, n.Partition)
}

// texts are the calls with their frames.
func (n *Over) texts() []string {
	out := make([]string, len(n.Calls))
	for i := range n.Calls {
		c := &n.Calls[i]
		out[i] = c.String()
		if c.Function.framed() {
			out[i] += " " + c.Frame.String()
		}
		if name := n.schema[n.Width()+i].Name; !strings.HasPrefix(name, c.String()+" OVER") {
			out[i] += " AS " + name
		}
	}
	return out
}

// how is the strategy, in a few words.
func (n *Over) how() string {
	switch {
	case n.Strategy == OverRows:
		return "when others come and go, by the rows whose values change"
	case n.Time == sqltype.Rowtime:
		return "once, when the watermark has passed what it looks at"
	}
	return "once, as rows come"
}

// mostRows bounds the numbers of rows of a frame.
const mostRows = math.MaxInt32 / 2
