package op

import (
	"github.com/weirdb/weir/vector"
)

// overWalk is the rows of several partitions in order, and what is to be computed of
// them.
type overWalk struct {
	pool *vector.Pool
	// Partition p has the rows ends[p-1] to ends[p]. Values are wanted of those from
	// first[p] to last[p].
	ends        partEnds
	first, last []int32
	// gaps is how many rows before first[p] are left out, behind those that leave frames;
	// nil: none are.
	gaps    []int32
	cols    []*vector.Vector // the columns that order and calls read
	order   []int            // of cols, the columns of the order
	keys    []SortKey
	peer    []bool // equal in the order to the row before, in its partition
	arrival bool   // no row has peers: the order is that in which rows came
}

// rows is the number of rows.
func (w *overWalk) rows() int {
	if len(w.ends) == 0 {
		return 0
	}
	return w.ends[len(w.ends)-1]
}

// gap is the number of rows of a partition that are left out before the first row that
// is wanted.
func (w *overWalk) gap(p int) int32 {
	if w.gaps == nil {
		return 0
	}
	return w.gaps[p]
}

// wanted is the number of rows of which values are wanted.
func (w *overWalk) wanted() int {
	n := 0
	for p, f := range w.first {
		n += int(w.last[p] - f)
	}
	return n
}

func (w *overWalk) reset() {
	releaseAll(w.cols)
	w.cols, w.ends, w.first, w.last = w.cols[:0], w.ends[:0], w.first[:0], w.last[:0]
	if w.gaps != nil {
		w.gaps = w.gaps[:0]
	}
}

// findPeers fills peer.
func (w *overWalk) findPeers() {
	n := w.rows()
	w.peer = resize(w.peer, n)
	if w.arrival {
		clear(w.peer)
		return
	}
	for i := range w.peer {
		w.peer[i] = true
	}
	for p := range w.ends {
		if from := w.ends.from(p); from < w.ends[p] {
			w.peer[from] = false
		}
	}
	for _, c := range w.order {
		samePlace(w.cols[c], w.peer)
	}
}

// samePlace clears peer[i] where rows i-1 and i of v differ. NULLs are equal.
func samePlace(v *vector.Vector, peer []bool) {
	if v.Kind() == vector.Int64 && v.Valid() == nil {
		vals := vector.Values[int64](v)[:len(peer)]
		for i := 1; i < len(vals); i++ {
			peer[i] = peer[i] && vals[i] == vals[i-1]
		}
		return
	}
	for i := 1; i < len(peer); i++ {
		if peer[i] {
			peer[i] = vector.Compare(v, i-1, v, i) == 0
		}
	}
}

// overBounds are the frames of the rows of a walk: row i looks at the rows lo[i] to
// hi[i]. Both only grow along a partition.
type overBounds struct {
	frame  Frame
	lo, hi []int32
}

// find works out the frames.
func (b *overBounds) find(w *overWalk) {
	n := w.rows()
	b.lo, b.hi = resize(b.lo, n), resize(b.hi, n)
	for p := range w.ends {
		from, to := int32(w.ends.from(p)), int32(w.ends[p])
		b.starts(w, p, from, to)
		b.finishes(w, from, to)
		for i := from; i < to; i++ {
			b.hi[i] = max(b.hi[i], b.lo[i])
		}
	}
}

// starts fills lo of partition p.
func (b *overBounds) starts(w *overWalk, p int, from, to int32) {
	lo, s := b.lo[from:to], b.frame.Start
	switch {
	case s.Kind == UnboundedPreceding:
		for i := range lo {
			lo[i] = from
		}
	case b.frame.Rows:
		shift := s.rows()
		if gap := int64(w.gap(p)); gap > 0 { // frames begin with rows that leave them, or behind
			before := int64(w.first[p] - from)
			for i := range lo {
				lo[i] = from + int32(min(max(int64(i)+gap+shift, 0), before))
			}
			return
		}
		for i := range lo {
			lo[i] = from + int32(min(max(int64(i)+shift, 0), int64(len(lo))))
		}
	case s.Kind == CurrentRow:
		for i := range lo {
			if at := from + int32(i); w.peer[at] {
				lo[i] = lo[i-1]
			} else {
				lo[i] = at
			}
		}
	default:
		w.distant(s, false, from, to, b.lo)
	}
}

// finishes fills hi of a partition.
func (b *overBounds) finishes(w *overWalk, from, to int32) {
	hi, e := b.hi[from:to], b.frame.End
	switch {
	case e.Kind == UnboundedPreceding: // of calls that look at no frame
		for i := range hi {
			hi[i] = from
		}
	case e.Kind == UnboundedFollowing:
		for i := range hi {
			hi[i] = to
		}
	case b.frame.Rows:
		shift := e.rows() + 1
		for i := range hi {
			hi[i] = from + int32(min(max(int64(i)+shift, 0), int64(len(hi))))
		}
	case e.Kind == CurrentRow:
		for i := len(hi) - 1; i >= 0; i-- {
			if at := from + int32(i) + 1; at < to && w.peer[at] {
				hi[i] = hi[i+1]
			} else {
				hi[i] = at
			}
		}
	default:
		w.distant(e, true, from, to, b.hi)
	}
}

// distant finds, for each row of a partition, the first row that is not before the
// place at a distance from it, or with behind the first that is behind that place. Rows
// with NULL are at no distance from others, and have themselves.
func (w *overWalk) distant(b FrameBound, behind bool, from, to int32, at []int32) {
	v := w.cols[w.order[0]]
	low, high := from, to // the rows without NULL
	for low < high && v.IsNull(int(low)) {
		low++
	}
	for high > low && v.IsNull(int(high-1)) {
		high--
	}
	end := func(a, z int32) int32 {
		if behind {
			return z
		}
		return a
	}
	for i := from; i < low; i++ {
		at[i] = end(from, low)
	}
	for i := high; i < to; i++ {
		at[i] = end(high, to)
	}
	d := distance{sign: 1, desc: w.keys[0].Desc, behind: behind, low: low, high: high}
	if (b.Kind == Preceding) != d.desc {
		d.sign = -1
	}
	switch v.Kind() {
	case vector.Int8:
		distantInts(d, b.Rows, vector.Values[int8](v), at)
	case vector.Int16:
		distantInts(d, b.Rows, vector.Values[int16](v), at)
	case vector.Int32:
		distantInts(d, b.Rows, vector.Values[int32](v), at)
	case vector.Int64:
		distantInts(d, b.Rows, vector.Values[int64](v), at)
	case vector.Float32:
		distantFloats(d, b.Float, vector.Values[float32](v), at)
	case vector.Float64:
		distantFloats(d, b.Float, vector.Values[float64](v), at)
	case vector.Decimal:
		distantDecs(d, b.Dec, vector.Values[vector.Dec](v), at)
	default:
		panic("op: a range of values of " + v.Kind().String())
	}
}
