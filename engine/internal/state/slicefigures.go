package state

import "unsafe"

// figures are how much a slice, or all of a table, has.
type figures struct{ entries, bytes, live, unsaved int64 }

func (f figures) plus(g figures) figures {
	return figures{f.entries + g.entries, f.bytes + g.bytes, f.live + g.live, f.unsaved + g.unsaved}
}

func (f figures) minus(g figures) figures {
	return figures{f.entries - g.entries, f.bytes - g.bytes, f.live - g.live, f.unsaved - g.unsaved}
}

// sliceBytes is about what a slice takes beside its entries.
const sliceBytes = int64(unsafe.Sizeof(Values{})) + 256

// count brings the sum up to date with a slice that has changed.
func (t *Slices) count(v *Values) {
	now := figures{entries: v.entries(), bytes: v.bytes() + sliceBytes}
	if t.opt.Memory > 0 {
		now.live, now.unsaved = v.live(), v.unsaved()
	}
	t.sum = t.sum.plus(now).minus(v.counted)
	v.counted = now
}

// figures are those of all slices. Each is counted when an epoch ends that used it.
func (t *Slices) figures() figures {
	for _, l := range []*sliceList{&t.inCall, &t.inEpoch} {
		for _, v := range l.all {
			t.count(v)
		}
	}
	return t.sum
}

func (t *Slices) entries() int64 { return t.figures().entries }

func (t *Slices) bytes() int64 { return t.figures().bytes + t.spareBytes() }

func (t *Slices) live() int64 { return t.figures().live + t.spareBytes() }

func (t *Slices) unsaved() int64 { return t.figures().unsaved }

func (t *Slices) spareBytes() int64 {
	n := int64(0)
	for _, v := range t.spare {
		n += v.bytes()
	}
	return n
}

func (t *Slices) shrink(share float64) {
	t.spare = nil
	for _, v := range t.slices {
		v.shrink(share)
		t.count(v)
	}
}
