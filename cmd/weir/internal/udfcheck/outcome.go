package udfcheck

import (
	"fmt"
	"math"
	"slices"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// outcome is what a function made of a batch: a row for each input row, or rows
// that say which input row (or group) they come from.
type outcome struct {
	types   []sqltype.Type
	columns []*vector.Vector
	parent  []int32 // nil: row i comes from row i
	retract []bool
	n       int
}

func (o *outcome) release() {
	for _, c := range o.columns {
		c.Release()
	}
	o.columns = nil
}

// collector joins the pieces that a function with a table as result yields.
type collector struct {
	types    []sqltype.Type
	builders []*vector.ColumnBuilder
	out      outcome
}

func newCollector(p *vector.Pool, types []sqltype.Type) *collector {
	c := &collector{types: types}
	for _, t := range types {
		c.builders = append(c.builders, vector.NewColumnBuilder(p, t.Kind()))
	}
	c.out.parent = []int32{}
	return c
}

func (c *collector) yield(r *udf.Rows) error {
	rows := make([]int32, r.Len)
	for i := range rows {
		rows[i] = int32(i)
	}
	for i, col := range r.Columns {
		c.builders[i].AppendTake(col, rows)
	}
	c.out.parent = append(c.out.parent, r.Parent...)
	retract := r.Retract
	if retract == nil {
		retract = make([]bool, r.Len)
	}
	c.out.retract = append(c.out.retract, retract...)
	c.out.n += r.Len
	r.Release()
	return nil
}

func (c *collector) finish() *outcome {
	c.out.types = c.types
	for _, b := range c.builders {
		c.out.columns = append(c.out.columns, b.Finish())
	}
	return &c.out
}

// difference says where two outcomes differ, or "" when they are the same. near
// lets approximate numbers differ by rounding.
func difference(a, b *outcome, near bool) string {
	if a.n != b.n {
		return fmt.Sprintf("%d rows and %d rows", a.n, b.n)
	}
	for i := range a.n {
		if a.parent != nil && (a.parent[i] != b.parent[i] || a.retract[i] != b.retract[i]) {
			return fmt.Sprintf("result row %d comes from row %d and from row %d", i, a.parent[i], b.parent[i])
		}
		for k := range a.columns {
			if !same(a.types[k], a.columns[k], i, b.columns[k], i, near) {
				return fmt.Sprintf("row %d is %s and %s", i, show(a.types[k], a.columns[k], i), show(b.types[k], b.columns[k], i))
			}
		}
	}
	return ""
}

// only is the outcome of the rows that come from input rows [from, to), which are
// counted from from.
func (o *outcome) only(p *vector.Pool, from, to int) *outcome {
	out := &outcome{types: o.types}
	var rows []int32
	for i := range o.n {
		at := i
		if o.parent != nil {
			at = int(o.parent[i])
		}
		if at < from || at >= to {
			continue
		}
		rows = append(rows, int32(i))
		if o.parent != nil {
			out.parent, out.retract = append(out.parent, int32(at-from)), append(out.retract, o.retract[i])
		}
	}
	for _, c := range o.columns {
		out.columns = append(out.columns, c.Take(p, rows))
	}
	out.n = len(rows)
	if o.parent != nil {
		out.parent = slices.Clip(append([]int32{}, out.parent...))
	}
	return out
}

// same compares values; NaN is equal to NaN.
func same(t sqltype.Type, a *vector.Vector, i int, b *vector.Vector, j int, near bool) bool {
	if !near {
		return vector.Compare(a, i, b, j) == 0
	}
	if a.IsNull(i) || b.IsNull(j) {
		return a.IsNull(i) == b.IsNull(j)
	}
	switch t.ID {
	case sqltype.Float:
		return close(float64(vector.Values[float32](a)[i]), float64(vector.Values[float32](b)[j]), 1e-3)
	case sqltype.Double:
		return close(vector.Values[float64](a)[i], vector.Values[float64](b)[j], 1e-6)
	case sqltype.Row:
		for k, f := range t.Fields {
			if !same(f.Type, a.Child(k), i, b.Child(k), j, near) {
				return false
			}
		}
		return true
	}
	return vector.Compare(a, i, b, j) == 0
}

func close(a, b, part float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) == math.IsNaN(b)
	}
	return a == b || math.Abs(a-b) <= part*max(1, math.Abs(a), math.Abs(b))
}

// show is a value for a message, cut when it is long.
func show(t sqltype.Type, v *vector.Vector, i int) string {
	const most = 60
	text := string(sqltype.AppendText(nil, t, v, i))
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("%q", text)
}
