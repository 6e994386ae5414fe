package op

import "github.com/weirdb/weir/vector"

// alike is a dense batch in which the hidden column is the same in all rows. A row that is
// kept is found again by the one that takes it away, which came at another watermark.
func (w *windowInput) alike(b *vector.Batch) *vector.Batch {
	cols := make([]*vector.Vector, b.Cols())
	for c := range cols {
		if c == w.Watermark {
			cols[c] = zeros(w.rt.Pool, b.Rows())
		} else {
			cols[c] = b.Col(c).Retain()
		}
	}
	kinds := b.KindVector()
	if kinds != nil {
		kinds = kinds.Retain()
	}
	return vector.NewBatch(b.Rows(), cols, kinds)
}
