package op

import (
	"slices"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector/rowkey"
)

// keyLayout is the layout of a key of some columns of an input. Spread are the columns
// by whose hash its rows are spread over shards, in that order, some or all of the key's;
// nil when one shard has them all. So the entries of a table are where the rows come that
// look for them, also after a restart on another number of shards.
func keyLayout(types []sqltype.Type, cols, spread []int) rowkey.Layout {
	var l rowkey.Layout
	for _, c := range cols {
		l.Kinds = append(l.Kinds, types[c].Kind())
	}
	if spread == nil {
		return l
	}
	group := make([]int, len(spread))
	for i, c := range spread {
		at := slices.Index(cols, c)
		if at < 0 {
			panic("op: rows are spread by a column that is not in the key of the state")
		}
		// One that is there several times equals several columns of the other side of a join,
		// by all of which that is spread.
		for _, before := range spread[:i] {
			if next := slices.Index(cols[at+1:], c); before == c && next >= 0 {
				at += next + 1
			}
		}
		group[i] = at
	}
	return l.GroupedBy(group)
}
