package state

import (
	"slices"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Slices is a table of Values for each of some times, such as the ends of windows.
// A slice that is done is dropped as a whole, in memory and on disk, at a cost that
// does not depend on its size.
type Slices struct {
	name   string
	layout rowkey.Layout
	kinds  []vector.Kind
	opt    Options
	evict  func() *evictor

	slices map[int64]*Values
	recent *Values   // the last that was asked for: batch after batch asks for the same
	times  []int64   // of the slices, ascending, but for
	late   []int64   // those made since, behind which there was one
	ended  []*Values // dropped in this call, only for EvictAll
	spare  []*Values // dropped, for their memory
	sum    figures   // of the slices, as they were counted last

	// There may be very many, and an epoch costs those that it uses. Those of a list are
	// asked for in this call, in this epoch, since the last copy, and in copies of which it
	// is not known that they are committed.
	inCall, inEpoch, changed, flying sliceList
	used                             *usedSlices
	calls, epochs                    bool // used has it

	disk *disk // Options.DB
	err  error
}

func newSlices(name string, key rowkey.Layout, kinds []vector.Kind, s *Store) *Slices {
	return &Slices{
		name: name, layout: key, kinds: kinds, opt: s.opt, evict: s.evictor, used: &s.used, slices: map[int64]*Values{},
		inCall: sliceList{number: 0}, inEpoch: sliceList{number: 1}, changed: sliceList{number: 2}, flying: sliceList{number: 3},
	}
}

// Times are those that have a slice, ascending. They are valid until the next Slice
// with create or Drop.
func (t *Slices) Times() []int64 {
	t.order()
	return t.times
}

// order takes what is late into the times.
func (t *Slices) order() {
	if len(t.late) == 0 {
		return
	}
	slices.Sort(t.late)
	from, late := len(t.times)-1, len(t.late)-1
	t.times = append(t.times, t.late...)
	for to := len(t.times) - 1; late >= 0; to-- {
		if from >= 0 && t.times[from] > t.late[late] {
			t.times[to] = t.times[from]
			from--
			continue
		}
		t.times[to] = t.late[late]
		late--
	}
	t.late = t.late[:0]
}

// Slice is the slice of a time. Without one it is made, or, without create, nil.
func (t *Slices) Slice(at int64, create bool) (*Values, error) {
	if t.err != nil {
		return nil, t.err
	}
	v := t.recent
	if v == nil || v.time != at {
		v = t.slices[at]
	}
	if v == nil && create {
		var err error
		if v, err = t.make(at, groupCounts{}); err != nil {
			return nil, err
		}
	}
	if v == nil {
		return nil, nil
	}
	t.recent = v
	if t.inCall.add(v) {
		t.use()
	}
	return v, nil
}

// use notes that the call uses t.
func (t *Slices) use() {
	if !t.calls {
		t.calls = true
		t.used.inCall = append(t.used.inCall, t)
	}
}

func (t *Slices) make(at int64, stored groupCounts) (*Values, error) {
	v := newValues(t.name, t.layout, t.kinds, t.opt)
	v.evict = t.evict()
	if v.evict != nil {
		v.evict.tier = memoryTier{} // slices have the same name
	}
	if t.disk != nil {
		d := *t.disk // changes are shared
		d.time = appendTime(nil, at)
		d.begin(stored)
		if err := v.attach(&d); err != nil {
			return nil, err
		}
		t.changed.add(v)
	}
	v.time = at
	t.slices[at] = v
	t.count(v)
	if n := len(t.times); n == 0 || t.times[n-1] < at { // as nearly always
		t.times = append(t.times, at)
	} else {
		t.late = append(t.late, at)
	}
	return v, nil
}

// Drop removes the slice of a time, whose memory is given to others at once: a call may
// make and drop any number.
func (t *Slices) Drop(at int64) {
	v := t.slices[at]
	if v == nil {
		return
	}
	delete(t.slices, at)
	t.order()
	if at == t.times[0] { // as nearly always: the others stay where they are
		t.times = t.times[1:]
	} else {
		i, _ := slices.BinarySearch(t.times, at)
		t.times = slices.Delete(t.times, i, i+1)
	}
	if t.recent == v {
		t.recent = nil
	}
	for _, l := range []*sliceList{&t.inCall, &t.inEpoch, &t.changed, &t.flying} {
		l.remove(v)
	}
	t.sum = t.sum.minus(v.counted)
	t.deleteStored(v)
	if v.evict != nil { // which looks at what the call did with it
		t.use()
		t.ended = append(t.ended, v)
		return
	}
	t.keep(v)
}

// deleteStored deletes a slice in the database.
func (t *Slices) deleteStored(v *Values) {
	if t.disk == nil || !v.disk.copies {
		return
	}
	for g := t.disk.from; g < t.disk.to; g++ {
		if v.disk.touched.has(g) {
			t.disk.changes.deleteSpan(v.disk.groupSpan(uint8(g)))
		}
	}
	v.disk.counts, v.disk.moved = groupCounts{}, true
	v.disk.tell(t.disk.changes.part)
}

// Len is the number of entries, in memory or not.
func (t *Slices) Len() int { return int(t.entries()) }

func (t *Slices) endCall() error {
	t.calls = false
	for _, v := range t.inCall.all {
		if err := v.endCall(); err != nil {
			return err
		}
		t.inEpoch.add(v)
	}
	if t.inCall.clear(); len(t.inEpoch.all) > 0 && !t.epochs {
		t.epochs = true
		t.used.inEpoch = append(t.used.inEpoch, t)
	}
	for _, v := range t.ended {
		if err := v.endCall(); err != nil {
			return err
		}
	}
	t.ended = t.ended[:0]
	return nil
}

func (t *Slices) endEpoch() error {
	t.epochs = false
	for _, v := range t.inEpoch.all {
		if err := v.endEpoch(); err != nil {
			return err
		}
		if t.count(v); t.disk != nil {
			t.changed.add(v)
		}
	}
	t.inEpoch.clear()
	return nil
}

func (t *Slices) describe() string {
	return "slices " + describeLayout(t.layout) + " " + describeColumns(t.kinds)
}

func (t *Slices) fail(err error) { t.err = err }

func (t *Slices) class() class { return timed }

// attach finds the slices that the database has.
func (t *Slices) attach(d *disk) error {
	t.disk = d
	for time, counts := range d.db.counts(d.table) {
		if counts.sum(d.from, d.to) == 0 {
			continue
		}
		if len(time) != timeBytes {
			return corrupt(t.name, errCorrupt)
		}
		if _, err := t.make(timeOf([]byte(time)), counts); err != nil {
			return err
		}
	}
	return nil
}

func (t *Slices) copyTo(p *Part) error {
	for _, v := range t.changed.all {
		if err := v.copyEntries(); err != nil {
			return err
		}
		v.disk.tell(t.disk.changes.part)
		t.count(v)
		t.flying.add(v)
	}
	t.changed.clear()
	p.tables = append(p.tables, t.disk.handOver())
	return nil
}

func (t *Slices) settled() {
	for _, v := range t.flying.all {
		v.settled()
	}
	t.flying.clear()
}

// usedSlices are the tables of a store of which slices were asked for or dropped in this call,
// and in this epoch: there may be many, and a call uses one.
type usedSlices struct{ inCall, inEpoch []*Slices }

func (u *usedSlices) endCall() error {
	for _, t := range u.inCall {
		if err := t.endCall(); err != nil {
			return err
		}
	}
	u.inCall = u.inCall[:0]
	return nil
}

func (u *usedSlices) endEpoch() error {
	if err := u.endCall(); err != nil {
		return err
	}
	for _, t := range u.inEpoch {
		if err := t.endEpoch(); err != nil {
			return err
		}
	}
	u.inEpoch = u.inEpoch[:0]
	return nil
}
