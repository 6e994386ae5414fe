package op

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/vector"
)

// NotNull refuses rows that have NULL in a column which the sink's table declares
// NOT NULL. Rows that are taken away may have it: they were refused before.
type NotNull struct {
	exec.Stateless
	table string
	cols  []int
	names []string
}

// NewNotNull returns a NotNull for the given columns of a table.
func NewNotNull(table string, cols []int, names []string) *NotNull {
	return &NotNull{table: table, cols: cols, names: names}
}

// Process emits b, or returns the first row that may not be written as an error.
func (n *NotNull) Process(_ int, b *vector.Batch, out exec.Output) error {
	for c, col := range n.cols {
		v := b.Col(col)
		if v.Valid() == nil {
			continue
		}
		for i := range b.Len() {
			if r := b.Row(i); v.IsNull(r) && b.Kind(r).Adds() {
				return errs.New(errs.Data, errs.Position{}, "column %q of table %q is NOT NULL, and the query gave NULL", n.names[c], n.table).
					WithHint("give it another value with COALESCE(%s, ...) or leave such rows out with WHERE %s IS NOT NULL",
						n.names[c], n.names[c])
			}
		}
	}
	return out.Emit(b)
}
