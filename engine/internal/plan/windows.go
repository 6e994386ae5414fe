package plan

import (
	"slices"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/engine/sqltype"
)

// Windows are the windows that a window table function gives rows.
type Windows struct {
	window.Assigner
	// Attr says whether they are windows of event time or of processing time.
	Attr sqltype.TimeAttr
	// Instant says that the time is TIMESTAMP_LTZ. Windows then begin and end when the
	// clock of Zone shows their bounds, which it does in window_start and window_end.
	Instant bool
	Zone    *time.Location
}

func (w Windows) processing() bool { return w.Attr == sqltype.Proctime }

// timeType is the type of window_time.
func (w Windows) timeType() sqltype.Type {
	if w.Instant {
		return sqltype.TimestampLTZOf(3).Required()
	}
	return sqltype.TimestampOf(3).Required()
}

// schema has the columns of a window.
func (w Windows) schema() sqltype.Schema {
	bound := sqltype.TimestampOf(3).Required()
	return sqltype.Schema{{Name: "window_start", Type: bound}, {Name: "window_end", Type: bound}, {Name: "window_time", Type: w.timeType()}}
}

// windowColumns says which columns of a node have the window of a row.
type windowColumns struct {
	Windows
	start, end, time int // -1: the column is not there
}

func (w windowColumns) whole() bool { return w.start >= 0 && w.end >= 0 }

// windowOf finds the columns of n with the window of its rows: those that a window table
// function gave them, as far as they were forwarded. ok is false when there is none.
func windowOf(n Node) (w windowColumns, ok bool) {
	switch n := n.(type) {
	case *WindowTable:
		at := len(n.Forward)
		return windowColumns{n.Windows, at, at + 1, at + 2}, true
	case *WindowAggregate:
		return windowColumns{n.Windows, 0, 1, 2}, true
	case *Calc:
		if w, ok = windowOf(n.Input); ok {
			w.move(func(c int) int {
				return slices.IndexFunc(n.Exprs, func(e expr.Expr) bool {
					col, is := e.(*expr.Column)
					return is && col.Index == c
				})
			})
		}
	case *Expand:
		if w, ok = windowOf(n.Input); ok {
			w.move(func(c int) int {
				if i := slices.Index(n.Keys, c); i >= 0 {
					if slices.ContainsFunc(n.Sets, func(set []int) bool { return !slices.Contains(set, i) }) {
						return -1
					}
					return i
				}
				if i := slices.Index(n.Forward, c); i >= 0 {
					return len(n.Keys) + 1 + i
				}
				return -1
			})
		}
	case *Unnest:
		if w, ok = windowOf(n.Input); ok {
			w.move(func(c int) int {
				if i := slices.Index(n.Forward, c); i >= 0 {
					return n.elements() + i
				}
				return -1
			})
		}
	case *Join:
		if !n.Windowed {
			return w, false
		}
		in, shift := n.Left, 0
		if n.Kind.PadsLeft() {
			if in, shift = n.Right, len(n.Left.Schema()); n.Kind.PadsRight() {
				return w, false
			}
		}
		if w, ok = windowOf(in); ok {
			w.move(func(c int) int { return slices.Index(n.Output, c+shift) })
		}
	case *Rank:
		if n.windowed() {
			return windowOf(n.Input)
		}
	case *Exchange:
		return windowOf(n.Input)
	}
	return w, ok && (w.start >= 0 || w.end >= 0 || w.time >= 0)
}

// windowTable is the table function that gave the rows of n their windows, or nil where
// something stands between that makes other rows of them.
func windowTable(n Node) *WindowTable {
	for {
		switch m := n.(type) {
		case *WindowTable:
			return m
		case *Calc:
			n = m.Input
		case *Expand:
			n = m.Input
		default:
			return nil
		}
	}
}

func (w *windowColumns) move(to func(c int) int) {
	for _, c := range []*int{&w.start, &w.end, &w.time} {
		if *c >= 0 {
			*c = to(*c)
		}
	}
}

// windowTimeAttribute is the time attribute of a column of a node that makes windows, or
// of rows in windows.
func windowTimeAttribute(n Node, col int) sqltype.TimeAttr {
	if t, ok := n.(*WindowTable); ok && col < len(t.Forward) && t.Windows.Kind != window.Session {
		return timeAttribute(t.Input, t.Forward[col])
	}
	if w, ok := windowOf(n); ok && w.time == col {
		return w.Attr
	}
	return sqltype.NoTime
}

// WindowTable is a window table function: each row once for every window that its time is
// in, with the columns of the window behind its own. A row whose time is NULL is left out.
// Rows of a SESSION come when it is over.
type WindowTable struct {
	unary
	Windows   Windows
	Time      int   // input column
	Partition []int // input columns: SESSION has windows for each of their values
	Forward   []int // input columns that are passed on, before those of the window
	// Watermark is the hidden column of the input, or -1. Unless the windows are sessions
	// it is passed on, as the last column.
	Watermark       int
	Late            LateTarget // of SESSION
	InputAppendOnly bool
}

// Op is "WindowTable".
func (*WindowTable) Op() string { return "WindowTable" }

func newWindowTable(in Node, like *WindowTable) *WindowTable {
	n := *like
	n.traits = Traits{}
	n.Input = in
	n.schema = append(slices.Clone(in.Schema().Project(n.Forward)), n.Windows.schema()...)
	if n.hides() {
		n.schema = append(n.schema, in.Schema()[n.Watermark])
	}
	return &n
}

// hides reports whether the hidden column is passed on.
func (n *WindowTable) hides() bool { return n.Watermark >= 0 && !n.session() }

func (n *WindowTable) session() bool { return n.Windows.Kind == window.Session }

func (n *WindowTable) eventTime(int) (watermarks, lateness bool) {
	needs := n.session() && n.Windows.Attr == sqltype.Rowtime
	return needs, needs
}

func (n *WindowTable) setLateness(_, column int) { n.Watermark = column }

func (n *WindowTable) late(int) *LateTarget { return &n.Late }

// carry passes the hidden column on.
func (n *WindowTable) carry(below int) {
	n.Watermark = below
	n.schema = append(n.schema[:len(n.schema):len(n.schema)], n.Input.Schema()[below])
}

func (n *WindowTable) prune(need []int) (Node, []int) {
	at := len(n.Forward)
	reads, have := append([]int{n.Time}, n.Partition...), []int(nil)
	out := *n
	out.Forward = nil
	for i, c := range n.Forward {
		if slices.Contains(need, i) {
			have, out.Forward = append(have, i), append(out.Forward, c)
		}
	}
	reads = append(reads, out.Forward...)
	have = append(have, at, at+1, at+2)
	switch hidden := slices.Contains(need, at+3); {
	case hidden:
		have = append(have, at+3)
	case !n.session():
		out.Watermark = -1
	}
	if out.Watermark >= 0 {
		reads = append(reads, out.Watermark)
	}
	reads = union(reads, n.Late.reads())
	in := exactly(n.Input, reads)
	out.Late = n.Late.moved(reads)
	out.Time = slices.Index(reads, n.Time)
	out.Forward, out.Partition = positions(out.Forward, reads), positions(n.Partition, reads)
	if out.Watermark >= 0 {
		out.Watermark = slices.Index(reads, out.Watermark)
	}
	return newWindowTable(in, &out), have
}

// pushDown lets conditions on the columns of rows go below; below a SESSION only those
// that keep or drop all rows of a window.
func (n *WindowTable) pushDown(conds []expr.Expr) Node {
	below, above := split(conds, func(e expr.Expr) bool {
		for _, c := range expr.Columns(e) {
			if c >= len(n.Forward) || n.session() && !slices.Contains(n.Partition, n.Forward[c]) {
				return false
			}
		}
		return true
	})
	for i, c := range below {
		below[i] = expr.Remap(c, func(k int) int { return n.Forward[k] })
	}
	n.Input = pushDown(n.Input, below)
	return filtered(n, above)
}

func (n *WindowTable) derive(t *Traits) {
	in := n.Input.Traits()
	n.InputAppendOnly = in.Mode.InsertOnly()
	t.Mode, t.Keys = in.Mode, nil
	if n.session() {
		t.Mode = sqltype.AppendMode
		if !n.InputAppendOnly {
			return
		}
	}
	for _, k := range in.Keys {
		if !subset(k.Columns, n.Forward) {
			continue
		}
		cols := make([]int, len(k.Columns))
		for i, c := range k.Columns {
			cols[i] = slices.Index(n.Forward, c)
		}
		if n.Windows.Kind == window.Hop || n.Windows.Kind == window.Cumulate {
			cols = append(cols, len(n.Forward), len(n.Forward)+1)
		}
		t.Keys = append(t.Keys, Key{Columns: union(cols), Ordered: k.Ordered})
	}
	t.Keys = smallest(t.Keys)
}

func (n *WindowTable) distribution() Distribution {
	d := n.Input.Traits().Dist
	if d.Kind != HashShards {
		return d
	}
	if !subset(d.Keys, n.Forward) {
		return Distribution{}
	}
	keys := make([]int, len(d.Keys))
	for i, c := range d.Keys {
		keys[i] = slices.Index(n.Forward, c)
	}
	return Distribution{Kind: HashShards, Keys: keys}
}

func (n *WindowTable) placeExchanges() {
	if n.session() {
		n.Input = onKeys(n.Input, n.Partition)
	}
}

func (n *WindowTable) subject() string {
	return n.Windows.String() + " of " + n.Input.Schema()[n.Time].Name
}

func (n *WindowTable) stateBound() string {
	if n.session() {
		return "bounded by the rows of open sessions"
	}
	return ""
}

// windowFunction binds TUMBLE, HOP, CUMULATE and SESSION.
func (b *binder) windowFunction(t *parse.TableFunction, kind window.Kind) (Node, *scope, error) {
	a := windowArgs{b: b, call: t, kind: kind}
	if err := a.read(); err != nil {
		return nil, nil, err
	}
	n := &WindowTable{Windows: a.windows, Time: a.time, Partition: a.partition, Forward: upTo(len(a.input.Schema())), Watermark: -1}
	n.at = t.At
	out := newWindowTable(a.input, n)
	for _, c := range out.schema[len(n.Forward):] {
		if a.input.Schema().Index(c.Name) >= 0 {
			return nil, nil, errs.New(errs.Ambiguous, t.At, "the input of %s has a column %q already", kind, c.Name).
				WithHint("give it another name in a subquery: SELECT %s AS w, ..", c.Name)
		}
	}
	return b.named(out, tableRef{pos: t.At}, t.Alias)
}

// windowArgs are the arguments of a window table function.
type windowArgs struct {
	b         *binder
	call      *parse.TableFunction
	kind      window.Kind
	input     Node
	scope     *scope
	partition []int
	time      int
	windows   Windows
}

// windowArgNames are the arguments by kind, in their order. The last one is optional,
// but for SESSION.
var windowArgNames = [...][]string{
	window.Tumble:   {"DATA", "TIMECOL", "SIZE", "OFFSET"},
	window.Hop:      {"DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"},
	window.Cumulate: {"DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"},
	window.Session:  {"DATA", "TIMECOL", "GAP"},
}
