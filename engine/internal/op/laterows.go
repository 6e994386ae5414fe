package op

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/vector"
)

// refuseLate counts rows of a dense batch that are late, and hands them on at a side
// output: the columns of b but for the hidden one, which may be -1, then the bounds of the
// window that refused the row. Without a window these are nil, and NULL.
func refuseLate(rt *exec.Runtime, side string, b *vector.Batch, hidden int, rows []int32, start, end []int64) error {
	removals := int64(0)
	if kinds := b.Kinds(); kinds != nil {
		for _, r := range rows {
			if !kinds[r].Adds() {
				removals++
			}
		}
	}
	rt.Late(int64(len(rows)), removals)
	var cols []int
	for c := range b.Cols() {
		if c != hidden {
			cols = append(cols, c)
		}
	}
	shown := b.Project(cols)
	defer shown.Release()
	late := shown.Take(rt.Pool, rows)
	defer late.Release()
	some := withColumn(late, bound(rt.Pool, start, len(rows)))
	defer some.Release()
	all := withColumn(some, bound(rt.Pool, end, len(rows)))
	defer all.Release()
	return rt.Side(side).Emit(all)
}

func bound(p *vector.Pool, of []int64, n int) *vector.Vector {
	if of == nil {
		return nullColumn(p, vector.Int64, n)
	}
	return vector.Of(p, of...)
}
