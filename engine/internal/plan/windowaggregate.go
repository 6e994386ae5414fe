package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/engine/sqltype"
)

// WindowAggregate computes aggregates for each group of rows in each window, when the
// window is over: its rows are never taken back. The output has the columns of the
// window, the key columns, then one column for each aggregate.
type WindowAggregate struct {
	unary
	Windows Windows
	// Time is the input column by which rows are given windows here, or -1 when they have
	// some already: then Start and End are the columns with them.
	Time       int
	Start, End int
	Watermark  int   // hidden column of the input, or -1
	Keys       []int // input columns
	Aggs       []*expr.Aggregate
	// InputAppendOnly says that nothing is ever taken back.
	InputAppendOnly bool
	// Late says where late rows go.
	Late LateTarget
}

func (n *WindowAggregate) late(int) *LateTarget { return &n.Late }

// Op is "WindowAggregate".
func (*WindowAggregate) Op() string { return "WindowAggregate" }

// windowWidth is the number of columns of a window.
const windowWidth = 3

func newWindowAggregate(in Node, like *WindowAggregate, names []string) *WindowAggregate {
	n := *like
	n.traits = Traits{}
	n.Input = in
	n.schema = append(n.Windows.schema(), in.Schema().Project(n.Keys)...)
	for i, a := range n.Aggs {
		n.schema = append(n.schema, sqltype.Column{Name: names[i], Type: a.T})
	}
	return &n
}

// groupWindows is an Aggregate whose keys have the window of rows, as a WindowAggregate:
// then a group is complete when its window is over. Its output is that of the Aggregate.
func groupWindows(n *Aggregate) (Node, error) {
	w, ok := windowOf(n.Input)
	if !ok || !w.whole() || !slices.Contains(n.Keys, w.start) || !slices.Contains(n.Keys, w.end) {
		return n, nil
	}
	if w.Attr == sqltype.NoTime {
		if t := windowTable(n.Input); t != nil && !bounded(t) { // else all rows come, and a group is what it comes to
			return nil, needTime(t.Input, t.Time, "a window aggregation over "+t.Windows.Kind.String(), t.at)
		}
		return n, nil
	}
	out := &WindowAggregate{Windows: w.Windows, Time: -1, Start: w.start, End: w.end, Watermark: -1, Aggs: n.Aggs}
	out.at = n.at
	order := make([]int, len(n.Keys))
	for i, k := range n.Keys {
		switch k {
		case w.start:
			order[i] = 0
		case w.end:
			order[i] = 1
		case w.time:
			order[i] = 2
		default:
			order[i] = windowWidth + len(out.Keys)
			out.Keys = append(out.Keys, k)
		}
	}
	for i := range n.Aggs {
		order = append(order, windowWidth+len(out.Keys)+i)
	}
	names := n.schema.Names()
	wa := newWindowAggregate(n.Input, out, names[len(n.Keys):])
	exprs := make([]expr.Expr, len(order))
	for i, c := range order {
		exprs[i] = expr.NewColumn(wa.schema, c, n.at)
	}
	return newCalc(wa, nil, exprs, names, n.at), nil
}

func (n *WindowAggregate) eventTime(int) (watermarks, lateness bool) {
	event := n.Windows.Attr == sqltype.Rowtime
	return event, event
}

func (n *WindowAggregate) setLateness(_, column int) { n.Watermark = column }

// windowInput are the input columns that say which windows a row is in.
func (n *WindowAggregate) windowInput() []int {
	var out []int
	for _, c := range []int{n.Time, n.Start, n.End, n.Watermark} {
		if c >= 0 {
			out = append(out, c)
		}
	}
	return out
}

func (n *WindowAggregate) prune(need []int) (Node, []int) {
	at := windowWidth + len(n.Keys)
	have := upTo(at)
	reads := append(slices.Clone(n.Keys), n.windowInput()...)
	var aggs []*expr.Aggregate
	for i, a := range n.Aggs {
		if slices.Contains(need, at+i) {
			have, aggs = append(have, at+i), append(aggs, a)
			reads = append(reads, aggregateColumns(a)...)
		}
	}
	reads = union(reads, n.Late.reads())
	in := exactly(n.Input, reads)
	out := *n
	out.Late = n.Late.moved(reads)
	moved := func(c int) int { return slices.Index(reads, c) }
	out.Time, out.Start, out.End, out.Watermark = moved(n.Time), moved(n.Start), moved(n.End), moved(n.Watermark)
	out.Keys = positions(n.Keys, reads)
	out.Aggs = make([]*expr.Aggregate, len(aggs))
	for i, a := range aggs {
		out.Aggs[i] = remapAggregate(a, moved)
	}
	return newWindowAggregate(in, &out, n.schema.Project(have).Names()[at:]), have
}

// aggregateColumns are the columns that an aggregate reads.
func aggregateColumns(a *expr.Aggregate) []int {
	var out []int
	for _, arg := range a.Args {
		out = append(out, expr.Columns(arg)...)
	}
	if a.Filter != nil {
		out = append(out, expr.Columns(a.Filter)...)
	}
	return out
}

func remapAggregate(a *expr.Aggregate, to func(int) int) *expr.Aggregate {
	c := *a
	c.Args = make([]expr.Expr, len(a.Args))
	for k, arg := range a.Args {
		c.Args[k] = expr.Remap(arg, to)
	}
	if a.Filter != nil {
		c.Filter = expr.Remap(a.Filter, to)
	}
	return &c
}

// pushDown lets conditions on the keys go below: a group is kept or dropped as a whole.
func (n *WindowAggregate) pushDown(conds []expr.Expr) Node {
	below, above := split(conds, func(e expr.Expr) bool {
		return len(expr.Columns(e)) > 0 && within(e, windowWidth, windowWidth+len(n.Keys))
	})
	for i, c := range below {
		below[i] = expr.Remap(c, func(k int) int { return n.Keys[k-windowWidth] })
	}
	n.Input = pushDown(n.Input, below)
	return filtered(n, above)
}

// groupColumns are the columns of the output that tell groups apart. Windows of one size
// are told apart by one bound.
func (n *WindowAggregate) groupColumns() []int {
	cols := []int{0, 1}
	if n.Windows.Kind == window.Tumble || n.Windows.Kind == window.Hop {
		cols = []int{1}
	}
	for i := range n.Keys {
		cols = append(cols, windowWidth+i)
	}
	return cols
}

func (n *WindowAggregate) derive(t *Traits) {
	n.InputAppendOnly = n.Input.Traits().Mode.InsertOnly()
	t.Mode = sqltype.AppendMode
	t.Keys = nil
	if n.Windows.Attr == sqltype.Rowtime {
		t.Keys = []Key{{Columns: n.groupColumns(), Ordered: true}}
	}
}

func (n *WindowAggregate) placeExchanges() { n.Input = onKeys(n.Input, n.Keys) }

func (n *WindowAggregate) distribution() Distribution {
	d := n.Input.Traits().Dist
	if d.Kind != HashShards {
		return d
	}
	keys := positions(d.Keys, n.Keys)
	for i := range keys {
		keys[i] += windowWidth
	}
	return Distribution{Kind: HashShards, Keys: keys}
}

// check refuses what the aggregates cannot compute.
func (n *WindowAggregate) check() error {
	for _, a := range n.Aggs {
		if g := a.Func.Go; g != nil && !g.Retracts && !n.InputAppendOnly {
			return errs.New(errs.Changelog, a.At, "%s cannot take rows away, but %s", a.Func.Name, why(n.Input)).
				WithHint("give its accumulator a method Retract, or aggregate rows that are only added")
		}
	}
	return nil
}

func (n *WindowAggregate) subject() string {
	text := n.Windows.String()
	if n.Time >= 0 {
		text += " of " + n.Input.Schema()[n.Time].Name
	}
	if len(n.Keys) > 0 {
		text += " by " + columnList(n.Input, n.Keys)
	}
	return text
}

func (n *WindowAggregate) text() []string {
	out := make([]string, len(n.Aggs))
	for i, a := range n.Aggs {
		if out[i] = a.String(); out[i] != n.schema[windowWidth+len(n.Keys)+i].Name {
			out[i] += " AS " + n.schema[windowWidth+len(n.Keys)+i].Name
		}
	}
	return out
}

// stateBound: what is kept of a window goes when it is over.
func (n *WindowAggregate) stateBound() string {
	what := "the groups of open windows"
	if n.Time >= 0 && n.Windows.Kind == window.Hop {
		what = "the groups of open slices of " + window.Length(n.Windows.Slice())
	}
	each := []string{what}
	for _, a := range n.Aggs {
		if kind := a.Func.Kind; a.Distinct || kind == function.ListAgg || !n.InputAppendOnly && (kind == function.Min || kind == function.Max || kind.Ordered()) {
			each = append(each, "their values of "+a.Args[0].String())
		}
	}
	return bounds(slices.Compact(each))
}

// fuseWindows lets an aggregation give rows their windows itself, where nothing between
// the window table function and it looks at them: then windows that overlap share what
// they have in common.
func fuseWindows(n Node) (Node, error) {
	for i, in := range n.Inputs() {
		below, err := fuseWindows(in)
		if err != nil {
			return nil, err
		}
		n.setInput(i, below)
	}
	wa, ok := n.(*WindowAggregate)
	if !ok || wa.Time >= 0 {
		return n, nil
	}
	w, _ := windowOf(wa.Input)
	if slices.ContainsFunc(wa.Aggs, func(a *expr.Aggregate) bool { return reads(aggregateColumns(a), wa.Start, wa.End, w.time) }) {
		return n, nil
	}
	in, at := withoutWindow(wa.Input, wa.Start, wa.End)
	if in == nil {
		return n, nil
	}
	out := *wa
	out.Input, out.Time, out.Start, out.End = in, at, -1, -1
	pruned, _ := out.prune(upTo(len(wa.schema)))
	return pruned, nil
}

func reads(cols []int, any ...int) bool {
	return slices.ContainsFunc(cols, func(c int) bool { return slices.Contains(any, c) })
}

// withoutWindow is n with the time of the rows in its column start, instead of the bounds
// of a window, and with one row for all windows of a row. It is nil where the bounds are
// read, or are those of sessions.
func withoutWindow(n Node, start, end int) (Node, int) {
	switch n := n.(type) {
	case *WindowTable:
		width := len(n.Forward)
		if n.session() || start != width || end != width+1 {
			return nil, 0
		}
		cols := append(slices.Clone(n.Forward), n.Time, n.Time, n.Time)
		if n.hides() {
			cols = append(cols, n.Watermark)
		}
		names := slices.Clone(n.schema.Names())
		exprs := make([]expr.Expr, len(cols))
		for i, c := range cols {
			exprs[i] = expr.NewColumn(n.Input.Schema(), c, n.at)
		}
		names[width] = n.Input.Schema()[n.Time].Name
		return newCalc(n.Input, nil, exprs, names, n.at), start
	case *Calc:
		w, ok := windowOf(n.Input)
		if !ok || !w.whole() || n.Filter != nil && reads(expr.Columns(n.Filter), w.start, w.end, w.time) {
			return nil, 0
		}
		for i, e := range n.Exprs {
			if i != start && i != end && reads(expr.Columns(e), w.start, w.end) || reads(expr.Columns(e), w.time) {
				return nil, 0
			}
		}
		s, ok := n.Exprs[start].(*expr.Column)
		if !ok || s.Index != w.start {
			return nil, 0
		}
		in, at := withoutWindow(n.Input, w.start, w.end)
		if in == nil {
			return nil, 0
		}
		exprs, names := slices.Clone(n.Exprs), slices.Clone(n.schema.Names())
		exprs[start] = expr.NewColumn(in.Schema(), at, n.at)
		exprs[end] = exprs[start]
		names[start] = in.Schema()[at].Name
		return newCalc(in, n.Filter, exprs, names, n.at), start
	}
	return nil, 0
}
