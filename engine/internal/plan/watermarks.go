package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
)

// timed is a node that works on event time: it waits for watermarks, or refuses rows
// that are late.
type timed interface {
	Node
	// eventTime reports whether it needs the watermarks of an input, and whether it also
	// needs to know of each row how far they were before it.
	eventTime(port int) (watermarks, lateness bool)
	// setLateness says which column of the input has that, or -1 when the rows come from
	// an operator that makes them at its own watermark: then what the operator was last
	// told counts. See exec.Lateness. The column is the last of the input, and not one of
	// the node's own results.
	setLateness(port, column int)
}

// lenient is a timed node that lets rows pass which the watermark had passed before they
// came, as long as no other row is behind them. Such rows leave after watermarks of a
// later time, so an operator of event time above, which has no hidden column of
// them, would take or refuse them by where an epoch ended. Below one the node refuses them
// itself.
type lenient interface {
	timed
	setStrict()
}

// carryWatermarks is the end of binding: it gives timed nodes the hidden column, and
// takes away the assigners that nobody needs.
func carryWatermarks(roots []Node) error {
	for _, r := range roots {
		c := carrier{carried: map[Node]int{}}
		for i, in := range r.Inputs() {
			n, err := c.node(in, false)
			if err != nil {
				return err
			}
			r.setInput(i, n)
		}
	}
	return nil
}

// carrier knows which nodes have the hidden column already, and where.
type carrier struct{ carried map[Node]int }

// node goes through the tree of n. wanted says that something above works by the
// watermarks that leave n.
func (c carrier) node(n Node, wanted bool) (Node, error) {
	t, isTimed := n.(timed)
	if l, ok := n.(lenient); ok && wanted {
		l.setStrict()
	}
	if o, ok := n.(*Over); ok && wanted {
		if err := o.checkAhead(); err != nil {
			return nil, err
		}
	}
	calls := calledWatermarks(n)
	for i, in := range n.Inputs() {
		below, lateness := wanted || len(calls) > 0, len(calls) > 0
		if isTimed {
			w, l := t.eventTime(i)
			below, lateness = below || w || l, lateness || l
		}
		in, err := c.node(in, below)
		if err != nil {
			return nil, err
		}
		column := -1
		if lateness {
			in, column = c.carry(in)
		}
		n.setInput(i, in)
		if isTimed {
			t.setLateness(i, column)
		}
		if len(calls) > 0 {
			if err := readWatermarks(n, calls, in, column); err != nil {
				return nil, err
			}
		}
	}
	if w, ok := n.(*WatermarkAssigner); ok && !wanted {
		return w.Input, nil
	}
	return n, nil
}

// carry is n with the hidden column as its last, and where that is; -1 when its rows
// have none.
func (c carrier) carry(n Node) (Node, int) {
	if at, ok := c.carried[n]; ok {
		return n, at
	}
	at := -1
	last := func() { at = len(n.Schema()) - 1 }
	switch m := n.(type) {
	case *WatermarkAssigner:
		m.Hidden = true
		m.schema = append(m.schema[:len(m.schema):len(m.schema)], sqltype.Column{Name: WatermarkColumn, Type: watermarkType})
		last()
	case *Calc:
		in, below := c.carry(m.Input)
		if m.Input = in; below >= 0 {
			m.Exprs = append(m.Exprs[:len(m.Exprs):len(m.Exprs)], expr.NewColumn(in.Schema(), below, m.at))
			m.schema = append(m.schema[:len(m.schema):len(m.schema)], in.Schema()[below])
			last()
		}
	case *Union:
		some, have := false, make([]bool, len(m.Ins))
		for i, in := range m.Ins {
			var below int
			m.Ins[i], below = c.carry(in)
			have[i] = below >= 0
			some = some || have[i]
		}
		if some {
			for i, in := range m.Ins {
				if !have[i] { // rows that are never late
					none := &expr.Literal{Value: int64(noWatermark), T: watermarkType}
					m.Ins[i] = newCalc(in, nil, append(columns(in), none), append(in.Schema().Names(), WatermarkColumn), m.at)
				}
			}
			m.schema = append(m.schema[:len(m.schema):len(m.schema)], sqltype.Column{Name: WatermarkColumn, Type: watermarkType})
			last()
		}
	case *WindowTable:
		if m.session() {
			break
		}
		in, below := c.carry(m.Input)
		if m.Input = in; below >= 0 {
			m.carry(below)
			last()
		}
	case *Expand:
		in, below := c.carry(m.Input)
		if m.Input = in; below >= 0 {
			m.Forward = append(m.Forward[:len(m.Forward):len(m.Forward)], below)
			m.schema = append(m.schema[:len(m.schema):len(m.schema)], in.Schema()[below])
			last()
		}
	case *Unnest:
		in, below := c.carry(m.Input)
		if m.Input = in; below >= 0 {
			m.carry(below)
			last()
		}
	case *Join:
		if !m.once() {
			break
		}
		in, below := c.carry(m.Left)
		if m.Left = in; below >= 0 {
			m.carry(below)
			last()
		}
	case *TemporalJoin:
		if m.carry(c) {
			last()
		}
	case *Over:
		if m.Time != sqltype.Proctime {
			break
		}
		in, below := c.carry(m.Input)
		if m.Input = in; below >= 0 {
			width := m.Width()
			m.schema = slices.Insert(slices.Clone(m.schema), width, in.Schema()[below])
			return c.moved(m, width)
		}
	case *Rank:
		if m.windowed() || m.Function != RowNumber || !m.byArrival() || !addsOnly(m.Input) {
			break
		}
		in, below := c.carry(m.Input)
		if m.Input = in; below >= 0 {
			width := m.Width()
			m.schema = slices.Insert(slices.Clone(m.schema), width, in.Schema()[below])
			return c.moved(m, width)
		}
	case *Limit:
		m.Input, at = c.carry(m.Input)
		m.schema = m.Input.Schema()
	}
	c.carried[n] = at
	return n, at
}

// moved is n, among whose columns is the hidden one, with that as the last.
func (c carrier) moved(n Node, hidden int) (Node, int) {
	exprs, names := columns(n), n.Schema().Names()
	last := exprs[hidden]
	exprs = append(slices.Delete(exprs, hidden, hidden+1), last)
	names = append(slices.Delete(names, hidden, hidden+1), WatermarkColumn)
	out := newCalc(n, nil, exprs, names, n.Pos())
	c.carried[out] = len(exprs) - 1
	return out, len(exprs) - 1
}

// calledWatermarks are the calls of CURRENT_WATERMARK in a node.
func calledWatermarks(n Node) []*expr.Call {
	var out []*expr.Call
	find := func(e expr.Expr) {
		if e != nil {
			expr.Walk(e, func(e expr.Expr) bool {
				if c, ok := e.(*expr.Call); ok && c.Func == function.MustScalar("CURRENT_WATERMARK") {
					out = append(out, c)
				}
				return true
			})
		}
	}
	switch n := n.(type) {
	case *Calc:
		find(n.Filter)
		for _, e := range n.Exprs {
			find(e)
		}
	case *Join:
		find(n.Residual)
	}
	return out
}

// readWatermarks lets the calls of a node read the hidden column.
func readWatermarks(n Node, calls []*expr.Call, in Node, column int) error {
	calc, ok := n.(*Calc)
	if !ok {
		return unsupported(calls[0].At, "CURRENT_WATERMARK in a join condition is").WithHint("compute it as a column of a subquery")
	}
	for _, call := range calls {
		col, ok := call.Args[0].(*expr.Column)
		if !ok {
			return errs.New(errs.Invalid, call.At, "CURRENT_WATERMARK takes a column that is event time, not %s", call.Args[0])
		}
		if err := needRowtime(in, col.Index, "CURRENT_WATERMARK", call.At); err != nil {
			return err
		}
		if column < 0 {
			return unsupported(call.At, "CURRENT_WATERMARK of rows that %s makes is", in.Op()).WithHint("compute it as a column of a subquery below")
		}
	}
	read := func(e expr.Expr) expr.Expr {
		if c, ok := e.(*expr.Call); ok && c.Func == calls[0].Func {
			reads := *c
			reads.Args = []expr.Expr{expr.NewColumn(in.Schema(), column, c.At)}
			return &reads
		}
		return e
	}
	for i, e := range calc.Exprs {
		calc.Exprs[i] = expr.Rewrite(e, read)
	}
	if calc.Filter != nil {
		calc.Filter = expr.Rewrite(calc.Filter, read)
	}
	return nil
}
