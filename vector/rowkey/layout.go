// Package rowkey turns the key columns of a batch into keys that can be hashed,
// compared and stored.
//
// A key has three faces. Its hash routes rows between shards and finds entries
// in state tables. Its packed word, for keys of at most eight bytes, is what
// tables compare. Its canonical bytes sort as the key sorts and are what is
// stored. All three follow the equality of GROUP BY: NULL equals NULL, -0 equals
// 0 and every NaN equals every other.
package rowkey

import (
	"fmt"
	"slices"

	"github.com/weirdb/weir/vector"
)

// Layout says which kinds the columns of a key have and how they are ordered.
// Any column may be NULL. It is fixed when a query is planned; two keys can be
// compared only if their layouts are the same.
//
// Desc and NullsLast change the order of the canonical bytes only, never the
// hash. Each is either nil or has one element per column. By default columns
// ascend and NULL comes first.
//
// Group lists the columns that decide a key's group, in the order in which an exchange
// hashes them; nil: all. Keys that are alike in those columns are in one group, and so
// on one shard, whatever else they have.
type Layout struct {
	Kinds     []vector.Kind
	Desc      []bool
	NullsLast []bool
	Group     []int
}

// GroupedBy is the layout with the given columns in Group.
func (l Layout) GroupedBy(columns []int) Layout {
	l.Group = nil
	for i, c := range columns {
		if i != c || len(columns) < len(l.Kinds) {
			l.Group = slices.Clone(columns)
			break
		}
	}
	return l
}

// With is the layout with further columns at its end, in the group that the key has
// without them. The key without columns has no group of its own to keep.
func (l Layout) With(kinds ...vector.Kind) Layout {
	if l.Group == nil && len(l.Kinds) > 0 {
		for i := range l.Kinds {
			l.Group = append(l.Group, i)
		}
	}
	l.Kinds = append(slices.Clip(l.Kinds), kinds...)
	return l
}

// Packed reports whether keys of this layout fit one word: all columns are of
// fixed width and together at most eight bytes. The key without columns does.
func (l Layout) Packed() bool {
	width := 0
	for _, k := range l.Kinds {
		if k.Width() == 0 {
			return false
		}
		width += k.Width()
	}
	return width <= 8
}

func (l Layout) desc(i int) bool { return l.Desc != nil && l.Desc[i] }

func (l Layout) nullsLast(i int) bool { return l.NullsLast != nil && l.NullsLast[i] }

// tag is the first byte of column i's encoding: it orders NULL against values.
func (l Layout) tag(i int, null bool) byte {
	switch {
	case !null:
		return tagValue
	case l.nullsLast(i):
		return tagNullLast
	}
	return tagNullFirst
}

// fixed is the length of every key's encoding, or false if it varies.
func (l Layout) fixed() (int, bool) {
	n := 0
	for _, k := range l.Kinds {
		if k.Width() == 0 {
			return 0, false
		}
		n += 1 + k.Width()
	}
	return n, true
}

func (l Layout) check() {
	if l.Desc != nil && len(l.Desc) != len(l.Kinds) || l.NullsLast != nil && len(l.NullsLast) != len(l.Kinds) {
		panic("rowkey: a layout's orders do not fit its columns")
	}
	for _, c := range l.Group {
		if c < 0 || c >= len(l.Kinds) {
			panic("rowkey: a layout is grouped by a column that it does not have")
		}
	}
	for _, k := range l.Kinds {
		if k.Width() == 0 && !k.Variable() && !k.Nested() {
			panic(fmt.Sprintf("rowkey: a key column of kind %v", k))
		}
	}
}
