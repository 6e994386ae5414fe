// Package ref evaluates plans the slow and obvious way: row by row over whole
// tables, by the textbook. It shares the parser and the binder with the engine but
// no operator, no kernel and no compiled expression, so that the two can be held
// against each other. It is for tests.
package ref

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Row is a row of a table, whose rows are a multiset: equal rows count apart. A value is
// nil for NULL, else a bool, an int64 (integers, dates, times, intervals), a float64
// (FLOAT and DOUBLE), a *big.Rat (DECIMAL), a string, a []byte or a Nested. Rows and
// values are never changed.
type Row []any

// Tables gives the rows of a table that is scanned: all columns of the connector's
// schema, after all its changes. An upsert table has the last row of each key. Rows of a
// table that is only added to are in the order in which they came.
type Tables func(n *plan.Scan) ([]Row, error)

// Change is a row that comes to a table, or one that is taken away.
type Change struct {
	Row   Row
	Kind  vector.RowKind
	Split int
	// Came is when it came, as a number greater than 0: the changes of all tables come in
	// its order. 0: that is not known.
	Came int
}

// Input is what a plan is evaluated on.
type Input struct {
	Tables Tables
	// Changes gives all changes of a table, which those of a split come in the order of.
	// Where event time is asked for, they count beside the rows that are left. nil: there is
	// nothing but the rows of Tables, in one split.
	Changes func(n *plan.Scan) ([]Change, error)
	// Told are the watermarks that the source of a table with SOURCE_WATERMARK() said, in
	// order; nil: none.
	Told func(n *plan.WatermarkAssigner) []Told
	// Shuffle puts rows that a join makes in some other order, as they may come; nil: they
	// come by the order of its left side.
	Shuffle func([]Row)
	Now     time.Time      // of the clock, which stands still
	Zone    *time.Location // of the session, where the plan does not say it yet; nil is UTC
}

// Result is what a root of a plan comes to. When rows alone do not decide it, as with a
// LIMIT without an order, it is one of several, and Rule says how to tell one.
type Result struct {
	Schema sqltype.Schema
	Rule   Rule
	// Rows are the result or, by Choice, those that it is chosen from: Take of them, the
	// first Sure among them. Take is -1 by any other rule, and when it is open how many.
	Rows       []Row
	Take, Sure int
	// Open are the columns that the rule Columns leaves open.
	Open []bool
	// Arrived is the result when all rows come one after the other, in the order of
	// Tables. Only when InOrder is set does that order leave nothing open.
	Arrived []Row
	InOrder bool
}

// Rule says what is known of a result.
type Rule uint8

const (
	Exactly  Rule = iota // it has the rows Rows
	Choice               // it has Take of the rows Rows, the first Sure among them
	Columns              // it has the rows Rows but for their columns Open
	Anything             // it has rows of the schema
)

// Evaluate computes the roots of a plan, one Result each, whichever passes of the
// planner it has gone through. What the reference has no version of is an error of code
// errs.Unsupported; errors of values have the codes that the engine gives them.
func Evaluate(p *plan.Plan, in Input) ([]Result, error) {
	e := evaluator{in: in}
	out := make([]Result, len(p.Roots))
	for i, root := range p.Roots {
		r, err := e.root(root)
		if err != nil {
			return nil, err
		}
		out[i] = r
	}
	return out, nil
}

type evaluator struct {
	in Input
	// history says that the changes of a table are wanted, not what they come to, and bare
	// that they may be as they are: updates without the rows that they replace.
	history, bare bool
}

func unsupported(n interface{ Pos() errs.Position }, format string, args ...any) error {
	return errs.New(errs.Unsupported, n.Pos(), "the reference has no %s", fmt.Sprintf(format, args...))
}

func (e evaluator) root(n plan.Node) (Result, error) {
	out := Result{Schema: n.Schema(), Take: -1}
	t, err := e.table(n.Inputs()[0])
	if err != nil {
		return out, err
	}
	t = t.settled(n.Inputs()[0].Schema())
	if sink, ok := n.(*plan.Sink); ok {
		if t, err = toSink(sink, t); err != nil {
			return out, err
		}
	}
	out.Rows, out.Arrived, out.Open, out.InOrder = t.rows, t.rows, t.open, !t.unordered
	switch {
	case t.choice != nil:
		out.Rule, out.Rows, out.Take, out.Sure = Choice, t.choice.rows, t.choice.take, t.choice.sure
	case t.some:
		out.Rule = Anything
	case slices.Contains(t.open, true):
		out.Rule = Columns
	}
	return out, nil
}

// table is what leaves a node: rows, and what they owe to the order in which rows came.
type table struct {
	rows    []Row
	kinds   []vector.RowKind // of each row, when some may be taken away; else nil
	splits  []string         // of each row: the split that it came from; nil: that is not known
	came    []int            // of each row: when it came, in the order of its table; nil: that is not known
	inOrder bool             // the rows are in the order in which they come
	open    []bool           // columns whose values depend on an order
	some    bool             // which rows there are depends on an order
	// unordered says that an order on which something depends is not that of the tables.
	unordered bool
	choice    *choice // why some is set, if that is all that is open
	late      [2][]lateRow
}

// choice is what a LIMIT chooses from, or a join that depends on when rows come: take of
// the rows, -1 being any number, the first sure of them among them.
type choice struct {
	rows       []Row
	take, sure int
}

// ordered notes that something depends on the order in which t's rows came.
func (t *table) ordered(in table) { t.unordered = t.unordered || !in.inOrder }

// opens reports whether an expression over t depends on what is open, or on chance.
func (t table) opens(es ...expr.Expr) bool {
	return slices.ContainsFunc(es, func(x expr.Expr) bool { return x != nil && (t.opensColumns(expr.Columns(x)) || drawn(x)) })
}

// drawn reports whether a function in x is not deterministic.
func drawn(x expr.Expr) bool {
	found := false
	expr.Walk(x, func(x expr.Expr) bool {
		c, ok := x.(*expr.Call)
		found = found || ok && !c.Func.Deterministic
		return !found
	})
	return found
}

func (t table) opensColumns(cols []int) bool {
	return slices.ContainsFunc(cols, func(c int) bool { return t.open[c] })
}

// after is a table of n columns that is computed of others, without rows yet. It owes
// to orders what they owe.
func after(n int, ins ...table) table {
	out := table{open: make([]bool, n)}
	for _, t := range ins {
		out.some = out.some || t.some
		out.unordered = out.unordered || t.unordered
	}
	return out
}

// table is the table that leaves n.
func (e evaluator) table(n plan.Node) (table, error) {
	if n, ok := n.(*plan.LateRows); ok {
		return e.lateRows(n)
	}
	ins := make([]table, len(n.Inputs()))
	for i, in := range n.Inputs() {
		var err error
		if ins[i], err = e.below(n, i).table(in); err != nil {
			return table{}, err
		}
		ins[i].late = [2][]lateRow{}
		if !takesChanges(n) {
			ins[i] = ins[i].settled(in.Schema())
		}
	}
	switch n := n.(type) {
	case *plan.Scan:
		return e.scan(n)
	case *plan.Values:
		return e.values(n)
	case *plan.Calc:
		return e.calc(n, ins[0])
	case *plan.WatermarkAssigner:
		return e.watermarks(n, ins[0])
	case *plan.Union:
		return union(n, ins), nil
	case *plan.Expand:
		return expand(n, ins[0]), nil
	case *plan.Unnest:
		return unnested(n, ins[0]), nil
	case *plan.Sort:
		return sorted(n, ins[0]), nil
	case *plan.TemporalSort:
		return ordered(n, ins[0]), nil
	case *plan.Rank:
		return ranked(n, ins[0]), nil
	case *plan.SetOperation:
		return setOperation(n, ins[0], ins[1]), nil
	case *plan.Aggregate:
		return e.aggregate(n, ins[0])
	case *plan.WindowTable:
		return windowTable(n, ins[0]), nil
	case *plan.WindowAggregate:
		return e.windowAggregate(n, ins[0])
	case *plan.Over:
		return e.overWindows(n, ins[0])
	case *plan.TemporalJoin:
		if n.Attr == sqltype.Proctime {
			return e.latestJoin(n, ins[0], ins[1])
		}
		return e.temporalJoin(n, ins[0], ins[1])
	case *plan.LookupJoin:
		return e.lookupJoin(n, ins[0])
	case *plan.Join:
		switch {
		case n.Lookup != nil:
			return e.joinOnce(probeOf(n), ins[0], ins[1], asItIs(n, ins[1]))
		case n.Snapshot != nil:
			return e.snapshotJoin(n, ins[0], ins[1])
		}
		return e.join(n, ins[0], ins[1])
	case *plan.Limit:
		return limited(n, ins[0], nil, n.Offset, n.Count), nil
	case *plan.Exchange:
		return ins[0], nil
	case *plan.ToChangelog:
		return toChangelog(n, ins[0]), nil
	case *plan.FromChangelog:
		return fromChangelog(n, ins[0])
	case *plan.Normalize:
		if ins[0].kinds != nil { // all changes have the rows that they replace
			return ins[0], nil
		}
		return keyed(n, n.Keys, plan.KeepLast, ins[0])
	case *plan.Materialize:
		return keyed(n, n.Keys, n.Keep, ins[0])
	case *plan.Consolidate:
		return keyed(n, n.Keys, plan.KeepLast, ins[0])
	}
	return table{}, unsupported(n, "operator %s", n.Op())
}

func (e evaluator) scan(n *plan.Scan) (table, error) {
	if e.history && e.in.Changes != nil {
		return e.changes(n)
	}
	all, err := e.in.Tables(n)
	out := after(len(n.Columns))
	out.inOrder = n.Source != nil && n.Source.Mode().InsertOnly()
	for _, r := range all {
		out.rows = append(out.rows, project(r, n.Columns))
	}
	return out, err
}

func project(r Row, cols []int) Row {
	out := make(Row, len(cols))
	for i, c := range cols {
		out[i] = r[c]
	}
	return out
}

func (e evaluator) values(n *plan.Values) (table, error) {
	out := after(len(n.Schema()))
	out.inOrder = true
	for _, exprs := range n.Rows {
		row, err := e.evalAll(exprs, nil)
		if err != nil {
			return out, err
		}
		out.rows = append(out.rows, row)
	}
	return out, nil
}

func (e evaluator) calc(n *plan.Calc, in table) (table, error) {
	out := after(len(n.Exprs), in)
	out.inOrder = in.inOrder
	out.some = out.some || in.opens(n.Filter)
	for i, x := range n.Exprs {
		out.open[i] = in.opens(x)
	}
	if err := e.calcRows(n, in, &out); err != nil {
		return out, err
	}
	if in.choice != nil {
		c, sure, maybe := *in.choice, table{}, table{}
		err := e.calcRows(n, table{rows: c.rows[:c.sure]}, &sure)
		if err == nil {
			err = e.calcRows(n, table{rows: c.rows[c.sure:]}, &maybe)
		}
		if err != nil {
			return out, err
		}
		if n.Filter != nil {
			c.take = -1
		}
		c.rows, c.sure = slices.Concat(sure.rows, maybe.rows), len(sure.rows)
		out.choice = &c
	}
	return out, nil
}

func (e evaluator) calcRows(n *plan.Calc, in table, out *table) error {
	for i, r := range in.rows {
		pass, err := e.holds(n.Filter, r)
		if err != nil {
			return err
		}
		if !pass {
			continue
		}
		row, err := e.evalAll(n.Exprs, r)
		if err != nil {
			return err
		}
		out.add(row, in, i)
	}
	return nil
}

func union(n *plan.Union, ins []table) table {
	out := after(len(n.Schema()), ins...)
	out.inOrder = len(ins) == 1 && ins[0].inOrder
	for _, in := range ins {
		for i, r := range in.rows {
			out.add(r, in, i)
		}
		for c, open := range in.open {
			out.open[c] = out.open[c] || open
		}
	}
	return out
}

// keyed passes on a table that has a key. Of several rows of one key one stays.
func keyed(n plan.Node, key []int, keep plan.Keep, in table) (table, error) {
	out := after(len(in.open), in)
	copy(out.open, in.open)
	out.some = out.some || in.opensColumns(key)
	out.choice = in.choice
	types := n.Schema().Project(key).Types()
	at := map[string]int{}
	for _, r := range in.rows {
		k := Key(types, project(r, key))
		i, has := at[k]
		if !has {
			at[k] = len(out.rows)
			out.rows = append(out.rows, r)
			continue
		}
		if all := n.Schema().Types(); Key(all, r) == Key(all, out.rows[i]) {
			continue
		}
		switch keep {
		case plan.KeepLast:
			out.rows[i] = r
		case plan.KeepOnly:
			return out, errs.New(errs.Data, n.Pos(), "two rows with one key")
		}
		for c := range out.open { // of the row only the key is sure
			out.open[c] = out.open[c] || !slices.Contains(key, c)
		}
		out.ordered(in)
		out.choice = nil
	}
	return out, nil
}

// Key is a text that two rows share when they are equal as groups are: NULL is
// equal to NULL, NaN to NaN, and 0.0 to -0.0. It shows the row to people as well.
func Key(types []sqltype.Type, r Row) string {
	parts := make([]string, len(r))
	for i, v := range r {
		parts[i] = Text(types[i], canonical(v))
	}
	return strings.Join(parts, " ")
}
