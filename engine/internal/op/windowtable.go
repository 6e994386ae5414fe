package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// WindowTableSpec says what a WindowTable passes on.
type WindowTableSpec struct {
	Types   []sqltype.Type // of the input
	Window  WindowSpec     // with a time column
	Forward []int          // input columns, before those of the window
	Hidden  bool           // Window.Watermark is passed on, as the last column
}

// WindowTable is TUMBLE, HOP and CUMULATE: it passes a row on once for each window that
// its time is in. It leaves out rows whose time is NULL.
type WindowTable struct {
	exec.Stateless
	spec WindowTableSpec
	in   windowInput

	rows       []int32
	start, end []int64
}

// NewWindowTable returns a WindowTable.
func NewWindowTable(spec WindowTableSpec) *WindowTable {
	return &WindowTable{spec: spec, in: newWindowInput(spec.Window, spec.Types)}
}

// Open keeps the runtime.
func (w *WindowTable) Open(_ context.Context, rt *exec.Runtime) error {
	w.in.rt = rt
	return nil
}

// Process emits the rows of b with their windows.
func (w *WindowTable) Process(_ int, b *vector.Batch, out exec.Output) error {
	if _, some := b.Sel(); some {
		b = b.Dense(w.in.rt.Pool)
		defer b.Release()
	}
	times, null := w.in.local(b), b.Col(w.spec.Window.Time)
	for i, t := range times {
		if null.IsNull(i) {
			continue
		}
		for s, ok := w.in.Assigner.First(t); ok; s, ok = w.in.Assigner.Next(s, t) {
			w.rows, w.start, w.end = append(w.rows, int32(i)), append(w.start, s.Start), append(w.end, s.End)
		}
		if len(w.rows) >= vector.Target {
			if err := w.emit(b, out); err != nil {
				return err
			}
		}
	}
	return w.emit(b, out)
}

func (w *WindowTable) emit(b *vector.Batch, out exec.Output) error {
	if len(w.rows) == 0 {
		return nil
	}
	defer func() { w.rows, w.start, w.end = w.rows[:0], w.start[:0], w.end[:0] }()
	p := w.in.rt.Pool
	all := len(w.rows) == b.Len() && w.in.Assigner.Step == 0
	take := func(v *vector.Vector) *vector.Vector {
		if all { // every row, once
			return v.Retain()
		}
		return v.Take(p, w.rows)
	}
	var cols []*vector.Vector
	for _, c := range w.spec.Forward {
		cols = append(cols, take(b.Col(c)))
	}
	cols = append(cols, w.in.columns(p, w.start, w.end)...)
	if w.spec.Hidden {
		cols = append(cols, take(b.Col(w.spec.Window.Watermark)))
	}
	kinds := b.KindVector()
	if kinds != nil {
		kinds = take(kinds)
	}
	wide := vector.NewBatch(len(w.rows), cols, kinds)
	defer wide.Release()
	return out.Emit(wide)
}
