package state

import (
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Lists makes a Values table of that name whose entries have, after the columns cols,
// columns with so many places each: place p of slot s is at s*places+p in what Col
// returns, and that is what Bytes and SetBytes take for it. A new entry is all zero.
//
// Memory is taken for all places of an entry: it is for lists that are short and mostly
// full, such as the first rows of a group.
func (s *Store) Lists(name string, key rowkey.Layout, cols, lists []vector.Kind, places int) *Values {
	v := newValues(name, key, cols, s.opt)
	v.kinds, v.places = append(v.kinds[:len(cols):len(cols)], lists...), places
	for _, k := range lists {
		if k.Nested() {
			k = vector.Bytes
		}
		v.cols = append(v.cols, &list{column: newColumn(k, s.opt), places: int32(places)})
	}
	v.evict = s.evictor()
	s.register(name, v)
	return v
}

// list is a column with a number of places for each slot. They are next to one another
// in a column of the same kind.
type list struct {
	column
	places int32
	at     []int32
}

// all are the places of slots.
func (l *list) all(slots []int32) []int32 {
	l.at = l.at[:0]
	for _, s := range slots {
		for p := range l.places {
			l.at = append(l.at, s*l.places+p)
		}
	}
	return l.at
}

func (l *list) empty() column { return &list{column: l.column.empty(), places: l.places} }

func (l *list) grow(n int) { l.column.grow(n * int(l.places)) }

func (l *list) zero(slots []int32) { l.column.zero(l.all(slots)) }

func (l *list) poison(slots []int32) { l.column.poison(l.all(slots)) }

func (l *list) intact(slots []int32) bool { return l.column.intact(l.all(slots)) }

func (l *list) save(buf []byte, s int32) []byte {
	for p := range l.places {
		buf = l.column.save(buf, s*l.places+p)
	}
	return buf
}

func (l *list) load(data []byte, s int32) ([]byte, error) {
	var err error
	for p := int32(0); p < l.places && err == nil; p++ {
		data, err = l.column.load(data, s*l.places+p)
	}
	return data, err
}

// place are the places p of slots.
func (l *list) place(p int32, slots []int32) []int32 {
	l.at = resize(l.at, len(slots))
	for i, s := range slots {
		l.at[i] = s*l.places + p
	}
	return l.at
}

func (l *list) forms(all []form) []form {
	for range l.places {
		all = l.column.forms(all)
	}
	return all
}

func (l *list) gather(part *tablePart, slots []int32) {
	for p := range l.places {
		l.column.gather(part, l.place(p, slots))
	}
}
