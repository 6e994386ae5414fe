package vector_test

import (
	"fmt"

	"github.com/weirdb/weir/vector"
)

// A batch is built row by row, narrowed by a selection, and kept.
func Example() {
	pool := vector.NewPool()
	b := vector.NewBuilder(pool, []vector.Kind{vector.Int64, vector.String})
	vector.Append(b.Col(0), int64(1))
	b.Col(1).AppendString("apple")
	b.EndRow(vector.Insert)
	vector.Append(b.Col(0), int64(2))
	b.Col(1).AppendNull()
	b.EndRow(vector.Delete)
	batch := b.Finish()
	defer batch.Release()

	selected := batch.Select(vector.Of(pool, int32(1)))
	kept := selected.Keep(pool)
	selected.Release()
	defer kept.Release()

	fmt.Println(batch.Len(), kept.Len(), kept.Kind(0), vector.Values[int64](kept.Col(0))[0], kept.Col(1).IsNull(0))
	// Output: 2 1 -D 2 true
}
