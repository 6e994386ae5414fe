package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
)

// RankFunction says how the rows of a partition are numbered.
type RankFunction uint8

// The functions.
const (
	RowNumber RankFunction = iota
	RankWithGaps
	DenseRank
)

func (f RankFunction) String() string {
	return [...]string{"ROW_NUMBER", "RANK", "DENSE_RANK"}[f]
}

const unbounded = math.MaxInt64

// RankStrategy says how a Rank does its work, the cheapest way that its input allows.
type RankStrategy uint8

// The strategies.
const (
	// RankArrival numbers rows as they come, and never changes a number: the order is
	// that of arrival.
	RankArrival RankStrategy = iota
	// RankFirstInTime keeps the first row of each partition in event time until the
	// watermark says that there is none before it.
	RankFirstInTime
	// RankOne keeps the one row of each partition that is first in the order.
	RankOne
	// RankAppend keeps the rows with numbers up to To, of rows that are only added.
	RankAppend
	// RankReplacing is RankAppend for rows that are updated, and never for a worse place.
	RankReplacing
	// RankUpdating keeps all live rows.
	RankUpdating
	// RankWindow numbers the rows of a window when it is over.
	RankWindow
)

// Rank numbers the rows of each partition in an order, and passes on those with certain
// numbers: Top-N, and deduplication. Its columns are those of the input and, with Number,
// the row's number.
type Rank struct {
	unary
	Function  RankFunction
	Partition []int
	Order     []SortKey
	// From and To are the numbers that are passed on. ToColumn is the column of the
	// partition that has To, or -1.
	From, To int64
	ToColumn int
	Number   bool
	// Time is what the first column of the order was when the statement was bound.
	Time sqltype.TimeAttr
	// Watermark is the hidden column of the input, which is no result, or -1.
	Watermark int
	// Strict says that a row which the watermark had passed is late in any case, for
	// RankFirstInTime.
	Strict   bool
	Late     LateTarget // of windows, and of RankFirstInTime
	Strategy RankStrategy
	// Identity tells rows apart that replace each other, for RankReplacing.
	Identity         []int
	EmitUpdateBefore bool
}

// Op is Deduplicate for one row of each key by time, and TopN where there is a bound.
func (n *Rank) Op() string {
	switch {
	case n.single() && (n.Time != sqltype.NoTime || len(n.Order) == 0):
		return "Deduplicate"
	case n.bounded() || n.From > 1:
		return "TopN"
	}
	return "Rank"
}

// over is n, which has no input yet, with a column for the number.
func (n *Rank) over(in Node, name string) *Rank {
	n.Input, n.Number, n.EmitUpdateBefore = in, true, true
	n.schema = append(slices.Clone(in.Schema()), sqltype.Column{Name: name, Type: sqltype.BigIntType.Required()})
	return n
}

// Width is the number of columns that are not the row's number.
func (n *Rank) Width() int { return len(n.schema) - btoi(n.Number) }

func (n *Rank) bounded() bool { return n.To < unbounded || n.ToColumn >= 0 }

// single reports whether only the first row of each partition is passed on.
func (n *Rank) single() bool {
	return n.Function == RowNumber && n.From == 1 && n.To == 1 && n.ToColumn < 0
}

// firstInTime reports whether rows that are only added have to wait for the watermark.
func (n *Rank) firstInTime() bool {
	return n.single() && n.Time == sqltype.Rowtime && !n.Order[0].Desc
}

// refuses reports whether there are rows that come too late.
func (n *Rank) refuses() bool { return n.windowed() || n.firstInTime() }

// KeepsLast reports whether of rows with one time the last is passed on: those are
// replaced by rows that are later in time, and by those that are as late.
func (n *Rank) KeepsLast() bool {
	return n.single() && len(n.Order) == 1 && n.Time != sqltype.NoTime && n.Order[0].Desc
}

// byArrival reports whether the order is that in which rows come.
func (n *Rank) byArrival() bool {
	return len(n.Order) == 0 || len(n.Order) == 1 && n.Time == sqltype.Proctime && !n.Order[0].Desc
}

// InPlace reports whether a row that takes the place of another is an update, though
// the place is not shown.
func (n *Rank) InPlace() bool {
	return !n.Number && n.single() && (n.Strategy == RankOne || n.Strategy == RankReplacing)
}

// byPlace reports whether changes are updates of places: of one in each partition, or of
// those that have a number.
func (n *Rank) byPlace() bool {
	return n.InPlace() || n.Number && n.Function == RowNumber
}

// place is the key of a place.
func (n *Rank) place() []int {
	key := union(n.Partition)
	if n.Number {
		key = append(key, n.Width())
	}
	return key
}

// eventTime asks for watermarks where rows may have to wait for them; whether they do is
// known when the conditions on the number have been found.
func (n *Rank) eventTime(int) (watermarks, lateness bool) {
	maybe := n.Time == sqltype.Rowtime && !n.Order[0].Desc
	if w, ok := n.window(); ok {
		maybe = w.Attr == sqltype.Rowtime
	}
	return maybe, maybe
}

func (n *Rank) setLateness(_, column int) { n.Watermark = column }

func (n *Rank) setStrict() { n.Strict = true }

func (n *Rank) late(int) *LateTarget { return &n.Late }

// pushDown takes over the conditions that bound the number. What is on the partition
// alone drops partitions as a whole, before they are ordered.
func (n *Rank) pushDown(conds []expr.Expr) Node {
	below, rest := split(conds, func(e expr.Expr) bool {
		return len(n.Partition) > 0 && subset(expr.Columns(e), n.Partition)
	})
	var above []expr.Expr
	for _, c := range rest {
		if !n.bound(c) {
			above = append(above, c)
		}
	}
	if n.From > n.To {
		return nothing(n)
	}
	n.Input = pushDown(n.Input, below)
	if n.running() {
		return filtered(n.overTime(), above)
	}
	return filtered(n, above)
}

// running reports whether all rows are numbered as time goes on: that is done once for each.
func (n *Rank) running() bool {
	return n.Number && !n.bounded() && n.From <= 1 && n.Time == sqltype.Rowtime && !n.Order[0].Desc && !n.windowed()
}

// overTime is n as an Over.
func (n *Rank) overTime() *Over {
	number := map[RankFunction]OverFunction{RowNumber: OverRowNumber, RankWithGaps: OverRank, DenseRank: OverDenseRank}[n.Function]
	call := OverCall{Function: number, N: -1, T: n.schema[n.Width()].Type, At: n.at}
	return &Over{
		unary: n.unary, Partition: n.Partition, Order: n.Order, Calls: []OverCall{call},
		Time: n.Time, Watermark: n.Watermark, EmitUpdateBefore: true, Strict: n.Strict,
	}
}

// bound takes over a comparison of the number with a constant, or with a column of the
// partition, if it is one.
func (n *Rank) bound(cond expr.Expr) bool {
	c, ok := cond.(*expr.Call)
	if !ok || len(c.Args) != 2 {
		return false
	}
	op, number, other := c.Func.Name, c.Args[0], c.Args[1]
	if !n.isNumber(number) {
		number, other = other, number
		op = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}[op]
	}
	if !n.isNumber(number) {
		return false
	}
	l, ok := other.(*expr.Literal)
	if !ok {
		return op == "<=" && n.boundByColumn(other)
	}
	v, ok := l.Value.(int64)
	if !ok || !l.T.IsInteger() {
		return false
	}
	switch op {
	case "<=":
	case "<":
		if v == math.MinInt64 {
			return false
		}
		v--
	case ">=", ">":
		if op == ">" {
			if v == math.MaxInt64 {
				return false
			}
			v++
		}
		n.From = max(n.From, v)
		return true
	case "=":
		n.From = max(n.From, v)
	default:
		return false
	}
	if n.ToColumn >= 0 {
		return false
	}
	n.To = min(n.To, v)
	return true
}

func (n *Rank) isNumber(e expr.Expr) bool {
	c, ok := e.(*expr.Column)
	return ok && n.Number && c.Index == n.Width()
}

func (n *Rank) boundByColumn(e expr.Expr) bool {
	if cast, ok := e.(*expr.Cast); ok && cast.T.IsInteger() && cast.Arg.Type().IsInteger() {
		e = cast.Arg
	}
	c, ok := e.(*expr.Column)
	if !ok || n.bounded() || !c.T.IsInteger() || !slices.Contains(n.Partition, c.Index) {
		return false
	}
	n.ToColumn = c.Index
	return true
}

// prune keeps the columns that are needed, and those of partition and order. A number
// that is always the same is a constant.
func (n *Rank) prune(need []int) (Node, []int) {
	number := slices.Contains(need, n.Width()) && n.Number
	constant := number && n.From == n.To && n.ToColumn < 0
	reads := slices.Concat(slices.DeleteFunc(slices.Clone(need), func(c int) bool { return c >= n.Width() }), n.Partition)
	for _, k := range n.Order {
		reads = append(reads, k.Column)
	}
	out := *n
	have := union(reads, n.Late.reads())
	out.Late = n.Late.moved(have)
	out.Number = number && !constant
	reads = have
	if out.Watermark = -1; n.Watermark >= 0 && n.refuses() {
		out.Watermark = len(reads)
		reads = append(slices.Clone(reads), n.Watermark)
	}
	out.Input = exactly(n.Input, reads)
	out.Partition = positions(n.Partition, have)
	out.Order = slices.Clone(n.Order)
	for i, k := range out.Order {
		out.Order[i].Column = slices.Index(have, k.Column)
	}
	if n.ToColumn >= 0 {
		out.ToColumn = slices.Index(have, n.ToColumn)
	}
	out.schema = n.schema.Project(have)
	if !number {
		return &out, have
	}
	have = append(have, n.Width())
	if out.Number {
		out.schema = n.schema.Project(have)
		return &out, have
	}
	exprs := append(columns(&out), &expr.Literal{Value: n.From, T: n.schema[n.Width()].Type, At: n.at})
	return newCalc(&out, nil, exprs, n.schema.Project(have).Names(), n.at), have
}

// derive chooses the strategy, from which modes and keys follow. What is pushed out is
// removed before another row takes its place, and all changes of a partition are made in
// one place.
func (n *Rank) derive(t *Traits) {
	in := n.Input.Traits()
	n.Strategy, n.Identity = n.strategy()
	t.Mode = sqltype.AppendMode
	switch {
	case n.Strategy == RankArrival || n.Strategy == RankFirstInTime || n.Strategy == RankWindow:
	case n.byPlace():
		t.Mode = updatingMode(n.EmitUpdateBefore, n.Strategy == RankUpdating)
	default:
		t.Mode = t.Mode.With(remove)
	}
	t.Keys = nil
	for _, k := range in.Keys {
		if slices.ContainsFunc(k.Columns, func(c int) bool { return c >= n.Width() }) {
			continue
		}
		k.Ordered = !t.Mode.Has(updateAfter) && (in.Mode.InsertOnly() || subset(n.Partition, k.Columns))
		t.Keys = append(t.Keys, k)
	}
	if n.Function == RowNumber && (n.Number || n.From == n.To && n.ToColumn < 0) {
		t.Keys = append(t.Keys, Key{Columns: n.place(), Ordered: true})
	}
	t.Keys = smallest(t.Keys)
}

func (n *Rank) strategy() (RankStrategy, []int) {
	in := n.Input.Traits()
	switch {
	case n.windowed():
		return RankWindow, nil
	case !in.Mode.InsertOnly():
		if id := n.improving(); id != nil {
			return RankReplacing, id
		}
		return RankUpdating, nil
	case n.Function == RowNumber && n.byArrival():
		return RankArrival, nil
	case n.firstInTime():
		return RankFirstInTime, nil
	case n.single() && !n.Number:
		return RankOne, nil
	}
	return RankAppend, nil
}

// improving is the key by which rows of the input are replaced, if none of them ever
// gets a worse number by it, nor is deleted: then rows that are not among the first need
// not be kept. By DENSE_RANK a row that gets better can make room for one behind it.
func (n *Rank) improving() []int {
	in := n.Input.Traits()
	if !n.bounded() || n.Function == DenseRank || in.Mode.Has(remove) {
		return nil
	}
	for _, k := range in.Keys {
		better := func(o SortKey) bool {
			if slices.Contains(k.Columns, o.Column) {
				return true
			}
			if !n.schema[o.Column].Type.NotNull && !o.NullsLast {
				return false
			}
			direction := monotone(n.Input, o.Column)
			return direction > 0 && o.Desc || direction < 0 && !o.Desc
		}
		if k.Ordered && subset(n.Partition, k.Columns) && !slices.ContainsFunc(n.Order, func(o SortKey) bool { return !better(o) }) {
			return k.Columns
		}
	}
	return nil
}

// monotone is 1 for a column whose values only grow when rows of n are updated, -1 for
// one whose values only get smaller, else 0.
func monotone(n Node, col int) int {
	switch n := n.(type) {
	case *Exchange:
		return monotone(n.Input, col)
	case *Calc:
		if c, ok := n.Exprs[col].(*expr.Column); ok {
			return monotone(n.Input, c.Index)
		}
	case *Aggregate:
		if col < len(n.Keys) || !n.InputAppendOnly {
			return 0
		}
		switch a := n.Aggs[col-len(n.Keys)]; a.Func.Kind {
		case function.Count, function.Max:
			return btoi(a.Func.Go == nil)
		case function.Min:
			return -btoi(a.Func.Go == nil)
		}
	}
	return 0
}

// stateBound is the number of rows of each partition.
func (n *Rank) stateBound() string {
	each := "the values of " + columnList(n.Input, n.Partition)
	if len(n.Partition) == 0 {
		each = ""
	}
	switch {
	case n.Strategy == RankWindow:
		return n.windowBound()
	case n.Strategy == RankArrival && each == "":
		return ""
	case n.Strategy == RankArrival || n.Strategy == RankFirstInTime || n.Strategy == RankOne:
	case n.Strategy == RankUpdating || !n.bounded():
		return growth(n.Input, liveRows(n.Input))
	case n.ToColumn >= 0:
		each += ", " + columnList(n.Input, []int{n.ToColumn}) + " rows each"
	case each != "" && n.To > 1:
		each += fmt.Sprintf(", %d rows each", n.To)
	}
	if each == "" {
		return "bounded by " + rowCount(max(n.To, 1))
	}
	return growth(n.Input, each)
}

func (n *Rank) subject() string {
	out := ""
	switch {
	case n.ToColumn >= 0:
		out = "up to " + columnList(n, []int{n.ToColumn})
	case n.To < unbounded || n.From > 1:
		out = limitText(n.From-1, n.count())
	}
	if len(n.Partition) > 0 {
		if out != "" {
			out += " "
		}
		out += "by " + columnList(n, n.Partition)
	}
	return out
}

func (n *Rank) count() int64 {
	if n.To == unbounded {
		return unbounded
	}
	return n.To - n.From + 1
}

// how is the strategy, in a few words.
func (n *Rank) how() string {
	switch n.Strategy {
	case RankArrival:
		return "as rows come"
	case RankFirstInTime:
		return "the first, when the watermark has passed it"
	case RankOne:
		if n.KeepsLast() {
			return "the last, also of those with one time"
		}
		return "the first so far"
	case RankAppend:
		if !n.bounded() {
			return "all rows"
		}
		return "the first so far"
	case RankWindow:
		return "rows of open windows"
	case RankReplacing:
		return "the first so far, replaced by " + columnList(n, n.Identity)
	}
	return "all live rows"
}

// numberText is the function with the name of its column.
func (n *Rank) numberText() string {
	if !n.Number {
		return ""
	}
	if name := n.schema[n.Width()].Name; !strings.HasPrefix(name, n.Function.String()+"()") {
		return fmt.Sprintf("%s AS %s", n.Function, name)
	}
	return n.Function.String()
}
