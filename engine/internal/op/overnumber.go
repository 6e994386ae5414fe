package op

import (
	"github.com/weirdb/weir/vector"
)

// overNumber numbers the rows of a partition.
type overNumber struct {
	function OverFunction
	n        int64
}

func (f *overNumber) compute(w *overWalk, _ *overBounds, c *overCarry) (*vector.Vector, error) {
	if f.function == OverPercentRank || f.function == OverCumeDist {
		return f.parts(w), nil
	}
	out := w.pool.New(vector.Int64, w.wanted())
	vals, at := vector.Values[int64](out), 0
	for p := range w.ends {
		var count rankCounter
		from := int32(w.ends.from(p))
		if c.on {
			state, next := c.taken(p)
			if from = next; len(state) > 0 {
				if err := readWords(state, &count.count, &count.before, &count.dense); err != nil {
					out.Release()
					return nil, err
				}
				count.open = true
			}
		}
		size := int64(w.ends[p] - w.ends.from(p))
		for i := from; i < w.last[p]; i++ {
			count.next(w.peer[i], true)
			if i < w.first[p] {
				continue
			}
			switch f.function {
			case OverRank:
				vals[at] = count.before + 1
			case OverDenseRank:
				vals[at] = count.dense
			case OverNtile:
				vals[at] = tile(count.count-1, size, f.n)
			default:
				vals[at] = count.count
			}
			at++
		}
		if c.on && w.first[p] < w.last[p] {
			c.keep(p, appendWords(c.state[p][:0], count.count, count.before, count.dense), w.last[p])
		}
	}
	return out, nil
}

// tile is the number of the share of row i of size rows, in n shares of which the first
// have a row more when there are some left.
func tile(i, size, n int64) int64 {
	each, more := size/n, size%n
	if large := more * (each + 1); i >= large {
		return more + (i-large)/max(each, 1) + 1
	}
	return i/(each+1) + 1
}

// parts are PERCENT_RANK and CUME_DIST.
func (f *overNumber) parts(w *overWalk) *vector.Vector {
	out := w.pool.New(vector.Float64, w.wanted())
	vals, at := vector.Values[float64](out), 0
	for p := range w.ends {
		from, to := w.ends.from(p), w.ends[p]
		size := float64(to - from)
		for i := from; i < to; {
			end := i + 1
			for end < to && w.peer[end] {
				end++
			}
			v := float64(end-from) / size
			if f.function == OverPercentRank {
				v = 0
				if size > 1 {
					v = float64(i-from) / (size - 1)
				}
			}
			for ; i < end; i++ {
				if i >= int(w.first[p]) && i < int(w.last[p]) {
					vals[at] = v
					at++
				}
			}
		}
	}
	return out
}
