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
	times  []int64   // of the slices, ascending
	ended  []*Values // dropped in this call
	spare  []*Values // dropped before, for their memory
	// Those asked for in this call, and in this epoch: a call costs what it uses.
	inCall, inEpoch []*Values
	used            *usedSlices
	disk            *disk // Options.DB
	err             error
}

func newSlices(name string, key rowkey.Layout, kinds []vector.Kind, s *Store) *Slices {
	return &Slices{name: name, layout: key, kinds: kinds, opt: s.opt, evict: s.evictor, used: &s.used, slices: map[int64]*Values{}}
}

// Times are those that have a slice, ascending. They are valid until the next Slice
// with create or Drop.
func (t *Slices) Times() []int64 { return t.times }

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
	if t.recent = v; !v.inCall {
		v.inCall = true
		t.use()
		t.inCall = append(t.inCall, v)
	}
	return v, nil
}

// use notes that the call uses t.
func (t *Slices) use() {
	if len(t.inCall)+len(t.ended) == 0 {
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
	}
	v.time = at
	t.slices[at] = v
	if n := len(t.times); n == 0 || t.times[n-1] < at { // as nearly always
		t.times = append(t.times, at)
		return v, nil
	}
	i, _ := slices.BinarySearch(t.times, at)
	t.times = slices.Insert(t.times, i, at)
	return v, nil
}

// Drop removes the slice of a time. It stays readable until the call ends.
func (t *Slices) Drop(at int64) {
	v := t.slices[at]
	if v == nil {
		return
	}
	delete(t.slices, at)
	if at == t.times[0] { // as nearly always: the others stay where they are
		t.times = t.times[1:]
	} else {
		i, _ := slices.BinarySearch(t.times, at)
		t.times = slices.Delete(t.times, i, i+1)
	}
	t.recent = nil
	t.use()
	t.ended = append(t.ended, v)
	if t.disk == nil || !v.disk.copies {
		return
	}
	for g := t.disk.from; g < t.disk.to; g++ {
		if v.disk.touched[g] {
			t.disk.changes.deleteSpan(v.disk.groupSpan(uint8(g)))
		}
	}
	v.disk.counts, v.disk.moved = groupCounts{}, true
	v.disk.tell(t.disk.changes.part)
}

// Len is the number of entries, in memory or not.
func (t *Slices) Len() int { return int(t.entries()) }

func (t *Slices) each(f func(v *Values) error) error {
	for _, at := range t.times {
		if err := f(t.slices[at]); err != nil {
			return err
		}
	}
	return nil
}

func (t *Slices) endCall() error {
	for _, v := range t.inCall {
		if err := v.endCall(); err != nil {
			return err
		}
		if v.inCall = false; !v.inEpoch && t.slices[v.time] == v {
			v.inEpoch = true
			if len(t.inEpoch) == 0 {
				t.used.inEpoch = append(t.used.inEpoch, t)
			}
			t.inEpoch = append(t.inEpoch, v)
		}
	}
	t.inCall = t.inCall[:0]
	for _, v := range t.ended {
		if err := v.endCall(); err != nil {
			return err
		}
		t.keep(v)
	}
	t.ended = t.ended[:0]
	return nil
}

func (t *Slices) endEpoch() error {
	for _, v := range t.inEpoch {
		if v.inEpoch = false; t.slices[v.time] != v {
			continue // dropped
		}
		if err := v.endEpoch(); err != nil {
			return err
		}
	}
	t.inEpoch = t.inEpoch[:0]
	return nil
}

func (t *Slices) bytes() int64 {
	n := int64(0)
	for _, v := range t.slices {
		n += v.bytes()
	}
	for _, v := range t.spare {
		n += v.bytes()
	}
	return n
}

func (t *Slices) entries() int64 {
	n := int64(0)
	for _, v := range t.slices {
		n += v.entries()
	}
	return n
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
	if err := t.each(func(v *Values) error { return v.copyEntries() }); err != nil {
		return err
	}
	for _, at := range t.times {
		t.slices[at].disk.tell(t.disk.changes.part)
	}
	p.tables = append(p.tables, t.disk.handOver())
	return nil
}

func (t *Slices) settled() {
	for _, v := range t.slices {
		v.settled()
	}
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
