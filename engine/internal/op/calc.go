package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/vector"
)

// Calc keeps the rows on which a condition is TRUE and computes the columns of
// its output from them. Row kinds stay as they are: a -U may leave without its +U
// when only one of them passes.
//
// Only the columns that the output needs are gathered, once each. Columns that
// are passed through are not copied when every row passes.
type Calc struct {
	exec.Stateless
	pred    *expr.Predicate // nil: all rows
	needed  []int           // input columns that the output reads
	outputs []calcOutput
	partial *partialDeletes // nil: a -D has the whole row
	rt      *exec.Runtime
}

// calcOutput is one column of the output: position pass among the needed columns,
// or what eval computes from them.
type calcOutput struct {
	pass int
	eval *expr.Evaluator
}

// NewCalc returns a Calc with one output column for each of projs, which are
// expressions over the input. A nil pred keeps every row.
func NewCalc(pred expr.Expr, projs []expr.Expr) (*Calc, error) {
	c := &Calc{}
	if pred != nil {
		p, err := expr.CompilePredicate(pred)
		if err != nil {
			return nil, err
		}
		c.pred = p
	}
	place := map[int]int{} // input column to position among the needed
	for _, e := range projs {
		for _, col := range expr.Columns(e) {
			if _, ok := place[col]; !ok {
				place[col] = len(c.needed)
				c.needed = append(c.needed, col)
			}
		}
	}
	for _, e := range projs {
		if col, ok := e.(*expr.Column); ok {
			c.outputs = append(c.outputs, calcOutput{pass: place[col.Index]})
			continue
		}
		ev, err := expr.Compile(expr.Remap(e, func(i int) int { return place[i] }))
		if err != nil {
			return nil, err
		}
		c.outputs = append(c.outputs, calcOutput{eval: ev})
	}
	return c, nil
}

// Open opens the functions of the expressions.
func (c *Calc) Open(_ context.Context, rt *exec.Runtime) error {
	c.rt = rt
	if c.pred != nil {
		if err := c.pred.Open(rt.Functions); err != nil {
			return err
		}
	}
	for _, o := range c.outputs {
		if o.eval == nil {
			continue
		}
		if err := o.eval.Open(rt.Functions); err != nil {
			return err
		}
	}
	return nil
}

// Process emits what passes of b.
func (c *Calc) Process(_ int, b *vector.Batch, out exec.Output) error {
	p := c.rt.Pool
	now := c.rt.Now()
	if c.pred != nil {
		c.pred.SetNow(now)
		sel, err := c.pred.Select(p, b)
		if err != nil {
			return err
		}
		switch sel.Len() {
		case 0:
			sel.Release()
			return nil
		case b.Len():
			sel.Release()
		default:
			b = c.passed(b, sel)
			defer b.Release()
		}
	}
	narrow := b.Project(c.needed)
	defer narrow.Release()
	dense := narrow.Dense(p)
	defer dense.Release()
	whole, all := c.partial.whole(p, dense)
	defer whole.Release()
	cols := make([]*vector.Vector, 0, len(c.outputs))
	for i, o := range c.outputs {
		if o.eval == nil {
			cols = append(cols, dense.Col(o.pass).Retain())
			continue
		}
		o.eval.SetNow(now)
		var v *vector.Vector
		var err error
		if all || c.partial.known[i] {
			v, err = o.eval.Eval(p, dense)
		} else if v, err = o.eval.Eval(p, whole); err == nil {
			v = c.partial.spread(p, v)
		}
		if err != nil {
			releaseAll(cols)
			return err
		}
		cols = append(cols, v)
	}
	var kinds *vector.Vector
	if k := dense.KindVector(); k != nil {
		kinds = k.Retain()
	}
	res := vector.NewBatch(dense.Len(), cols, kinds)
	defer res.Release()
	return out.Emit(res)
}

// passed narrows b to the selected rows. Of an update that the condition separates,
// a -U that stays alone becomes -D, and a +U that does +I.
func (c *Calc) passed(b *vector.Batch, sel *vector.Vector) *vector.Batch {
	if b.InsertOnly() {
		return b.Select(sel)
	}
	kinds, k := c.rt.Pool.NewKinds(b.Rows())
	copy(k, b.Kinds())
	rows := vector.Values[int32](sel)
	before, beforePassed := -1, false
	for i, next := 0, 0; i < b.Len(); i++ {
		r := b.Row(i)
		passed := next < len(rows) && int(rows[next]) == r
		if passed {
			next++
		}
		if before >= 0 && k[before] == vector.UpdateBefore && k[r] == vector.UpdateAfter && passed != beforePassed {
			if passed {
				k[r] = vector.Insert
			} else {
				k[before] = vector.Delete
			}
		}
		before, beforePassed = r, passed
	}
	changed := b.WithKinds(kinds)
	defer changed.Release()
	return changed.Select(sel)
}

func releaseAll(vs []*vector.Vector) {
	for _, v := range vs {
		if v != nil {
			v.Release()
		}
	}
}
