package op

import (
	"context"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// NotNull refuses rows that have NULL in a column which the sink's table declares
// NOT NULL, or drops them. Rows that are taken away may have it: they were refused
// before, or are known by their key. Those that were dropped are dropped again.
type NotNull struct {
	exec.Stateless
	spec NotNullSpec
	rt   *exec.Runtime
}

// NotNullSpec says where a table has no NULL.
type NotNullSpec struct {
	Table   string
	Columns []int
	Names   []string // of Columns
	Rule    NullRule
	// Nested are columns of nested types, in which fields of rows are checked, and
	// with Collections elements, keys and values too.
	Nested      []NestedColumn
	Collections bool
}

// NestedColumn is a column of type ROW, ARRAY, MULTISET or MAP.
type NestedColumn struct {
	Column int
	Name   string
	Type   sqltype.Type
}

// NullRule says what becomes of rows with NULL where there must be none.
type NullRule uint8

// The rules.
const (
	RefuseNull  NullRule = iota // an error
	DropNull                    // the row is dropped, and when it is taken away again
	DropNewNull                 // the same, but a removal passes, which needs its key only
)

// NewNotNull returns a NotNull.
func NewNotNull(spec NotNullSpec) *NotNull { return &NotNull{spec: spec} }

// Open keeps the runtime.
func (n *NotNull) Open(_ context.Context, rt *exec.Runtime) error {
	n.rt = rt
	return nil
}

// Process emits the rows of b that may be written, or returns the first that may not
// as an error.
func (n *NotNull) Process(_ int, b *vector.Batch, out exec.Output) error {
	if n.spec.Rule != RefuseNull {
		return n.drop(b, out)
	}
	for c, col := range n.spec.Columns {
		v := b.Col(col)
		if v.Valid() == nil {
			continue
		}
		for i := range b.Len() {
			if r := b.Row(i); v.IsNull(r) && b.Kind(r).Adds() {
				return errs.New(errs.Data, errs.Position{}, "column %q of table %q is NOT NULL, and the query gave NULL", n.spec.Names[c], n.spec.Table).
					WithHint("give it another value with COALESCE(%s, ...) or leave such rows out with WHERE %s IS NOT NULL",
						n.spec.Names[c], n.spec.Names[c])
			}
		}
	}
	for _, c := range n.spec.Nested {
		for i := range b.Len() {
			if r := b.Row(i); b.Kind(r).Adds() && n.within(c.Type, b.Col(c.Column), r) {
				return errs.New(errs.Data, errs.Position{}, "column %q of table %q is %s, and the query gave NULL inside of it", c.Name, n.spec.Table, c.Type)
			}
		}
	}
	return out.Emit(b)
}

// within reports whether value r of v, of type t, has NULL inside where there must be
// none. A value that is NULL itself has nothing inside.
func (n *NotNull) within(t sqltype.Type, v *vector.Vector, r int) bool {
	if v.IsNull(r) {
		return false
	}
	wrong := func(t sqltype.Type, v *vector.Vector, r int) bool {
		return t.NotNull && v.IsNull(r) || n.within(t, v, r)
	}
	switch t.ID {
	case sqltype.Row:
		for i, f := range t.Fields {
			if wrong(f.Type, v.Child(i), r) {
				return true
			}
		}
	case sqltype.Array, sqltype.Map:
		if !n.spec.Collections {
			return false
		}
		parts := []sqltype.Type{*t.Elem}
		if t.ID == sqltype.Map {
			parts = []sqltype.Type{*t.Key, *t.Elem}
		}
		for at := int(v.Offsets()[r]); at < int(v.Offsets()[r+1]); at++ {
			for i, p := range parts {
				if wrong(p, v.Child(i), at) {
					return true
				}
			}
		}
	}
	return false
}

// drop emits the rows of b that have no NULL.
func (n *NotNull) drop(b *vector.Batch, out exec.Output) error {
	keep := make([]int32, 0, b.Len())
rows:
	for i := range b.Len() {
		r := b.Row(i)
		for _, col := range n.spec.Columns {
			if b.Col(col).IsNull(r) && (n.spec.Rule == DropNull || b.Kind(r) != vector.Delete) {
				continue rows
			}
		}
		for _, c := range n.spec.Nested {
			if (n.spec.Rule == DropNull || b.Kind(r) != vector.Delete) && n.within(c.Type, b.Col(c.Column), r) {
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
