package op

import (
	"errors"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// goAggregate runs an aggregate function written in Go. Each accumulator is a value
// of its own: those of the groups that an epoch touches are decoded at their first
// row, and encoded when the epoch ends.
type goAggregate struct {
	of    *expr.Aggregate
	col   int // the encoded accumulator
	args  []*expr.Evaluator
	types []sqltype.Type

	touched []function.GoAccumulator // by state.Values.Ordinal
	decoded []bool
}

// custom plans an aggregate function written in Go.
func (p *aggregatePlan) custom(a *expr.Aggregate, f *feed) (call, error) {
	g := &goAggregate{of: a, col: p.column(vector.Bytes)}
	for _, arg := range a.Args {
		ev, err := expr.Compile(arg)
		if err != nil {
			return call{}, err
		}
		g.args, g.types = append(g.args, ev), append(g.types, arg.Type())
	}
	f.accs = append(f.accs, g)
	return call{g}, nil
}

func (g *goAggregate) open(in *function.Instances) error {
	for _, ev := range g.args {
		if err := ev.Open(in); err != nil {
			return err
		}
	}
	return nil
}

func (g *goAggregate) add(groups *state.Values, in *fed) error {
	vals, err := g.arguments(in)
	defer releaseAll(vals)
	if err != nil {
		return err
	}
	args := &function.GoArgs{Pool: in.pool, N: len(in.slots), Args: vals, Types: g.types, Returns: g.of.T}
	for i, s := range in.slots {
		if !g.of.Func.Go.CalledOnNull() && anyNull(vals, i) {
			continue
		}
		acc, err := g.accumulator(groups, s)
		if err == nil {
			err = acc.Add(args, i, in.weights != nil && in.weights[i] < 0)
		}
		if err != nil {
			return placed(err, g.of)
		}
	}
	return nil
}

// arguments evaluates the arguments on the rows of in.
func (g *goAggregate) arguments(in *fed) ([]*vector.Vector, error) {
	if in.vals != nil {
		return []*vector.Vector{in.vals.Retain()}, nil // of a DISTINCT
	}
	b := in.batch
	if in.rows != nil {
		b = b.Select(vector.Of(in.pool, in.rows...))
		defer b.Release()
	}
	vals := make([]*vector.Vector, 0, len(g.args))
	for _, ev := range g.args {
		ev.SetNow(in.now)
		v, err := ev.Eval(in.pool, b)
		if err != nil {
			return vals, err
		}
		vals = append(vals, v)
	}
	return vals, nil
}

func anyNull(vals []*vector.Vector, i int) bool {
	for _, v := range vals {
		if v.IsNull(i) {
			return true
		}
	}
	return false
}

// accumulator is that of the group in slot s, which is held.
func (g *goAggregate) accumulator(groups *state.Values, s state.Slot) (function.GoAccumulator, error) {
	at := int(groups.Ordinal(s))
	for len(g.touched) <= at {
		g.touched, g.decoded = append(g.touched, function.GoAccumulator{}), append(g.decoded, false)
	}
	if g.decoded[at] {
		return g.touched[at], nil
	}
	acc, err := g.of.Func.Go.Accumulator(groups.Bytes(g.col, s))
	g.touched[at], g.decoded[at] = acc, err == nil
	return acc, err
}

// settle encodes the accumulators that the epoch changed.
func (g *goAggregate) settle(groups *state.Values, held []state.Slot) error {
	for at, acc := range g.touched {
		if !g.decoded[at] {
			continue
		}
		enc, err := acc.Encode()
		if err != nil {
			return placed(err, g.of)
		}
		groups.SetBytes(g.col, held[at], enc)
	}
	clear(g.touched)
	g.touched, g.decoded = g.touched[:0], g.decoded[:0]
	return nil
}

// column computes the results of the images.
func (g *goAggregate) column(p *vector.Pool, im *images, live []bool) (*vector.Vector, error) {
	out, saved := vector.NewColumnBuilder(p, g.of.T.Kind()), im.cols[g.col].(*savedBytes)
	for i, is := range live {
		if !is {
			out.AppendNull()
			continue
		}
		acc, err := g.of.Func.Go.Accumulator(saved.at(i))
		if err == nil {
			err = acc.AppendValue(out, g.of.T)
		}
		if err != nil {
			out.Finish().Release()
			return nil, placed(err, g.of)
		}
	}
	return out.Finish(), nil
}

// placed gives an error the place of the call where it has none.
func placed(err error, a *expr.Aggregate) error {
	var e *errs.Error
	if errors.As(err, &e) && !e.Pos.IsValid() {
		c := *e
		c.Pos = a.At
		return &c
	}
	return err
}
