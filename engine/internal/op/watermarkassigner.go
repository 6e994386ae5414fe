package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/vector"
)

// WatermarkAssigner makes event time of rows as they are read: the watermark of a split
// is the most that an expression was on its rows so far. A row on which that is NULL says
// nothing. It passes rows on as they are or, with hidden, with one more column: the
// watermark before the row, in milliseconds.
//
// It stands between a source and the first exchange, because only there it is known
// which split a row comes from. The task takes the watermarks of the splits, the least of
// which goes out with the mark.
type WatermarkAssigner struct {
	exec.Stateless
	eval   *expr.Evaluator // nil: the source says it
	hidden bool
	rt     *exec.Runtime

	// each has the watermarks of splits as this operator knows them: another one may have
	// had the same rows before.
	each map[*exec.Split]exec.Watermark
}

// NewWatermarkAssigner returns an assigner. The expression gives milliseconds: a
// TIMESTAMP or TIMESTAMP_LTZ of a precision up to 3. It may be nil.
func NewWatermarkAssigner(e expr.Expr, hidden bool) (*WatermarkAssigner, error) {
	w := &WatermarkAssigner{hidden: hidden, each: map[*exec.Split]exec.Watermark{}}
	if e == nil {
		return w, nil
	}
	if t := e.Type(); !t.IsTimestamp() || t.UnitDigits() != 3 {
		panic("op: a watermark is a " + t.String())
	}
	var err error
	w.eval, err = expr.Compile(e)
	return w, err
}

// Open opens the functions of the expression.
func (w *WatermarkAssigner) Open(_ context.Context, rt *exec.Runtime) error {
	w.rt = rt
	if w.eval == nil {
		return nil
	}
	return w.eval.Open(rt.Functions)
}

// Process passes b on.
func (w *WatermarkAssigner) Process(_ int, b *vector.Batch, out exec.Output) error {
	split := w.rt.Split()
	if split == nil {
		panic("op: watermarks are assigned to rows of no split")
	}
	if w.eval == nil && !w.hidden {
		return out.Emit(b)
	}
	if _, some := b.Sel(); some {
		b = b.Dense(w.rt.Pool)
		defer b.Release()
	}
	if w.eval == nil {
		before := w.rt.Pool.New(vector.Int64, b.Rows())
		fill(vector.Values[int64](before), int64(split.Watermark()))
		return w.emit(b, before, out)
	}
	w.eval.SetNow(w.rt.Now())
	times, err := w.eval.Eval(w.rt.Pool, b)
	if err != nil {
		return err
	}
	defer times.Release()
	from := w.from(split)
	if !w.hidden {
		w.reach(split, highest(times, from))
		return out.Emit(b)
	}
	before := w.rt.Pool.New(vector.Int64, b.Len())
	w.reach(split, running(vector.Values[int64](before), times, from))
	return w.emit(b, before, out)
}

// from is where event time of a split is, for this operator.
func (w *WatermarkAssigner) from(s *exec.Split) int64 {
	at, ok := w.each[s]
	if !ok {
		at = s.Began()
	}
	return int64(at)
}

func (w *WatermarkAssigner) reach(s *exec.Split, to int64) {
	w.each[s] = exec.Watermark(to)
	s.Advance(exec.Watermark(to))
}

// emit passes b on with a column more, which it takes over.
func (w *WatermarkAssigner) emit(b *vector.Batch, before *vector.Vector, out exec.Output) error {
	wide := withColumn(b, before)
	defer wide.Release()
	return out.Emit(wide)
}

// running writes what is the highest time before each row, and returns the highest of
// all.
func running(before []int64, times *vector.Vector, high int64) int64 {
	vals := vector.Values[int64](times)[:len(before)]
	if valid := times.Valid(); valid != nil {
		for i, t := range vals {
			before[i] = high
			if t > high && valid.Get(i) {
				high = t
			}
		}
		return high
	}
	for i, t := range vals {
		before[i] = high
		high = max(high, t)
	}
	return high
}

// highest is the highest time, at least high.
func highest(times *vector.Vector, high int64) int64 {
	vals := vector.Values[int64](times)[:times.Len()]
	if valid := times.Valid(); valid != nil {
		for i, t := range vals {
			if t > high && valid.Get(i) {
				high = t
			}
		}
		return high
	}
	for _, t := range vals {
		high = max(high, t)
	}
	return high
}

func fill(to []int64, v int64) {
	for i := range to {
		to[i] = v
	}
}

// withColumn is b, which has no selection, with one more column that it takes over.
func withColumn(b *vector.Batch, col *vector.Vector) *vector.Batch {
	cols := make([]*vector.Vector, 0, b.Cols()+1)
	for c := range b.Cols() {
		cols = append(cols, b.Col(c).Retain())
	}
	kinds := b.KindVector()
	if kinds != nil {
		kinds = kinds.Retain()
	}
	return vector.NewBatch(b.Rows(), append(cols, col), kinds)
}
