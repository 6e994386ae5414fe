package op

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/vector"
)

// partialDeletes is what a Calc does about -D that have the columns of a key only: it
// computes nothing of columns that are not there.
type partialDeletes struct {
	known []bool // by output: it can be computed
	rows  []int32
	place []int32 // of each row of a batch among those that are whole, or 0
	gone  []int32 // the others
}

// DeletesByKey says that a -D of the input has values in the given columns only.
// Results of others are NULL in it, also where they are NOT NULL. It is called before
// Open, with the expressions that NewCalc got. The condition reads no other columns.
func (c *Calc) DeletesByKey(key []int, projs []expr.Expr) *Calc {
	c.partial = &partialDeletes{}
	for _, e := range projs {
		missing := slices.ContainsFunc(expr.Columns(e), func(col int) bool { return !slices.Contains(key, col) })
		c.partial.known = append(c.partial.known, !missing)
	}
	return c
}

// whole is b, which is dense, without the rows that have a key only, or says that it
// is all of b.
func (d *partialDeletes) whole(p *vector.Pool, b *vector.Batch) (whole *vector.Batch, all bool) {
	if d == nil || !slices.Contains(b.Kinds(), vector.Delete) || !slices.Contains(d.known, false) {
		return b.Retain(), true
	}
	d.rows, d.gone, d.place = d.rows[:0], d.gone[:0], d.place[:0]
	for i, k := range b.Kinds() {
		if k == vector.Delete {
			d.gone, d.place = append(d.gone, int32(i)), append(d.place, 0)
			continue
		}
		d.place = append(d.place, int32(len(d.rows)))
		d.rows = append(d.rows, int32(i))
	}
	return b.Take(p, d.rows), false
}

// spread is v, which has the rows that are whole, with NULL where the others are, in
// place of v.
func (d *partialDeletes) spread(p *vector.Pool, v *vector.Vector) *vector.Vector {
	defer v.Release()
	if v.Len() == 0 {
		out := vector.NewColumnBuilder(p, v.Kind())
		for range d.gone {
			out.AppendNull()
		}
		return out.Finish()
	}
	out := v.Take(p, d.place)
	valid := out.Valid()
	if valid == nil {
		valid = out.NewValid(true)
	}
	for _, i := range d.gone {
		valid.Clear(int(i))
	}
	return out
}
