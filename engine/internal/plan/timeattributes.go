package plan

import (
	"fmt"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
)

// timeAttribute says whether a column of n is event time or processing time. That is a
// property of columns which is kept where they are forwarded, and lost where anything is
// computed of them. Every node has its case here, and in lostTime.
func timeAttribute(n Node, col int) sqltype.TimeAttr {
	switch n := n.(type) {
	case *WatermarkAssigner:
		if col == n.Column {
			return sqltype.Rowtime
		}
		if col < len(n.Input.Schema()) {
			return timeAttribute(n.Input, col)
		}
	case *Calc:
		switch e := n.Exprs[col].(type) {
		case *expr.Column:
			return timeAttribute(n.Input, e.Index)
		case *expr.Call:
			if e.Func.Name == "PROCTIME" {
				return sqltype.Proctime
			}
		}
	case *Union:
		attr := timeAttribute(n.Ins[0], col)
		for _, in := range n.Ins[1:] {
			if timeAttribute(in, col) != attr {
				return sqltype.NoTime
			}
		}
		return attr
	case *Unnest:
		if i := col - n.elements(); i >= 0 {
			return timeAttribute(n.Input, n.Forward[i])
		}
	case *WindowTable, *WindowAggregate:
		return windowTimeAttribute(n, col)
	case *LookupJoin:
		return n.timeAttribute(col)
	case *Join:
		if n.once() {
			return n.probeTime(col)
		}
		if n.Interval != nil {
			return n.Interval.timeAttribute(n, col)
		}
		return windowTimeAttribute(n, col)
	case *TemporalJoin:
		return n.timeAttribute(col)
	case *TemporalSort:
		if col == n.Order[0].Column {
			return n.Time
		}
	case *Over:
		if n.Time == sqltype.Proctime && col < n.Width() {
			return timeAttribute(n.Input, col)
		}
		if n.Time == sqltype.Rowtime && col == n.Order[0].Column {
			return n.Time
		}
	case *Rank:
		if n.windowed() {
			return windowTimeAttribute(n, col)
		}
		if col < n.Width() && n.Time != sqltype.NoTime {
			return timeAttribute(n.Input, col)
		}
	case *Normalize, *Limit, *Exchange, *Materialize, *Consolidate, *Collect:
		return timeAttribute(n.Inputs()[0], col)
	}
	return sqltype.NoTime
}

// withTimes is the schema of n, with the time attributes in its types.
func withTimes(n Node, schema sqltype.Schema) sqltype.Schema {
	out := make(sqltype.Schema, len(schema))
	for i, c := range schema {
		c.Type.Attr = timeAttribute(n, i)
		out[i] = c
	}
	return out
}

// needTime refuses a column that is no time attribute, for an operation that orders
// rows by time. It says which step lost it.
func needTime(n Node, col int, what string, pos errs.Position) error {
	if timeAttribute(n, col) != sqltype.NoTime {
		return nil
	}
	return notTime(n, col, what, "a time attribute", pos)
}

// needRowtime is needTime for event time alone.
func needRowtime(n Node, col int, what string, pos errs.Position) error {
	switch timeAttribute(n, col) {
	case sqltype.Rowtime:
		return nil
	case sqltype.Proctime:
		return errs.New(errs.Invalid, pos, "%s works on event time, and %q is processing time", what, n.Schema()[col].Name).
			WithHint("declare WATERMARK FOR a column of the table")
	}
	return notTime(n, col, what, "event time", pos)
}

func notTime(n Node, col int, what, attribute string, pos errs.Position) error {
	c := n.Schema()[col]
	e := errs.New(errs.Invalid, pos, "%s needs a time attribute, and %q is not %s: %s", what, c.Name, attribute, lostTime(n, col))
	if lostInJoin(n, col) {
		return e.WithHint("a join keeps times that it bounds on both sides, as in a.ts BETWEEN b.ts - INTERVAL '1' HOUR AND b.ts, if rows are only added")
	}
	if !c.Type.IsTimestamp() {
		return e.WithHint("event time is a TIMESTAMP or TIMESTAMP_LTZ column with a WATERMARK, processing time a column AS PROCTIME()")
	}
	if hint := lossHint(n, col); hint != "" {
		return e.WithHint("%s", hint)
	}
	return e.WithHint("declare WATERMARK FOR it in the table, or use a column AS PROCTIME()")
}

// lostTime says in which step a column lost what it was, or that it never was a time
// attribute.
func lostTime(n Node, col int) string {
	if why := loss(n, col); why != "" {
		return why
	}
	if t := whence(n, col); t != "" {
		return t
	}
	return "it does not come from a column with a WATERMARK"
}

// lostInJoin reports whether the attribute was lost by a join whose condition compares
// one of either side, but does not keep both within an interval.
func lostInJoin(n Node, col int) bool {
	for {
		switch m := n.(type) {
		case *Calc:
			c, ok := m.Exprs[col].(*expr.Column)
			if !ok {
				return false
			}
			n, col = m.Input, c.Index
		case *Join:
			return m.comparesTimes()
		default:
			return false
		}
	}
}

// comparesTimes reports whether the condition has a time attribute of either side.
func (n *Join) comparesTimes() bool {
	if n.Residual == nil {
		return false
	}
	left, right, from := false, false, len(n.Left.Schema())
	for _, c := range expr.Columns(n.Residual) {
		if c < from {
			left = left || timeAttribute(n.Left, c) != sqltype.NoTime
		} else {
			right = right || timeAttribute(n.Right, c-from) != sqltype.NoTime
		}
	}
	return left && right
}

// lossHint is a way out for a column that lost what it was, or "".
func lossHint(n Node, col int) string {
	switch loss(n, col) {
	case "":
		return ""
	case windowBounds:
		return "use window_time, which is the last millisecond of the window"
	}
	return "pass the column on as it is, and compute beside it"
}

// loss is the step that lost the attribute, or "" when there was none.
func loss(n Node, col int) string {
	switch n := n.(type) {
	case *Calc:
		if c, ok := n.Exprs[col].(*expr.Column); ok {
			return loss(n.Input, c.Index)
		}
		for _, c := range expr.Columns(n.Exprs[col]) {
			if timeAttribute(n.Input, c) != sqltype.NoTime {
				return "it was computed by " + step(n.Exprs[col])
			}
		}
		for _, c := range expr.Columns(n.Exprs[col]) {
			if why := loss(n.Input, c); why != "" {
				return why
			}
		}
	case *Aggregate:
		from := 0
		switch {
		case col < len(n.Keys):
			from = n.Keys[col]
			if timeAttribute(n.Input, from) != sqltype.NoTime {
				return "GROUP BY" + where(n.at) + " makes one row of several, without an order in time"
			}
		case len(n.Aggs[col-len(n.Keys)].Args) > 0:
			a := n.Aggs[col-len(n.Keys)]
			for _, arg := range a.Args {
				for _, c := range expr.Columns(arg) {
					if timeAttribute(n.Input, c) != sqltype.NoTime {
						return "it was computed by " + a.Func.Name + where(a.At)
					}
					from = c
				}
			}
		default:
			return ""
		}
		return loss(n.Input, from)
	case *Join:
		in, c := n.side(col)
		if timeAttribute(in, c) != sqltype.NoTime {
			return "the join" + where(n.at) + " keeps rows for any time, and gives them out of order"
		}
		return loss(in, c)
	case *TemporalJoin:
		return n.loss(col)
	case *Union, *SetOperation:
		kinds := map[sqltype.TimeAttr]bool{}
		for _, in := range n.Inputs() {
			if why := loss(in, col); why != "" {
				return why
			}
			kinds[timeAttribute(in, col)] = true
		}
		if len(kinds) > 1 {
			return fmt.Sprintf("it is a time attribute on one side of %s%s only", setName(n), where(n.Pos()))
		}
		if !kinds[sqltype.NoTime] {
			return setName(n) + where(n.Pos()) + " gives rows out of order in time"
		}
	case *WindowAggregate:
		if col < windowWidth {
			return windowBounds
		}
		if k := col - windowWidth; k < len(n.Keys) {
			if timeAttribute(n.Input, n.Keys[k]) != sqltype.NoTime {
				return "the aggregation" + where(n.at) + " makes one row of several, at the time of their window"
			}
			return loss(n.Input, n.Keys[k])
		}
	case *WindowTable:
		switch {
		case col >= len(n.Forward):
			return windowBounds
		case timeAttribute(n.Input, n.Forward[col]) != sqltype.NoTime:
			return n.Windows.Kind.String() + where(n.at) + " gives rows when their window is over: they are at its window_time"
		}
		return loss(n.Input, n.Forward[col])
	case *Sort:
		if timeAttribute(n.Input, col) != sqltype.NoTime {
			return "ORDER BY" + where(n.at) + " gives rows in another order"
		}
		return loss(n.Input, col)
	default:
		if ins := n.Inputs(); len(ins) == 1 && col < len(ins[0].Schema()) && ins[0].Schema()[col].Name == n.Schema()[col].Name {
			if timeAttribute(ins[0], col) != sqltype.NoTime && timeAttribute(n, col) == sqltype.NoTime {
				return n.Op() + where(n.Pos()) + " does not keep it"
			}
			return loss(ins[0], col)
		}
	}
	return ""
}

const windowBounds = "the bounds of a window are plain timestamps, and its window_time is a time attribute"

// whence names the column of a table that a column is.
func whence(n Node, col int) string {
	for {
		switch m := n.(type) {
		case *Scan:
			return fmt.Sprintf("the table %s declares no WATERMARK for %s", m.Table.ID.Object, m.schema[col].Name)
		case *Calc:
			c, ok := m.Exprs[col].(*expr.Column)
			if !ok {
				return ""
			}
			n, col = m.Input, c.Index
		case *Normalize, *WatermarkAssigner, *Limit, *Exchange:
			n = m.Inputs()[0]
			if col >= len(n.Schema()) {
				return ""
			}
		default:
			return ""
		}
	}
}

// step is what an expression does, in a word, and where it stands.
func step(e expr.Expr) string {
	name := "an expression"
	switch e := e.(type) {
	case *expr.Cast:
		name = "CAST"
	case *expr.Case:
		name = "CASE"
	case *expr.Call:
		name = e.Func.Name
	}
	return name + where(e.Pos())
}

func where(at errs.Position) string {
	if !at.IsValid() {
		return ""
	}
	return " at " + at.String()
}

func setName(n Node) string {
	if _, ok := n.(*Union); ok {
		return "UNION"
	}
	return strings.ToUpper(n.Op())
}

// side is the input of a join that an output column comes from, and its column there.
func (n *Join) side(col int) (Node, int) {
	c := n.Output[col]
	if at := len(n.Left.Schema()); c >= at {
		return n.Right, c - at
	}
	return n.Left, c
}
