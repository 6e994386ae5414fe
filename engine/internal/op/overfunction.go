package op

import (
	"encoding/binary"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/vector"
)

// overFunction computes the values of a call for the rows of a walk that are wanted, in
// their order.
type overFunction interface {
	compute(w *overWalk, b *overBounds, c *overCarry) (*vector.Vector, error)
}

// overCarry is what a call has found of the rows of each partition that are not in the
// walk any more, or that it has taken in already.
type overCarry struct {
	on bool // false: it looks at all rows of its frames anew
	// slides says that what was found is of the frame of the row before, whose first rows
	// are in the walk: those that leave the frames of its rows.
	slides bool
	state  [][]byte // by partition; empty: of no rows
	next   []int32  // by partition: the first row of the walk that was not taken in
	fresh  []bool   // with DISTINCT, by row of the walk: its value is new in the partition
}

// taken is what was found of partition p, and the row to go on from. Without a carry that
// is nothing, and where the frame of the first row begins.
func (c *overCarry) taken(p int) (state []byte, next int32) { return c.state[p], c.next[p] }

// keep notes what is known when rows up to next were taken in.
func (c *overCarry) keep(p int, state []byte, next int32) {
	c.state[p], c.next[p] = state, next
}

// newOverFunction returns the function of a call. at says where in a walk the columns of
// the input are.
func newOverFunction(c *OverCall, at []int) (overFunction, error) {
	switch c.Function {
	case OverLag, OverLead:
		return newOverShift(c, at), nil
	case OverNthValue:
		return &overNth{rows: usedRows{value: at[c.Args[0]], filter: -1}, n: c.N}, nil
	case OverRowNumber, OverRank, OverDenseRank, OverPercentRank, OverCumeDist, OverNtile:
		return &overNumber{function: c.Function, n: c.N}, nil
	}
	a := c.Aggregate
	rows := usedRows{value: -1, filter: -1}
	if len(a.Args) > 0 && a.Func.Kind != function.Custom {
		rows.value = at[column(a.Args[0])]
	}
	if a.Filter != nil {
		rows.filter = at[column(a.Filter)]
	}
	switch a.Func.Kind {
	case function.FirstValue:
		return &overNth{rows: rows, n: 1}, nil
	case function.LastValue:
		return &overLast{rows: rows}, nil
	case function.Min, function.Max:
		return &overExtreme{rows: rows, greatest: a.Func.Kind == function.Max}, nil
	}
	acc, result, kinds, err := newFrameAccumulator(a, at)
	if err != nil {
		return nil, err
	}
	s := &overSum{rows: rows, acc: acc, result: result, images: newImages(kinds)}
	if a.Distinct {
		s.distinct = newOverDistinct(a.Args[0].Type().Kind())
	}
	return s, nil
}

// usedRows are the rows of a walk that a call takes in: those that pass its FILTER and
// whose value is not NULL.
type usedRows struct {
	value, filter int // of the walk's columns; -1: none
	use           []bool
}

func (u *usedRows) find(w *overWalk) []bool {
	u.use = resize(u.use, w.rows())
	for i := range u.use {
		u.use[i] = true
	}
	if u.value >= 0 {
		if v := w.cols[u.value]; v.Valid() != nil {
			for i := range u.use {
				u.use[i] = !v.IsNull(i)
			}
		}
	}
	if u.filter >= 0 {
		v := w.cols[u.filter]
		pass := vector.Values[bool](v)[:len(u.use)]
		for i := range u.use {
			u.use[i] = u.use[i] && pass[i] && !v.IsNull(i)
		}
	}
	return u.use
}

// overSum is an aggregate that rows are added to, one by one, and taken away from.
type overSum struct {
	rows     usedRows
	acc      frameAccumulator
	result   result
	images   images
	distinct *overDistinct // nil: equal values count each
	live     []bool
	buf      []byte
}

func (f *overSum) compute(w *overWalk, b *overBounds, c *overCarry) (*vector.Vector, error) {
	use := f.rows.find(w)
	if err := f.acc.begin(w); err != nil {
		return nil, err
	}
	defer f.acc.end()
	f.images.reset()
	if f.distinct != nil && !c.on {
		f.distinct.begin(w.cols[f.rows.value])
	}
	for p := range w.ends {
		if err := f.partition(w, b, c, p, use); err != nil {
			return nil, err
		}
	}
	n := w.wanted()
	for len(f.live) < n {
		f.live = append(f.live, true)
	}
	return f.result.column(w.pool, &f.images, f.live[:n])
}

func (f *overSum) partition(w *overWalk, b *overBounds, c *overCarry, p int, use []bool) error {
	first, last := w.first[p], w.last[p]
	if first == last {
		return nil
	}
	low := b.lo[first] // the rows low to high have been added, and those before taken away
	high := low
	if err := f.clear(c); err != nil {
		return err
	}
	if c.on {
		var state []byte
		state, high = c.taken(p)
		if c.slides {
			if low = int32(w.ends.from(p)); low == first && w.gap(p) == 0 {
				state = nil // no row is left of the frame before
			}
		}
		if len(state) > 0 {
			if err := f.acc.load(state); err != nil {
				return err
			}
		}
	}
	for i := first; i < last; i++ {
		lo, hi := b.lo[i], b.hi[i]
		left := lo >= high && !(lo == first && w.gap(p) > 0) // nothing of the frame before is left
		if lo > low && (left || !f.acc.retracts()) {
			if err := f.clear(c); err != nil {
				return err
			}
			low, high = lo, lo
		}
		for ; low < lo; low++ {
			if use[low] && f.leaves(c, int(low)) {
				if err := f.acc.remove(int(low)); err != nil {
					return err
				}
			}
		}
		for ; high < hi; high++ {
			if use[high] && f.enters(c, int(high)) {
				if err := f.acc.add(int(high)); err != nil {
					return err
				}
			}
		}
		if err := f.acc.save(&f.images); err != nil {
			return err
		}
	}
	if c.on {
		state, err := f.acc.store(f.buf[:0])
		if err != nil {
			return err
		}
		at := len(c.state[p])
		c.keep(p, append(c.state[p][:0:at], state...), high)
		f.buf = state[:0]
	}
	return nil
}

func (f *overSum) clear(c *overCarry) error {
	if f.distinct != nil && !c.on {
		f.distinct.clear()
	}
	return f.acc.clear()
}

// enters reports whether a row adds a value: with DISTINCT a new one. Of frames that only
// grow those rows are found beforehand.
func (f *overSum) enters(c *overCarry, row int) bool {
	switch {
	case f.distinct == nil:
		return true
	case c.on:
		return c.fresh[row]
	}
	return f.distinct.add(row)
}

func (f *overSum) leaves(c *overCarry, row int) bool {
	return f.distinct == nil || c.on || f.distinct.remove(row)
}

// frameAccumulator folds the rows of a frame. It is given those that a call takes in.
type frameAccumulator interface {
	begin(w *overWalk) error
	end()
	clear() error
	add(row int) error
	// remove takes away a row, or with DISTINCT one that is equal to it.
	remove(row int) error
	retracts() bool
	// save appends what is known to the columns of images.
	save(im *images) error
	load(state []byte) error
	store(buf []byte) ([]byte, error)
}

// saved appends a value to a column of images.
func saved[T vector.Fixed](im *images, col int, v T) {
	c := im.cols[col].(*savedFixed[T])
	c.vals = append(c.vals, v)
}

// savedText is saved for a column of variable width.
func savedText(im *images, col int, v []byte) {
	c := im.cols[col].(*savedBytes)
	c.data = append(c.data, v...)
	c.ends = append(c.ends, int32(len(c.data)))
}

// The columns of the images of a sum: how many rows there are, and their sum.
const (
	imageCount = 0
	imageSum   = 1
)

// newFrameAccumulator returns the accumulator of an aggregate, with the result that it
// makes of images with columns of the given kinds.
func newFrameAccumulator(a *expr.Aggregate, at []int) (frameAccumulator, result, []vector.Kind, error) {
	ret := a.T.Kind()
	switch a.Func.Kind {
	case function.Count:
		return &frameCount{}, countResult{imageCount}, []vector.Kind{vector.Int64}, nil
	case function.Sum, function.Avg:
		avg, col := a.Func.Kind == function.Avg, at[column(a.Args[0])]
		ints := &intResult{sum: imageSum, count: imageCount, avg: avg, kind: ret, of: a}
		kinds := []vector.Kind{vector.Int64, vector.Int64}
		switch arg := a.Args[0].Type(); arg.Kind() {
		case vector.Int8:
			return &frameInts[int8]{col: col, of: a}, ints, kinds, nil
		case vector.Int16:
			return &frameInts[int16]{col: col, of: a}, ints, kinds, nil
		case vector.Int32:
			return &frameInts[int32]{col: col, of: a}, ints, kinds, nil
		case vector.Int64:
			return &frameInts[int64]{col: col, of: a}, ints, kinds, nil
		case vector.Float32:
			return &frameFloats[float32]{col: col, of: a}, &floatResult{floatColumns: imageFloats(), count: imageCount, avg: avg, kind: ret, of: a}, imageFloatKinds(false), nil
		case vector.Float64:
			return &frameFloats[float64]{col: col, of: a}, &floatResult{floatColumns: imageFloats(), count: imageCount, avg: avg, kind: ret, of: a}, imageFloatKinds(false), nil
		case vector.Decimal:
			return &frameDecs{col: col, of: a}, &decimalResult{sum: imageSum, count: imageCount, avg: avg, scale: arg.Scale, of: a}, []vector.Kind{vector.Int64, vector.Decimal}, nil
		}
	case function.VarPop, function.VarSamp, function.StddevPop, function.StddevSamp:
		f := &frameFloats[float64]{col: at[column(a.Args[0])], squares: true, of: a}
		sample, root := a.Func.Kind == function.VarSamp || a.Func.Kind == function.StddevSamp, a.Func.Kind == function.StddevPop || a.Func.Kind == function.StddevSamp
		return f, &spreadResult{sum: imageFloats(), high: imageSquares, low: imageSquares + 1, count: imageCount, sample: sample, root: root}, imageFloatKinds(true), nil
	case function.ListAgg:
		kinds := []vector.Kind{vector.Bool, vector.String}
		return &frameList{col: at[column(a.Args[0])], separator: separatorOf(a)}, valueResult{has: 0, col: 1, kind: vector.String}, kinds, nil
	case function.Custom:
		g, err := newFrameGo(a, at)
		return g, g, nil, err
	}
	return nil, nil, nil, errs.New(errs.Unsupported, a.At, "%s OVER is not supported", a.Func.Name)
}

// frameCount counts rows.
type frameCount struct{ n int64 }

func (a *frameCount) begin(*overWalk) error { return nil }
func (a *frameCount) end()                  {}
func (a *frameCount) retracts() bool        { return true }

func (a *frameCount) clear() error {
	a.n = 0
	return nil
}

func (a *frameCount) add(int) error {
	a.n++
	return nil
}

func (a *frameCount) remove(int) error {
	a.n--
	return nil
}

func (a *frameCount) save(im *images) error {
	saved(im, imageCount, a.n)
	return nil
}

func (a *frameCount) load(state []byte) error {
	return readWords(state, &a.n)
}

func (a *frameCount) store(buf []byte) ([]byte, error) { return appendWords(buf, a.n), nil }

// appendWords and readWords store numbers as they are.
func appendWords(buf []byte, words ...int64) []byte {
	for _, w := range words {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(w))
	}
	return buf
}

func readWords(state []byte, words ...*int64) error {
	if len(state) != 8*len(words) {
		return errs.New(errs.Internal, errs.Position{}, "what an aggregate has found of a partition cannot be read")
	}
	for i, w := range words {
		*w = int64(binary.LittleEndian.Uint64(state[8*i:]))
	}
	return nil
}

// frameInts sums integers. A sum may leave its range between rows of which values are
// wanted, and come back.
type frameInts[T int8 | int16 | int32 | int64] struct {
	col           int
	of            *expr.Aggregate
	vals          []T
	n, sum, wraps int64
}

func (a *frameInts[T]) begin(w *overWalk) error {
	a.vals = vector.Values[T](w.cols[a.col])
	return nil
}

func (a *frameInts[T]) end()           { a.vals = nil }
func (a *frameInts[T]) retracts() bool { return true }

func (a *frameInts[T]) clear() error {
	a.n, a.sum, a.wraps = 0, 0, 0
	return nil
}

func (a *frameInts[T]) add(row int) error {
	v, old := int64(a.vals[row]), a.sum
	now := old + v
	a.n, a.sum = a.n+1, now
	if (old^now)&(v^now) < 0 {
		a.wraps += 1 - 2*int64(uint64(v)>>63)
	}
	return nil
}

func (a *frameInts[T]) remove(row int) error {
	v, old := int64(a.vals[row]), a.sum
	now := old - v
	a.n, a.sum = a.n-1, now
	if (old^v)&(old^now) < 0 {
		a.wraps -= 1 - 2*int64(uint64(v)>>63)
	}
	return nil
}

func (a *frameInts[T]) save(im *images) error {
	if a.wraps != 0 && a.n > 0 {
		return overflow(a.of)
	}
	saved(im, imageCount, a.n)
	saved(im, imageSum, a.sum)
	return nil
}

func (a *frameInts[T]) load(state []byte) error { return readWords(state, &a.n, &a.sum, &a.wraps) }

func (a *frameInts[T]) store(buf []byte) ([]byte, error) {
	return appendWords(buf, a.n, a.sum, a.wraps), nil
}
