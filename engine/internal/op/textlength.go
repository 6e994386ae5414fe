package op

import (
	"bytes"
	"context"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// TextColumn is a column of type CHAR, VARCHAR, BINARY or VARBINARY with a length.
type TextColumn struct {
	Column int
	Name   string
	Type   sqltype.Type
}

// TextLength holds the columns of a sink's table to their declared lengths, in
// characters or bytes. It cuts what is too long and fills up what is too short for
// CHAR (with blanks) and BINARY (with zero bytes), or, when it is strict, refuses
// such values. Rows that are taken away are treated alike, so that they are still
// those that were written.
type TextLength struct {
	exec.Stateless
	table  string
	cols   []TextColumn
	strict bool
	rt     *exec.Runtime
	value  []byte
}

// NewTextLength returns a TextLength for the given columns of a table.
func NewTextLength(table string, cols []TextColumn, strict bool) *TextLength {
	return &TextLength{table: table, cols: cols, strict: strict}
}

// Open keeps the runtime.
func (t *TextLength) Open(_ context.Context, rt *exec.Runtime) error {
	t.rt = rt
	return nil
}

// Process emits b with values of the right lengths.
func (t *TextLength) Process(_ int, b *vector.Batch, out exec.Output) error {
	var fitted []*vector.Vector // by column; nil: as it is
	defer func() { releaseAll(fitted) }()
	for _, c := range t.cols {
		ok, err := t.fits(b, c)
		if err != nil {
			return err
		}
		if ok {
			continue
		}
		if fitted == nil {
			if _, some := b.Sel(); some {
				b = b.Dense(t.rt.Pool)
				defer b.Release()
			}
			fitted = make([]*vector.Vector, b.Cols())
		}
		fitted[c.Column] = t.fit(b.Col(c.Column), c.Type)
	}
	if fitted == nil {
		return out.Emit(b)
	}
	cols := make([]*vector.Vector, b.Cols())
	for i := range cols {
		if cols[i] = b.Col(i); fitted[i] != nil {
			cols[i] = fitted[i]
		}
		cols[i].Retain()
	}
	kinds := b.KindVector()
	if kinds != nil {
		kinds.Retain()
	}
	changed := vector.NewBatch(b.Len(), cols, kinds)
	defer changed.Release()
	return out.Emit(changed)
}

// fits reports whether all live values of a column have a length that its type
// allows. When it is strict, one that has not is an error.
func (t *TextLength) fits(b *vector.Batch, c TextColumn) (bool, error) {
	v, fixed := b.Col(c.Column), c.Type.ID == sqltype.Char || c.Type.ID == sqltype.Binary
	for i := range b.Len() {
		r := b.Row(i)
		if v.IsNull(r) {
			continue
		}
		n := lengthOf(v.Bytes(r), c.Type)
		if n == c.Type.Precision || n < c.Type.Precision && !fixed {
			continue
		}
		if !t.strict {
			return false, nil
		}
		unit := "characters"
		if c.Type.IsBinary() {
			unit = "bytes"
		}
		return false, errs.New(errs.Data, errs.Position{}, "column %q of table %q is %s, and the query gave a value of %d %s", c.Name, t.table, c.Type.Optional(), n, unit).
			WithHint("cut it with SUBSTRING, or SET 'table.exec.sink.type-length-enforcer' = 'TRIM_PAD'")
	}
	return true, nil
}

func lengthOf(b []byte, t sqltype.Type) int {
	if t.IsBinary() {
		return len(b)
	}
	return utf8.RuneCount(b)
}

// fit is v with all values cut and filled up to the length of t.
func (t *TextLength) fit(v *vector.Vector, to sqltype.Type) *vector.Vector {
	out := vector.NewColumnBuilder(t.rt.Pool, v.Kind())
	for i := range v.Len() {
		if v.IsNull(i) {
			out.AppendNull()
			continue
		}
		b := v.Bytes(i)
		n := lengthOf(b, to)
		t.value = append(t.value[:0], b[:prefix(b, to)]...)
		switch to.ID {
		case sqltype.Char:
			t.value = append(t.value, bytes.Repeat([]byte{' '}, max(to.Precision-n, 0))...)
		case sqltype.Binary:
			t.value = append(t.value, make([]byte, max(to.Precision-n, 0))...)
		}
		out.AppendBytes(t.value)
	}
	return out.Finish()
}

// prefix is the number of bytes of b that the length of a type allows.
func prefix(b []byte, t sqltype.Type) int {
	if t.IsBinary() {
		return min(len(b), t.Precision)
	}
	at := 0
	for range t.Precision {
		if at == len(b) {
			break
		}
		_, size := utf8.DecodeRune(b[at:])
		at += size
	}
	return at
}
