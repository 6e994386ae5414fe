package state

// sliceList is some of the slices of a table. A slice knows its place in each list that it
// is in, so that it is there once, and taken out as fast.
type sliceList struct {
	number int // of the list, below sliceLists
	all    []*Values
}

const sliceLists = 4

// add reports whether v was not in the list before.
func (l *sliceList) add(v *Values) bool {
	if v.listed[l.number] > 0 {
		return false
	}
	l.all = append(l.all, v)
	v.listed[l.number] = int32(len(l.all))
	return true
}

func (l *sliceList) remove(v *Values) {
	place, last := v.listed[l.number], len(l.all)-1
	if place == 0 {
		return
	}
	moved := l.all[last]
	l.all[place-1], moved.listed[l.number] = moved, place
	l.all[last], l.all = nil, l.all[:last]
	v.listed[l.number] = 0
}

func (l *sliceList) clear() {
	for _, v := range l.all {
		v.listed[l.number] = 0
	}
	clear(l.all)
	l.all = l.all[:0]
}
