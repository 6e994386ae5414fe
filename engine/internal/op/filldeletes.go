package op

import (
	"context"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// FillDeletes gives the -D of a query that have a key only values in columns that are
// NOT NULL: -1 (of a DECIMAL 0), FALSE, the empty text, the beginning of time. They say
// nothing, but whoever writes rows may rely on there being no NULL.
type FillDeletes struct {
	exec.Stateless
	types []sqltype.Type // of the columns; those that are NOT NULL are filled
	rt    *exec.Runtime
}

// NewFillDeletes returns a FillDeletes of rows with columns of the given types.
func NewFillDeletes(types []sqltype.Type) *FillDeletes { return &FillDeletes{types: types} }

// Open keeps the runtime.
func (f *FillDeletes) Open(_ context.Context, rt *exec.Runtime) error {
	f.rt = rt
	return nil
}

// Process emits b with its -D filled.
func (f *FillDeletes) Process(_ int, b *vector.Batch, out exec.Output) error {
	if !slices.Contains(b.Kinds(), vector.Delete) {
		return out.Emit(b)
	}
	dense := b.Dense(f.rt.Pool)
	defer dense.Release()
	cols := make([]*vector.Vector, len(f.types))
	for i, t := range f.types {
		cols[i] = f.filled(dense.Col(i), t, dense.Kinds())
	}
	filled := vector.NewBatch(dense.Len(), cols, dense.KindVector().Retain())
	defer filled.Release()
	return out.Emit(filled)
}

func (f *FillDeletes) filled(v *vector.Vector, t sqltype.Type, kinds []vector.RowKind) *vector.Vector {
	if !t.NotNull || v.Valid() == nil {
		return v.Retain()
	}
	out := vector.NewColumnBuilder(f.rt.Pool, v.Kind())
	for i, k := range kinds {
		if k == vector.Delete && v.IsNull(i) {
			appendFiller(out, t)
		} else {
			out.AppendFrom(v, i)
		}
	}
	return out.Finish()
}

// appendFiller appends the value that stands for none in a column of type t.
func appendFiller(c *vector.ColumnBuilder, t sqltype.Type) {
	minus := int64(-1)
	if !t.IsNumeric() {
		minus = 0
	}
	switch c.Kind() {
	case vector.Bool:
		vector.Append(c, false)
	case vector.Int8:
		vector.Append(c, int8(minus))
	case vector.Int16:
		vector.Append(c, int16(minus))
	case vector.Int32:
		vector.Append(c, int32(minus))
	case vector.Int64:
		vector.Append(c, minus)
	case vector.Float32:
		vector.Append(c, float32(minus))
	case vector.Float64:
		vector.Append(c, float64(minus))
	case vector.Decimal:
		vector.Append(c, vector.Dec{}) // 1 may be out of range
	case vector.String, vector.Bytes:
		c.AppendString("")
	default:
		for i, f := range t.Fields { // of a ROW; other nested values are empty
			if f.Type.NotNull {
				appendFiller(c.Child(i), f.Type)
			} else {
				c.Child(i).AppendNull()
			}
		}
		c.EndValue()
	}
}
