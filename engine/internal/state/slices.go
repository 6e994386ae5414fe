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
	times  []int64   // of the slices, ascending
	ended  []*Values // dropped in this call
	// Those asked for in this call, and in this epoch: a call costs what it uses.
	inCall, inEpoch []*Values
	disk            *disk // Options.DB
	err             error
}

func newSlices(name string, key rowkey.Layout, kinds []vector.Kind, s *Store) *Slices {
	return &Slices{name: name, layout: key, kinds: kinds, opt: s.opt, evict: s.evictor, slices: map[int64]*Values{}}
}

// Times are those that have a slice, ascending. They are valid until the next Slice
// with create or Drop.
func (t *Slices) Times() []int64 { return t.times }

// Slice is the slice of a time. Without one it is made, or, without create, nil.
func (t *Slices) Slice(at int64, create bool) (*Values, error) {
	if t.err != nil {
		return nil, t.err
	}
	v := t.slices[at]
	if v == nil && create {
		var err error
		if v, err = t.make(at, groupCounts{}); err != nil {
			return nil, err
		}
	}
	if v != nil && !v.inCall {
		v.inCall = true
		t.inCall = append(t.inCall, v)
	}
	return v, nil
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
	i, _ := slices.BinarySearch(t.times, at)
	t.times = slices.Delete(t.times, i, i+1)
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
			t.inEpoch = append(t.inEpoch, v)
		}
	}
	t.inCall = t.inCall[:0]
	for _, v := range t.ended {
		if err := v.endCall(); err != nil {
			return err
		}
	}
	t.ended = t.ended[:0]
	return nil
}

func (t *Slices) endEpoch() error {
	if err := t.endCall(); err != nil {
		return err
	}
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
