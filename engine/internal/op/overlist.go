package op

import (
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/vector"
)

// frameList puts texts one after the other. Its frames lose no row but all.
type frameList struct {
	col       int
	separator string
	vals      *vector.Vector
	some      bool
	text      []byte
}

func (a *frameList) begin(w *overWalk) error {
	a.vals = w.cols[a.col]
	return nil
}

func (a *frameList) end()             { a.vals = nil }
func (a *frameList) retracts() bool   { return false }
func (a *frameList) remove(int) error { panic("op: a list loses a text") }

func (a *frameList) clear() error {
	a.some, a.text = false, a.text[:0]
	return nil
}

func (a *frameList) add(row int) error {
	if a.some {
		a.text = append(a.text, a.separator...)
	}
	a.some, a.text = true, append(a.text, a.vals.Bytes(row)...)
	return nil
}

func (a *frameList) save(im *images) error {
	saved(im, 0, a.some)
	savedText(im, 1, a.text)
	return nil
}

func (a *frameList) load(state []byte) error {
	a.some, a.text = state[0] == 1, append(a.text[:0], state[1:]...)
	return nil
}

func (a *frameList) store(buf []byte) ([]byte, error) {
	some := byte(0)
	if a.some {
		some = 1
	}
	return append(append(buf, some), a.text...), nil
}

// frameGo folds rows with an aggregate function written in Go. Its values are ready
// as the rows come.
type frameGo struct {
	of     *expr.Aggregate
	args   []int
	acc    function.GoAccumulator
	given  function.GoArgs
	values *vector.ColumnBuilder
}

func newFrameGo(a *expr.Aggregate, at []int) (*frameGo, error) {
	g := &frameGo{of: a}
	for _, arg := range a.Args {
		g.args = append(g.args, at[column(arg)])
		g.given.Types = append(g.given.Types, arg.Type())
	}
	return g, nil
}

func (a *frameGo) begin(w *overWalk) error {
	a.given.Pool, a.given.N, a.given.Returns = w.pool, w.rows(), a.of.T
	a.given.Args = a.given.Args[:0]
	for _, c := range a.args {
		a.given.Args = append(a.given.Args, w.cols[c])
	}
	a.values = vector.NewColumnBuilder(w.pool, a.of.T.Kind())
	return nil
}

// end drops the values if nobody took them.
func (a *frameGo) end() {
	if a.values != nil {
		a.values.Finish().Release()
		a.values = nil
	}
	clear(a.given.Args)
}

func (a *frameGo) retracts() bool { return a.of.Func.Go.Retracts }

func (a *frameGo) clear() (err error) {
	a.acc, err = a.of.Func.Go.Accumulator(nil)
	return placed(err, a.of)
}

func (a *frameGo) add(row int) error    { return a.take(row, false) }
func (a *frameGo) remove(row int) error { return a.take(row, true) }

func (a *frameGo) take(row int, away bool) error {
	if !a.of.Func.Go.CalledOnNull() && anyNull(a.given.Args, row) {
		return nil
	}
	return placed(a.acc.Add(&a.given, row, away), a.of)
}

func (a *frameGo) save(*images) error { return placed(a.acc.AppendValue(a.values, a.of.T), a.of) }

// column are the values that were saved.
func (a *frameGo) column(*vector.Pool, *images, []bool) (*vector.Vector, error) {
	v := a.values.Finish()
	a.values = nil
	return v, nil
}

func (a *frameGo) load(state []byte) (err error) {
	a.acc, err = a.of.Func.Go.Accumulator(state)
	return placed(err, a.of)
}

func (a *frameGo) store(buf []byte) ([]byte, error) {
	enc, err := a.acc.Encode()
	return append(buf, enc...), placed(err, a.of)
}
