// Package ref evaluates plans the slow and obvious way: row by row over whole
// tables, by the textbook. It shares the parser and the binder with the engine but
// no operator, no kernel and no compiled expression, so that the two can be held
// against each other. It is for tests.
package ref

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

// Row is a row of a table, whose rows are a multiset: their order means nothing,
// equal rows count apart. A value is nil for NULL, else a bool, an int64 (integers,
// dates, times, intervals), a float64 (FLOAT and DOUBLE), a *big.Rat (DECIMAL), a
// string, a []byte or a Nested. Rows and values are never changed.
type Row []any

// Tables gives the rows of a table that is scanned: all columns of the connector's
// schema, after all its changes. An upsert table has the last row of each key.
type Tables func(n *plan.Scan) ([]Row, error)

// Result is what a root of a plan comes to.
type Result struct {
	Schema sqltype.Schema
	Rows   []Row
	// Take is how many of Rows there are when the query leaves open which ones, as
	// LIMIT does; -1 means all.
	Take int
}

// Evaluate computes the roots of a plan, one Result each, whichever passes of the
// planner it has gone through. A result that the rows alone do not decide, as that of
// NOW(), is an error of code errs.Unsupported; errors of values have the codes that
// the engine gives them.
func Evaluate(p *plan.Plan, tables Tables) ([]Result, error) {
	e := evaluator{tables}
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
	tables Tables
}

func unsupported(n interface{ Pos() errs.Position }, format string, args ...any) error {
	return errs.New(errs.Unsupported, n.Pos(), "the reference has no %s", fmt.Sprintf(format, args...))
}

func (e evaluator) root(n plan.Node) (Result, error) {
	in := n.Inputs()[0]
	out := Result{Schema: n.Schema(), Take: -1}
	limit, ok := below(in).(*plan.Limit)
	if ok {
		in = limit.Input
	}
	var err error
	if out.Rows, err = e.rows(in); err != nil {
		return out, err
	}
	if ok {
		out.Take = limited(limit, len(out.Rows))
	}
	if sink, ok := n.(*plan.Sink); ok {
		out.Rows, err = written(sink, out.Rows)
	}
	return out, err
}

// below looks through exchanges.
func below(n plan.Node) plan.Node {
	for {
		x, ok := n.(*plan.Exchange)
		if !ok {
			return n
		}
		n = x.Input
	}
}

// limited is how many of n rows a LIMIT lets through.
func limited(l *plan.Limit, n int) int {
	return int(min(max(int64(n)-l.Offset, 0), l.Count))
}

// rows is the table that leaves n.
func (e evaluator) rows(n plan.Node) ([]Row, error) {
	ins := make([][]Row, len(n.Inputs()))
	for i, in := range n.Inputs() {
		var err error
		if ins[i], err = e.rows(in); err != nil {
			return nil, err
		}
	}
	switch n := n.(type) {
	case *plan.Scan:
		return e.scan(n)
	case *plan.Values:
		return values(n)
	case *plan.Calc:
		return calc(n, ins[0])
	case *plan.Union:
		return slices.Concat(ins...), nil
	case *plan.Expand:
		return expand(n, ins[0]), nil
	case *plan.Sort:
		return sorted(n, ins[0])
	case *plan.SetOperation:
		return setOperation(n, ins[0], ins[1]), nil
	case *plan.Aggregate:
		return aggregate(n, ins[0])
	case *plan.Join:
		return join(n, ins[0], ins[1])
	case *plan.Limit:
		return limit(n, ins[0])
	case *plan.Exchange:
		return ins[0], nil
	case *plan.ToChangelog:
		return toChangelog(n, ins[0])
	case *plan.FromChangelog:
		return fromChangelog(n, ins[0])
	case *plan.Normalize:
		return keyed(n, n.Keys, ins[0])
	case *plan.Materialize:
		return keyed(n, n.Keys, ins[0])
	case *plan.Consolidate:
		return keyed(n, n.Keys, ins[0])
	}
	return nil, unsupported(n, "operator %s", n.Op())
}

func (e evaluator) scan(n *plan.Scan) ([]Row, error) {
	all, err := e.tables(n)
	if err != nil {
		return nil, err
	}
	out := make([]Row, len(all))
	for i, r := range all {
		out[i] = project(r, n.Columns)
	}
	return out, nil
}

func project(r Row, cols []int) Row {
	out := make(Row, len(cols))
	for i, c := range cols {
		out[i] = r[c]
	}
	return out
}

func values(n *plan.Values) ([]Row, error) {
	out := make([]Row, len(n.Rows))
	for i, exprs := range n.Rows {
		var err error
		if out[i], err = evalAll(exprs, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func calc(n *plan.Calc, in []Row) ([]Row, error) {
	var out []Row
	for _, r := range in {
		pass, err := holds(n.Filter, r)
		if err != nil {
			return nil, err
		}
		if !pass {
			continue
		}
		row, err := evalAll(n.Exprs, r)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// limit refuses to choose: which rows come first, a table does not say.
func limit(n *plan.Limit, in []Row) ([]Row, error) {
	take := limited(n, len(in))
	types := n.Schema().Types()
	for _, r := range in {
		if take > 0 && take < len(in) && Key(types, r) != Key(types, in[0]) {
			return nil, unsupported(n, "order by which LIMIT could choose")
		}
	}
	return in[:take], nil
}

// keyed passes on a table that has a key; of several rows of one key it could not
// say which is the last.
func keyed(n plan.Node, key []int, in []Row) ([]Row, error) {
	types := n.Schema().Project(key).Types()
	seen := map[string]bool{}
	for _, r := range in {
		k := Key(types, project(r, key))
		if seen[k] {
			return nil, unsupported(n, "order by which %s could choose", n.Op())
		}
		seen[k] = true
	}
	return in, nil
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
