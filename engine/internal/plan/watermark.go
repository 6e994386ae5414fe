package plan

import (
	"slices"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
)

// WatermarkAssigner makes a column of a table its event time: up to which time the rows
// of a split are complete is what Expr was at most on the rows so far. It stands as near
// to the scan as the columns that it reads are there, so that no filter and no exchange
// is below it.
type WatermarkAssigner struct {
	unary
	Table  *catalog.Table
	Column int       // event time
	Expr   expr.Expr // over the columns of the input; nil: the source knows
	// Hidden says that the last column is WatermarkColumn.
	Hidden bool
	// IdleTimeout and MaxDrift are exec.SourceTime's.
	IdleTimeout, MaxDrift time.Duration
}

// WatermarkColumn names the hidden column of a row that says how far event time was in
// its split before it: milliseconds since 1970 in a BIGINT, or noWatermark. SQL has no
// name for it.
const WatermarkColumn = "$watermark"

// noWatermark is the value of the hidden column while nothing is known.
const noWatermark = -1 << 63

var watermarkType = sqltype.BigIntType.Required()

// Op is "WatermarkAssigner".
func (*WatermarkAssigner) Op() string { return "WatermarkAssigner" }

func newWatermarkAssigner(in Node, like *WatermarkAssigner) *WatermarkAssigner {
	n := *like
	n.traits = Traits{}
	n.Input, n.schema = in, slices.Clone(in.Schema())
	if n.Hidden {
		n.schema = append(n.schema, sqltype.Column{Name: WatermarkColumn, Type: watermarkType})
	}
	return &n
}

// prune keeps what is event time, and what the watermark is computed from.
func (n *WatermarkAssigner) prune(need []int) (Node, []int) {
	width := len(n.Input.Schema())
	reads := append(slices.Clone(need), n.Column)
	if n.Expr != nil {
		reads = append(reads, expr.Columns(n.Expr)...)
	}
	reads = slices.DeleteFunc(union(reads), func(c int) bool { return c >= width })
	out := *n
	out.Hidden = slices.Contains(need, width)
	in := exactly(n.Input, reads)
	out.Column = slices.Index(reads, n.Column)
	if n.Expr != nil {
		out.Expr = remap(n.Expr, reads)
	}
	if out.Hidden {
		reads = append(reads, width)
	}
	return newWatermarkAssigner(in, &out), reads
}

// withWatermark puts the assigner of a table over its columns, which are the physical
// ones or, with all, those of the declaration.
func (b *binder) withWatermark(n Node, t *catalog.Table, all bool, pos errs.Position) (Node, error) {
	w := t.Watermark
	if w.Column < 0 {
		return n, nil
	}
	out := &WatermarkAssigner{Table: t, Column: w.Column, Expr: w.Expr}
	out.at = pos
	out.IdleTimeout, out.MaxDrift = t.IdleTimeout(b.session.Options.IdleTimeout), t.MaxDrift()
	if all {
		return newWatermarkAssigner(n, out), nil
	}
	// Before rows are normalised there are physical columns only, and what the time is
	// computed from.
	exprs, _ := declared(t, n.Schema(), pos)
	if c, ok := exprs[w.Column].(*expr.Column); ok {
		out.Column = c.Index
	} else {
		out.Column = len(n.Schema())
		n = newCalc(n, nil, append(columns(n), exprs[w.Column]), append(n.Schema().Names(), t.Columns[w.Column].Name), pos)
		exprs[w.Column] = expr.NewColumn(n.Schema(), out.Column, pos)
	}
	if w.Expr != nil {
		out.Expr = replace(w.Expr, exprs)
	}
	return newWatermarkAssigner(n, out), nil
}

// declared are all columns of a table over its physical ones.
func declared(t *catalog.Table, physical sqltype.Schema, pos errs.Position) (exprs []expr.Expr, names []string) {
	exprs, next := make([]expr.Expr, len(t.Columns)), 0
	for i, c := range t.Columns {
		if exprs[i] = c.Computed; c.Computed == nil {
			exprs[i] = expr.NewColumn(physical, next, pos)
			next++
		}
	}
	return exprs, t.Schema().Names()
}
