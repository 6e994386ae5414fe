package op

import (
	"encoding/binary"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// picks are rows of a column whose values are the results of a call: of a walk, or
// those that were found in partitions before, which stand behind them.
type picks struct {
	value *vector.Vector // the walk's column, and behind it the values found before
	first int            // where those begin: the number of rows of the walk
	rows  []int32        // -1: NULL
}

const noRow = -1

// begin makes value. A value found before is at the end of what is kept of a partition,
// behind skip bytes, unless there is none.
func (k *picks) begin(w *overWalk, col int, c *overCarry, skip int) error {
	v := w.cols[col]
	k.first, k.rows = v.Len(), k.rows[:0]
	if !c.on {
		k.value = v.Retain()
		return nil
	}
	b := vector.NewColumnBuilder(w.pool, v.Kind())
	b.AppendTake(v, sequence(v.Len()))
	for p := range w.ends {
		if state, _ := c.taken(p); len(state) <= skip {
			b.AppendNull()
		} else if err := rowkey.DecodeValue(state[skip:], b); err != nil {
			b.Finish().Release()
			return err
		}
	}
	k.value = b.Finish()
	return nil
}

// found is the row of the value that was found of partition p before, or noRow.
func (k *picks) found(p int, c *overCarry, skip int) int32 {
	if state, _ := c.taken(p); len(state) > skip {
		return int32(k.first + p)
	}
	return noRow
}

// keep notes the value of a row as what was found of partition p.
func (k *picks) keep(c *overCarry, p int, head []byte, row, next int32) {
	state := append(c.state[p][:0], head...)
	if row != noRow {
		state = rowkey.AppendValue(state, k.value, int(row))
	}
	c.keep(p, state, next)
}

// finish is the column of the values picked.
func (k *picks) finish(p *vector.Pool) *vector.Vector {
	defer k.value.Release()
	if k.value.Len() == 0 {
		b := vector.NewColumnBuilder(p, k.value.Kind())
		for range k.rows {
			b.AppendNull()
		}
		return b.Finish()
	}
	var none []int32
	for i, r := range k.rows {
		if r == noRow {
			none = append(none, int32(i))
			k.rows[i] = 0
		}
	}
	out := k.value.Take(p, k.rows)
	if len(none) == 0 {
		return out
	}
	valid := out.Valid()
	if valid == nil {
		valid = out.NewValid(true)
	}
	for _, i := range none {
		valid.Clear(int(i))
	}
	return out
}

// sequence lists 0 to n-1.
func sequence(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// overShift is LAG and LEAD.
type overShift struct {
	value, other int // of the walk's columns; other stands in where there is no row, -1: NULL
	by           int64
	picks        picks
}

func newOverShift(c *OverCall, at []int) *overShift {
	s := &overShift{value: at[c.Args[0]], other: -1, by: c.N}
	if len(c.Args) > 1 {
		s.other = at[c.Args[1]]
	}
	if c.Function == OverLag {
		s.by = -c.N
	}
	return s
}

func (f *overShift) compute(w *overWalk, _ *overBounds, _ *overCarry) (*vector.Vector, error) {
	k := &f.picks
	v := w.cols[f.value]
	k.first, k.rows = v.Len(), k.rows[:0]
	if f.other < 0 {
		k.value = v.Retain()
	} else {
		b := vector.NewColumnBuilder(w.pool, v.Kind())
		all := sequence(v.Len())
		b.AppendTake(v, all)
		b.AppendTake(w.cols[f.other], all)
		k.value = b.Finish()
	}
	for p := range w.ends {
		from, to := int64(w.ends.from(p)), int64(w.ends[p])
		for i := w.first[p]; i < w.last[p]; i++ {
			switch at := int64(i) + f.by; {
			case at >= from && at < to:
				k.rows = append(k.rows, int32(at))
			case f.other >= 0:
				k.rows = append(k.rows, int32(k.first)+i)
			default:
				k.rows = append(k.rows, noRow)
			}
		}
	}
	return k.finish(w.pool), nil
}

// overNth is FIRST_VALUE and NTH_VALUE: the n-th value of the frame.
type overNth struct {
	rows  usedRows
	n     int64
	picks picks

	used  []int32 // rows that are taken in
	count []int32 // of those, how many stand before a row
}

// What is kept of a partition is how many values there were, and the n-th one if there
// were so many.
const nthHead = 8

func (f *overNth) compute(w *overWalk, b *overBounds, c *overCarry) (*vector.Vector, error) {
	use, k := f.rows.find(w), &f.picks
	f.used, f.count = f.used[:0], resize(f.count, len(use)+1)
	for i, u := range use {
		f.count[i] = int32(len(f.used))
		if u {
			f.used = append(f.used, int32(i))
		}
	}
	f.count[len(use)] = int32(len(f.used))
	if err := k.begin(w, f.rows.value, c, nthHead); err != nil {
		return nil, err
	}
	for p := range w.ends {
		before, have := int64(0), int32(noRow)
		from := int32(0)
		if c.on {
			var state []byte
			if state, from = c.taken(p); len(state) > 0 {
				before = int64(binary.LittleEndian.Uint64(state))
				have = k.found(p, c, nthHead)
			}
		}
		next := from
		for i := w.first[p]; i < w.last[p]; i++ {
			if !c.on {
				from = b.lo[i]
			}
			next = max(next, b.hi[i])
			row := have
			if row == noRow {
				if at := int64(f.count[from]) + f.n - before - 1; at < int64(f.count[b.hi[i]]) && at >= 0 {
					row = f.used[at]
				}
			}
			k.rows = append(k.rows, row)
		}
		if c.on && w.first[p] < w.last[p] {
			last := have
			if last == noRow {
				if at := int64(f.count[from]) + f.n - before - 1; at < int64(f.count[next]) {
					last = f.used[at]
				}
			}
			k.keep(c, p, appendWords(nil, before+int64(f.count[next]-f.count[from])), last, next)
		}
	}
	return k.finish(w.pool), nil
}

// overLast is LAST_VALUE.
type overLast struct {
	rows  usedRows
	picks picks
	last  []int32 // the last row that is taken in, up to a row
}

func (f *overLast) compute(w *overWalk, b *overBounds, c *overCarry) (*vector.Vector, error) {
	use, k := f.rows.find(w), &f.picks
	f.last = resize(f.last, len(use))
	row := int32(noRow)
	for i, u := range use {
		if u {
			row = int32(i)
		}
		f.last[i] = row
	}
	if err := k.begin(w, f.rows.value, c, 0); err != nil {
		return nil, err
	}
	for p := range w.ends {
		have, from := int32(noRow), int32(0)
		if c.on {
			_, from = c.taken(p)
			have = k.found(p, c, 0)
		}
		next := from
		for i := w.first[p]; i < w.last[p]; i++ {
			if !c.on {
				from = b.lo[i]
			}
			row := have
			if hi := b.hi[i]; hi > from && f.last[hi-1] >= from {
				row = f.last[hi-1]
			}
			next = max(next, b.hi[i])
			k.rows = append(k.rows, row)
		}
		if c.on && w.first[p] < w.last[p] {
			if next > from && f.last[next-1] >= from {
				have = f.last[next-1]
			}
			k.keep(c, p, nil, have, next)
		}
	}
	return k.finish(w.pool), nil
}

// overExtreme is MIN and MAX. Of the rows of a frame it looks at those that no later row
// is better than: the best is the first of them.
type overExtreme struct {
	rows     usedRows
	greatest bool
	picks    picks
	queue    []int32
}

func (f *overExtreme) compute(w *overWalk, b *overBounds, c *overCarry) (*vector.Vector, error) {
	use, k := f.rows.find(w), &f.picks
	if err := k.begin(w, f.rows.value, c, 0); err != nil {
		return nil, err
	}
	better := betterThan(k.value, f.greatest)
	for p := range w.ends {
		if w.first[p] == w.last[p] {
			continue
		}
		if c.on {
			f.growing(w, b, c, p, use, better)
			continue
		}
		queue, first := f.queue[:0], 0
		high := b.lo[w.first[p]]
		for i := w.first[p]; i < w.last[p]; i++ {
			high = max(high, b.lo[i])
			for ; high < b.hi[i]; high++ {
				if !use[high] {
					continue
				}
				for len(queue) > first && !better(queue[len(queue)-1], high) {
					queue = queue[:len(queue)-1]
				}
				queue = append(queue, high)
			}
			for first < len(queue) && queue[first] < b.lo[i] {
				first++
			}
			row := int32(noRow)
			if first < len(queue) {
				row = queue[first]
			}
			k.rows = append(k.rows, row)
		}
		f.queue = queue
	}
	return k.finish(w.pool), nil
}

// growing is for frames that only grow.
func (f *overExtreme) growing(w *overWalk, b *overBounds, c *overCarry, p int, use []bool, better func(a, b int32) bool) {
	k := &f.picks
	_, next := c.taken(p)
	best := k.found(p, c, 0)
	for i := w.first[p]; i < w.last[p]; i++ {
		for ; next < b.hi[i]; next++ {
			if use[next] && (best == noRow || better(next, best)) {
				best = next
			}
		}
		k.rows = append(k.rows, best)
	}
	k.keep(c, p, nil, best, next)
}

// betterThan returns the comparison of two rows of v.
func betterThan(v *vector.Vector, greatest bool) func(a, b int32) bool {
	switch v.Kind() {
	case vector.Int32:
		return betterInts(vector.Values[int32](v), greatest)
	case vector.Int64:
		return betterInts(vector.Values[int64](v), greatest)
	}
	want := -1
	if greatest {
		want = 1
	}
	return func(a, b int32) bool { return vector.Compare(v, int(a), v, int(b)) == want }
}

func betterInts[T int32 | int64](vals []T, greatest bool) func(a, b int32) bool {
	if greatest {
		return func(a, b int32) bool { return vals[a] > vals[b] }
	}
	return func(a, b int32) bool { return vals[a] < vals[b] }
}
