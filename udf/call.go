package udf

import (
	"context"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/vector"
)

// Call holds the input of a call: the live rows of columns that are borrowed. Row i is
// physical row Sel[i] of every column, or i when Sel is nil, and 0 of constant ones.
type Call struct {
	Args     []*vector.Vector // of the kinds of Function.Inputs
	Rows     int              // live rows
	Sel      []int32          // their positions; nil: the first Rows
	Constant []bool           // which columns hold one row that stands for all; nil: none
	Now      int64            // ms since 1970 UTC: what the guest's clock shows
	Seed     uint64           // of the guest's randomness; the same when a batch is replayed
	Pool     *vector.Pool     // for what comes back
}

// Call evaluates a scalar function: one value for each row, owned by the caller. An error
// ends the instance. A row that a Fault names is one of the live rows.
func (i *Instance) Call(ctx context.Context, c *Call) (*vector.Vector, error) {
	i.enter()
	defer i.leave()
	i.must(abi.Scalar)
	i.open(ctx, c)
	i.x.begin(abi.PartBody, i.layout(abi.PartBody, len(c.Args)))
	i.x.strict = i.fn.Strict
	v, err := i.pieces(c)
	i.x.drop()
	return v, err
}

// pieces evaluates a scalar function in as many calls as the batch needs, or as keep what
// it works on in the caches.
func (i *Instance) pieces(c *Call) (*vector.Vector, error) {
	x := &i.x
	out := pieces{pool: c.Pool, rows: c.Rows, inPlace: x.layout.inPlace}
	most := x.layout.rowsOfPiece(c.Rows)
	for from := 0; ; {
		n := min(c.Rows-from, most)
		var err error
		if i.relay(c, from, n) {
			_, err = i.again()
		} else if n, err = i.piece(c, from, n); err == nil {
			_, err = i.call()
		}
		if err == nil {
			err = i.take(&out, from, n)
		}
		if err != nil {
			out.drop()
			return nil, shifted(err, from, nil)
		}
		if from += n; from >= c.Rows {
			return out.finish(), nil
		}
		i.seed = pieceSeed(i.seed)
	}
}

// must panics when the instance is not open for a function of the kind.
func (i *Instance) must(kinds ...abi.Kind) {
	for _, k := range kinds {
		if i.fn.Kind == k {
			return
		}
	}
	panic("udf: " + i.fn.Export + " is called as what it is not: " + i.fn.Kind.String())
}

// open begins a batch.
func (i *Instance) open(ctx context.Context, c *Call) {
	i.now, i.seed, i.random = c.Now, c.Seed, nil
	i.begin(ctx, c.Rows)
	i.count.Rows += int64(c.Rows)
}

// leave ends a batch, if there was one, and gives the instance back.
func (i *Instance) leave() {
	i.close()
	i.busy.Store(false)
}

// close ends a batch.
func (i *Instance) close() {
	if i.log.open {
		i.log.flush(i)
	}
	i.settle()
}

// gather makes the arguments ready to be laid out, once: what is nested and selected is
// copied together, and a constant that the function does not accept becomes a column.
func (i *Instance) gather(c *Call) {
	x := &i.x
	if len(x.args) > 0 {
		return
	}
	for k, v := range c.Args {
		a := input{v: v}
		switch {
		case c.Constant != nil && c.Constant[k]:
			if i.fn.Constant && c.Rows > 0 {
				a.constant = true
				break
			}
			zeros := c.Pool.New(vector.Int32, c.Rows)
			clear(vector.Values[int32](zeros))
			a.v, a.owned = v.Take(c.Pool, vector.Values[int32](zeros)), true
			zeros.Release()
			if c.Sel != nil { // it is dense already, the others are not
				a.dense = true
			}
		case c.Sel != nil && v.Kind().Nested():
			a.v, a.owned, a.dense = v.Take(c.Pool, c.Sel), true, true
		}
		x.args = append(x.args, a)
	}
}

func (x *exchange) drop() {
	for k := range x.args {
		if a := &x.args[k]; a.owned {
			a.v.Release()
		}
		x.args[k] = input{}
	}
}

// rowsOf sets the rows of the next piece.
func (x *exchange) rowsOf(c *Call, from, to int) {
	x.rows = span{from: from, to: to}
	if c.Sel != nil {
		x.rows.sel = c.Sel[from:to]
	}
	x.count = to - from
}

// piece measures at most n rows from there on, as many as one call can take, and reports
// how many those are. A batch is cut when its rows are too many or take too much memory.
func (i *Instance) piece(c *Call, from, n int) (int, error) {
	x := &i.x
	i.gather(c)
	return i.cut(n, "row", func(n int, small bool) int {
		x.rowsOf(c, from, from+n)
		x.outRows = n
		return x.measure(small)
	})
}

// pieceSeed is the seed of the next piece of a batch: a step of a linear generator.
func pieceSeed(seed uint64) uint64 { return seed*6364136223846793005 + 1442695040888963407 }
