package op

import (
	"context"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// OperationCode is a text that stands for a kind of change.
type OperationCode struct {
	Code string
	Kind vector.RowKind
}

// ToChangelog makes a row of every change: its code, then the columns of the input.
// Changes without a code are dropped.
type ToChangelog struct {
	exec.Stateless
	codes  [4]string
	known  [4]bool
	hidden []bool // by input column: NULL where a row is deleted
	partly bool
	rt     *exec.Runtime
	keep   []int32
}

// NewToChangelog returns a ToChangelog. A deletion shows the columns shown of the
// input, or all when shown is nil.
func NewToChangelog(types []sqltype.Type, codes []OperationCode, shown []int) *ToChangelog {
	t := &ToChangelog{hidden: make([]bool, len(types)), partly: shown != nil}
	for _, c := range codes {
		t.codes[c.Kind], t.known[c.Kind] = c.Code, true
	}
	if t.partly {
		for i := range t.hidden {
			t.hidden[i] = true
		}
		for _, c := range shown {
			t.hidden[c] = false
		}
	}
	return t
}

// Open keeps the runtime.
func (t *ToChangelog) Open(_ context.Context, rt *exec.Runtime) error {
	t.rt = rt
	return nil
}

// Process emits a row for each change of b that has a code.
func (t *ToChangelog) Process(_ int, b *vector.Batch, out exec.Output) error {
	t.keep = t.keep[:0]
	for i := range b.Len() {
		if r := b.Row(i); t.known[b.Kind(r)] {
			t.keep = append(t.keep, int32(r))
		}
	}
	if len(t.keep) == 0 {
		return nil
	}
	code := vector.NewColumnBuilder(t.rt.Pool, vector.String)
	for _, r := range t.keep {
		code.AppendString(t.codes[b.Kind(int(r))])
	}
	cols := []*vector.Vector{code.Finish()}
	for c := range b.Cols() {
		col := b.Col(c).Take(t.rt.Pool, t.keep)
		if t.hidden[c] {
			col = t.hide(b, col)
		}
		cols = append(cols, col)
	}
	part := vector.NewBatch(len(t.keep), cols, nil)
	defer part.Release()
	return out.Emit(part)
}

// hide is col with NULL where the row is a deletion, in place of col.
func (t *ToChangelog) hide(b *vector.Batch, col *vector.Vector) *vector.Vector {
	if b.Kinds() == nil {
		return col
	}
	defer col.Release()
	out := vector.NewColumnBuilder(t.rt.Pool, col.Kind())
	for i, r := range t.keep {
		if b.Kind(int(r)) == vector.Delete {
			out.AppendNull()
		} else {
			out.AppendFrom(col, i)
		}
	}
	return out.Finish()
}

// FromChangelog makes changes of rows that tell them: one column has a code, the
// others are the row.
type FromChangelog struct {
	exec.Stateless
	codes []OperationCode
	code  int
	rt    *exec.Runtime
}

// NewFromChangelog returns a FromChangelog with the codes in a column.
func NewFromChangelog(code int, codes []OperationCode) *FromChangelog {
	return &FromChangelog{code: code, codes: codes}
}

// Open keeps the runtime.
func (f *FromChangelog) Open(_ context.Context, rt *exec.Runtime) error {
	f.rt = rt
	return nil
}

// Process emits the changes that the rows of b tell.
func (f *FromChangelog) Process(_ int, b *vector.Batch, out exec.Output) error {
	if _, some := b.Sel(); some {
		b = b.Dense(f.rt.Pool)
		defer b.Release()
	}
	if b.Len() == 0 {
		return nil
	}
	col := b.Col(f.code)
	kinds := f.rt.Pool.New(vector.Int8, b.Len())
	to := vector.Values[int8](kinds)
	for i := range to {
		k := -1
		if !col.IsNull(i) {
			text := col.Bytes(i)
			for c := range f.codes {
				if string(text) == f.codes[c].Code {
					k = int(f.codes[c].Kind)
					break
				}
			}
		}
		if k < 0 {
			kinds.Release()
			return f.unknown(col, i)
		}
		to[i] = int8(k)
	}
	var cols []*vector.Vector
	for c := range b.Cols() {
		if c != f.code {
			cols = append(cols, b.Col(c).Retain())
		}
	}
	part := vector.NewBatch(b.Len(), cols, kinds)
	defer part.Release()
	return out.Emit(part)
}

// unknown is the error for a code that says nothing.
func (f *FromChangelog) unknown(col *vector.Vector, i int) error {
	e := errs.New(errs.Data, errs.Position{}, "FROM_CHANGELOG: no kind of change has the code %q", col.Text(i))
	if col.IsNull(i) {
		e = errs.New(errs.Data, errs.Position{}, "FROM_CHANGELOG: the code of a change is NULL")
	}
	return e.WithHint("give it a kind in op_mapping, or leave such rows out before")
}
