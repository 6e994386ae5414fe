package op

import (
	"context"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/vector"
)

// NotNull refuses rows that have NULL in a column which the sink's table declares
// NOT NULL, or drops them. Rows that are taken away may have it: they were refused
// before, or are known by their key. Those that were dropped are dropped again.
type NotNull struct {
	exec.Stateless
	table string
	cols  []int
	names []string
	rule  NullRule
	rt    *exec.Runtime
}

// NullRule says what becomes of rows with NULL where there must be none.
type NullRule uint8

// The rules.
const (
	RefuseNull  NullRule = iota // an error
	DropNull                    // the row is dropped, and when it is taken away again
	DropNewNull                 // the same, but a removal passes, which needs its key only
)

// NewNotNull returns a NotNull for the given columns of a table.
func NewNotNull(table string, cols []int, names []string, rule NullRule) *NotNull {
	return &NotNull{table: table, cols: cols, names: names, rule: rule}
}

// Open keeps the runtime.
func (n *NotNull) Open(_ context.Context, rt *exec.Runtime) error {
	n.rt = rt
	return nil
}

// Process emits the rows of b that may be written, or returns the first that may not
// as an error.
func (n *NotNull) Process(_ int, b *vector.Batch, out exec.Output) error {
	if n.rule != RefuseNull {
		return n.drop(b, out)
	}
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

// drop emits the rows of b that have no NULL.
func (n *NotNull) drop(b *vector.Batch, out exec.Output) error {
	keep := make([]int32, 0, b.Len())
rows:
	for i := range b.Len() {
		r := b.Row(i)
		for _, col := range n.cols {
			if b.Col(col).IsNull(r) && (n.rule == DropNull || b.Kind(r) != vector.Delete) {
				continue rows
			}
		}
		keep = append(keep, int32(r))
	}
	switch len(keep) {
	case b.Len():
		return out.Emit(b)
	case 0:
		return nil
	}
	part := b.Select(vector.Of(n.rt.Pool, keep...))
	defer part.Release()
	return out.Emit(part)
}
