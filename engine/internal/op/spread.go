package op

import (
	"math"
	"math/big"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// squareSum sums the squares of DOUBLEs in twice their precision, as floatSum sums
// them: the rounding error of a square is added too. Values that are not finite are
// left to floatSum.
type squareSum struct {
	high, low int
	count     int // column with the number of rows of the feed
	updating  bool
	of        *expr.Aggregate
}

func (a *squareSum) add(groups *state.Values, in *fed) error {
	high, low := state.Col[float64](groups, a.high), state.Col[float64](groups, a.low)
	vals, weights := vector.Values[float64](in.vals)[:len(in.slots)], in.weights
	for i, s := range in.slots {
		x := vals[i]
		if !finite(x) {
			continue
		}
		square := x * x
		rest := math.FMA(x, x, -square)
		if weights != nil && weights[i] < 0 {
			square, rest = -square, -rest
		}
		h, l := addDouble(high[s], low[s], square)
		h, l = addDouble(h, l, rest)
		if !finite(h) {
			return overflow(a.of)
		}
		high[s], low[s] = h, l
	}
	return nil
}

// addDouble adds x to the sum h + l.
func addDouble(h, l, x float64) (float64, float64) {
	sum := h + x
	b := sum - h
	l += (h - (sum - b)) + (x - b)
	h = sum + l
	return h, l - (h - sum)
}

// settle starts sums of nothing from an exact 0.
func (a *squareSum) settle(groups *state.Values, held []state.Slot) error {
	if !a.updating {
		return nil
	}
	count := state.Col[int64](groups, a.count)
	high, low := state.Col[float64](groups, a.high), state.Col[float64](groups, a.low)
	for _, s := range held {
		if count[s] == 0 {
			high[s], low[s] = 0, 0
		}
	}
	return nil
}

// spread plans VAR_ and STDDEV_ of f: a count, a sum, which SUM and AVG may share,
// and a sum of squares.
func (p *aggregatePlan) spread(a *expr.Aggregate, f *feed, sample, root bool) call {
	r := &spreadResult{sum: sumFloats[float64](p, f, a), count: p.counter(f), sample: sample, root: root}
	for _, acc := range f.accs {
		if s, ok := acc.(*squareSum); ok {
			r.high, r.low = s.high, s.low
			return call{r}
		}
	}
	s := &squareSum{high: p.column(vector.Float64), low: p.column(vector.Float64), count: r.count, updating: p.updating, of: a}
	f.accs = append(f.accs, s)
	r.high, r.low = s.high, s.low
	return call{r}
}

// spreadResult is a variance, or its root.
type spreadResult struct {
	sum          floatColumns
	high, low    int // of the squares
	count        int
	sample, root bool
}

func (r *spreadResult) column(p *vector.Pool, im *images, live []bool) (*vector.Vector, error) {
	counts := savedValues[int64](im, r.count)
	sh, sl := savedValues[float64](im, r.sum.high), savedValues[float64](im, r.sum.low)
	qh, ql := savedValues[float64](im, r.high), savedValues[float64](im, r.low)
	v := p.New(vector.Float64, len(counts))
	out := vector.Values[float64](v)
	var valid vector.Bitmap
	for i, n := range counts {
		of := n
		if r.sample {
			of--
		}
		if of <= 0 || !live[i] {
			out[i] = 0
			if valid == nil {
				valid = v.NewValid(true)
			}
			valid.Clear(i)
			continue
		}
		if r.sum.special >= 0 && specialOf(im.cols[r.sum.special].(*savedBytes).at(i)) != (special{}) || !finite(sh[i]) {
			out[i] = math.NaN()
			continue
		}
		out[i] = variance([2]float64{sh[i], sl[i]}, [2]float64{qh[i], ql[i]}, n, of)
		if r.root {
			out[i] = math.Sqrt(out[i])
		}
	}
	return v, nil
}

// variance is (squares - sum² / n) / of. The difference loses most digits when the
// values are far from 0 and near to each other, so it is computed with many.
func variance(sum, squares [2]float64, n, of int64) float64 {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(512).SetFloat64(x) }
	s := number(sum[0])
	s.Add(s, number(sum[1]))
	s.Mul(s, s).Quo(s, number(float64(n)))
	q := number(squares[0])
	q.Add(q, number(squares[1])).Sub(q, s)
	if q.Sign() <= 0 {
		return 0
	}
	out, _ := q.Quo(q, number(float64(of))).Float64()
	return out
}
