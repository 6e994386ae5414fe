package op

import (
	"bytes"

	"github.com/weirdb/weir/vector/rowkey"
)

// grouper numbers the distinct keys of a batch in the order in which they come.
type grouper struct {
	ids   []int32 // number of each row's key
	count int     // number of distinct keys

	table []int32 // first row with the key, plus 1; open addressing
}

// group numbers the given keys.
func (g *grouper) group(keys *rowkey.Keys) {
	n, size := keys.Len(), 16
	for size < 2*n {
		size *= 2
	}
	g.ids, g.table, g.count = resize(g.ids, n), resize(g.table, size), 0
	clear(g.table)
	hash, mask := keys.Hash(), uint64(size-1)
	words, nulls, packed := keys.Packed()
	for i, h := range hash {
		for at := h & mask; ; at = (at + 1) & mask {
			f := g.table[at] - 1
			if f < 0 {
				g.table[at], g.ids[i] = int32(i)+1, int32(g.count)
				g.count++
				break
			}
			if hash[f] != h {
				continue
			}
			if packed && words[f] == words[i] && (nulls == nil || nulls[f] == nulls[i]) || !packed && bytes.Equal(keys.Bytes(int(f)), keys.Bytes(i)) {
				g.ids[i] = g.ids[f]
				break
			}
		}
	}
}
