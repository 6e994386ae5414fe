package op

import (
	"context"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// topNPlaces is the largest number of rows of a partition that a TopN keeps: it takes
// memory for all of them, however few there are.
const topNPlaces = 16

// Few reports whether a TopN does what the spec says.
func (s RankSpec) Few() bool {
	return s.Input == RankAppend && s.Function == RowNumber && s.From == 1 && s.To >= 1 && s.To <= topNPlaces && s.ToColumn < 0 && len(s.Order) > 0
}

// TopN passes on the few first rows of each partition of an input that is only added to,
// with or without their numbers.
//
// The rows of a partition stay in places of its entry, and their words of the order stand
// next to each other by number. A row that is behind the last one, as most are, is turned
// away by one comparison of words; another takes the place of the one that it pushes out.
type TopN struct {
	spec   RankSpec
	places int
	all    []int // the columns of Types
	layout rowkey.Layout
	enc    *rowkey.Encoder
	order  *wordOrder
	row    storedRow // the columns that are not of the partition
	table  *state.Values
	rt     *exec.Runtime
	expiry *expiry // nil: rows are kept for ever

	slots      []state.Slot
	better     []int32 // rows of a batch that may be among the first
	betterIn   []state.Slot
	fresh      []int32
	first      []state.Slot
	rows       []int32      // those that are
	rowsIn     []state.Slot // their places
	out        []state.Slot // places of rows that they push out
	before     topNBefore
	outImages  images    // of the rows that were pushed out in this epoch
	outRow     storedRow // row, as outImages has it
	at         []state.Slot
	part       []int32
	numbers    []int64
	was, is    []int32
	change     netChange
	partition  []int // columns of the layout
	savedCount int32
}

// The columns of an entry of TopN.table that have one value, before the deadline of
// retention.
const (
	colTopCount = 0 // number of rows
	// colTopLimit is the complement of the greatest word that a row may have which can be
	// among the first: that of a partition with room is any.
	colTopLimit = 1
)

// The columns with a place for each row follow from lists on, that of the key if the
// order has any, then those of the row.
const (
	listWord  = 0 // by number: the word of the order
	listPlace = 1 // by number: the place of the row, and its class
	listKey   = 2 // by place: the key of the order
)

const (
	placeMask  = topNPlaces - 1
	classShift = 4
)

// topNBefore is what the partitions of an epoch were when it first touched them, by
// ordinal.
type topNBefore struct {
	count []int8
	place []int8   // by number: the place of the row
	image []int32  // by place: the image of the row there, plus one, if it was pushed out
	came  []uint16 // the places whose row came in this epoch
}

func (t *topNBefore) reset() {
	t.count, t.place, t.image, t.came = t.count[:0], t.place[:0], t.image[:0], t.came[:0]
}

// NewTopN returns a TopN of a spec with Few.
func NewTopN(spec RankSpec) *TopN {
	t := &TopN{spec: spec, places: int(spec.To), order: newWordOrder(spec.Types, spec.Order)}
	t.layout = keyLayout(spec.Types, spec.Partition, spec.Spread)
	t.enc = rowkey.NewEncoder(t.layout)
	keys := len(spec.Partition)
	if spec.Number {
		keys++
	}
	for c, typ := range spec.Types {
		t.all = append(t.all, c)
		if p := slices.Index(spec.Partition, c); p >= 0 {
			t.change.order = append(t.change.order, p)
			continue
		}
		t.change.order = append(t.change.order, keys+len(t.row.from))
		t.row.add(c, typ)
	}
	if spec.Number {
		t.change.order = append(t.change.order, keys-1)
	}
	t.partition = t.all[:len(spec.Partition)]
	t.row.layOut(len(t.columns()) + len(t.lists()))
	t.outRow = t.row
	t.outRow.layOut(0)
	for i, k := range t.row.kinds() {
		t.outImages.cols = append(t.outImages.cols, newSavedColumn(t.row.at+i, k))
	}
	if spec.Retention.Set() {
		t.expiry = newExpiry(spec.Retention, t.layout, colTopLimit+1)
	}
	return t
}

// columns are those of an entry with one value.
func (t *TopN) columns() []vector.Kind {
	cols := []vector.Kind{vector.Int8, vector.Int64}
	if t.spec.Retention.Set() {
		cols = append(cols, vector.Int64)
	}
	return cols
}

// lists are those with a place for each row, but for the row itself.
func (t *TopN) lists() []vector.Kind {
	lists := []vector.Kind{vector.Int64, vector.Int8}
	if !t.order.alone {
		lists = append(lists, vector.Bytes)
	}
	return lists
}

// Open finds the table.
func (t *TopN) Open(_ context.Context, rt *exec.Runtime) error {
	t.rt = rt
	t.table = rt.State.Lists("first", t.layout, t.columns(), append(t.lists(), t.row.kinds()...), t.places)
	if t.expiry != nil {
		t.expiry.open(rt, "expiry")
	}
	return nil
}

// Process keeps the rows of b that are among the first of their partitions.
func (t *TopN) Process(_ int, b *vector.Batch, _ exec.Output) error {
	if t.expiry.late() {
		if err := t.expiry.drop(t.table); err != nil {
			return err
		}
	}
	if _, some := b.Sel(); some {
		b = b.Dense(t.rt.Pool)
		defer b.Release()
	}
	t.slots = resize(t.slots, b.Len())
	if err := t.table.Resolve(t.enc.Encode(b, t.spec.Partition), true, t.slots); err != nil {
		return err
	}
	if t.expiry != nil { // a row keeps its partition, whether it is among the first or not
		t.hold(t.slots)
	}
	words := t.order.read(b)
	t.choose(words)
	if len(t.better) == 0 {
		return nil
	}
	t.betterIn = gather(t.betterIn, t.slots, t.better)
	t.hold(t.betterIn)
	t.place(words)
	t.outImages.save(t.table, t.out)
	t.row.store(t.table, t.rowsIn, b, t.rows)
	return nil
}

// choose lists the rows whose words are not behind those that are kept.
func (t *TopN) choose(words []uint64) {
	limit := state.Col[int64](t.table, colTopLimit)
	t.better = resize(t.better, len(words))
	better, n := t.better, 0
	slots := t.slots[:len(words)]
	for i, w := range words {
		better[n] = int32(i)
		if w <= ^uint64(limit[slots[i]]) {
			n++
		}
	}
	t.better = better[:n]
}

// hold notes what partitions were before this epoch.
func (t *TopN) hold(slots []state.Slot) {
	t.fresh = t.table.Hold(slots, t.fresh[:0])
	count, place := state.Col[int8](t.table, colTopCount), state.Col[int8](t.table, t.list(listPlace))
	n, b := t.places, &t.before
	for _, i := range t.fresh {
		s := int(slots[i])
		b.count = append(b.count, count[s])
		b.place = append(b.place, place[s*n:s*n+n]...)
		b.came = append(b.came, 0)
	}
	had := len(b.image)
	b.image = slices.Grow(b.image, len(b.place)-had)[:len(b.place)]
	clear(b.image[had:])
}

// list is the number of a column with places.
func (t *TopN) list(i int) int {
	if t.expiry != nil {
		i++
	}
	return colTopLimit + 1 + i
}

// place finds the rows that are among the first, each in turn, and the places that they
// get.
func (t *TopN) place(words []uint64) {
	count, limit := state.Col[int8](t.table, colTopCount), state.Col[int64](t.table, colTopLimit)
	allWords, allPlaces := state.Col[int64](t.table, t.list(listWord)), state.Col[int8](t.table, t.list(listPlace))
	t.rows, t.rowsIn, t.out, t.first = t.rows[:0], t.rowsIn[:0], t.out[:0], t.first[:0]
	n, total := t.places, t.order.total()
	for k, i := range t.better {
		s := t.betterIn[k]
		from := int(s) * n
		byNumber, places := allWords[from:from+n], allPlaces[from:from+n]
		w, number := words[i], int(count[s])
		for number > 0 {
			last := uint64(byNumber[number-1])
			if w > last || w == last && (total || !t.ahead(int(i), s, places[number-1])) {
				break
			}
			number--
		}
		if number == n {
			continue
		}
		have := int(count[s])
		p := int8(have)
		if have < n {
			have++
			count[s] = int8(have)
		} else {
			p = places[n-1] & placeMask
		}
		t.enter(s, p)
		copy(byNumber[number+1:have], byNumber[number:])
		copy(places[number+1:have], places[number:])
		byNumber[number], places[number] = int64(w), p|int8(t.order.class(int(i)))<<classShift
		if have == n {
			limit[s] = t.limit(uint64(byNumber[n-1]))
		}
		t.rows, t.rowsIn, t.first = append(t.rows, i), append(t.rowsIn, state.Slot(from)+state.Slot(p)), append(t.first, s)
		if !t.order.alone {
			t.table.SetBytes(t.list(listKey), state.Slot(from)+state.Slot(p), t.order.key(int(i)))
		}
	}
	t.table.Dirty(t.first)
}

// ahead reports whether row i comes before the one at a place, which has the same word.
func (t *TopN) ahead(i int, s state.Slot, place int8) bool {
	if t.order.alone {
		return t.order.before(i, uint8(place>>classShift), nil)
	}
	return t.order.before(i, 0, t.table.Bytes(t.list(listKey), s*state.Slot(t.places)+state.Slot(place&placeMask)))
}

// limit is what colTopLimit has of a partition whose last row has a word. Rows with that
// word come too late, if it says all.
func (t *TopN) limit(last uint64) int64 {
	if t.order.total() && last > 0 {
		last--
	}
	return int64(^last)
}

// enter notes that a row comes to a place. The row that was there when the epoch began,
// if any, is to be remembered.
func (t *TopN) enter(s state.Slot, place int8) {
	o := int(t.table.Ordinal(s))
	b, bit := &t.before, uint16(1)<<place
	if b.came[o]&bit == 0 && place < b.count[o] {
		t.out = append(t.out, s*state.Slot(t.places)+state.Slot(place))
		t.savedCount++
		b.image[o*t.places+int(place)] = t.savedCount
	}
	b.came[o] |= bit
}

// Advance passes the watermark on.
func (t *TopN) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }

// End does nothing.
func (t *TopN) End(int, exec.Output) error { return nil }

// Flush publishes what changed among the first rows, and forgets partitions to which no
// row came for long.
func (t *TopN) Flush(out exec.Output) error {
	if err := t.publish(out); err != nil {
		return err
	}
	return t.expiry.settle(t.table)
}

// publish publishes what changed in partitions.
func (t *TopN) publish(out exec.Output) error {
	held := t.table.Held()
	if len(held) == 0 {
		return nil
	}
	keys, err := t.table.Keys(t.rt.Pool, held)
	if err != nil {
		return err
	}
	defer releaseAll(keys)
	defer func() {
		t.change.reset()
		t.outImages.reset()
		t.before.reset()
		t.savedCount = 0
	}()
	t.part, t.numbers, t.was, t.is, t.at = t.part[:0], t.numbers[:0], t.was[:0], t.is[:0], t.at[:0]
	count, places := state.Col[int8](t.table, colTopCount), state.Col[int8](t.table, t.list(listPlace))
	for o, s := range held {
		if t.before.came[o] == 0 {
			continue
		}
		from := int(s) * t.places
		now := places[from : from+int(count[s])]
		if t.spec.Number || t.spec.InPlace {
			t.compareNumbers(int32(o), from, now)
		} else {
			t.compareRows(int32(o), from, now)
		}
	}
	n := len(t.part)
	if n == 0 {
		return nil
	}
	p := t.rt.Pool
	t.outImages.save(t.table, t.at)
	c := &t.change
	for _, k := range keys {
		c.keys = append(c.keys, k.Take(p, t.part))
	}
	if t.spec.Number {
		c.keys = append(c.keys, vector.Of(p, t.numbers...))
	}
	c.live = resize(c.live, 2*n)
	both := append(t.was, t.is...)
	for i, image := range both {
		c.live[i] = image >= 0
		both[i] = max(image, 0)
	}
	t.was = both
	for _, v := range t.outRow.columns(p, &t.outImages) {
		c.cols = append(c.cols, v.Take(p, both))
		v.Release()
	}
	return c.publish(out, p, !t.spec.OmitBefore)
}

// entry is a row that was, and one that is: images of them, or -1.
func (t *TopN) entry(part int32, number int, was, is int32) {
	t.part, t.numbers = append(t.part, part), append(t.numbers, int64(number)+1)
	t.was, t.is = append(t.was, was), append(t.is, is)
}

// image is that of the row at a place, which is not taken yet.
func (t *TopN) image(from int, place int8) int32 {
	t.at = append(t.at, state.Slot(from)+state.Slot(place&placeMask))
	return t.savedCount + int32(len(t.at)) - 1
}

// compareNumbers compares the rows that had and have a number.
func (t *TopN) compareNumbers(part int32, from int, now []int8) {
	b, first := &t.before, int(part)*t.places
	for number := range max(int(b.count[part]), len(now)) {
		was, is := int32(-1), int32(-1)
		if number < int(b.count[part]) {
			place := b.place[first+number] & placeMask
			image := b.image[first+int(place)] - 1
			if image < 0 && number < len(now) && now[number]&placeMask == place {
				continue
			}
			if was = image; image < 0 {
				was = t.image(from, place)
			}
		}
		if number < len(now) {
			is = t.image(from, now[number])
		}
		t.entry(part, number, was, is)
	}
}

// compareRows finds the rows that were pushed out and those that came.
func (t *TopN) compareRows(part int32, from int, now []int8) {
	b, first := &t.before, int(part)*t.places
	for number := range int(b.count[part]) {
		if image := b.image[first+int(b.place[first+number]&placeMask)] - 1; image >= 0 {
			t.entry(part, number, image, -1)
		}
	}
	for number, place := range now {
		if b.came[part]>>(place&placeMask)&1 != 0 {
			t.entry(part, number, -1, t.image(from, place))
		}
	}
}

// Close does nothing but for what was not looked at: state belongs to the task.
func (t *TopN) Close() error {
	t.expiry.close()
	return nil
}
