package plan

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/internal/window"
)

// groupWindow is the window of GROUP BY TUMBLE(ts, ..), HOP(ts, ..) or SESSION(ts, ..): a
// WindowTable below the aggregation, the columns of which are in the scope, without names
// that SQL has.
type groupWindow struct {
	call  *parse.Call
	kind  window.Kind
	table *WindowTable
	start int // in the scope
}

// windowKind is the kind of a window function.
func windowKind(name string) (window.Kind, bool) {
	for k := window.Tumble; k <= window.Session; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// groupWindows finds the window function among the items of GROUP BY, and puts its table
// over n.
func (b *binder) groupWindow(n Node, sc *scope, s *parse.Select) (Node, *scope, error) {
	call := windowCall(s.GroupBy)
	if call == nil {
		return n, sc, nil
	}
	name := strings.ToUpper(call.Name.Last().Value)
	w := &groupWindow{call: call, start: len(sc.fields)}
	w.kind, _ = windowKind(name)
	lengths := windowLengths{kind: w.kind, at: call.At, legacy: true}
	names := windowArgNames[w.kind][2:]
	if len(call.Args) < 2 || len(call.Args) > len(names)+1 {
		return nil, nil, errs.New(errs.Invalid, call.At, "%s in GROUP BY takes a time and %s", name, list(names))
	}
	x := &exprBinder{b: b, scope: sc, clause: "GROUP BY"}
	time, err := x.bind(call.Args[0])
	if err != nil {
		return nil, nil, err
	}
	col, ok := time.(*expr.Column)
	if !ok {
		return nil, nil, errs.New(errs.Invalid, call.At, "%s needs a time attribute, and %s is computed", name, parse.Format(call.Args[0])).
			WithHint("a column that is computed of event time is no event time")
	}
	windows, err := b.windowsOf(n, col.Index, name, call.Args[0].Pos())
	if err != nil {
		return nil, nil, err
	}
	for i, arg := range call.Args[1:] {
		e, err := b.constant(arg, names[i]+" of "+name)
		if err != nil {
			return nil, nil, err
		}
		if err := lengths.set(names[i], e); err != nil {
			return nil, nil, err
		}
	}
	if w.kind == window.Hop && len(call.Args) < 3 {
		return nil, nil, errs.New(errs.Invalid, call.At, "HOP in GROUP BY takes a time, %s", list(names[:2]))
	}
	if windows.Assigner, err = lengths.assigner(); err != nil {
		return nil, nil, err
	}
	like := &WindowTable{Windows: windows, Time: col.Index, Forward: upTo(len(n.Schema())), Watermark: -1}
	like.at = call.At
	w.table = newWindowTable(n, like)
	out := *sc
	out.window = w
	out.fields = slices.Clone(sc.fields)
	for _, c := range windows.schema() {
		out.fields = append(out.fields, field{table: -1, name: "$" + c.Name, typ: c.Type, hidden: true})
	}
	return w.table, &out, nil
}

// windowCall is the first window function in GROUP BY, or nil.
func windowCall(items []parse.GroupItem) *parse.Call {
	for _, it := range items {
		for _, e := range it.Exprs {
			if c, ok := e.(*parse.Call); ok && isWindowCall(c) {
				return c
			}
		}
		if c := windowCall(it.Items); c != nil {
			return c
		}
	}
	return nil
}

func isWindowCall(c *parse.Call) bool {
	kind, ok := windowKind(strings.ToUpper(c.Name.String()))
	return ok && kind != window.Cumulate
}

// same reports whether a call has the arguments of the window function.
func (w *groupWindow) same(c *parse.Call) bool {
	return slices.EqualFunc(w.call.Args, c.Args, func(a, b parse.Expr) bool { return parse.Format(a) == parse.Format(b) })
}

// groupWindowKeys are the keys that the window function stands for: its bounds and its
// time.
func (x *exprBinder) groupWindowKeys(c *parse.Call) ([]expr.Expr, error) {
	w := x.scope.window
	if c != w.call && !(w.same(c) && strings.EqualFold(c.Name.String(), w.call.Name.String())) {
		return nil, errs.New(errs.Invalid, c.At, "GROUP BY has two different windows").WithHint("put one of them in a query in FROM")
	}
	return []expr.Expr{x.scope.column(w.start, c.At), x.scope.column(w.start+1, c.At), x.scope.column(w.start+2, c.At)}, nil
}

// partition lets a SESSION have windows for each value of the other keys, which are
// computed below it unless they are columns.
func (w *groupWindow) partition(keys []expr.Expr) {
	if w.kind != window.Session {
		return
	}
	t := w.table
	exprs, names := columns(t.Input), t.Input.Schema().Names()
	for _, k := range keys {
		if reads(expr.Columns(k), w.start, w.start+1, w.start+2) {
			continue
		}
		t.Partition = append(t.Partition, position(&exprs, k))
		if len(exprs) > len(names) {
			names = append(names, k.String())
		}
	}
	if len(exprs) > len(t.Input.Schema()) {
		t.Input = newCalc(t.Input, nil, exprs, names, t.at)
	}
}

// windowBound binds TUMBLE_START and the like.
func (x *exprBinder) windowBound(name string, e *parse.Call) (expr.Expr, bool, error) {
	kindName, what, ok := strings.Cut(name, "_")
	kind, known := windowKind(kindName)
	if !ok || !known || kind == window.Cumulate {
		return nil, false, nil
	}
	at := slices.Index([]string{"START", "END", "ROWTIME", "PROCTIME"}, what)
	if at < 0 {
		return nil, false, nil
	}
	w := x.scope.window
	if w == nil || w.kind != kind || !w.same(e) {
		return nil, true, errs.New(errs.Invalid, e.At, "%s tells of a window that is not in GROUP BY", name).
			WithHint("GROUP BY %s(%s)", kindName, formatAll(e.Args))
	}
	if event := !w.table.Windows.processing(); at >= 2 && event != (at == 2) {
		have := map[bool]string{true: "event", false: "processing"}
		return nil, true, errs.New(errs.Invalid, e.At, "%s is for windows of %s time, and these are of %s time", name, have[at == 2], have[event])
	}
	return x.scope.column(w.start+min(at, 2), e.At), true, nil
}

func formatAll(es []parse.Expr) string {
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = parse.Format(e)
	}
	return strings.Join(out, ", ")
}
