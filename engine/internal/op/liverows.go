package op

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// liveRows is the multiset of rows of an updating input, each with the number that
// it was given when it came. It nets what happens to a row within an epoch.
type liveRows struct {
	rt     *exec.Runtime
	layout rowkey.Layout
	enc    *rowkey.Encoder
	all    []int
	table  *state.Values // by row: count and number, as in Materialize.live

	slots  []state.Slot
	first  []state.Slot
	fresh  []int32
	images images
	// forgets says that rows may have been forgotten: what takes one away is passed over.
	forgets bool
}

func newLiveRows(types []sqltype.Type, spread []int) *liveRows {
	l := &liveRows{images: newImages(countKinds)}
	for c := range types {
		l.all = append(l.all, c)
	}
	l.layout = keyLayout(types, l.all, spread)
	l.enc = rowkey.NewEncoder(l.layout)
	return l
}

func (l *liveRows) open(rt *exec.Runtime, name string) {
	l.rt = rt
	l.table = rt.State.Values(name, l.layout, countKinds)
}

// count adds the rows of a dense batch and takes them away.
func (l *liveRows) count(b *vector.Batch) error {
	l.slots = resize(l.slots, b.Len())
	if err := l.table.Resolve(l.enc.Encode(b, l.all), true, l.slots); err != nil {
		return err
	}
	if l.fresh = l.table.Hold(l.slots, l.fresh[:0]); len(l.fresh) > 0 {
		l.first = gather(l.first, l.slots, l.fresh)
		l.table.Dirty(l.first)
		l.images.save(l.table, l.first)
	}
	count, kinds := state.Col[int64](l.table, colCount), b.Kinds()
	if kinds == nil {
		countRows(count, l.slots, nil)
		return nil
	}
	if l.forgets {
		unknown(count, l.slots, func(i int) vector.RowKind { return kinds[i] }, nil)
		return nil
	}
	for i, s := range l.slots {
		count[s] += kinds[i].Sign()
	}
	return nil
}

// rowChanges are the changes of an epoch: rows of keys, each as often as it came or
// went, removals first.
type rowChanges struct {
	keys    *vector.Batch // the rows that the epoch touched
	rows    []int32
	kinds   []vector.RowKind
	numbers []int64
}

func (c *rowChanges) release() {
	if c.keys != nil {
		c.keys.Release()
	}
}

func (c *rowChanges) add(row int32, times int64, kind vector.RowKind, number int64) {
	for range times {
		c.rows, c.kinds, c.numbers = append(c.rows, row), append(c.kinds, kind), append(c.numbers, number)
	}
}

// settle returns what the epoch came to, and how many rows are new: their numbers
// are for the caller to take and to give with number. It reports negative counts
// and forgets rows that are gone.
func (l *liveRows) settle() (born int64, changed *rowChanges, err error) {
	held := l.table.Held()
	changed = &rowChanges{}
	defer l.images.reset()
	l.images.save(l.table, held)
	cols, err := l.table.Keys(l.rt.Pool, held)
	if err != nil {
		return 0, changed, err
	}
	n := len(held)
	changed.keys = vector.NewBatch(n, cols, nil)
	count, number := savedValues[int64](&l.images, colCount), savedValues[int64](&l.images, colNumber)
	negative := int64(0)
	gone := l.first[:0]
	for i, s := range held {
		was, is := max(count[i], 0), max(count[n+i], 0)
		changed.add(int32(i), was-is, vector.Delete, number[i])
		switch {
		case count[n+i] < 0:
			negative++
		case count[n+i] == 0:
			gone = append(gone, s)
		}
	}
	for i := range held {
		was, is := max(count[i], 0), max(count[n+i], 0)
		if was == 0 && is > 0 {
			born++
			changed.add(int32(i), is, vector.Insert, -born)
			continue
		}
		changed.add(int32(i), is-was, vector.Insert, number[i])
	}
	l.rt.Inconsistent(negative)
	l.first = gone[:0]
	if len(gone) > 0 {
		l.table.Drop(gone)
	}
	return born, changed, nil
}

// number gives the rows that settle found to be new numbers from the given one on.
func (l *liveRows) number(c *rowChanges, from int64) {
	held, number := l.table.Held(), state.Col[int64](l.table, colNumber)
	for i, n := range c.numbers {
		if n < 0 {
			c.numbers[i] = from - n - 1
			number[held[c.rows[i]]] = c.numbers[i]
		}
	}
}
